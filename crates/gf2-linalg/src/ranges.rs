//! Counting in ranges that need not start or end at a word.

use core::ops::Range;

use bitvec::{domain::Domain, order::Lsb0, slice::BitSlice};

use crate::popcount;

/// Number of ones of any slice of bits. Whole words inside it are counted by [`popcount`].
///
/// # Examples
/// ```
/// use gf2_linalg::{BitSlice, Lsb0, count_ones};
///
/// let words = [u64::MAX, u64::MAX];
/// let bits = BitSlice::<u64, Lsb0>::from_slice(&words);
/// assert_eq!(count_ones(&bits[3..100]), 97);
/// ```
#[must_use]
pub fn count_ones(bits: &BitSlice<u64, Lsb0>) -> u64 {
    let edge = |word: u64| u64::from(word.count_ones());
    match bits.domain() {
        Domain::Enclave(part) => edge(part.load_value()),
        Domain::Region { head, body, tail } => {
            let ends = [head, tail].into_iter().flatten().map(|part| edge(part.load_value()));
            ends.sum::<u64>() + popcount(body)
        }
    }
}

/// Number of ones among bits `range` of `words`; bit `i` is bit `i % 64` of word `i / 64`.
///
/// # Panics
/// When the range ends after the last bit, or before it starts.
///
/// # Examples
/// ```
/// assert_eq!(gf2_linalg::popcount_range(&[1 << 63, 0b101], 63..66), 2);
/// ```
#[must_use]
pub fn popcount_range(words: &[u64], range: Range<usize>) -> u64 {
    count_ones(&BitSlice::<u64, Lsb0>::from_slice(words)[range])
}

/// Ones of each level: `counts[l]` is the count of bits `l · bits_per_level .. (l + 1) · bits_per_level`.
///
/// # Panics
/// When `words` hold fewer than `counts.len() · bits_per_level` bits.
///
/// # Examples
/// ```
/// let mut counts = [0; 3];
/// gf2_linalg::level_popcounts(&[0b11_0001_1111], 4, &mut counts);
/// assert_eq!(counts, [4, 1, 2]);
/// ```
pub fn level_popcounts(words: &[u64], bits_per_level: usize, counts: &mut [u64]) {
    let mut rest = BitSlice::<u64, Lsb0>::from_slice(words);
    for count in counts {
        let (level, after) = rest.split_at(bits_per_level);
        *count = count_ones(level);
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one_by_one(words: &[u64], range: Range<usize>) -> u64 {
        range.map(|i| words[i / 64] >> (i % 64) & 1).sum()
    }

    #[test]
    fn every_range_of_four_words_counts_its_own_bits() {
        let words = [0x0123_4567_89ab_cdef, u64::MAX, 0, 0x8000_0000_0000_0001];
        for start in 0..=256 {
            for end in start..=256 {
                assert_eq!(popcount_range(&words, start..end), one_by_one(&words, start..end), "{start}..{end}");
            }
        }
    }

    #[test]
    fn levels_of_every_width_up_to_two_words_add_up() {
        let words = [0xfedc_ba98_7654_3210, 0x0f0f_0f0f_0f0f_0f0f, 0xaaaa_aaaa_aaaa_aaaa, u64::MAX];
        for width in 1..=128 {
            let mut counts = [0; 256];
            let counts = &mut counts[..256 / width];
            level_popcounts(&words, width, counts);
            for (level, &mut count) in counts.iter_mut().enumerate() {
                assert_eq!(
                    count,
                    one_by_one(&words, level * width..(level + 1) * width),
                    "width {width} level {level}"
                );
            }
        }
    }

    #[test]
    #[should_panic(expected = "")]
    fn a_range_past_the_end_panics() {
        let _ = popcount_range(&[0], 0..65);
    }
}
