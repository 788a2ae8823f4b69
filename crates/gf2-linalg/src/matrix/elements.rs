//! Elements, operations on rows, and parts of a matrix.

use core::ops::Range;

use super::{BitMatrix, tail_mask};
use crate::{BitVector, ShapeError, xor_into};

impl BitMatrix {
    /// The matrix with these rows, which have `columns` bits each.
    ///
    /// # Errors
    /// [`ShapeError::Length`] for a row of another length, and the errors of [`zeros`](Self::zeros).
    ///
    /// # Examples
    /// ```
    /// use gf2_linalg::{BitMatrix, BitVector};
    ///
    /// let rows: [BitVector; 2] = ["011".parse()?, "110".parse()?];
    /// assert_eq!(BitMatrix::from_rows(3, &rows)?.to_string(), "011\n110");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn from_rows(columns: usize, rows: &[BitVector]) -> Result<Self, ShapeError> {
        let mut matrix = Self::zeros(rows.len(), columns)?;
        for (index, row) in rows.iter().enumerate() {
            if row.len() != columns {
                return Err(ShapeError::Length { expected: columns, found: row.len() });
            }
            matrix.row_words_mut(index).copy_from_slice(row.words());
        }
        Ok(matrix)
    }

    /// One element; `None` outside the matrix.
    #[must_use]
    pub fn get(&self, row: usize, column: usize) -> Option<bool> {
        (row < self.rows && column < self.columns).then(|| self.words(row)[column / 64] >> (column % 64) & 1 == 1)
    }

    /// Changes one element.
    ///
    /// # Errors
    /// [`ShapeError::Index`] outside the matrix.
    pub fn set(&mut self, row: usize, column: usize, bit: bool) -> Result<(), ShapeError> {
        self.check_row(row)?;
        if column >= self.columns {
            return Err(ShapeError::Index { index: column, length: self.columns });
        }
        let word = &mut self.row_words_mut(row)[column / 64];
        *word = *word & !(1 << (column % 64)) | u64::from(bit) << (column % 64);
        Ok(())
    }

    fn check_row(&self, row: usize) -> Result<(), ShapeError> {
        if row < self.rows { Ok(()) } else { Err(ShapeError::Index { index: row, length: self.rows }) }
    }

    /// Exchanges two rows.
    ///
    /// # Errors
    /// [`ShapeError::Index`] when one of them is not there.
    pub fn swap_rows(&mut self, a: usize, b: usize) -> Result<(), ShapeError> {
        self.check_row(a)?;
        self.check_row(b)?;
        if a != b {
            let (upper, lower) = self.words.split_at_mut(a.max(b) * self.stride);
            let used = self.columns.div_ceil(64);
            upper[a.min(b) * self.stride..][..used].swap_with_slice(&mut lower[..used]);
        }
        Ok(())
    }

    /// Adds row `from` to row `into`; a row added to itself becomes 0.
    ///
    /// # Errors
    /// [`ShapeError::Index`] when one of them is not there.
    pub fn add_row(&mut self, from: usize, into: usize) -> Result<(), ShapeError> {
        self.check_row(from)?;
        self.check_row(into)?;
        let used = self.columns.div_ceil(64);
        if from == into {
            self.row_words_mut(into).fill(0);
            return Ok(());
        }
        let (upper, lower) = self.words.split_at_mut(from.max(into) * self.stride);
        let (upper, lower) = (&mut upper[from.min(into) * self.stride..][..used], &mut lower[..used]);
        if from < into {
            xor_into(lower, upper);
        } else {
            xor_into(upper, lower);
        }
        Ok(())
    }

    /// Adds `other`, element by element.
    ///
    /// # Errors
    /// [`ShapeError::Rows`] or [`ShapeError::Columns`] when the shapes differ.
    pub fn xor_assign(&mut self, other: &Self) -> Result<(), ShapeError> {
        self.same_rows(other)?;
        if self.columns != other.columns {
            return Err(ShapeError::Columns { expected: self.columns, found: other.columns });
        }
        xor_into(&mut self.words, &other.words);
        Ok(())
    }

    fn same_rows(&self, other: &Self) -> Result<(), ShapeError> {
        let (expected, found) = (self.rows, other.rows);
        if expected == found { Ok(()) } else { Err(ShapeError::Rows { expected, found }) }
    }

    /// Whether every element is 0.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// Columns of `self`, then those of `right`: `[self | right]`.
    ///
    /// # Errors
    /// [`ShapeError::Rows`] when the numbers of rows differ, and the errors of [`zeros`](Self::zeros).
    ///
    /// # Examples
    /// ```
    /// use gf2_linalg::BitMatrix;
    ///
    /// let (a, b): (BitMatrix, BitMatrix) = ("01\n11".parse()?, "1\n0".parse()?);
    /// assert_eq!(a.beside(&b)?.to_string(), "011\n110");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn beside(&self, right: &Self) -> Result<Self, ShapeError> {
        self.same_rows(right)?;
        let mut joined = Self::zeros(self.rows, self.columns + right.columns)?;
        let (start, shift) = (self.columns / 64, self.columns % 64);
        for row in 0..self.rows {
            let into = joined.row_words_mut(row);
            into[..self.columns.div_ceil(64)].copy_from_slice(self.words(row));
            for (index, word) in right.words(row).iter().enumerate() {
                into[start + index] |= word << shift;
                if let Some(next) = into.get_mut(start + index + 1).filter(|_| shift > 0) {
                    *next = word >> (64 - shift);
                }
            }
        }
        Ok(joined)
    }

    /// The elements of some successive rows and columns.
    ///
    /// # Errors
    /// [`ShapeError::Index`] when a range ends outside the matrix or before it starts.
    ///
    /// # Examples
    /// ```
    /// use gf2_linalg::BitMatrix;
    ///
    /// let a: BitMatrix = "0110\n1010\n0001".parse()?;
    /// assert_eq!(a.part(0..2, 1..4)?.to_string(), "110\n010");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn part(&self, rows: Range<usize>, columns: Range<usize>) -> Result<Self, ShapeError> {
        check_range(&rows, self.rows)?;
        check_range(&columns, self.columns)?;
        let mut part = Self::zeros(rows.len(), columns.len())?;
        let (start, shift, mask) = (columns.start / 64, columns.start % 64, tail_mask(columns.len()));
        for (index, row) in rows.enumerate() {
            let from = &self.words(row)[start.min(self.row_words())..];
            let into = part.row_words_mut(index);
            for (position, word) in into.iter_mut().enumerate() {
                let high = from.get(position + 1).filter(|_| shift > 0).map_or(0, |next| next << (64 - shift));
                *word = from[position] >> shift | high;
            }
            if let Some(last) = into.last_mut() {
                *last &= mask;
            }
        }
        Ok(part)
    }
}

fn check_range(range: &Range<usize>, length: usize) -> Result<(), ShapeError> {
    match range {
        range if range.end > length => Err(ShapeError::Index { index: range.end, length }),
        range if range.start > range.end => Err(ShapeError::Index { index: range.start, length: range.end }),
        _ => Ok(()),
    }
}
