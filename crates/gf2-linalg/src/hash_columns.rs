//! Matrices whose columns are found by a function.

use crate::{BitMatrix, BitVector, ShapeError};

/// A matrix with a column for every possible item, which a function gives: the rows of its ones.
///
/// Only products with sparse vectors make sense of it: `H · x` is the sum of the columns of the items in `x`. A function
/// that hashes the item gives a linear sketch. A row that the function names twice for one item counts twice, which is
/// not at all.
///
/// # Examples
/// ```
/// use gf2_linalg::HashColumns;
///
/// // Column `item` has ones in two rows.
/// let columns = HashColumns::new(8, |item: &u64| [(item % 5) as usize, 5 + (item % 3) as usize]);
/// let sketch = columns.mul_sparse(&[7, 11])?;
/// assert_eq!(sketch.to_string(), "01100011");
/// // Sketches are linear: an item that comes again takes its column away.
/// let mut other = columns.mul_sparse(&[11, 3])?;
/// other.xor_assign(&sketch)?;
/// assert_eq!(other, columns.mul_sparse(&[7, 3])?);
/// # Ok::<(), gf2_linalg::ShapeError>(())
/// ```
#[derive(Clone, Copy)]
pub struct HashColumns<F> {
    rows: usize,
    cells: F,
}

impl<F> HashColumns<F> {
    /// The matrix of `rows` rows whose column for an item has ones in the rows `cells(item)`.
    ///
    /// The function is to give the same for the same item.
    pub fn new<T: ?Sized, I>(rows: usize, cells: F) -> Self
    where
        F: Fn(&T) -> I,
        I: IntoIterator<Item = usize>,
    {
        Self { rows, cells }
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Adds the column of an item to a vector.
    ///
    /// # Errors
    /// [`ShapeError::Length`] unless the vector has a bit for every row, [`ShapeError::Index`] when the function names
    /// a row that is not there. The vector is then as before.
    pub fn add_column<T: ?Sized, I>(&self, item: &T, sums: &mut BitVector) -> Result<(), ShapeError>
    where
        F: Fn(&T) -> I,
        I: IntoIterator<Item = usize>,
    {
        if sums.len() != self.rows {
            return Err(ShapeError::Length { expected: self.rows, found: sums.len() });
        }
        for (done, row) in (self.cells)(item).into_iter().enumerate() {
            if let Err(error) = sums.toggle(row) {
                (self.cells)(item).into_iter().take(done).for_each(|row| {
                    // The same row was toggled before.
                    let _ = sums.toggle(row);
                });
                return Err(error);
            }
        }
        Ok(())
    }

    /// The sum of the columns of items: the product with the vector that counts them modulo 2.
    ///
    /// # Errors
    /// [`ShapeError::Index`] when the function names a row that is not there, and the errors of [`BitVector::zeros`].
    pub fn mul_sparse<'a, T: ?Sized + 'a, I>(
        &self,
        items: impl IntoIterator<Item = &'a T>,
    ) -> Result<BitVector, ShapeError>
    where
        F: Fn(&T) -> I,
        I: IntoIterator<Item = usize>,
    {
        let mut sums = BitVector::zeros(self.rows)?;
        items.into_iter().try_for_each(|item| self.add_column(item, &mut sums))?;
        Ok(sums)
    }

    /// The columns of some items as a matrix; column `j` is that of item `j`.
    ///
    /// # Errors
    /// [`ShapeError::Index`] when the function names a row that is not there, and the errors of [`BitMatrix::zeros`].
    pub fn to_dense<'a, T: ?Sized + 'a, I>(
        &self,
        items: impl IntoIterator<Item = &'a T, IntoIter: ExactSizeIterator>,
    ) -> Result<BitMatrix, ShapeError>
    where
        F: Fn(&T) -> I,
        I: IntoIterator<Item = usize>,
    {
        let items = items.into_iter();
        let mut dense = BitMatrix::zeros(self.rows, items.len())?;
        for (column, item) in items.enumerate() {
            for row in (self.cells)(item) {
                let bit = dense.get(row, column).ok_or(ShapeError::Index { index: row, length: self.rows })?;
                dense.set(row, column, !bit)?;
            }
        }
        Ok(dense)
    }
}

impl<F> core::fmt::Debug for HashColumns<F> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("HashColumns").field("rows", &self.rows).finish_non_exhaustive()
    }
}
