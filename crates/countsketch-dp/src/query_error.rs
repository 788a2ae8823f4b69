//! What a query can refuse.

use crate::error::MergeError;
use crate::leaf::ReleaseId;
use crate::theory::DomainError;

/// A query that has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// A number outside the range of a formula.
    #[error(transparent)]
    Domain(#[from] DomainError),
    /// Two sketches that do not go together.
    #[error("sketches cannot be compared")]
    Incompatible(#[from] MergeError),
    /// Values that were not split from one number.
    #[error("expected shares of split {expected}, found one of split {found}")]
    Split {
        /// The split of the first share.
        expected: ReleaseId,
        /// The split of another one.
        found: ReleaseId,
    },
    /// The same share twice.
    #[error("share {index} is there twice")]
    RepeatedShare {
        /// The holder's number.
        index: u32,
    },
    /// Nothing to combine.
    #[error("an estimate needs at least one share")]
    NoShares,
    /// A cell that a vector does not have.
    #[error("index {found} of a vector of length {len}")]
    Index {
        /// The length.
        len: u64,
        /// The index given.
        found: u64,
    },
    /// The hash differs from the one of the sketch.
    #[error("hash key mismatch: expected {expected}, found {found}")]
    Hash {
        /// The hash of the sketch.
        expected: sketch_hash::HashId,
        /// The hash given.
        found: sketch_hash::HashId,
    },
    /// A report that no client of this shape sends.
    #[error("not a report of a shape of {shape}")]
    Report {
        /// Rows and columns.
        shape: crate::shape::CountSketchShape,
    },
    /// A search that would visit too many prefixes.
    #[error("the frontier of a search is at most {max} prefixes, expected about {found} at this threshold")]
    Frontier {
        /// The most.
        max: u64,
        /// What the threshold asks for.
        found: f64,
    },
    /// A search with neither a public total nor a level whose cells add up to one.
    #[error("the stack has no plain level to read a total from: state a total")]
    NoTotal,
}
