//! What is refused, and what was found instead.

use crate::{MAX_BITS, MAX_DIMENSION};

/// Operands whose shapes do not fit together, or a result that would be too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShapeError {
    /// A vector of another length.
    #[error("expected a vector of {expected} bits, found {found}")]
    Length {
        /// The length that fits.
        expected: usize,
        /// The length given.
        found: usize,
    },
    /// A matrix of another number of rows.
    #[error("expected a matrix of {expected} rows, found {found}")]
    Rows {
        /// The number that fits.
        expected: usize,
        /// The number given.
        found: usize,
    },
    /// A matrix of another number of columns.
    #[error("expected a matrix of {expected} columns, found {found}")]
    Columns {
        /// The number that fits.
        expected: usize,
        /// The number given.
        found: usize,
    },
    /// A row or column, or a bit, that is not there.
    #[error("index {index} is not below {length}")]
    Index {
        /// The index given.
        index: usize,
        /// How many there are.
        length: usize,
    },
    /// A vector longer than [`MAX_BITS`].
    #[error("a vector of {bits} bits is longer than {MAX_BITS}")]
    TooLong {
        /// The length asked for.
        bits: u64,
    },
    /// A matrix with a dimension above [`MAX_DIMENSION`], or with more than [`MAX_BITS`] bits.
    #[error("a matrix of {rows} x {columns} bits exceeds {MAX_DIMENSION} rows or columns, or {MAX_BITS} bits")]
    TooLarge {
        /// The rows asked for.
        rows: u64,
        /// The columns asked for.
        columns: u64,
    },
}

/// Words or text that are not a vector or matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodingError {
    /// Sizes that no vector or matrix has, or rows of different lengths.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// Too many or too few words.
    #[error("expected {expected} words, found {found}")]
    Words {
        /// The words of that many bits.
        expected: u64,
        /// The words given.
        found: u64,
    },
    /// A 1 behind the last bit of a vector or of a row.
    #[error("word {word} has ones after the last bit")]
    Tail {
        /// The word that holds it.
        word: usize,
    },
    /// A character other than `0` and `1`.
    #[error("expected 0 or 1, found {found:?} at position {position}")]
    Character {
        /// How many bits come before it.
        position: usize,
        /// The character.
        found: char,
    },
}

/// A matrix without inverse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InverseError {
    /// It is too large to be inverted.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// It is not square.
    #[error("expected a square matrix, found {rows} x {columns}")]
    NotSquare {
        /// Its rows.
        rows: usize,
        /// Its columns.
        columns: usize,
    },
    /// Its rank is too small.
    #[error("expected rank {expected}, found {found}")]
    Singular {
        /// Its number of rows and of columns.
        expected: usize,
        /// Its rank.
        found: usize,
    },
}
