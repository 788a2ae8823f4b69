//! Errors of sub-sampled sketches.

use dp_noise::SamplingMismatch;
use sketch_wire::WireError;

use crate::error::{DecodeError, MergeError};

/// Sub-sampled sketches that do not go together.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SubsampledMergeError {
    /// Another rate or another key: coins of two keys are not those of one sample.
    #[error("sketches of different samples")]
    Sampling(#[from] SamplingMismatch),
    /// What any sketches must have in common.
    #[error("sketches of the samples")]
    Sketch(#[from] MergeError),
}

/// Bytes that are not a sub-sampled sketch.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SubsampledDecodeError {
    /// Header, checksum or layout.
    #[error("unreadable bytes")]
    Wire(#[from] WireError),
    /// The sketch of the sample.
    #[error("the sketch of the sample")]
    Sketch(#[from] DecodeError),
    /// Marked as made with insecure noise where the sketch inside is not, or the other way round.
    #[error("flags differ from those of the sketch inside")]
    Flags,
    /// A rate below the least.
    #[error("the sampling rate must be 2^-32 at least, found {found} over 2^64")]
    Rate {
        /// Its numerator.
        found: u64,
    },
    /// Not one level for each release.
    #[error("the sketch has {expected} releases, found the levels of {found}")]
    Levels {
        /// Releases of the sketch inside.
        expected: usize,
        /// Levels in the bytes.
        found: usize,
    },
    /// A level that the flips do not keep at this rate.
    #[error("release {index}: its flips do not keep epsilon = {epsilon} at this sampling rate")]
    Level {
        /// Index of the release.
        index: usize,
        /// The level in the bytes.
        epsilon: f64,
    },
    /// A level of earlier releases that no raw sketch has.
    #[error(
        "the level of earlier releases must be finite, above 0 if the sample was released before and 0 if not, found {found}"
    )]
    Exposure {
        /// The number in the bytes.
        found: f64,
    },
}
