//! The errors of this crate, one type for each kind of operation.

use sketch_hash::HashId;

use crate::bound::ContributionBound;
use crate::granularity::Granularity;
use crate::shape::CountSketchShape;

/// A shape, grid or bound that cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParamError {
    /// An even number of rows.
    #[error("rows must be an odd number in 1 ..= 255, found {found}")]
    Rows {
        /// The number given.
        found: u8,
    },
    /// Too few or too many buckets.
    #[error("width must lie in 2 ..= {max}, found {found}")]
    Width {
        /// The most buckets of a row.
        max: u32,
        /// The number given.
        found: u32,
    },
    /// Rows and width are possible, but not together.
    #[error("a sketch has at most {max} cells, found {found}")]
    Cells {
        /// The most cells.
        max: usize,
        /// The number asked for.
        found: usize,
    },
    /// A grid that is too fine.
    #[error("the exponent of the granularity must lie in 0 ..= {max}, found {found}")]
    Granularity {
        /// The largest exponent.
        max: u8,
        /// The number given.
        found: u8,
    },
    /// A bound on contributions that is zero or too large.
    #[error("{what} must lie in 1 ..= {max}, found {found}")]
    Bound {
        /// Which number.
        what: &'static str,
        /// The largest one.
        max: u64,
        /// The number given.
        found: u64,
    },
}

/// An update that was refused. It has changed nothing.
///
/// Errors name no weight and no counter: both are data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UpdateError {
    /// A counter would leave ±(2⁶³ − 1).
    ///
    /// # Privacy
    /// Give the whole build up. Going on without this record would let one unit decide whether another is counted.
    #[error("counter overflow: the update would take a counter beyond 63 bits, nothing was added")]
    CounterOverflow,
}

/// Sketches that cannot be combined.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// Made with different hash functions or keys: the same item lies in different cells.
    #[error("hash key mismatch: expected {expected}, found {found}")]
    Hash {
        /// The hash of the first sketch.
        expected: HashId,
        /// The hash of the other one.
        found: HashId,
    },
    /// Different numbers of rows or buckets.
    #[error("shape mismatch: expected {expected}, found {found}")]
    Shape {
        /// The shape of the first sketch.
        expected: CountSketchShape,
        /// The shape of the other one.
        found: CountSketchShape,
    },
    /// Different grids.
    #[error("granularity mismatch: expected {expected}, found {found}")]
    Granularity {
        /// The grid of the first sketch.
        expected: Granularity,
        /// The grid of the other one.
        found: Granularity,
    },
    /// Raw data that was bounded in different ways.
    #[error("bound mismatch: expected {expected}, found {found}")]
    Bound {
        /// The bound of the first sketch.
        expected: ContributionBound,
        /// The bound of the other one.
        found: ContributionBound,
    },
}
