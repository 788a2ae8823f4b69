//! From hash bits to a place in a sketch: bucket, level, sign.

use crate::word::high_word;

/// The bucket given by the `bits` highest bits of `hash`, for a table of 2^`bits` buckets (PCSA, \[HTC23\]).
///
/// # Panics
/// If `bits` is above 32.
///
/// # Examples
/// ```
/// assert_eq!(sketch_hash::bucket_top_bits(0x8000_0000_0000_0000, 12), 2048);
/// ```
#[inline]
#[must_use]
pub fn bucket_top_bits(hash: u64, bits: u32) -> u32 {
    assert!(bits <= 32, "a bucket index has at most 32 bits");
    // Without a bit there is one bucket, and the shift would be by the whole width.
    hash.checked_shr(64 - bits).map_or(0, |bucket| (bucket & 0xffff_ffff) as u32)
}

/// The geometric level of a PCSA sketch whose bucket takes the `index_bits` highest bits of `hash` \[HTC23\].
///
/// `min(levels − 1, trailing zeros of (hash | 2^(64 − index_bits)))`: for uniform hashes level `j` has probability
/// `2^−(j+1)`, and the last one takes the rest, `2^−(levels−1)`. The set bit stops the count before the bits of the
/// bucket; as long as `index_bits + levels ≤ 64` it never changes the result. `levels = 0` counts as 1.
///
/// # Panics
/// If `index_bits` is above 32.
///
/// # Examples
/// ```
/// assert_eq!(sketch_hash::geometric_level(0b1000, 12, 24), 3);
/// assert_eq!(sketch_hash::geometric_level(0, 12, 24), 23);
/// ```
#[inline]
#[must_use]
pub fn geometric_level(hash: u64, index_bits: u32, levels: u8) -> u8 {
    assert!(index_bits <= 32, "a bucket index has at most 32 bits");
    let sentinel = 1_u64.checked_shl(64 - index_bits).unwrap_or(0);
    capped_level((hash | sentinel).trailing_zeros(), levels)
}

/// The geometric level given by the leading zeros of `hash`: `min(levels − 1, leading zeros)`.
///
/// Level `i` has probability `2^−(i+1)`, the last one `2^−(levels−1)`. `levels = 0` counts as 1.
///
/// # Examples
/// ```
/// assert_eq!(sketch_hash::level_leading(1 << 60, 24), 3);
/// ```
#[inline]
#[must_use]
pub fn level_leading(hash: u64, levels: u8) -> u8 {
    capped_level(hash.leading_zeros(), levels)
}

/// `min(zeros, levels − 1)`; a count of zeros of a 64-bit word fits in a byte.
#[inline]
fn capped_level(zeros: u32, levels: u8) -> u8 {
    ((zeros & 0xff) as u8).min(levels.saturating_sub(1))
}

/// The bucket of a 32-bit hash in a table of any size: `⌊hash · buckets / 2^32⌋`, always below `buckets`.
///
/// The probability of a bucket is within `2^−32` of `1 / buckets`. `buckets = 0` gives 0.
///
/// # Examples
/// ```
/// assert_eq!(sketch_hash::bucket_multiply_shift(u32::MAX, 1000), 999);
/// ```
#[inline]
#[must_use]
pub fn bucket_multiply_shift(hash: u32, buckets: u32) -> u32 {
    ((u64::from(hash) * u64::from(buckets)) >> 32) as u32
}

/// The bucket of a 64-bit hash in a table of any size: `⌊hash · buckets / 2^64⌋`, always below `buckets`.
///
/// The probability of a bucket is within `2^−64` of `1 / buckets`. `buckets = 0` gives 0.
///
/// # Examples
/// ```
/// assert_eq!(sketch_hash::bucket_multiply_shift_64(1 << 63, 1001), 500);
/// ```
#[inline]
#[must_use]
pub fn bucket_multiply_shift_64(hash: u64, buckets: u64) -> u64 {
    high_word(u128::from(hash) * u128::from(buckets))
}

