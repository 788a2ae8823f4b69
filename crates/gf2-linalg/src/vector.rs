//! Bit vectors.

use alloc::{vec, vec::Vec};
use core::ops::Range;

use bitvec::{order::Lsb0, slice::BitSlice};

use crate::matrix::tail_mask;
use crate::{
    EncodingError, JointCounts, MAX_BITS, ShapeError, and_into, and_popcount, joint_counts, or_into, or_popcount,
    popcount, popcount_range, xor_into, xor_popcount,
};

/// A vector over GF(2).
///
/// Bit `i` is bit `i % 64` of word `i / 64`; bits behind the last are 0. `Debug` prints the length only,
/// [`Display`](core::fmt::Display) the bits.
///
/// # Examples
/// ```
/// use gf2_linalg::BitVector;
///
/// let mut a: BitVector = "11010".parse()?;
/// let b: BitVector = "01110".parse()?;
/// assert_eq!((a.and_popcount(&b)?, a.xor_popcount(&b)?, a.dot(&b)?), (2, 2, false));
/// a.xor_assign(&b)?;
/// assert_eq!(a.to_string(), "10100");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct BitVector {
    length: usize,
    words: Vec<u64>,
}

impl BitVector {
    /// The zero vector.
    ///
    /// # Errors
    /// [`ShapeError::TooLong`] when `length` exceeds [`MAX_BITS`].
    pub fn zeros(length: usize) -> Result<Self, ShapeError> {
        if length as u64 > MAX_BITS {
            return Err(ShapeError::TooLong { bits: length as u64 });
        }
        Ok(Self { length, words: vec![0; length.div_ceil(64)] })
    }

    /// A copy of bits.
    ///
    /// # Errors
    /// As [`zeros`](Self::zeros).
    pub fn from_bits(bits: &BitSlice<u64, Lsb0>) -> Result<Self, ShapeError> {
        let mut vector = Self::zeros(bits.len())?;
        vector.bits_mut().copy_from_bitslice(bits);
        Ok(vector)
    }

    /// The vector of `length` bits that `words` hold.
    ///
    /// # Errors
    /// [`EncodingError::Words`] unless there are `⌈length / 64⌉` words, [`EncodingError::Tail`] when the last has a 1
    /// after bit `length − 1`, and the errors of [`zeros`](Self::zeros).
    ///
    /// # Examples
    /// ```
    /// use gf2_linalg::{BitVector, EncodingError};
    ///
    /// assert_eq!(BitVector::from_words(vec![0b101], 3)?.to_string(), "101");
    /// assert_eq!(BitVector::from_words(vec![0b101], 2), Err(EncodingError::Tail { word: 0 }));
    /// # Ok::<(), EncodingError>(())
    /// ```
    pub fn from_words(words: Vec<u64>, length: usize) -> Result<Self, EncodingError> {
        if length as u64 > MAX_BITS {
            return Err(ShapeError::TooLong { bits: length as u64 }.into());
        }
        let (expected, found) = (length.div_ceil(64) as u64, words.len() as u64);
        if expected != found {
            return Err(EncodingError::Words { expected, found });
        }
        match words.last() {
            Some(last) if last & !tail_mask(length) != 0 => Err(EncodingError::Tail { word: words.len() - 1 }),
            _ => Ok(Self { length, words }),
        }
    }

    /// Number of bits.
    #[must_use]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there is no bit.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The words; bits behind the last are 0.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// The bits.
    #[must_use]
    pub fn bits(&self) -> &BitSlice<u64, Lsb0> {
        &BitSlice::from_slice(&self.words)[..self.length]
    }

    /// The bits, for changes.
    pub fn bits_mut(&mut self) -> &mut BitSlice<u64, Lsb0> {
        &mut BitSlice::from_slice_mut(&mut self.words)[..self.length]
    }

