use thiserror::Error as ThisError;

use super::key_type::KEY_TYPES;
use crate::error::{Error, ErrorKind};

/// Why rows could not be counted by group. No value of a group is ever named: they are data.
#[derive(Clone, Debug, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum GroupError {
    /// A group column of a type that names no groups.
    #[error("groups cannot be named by a column of type {found}")]
    KeyType {
        /// The type.
        found: String,
    },
    /// A value that does not fit the type of the group column.
    #[error("the group column has two types: expected {expected}, found {found}")]
    TwoTypes {
        /// The type of the values before.
        expected: String,
        /// The type of this one.
        found: String,
    },
    /// A line of the list of groups that is no value of the group column's type.
    #[error("a group of the list is no value of type {expected}")]
    Listed {
        /// The type of the group column.
        expected: String,
    },
    /// A list of groups that names one of them twice.
    #[error("the list names a group twice: line {line} repeats an earlier one")]
    Repeated {
        /// The line, from 1.
        line: usize,
    },
    /// Bounded users without a list of groups.
    #[error("to protect users the groups have to come from a list: which groups exist would give users away")]
    NoList,
    /// More groups than can be numbered.
    #[error("more than 2^32 groups")]
    TooMany,
    /// A table whose groups are not those that were released, or not in their rows.
    #[error("the groups of the table were changed: expected the checksum {expected:016x}, found {found:016x}")]
    Checksum {
        /// As the metadata have it.
        expected: u64,
        /// Of the groups that are there.
        found: u64,
    },
    /// A Parquet file without the metadata of a container, or with invalid ones.
    #[error("not a container of grouped sketches: {reason}")]
    Container {
        /// What is missing or wrong.
        reason: String,
    },
}

impl From<GroupError> for Error {
    fn from(error: GroupError) -> Self {
        use GroupError as E;
        let told = |kind| Self::new(kind, error.to_string());
        match &error {
            E::KeyType { found } => told(ErrorKind::Column)
                .argument("--group-by")
                .value(found)
                .allowed(KEY_TYPES)
                .hint("cast the column to text"),
            E::TwoTypes { expected, found } => told(ErrorKind::Column)
                .argument("--group-by")
                .value(found)
                .allowed(expected)
                .hint("all inputs need the same type of group"),
            E::Listed { expected } => {
                told(ErrorKind::Parameter).argument("--groups").allowed(format!("one value of type {expected} a line"))
            }
            E::Repeated { line } => told(ErrorKind::Parameter)
                .argument("--groups")
                .value(format!("line {line}"))
                .hint("name every group once"),
            E::NoList => told(ErrorKind::Parameter)
                .argument("--groups")
                .allowed("a file with one group a line")
                .hint("name all groups there can be, whether or not they are in the data"),
            E::TooMany => told(ErrorKind::Column).argument("--group-by").hint("group by another column"),
            E::Checksum { .. } => told(ErrorKind::Damaged).hint("copy the table again from where it was made"),
            E::Container { .. } => {
                told(ErrorKind::Damaged).hint("name a file made by `dpsketch build --group-by`, or a .dps file")
            }
        }
        .caused_by(error)
    }
}
