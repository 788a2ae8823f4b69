//! Sketches of heavy data for tests of decoding and of the law estimator.
#![allow(dead_code, reason = "every test file uses a part")]
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic, too")]

use countsketch_dp::dp_noise::hazmat::InsecureTestRng;
use countsketch_dp::dp_noise::{Permit, Rho};
use countsketch_dp::sketch_hash::{DefaultHash, HashKey, Item};
use countsketch_dp::{ContributionBound, CountSketch, CountSketchShape, PrivateCountSketch};

/// Frequencies and the sketch of them that was released.
pub(crate) struct Study {
    pub(crate) truth: Vec<u64>,
    pub(crate) keys: Vec<u64>,
    pub(crate) sketch: PrivateCountSketch,
}

impl Study {
    /// Noise of variance `rows/(2·rho)`. Weights of up to 512 at `rho·512²` make the same noise as single records at `rho`.
    pub(crate) fn new(rows: u8, width: u32, rho: f64, truth: Vec<u64>, seed: u64) -> Self {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        let hash = DefaultHash::new(HashKey::from_bytes(bytes));
        let most = if rho > 0.2 { 128 } else { 512 };
        let shape = CountSketchShape::new(rows, width).unwrap();
        let mut raw = CountSketch::new(shape, hash.clone(), ContributionBound::entry(most).unwrap());
        let (mut items, mut weights) = (Vec::new(), Vec::new());
        for (item, &frequency) in (0_u64..).zip(&truth) {
            let mut left = frequency;
            while left > 0 {
                let weight = left.min(most);
                items.push(item);
                weights.push(i64::try_from(weight).unwrap());
                left -= weight;
            }
        }
        raw.update_u64_weighted(&items, &weights).unwrap();
        let permit = Permit::standalone(Rho::new(rho * float(most * most)).unwrap());
        let sketch = raw.release(permit, &mut InsecureTestRng::from_u64(seed ^ 0xdec0)).unwrap();
        let keys = (0..truth.len() as u64).map(|item| Item::from(item).hash64(&hash)).collect();
        Self { truth, keys, sketch }
    }

    /// The mean absolute error of answers in the order of the keys.
    pub(crate) fn mean_error(&self, answer: impl Fn(u64) -> f64) -> f64 {
        let errors = self.keys.iter().zip(&self.truth).map(|(&key, &truth)| (answer(key) - float(truth)).abs());
        errors.sum::<f64>() / float(self.keys.len() as u64)
    }
}

/// Frequencies in proportion to `rank^−1.1`, the total being about `total`.
pub(crate) fn zipf(items: u32, total: f64) -> Vec<u64> {
    let weight = |rank: u32| f64::from(rank).powf(-1.1);
    let norm: f64 = (1..=items).map(weight).sum();
    (1..=items).map(|rank| whole(total / norm * weight(rank))).collect()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "test data is small and positive")]
fn whole(number: f64) -> u64 {
    number.round() as u64
}

#[expect(clippy::cast_precision_loss, reason = "test data is small")]
pub(crate) fn float(number: u64) -> f64 {
    number as f64
}
