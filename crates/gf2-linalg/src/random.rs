//! Random vectors and matrices.

use alloc::vec::Vec;

use rand_core::Rng;

use crate::matrix::tail_mask;
use crate::{BitMatrix, BitVector, ShapeError};

fn fill<R: Rng + ?Sized>(words: &mut [u64], bits: usize, rng: &mut R) {
    words.fill_with(|| rng.next_u64());
    if let Some(last) = words.last_mut() {
        *last &= tail_mask(bits);
    }
}

impl BitVector {
    /// A vector of independent fair bits.
    ///
    /// # Errors
    /// As [`zeros`](Self::zeros).
    pub fn random<R: Rng + ?Sized>(length: usize, rng: &mut R) -> Result<Self, ShapeError> {
        let mut vector = Self::zeros(length)?;
        fill(vector.words_mut(), length, rng);
        Ok(vector)
    }
}

impl BitMatrix {
    /// A matrix of independent fair bits.
    ///
    /// # Errors
    /// As [`zeros`](Self::zeros).
    pub fn random<R: Rng + ?Sized>(rows: usize, columns: usize, rng: &mut R) -> Result<Self, ShapeError> {
        let mut matrix = Self::zeros(rows, columns)?;
        for row in 0..rows {
            fill(matrix.row_words_mut(row), columns, rng);
        }
        Ok(matrix)
    }

    /// An invertible matrix, uniform over all of that size.
    ///
    /// It is the product of a uniform unit lower triangular matrix, a permutation and a uniform unit upper triangular
    /// matrix. By Bruhat's decomposition every invertible matrix is such a product for exactly one permutation `w`, and
    /// `w` belongs to `|L| · |U| / 2^inv(w)` matrices, all equally likely given `w`; so a permutation with probability
    /// proportional to `2^−inv(w)`, where `inv` is its number of inversions, makes all invertible matrices equally
    /// likely. That law of permutations is Mallows's \[M57\], drawn exactly by inserting one element after another.
    ///
    /// # Errors
    /// As [`zeros`](Self::zeros).
    ///
    /// # Examples
    /// ```
    /// use gf2_linalg::BitMatrix;
    /// use gf2_linalg::rand_core::SeedableRng;
    /// use rand_xoshiro::Xoshiro256PlusPlus;
    ///
    /// let mut rng = Xoshiro256PlusPlus::from_seed([7; 32]);
    /// let a = BitMatrix::random_invertible(100, &mut rng)?;
    /// assert_eq!(a.mul(&a.inverse()?)?, BitMatrix::identity(100)?);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn random_invertible<R: Rng + ?Sized>(size: usize, rng: &mut R) -> Result<Self, ShapeError> {
        let mut lower = Self::random(size, size, rng)?;
        let mut upper = Self::zeros(size, size)?;
        for row in 0..size {
            let words = lower.row_words_mut(row);
            words[row / 64] &= (1 << (row % 64)) - 1;
            words[row / 64] |= 1 << (row % 64);
            words[row / 64 + 1..].fill(0);
        }
        for (row, place) in permutation(size, rng).into_iter().enumerate() {
            let words = upper.row_words_mut(row);
            fill(words, size, rng);
            words[place / 64] &= u64::MAX << (place % 64);
            words[place / 64] |= 1 << (place % 64);
            words[..place / 64].fill(0);
        }
        lower.mul(&upper)
    }
}

/// A permutation with probability proportional to `2^−inversions`.
fn permutation<R: Rng + ?Sized>(size: usize, rng: &mut R) -> Vec<usize> {
    let mut order = Vec::with_capacity(size);
    for element in 0..size {
        // The element is larger than those before it, so it has as many inversions as elements behind it.
        let behind = core::iter::repeat_with(|| geometric(rng)).find(|behind| *behind <= element).unwrap_or(0);
        order.insert(element - behind, element);
    }
    order
}

/// `k` with probability `2^−(k + 1)`.
fn geometric<R: Rng + ?Sized>(rng: &mut R) -> usize {
    let mut zeros = 0;
    loop {
        let word = rng.next_u64();
        zeros += word.trailing_zeros() as usize;
        if word != 0 {
            return zeros;
        }
    }
}
