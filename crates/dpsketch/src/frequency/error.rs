//! What can go wrong while weights are added up.

use thiserror::Error as ThisError;

use crate::error::{Error, ErrorKind};

/// Why a frequency sketch could not be built. Rows are counted from 1; no item and no weight is ever named.
#[derive(Clone, Debug, PartialEq, ThisError)]
#[non_exhaustive]
pub enum FrequencyError {
    /// A weight that is no finite number, or has no place on the grid.
    #[error("row {row} has a weight that is not a number of at most 63 bits on the grid")]
    NotANumber {
        /// The row.
        row: u64,
    },
    /// A record that weighs more than was declared.
    #[error("row {row} weighs more than the declared maximum of {max}")]
    TooHeavy {
        /// The row.
        row: u64,
        /// The declared maximum, in units of weight.
        max: f64,
    },
    /// A counter left its range.
    #[error("a counter overflow: the sums of weights need more than 63 bits")]
    Overflow,
    /// A row was refused before, and was passed over.
    #[error("a row was refused before: the build was given up")]
    GivenUp,
    /// Raw sketches with equal counters: one is a copy of the other, and adding both would count every record twice behind
    /// noise for one.
    #[error("{second} holds the same data as {first}")]
    Copied {
        /// The name of the first one.
        first: String,
        /// The name of its copy.
        second: String,
    },
    /// Single records for a bound on users, or users for a bound on records.
    #[error("the builder is for {expected}, and the terms bound {found}")]
    Unit {
        /// `records` or `users`.
        expected: &'static str,
        /// What is bounded.
        found: String,
    },
}

impl From<FrequencyError> for Error {
    fn from(error: FrequencyError) -> Self {
        use FrequencyError as E;
        let kind = match error {
            E::NotANumber { .. } => ErrorKind::Damaged,
            E::TooHeavy { .. } | E::Overflow | E::GivenUp => ErrorKind::Refused,
            E::Unit { .. } => ErrorKind::Parameter,
            E::Copied { .. } => ErrorKind::Incompatible,
        };
        let told = Self::new(kind, error.to_string());
        let told = match &error {
            E::NotANumber { .. } => {
                told.argument("--weight").hint("clean the column, or name the text that stands for a missing value")
            }
            E::TooHeavy { max, .. } => told
                .argument("--max-weight")
                .allowed(format!("absolute weights of at most {max}"))
                .hint("declare a larger maximum, which needs more noise, or have heavier records clipped to it"),
            E::Overflow => told.hint(
                "nothing was built: leaving out single records would let one person decide about another; \
                 choose a coarser granularity or a smaller maximum",
            ),
            E::Copied { second, .. } => told
                .argument("FILE")
                .value(second.clone())
                .allowed("raw sketches of different data: each record may be in one of them only")
                .hint("leave the copy out"),
            E::GivenUp => told.hint("start again with an empty sketch"),
            E::Unit { .. } => told.hint("name a user column for a bound on users, and none for a bound on records"),
        };
        told.caused_by(error)
    }
}
