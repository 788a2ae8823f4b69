//! What can go wrong while a set is read.

use thiserror::Error as ThisError;

use super::operation::Operation;
use crate::error::{Error, ErrorKind};

/// Why an F0 sketch could not be built or put together. Rows are counted from 1; no item and no weight is ever named.
#[derive(Clone, Debug, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum F0Error {
    /// A weight that is no number, or below 0.
    #[error("row {row} has a weight that is not a number of at least 0")]
    NotAWeight {
        /// The row.
        row: u64,
    },
    /// A missing operation, or a word that is none.
    #[error("row {row} has an operation that is none of: {}", Operation::ALLOWED)]
    NotAnOperation {
        /// The row.
        row: u64,
    },
    /// Items that came with rows of different weight.
    #[error("{items} items came with rows of different weight, and an item has one")]
    Conflict {
        /// How many.
        items: u64,
    },
    /// Rows with more or less than the builder takes.
    #[error("the builder takes {expected}, found {found}")]
    Input {
        /// What it takes.
        expected: &'static str,
        /// What came.
        found: &'static str,
    },
    /// A row was refused before, and was passed over.
    #[error("a row was refused before: the build was given up")]
    GivenUp,
    /// Raw pre-sampled sketches with secret coins in common, such as copies, or a day and a week that it was merged into: their XOR
    /// would miss what they share.
    #[error("{second} holds secret coins of {first}: what they share would cancel, and the union would miss it")]
    Copied {
        /// The name of the first one.
        first: String,
        /// The name of the one that has coins of it.
        second: String,
    },
}

impl From<F0Error> for Error {
    fn from(error: F0Error) -> Self {
        use F0Error as E;
        let kind = match error {
            E::NotAWeight { .. } | E::NotAnOperation { .. } => ErrorKind::Damaged,
            E::Conflict { .. } | E::GivenUp => ErrorKind::Refused,
            E::Input { .. } => ErrorKind::Parameter,
            E::Copied { .. } => ErrorKind::Incompatible,
        };
        let told = Self::new(kind, error.to_string());
        let told = match &error {
            E::NotAWeight { .. } => told
                .argument("--weight")
                .allowed("numbers of at least 0; what is above the largest weight is clipped to it")
                .hint("clean the column, or name the text that stands for a missing value"),
            E::NotAnOperation { .. } => told
                .argument("--op-column")
                .allowed(Operation::ALLOWED)
                .hint("clean the column: every row has to say what it does"),
            E::Conflict { items } => {
                told.argument("--weight").value(format!("{items} items")).allowed("one weight an item").hint(
                    "bring the rows of each item together first, with the sum of their weights if that is meant, \
                 or let the largest weight count",
                )
            }
            E::Input { expected, .. } => told.allowed(*expected),
            E::GivenUp => told.hint("start again with an empty sketch"),
            E::Copied { second, .. } => told
                .argument("FILE")
                .value(second.clone())
                .allowed("raw sketches that were built apart, each with coins of its own")
                .hint("leave one of the two out: the one with more data in it holds the other"),
        };
        told.caused_by(error)
    }
}
