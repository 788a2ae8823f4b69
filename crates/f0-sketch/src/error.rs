//! The errors of this crate, one type for each kind of operation.

use core::fmt;

use dp_noise::{EntropyError, ParameterError};
use sketch_hash::HashId;
use sketch_wire::WireError;

use crate::coins::CoinId;
use crate::leaf::ReleaseId;
use crate::mode::ModeKind;
use crate::shape::F0Shape;
use crate::unit::Unit;
use crate::weight::WeightRule;

/// A shape that no sketch has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShapeError {
    /// No level, or more than the hash can tell apart.
    #[error("levels must lie in 1 ..= 64, found {found}")]
    Levels {
        /// The number given.
        found: u8,
    },
    /// No table, or too many.
    #[error("tables must be 1 ..= 255, found {found}")]
    Tables {
        /// The number given.
        found: usize,
    },
    /// A table that no item falls into.
    #[error("the share of table {table} is 0")]
    EmptyShare {
        /// Index of the table.
        table: usize,
    },
    /// The shares are no distribution.
    #[error("shares must add up to 2^63, found {found}")]
    Shares {
        /// Their sum.
        found: u128,
    },
    /// So few cells that an item would fall into one of them with probability 1/2 or more.
    #[error("table {table} needs {least} cells at least, found {found}")]
    FewCells {
        /// Index of the table.
        table: usize,
        /// The least number for its share.
        least: u32,
        /// The number given.
        found: u32,
    },
    /// Too many cells.
    #[error("cells must be at most 67108864, found {found}")]
    ManyCells {
        /// The cells of all tables.
        found: u64,
    },
}

/// What is wrong with a weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WeightFault {
    /// Below 0.
    Negative,
    /// Not finite.
    Infinite,
    /// NaN.
    NotANumber,
}

impl fmt::Display for WeightFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Negative => "negative",
            Self::Infinite => "infinite",
            Self::NotANumber => "not a number",
        })
    }
}

/// A weight that cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WeightError {
    /// A maximum outside its range, or not a number.
    #[error("the largest weight must lie in 2^-256 ..= 2^256, found {found}")]
    Max {
        /// The number given.
        found: f64,
    },
    /// A weight that is negative, infinite or not a number.
    #[error("a weight must be a finite number of at least 0, found one that is {found}")]
    Value {
        /// What is wrong with it. Not the number, which may be somebody's.
        found: WeightFault,
    },
    /// The sketch counts every item as 1.
    #[error("a sketch without weights cannot take a weighted item")]
    Unit,
    /// Not one weight for each item.
    #[error("expected one weight for each of {expected} items, found {found}")]
    Count {
        /// The number of items.
        expected: usize,
        /// The number of weights.
        found: usize,
    },
}

