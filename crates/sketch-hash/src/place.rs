//! From hash bits to a place in a sketch: bucket, level, sign.

use crate::word::high_word;

/// The bucket given by the `bits` highest bits of `hash`, for a table of 2^`bits` buckets (PCSA, [HTC23]).
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

/// The geometric level of a PCSA sketch whose bucket takes the `index_bits` highest bits of `hash` [HTC23].
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
