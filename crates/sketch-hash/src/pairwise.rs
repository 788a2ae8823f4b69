//! k-wise independent families over 64-bit keys: multiply-shift and polynomials over a prime field.

use multiversion::multiversion;

use crate::word::{high_word, low_word};
use crate::{HashKey, SeedStream, bucket_multiply_shift_64, sign_low_bit};

/// The strongly universal multiply-shift family: 64-bit keys to 64-bit hashes, pairwise independent [Die96].
///
/// `h(x) = ⌊((a·x + b) mod 2^128) / 2^64⌋` with `a` and `b` uniform on 128 bits. For two different keys the pair of
/// hashes is exactly uniform on 2^128 values, so all bits of one hash are independent as well: take a bucket from the
/// highest and a sign from the lowest.
///
/// # Examples
/// ```
/// use sketch_hash::{HashKey, MultiplyShift};
///
/// let row = MultiplyShift::new(HashKey::DEFAULT, 3);
/// assert!(row.bucket(17, 1000) < 1000);
/// assert_eq!(row.hash(17), MultiplyShift::new(HashKey::DEFAULT, 3).hash(17));
/// ```
#[derive(Clone, Debug)]
pub struct MultiplyShift {
    a: u128,
    b: u128,
}

impl MultiplyShift {
    /// Member number `index` of the family under `key`; members with different numbers are independent.
    #[must_use]
    pub fn new(key: HashKey, index: u64) -> Self {
        let mut seed = SeedStream::new(key, "sketch-hash multiply-shift", index);
        let mut wide = || u128::from(seed.next_word()) << 64 | u128::from(seed.next_word());
        Self { a: wide(), b: wide() }
    }

    /// The hash of `key`, 64 uniform bits.
    #[inline]
    #[must_use]
    pub fn hash(&self, key: u64) -> u64 {
        high_word(multiply_shift(self.a, self.b, key, 128))
    }

    /// [`hash`](Self::hash) of every key.
    ///
    /// # Panics
    /// If `keys` and `out` differ in length.
    pub fn hash_into(&self, keys: &[u64], out: &mut [u64]) {
        map_into(keys, out, |key| self.hash(key));
    }

    /// A bucket below `buckets` (0 if there are none), from the highest bits.
    #[inline]
    #[must_use]
    pub fn bucket(&self, key: u64, buckets: u64) -> u64 {
        bucket_multiply_shift_64(self.hash(key), buckets)
    }

    /// A sign, +1 or −1, from the lowest bit.
    #[inline]
    #[must_use]
    pub fn sign(&self, key: u64) -> i64 {
        sign_low_bit(self.hash(key))
    }
}

/// `(a·x + b) mod 2^width`: the family at any word size, so that tests can enumerate a small one.
#[inline]
fn multiply_shift(a: u128, b: u128, x: u64, width: u32) -> u128 {
    a.wrapping_mul(u128::from(x)).wrapping_add(b) & (u128::MAX >> (128 - width))
}

/// The Mersenne prime 2^61 − 1.
const PRIME: u64 = (1 << 61) - 1;

/// Pairwise independent polynomials (degree 1) over the field of 2^61 − 1 elements.
pub type Polynomial2 = Polynomial<2>;

/// Four-wise independent polynomials (degree 3) over the field of 2^61 − 1 elements.
pub type Polynomial4 = Polynomial<4>;

/// Polynomials with `K` random coefficients modulo 2^61 − 1: `K`-wise independent [WC81].
///
/// `h(x) = c₀ + c₁·x + … + c₍K−1₎·x^(K−1)`. The hashes of any `K` keys that differ modulo 2^61 − 1 are independent and
/// uniform on `0 .. 2^61 − 1`. Keys that agree modulo 2^61 − 1 always collide: reduce full 64-bit hashes by
/// [`key_from_hash`](Self::key_from_hash) first. A bucket is non-uniform by at most `buckets / 2^61`, relatively.
///
/// # Examples
/// ```
/// use sketch_hash::{HashKey, Polynomial4};
///
/// let row = Polynomial4::new(HashKey::DEFAULT, 0);
/// assert!(row.hash(5) < (1 << 61) - 1);
/// assert_eq!(row.sign(5).abs(), 1);
/// ```
#[derive(Clone, Debug)]
pub struct Polynomial<const K: usize> {
    /// From the constant upwards.
    coefficients: [u64; K],
}

