use thiserror::Error as ThisError;

use super::unit::MaxItems;
use crate::error::{Error, ErrorKind};

/// Why what one user contributes could not be bounded. Rows are counted from 1; no value is ever named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum UserBoundError {
    /// A bound that is zero or too large.
    #[error("a user may contribute 1 to {} items, found {found}", MaxItems::MAX)]
    MaxItems {
        /// The bound that was asked for.
        found: u32,
    },
    /// Less memory than sorting needs.
    #[error("sorting needs at least {expected} bytes of memory, found {found}")]
    Memory {
        /// The least amount in bytes.
        expected: usize,
        /// What was given.
        found: usize,
    },
    /// The system does not give that much memory.
    #[error("cannot get {requested} bytes of memory for sorting")]
    NoMemory {
        /// What was asked for.
        requested: usize,
    },
    /// The rows of one user do not stand together.
    #[error("the input is not sorted by user: row {row} belongs to a user whose rows had ended before")]
    UserReturned {
        /// The row.
        row: u64,
    },
    /// The input is in no order, and has too many users to notice one that comes back.
    #[error("the input is not sorted by user: row {row} breaks the order, with more than {remembered} users before it")]
    NotSorted {
        /// The row.
        row: u64,
        /// How many users are remembered one by one.
        remembered: usize,
    },
    /// A row was refused before, and was passed over.
    #[error("a row was refused before: what was kept is not bounded")]
    RefusedBefore,
}

impl From<UserBoundError> for Error {
    fn from(error: UserBoundError) -> Self {
        use UserBoundError as E;
        let kind = match error {
            E::MaxItems { .. } | E::Memory { .. } | E::NoMemory { .. } => ErrorKind::Parameter,
            E::UserReturned { .. } | E::NotSorted { .. } | E::RefusedBefore => ErrorKind::Refused,
        };
        let hint = match error {
            E::MaxItems { .. } => "choose a bound that few users exceed",
            E::Memory { .. } => "allow more memory",
            E::NoMemory { .. } => "allow less memory",
            E::UserReturned { .. } | E::NotSorted { .. } => {
                "sort the input by user, or allow temporary files, with which any order will do"
            }
            E::RefusedBefore => "start again with an empty sketch",
        };
        Self::new(kind, error.to_string()).hint(hint).caused_by(error)
    }
}
