//! What solves a system of linear equations.

use crate::elimination::Echelon;
use crate::{BitMatrix, BitVector, Rref, ShapeError};

/// All solutions of `A · x = b`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Solution {
    /// There is none.
    Inconsistent,
    /// There is one.
    Unique(BitVector),
    /// There are `2^d` for some `d ≥ 1`.
    Affine(AffineSet),
}

/// The sums of one solution and any vectors that the matrix maps to 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AffineSet {
    particular: BitVector,
    form: Rref,
}

impl Solution {
    pub(crate) fn of(matrix: &BitMatrix, right: &BitVector) -> Result<Self, ShapeError> {
        let (rows, columns) = (matrix.rows(), matrix.columns());
        if right.len() != rows {
            return Err(ShapeError::Length { expected: rows, found: right.len() });
        }
        let mut side = BitMatrix::zeros(rows, 1)?;
        for row in right.bits().iter_ones() {
            side.set(row, 0, true)?;
        }
        let mut echelon = Echelon::new(&matrix.beside(&side)?, columns);
        echelon.clear_lower();
        echelon.reduce();
        let reduced = echelon.matrix(rows);
        let value = |row| reduced.get(row, columns).unwrap_or(false);
        if (echelon.rank()..rows).any(value) {
            return Ok(Self::Inconsistent);
        }
        let mut particular = BitVector::zeros(columns)?;
        let pivots = echelon.into_pivots();
        for (_, &pivot) in pivots.iter().enumerate().filter(|(row, _)| value(*row)) {
            particular.toggle(pivot)?;
        }
        if pivots.len() == columns {
            return Ok(Self::Unique(particular));
        }
        let form = Rref::from_parts(reduced.part(0..rows, 0..columns)?, pivots);
        Ok(Self::Affine(AffineSet { particular, form }))
    }

    /// One solution, if there is any: the one whose bits at columns without pivot are 0.
    #[must_use]
    pub fn particular(&self) -> Option<&BitVector> {
        match self {
            Self::Inconsistent => None,
            Self::Unique(vector) => Some(vector),
            Self::Affine(set) => Some(set.particular()),
        }
    }
}

impl AffineSet {
    /// The solution whose bits at columns without pivot are 0.
    #[must_use]
    pub fn particular(&self) -> &BitVector {
        &self.particular
    }

    /// The logarithm to base 2 of the number of solutions.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.form.nullity()
    }

    /// The reduced row echelon form of the matrix.
    #[must_use]
    pub fn form(&self) -> &Rref {
        &self.form
    }

    /// A basis of the vectors that the matrix maps to 0, one a row: the differences of solutions.
    ///
    /// # Errors
    /// [`ShapeError::TooLarge`] when the basis would be.
    pub fn kernel(&self) -> Result<BitMatrix, ShapeError> {
        self.form.nullspace()
    }
}
