//! A generator for simulations.

use countsketch_dp::{ContributionBound, CountSketch, CountSketchShape};
use dp_noise::rand_core::SeedableRng;
use dp_noise::{Permit, Rho};
use rand_xoshiro::Xoshiro256PlusPlus;
use sketch_hash::DefaultHash;

fn main() {
    let shape = CountSketchShape::new(3, 64).unwrap();
    let raw = CountSketch::new(shape, DefaultHash::default(), ContributionBound::UNIT_ENTRY);
    let permit = Permit::standalone(Rho::new(1.0).unwrap());
    let _ = raw.release(permit, &mut Xoshiro256PlusPlus::from_seed([1; 32]));
}