/// The sign given by the lowest bit of `hash`: +1 for 0, −1 for 1.
///
/// Independent of a bucket taken from the highest bits, if the hash bits are.
///
/// # Examples
/// ```
/// assert_eq!(sketch_hash::sign_low_bit(6), 1);
/// assert_eq!(sketch_hash::sign_low_bit(7), -1);
/// ```
#[inline]
#[must_use]
pub const fn sign_low_bit(hash: u64) -> i64 {
    if hash & 1 == 0 { 1 } else { -1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All 16-bit patterns, which make every level up to 16 exactly as frequent as its probability says.
    fn low_patterns() -> impl Iterator<Item = u64> {
        0..1 << 16
    }

    #[test]
    fn geometric_levels_have_exactly_their_probabilities() {
        for levels in 1..=16_u8 {
            let mut counts = vec![0_u64; usize::from(levels)];
            for pattern in low_patterns() {
                counts[usize::from(geometric_level(pattern, 12, levels))] += 1;
            }
            let last = counts.pop();
            assert_eq!(last, Some(1 << (17 - levels)), "the last of {levels} levels takes the tail");
            assert!(counts.iter().enumerate().all(|(level, count)| *count == 1 << (15 - level)), "{counts:?}");
        }
    }

    #[test]
    fn leading_levels_have_exactly_their_probabilities() {
        for levels in 1..=16_u8 {
            let mut counts = vec![0_u64; usize::from(levels)];
            for pattern in low_patterns() {
                counts[usize::from(level_leading(pattern << 48, levels))] += 1;
            }
            let last = counts.pop();
            assert_eq!(last, Some(1 << (17 - levels)));
            assert!(counts.iter().enumerate().all(|(level, count)| *count == 1 << (15 - level)), "{counts:?}");
        }
    }

    #[test]
    fn the_sentinel_stops_a_level_before_the_bucket() {
        // The count of zeros would run on into the bucket; 64 − 12 of them are the most that can be seen.
        assert_eq!(geometric_level(1 << 63, 12, 255), 52);
        assert_eq!(geometric_level(0, 12, 255), 52);
        assert_eq!(geometric_level(0, 0, 255), 64);
    }

    #[test]
    fn without_levels_the_level_is_zero() {
        assert_eq!((geometric_level(0, 12, 0), level_leading(0, 0)), (0, 0));
    }

    #[test]
    fn buckets_are_the_highest_bits() {
        assert_eq!(bucket_top_bits(u64::MAX, 0), 0);
        assert_eq!(bucket_top_bits(u64::MAX, 1), 1);
        assert_eq!(bucket_top_bits(0x0123_4567_89ab_cdef, 12), 0x012);
        assert_eq!(bucket_top_bits(0x0123_4567_89ab_cdef, 32), 0x0123_4567);
    }

    /// The map is monotone, so bucket `b` holds exactly the hashes from `⌈b·2^32/m⌉`; that also makes their numbers
    /// differ by at most one.
    #[test]
    fn multiply_shift_buckets_begin_where_they_should() {
        for buckets in [1, 2, 3, 7, 1000, 4096, 65_537] {
            for bucket in 1..u64::from(buckets) {
                let first = (bucket << 32).div_ceil(u64::from(buckets));
                let at = |hash: u64| u64::from(bucket_multiply_shift(u32::try_from(hash).unwrap(), buckets));
                assert_eq!((at(first - 1), at(first)), (bucket - 1, bucket));
            }
            assert_eq!((bucket_multiply_shift(0, buckets), bucket_multiply_shift(u32::MAX, buckets)), (0, buckets - 1));
        }
    }

    #[test]
    fn wide_multiply_shift_buckets_begin_where_they_should() {
        for buckets in [1, 3, 1000, 1 << 40, u64::MAX] {
            assert_eq!(bucket_multiply_shift_64(0, buckets), 0);
            assert_eq!(bucket_multiply_shift_64(u64::MAX, buckets), buckets - 1);
            let bucket = buckets / 2;
            let first = u64::try_from((u128::from(bucket) << 64).div_ceil(u128::from(buckets))).unwrap();
            assert_eq!(bucket_multiply_shift_64(first, buckets), bucket);
            assert!(bucket == 0 || bucket_multiply_shift_64(first - 1, buckets) == bucket - 1);
        }
    }

    #[test]
    fn no_buckets_give_bucket_zero() {
        assert_eq!((bucket_multiply_shift(u32::MAX, 0), bucket_multiply_shift_64(u64::MAX, 0)), (0, 0));
    }

    #[test]
    #[should_panic(expected = "at most 32 bits")]
    fn more_than_32_index_bits_are_a_bug_of_the_caller() {
        let _ = bucket_top_bits(0, 33);
    }
}
