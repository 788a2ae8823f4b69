//! Counting in ranges that need not start or end at a word.

use core::ops::Range;

use bitvec::{domain::Domain, order::Lsb0, slice::BitSlice};

use crate::popcount;

/// Number of ones of any slice of bits.
#[must_use]
pub fn count_ones(bits: &BitSlice<u64, Lsb0>) -> u64 {
    let edge = |word: u64| u64::from(word.count_ones());
    match bits.domain() {
        Domain::Enclave(element) => edge(element.load_value()),
        Domain::Region { head, body, tail } => {
            head.map_or(0, |part| edge(part.load_value()))
                + popcount(body)
                + tail.map_or(0, |part| edge(part.load_value()))
        }
    }
}

/// Number of ones among bits `range` of `words`; bit `i` is bit `i % 64` of word `i / 64`.
#[must_use]
pub fn popcount_range(words: &[u64], range: Range<usize>) -> u64 {
    count_ones(&BitSlice::from_slice(words)[range])
}

/// Ones in each of `counts.len()` levels of `bits_per_level` bits, level after level from bit 0.
pub fn level_popcounts(words: &[u64], bits_per_level: usize, counts: &mut [u64]) {
    for (level, count) in counts.iter_mut().enumerate() {
        *count = popcount_range(words, level * bits_per_level..(level + 1) * bits_per_level);
    }
}
