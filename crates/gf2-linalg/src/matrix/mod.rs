//! Bit matrices: storage, rows and elements.

mod elements;
mod invert;
mod product;
mod strassen;
mod text;
mod transpose;

use alloc::{vec, vec::Vec};

use bitvec::{order::Lsb0, slice::BitSlice};

use crate::panel::{Line, write};
use crate::{EncodingError, ShapeError};

/// The most rows or columns of a matrix: 2²⁴.
pub const MAX_DIMENSION: usize = 1 << 24;

/// The most bits of a vector or matrix, padding included: 2³⁶, which are 8 GiB.
pub const MAX_BITS: u64 = 1 << 36;

/// A matrix over GF(2), row by row.
///
/// Bit `j` of a row is bit `j % 64` of its word `j / 64`; bits behind the last column are 0. Rows of more than four
/// words start at multiples of four words.
///
/// `Debug` prints the shape only, [`Display`](core::fmt::Display) the bits.
///
/// # Examples
/// ```
/// use gf2_linalg::BitMatrix;
///
/// let a: BitMatrix = "110\n011\n101".parse()?;
/// assert_eq!(a.rank(), 2);
/// assert_eq!(a.transpose()?.to_string(), "101\n110\n011");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct BitMatrix {
    rows: usize,
    columns: usize,
    /// Words from the start of a row to that of the next; 0 when there is no column.
    stride: usize,
    words: Vec<u64>,
}

/// Words from row to row.
fn stride(columns: usize) -> usize {
    let words = columns.div_ceil(64);
    if words > 4 { words.next_multiple_of(4) } else { words }
}

/// The bits of the last word of `bits` bits that are used.
pub(crate) fn tail_mask(bits: usize) -> u64 {
    u64::MAX >> (bits.wrapping_neg() % 64)
}

impl BitMatrix {
    /// The zero matrix.
    ///
    /// # Errors
    /// [`ShapeError::TooLarge`] when `rows` or `columns` exceeds [`MAX_DIMENSION`], or the whole [`MAX_BITS`].
    pub fn zeros(rows: usize, columns: usize) -> Result<Self, ShapeError> {
        Self::check_size(rows, columns)?;
        Ok(Self::new(rows, columns))
    }

    /// Whether there may be a matrix of that size.
    pub(crate) fn check_size(rows: usize, columns: usize) -> Result<(), ShapeError> {
        let fits = rows <= MAX_DIMENSION
            && columns <= MAX_DIMENSION
            && 64 * rows as u64 * stride(columns) as u64 <= MAX_BITS
            && rows.checked_mul(64 * stride(columns)).is_some();
        if fits { Ok(()) } else { Err(ShapeError::TooLarge { rows: rows as u64, columns: columns as u64 }) }
    }

    /// The zero matrix, of a size that was checked.
    pub(crate) fn new(rows: usize, columns: usize) -> Self {
        let stride = stride(columns);
        Self { rows, columns, stride, words: vec![0; rows * stride] }
    }

    /// The identity of `size` rows and columns.
    ///
    /// # Errors
    /// As [`zeros`](Self::zeros).
    pub fn identity(size: usize) -> Result<Self, ShapeError> {
        let mut identity = Self::zeros(size, size)?;
        for i in 0..size {
            identity.row_words_mut(i)[i / 64] = 1 << (i % 64);
        }
        Ok(identity)
    }

    /// The matrix whose rows are held by `words`, `⌈columns / 64⌉` of them each, without padding.
    ///
    /// # Errors
    /// [`EncodingError::Words`] for another number of words, [`EncodingError::Tail`] when a row has a 1 after its last
    /// column, and the errors of [`zeros`](Self::zeros).
    ///
    /// # Examples
    /// ```
    /// use gf2_linalg::BitMatrix;
    ///
    /// let a = BitMatrix::from_words(2, 3, &[0b011, 0b110])?;
    /// assert_eq!(a.to_string(), "110\n011");
    /// assert_eq!(a.to_words(), [0b011, 0b110]);
    /// # Ok::<(), gf2_linalg::EncodingError>(())
    /// ```
    pub fn from_words(rows: usize, columns: usize, words: &[u64]) -> Result<Self, EncodingError> {
        Self::check_size(rows, columns)?;
        let used = columns.div_ceil(64);
        let (expected, found) = (rows as u64 * used as u64, words.len() as u64);
        if expected != found {
            return Err(EncodingError::Words { expected, found });
        }
        let tail = !tail_mask(columns);
        if let Some(row) = (0..rows).find(|row| used > 0 && words[row * used + used - 1] & tail != 0) {
            return Err(EncodingError::Tail { word: row * used + used - 1 });
        }
        let mut matrix = Self::new(rows, columns);
        for (row, from) in words.chunks_exact(used.max(1)).enumerate() {
            matrix.row_words_mut(row).copy_from_slice(from);
        }
        Ok(matrix)
    }

    /// The words of all rows, without padding.
    #[must_use]
    pub fn to_words(&self) -> Vec<u64> {
        self.iter_words().flatten().copied().collect()
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The words of a row.
    pub(crate) fn words(&self, row: usize) -> &[u64] {
        &self.words[row * self.stride..][..self.row_words()]
    }

    pub(crate) fn row_words_mut(&mut self, row: usize) -> &mut [u64] {
        let used = self.row_words();
        &mut self.words[row * self.stride..][..used]
    }

    /// Words that a row uses.
    pub(crate) fn row_words(&self) -> usize {
        self.columns.div_ceil(64)
    }

    /// Writes a panel to columns `512 · index ..` of all rows.
    pub(crate) fn write_panel(&mut self, index: usize, panel: &[Line]) {
        let used = self.row_words();
        if used > 0 {
            write(panel, index, &mut self.words, self.stride, used);
        }
    }

    /// The words of every row.
    pub(crate) fn iter_words(&self) -> impl ExactSizeIterator<Item = &[u64]> {
        (0..self.rows).map(|row| self.words(row))
    }

    /// The bits of a row; `None` when there is no such row.
    #[must_use]
    pub fn row(&self, row: usize) -> Option<&BitSlice<u64, Lsb0>> {
        (row < self.rows).then(|| &BitSlice::from_slice(self.words(row))[..self.columns])
    }

    /// The bits of a row, for changes; `None` when there is no such row.
    pub fn row_mut(&mut self, row: usize) -> Option<&mut BitSlice<u64, Lsb0>> {
        let columns = self.columns;
        (row < self.rows).then(|| &mut BitSlice::from_slice_mut(self.row_words_mut(row))[..columns])
    }
}

impl core::fmt::Debug for BitMatrix {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("BitMatrix").field("rows", &self.rows).field("columns", &self.columns).finish_non_exhaustive()
    }
}
