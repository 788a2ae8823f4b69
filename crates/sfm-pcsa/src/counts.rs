//! From bits to the numbers that estimators take.

use cardinality_estimators::{BitChannel, CellLayout, Confidence, Estimate, estimate};
use gf2_linalg::popcount_range;

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
    let ones_in = |cells: core::ops::Range<u64>| popcount_range(bits, index(cells.start)..index(cells.end));
    let counts = layout.counts_by_range(ones_in, channel).expect("a group has no more ones than cells");
    estimate(&counts, confidence)
}

/// The number of a cell, below 2²⁶.
#[expect(clippy::cast_possible_truncation, reason = "a sketch has 2^26 cells at most")]
const fn index(cell: u64) -> usize {
    cell as usize
}

/// Runs of equally likely cells, in the order of the bits, each with its rate.
pub(crate) fn runs(layout: &CellLayout) -> impl Iterator<Item = (core::ops::Range<usize>, f64)> + '_ {
    let mut start = 0;
    layout.groups().map(move |(cells, rate)| {
        let run = start..start + index(cells);
        start = run.end;
        (run, rate)
    })
}
