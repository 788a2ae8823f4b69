//! Parameters out of range.

use crate::bound::ContributionBound;

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
    /// Clipping in the cells, for what is not a single CountSketch.
    #[error("contributions are clipped in a single CountSketch only, found {bound}")]
    Clipped {
        /// The bound given.
        bound: ContributionBound,
    },
    /// Prefix lengths that do not rise to the length of the keys, or are too far apart.
    #[error("prefixes must grow by 1 ..= {max_step} bits up to {key_bits}, found {found} after {before}")]
    Prefixes {
        /// The longest step.
        max_step: u8,
        /// Bits of a key.
        key_bits: u8,
        /// The length before.
        before: u8,
        /// The length given.
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
