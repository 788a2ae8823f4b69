//! Refused merges.

use dp_noise::Epsilon;
use sketch_hash::HashId;

use crate::bound::ContributionBound;
use crate::error::ParamError;
use crate::granularity::Granularity;
use crate::leaf::ReleaseId;
use crate::shape::CountSketchShape;

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
    /// Users who were bounded apart: one in both parts could exceed the bound.
    #[error("data bounded for {bound} does not go into noise for one part of it")]
    BoundedApart {
        /// The bound of the raw sketch.
        bound: ContributionBound,
    },
    /// Stacks with other levels.
    #[error("the stacks have different levels")]
    Layout,
    /// Reports of another level: they are debiased in another way.
    #[error("epsilon mismatch: expected {expected:?}, found {found:?}")]
    Epsilon {
        /// The level of the first.
        expected: Epsilon,
        /// The level of the other one.
        found: Epsilon,
    },
    /// A bound times the factor is no bound.
    #[error("the bound times the factor")]
    ScaledBound(#[source] ParamError),
    /// A counter, or the factor of a release in a sum, would leave ±(2⁶³ − 1).
    #[error("counter overflow: the result needs more than 63 bits")]
    Overflow,
    /// One release would be used twice. Its noise is not independent of itself, so the result would be wrong.
    #[error("release {id} is in more than one of the sketches, and a release can be used only once")]
    RepeatedRelease {
        /// The release.
        id: ReleaseId,
    },
    /// More releases than one sketch may record.
    #[error("a sketch holds at most {max} releases, the sum has {found}")]
    TooManyReleases {
        /// [`MAX_RELEASES`](crate::MAX_RELEASES).
        max: usize,
        /// Releases in all inputs together.
        found: usize,
    },
    /// Nothing to add.
    #[error("a sum needs at least one sketch")]
    Empty,
    /// A multiple by zero would hold nothing.
    #[error("a private sketch is multiplied by a factor other than 0")]
    ZeroFactor,
}
