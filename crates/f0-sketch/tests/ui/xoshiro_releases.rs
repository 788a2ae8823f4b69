//! A generator for simulations.

use dp_noise::rand_core::SeedableRng;
use dp_noise::{Epsilon, Permit};
use f0_sketch::{F0Shape, F0Sketch, Presampled, WeightRule};
use rand_xoshiro::Xoshiro256PlusPlus;
use sketch_hash::DefaultHash;

fn main() {
    let raw: F0Sketch = F0Sketch::new(F0Shape::DEFAULT, WeightRule::Unit, DefaultHash::default());
    let permit = Permit::standalone(Epsilon::new(1.0).unwrap());
    let _ = raw.release(permit, &mut Xoshiro256PlusPlus::from_seed([1; 32]));
}

fn tosses(stream: &mut F0Sketch<Presampled>) {
    stream.observe(b"x", &mut Xoshiro256PlusPlus::from_seed([1; 32]));
}
