//! A generator for simulations where the coins protect raw data.

use dp_noise::rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use sfm_pcsa::{BooleanOp, OutputForm, PcsaSketch, SfmSketch, UnseenSfmSketch};

fn absorbs(unseen: &mut UnseenSfmSketch, raw: PcsaSketch) {
    let _ = unseen.absorb(raw, &mut Xoshiro256PlusPlus::from_seed([1; 32]));
}

fn combines(a: &SfmSketch, b: &SfmSketch) {
    let _ = a.combine(BooleanOp::And, b, OutputForm::Extremal, &mut Xoshiro256PlusPlus::from_seed([1; 32]));
}

fn main() {}
