//! What a tally refuses.

use crate::error::MergeError;
use crate::leaf::ReleaseId;

/// Sketches that cannot be tallied together, or a tally that does not answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TallyError {
    /// The sketches do not belong together: another hash or shape, a release in more than one, or too many releases.
    #[error("the sketches cannot be tallied together")]
    Mismatch(#[from] MergeError),
    /// A sketch whose bits are not those of one release: a merge, or a release with more noise on top.
    #[error("a tally counts releases as they were made, found a merge of {releases}: tally the releases instead")]
    Merged {
        /// The releases in the sketch.
        releases: usize,
    },
    /// More channels than one tally keeps apart.
    #[error("a tally keeps at most {max} channels apart, found {found}: thin the parts first")]
    Classes {
        /// [`SfmTally::MAX_CLASSES`](crate::SfmTally::MAX_CLASSES).
        max: usize,
        /// Channels of all parts together.
        found: usize,
    },
    /// The estimator refused its input, say more than two classes.
    #[error("the tally cannot be estimated")]
    Estimate(#[from] cardinality_estimators::ParamError),
}

/// What is wrong in the bytes of a tally.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TallyFault {
    /// No release, or more than a tally holds.
    #[error("a tally holds 1 ..= {max} releases, found {found}")]
    Releases {
        /// [`SfmTally::MAX_RELEASES`](crate::SfmTally::MAX_RELEASES).
        max: usize,
        /// The number in the bytes.
        found: usize,
    },
    /// Not in rising order of their names, or one twice.
    #[error("release {id} does not come after the one before it")]
    Order {
        /// The release at fault.
        id: ReleaseId,
    },
    /// An unknown mark of who made the noise of a release.
    #[error("release {index} has the unknown origin {found}")]
    Origin {
        /// Index of the release.
        index: usize,
        /// The mark in the bytes.
        found: u8,
    },
    /// No class, or more than a tally keeps apart.
    #[error("a tally has 1 ..= {max} classes, found {found}")]
    Classes {
        /// [`SfmTally::MAX_CLASSES`](crate::SfmTally::MAX_CLASSES).
        max: usize,
        /// The number in the bytes.
        found: usize,
    },
    /// A class whose flips are no channel, do not come after those of the class before, or that holds no release.
    #[error("class {index} is out of order, holds no release, or has no channel")]
    Class {
        /// Index of the class.
        index: usize,
    },
    /// A release in a class that does not exist, or whose channel no noise on top of its own gives.
    #[error("release {index} cannot be in its class")]
    Member {
        /// Index of the release.
        index: usize,
    },
    /// Not one count of ones for every release and level, or a count above the number of buckets.
    #[error("expected {expected} counts of ones within the buckets, found {found}")]
    Ones {
        /// Releases times levels.
        expected: usize,
        /// The number of counts in the bytes.
        found: usize,
    },
    /// A cell in which more sketches hold a one than there are.
    #[error("a cell of class {index} holds more ones than there are sketches")]
    Number {
        /// Index of the class.
        index: usize,
    },
    /// The ones of the releases do not add up to the cells.
    #[error("level {level} of class {index}: the releases have {expected} ones, the cells {found}")]
    Sum {
        /// Index of the class.
        index: usize,
        /// The level.
        level: usize,
        /// Ones of its releases.
        expected: u64,
        /// Sum of the cells.
        found: u64,
    },
}
