//! Kernels over whole words.

/// Number of ones.
#[must_use]
pub fn popcount(words: &[u64]) -> u64 {
    words.iter().map(|word| u64::from(word.count_ones())).sum()
}

/// Number of ones of `a & b`.
#[must_use]
pub fn and_popcount(a: &[u64], b: &[u64]) -> u64 {
    assert_eq!(a.len(), b.len(), "operands of different length");
    a.iter().zip(b).map(|(a, b)| u64::from((a & b).count_ones())).sum()
}

/// Number of ones of `a | b`.
#[must_use]
pub fn or_popcount(a: &[u64], b: &[u64]) -> u64 {
    assert_eq!(a.len(), b.len(), "operands of different length");
    a.iter().zip(b).map(|(a, b)| u64::from((a | b).count_ones())).sum()
}

/// Number of ones of `a ^ b`.
#[must_use]
pub fn xor_popcount(a: &[u64], b: &[u64]) -> u64 {
    assert_eq!(a.len(), b.len(), "operands of different length");
    a.iter().zip(b).map(|(a, b)| u64::from((a ^ b).count_ones())).sum()
}

/// `into ^= from`.
pub fn xor_into(into: &mut [u64], from: &[u64]) {
    assert_eq!(into.len(), from.len(), "operands of different length");
    for (into, from) in into.iter_mut().zip(from) {
        *into ^= from;
    }
}

/// `into |= from`.
pub fn or_into(into: &mut [u64], from: &[u64]) {
    assert_eq!(into.len(), from.len(), "operands of different length");
    for (into, from) in into.iter_mut().zip(from) {
        *into |= from;
    }
}
