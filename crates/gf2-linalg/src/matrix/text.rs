//! Bits as characters `0` and `1`; character `j` is column `j`.

use alloc::vec::Vec;
use core::fmt::{self, Display, Formatter, Write};
use core::str::FromStr;

use bitvec::{order::Lsb0, slice::BitSlice};

use super::BitMatrix;
use crate::{BitVector, EncodingError};

fn write_bits(bits: &BitSlice<u64, Lsb0>, f: &mut Formatter<'_>) -> fmt::Result {
    bits.iter().by_vals().try_for_each(|bit| f.write_char(if bit { '1' } else { '0' }))
}

impl Display for BitVector {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_bits(self.bits(), f)
    }
}

/// One line a row.
impl Display for BitMatrix {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (index, row) in (0..self.rows).filter_map(|index| self.row(index)).enumerate() {
            if index > 0 {
                f.write_char('\n')?;
            }
            write_bits(row, f)?;
        }
        Ok(())
    }
}

impl FromStr for BitVector {
    type Err = EncodingError;

    /// Reads characters `0` and `1`.
    ///
    /// # Errors
    /// [`EncodingError::Character`] for any other, and the errors of [`zeros`](Self::zeros).
    fn from_str(text: &str) -> Result<Self, EncodingError> {
        let mut vector = Self::zeros(text.len())?;
        for (position, found) in text.chars().enumerate() {
            match found {
                '0' => {}
                '1' => vector.toggle(position)?,
                _ => return Err(EncodingError::Character { position, found }),
            }
        }
        Ok(vector)
    }
}

impl FromStr for BitMatrix {
    type Err = EncodingError;

    /// Reads one row a line; no text at all is the matrix without rows and columns.
    ///
    /// # Errors
    /// [`EncodingError::Character`] for a character other than `0` and `1`, with its position in its line, and
    /// [`EncodingError::Shape`] for lines of different lengths or too large a matrix.
    fn from_str(text: &str) -> Result<Self, EncodingError> {
        let rows: Vec<BitVector> = text.lines().map(str::parse).collect::<Result<_, _>>()?;
        Ok(Self::from_rows(rows.first().map_or(0, BitVector::len), &rows)?)
    }
}
