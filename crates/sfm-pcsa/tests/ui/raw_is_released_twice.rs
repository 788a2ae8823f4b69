//! A release gives up the raw sketch.

use dp_noise::{Epsilon, NoiseRng, Permit};
use sfm_pcsa::{PcsaShape, PcsaSketch};
use sketch_hash::DefaultHash;

fn main() {
    let raw = PcsaSketch::new(PcsaShape::DEFAULT, DefaultHash::default());
    let mut noise = NoiseRng::from_os().unwrap();
    let _ = raw.release(Permit::standalone(Epsilon::new(1.0).unwrap()), &mut noise);
    let _ = raw.release(Permit::standalone(Epsilon::new(1.0).unwrap()), &mut noise);
}
