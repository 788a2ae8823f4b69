//! A look at a sketch that nobody may have seen.

use dp_noise::NoiseRng;
use sfm_pcsa::cardinality_estimators::Confidence;
use sfm_pcsa::{PcsaSketch, UnseenSfmSketch};

fn shown(unseen: &UnseenSfmSketch) {
    let _ = unseen.to_bytes();
    let _ = unseen.estimate(Confidence::P95);
    let _: UnseenSfmSketch = unseen.clone();
}

fn used_after_publication(mut unseen: UnseenSfmSketch, raw: PcsaSketch, noise: &mut NoiseRng) {
    let _ = unseen.publish();
    let _ = unseen.absorb(raw, noise);
}

fn main() {}
