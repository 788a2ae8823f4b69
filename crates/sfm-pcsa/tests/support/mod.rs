//! What several test files need.
#![allow(dead_code, reason = "no test file uses all of it")]

use dp_noise::hazmat::InsecureTestRng;
use dp_noise::{Epsilon, NoiseSource, Permit};
use sfm_pcsa::cardinality_estimators::Confidence;
use sfm_pcsa::{BitmapShape, PcsaShape, PcsaSketch, PrivateBitmap, RawBitmap};
use sketch_hash::{DefaultHash, HashKey};

pub(crate) type Raw = PcsaSketch<DefaultHash>;

/// Reproducible noise.
pub(crate) fn noise(seed: u64) -> InsecureTestRng {
    InsecureTestRng::from_u64(seed)
}

pub(crate) fn permit(epsilon: f64) -> Permit<Epsilon> {
    Permit::standalone(Epsilon::new(epsilon).expect("an epsilon in range"))
}

pub(crate) fn shape(buckets: u32, levels: u8) -> PcsaShape {
    PcsaShape::new(buckets, levels).expect("a valid shape")
}

/// A raw sketch of integers under the default key.
pub(crate) fn raw<S: BitmapShape>(shape: S, items: impl IntoIterator<Item = u64>) -> RawBitmap<S> {
    let mut sketch = RawBitmap::new(shape, DefaultHash::default());
    sketch.update_u64_batch(&items.into_iter().collect::<Vec<_>>());
    sketch
}

pub(crate) fn other_key() -> DefaultHash {
    DefaultHash::new(HashKey::from_bytes([7; 16]))
}

pub(crate) fn released<S: BitmapShape, R: NoiseSource>(
    raw: RawBitmap<S>,
    epsilon: f64,
    noise: &mut R,
) -> PrivateBitmap<S> {
    raw.release(permit(epsilon), noise).expect("a release")
}

pub(crate) fn value<S: BitmapShape>(sketch: &PrivateBitmap<S>) -> f64 {
    sketch.estimate(Confidence::P95).value().expect("a value")
}
