//! Unreadable bytes.

use sketch_hash::HashId;
use sketch_wire::WireError;

use crate::error::ParamError;
use crate::lineage::LineageError;

/// Bytes that are not a sketch.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// Header, checksum or layout.
    #[error("unreadable bytes")]
    Wire(#[from] WireError),
    /// A shape or grid that no sketch has.
    #[error("invalid shape")]
    Shape(#[from] ParamError),
    /// An unknown hash function.
    #[error("unknown hash")]
    Hash(#[from] sketch_hash::UnknownAlgorithm),
    /// A level of a stack that does not go with its layout or with the levels before.
    #[error("level {level} does not go with the others")]
    Level {
        /// Which level, from 0.
        level: usize,
    },
    /// The sketch was made with another hash than the one given to read it.
    #[error("hash key mismatch: expected {expected}, found {found}")]
    HashMismatch {
        /// The hash given.
        expected: HashId,
        /// The hash recorded in the bytes.
        found: HashId,
    },
    /// Not as many cells as the shape has.
    #[error("the sketch must have {expected} cells, found {found}")]
    Length {
        /// Cells of the shape.
        expected: usize,
        /// Cells in the bytes.
        found: usize,
    },
    /// A counter of −2⁶³, which none reaches.
    #[error("a counter is out of range")]
    Counter,
    /// A bound on contributions that no sketch has.
    #[error("invalid bound on contributions")]
    Bound,
    /// Noise that does not keep the stated level, or codes without a meaning.
    #[error("release {index}: its noise does not keep what it states")]
    Leaf {
        /// Index of the release.
        index: usize,
    },
    /// An unknown step in the history.
    #[error("step {step} of the history has the unknown code {code}")]
    Step {
        /// Index of the step.
        step: usize,
        /// Its code.
        code: u8,
    },
    /// The history is not valid.
    #[error("invalid history")]
    Lineage(#[from] LineageError),
    /// The noise came from a generator that anybody can repeat, so the sketch protects nobody.
    ///
    /// Simulations read it with
    /// [`from_bytes_allowing_insecure_noise`](crate::PrivateCountSketch::from_bytes_allowing_insecure_noise).
    #[error("the noise of this sketch came from an insecure test generator: it is not private")]
    InsecureNoise,
}