impl<const K: usize> Polynomial<K> {
    /// Member number `index` of the family under `key`; members with different numbers are independent.
    #[must_use]
    pub fn new(key: HashKey, index: u64) -> Self {
        let mut seed = SeedStream::new(key, "sketch-hash polynomial", index);
        let mut coefficients = [0; K];
        for coefficient in &mut coefficients {
            *coefficient = uniform_residue(&mut seed);
        }
        Self { coefficients }
    }

    /// The key of an item known by 64 hash bits: the highest 61 of them.
    #[inline]
    #[must_use]
    pub const fn key_from_hash(hash: u64) -> u64 {
        hash >> 3
    }

    /// The hash of `key`, uniform on `0 .. 2^61 − 1`.
    #[inline]
    #[must_use]
    pub fn hash(&self, key: u64) -> u64 {
        evaluate(&self.coefficients, key)
    }

    /// [`hash`](Self::hash) of every key.
    ///
    /// # Panics
    /// If `keys` and `out` differ in length.
    pub fn hash_into(&self, keys: &[u64], out: &mut [u64]) {
        assert_eq!(keys.len(), out.len(), "one output for each key");
        evaluate_all(&self.coefficients, keys, out);
    }

    /// A bucket below `buckets` (0 if there are none): `⌊h(key) · buckets / 2^61⌋`.
    #[inline]
    #[must_use]
    pub fn bucket(&self, key: u64, buckets: u64) -> u64 {
        bucket_multiply_shift_64(self.hash(key) << 3, buckets)
    }

    /// A sign, +1 or −1, from the lowest bit; +1 has probability `1/2 + 2^−62`, about.
    #[inline]
    #[must_use]
    pub fn sign(&self, key: u64) -> i64 {
        sign_low_bit(self.hash(key))
    }
}

/// A number below the prime, uniform: 61 bits, drawn again in the one case of the prime itself.
fn uniform_residue(seed: &mut SeedStream) -> u64 {
    loop {
        let bits = seed.next_word() & PRIME;
        if bits != PRIME {
            return bits;
        }
    }
}

/// The polynomial at every key. `keys` and `out` have one length.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn evaluate_all<const K: usize>(coefficients: &[u64; K], keys: &[u64], out: &mut [u64]) {
    for (key, hash) in keys.iter().zip(out) {
        *hash = evaluate(coefficients, *key);
    }
}

/// The polynomial at `key`, by Horner's rule.
#[expect(clippy::inline_always, reason = "the batch compiles it once for each instruction set")]
#[inline(always)]
fn evaluate<const K: usize>(coefficients: &[u64; K], key: u64) -> u64 {
    const { assert!(0 < K && K < 8, "the sums below would overflow for more coefficients") }
    let x = fold(u128::from(key));
    let mut sum = coefficients[K - 1];
    for coefficient in coefficients[..K - 1].iter().rev() {
        // Each step adds at most 2^61 to the bound of the sum, as x is at most 2^61.
        sum = fold(u128::from(sum) * u128::from(x) + u128::from(*coefficient));
    }
    let sum = fold(u128::from(sum));
    if sum >= PRIME { sum - PRIME } else { sum }
}

/// A smaller number that is equal modulo the prime: as 2^61 is 1 there, the high part is added to the low one.
#[expect(clippy::inline_always, reason = "the batch compiles it once for each instruction set")]
#[inline(always)]
fn fold(value: u128) -> u64 {
    (low_word(value) & PRIME) + low_word(value >> 61)
}

/// Applies `f` to every key.
#[inline]
pub(crate) fn map_into(keys: &[u64], out: &mut [u64], f: impl Fn(u64) -> u64) {
    assert_eq!(keys.len(), out.len(), "one output for each key");
    for (key, hash) in keys.iter().zip(out) {
        *hash = f(*key);
    }
}