    /// One bit; `None` behind the last.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<bool> {
        (index < self.length).then(|| self.words[index / 64] >> (index % 64) & 1 == 1)
    }

    /// Changes one bit.
    ///
    /// # Errors
    /// [`ShapeError::Index`] behind the last.
    pub fn set(&mut self, index: usize, bit: bool) -> Result<(), ShapeError> {
        let word = self.word_of(index)?;
        *word = *word & !(1 << (index % 64)) | u64::from(bit) << (index % 64);
        Ok(())
    }

    /// Adds 1 to one bit.
    ///
    /// # Errors
    /// [`ShapeError::Index`] behind the last.
    pub fn toggle(&mut self, index: usize) -> Result<(), ShapeError> {
        *self.word_of(index)? ^= 1 << (index % 64);
        Ok(())
    }

    fn word_of(&mut self, index: usize) -> Result<&mut u64, ShapeError> {
        let length = self.length;
        match self.words.get_mut(index / 64) {
            Some(word) if index < length => Ok(word),
            _ => Err(ShapeError::Index { index, length }),
        }
    }

    /// Number of ones: the weight.
    #[must_use]
    pub fn count_ones(&self) -> u64 {
        popcount(&self.words)
    }

    /// Number of ones among the bits of a range.
    ///
    /// # Errors
    /// [`ShapeError::Index`] when the range ends behind the last bit, or before it starts.
    pub fn count_ones_in(&self, range: Range<usize>) -> Result<u64, ShapeError> {
        if range.end > self.length {
            return Err(ShapeError::Index { index: range.end, length: self.length });
        }
        if range.start > range.end {
            return Err(ShapeError::Index { index: range.start, length: range.end });
        }
        Ok(popcount_range(&self.words, range))
    }

    fn check(&self, other: &Self) -> Result<(), ShapeError> {
        let (expected, found) = (self.length, other.length);
        if expected == found { Ok(()) } else { Err(ShapeError::Length { expected, found }) }
    }

    /// Adds `other`: `self ⊕ other`.
    ///
    /// # Errors
    /// [`ShapeError::Length`] when the lengths differ.
    pub fn xor_assign(&mut self, other: &Self) -> Result<(), ShapeError> {
        self.check(other)?;
        xor_into(&mut self.words, &other.words);
        Ok(())
    }

    /// Multiplies by `other`, bit by bit: `self ∧ other`.
    ///
    /// # Errors
    /// [`ShapeError::Length`] when the lengths differ.
    pub fn and_assign(&mut self, other: &Self) -> Result<(), ShapeError> {
        self.check(other)?;
        and_into(&mut self.words, &other.words);
        Ok(())
    }

    /// Joins with `other`: `self ∨ other`.
    ///
    /// # Errors
    /// [`ShapeError::Length`] when the lengths differ.
    pub fn or_assign(&mut self, other: &Self) -> Result<(), ShapeError> {
        self.check(other)?;
        or_into(&mut self.words, &other.words);
        Ok(())
    }

    /// Positions with 1 in both, without forming them.
    ///
    /// # Errors
    /// [`ShapeError::Length`] when the lengths differ.
    pub fn and_popcount(&self, other: &Self) -> Result<u64, ShapeError> {
        self.check(other).map(|()| and_popcount(&self.words, &other.words))
    }

    /// Positions with 1 in either, without forming them.
    ///
    /// # Errors
    /// [`ShapeError::Length`] when the lengths differ.
    pub fn or_popcount(&self, other: &Self) -> Result<u64, ShapeError> {
        self.check(other).map(|()| or_popcount(&self.words, &other.words))
    }

    /// Positions that differ, without forming them: the Hamming distance.
    ///
    /// # Errors
    /// [`ShapeError::Length`] when the lengths differ.
    pub fn xor_popcount(&self, other: &Self) -> Result<u64, ShapeError> {
        self.check(other).map(|()| xor_popcount(&self.words, &other.words))
    }

    /// The dot product over GF(2): the parity of [`and_popcount`](Self::and_popcount).
    ///
    /// # Errors
    /// [`ShapeError::Length`] when the lengths differ.
    pub fn dot(&self, other: &Self) -> Result<bool, ShapeError> {
        self.and_popcount(other).map(|ones| ones % 2 == 1)
    }

    /// How many positions hold each of the four pairs of bits, in one pass.
    ///
    /// # Errors
    /// [`ShapeError::Length`] when the lengths differ.
    ///
    /// # Examples
    /// ```
    /// use gf2_linalg::BitVector;
    ///
    /// let (a, b): (BitVector, BitVector) = ("00110".parse()?, "01010".parse()?);
    /// let counts = a.joint_counts(&b)?;
    /// assert_eq!((counts.neither, counts.first_only, counts.second_only, counts.both), (2, 1, 1, 1));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn joint_counts(&self, other: &Self) -> Result<JointCounts, ShapeError> {
        self.check(other)?;
        let mut counts = joint_counts(&self.words, &other.words);
        // Bits behind the last are 0 in both.
        counts.neither -= (64 * self.words.len() - self.length) as u64;
        Ok(counts)
    }
}

impl core::fmt::Debug for BitVector {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("BitVector").field("length", &self.length).finish_non_exhaustive()
    }
}
