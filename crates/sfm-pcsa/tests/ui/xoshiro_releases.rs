//! A generator for simulations.

use dp_noise::rand_core::SeedableRng;
use dp_noise::{Epsilon, Permit};
use rand_xoshiro::Xoshiro256PlusPlus;
use sfm_pcsa::{MergeForm, PcsaShape, PcsaSketch, SfmSketch};
use sketch_hash::DefaultHash;

fn main() {
    let raw = PcsaSketch::new(PcsaShape::DEFAULT, DefaultHash::default());
    let permit = Permit::standalone(Epsilon::new(1.0).unwrap());
    let _ = raw.release(permit, &mut Xoshiro256PlusPlus::from_seed([1; 32]));
}

fn merges(a: &SfmSketch, b: &SfmSketch) {
    let _ = a.merge(b, MergeForm::Extremal, &mut Xoshiro256PlusPlus::from_seed([1; 32]));
}
