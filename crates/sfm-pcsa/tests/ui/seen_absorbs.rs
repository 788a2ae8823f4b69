//! Raw data into a sketch that somebody may have seen.

use dp_noise::NoiseRng;
use sfm_pcsa::{MergeForm, PcsaSketch, SfmSketch};

fn decoded(bytes: &[u8], raw: PcsaSketch, noise: &mut NoiseRng) {
    let mut seen = SfmSketch::from_bytes(bytes).unwrap();
    let _ = seen.absorb(raw, noise);
}

fn published(seen: &SfmSketch, raw: &PcsaSketch, noise: &mut NoiseRng) {
    let _ = seen.merge(raw, MergeForm::Extremal, noise);
}

fn main() {}
