//! From bits to the numbers that estimators take.

use cardinality_estimators::{BitChannel, CellLayout, Confidence, Estimate, estimate};
use gf2_linalg::level_popcounts;
use zeroize::Zeroizing;

use crate::shape::BitmapShape;

/// The number of distinct items whose cells, seen through `channel`, are `bits`.
///
/// # Panics
/// Never for bits of `shape`: a group has no more ones than cells.
pub(crate) fn estimate_bits<S: BitmapShape>(
    bits: &[u64],
    shape: S,
    channel: BitChannel,
    confidence: Confidence,
) -> Estimate {
    let layout = shape.layout();
    let ones = Zeroizing::new(ones_per_group(bits, &layout));
    let counts = layout.counts(&ones, channel).expect("a group has no more ones than cells");
    estimate(&counts, confidence)
}

/// Ones in each run of equally likely cells.
pub(crate) fn ones_per_group(bits: &[u64], layout: &CellLayout) -> Vec<u64> {
    let mut ones = vec![0; layout.groups().len()];
    // Runs of one length, as all families have them.
    let run = layout.groups().next().map_or(0, |(cells, _)| cells);
    level_popcounts(bits, usize::try_from(run).unwrap_or(0), &mut ones);
    ones
}
