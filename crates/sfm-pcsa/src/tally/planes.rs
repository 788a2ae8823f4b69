//! Small numbers of very many cells, kept bit by bit: how many of several bitmaps hold a one in each cell.

use core::ops::Range;

use gf2_linalg::popcount_range;

use crate::noisy::clear_beyond;

/// For every cell how many of `count` bitmaps hold a one. Plane `i` has bit `i` of the numbers, cell by cell.
///
/// There are as many planes as `count` has binary digits, whatever the numbers, so that equal content is equal.
#[derive(Clone, PartialEq)]
pub(crate) struct Planes {
    count: u32,
    planes: Vec<Vec<u64>>,
}

/// Binary digits of a number: planes that hold the numbers up to it.
pub(crate) const fn digits(count: u32) -> usize {
    (u32::BITS - count.leading_zeros()) as usize
}

impl Planes {
    /// Of no bitmap.
    pub(crate) const fn new() -> Self {
        Self { count: 0, planes: Vec::new() }
    }

    /// From as many planes of equal length as `count` has digits; no number exceeds `count`.
    pub(crate) fn from_parts(count: u32, planes: Vec<Vec<u64>>) -> Self {
        Self { count, planes }
    }

    /// How many bitmaps were counted.
    pub(crate) const fn count(&self) -> u32 {
        self.count
    }

    /// The planes, lowest digit first.
    pub(crate) fn planes(&self) -> impl ExactSizeIterator<Item = &[u64]> + Clone {
        self.planes.iter().map(Vec::as_slice)
    }

    /// Counts one bitmap more, of as many words as those before.
    pub(crate) fn add_bits(&mut self, bits: &[u64]) {
        self.add_planes(1, core::iter::once(bits), bits.len());
    }

    /// Adds the numbers of other bitmaps, of as many words.
    pub(crate) fn add(&mut self, other: &Self) {
        let words = other.planes.first().map_or(0, Vec::len);
        self.add_planes(other.count, other.planes(), words);
    }

    /// A binary adder, all cells of a plane at once: no number reaches a digit that the new count does not have.
    fn add_planes<'a>(&mut self, count: u32, planes: impl Iterator<Item = &'a [u64]>, words: usize) {
        self.count += count;
        self.planes.resize_with(digits(self.count), || vec![0; words]);
        let mut carry = vec![0; words];
        let mut more = planes.fuse();
        for plane in &mut self.planes {
            if let Some(other) = more.next() {
                for ((sum, carry), other) in plane.iter_mut().zip(&mut carry).zip(other) {
                    let half = *sum ^ other;
                    (*sum, *carry) = (half ^ *carry, (*sum & other) | (half & *carry));
                }
            } else {
                for (sum, carry) in plane.iter_mut().zip(&mut carry) {
                    (*sum, *carry) = (*sum ^ *carry, *sum & *carry);
                }
            }
        }
    }

    /// The sum of the numbers of some cells.
    pub(crate) fn sum(&self, cells: Range<usize>) -> u64 {
        self.planes().enumerate().map(|(digit, plane)| popcount_range(plane, cells.clone()) << digit).sum()
    }

    /// Zeroes the numbers beyond the last cell.
    pub(crate) fn clear_beyond(&mut self, cells: usize) {
        self.planes.iter_mut().for_each(|plane| clear_beyond(plane, cells));
    }

    /// Whether the number of some cell is above `bound`, of as many words as there are.
    pub(crate) fn any_above(&self, bound: u32) -> bool {
        let words = self.planes.first().map_or(0, Vec::len);
        (0..words).any(|word| self.lanes_above(word, bound) != 0)
    }

    /// The cells of one word whose number is above `bound`.
    pub(crate) fn lanes_above(&self, word: usize, bound: u32) -> u64 {
        if digits(bound) > self.planes.len() {
            return 0;
        }
        let (mut above, mut equal) = (0, u64::MAX);
        for (digit, plane) in self.planes.iter().enumerate().rev() {
            let ones = plane.get(word).copied().unwrap_or(0);
            if bound >> digit & 1 == 1 {
                equal &= ones;
            } else {
                above |= equal & ones;
                equal &= !ones;
            }
        }
        above
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pseudo-random words without any dependency (`SplitMix64`).
    fn words(seed: u64, count: usize) -> Vec<u64> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ z >> 31
        };
        (0..count).map(|_| next()).collect()
    }

    fn number(planes: &Planes, cell: usize) -> u32 {
        planes
            .planes()
            .enumerate()
            .map(|(digit, plane)| u32::from(plane[cell / 64] >> (cell % 64) & 1 == 1) << digit)
            .sum()
    }

    #[test]
    fn numbers_are_those_of_counting_cell_by_cell() {
        let bitmaps: Vec<Vec<u64>> = (0..40).map(|seed| words(seed, 3)).collect();
        let expected = |bitmaps: &[Vec<u64>], cell: usize| {
            u32::try_from(bitmaps.iter().filter(|words| words[cell / 64] >> (cell % 64) & 1 == 1).count()).unwrap()
        };
        let mut singly = Planes::new();
        for (index, bits) in bitmaps.iter().enumerate() {
            singly.add_bits(bits);
            for cell in 0..192 {
                assert_eq!(number(&singly, cell), expected(&bitmaps[..=index], cell));
            }
        }
        for split in [1, 7, 20, 33] {
            let half = |bitmaps: &[Vec<u64>]| {
                bitmaps.iter().fold(Planes::new(), |mut sum, bits| {
                    sum.add_bits(bits);
                    sum
                })
            };
            let (mut left, right) = (half(&bitmaps[..split]), half(&bitmaps[split..]));
            left.add(&right);
            assert!(left == singly, "{split}");
        }
        let cells: u64 = (5..150).map(|cell| u64::from(number(&singly, cell))).sum();
        assert_eq!(singly.sum(5..150), cells);
    }

    #[test]
    fn cells_above_a_bound_are_found_in_all_lanes() {
        let mut planes = Planes::new();
        (0..11).for_each(|seed| planes.add_bits(&words(seed, 2)));
        for bound in [0, 1, 4, 7, 8, 11, 15, 16, 1000] {
            for word in 0..2 {
                let lanes = planes.lanes_above(word, bound);
                for lane in 0..64 {
                    assert_eq!(lanes >> lane & 1 == 1, number(&planes, 64 * word + lane) > bound, "{bound}");
                }
            }
        }
        assert!(!planes.any_above(11));
        let largest = (0..128).map(|cell| number(&planes, cell)).max().unwrap();
        assert!(planes.any_above(largest - 1) && !planes.any_above(largest));
    }

    #[test]
    fn full_bitmaps_reach_the_largest_number() {
        let mut planes = Planes::new();
        for count in 1..=1023_u32 {
            planes.add_bits(&[u64::MAX]);
            assert_eq!((planes.planes().len(), number(&planes, 17)), (digits(count), count));
        }
    }
}
