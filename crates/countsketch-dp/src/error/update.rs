//! Refused updates.

use dp_noise::EntropyError;
use sketch_hash::HashId;

use crate::bound::ContributionBound;

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
