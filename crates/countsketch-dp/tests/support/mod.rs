//! What several test files need.
#![allow(dead_code, reason = "no test file uses all of it")]

use countsketch_dp::{ContributionBound, CountSketch, CountSketchShape, PrivateCountSketch};
use dp_noise::hazmat::InsecureTestRng;
use dp_noise::{Epsilon, Permit, Rho};
use sketch_hash::{DefaultHash, HashKey};

pub(crate) type Raw = CountSketch<DefaultHash>;

/// Reproducible noise.
pub(crate) fn noise(seed: u64) -> InsecureTestRng {
    InsecureTestRng::from_u64(seed)
}

pub(crate) fn rho(value: f64) -> Permit<Rho> {
    Permit::standalone(Rho::new(value).expect("a rho in range"))
}

pub(crate) fn epsilon(value: f64) -> Permit<Epsilon> {
    Permit::standalone(Epsilon::new(value).expect("an epsilon in range"))
}

pub(crate) fn shape(rows: u8, width: u32) -> CountSketchShape {
    CountSketchShape::new(rows, width).expect("a valid shape")
}

pub(crate) fn entry(max_weight: u64) -> ContributionBound {
    ContributionBound::entry(max_weight).expect("a valid bound")
}

/// A raw sketch of integers and their weights under the default key.
pub(crate) fn raw(
    shape: CountSketchShape,
    bound: ContributionBound,
    items: impl IntoIterator<Item = (u64, i64)>,
) -> Raw {
    let mut sketch = CountSketch::new(shape, DefaultHash::default(), bound);
    for (item, weight) in items {
        sketch.update_u64(item, weight).expect("within the bound");
    }
    sketch
}

pub(crate) fn other_key() -> DefaultHash {
    DefaultHash::new(HashKey::from_bytes([7; 16]))
}

pub(crate) fn released(raw: Raw, level: f64, seed: u64) -> PrivateCountSketch {
    raw.release(rho(level), &mut noise(seed)).expect("a release")
}

/// Offset of the first cell in the bytes of a raw sketch.
pub(crate) const RAW_CELLS: usize = 32 + 60;

/// The cells of a raw sketch, read from its bytes by their layout.
pub(crate) fn cells(raw: &Raw) -> Vec<i64> {
    let bytes = raw.to_sensitive_bytes();
    let words = bytes[RAW_CELLS..].chunks_exact(8);
    words.map(|word| i64::from_le_bytes(word.try_into().expect("eight bytes"))).collect()
}
