//! Counts of two sketches together.

use gf2_linalg::{BitSlice, JointCounts, Lsb0, joint_count_ones, joint_counts};

use crate::mode::Mode;
use crate::private::PrivateF0Sketch;

impl<M: Mode> PrivateF0Sketch<M> {
    /// For each table, how many cells hold each of the four pairs of bits. The sketches have one shape.
    pub(crate) fn joint_counts(&self, other: &Self) -> Vec<JointCounts> {
        let (a, b) = (self.bits(), other.bits());
        let (a_bits, b_bits) = (BitSlice::<u64, Lsb0>::from_slice(a), BitSlice::<u64, Lsb0>::from_slice(b));
        let count = |range: core::ops::Range<usize>| {
            if range.start.is_multiple_of(64) && range.end.is_multiple_of(64) {
                let words = range.start / 64..range.end / 64;
                joint_counts(&a[words.clone()], &b[words])
            } else {
                joint_count_ones(&a_bits[range.clone()], &b_bits[range])
            }
        };
        self.shape().ranges().map(count).collect()
    }
}