/// Weighted items that were not observed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ObserveError {
    /// No random bytes for the coins.
    #[error("no entropy for the coins")]
    Entropy(#[from] EntropyError),
    /// The weights do not fit.
    #[error("weights")]
    Weight(#[from] WeightError),
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
    /// Different shapes.
    #[error("shape mismatch: expected {expected}, found {found}")]
    Shape {
        /// The shape of the first sketch.
        expected: F0Shape,
        /// The shape of the other one.
        found: F0Shape,
    },
    /// Weights measured in different units.
    #[error("weight mismatch: expected {expected}, found {found}")]
    Weights {
        /// The rule of the first sketch.
        expected: WeightRule,
        /// The rule of the other one.
        found: WeightRule,
    },
    /// Raw data of which some was bounded for users: a user in both could have added more than the bound.
    #[error("raw data for {first} and for {second} does not merge: a user in both could exceed the bound")]
    Unit {
        /// Whom the first sketch was bounded for.
        first: Unit,
        /// Whom the other one was bounded for.
        second: Unit,
    },
    /// Raw data whose coins were released before, merged into a release whose noise was not made for that.
    #[error("the coins of the raw data were released at level {found} before, the noise was made for {expected}")]
    Exposure {
        /// The level of earlier releases that the noise allows for.
        expected: f64,
        /// That of the raw data.
        found: f64,
    },
    /// One release would be used twice: its noise would cancel and unmask the difference.
    #[error("release {id} is in more than one of the sketches, and a release can be used only once")]
    RepeatedRelease {
        /// The release.
        id: ReleaseId,
    },
    /// Two releases of the same secret coins, such as of a day and of the week with that day: what the two share would cancel,
    /// and the answer would miss it.
    #[error(
        "releases {first} and {second} were made from the same secret coins {coin}: what they share would cancel, not unite"
    )]
    SharedCoins {
        /// The coins.
        coin: CoinId,
        /// One release of them.
        first: ReleaseId,
        /// The other one.
        second: ReleaseId,
    },
    /// Raw data with the same secret coins: copies, or a sketch and one that it was merged into.
    #[error("both hold the secret coins {coin}, and what they share would cancel, not unite")]
    RepeatedCoins {
        /// The coins.
        coin: CoinId,
    },
    /// More names of coins than one sketch may record.
    #[error("a sketch holds the coins of at most {max} raw sketches, the merge has those of {found}")]
    TooManyCoins {
        /// [`MAX_COINS`](crate::MAX_COINS).
        max: usize,
        /// Names of coins in all inputs together.
        found: usize,
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
    /// So much noise came together that nothing is left to estimate from: a contrast below 2⁻³⁰⁰, or below 2⁻⁴⁰ for an opened
    /// sum.
    #[error("the noise together leaves no signal")]
    NoSignal,
}

/// A release that did not happen, or that could not be prepared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReleaseError {
    /// No random bytes for the noise.
    #[error("no entropy for the noise")]
    Entropy(#[from] EntropyError),
    /// The permit pays for another ε than the release was prepared for.
    #[error("the release was prepared at epsilon = {expected}, the permit is for {found}")]
    Permit {
        /// The ε that was recorded.
        expected: f64,
        /// That of the permit.
        found: f64,
    },
    /// The raw data was bounded for another unit.
    #[error("the data was bounded for {expected}, not for {found}")]
    Unit {
        /// The unit that the raw sketch records.
        expected: Unit,
        /// The unit asked for.
        found: Unit,
    },
    /// Coins to be [renamed](crate::F0Sketch::rename_coins) that have been released under the names that they have.
    #[error("the coins were released {releases} times under their names, which they have to keep")]
    Named {
        /// The releases on record.
        releases: u32,
    },
    /// What is left for one cell, after dividing ε by the cells that one unit may change, is below the least ε.
    #[error("epsilon divided by the {cells} cells that {unit} may change")]
    Share {
        /// The unit of privacy.
        unit: Unit,
        /// Cells that one unit may change.
        cells: u32,
        /// The share, and the range of ε.
        source: ParameterError,
    },
}

