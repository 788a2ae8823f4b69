//! Kernels over whole words.
//!
//! Each is one obvious loop, compiled again for processors with more instructions; the version is chosen when the
//! program runs (without `std`: when it is compiled). A compiler that may use AVX2 counts with byte shuffles, four
//! words at a time, which beats the scalar instruction.

use multiversion::multiversion;

/// Number of ones.
///
/// # Examples
/// ```
/// assert_eq!(gf2_linalg::popcount(&[0b1011, u64::MAX]), 3 + 64);
/// ```
#[must_use]
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+popcnt", "x86_64+popcnt"))]
pub fn popcount(words: &[u64]) -> u64 {
    words.iter().map(|word| u64::from(word.count_ones())).sum()
}

/// Number of ones of `a & b`, without forming it: the dot product over the integers. Its parity is the dot product
/// over GF(2).
///
/// # Panics
/// When the lengths differ.
///
/// # Examples
/// ```
/// assert_eq!(gf2_linalg::and_popcount(&[0b1011], &[0b0110]), 1);
/// ```
#[must_use]
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+popcnt", "x86_64+popcnt"))]
pub fn and_popcount(a: &[u64], b: &[u64]) -> u64 {
    assert_eq!(a.len(), b.len(), "operands of different length");
    a.iter().zip(b).map(|(a, b)| u64::from((a & b).count_ones())).sum()
}

/// Number of ones of `a | b`, without forming it.
///
/// # Panics
/// When the lengths differ.
///
/// # Examples
/// ```
/// assert_eq!(gf2_linalg::or_popcount(&[0b1011], &[0b0110]), 4);
/// ```
#[must_use]
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+popcnt", "x86_64+popcnt"))]
pub fn or_popcount(a: &[u64], b: &[u64]) -> u64 {
    assert_eq!(a.len(), b.len(), "operands of different length");
    a.iter().zip(b).map(|(a, b)| u64::from((a | b).count_ones())).sum()
}

/// Number of ones of `a ^ b`, without forming it: the Hamming distance.
///
/// # Panics
/// When the lengths differ.
///
/// # Examples
/// ```
/// assert_eq!(gf2_linalg::xor_popcount(&[0b1011], &[0b0110]), 3);
/// ```
#[must_use]
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+popcnt", "x86_64+popcnt"))]
pub fn xor_popcount(a: &[u64], b: &[u64]) -> u64 {
    assert_eq!(a.len(), b.len(), "operands of different length");
    a.iter().zip(b).map(|(a, b)| u64::from((a ^ b).count_ones())).sum()
}

/// `into ^= from`: the sum over GF(2).
///
/// # Panics
/// When the lengths differ.
///
/// # Examples
/// ```
/// let mut into = [0b1011];
/// gf2_linalg::xor_into(&mut into, &[0b0110]);
/// assert_eq!(into, [0b1101]);
/// ```
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+popcnt"))]
pub fn xor_into(into: &mut [u64], from: &[u64]) {
    assert_eq!(into.len(), from.len(), "operands of different length");
    for (into, from) in into.iter_mut().zip(from) {
        *into ^= from;
    }
}

/// `into |= from`.
///
/// # Panics
/// When the lengths differ.
///
/// # Examples
/// ```
/// let mut into = [0b1011];
/// gf2_linalg::or_into(&mut into, &[0b0110]);
/// assert_eq!(into, [0b1111]);
/// ```
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+popcnt"))]
pub fn or_into(into: &mut [u64], from: &[u64]) {
    assert_eq!(into.len(), from.len(), "operands of different length");
    for (into, from) in into.iter_mut().zip(from) {
        *into |= from;
    }
}

/// `into &= from`.
///
/// # Panics
/// When the lengths differ.
///
/// # Examples
/// ```
/// let mut into = [0b1011];
/// gf2_linalg::and_into(&mut into, &[0b0110]);
/// assert_eq!(into, [0b0010]);
/// ```
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+popcnt"))]
pub fn and_into(into: &mut [u64], from: &[u64]) {
    assert_eq!(into.len(), from.len(), "operands of different length");
    for (into, from) in into.iter_mut().zip(from) {
        *into &= from;
    }
}
