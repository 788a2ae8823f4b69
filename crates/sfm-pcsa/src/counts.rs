//! From bits to the numbers that estimators take.

use cardinality_estimators::{BitChannel, Confidence, Estimate, LevelCounts, estimate};
use gf2_linalg::level_popcounts;
use zeroize::Zeroizing;

use crate::params::PcsaShape;

/// The number of distinct items whose level-major cells, seen through `channel`, are `bits`.
///
/// # Panics
/// Never for bits of `shape`: every level has as many cells as there are buckets.
pub(crate) fn estimate_bits(bits: &[u64], shape: PcsaShape, channel: BitChannel, confidence: Confidence) -> Estimate {
    let mut ones = Zeroizing::new(vec![0; usize::from(shape.levels())]);
    level_popcounts(bits, shape.buckets() as usize, &mut ones);
    let counts = LevelCounts::pcsa(shape.buckets(), &ones, channel).expect("a level has as many cells as buckets");
    estimate(&counts, confidence)
}
