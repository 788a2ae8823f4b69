//! Halves of a 128-bit number.

/// The lower 64 bits.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the upper half is what is to be dropped")]
pub(crate) const fn low_word(value: u128) -> u64 {
    value as u64
}

/// The upper 64 bits.
#[inline]
pub(crate) const fn high_word(value: u128) -> u64 {
    (value >> 64) as u64
}
