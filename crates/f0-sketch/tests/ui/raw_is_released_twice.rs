//! A release gives up the raw sketch.

use dp_noise::{Epsilon, NoiseRng, Permit};
use f0_sketch::{F0Shape, F0Sketch, WeightRule};
use sketch_hash::DefaultHash;

fn main() {
    let raw: F0Sketch = F0Sketch::new(F0Shape::DEFAULT, WeightRule::Unit, DefaultHash::default());
    let mut noise = NoiseRng::from_os().unwrap();
    let _ = raw.release(Permit::standalone(Epsilon::new(1.0).unwrap()), &mut noise);
    let _ = raw.release(Permit::standalone(Epsilon::new(1.0).unwrap()), &mut noise);
}
