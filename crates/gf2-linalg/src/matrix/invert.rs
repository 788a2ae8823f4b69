//! Rank, echelon forms, systems of equations and inverses of a matrix.

use super::BitMatrix;
use crate::elimination::Echelon;
use crate::{BitVector, InverseError, Ple, Rref, ShapeError, Solution};

impl BitMatrix {
    /// The rank.
    ///
    /// # Examples
    /// ```
    /// let a: gf2_linalg::BitMatrix = "110\n011\n101".parse()?;
    /// assert_eq!(a.rank(), 2);
    /// # Ok::<(), gf2_linalg::EncodingError>(())
    /// ```
    #[must_use]
    pub fn rank(&self) -> usize {
        Echelon::new(self, self.columns).rank()
    }

    /// The reduced row echelon form and its pivots, which are the leftmost that there are.
    ///
    /// # Examples
    /// ```
    /// let a: gf2_linalg::BitMatrix = "0110\n0101\n0011".parse()?;
    /// let form = a.rref();
    /// assert_eq!((form.rank(), form.pivots()), (2, &[1, 2][..]));
    /// assert_eq!(form.matrix().to_string(), "0101\n0011\n0000");
    /// # Ok::<(), gf2_linalg::EncodingError>(())
    /// ```
    #[must_use]
    pub fn rref(&self) -> Rref {
        Rref::new(self)
    }

    /// The factors P, L and E: a permutation, a unit lower triangular matrix and an echelon form.
    ///
    /// For an invertible matrix, E is upper triangular: the factors are those known as P, L and U.
    #[must_use]
    pub fn ple(&self) -> Ple {
        Ple::new(self)
    }

    /// A basis of the vectors `x` with `self · x = 0`, one a row.
    ///
    /// # Errors
    /// [`ShapeError::TooLarge`] when the basis would be: it has as many rows as columns without pivot.
    ///
    /// # Examples
    /// ```
    /// let a: gf2_linalg::BitMatrix = "1101\n0110".parse()?;
    /// assert_eq!(a.nullspace()?.to_string(), "1110\n1001");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn nullspace(&self) -> Result<Self, ShapeError> {
        self.rref().nullspace()
    }

    /// All `x` with `self · x = right`.
    ///
    /// # Errors
    /// [`ShapeError::Length`] unless `right` has as many bits as the matrix has rows, [`ShapeError::TooLarge`] when the
    /// matrix cannot be widened by one column.
    ///
    /// # Examples
    /// ```
    /// use gf2_linalg::{BitMatrix, Solution};
    ///
    /// let a: BitMatrix = "110\n011".parse()?;
    /// let Solution::Affine(set) = a.solve(&"10".parse()?)? else { return Err("one equation too few".into()) };
    /// assert_eq!(set.particular().to_string(), "100");
    /// assert_eq!(set.kernel()?.to_string(), "111");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn solve(&self, right: &BitVector) -> Result<Solution, ShapeError> {
        Solution::of(self, right)
    }

    /// The inverse.
    ///
    /// # Errors
    /// [`InverseError::NotSquare`], [`InverseError::Singular`], or [`InverseError::Shape`] when the matrix beside an
    /// identity is too large.
    ///
    /// # Examples
    /// ```
    /// use gf2_linalg::{BitMatrix, InverseError};
    ///
    /// let a: BitMatrix = "110\n011\n001".parse()?;
    /// assert_eq!(a.inverse()?.to_string(), "111\n011\n001");
    /// let b: BitMatrix = "11\n11".parse()?;
    /// assert_eq!(b.inverse(), Err(InverseError::Singular { expected: 2, found: 1 }));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn inverse(&self) -> Result<Self, InverseError> {
        let size = self.rows;
        if size != self.columns {
            return Err(InverseError::NotSquare { rows: self.rows, columns: self.columns });
        }
        let mut echelon = Echelon::new(&self.beside(&Self::identity(size)?)?, size);
        if echelon.rank() < size {
            return Err(InverseError::Singular { expected: size, found: echelon.rank() });
        }
        echelon.clear_lower();
        echelon.reduce();
        Ok(echelon.matrix(size).part(0..size, size..2 * size)?)
    }
}
