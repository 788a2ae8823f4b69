//! Joint counts of two bit vectors.

use bitvec::{order::Lsb0, slice::BitSlice};

use crate::{and_popcount, count_ones, popcount};

/// Words of each vector that are counted together: both pieces stay in the first-level cache while they are read
/// three times, so memory is read once.
const PIECE: usize = 1024;

/// How many positions hold each of the four pairs of bits: the 2 × 2 table of two bit vectors.
///
/// # Examples
/// ```
/// let counts = gf2_linalg::joint_counts(&[0b0011], &[0b0101]);
/// assert_eq!((counts.both, counts.first_only, counts.second_only, counts.neither), (1, 1, 1, 61));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct JointCounts {
    /// Positions with 0 in both.
    pub neither: u64,
    /// Positions with 1 in the first only.
    pub first_only: u64,
    /// Positions with 1 in the second only.
    pub second_only: u64,
    /// Positions with 1 in both.
    pub both: u64,
}

impl JointCounts {
    fn new(bits: usize, first: u64, second: u64, both: u64) -> Self {
        let either = first + second - both;
        Self { neither: bits as u64 - either, first_only: first - both, second_only: second - both, both }
    }
}

/// The four counts over all `64 · a.len()` positions, in one pass over memory.
///
/// # Panics
/// When the lengths differ.
#[must_use]
pub fn joint_counts(a: &[u64], b: &[u64]) -> JointCounts {
    assert_eq!(a.len(), b.len(), "operands of different length");
    let (mut first, mut second, mut both) = (0, 0, 0);
    for (a, b) in a.chunks(PIECE).zip(b.chunks(PIECE)) {
        first += popcount(a);
        second += popcount(b);
        both += and_popcount(a, b);
    }
    JointCounts::new(64 * a.len(), first, second, both)
}

/// The four counts over slices of bits of one length, which need not start at the same bit of a word.
///
/// # Panics
/// When the lengths differ.
///
/// # Examples
/// ```
/// use gf2_linalg::{BitSlice, Lsb0, joint_count_ones};
///
/// let words = [0b1100_1010_u64];
/// let bits = BitSlice::<u64, Lsb0>::from_slice(&words);
/// let counts = joint_count_ones(&bits[0..4], &bits[4..8]);
/// assert_eq!((counts.both, counts.first_only, counts.second_only, counts.neither), (1, 1, 1, 1));
/// ```
#[must_use]
pub fn joint_count_ones(a: &BitSlice<u64, Lsb0>, b: &BitSlice<u64, Lsb0>) -> JointCounts {
    assert_eq!(a.len(), b.len(), "operands of different length");
    let both = a.chunks(64).zip(b.chunks(64)).map(|(a, b)| u64::from((word(a) & word(b)).count_ones())).sum();
    JointCounts::new(a.len(), count_ones(a), count_ones(b), both)
}

/// Up to 64 bits as the low bits of a word.
fn word(bits: &BitSlice<u64, Lsb0>) -> u64 {
    use bitvec::field::BitField;
    bits.load_le()
}
