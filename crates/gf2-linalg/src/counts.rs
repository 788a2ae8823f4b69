//! Joint counts of two bit vectors.

use bitvec::{order::Lsb0, slice::BitSlice};

use crate::{and_popcount, count_ones, popcount};

/// How many positions hold each of the four pairs of bits.
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
    fn new(bits: u64, first: u64, second: u64, both: u64) -> Self {
        Self { neither: bits - (first + second - both), first_only: first - both, second_only: second - both, both }
    }
}

/// The four counts over all `64 · a.len()` positions.
#[must_use]
pub fn joint_counts(a: &[u64], b: &[u64]) -> JointCounts {
    JointCounts::new(64 * a.len() as u64, popcount(a), popcount(b), and_popcount(a, b))
}

/// The four counts over slices of bits.
#[must_use]
pub fn joint_count_ones(a: &BitSlice<u64, Lsb0>, b: &BitSlice<u64, Lsb0>) -> JointCounts {
    assert_eq!(a.len(), b.len(), "operands of different length");
    let both = a.iter().by_vals().zip(b.iter().by_vals()).filter(|(a, b)| *a && *b).count();
    JointCounts::new(a.len() as u64, count_ones(a), count_ones(b), both as u64)
}
