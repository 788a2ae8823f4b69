//! Echelon forms and factors of matrices.

use alloc::vec::Vec;

use crate::elimination::Echelon;
use crate::{BitMatrix, BitVector, ShapeError, and_popcount};

/// A reduced row echelon form.
///
/// Every pivot is the first 1 of its row and the only one of its column; pivots lie further right in later rows, and rows
/// without pivot are 0 and come last. It is the same for all matrices with one row space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rref {
    matrix: BitMatrix,
    pivots: Vec<usize>,
}

impl Rref {
    pub(crate) fn new(matrix: &BitMatrix) -> Self {
        let mut echelon = Echelon::new(matrix, matrix.columns());
        echelon.clear_lower();
        echelon.reduce();
        Self { matrix: echelon.matrix(matrix.rows()), pivots: echelon.into_pivots() }
    }

    /// A form of which the caller knows that it is one.
    pub(crate) fn from_parts(matrix: BitMatrix, pivots: Vec<usize>) -> Self {
        Self { matrix, pivots }
    }

    /// The form.
    #[must_use]
    pub fn matrix(&self) -> &BitMatrix {
        &self.matrix
    }

    /// The form by itself.
    #[must_use]
    pub fn into_matrix(self) -> BitMatrix {
        self.matrix
    }

    /// The columns of the pivots, ascending; pivot `i` is in row `i`.
    #[must_use]
    pub fn pivots(&self) -> &[usize] {
        &self.pivots
    }

    /// The rank: the number of pivots.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.pivots.len()
    }

    /// The number of columns without pivot.
    #[must_use]
    pub fn nullity(&self) -> usize {
        self.matrix.columns() - self.rank()
    }

    /// A basis of the vectors that the matrix maps to 0, one a row.
    ///
    /// Row `k` has a 1 in the `k`-th column without pivot, 0 in the others without pivot.
    ///
    /// # Errors
    /// [`ShapeError::TooLarge`] when the basis would be.
    pub fn nullspace(&self) -> Result<BitMatrix, ShapeError> {
        let mut basis = BitMatrix::zeros(self.nullity(), self.matrix.columns())?;
        let columns = self.matrix.transpose()?;
        let mut pivots = self.pivots.iter().peekable();
        let free = (0..self.matrix.columns()).filter(|column| pivots.next_if_eq(&column).is_none());
        for (row, column) in free.enumerate() {
            let words = basis.row_words_mut(row);
            words[column / 64] |= 1 << (column % 64);
            for pivot in ones(columns.words(column)).map(|row| self.pivots[row]) {
                words[pivot / 64] |= 1 << (pivot % 64);
            }
        }
        Ok(basis)
    }
}

/// The positions of ones.
fn ones(words: &[u64]) -> impl Iterator<Item = usize> {
    words.iter().enumerate().flat_map(|(index, &word)| {
        let rests = core::iter::successors(Some(word), |rest| Some(rest & rest.wrapping_sub(1)));
        rests.take_while(|rest| *rest != 0).map(move |rest| 64 * index + rest.trailing_zeros() as usize)
    })
}

/// Factors P, L and E of a matrix A with `A = P · L · E` \[JPS13\].
///
/// With rank `r`: P is a permutation, L has `r` columns, 1 in its diagonal and 0 above, and E is an echelon form of `r`
/// rows. Row `i` of `L · E` is row `row_order()[i]` of A.
///
/// # Examples
/// ```
/// use gf2_linalg::BitMatrix;
///
/// let a: BitMatrix = "011\n110\n101".parse()?;
/// let ple = a.ple();
/// assert_eq!(ple.row_order(), [1, 0, 2]);
/// assert_eq!(ple.lower().to_string(), "10\n01\n11");
/// assert_eq!(ple.echelon().to_string(), "110\n011");
/// assert_eq!(ple.solve(&"011".parse()?)?.ok_or("no solution")?.to_string(), "100");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ple {
    order: Vec<usize>,
    lower: BitMatrix,
    echelon: BitMatrix,
    pivots: Vec<usize>,
}

impl Ple {
    pub(crate) fn new(matrix: &BitMatrix) -> Self {
        let mut echelon = Echelon::new(matrix, matrix.columns());
        let (lower, order) = (echelon.lower(), echelon.order().to_vec());
        echelon.clear_lower();
        Self { order, lower, echelon: echelon.matrix(echelon.rank()), pivots: echelon.into_pivots() }
    }

    /// The rank.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.pivots.len()
    }

    /// The permutation P: row `i` of `L · E` is row `row_order()[i]` of the matrix.
    #[must_use]
    pub fn row_order(&self) -> &[usize] {
        &self.order
    }

    /// The factor L.
    #[must_use]
    pub fn lower(&self) -> &BitMatrix {
        &self.lower
    }

    /// The factor E.
    #[must_use]
    pub fn echelon(&self) -> &BitMatrix {
        &self.echelon
    }

    /// The columns of the pivots of E, ascending.
    #[must_use]
    pub fn pivots(&self) -> &[usize] {
        &self.pivots
    }

    /// An `x` with `A · x = right`, whose bits at columns without pivot are 0; `None` when there is none.
    ///
    /// One solution takes as long as two products of a matrix with a vector, so that the factors pay when many right
    /// sides are to be solved for. The solution is the only one when the rank is the number of columns.
    ///
    /// # Errors
    /// [`ShapeError::Length`] unless `right` has as many bits as the matrix has rows.
    pub fn solve(&self, right: &BitVector) -> Result<Option<BitVector>, ShapeError> {
        if right.len() != self.order.len() {
            return Err(ShapeError::Length { expected: self.order.len(), found: right.len() });
        }
        // L y = P⁻¹ right; the rows after the first `rank` ones must hold, too.
        let mut y = BitVector::zeros(self.rank())?;
        for (i, &row) in self.order.iter().enumerate() {
            let rest = right.get(row).unwrap_or(false) ^ dot(self.lower.words(i), y.words());
            match rest {
                true if i >= self.rank() => return Ok(None),
                true => y.toggle(i)?,
                false => {}
            }
        }
        // E x = y, from the last row.
        let mut x = BitVector::zeros(self.echelon.columns())?;
        for (i, &pivot) in self.pivots.iter().enumerate().rev() {
            if y.get(i).unwrap_or(false) ^ dot(self.echelon.words(i), x.words()) {
                x.toggle(pivot)?;
            }
        }
        Ok(Some(x))
    }
}

fn dot(a: &[u64], b: &[u64]) -> bool {
    and_popcount(a, b) % 2 == 1
}