/// Shares of sketches that do not belong together.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SharingError {
    /// The release did not happen.
    #[error("no share was made")]
    Release(#[from] ReleaseError),
    /// Hash, shape, weights, or a party twice.
    #[error("the shares do not belong together")]
    Mismatch(#[from] MergeError),
    /// Bounded for users at one party only: a user with so many items at each of several parties exceeds the bound.
    #[error("the data of one party was bounded for {found}, but a user may be at several parties")]
    Bounded {
        /// Whom the data was bounded for.
        found: Unit,
    },
    /// Made for another plan: other parties, level or unit.
    #[error("the shares were made for different plans")]
    Plan,
    /// Shares of one server are combined, those of two are opened.
    #[error("a share of server {found} where one of server {expected} belongs")]
    Server {
        /// The server expected.
        expected: u8,
        /// The server of the share.
        found: u8,
    },
    /// A party missing or one too many: its noise is part of what protects the others.
    #[error("the plan has {expected} parties, found {found}")]
    Parties {
        /// The parties of the plan.
        expected: u32,
        /// The parties in the share.
        found: usize,
    },
    /// The two servers hold shares of different parties.
    #[error("the two servers hold shares of different parties")]
    DifferentParties,
    /// No such plan.
    #[error("a plan needs 1 ..= 65536 parties of which at least one is honest, found {parties} with {honest} honest")]
    PlanSize {
        /// All parties.
        parties: u32,
        /// Those whose noise is counted on.
        honest: u32,
    },
}

/// Bytes that are not a sketch.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// Header, checksum or layout.
    #[error("unreadable bytes")]
    Wire(#[from] WireError),
    /// An unknown mode.
    #[error("unknown mode {found}, expected 1 (set) or 2 (presampled)")]
    UnknownMode {
        /// The code in the bytes.
        found: u8,
    },
    /// A sketch of the other mode.
    #[error("mode mismatch: expected {expected}, found {found}")]
    Mode {
        /// The mode of the type asked for.
        expected: ModeKind,
        /// The mode in the bytes.
        found: ModeKind,
    },
    /// A shape that no sketch has.
    #[error("invalid shape")]
    Shape(#[from] ShapeError),
    /// A largest weight that no sketch has.
    #[error("invalid weights")]
    Weight(#[from] WeightError),
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
    #[error("the cells must have {expected} words, found {found}")]
    Length {
        /// Words of the shape.
        expected: usize,
        /// Words in the bytes.
        found: usize,
    },
    /// A bit beyond the last cell is set.
    #[error("the last word has bits beyond cell {cells}")]
    ExtraBits {
        /// Cells of the shape.
        cells: usize,
    },
    /// No release, or too many.
    #[error("a sketch holds 1 ..= 65536 releases, found {found}")]
    Releases {
        /// The number of releases.
        found: usize,
    },
    /// Releases that are not in rising order of their names, each once.
    #[error("release {index} does not come after the one before it")]
    Order {
        /// Index of the release.
        index: usize,
    },
    /// A flip probability that does not keep the stated privacy level.
    #[error("release {index}: flip probability {p} over 2^64 does not keep epsilon = {epsilon} for {unit}")]
    Leaf {
        /// Index of the release.
        index: usize,
        /// Numerator of the flip probability.
        p: u64,
        /// The level in the bytes.
        epsilon: f64,
        /// The unit in the bytes.
        unit: Unit,
    },
    /// Coins that do not fit the mode: a set has none, a release in mode `presampled` has some, and no sketch has too many.
    #[error("{found} names of coins in a sketch of mode {mode}, where at most 131072 and in a set none belong")]
    Coins {
        /// The mode.
        mode: ModeKind,
        /// The number of names.
        found: usize,
    },
    /// Names of coins that are not in rising order, each once.
    #[error("the name of coins {index} does not come after the one before it")]
    CoinOrder {
        /// Index of the name.
        index: usize,
    },
    /// Coins of a release that is not there.
    #[error("coins {index} belong to release {release}, which is not there")]
    CoinRelease {
        /// Index of the name.
        index: usize,
        /// Index of the release.
        release: u32,
    },
    /// A release in mode `presampled` without coins.
    #[error("release {index} names no coins")]
    NoCoins {
        /// Index of the release.
        index: usize,
    },
    /// Raw data in mode `presampled` whose coins have no name.
    #[error("cells are set, but no coins are named")]
    NamelessCoins,
    /// The releases together leave no signal.
    #[error("the merged noise leaves a contrast below 2^-300")]
    NoSignal,
    /// A level of earlier releases that no raw sketch has.
    #[error(
        "the level of earlier releases must be finite, above 0 if coins were released before and 0 if not, found {found}"
    )]
    Exposure {
        /// The number in the bytes.
        found: f64,
    },
    /// The noise came from a generator that anybody can repeat, so the sketch protects nobody.
    ///
    /// Simulations read it with
    /// [`PrivateF0Sketch::from_bytes_allowing_insecure_noise`](crate::PrivateF0Sketch::from_bytes_allowing_insecure_noise).
    #[error("the noise of this sketch came from an insecure test generator: it is not private")]
    InsecureNoise,
}
