//! Products with matrices and vectors.

use alloc::{vec, vec::Vec};

use multiversion::multiversion;

use super::{BitMatrix, strassen};
use crate::lookup::{self, Tables, add_selected, tabulate};
use crate::panel::{Line, WORDS, write};
use crate::{BitVector, ShapeError, parallel, xor_into};

/// Rows of the result that are computed together: a panel of them, 128 KiB, stays in the second-level cache.
const ROWS: usize = 2048;

impl BitMatrix {
    /// The product `self · right`.
    ///
    /// Panels of the result are summed up by table look-ups, the method of the Four Russians \[ADKF70\]; matrices of at
    /// least 8192 rows and columns are first split by the Strassen–Winograd scheme \[S69\], \[W71\].
    ///
    /// # Errors
    /// [`ShapeError::Rows`] unless `right` has as many rows as `self` has columns, and the errors of
    /// [`zeros`](Self::zeros).
    ///
    /// # Examples
    /// ```
    /// use gf2_linalg::BitMatrix;
    ///
    /// let (a, b): (BitMatrix, BitMatrix) = ("110\n011".parse()?, "10\n11\n01".parse()?);
    /// assert_eq!(a.mul(&b)?.to_string(), "01\n10");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn mul(&self, right: &Self) -> Result<Self, ShapeError> {
        if self.columns != right.rows {
            return Err(ShapeError::Rows { expected: self.columns, found: right.rows });
        }
        Self::check_size(self.rows, right.columns)?;
        Ok(strassen::multiply(self, right))
    }

    /// The product `self · vector`.
    ///
    /// # Errors
    /// [`ShapeError::Length`] unless the vector has as many bits as the matrix has columns.
    ///
    /// # Examples
    /// ```
    /// use gf2_linalg::BitMatrix;
    ///
    /// let a: BitMatrix = "110\n011".parse()?;
    /// assert_eq!(a.mul_vec(&"101".parse()?)?.to_string(), "11");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn mul_vec(&self, vector: &BitVector) -> Result<BitVector, ShapeError> {
        if vector.len() != self.columns {
            return Err(ShapeError::Length { expected: self.columns, found: vector.len() });
        }
        let mut product = BitVector::zeros(self.rows)?;
        if self.columns > 0 {
            dot_rows(&self.words, self.stride, vector.words(), product.words_mut());
        }
        Ok(product)
    }

    /// The product `vector · self` of a row vector.
    ///
    /// # Errors
    /// [`ShapeError::Length`] unless the vector has as many bits as the matrix has rows.
    ///
    /// # Examples
    /// ```
    /// use gf2_linalg::BitMatrix;
    ///
    /// let a: BitMatrix = "110\n011".parse()?;
    /// assert_eq!(a.vec_mul(&"11".parse()?)?.to_string(), "101");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn vec_mul(&self, vector: &BitVector) -> Result<BitVector, ShapeError> {
        if vector.len() != self.rows {
            return Err(ShapeError::Length { expected: self.rows, found: vector.len() });
        }
        let mut product = BitVector::zeros(self.columns)?;
        for row in vector.bits().iter_ones() {
            xor_into(product.words_mut(), self.words(row));
        }
        Ok(product)
    }
}

/// Bit `i` of `products` becomes the dot product of row `i` with `vector`; rows are `stride` words apart.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+popcnt", "x86_64+popcnt"))]
fn dot_rows(rows: &[u64], stride: usize, vector: &[u64], products: &mut [u64]) {
    for (rows, product) in rows.chunks(64 * stride).zip(products) {
        let mut parities = 0;
        for (bit, row) in rows.chunks_exact(stride).enumerate() {
            let sum = row.iter().zip(vector).fold(0, |sum, (a, b)| sum ^ a & b);
            parities |= u64::from(sum.count_ones() % 2) << bit;
        }
        *product = parities;
    }
}

/// `left · right` by table look-ups; the shapes fit, and the product is not too large.
pub(super) fn multiply(left: &BitMatrix, right: &BitMatrix) -> BitMatrix {
    let mut product = BitMatrix::new(left.rows, right.columns);
    let (stride, row_words) = (product.stride, product.row_words());
    if stride == 0 || left.columns == 0 {
        return product;
    }
    let mut blocks: Vec<(usize, &mut [u64])> = product.words.chunks_mut(ROWS * stride).enumerate().collect();
    parallel::for_each(&mut blocks, Room::new, |(index, rows), room| {
        room.select(left, ROWS * *index, rows.len() / stride);
        for panel in 0..row_words.div_ceil(WORDS) {
            room.sum_up(right, panel);
            write(&room.sums, panel, rows, stride, row_words);
        }
    });
    product
}

/// What one block of rows of a product needs.
struct Room {
    /// Word `s` of row `i` of the left factor is selector `i` of list `s`.
    selectors: Vec<Vec<u64>>,
    /// One panel of the product.
    sums: Vec<Line>,
    tables: Tables,
}

impl Room {
    fn new() -> Self {
        Self { selectors: Vec::new(), sums: Vec::new(), tables: Tables::EMPTY }
    }

    /// Takes `count` rows of the left factor from row `first` on.
    fn select(&mut self, left: &BitMatrix, first: usize, count: usize) {
        self.selectors.resize(left.row_words(), Vec::new());
        for list in &mut self.selectors {
            list.clear();
            list.reserve(count);
        }
        for row in first..first + count {
            for (list, word) in self.selectors.iter_mut().zip(left.words(row)) {
                list.push(*word);
            }
        }
        self.sums = vec![Line::ZERO; count];
    }

    /// Sums up the panel of columns `512 · panel ..`.
    fn sum_up(&mut self, right: &BitMatrix, panel: usize) {
        self.sums.fill(Line::ZERO);
        for (index, selectors) in self.selectors.iter().enumerate() {
            let mut lines = [Line::ZERO; lookup::ROWS];
            let rows = lookup::ROWS.min(right.rows - lookup::ROWS * index);
            for (offset, line) in lines[..rows].iter_mut().enumerate() {
                let words = &right.words(lookup::ROWS * index + offset)[WORDS * panel..];
                line.0.iter_mut().zip(words).for_each(|(into, from)| *into = *from);
            }
            tabulate(&lines, &mut self.tables);
            add_selected(&self.tables, selectors, &mut self.sums);
        }
    }
}
