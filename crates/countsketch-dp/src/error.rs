//! The errors of this crate, one type for each kind of operation.

use dp_noise::{
    CalibrationError, EntropyError, Epsilon, FractionError, ParameterError, Rho, SampleError, SensitivityError,
};
use sketch_hash::HashId;
use sketch_wire::WireError;

use crate::bound::ContributionBound;
use crate::granularity::Granularity;
use crate::leaf::ReleaseId;
use crate::lineage::LineageError;
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

/// An update that was refused. It has changed nothing.
///
/// Errors name no weight and no counter: both are data.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UpdateError {
    /// A counter would leave ±(2⁶³ − 1).
    ///
    /// # Privacy
    /// Give the whole build up. Going on without this record would let one unit decide whether another is counted.
    #[error("counter overflow: the update would take a counter beyond 63 bits, nothing was added")]
    CounterOverflow,
    /// A record that weighs more than the bound allows.
    #[error("a record weighs at most {max} grid units here, nothing was added")]
    Weight {
        /// The largest weight.
        max: u64,
    },
    /// A real weight that is not a number, or has no place on the grid.
    #[error("a weight is not a finite number of at most 63 bits on the grid, nothing was added")]
    NotOnGrid,
    /// Single records for a sketch that bounds users: it takes all of a user's records together.
    #[error("the sketch bounds {bound}: add all records of a user together")]
    User {
        /// The bound of the sketch.
        bound: ContributionBound,
    },
    /// A user's records for a sketch that bounds records.
    #[error("the sketch bounds {bound}: add records one by one")]
    Record {
        /// The bound of the sketch.
        bound: ContributionBound,
    },
    /// A key with more bits than keys have here, or an index beyond the end of a vector.
    #[error("keys are below {end} here, nothing was added")]
    Key {
        /// The first number that is no key.
        end: u128,
    },
    /// Not one weight for each item.
    #[error("expected {expected} weights, one for each item, found {found}")]
    Lengths {
        /// The number of items.
        expected: usize,
        /// The number of weights.
        found: usize,
    },
    /// A user's items were hashed by another function or under another key.
    #[error("hash key mismatch: expected {expected}, found {found}")]
    Hash {
        /// The hash of the sketch.
        expected: HashId,
        /// The hash of the items.
        found: HashId,
    },
    /// No random bytes for rounding.
    #[error("no entropy for rounding")]
    Entropy(#[from] EntropyError),
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

/// A release that did not happen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReleaseError {
    /// No random bytes for the noise.
    #[error("no entropy for the noise")]
    Entropy(#[from] EntropyError),
    /// No noise was found for ε and δ.
    #[error("calibration")]
    Calibration(#[from] CalibrationError),
    /// Neighbouring data differs by more than can be protected.
    #[error("sensitivity")]
    Sensitivity(#[from] SensitivityError),
    /// The level asks for noise out of range.
    #[error("noise")]
    Noise(#[from] FractionError),
    /// The cost of the noise is out of range.
    #[error("cost")]
    Cost(#[from] ParameterError),
    /// The noise is too large for 64-bit counters.
    #[error("the {name} of the noise is at most {max}, found {found}")]
    TooMuchNoise {
        /// Which parameter.
        name: &'static str,
        /// The largest value.
        max: f64,
        /// The value that the level asks for.
        found: f64,
    },
    /// The sampler refused.
    #[error("sampler")]
    Sample(#[from] SampleError),
    /// Noise that was calibrated for another shape, bound or number of parts.
    #[error("the noise was calibrated for a sketch of another shape or bound")]
    Terms,
    /// The permit pays for less than the noise costs.
    #[error("the permit pays for {paid:?}, the release costs {cost:?}")]
    Underpaid {
        /// What the permit allows.
        paid: Rho,
        /// What the release costs.
        cost: Rho,
    },
    /// The permit pays for less than the shares cost.
    #[error("the permit pays for {paid:?}, the release costs {cost:?}")]
    UnderpaidEpsilon {
        /// What the permit allows.
        paid: Epsilon,
        /// What the release costs.
        cost: Epsilon,
    },
    /// Exact calibration is for records that are added or removed.
    #[error("exact calibration is for one record added or removed, the sketch bounds {bound}")]
    NotExact {
        /// The bound of the sketch.
        bound: ContributionBound,
    },
    /// Shares of noise for fewer than two parties, or for too many.
    #[error("noise is shared by {min} ..= {max} parties, found {found}")]
    Shares {
        /// The fewest.
        min: u32,
        /// The most.
        max: u32,
        /// The number given.
        found: u32,
    },
    /// A variance below 2: the sum of such noises hides less than its variance says.
    #[error("noise that is added up needs a variance of at least 2 each, found {found}")]
    SmallVariance {
        /// The variance given.
        found: f64,
    },
    /// Noise on top of what is not one Gaussian release.
    #[error("noise is topped up only on sketches whose noise is Gaussian")]
    NotGaussian,
    /// Not one weight above 0 for every level of a stack.
    #[error("expected {expected} weights above 0, one for each level, found {found}")]
    Split {
        /// The levels.
        expected: usize,
        /// The weights given that are above 0.
        found: usize,
    },
    /// The releases in the sketch do not go together.
    #[error("history")]
    Lineage(#[from] LineageError),
    /// Words of a sum of shares that no shares add up to.
    #[error("expected a sum of {expected} words, found {found}")]
    Words {
        /// The words of a share.
        expected: usize,
        /// The words given.
        found: usize,
    },
    /// Fewer shares than the noise was calibrated for.
    #[error("the noise was calibrated for {expected} shares, the sum holds {found}")]
    MissingShares {
        /// The number that keeps the level.
        expected: u32,
        /// The number that the sum states.
        found: u64,
    },
}

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
