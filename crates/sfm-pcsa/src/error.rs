//! The errors of this crate, one type for each kind of operation.

use dp_noise::{EntropyError, ParameterError};
use sketch_hash::HashId;
use sketch_wire::WireError;

use crate::channel::ChannelError;
use crate::leaf::ReleaseId;
use crate::lineage::LineageError;
use crate::shape::SketchShape;
use crate::tally::TallyFault;
use crate::unit::Unit;

/// A shape that cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParamError {
    /// Not a power of two in 2 ..= 2²⁰.
    #[error("buckets must be a power of two in 2 ..= 1048576, found {found}")]
    Buckets {
        /// The number given.
        found: u32,
    },
    /// No level, or more levels than the hash has bits left.
    #[error("levels must lie in 1 ..= {max} for this number of buckets, found {found}")]
    Levels {
        /// The most that fit beside the bits of the bucket.
        max: u8,
        /// The number given.
        found: u8,
    },
    /// Too few or too many cells.
    #[error("cells must lie in 2 ..= {max}, found {found}")]
    Cells {
        /// The most cells of the family.
        max: u32,
        /// The number given.
        found: u32,
    },
    /// No hash, or too many.
    #[error("hashes must lie in 1 ..= {max}, found {found}")]
    Hashes {
        /// The most hashes of a Bloom filter.
        max: u8,
        /// The number given.
        found: u8,
    },
    /// A decay outside its range, or not a number.
    #[error("decay must lie in 0.0625 ..= 24, found {found}")]
    Decay {
        /// The number given.
        found: f64,
    },
    /// A sketch does not fold to that shape.
    ///
    /// PCSA folds to fewer buckets or levels, the other families to a divisor of their cells.
    #[error("a {from} sketch does not fold to {to}")]
    Fold {
        /// The shape of the sketch.
        from: SketchShape,
        /// The shape asked for.
        to: SketchShape,
    },
}

/// Sketches that cannot be merged.
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
    /// Different shapes. Raw sketches can be folded first.
    #[error("shape mismatch: expected {expected}, found {found}")]
    Shape {
        /// The shape of the first sketch.
        expected: SketchShape,
        /// The shape of the other one.
        found: SketchShape,
    },
    /// Raw data of which some was bounded for users: a user in both could have added more than the bound.
    #[error("raw data for {first} and for {second} does not merge: a user in both could exceed the bound")]
    Unit {
        /// Whom the first sketch was bounded for.
        first: Unit,
        /// Whom the other one was bounded for.
        second: Unit,
    },
    /// One release would be used twice. Its noise is not independent of itself, so the result would be wrong.
    #[error("release {id} is in more than one of the sketches, and a release can be used only once")]
    RepeatedRelease {
        /// The release.
        id: ReleaseId,
    },
    /// More releases than one sketch may record.
    #[error("a sketch holds at most {max} releases, the merge has {found}")]
    TooManyReleases {
        /// [`MAX_RELEASES`](crate::MAX_RELEASES).
        max: usize,
        /// Releases in all inputs together.
        found: usize,
    },
    /// Nothing to merge.
    #[error("a merge needs at least one sketch")]
    Empty,
    /// The channels do not merge in the form asked for.
    #[error("the noise of the sketches cannot be combined")]
    Channel(#[from] ChannelError),
    /// No random bytes for the coins of the merge.
    #[error("no entropy for the merge")]
    Entropy(#[from] EntropyError),
}

/// A release that did not happen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReleaseError {
    /// No random bytes for the noise.
    #[error("no entropy for the noise")]
    Entropy(#[from] EntropyError),
    /// The raw data was bounded for another unit.
    #[error("the data was bounded for {expected}, not for {found}")]
    Unit {
        /// The unit that the raw sketch records.
        expected: Unit,
        /// The unit asked for.
        found: Unit,
    },
    /// What is left for one bit, after dividing ε by the bits that one unit may change, is below the least ε.
    #[error("epsilon divided by the {bits} bits that {unit} may change")]
    Share {
        /// The unit of privacy.
        unit: Unit,
        /// Bits that one unit may change.
        bits: u64,
        /// The share, and the range of ε.
        source: ParameterError,
    },
    /// The flip probabilities leave no signal.
    #[error("noise")]
    Channel(#[from] ChannelError),
}

/// Sketches from which no union can be estimated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UnionError {
    /// The sketches do not belong together.
    #[error("the sketches have no common union")]
    Mismatch(#[from] MergeError),
    /// The estimator refused its input.
    #[error("the union cannot be estimated")]
    Estimate(#[from] cardinality_estimators::ParamError),
}

/// Bytes that are not a sketch.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// Header, checksum or layout.
    #[error("unreadable bytes")]
    Wire(#[from] WireError),
    /// A shape that no sketch has.
    #[error("invalid shape")]
    Shape(#[from] ParamError),
    /// An unknown hash function.
    #[error("unknown hash")]
    Hash(#[from] sketch_hash::UnknownAlgorithm),
    /// The sketch was made with another hash than the one given to read it.
    #[error("hash key mismatch: expected {expected}, found {found}")]
    HashMismatch {
        /// The hash given.
        expected: HashId,
        /// The hash recorded in the bytes.
        found: HashId,
    },
    /// Not as many words as the shape has.
    #[error("the bitmap must have {expected} words, found {found}")]
    Length {
        /// Words of the shape.
        expected: usize,
        /// Words in the bytes.
        found: usize,
    },
    /// A bit beyond the last cell is set.
    #[error("the last word of the bitmap has bits beyond cell {cells}")]
    ExtraBits {
        /// Cells of the shape.
        cells: usize,
    },
    /// Flip probabilities that are no channel of the stated privacy level.
    #[error("release {index}: flip probabilities {p} and {q} over 2^64 do not keep epsilon = {epsilon} for {unit}")]
    Leaf {
        /// Index of the release.
        index: usize,
        /// Numerator of P(1→1).
        p: u64,
        /// Numerator of P(0→1).
        q: u64,
        /// The level in the bytes.
        epsilon: f64,
        /// The unit in the bytes.
        unit: Unit,
    },
    /// An unknown step in the merge history.
    #[error("step {step} of the merge history has the unknown code {code}, {form}")]
    Step {
        /// Index of the step.
        step: usize,
        /// Operation code.
        code: u8,
        /// Form code.
        form: u8,
    },
    /// The merge history is not valid.
    #[error("invalid merge history")]
    Lineage(#[from] LineageError),
    /// The parts of a tally do not belong together.
    #[error("invalid tally")]
    Tally(#[from] TallyFault),
    /// The noise came from a generator that anybody can repeat, so the sketch protects nobody.
    ///
    /// Simulations read it with [`SfmSketch::from_bytes_allowing_insecure_noise`](crate::SfmSketch::from_bytes_allowing_insecure_noise).
    #[error("the noise of this sketch came from an insecure test generator: it is not private")]
    InsecureNoise,
}
