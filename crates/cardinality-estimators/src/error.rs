//! What a constructor can refuse.

/// A parameter outside its range. Every variant carries what was found and, where it varies, what was expected.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParamError {
    /// The confidence is not strictly between 0 and 1, or too close to 1 for a finite quantile.
    #[error("confidence {found} is outside 1e-6 ..= 1 - 1e-12")]
    Confidence {
        /// The refused confidence.
        found: f64,
    },
    /// The channel is not `0 <= q < p <= 1`, or its contrast is too small to compute with.
    #[error("channel with P(1|1) = {p} and P(1|0) = {q} does not satisfy 0 <= q < p <= 1")]
    Channel {
        /// P(1 → 1) as given.
        p: f64,
        /// P(0 → 1) as given.
        q: f64,
    },
    /// The kept contrast `a = 1 − q/p` is outside 2^-300 ..= 1.
    #[error("channel contrast {found} is outside 2^-300 ..= 1")]
    Keep {
        /// The refused contrast.
        found: f64,
    },
    /// A rate `−ln(1 − ρ)` is outside 2^-128 ..= 128 (NaN is).
    #[error("cell rate {found} is outside 2^-128 ..= 128")]
    Rate {
        /// The refused rate.
        found: f64,
    },
    /// More ones than cells.
    #[error("{ones} ones were counted in {cells} cells")]
    Ones {
        /// Ones as given.
        ones: u64,
        /// Cells as given.
        cells: u64,
    },
    /// More empty buckets than buckets.
    #[error("{zeros} of {cells} buckets cannot be empty")]
    Zeros {
        /// Empty buckets as given.
        zeros: u64,
        /// Buckets as given.
        cells: u64,
    },
    /// Too few cells for the estimator.
    #[error("{found} cells, but at least {expected} are needed")]
    Cells {
        /// Smallest acceptable number.
        expected: u64,
        /// The number given.
        found: u64,
    },
    /// The number of levels is outside 1 ..= 64.
    #[error("{found} levels, but 1 ..= 64 are allowed")]
    Levels {
        /// The number given.
        found: usize,
    },
    /// The number of counts differs from the number of groups in the layout.
    #[error("{found} counts for a layout of {expected} groups")]
    Counts {
        /// Groups in the layout.
        expected: usize,
        /// Counts given.
        found: usize,
    },
    /// The upper end of the search is outside 2^-20 ..= 2^200 (NaN is).
    #[error("largest count {found} is outside 2^-20 ..= 2^200")]
    Cap {
        /// The refused end.
        found: f64,
    },
    /// The search grid starts outside 2^-40 ..= 1 or has a density outside 1 ..= 64 points an octave.
    #[error("grid from {start} with {points_per_octave} points an octave is outside 2^-40 ..= 1 and 1 ..= 64")]
    Grid {
        /// First point as given.
        start: f64,
        /// Density as given.
        points_per_octave: u32,
    },
    /// A Bloom filter with fewer than one hash function or more than 64.
    #[error("{found} hash functions, but 1 ..= 64 are allowed")]
    Hashes {
        /// The number given.
        found: u32,
    },
    /// The decay of a Liquid Legions sketch is outside 2^-20 ..= 64 (NaN is).
    #[error("decay {found} is outside 2^-20 ..= 64")]
    Decay {
        /// The refused decay.
        found: f64,
    },
    /// A cell that the sketch does not have.
    #[error("cell {index} of a sketch of {cells} cells")]
    Index {
        /// The index given.
        index: u64,
        /// Cells of the sketch.
        cells: u64,
    },
    /// No sketch, or more than 65536 of them, in a product.
    #[error("{found} sketches, but 1 ..= 65536 are allowed")]
    Sketches {
        /// The number given.
        found: usize,
    },
    /// No sketch, or more than 8 of them, in a set estimate.
    #[error("{found} sketches, but set estimates take 1 ..= 8")]
    SetSketches {
        /// The number given.
        found: usize,
    },
    /// More sets than a fit of all regions takes, or none.
    #[error("{found} sets, but a fit of all regions takes 1 ..= 4")]
    VennSets {
        /// The number given.
        found: usize,
    },
    /// A group of sketches without a sketch, or with a class without one.
    #[error("group {group} has no sketch, or a class without one")]
    EmptyGroup {
        /// Which group, counted from 0.
        group: usize,
    },
    /// The cells of several groups of sketches could show too many combinations of tallies.
    #[error(
        "cells of these groups show {found} combinations of tallies, but at most {expected} are fitted together: \
         take fewer or smaller groups, or merge the sketches of a group first"
    )]
    GroupStates {
        /// The largest acceptable number.
        expected: usize,
        /// The number found; the largest number there is when it is beyond that.
        found: usize,
    },
    /// A region that is empty or names a set that is not there.
    #[error("region {mask:#b} of a fit of {sets} sets")]
    Region {
        /// The refused mask.
        mask: usize,
        /// Sets of the fit.
        sets: usize,
    },
    /// The patterns counted in a group are not as many as its cells.
    #[error("{found} patterns were counted in a group of {expected} cells")]
    Patterns {
        /// Cells of the group.
        expected: u64,
        /// Sum of the counts.
        found: u64,
    },
    /// No class of sketches of equal channels, a class without a sketch, or more classes than can be estimated together.
    #[error("{found} classes of sketches, but tallies are estimated of 1 or 2 that are not empty")]
    Classes {
        /// The number given.
        found: usize,
    },
    /// A cell of a tally could show more than 257 different numbers of ones.
    #[error(
        "a cell of these sketches has {found} tallies, but at most 257 are estimated: merge some of the sketches first"
    )]
    States {
        /// The number of tallies; the largest number there is when it is beyond that.
        found: usize,
    },
    /// A formula for another number of sketches.
    #[error("a formula of {expected} sketches for counts of {found}")]
    Operands {
        /// Sketches of the formula.
        expected: usize,
        /// Sketches of the counts.
        found: usize,
    },
    /// A weight or coefficient of a formula is outside -2^20 ..= 2^20, or the region of items in no set has one.
    #[error("formula weight {weight} of set mask {mask:#b} is outside -2^20 ..= 2^20, or counts items of no set")]
    Weight {
        /// The region or union.
        mask: usize,
        /// The refused weight.
        weight: i64,
    },
    /// Product moments that are not finite, or a negative variance.
    #[error("product moments with mean {mean} and variance {variance} are not finite and non-negative")]
    Moments {
        /// The mean as given.
        mean: f64,
        /// The variance as given.
        variance: f64,
    },
    /// No table of cells, or more than 4096 of them.
    #[error("{found} tables, but 1 ..= 4096 are allowed")]
    Tables {
        /// The number given.
        found: usize,
    },
    /// A table's share of the items is outside 2^-64 ..= 1, gives one cell more than half of the items, or makes the
    /// shares add to more than 1 (NaN does).
    #[error(
        "a share of {share} for a table of {cells} cells is outside 2^-64 ..= 1, above cells/2, or makes the sum exceed 1"
    )]
    Share {
        /// The share as given.
        share: f64,
        /// Cells of the table.
        cells: u64,
    },
    /// A sum of squared weights that is negative, infinite or NaN.
    #[error("sum of squared weights {found} is not finite and non-negative")]
    Squares {
        /// The refused sum.
        found: f64,
    },
    /// A failure probability outside `0 < delta < 1`, or a radius that is negative, infinite or NaN.
    #[error("interval radius or failure probability {found} is outside its range")]
    Radius {
        /// The refused number.
        found: f64,
    },
    /// A number of items, or a target error, that a plan or prediction cannot use.
    #[error("{what} is {found}, outside its range")]
    Plan {
        /// Which number.
        what: &'static str,
        /// The number given.
        found: f64,
    },
    /// The parts of an [`Estimate`](crate::Estimate) contradict each other or its status.
    #[error("an estimate of status {status} cannot have these parts: {reason}")]
    Estimate {
        /// The status asked for.
        status: crate::Status,
        /// What does not fit.
        reason: &'static str,
    },
}
