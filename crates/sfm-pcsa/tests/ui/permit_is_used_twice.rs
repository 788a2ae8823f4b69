//! One payment, two releases.

use dp_noise::{Epsilon, NoiseRng, Permit};
use sfm_pcsa::{PcsaShape, PcsaSketch};
use sketch_hash::DefaultHash;

fn main() {
    let raw = PcsaSketch::new(PcsaShape::DEFAULT, DefaultHash::default());
    let permit = Permit::standalone(Epsilon::new(1.0).unwrap());
    let mut noise = NoiseRng::from_os().unwrap();
    let _ = raw.clone().release(permit, &mut noise);
    let _ = raw.release(permit, &mut noise);
}
