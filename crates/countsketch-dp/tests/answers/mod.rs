//! Releases with reproducible noise, for tests of answers.
#![allow(dead_code, reason = "every test file uses a part")]
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic, too")]

use countsketch_dp::dp_noise::hazmat::InsecureTestRng;
use countsketch_dp::dp_noise::{Permit, Rho};
use countsketch_dp::sketch_hash::{DefaultHash, HashKey, Item};
use countsketch_dp::{ContributionBound, CountSketch, CountSketchShape, PrivateCountSketch};

pub(crate) fn hash(seed: u64) -> DefaultHash {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    DefaultHash::new(HashKey::from_bytes(bytes))
}

pub(crate) fn key(hash: &DefaultHash, item: u64) -> u64 {
    Item::from(item).hash64(hash)
}

pub(crate) fn permit(rho: f64) -> Permit<Rho> {
    Permit::standalone(Rho::new(rho).unwrap())
}

pub(crate) fn shape(rows: u8, width: u32) -> CountSketchShape {
    CountSketchShape::new(rows, width).unwrap()
}

/// A raw sketch of frequencies, item by item, of records of weight 1.
pub(crate) fn unit_sketch(shape: CountSketchShape, hash: &DefaultHash, frequencies: &[u64]) -> CountSketch {
    let mut raw = CountSketch::new(shape, hash.clone(), ContributionBound::UNIT_ENTRY);
    for (item, &frequency) in (0_u64..).zip(frequencies) {
        raw.update_hashes(&vec![key(hash, item); usize::try_from(frequency).unwrap()]).unwrap();
    }
    raw
}

/// A release of frequencies with `σ² = rows/(2·rho)`.
pub(crate) fn private(shape: CountSketchShape, seed: u64, frequencies: &[u64], rho: f64) -> PrivateCountSketch {
    let raw = unit_sketch(shape, &hash(seed), frequencies);
    raw.release(permit(rho), &mut InsecureTestRng::from_u64(seed ^ 0x5eed)).unwrap()
}

/// Frequencies that fall like `1/rank`, the total being about `total`.
pub(crate) fn zipf(items: u32, total: f64) -> Vec<u64> {
    let norm: f64 = (1..=items).map(|rank| f64::from(rank).recip()).sum();
    let of_rank = |rank: u32| total / norm / f64::from(rank);
    (1..=items).map(|rank| whole(of_rank(rank))).collect()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "test data is small and positive")]
fn whole(number: f64) -> u64 {
    number.round() as u64
}

#[expect(clippy::cast_precision_loss, reason = "test data is small")]
pub(crate) fn float(number: u64) -> f64 {
    number as f64
}
