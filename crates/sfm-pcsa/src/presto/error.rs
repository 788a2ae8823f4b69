//! What can be wrong with Presto's bytes, and with writing them.

use sketch_hash::HashId;

/// Bytes that are not a usable sketch of Presto's.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PrestoDecodeError {
    /// Cut off, or followed by something.
    #[error("a Presto sketch of this header has {expected} bytes, found {found}")]
    Length {
        /// Bytes of the header, plus what it says about the bitmap once it could be read.
        expected: usize,
        /// Bytes given.
        found: usize,
    },
    /// Another format.
    #[error("the tag of a Presto sketch is {expected}, found {found}")]
    Tag {
        /// 7.
        expected: u8,
        /// The first byte.
        found: u8,
    },
    /// Fewer than two buckets, or more than this crate takes.
    #[error("a Presto sketch with 2^{found} buckets: the exponent must lie in 1 ..= {max}")]
    IndexBits {
        /// [`PcsaShape::MAX_INDEX_BITS`](crate::PcsaShape::MAX_INDEX_BITS).
        max: u8,
        /// The exponent in the bytes.
        found: i32,
    },
    /// No level, or more than a hash has bits for.
    #[error("a Presto sketch with {found} levels: they must lie in 1 ..= {max} for its number of buckets")]
    Levels {
        /// The most that fit beside the bits of the bucket.
        max: u8,
        /// The number in the bytes.
        found: i32,
    },
    /// No probability of the format.
    #[error("the flip probability must lie in 0 ..= 0.5, found {found}")]
    FlipProbability {
        /// The number in the bytes.
        found: f64,
    },
    /// Every bit is a fair coin: the sketch says nothing about its data.
    #[error("the flip probability is 0.5, which leaves no information")]
    NoSignal,
    /// So few bits would be flipped that the level has no name here; see [`Epsilon::MAX`](dp_noise::Epsilon::MAX).
    #[error("the flip probability {found} is too small to be privacy: epsilon would exceed 256")]
    TooLittleNoise {
        /// The number in the bytes.
        found: f64,
    },
    /// A length that is negative or more than the cells need.
    #[error("the bitmap must have at most {max} bytes, found {found}")]
    Bitmap {
        /// Bytes that hold all cells.
        max: usize,
        /// The number in the bytes.
        found: i32,
    },
    /// A bit beyond the last cell is set.
    #[error("the bitmap has bits beyond cell {cells}")]
    ExtraBits {
        /// Cells of the shape.
        cells: usize,
    },
    /// A sketch without noise where a private one was wanted.
    #[error("the sketch has no noise: it is raw state, as sensitive as its data")]
    Raw,
    /// A sketch with noise where a raw one was wanted.
    #[error("the sketch is private: its flip probability is {flip_probability}")]
    Private {
        /// The number in the bytes.
        flip_probability: f64,
    },
    /// The hash given is not the one of Presto's SQL functions.
    #[error("Presto's sketches are made with {expected}, found {found}")]
    Hash {
        /// XXH64 with seed 0.
        expected: HashId,
        /// The hash given.
        found: HashId,
    },
}

/// A sketch that Presto's bytes cannot hold.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PrestoEncodeError {
    /// Made with a hash that Presto does not have.
    ///
    /// The bytes do not name a hash: Presto would merge the sketch with its own, in which the same item lies elsewhere,
    /// and count wrong without noticing.
    #[error(
        "Presto's sketches are made with {expected}, found {found}; its format names no hash, so it would merge this \
         sketch with others of its own and count wrong"
    )]
    Hash {
        /// XXH64 with seed 0.
        expected: HashId,
        /// The hash of the sketch.
        found: HashId,
    },
    /// The format knows symmetric noise only.
    #[error(
        "the format holds symmetric noise only, p + q = 1, found p = {p}, q = {q}; SfmSketch::symmetrised thins a \
         sketch to that"
    )]
    Asymmetric {
        /// P(1→1) of the sketch.
        p: f64,
        /// P(0→1) of the sketch.
        q: f64,
    },
    /// So much noise that the probability would round to one half.
    #[error("1 - 2q = {keep:e} is too small to be written as a flip probability in an f64")]
    TooMuchNoise {
        /// `1 − 2q`.
        keep: f64,
    },
    /// The noise came from a generator that anybody can repeat, and the format cannot say so.
    #[error("the noise of this sketch came from an insecure test generator, which the format cannot record")]
    InsecureNoise,
}
