//! Polynomials with random coefficients over the field of 2^61 − 1 elements.

use multiversion::multiversion;

use crate::word::low_word;
use crate::{HashKey, SeedStream, bucket_multiply_shift_64, sign_low_bit};

/// The Mersenne prime 2^61 − 1.
const PRIME: u64 = (1 << PRIME_BITS) - 1;
const PRIME_BITS: u32 = 61;

/// Pairwise independent polynomials (degree 1) over the field of 2^61 − 1 elements.
pub type Polynomial2 = Polynomial<2>;

/// Four-wise independent polynomials (degree 3) over the field of 2^61 − 1 elements.
pub type Polynomial4 = Polynomial<4>;

/// Polynomials with `K` random coefficients modulo 2^61 − 1: `K`-wise independent \[WC81\].
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
    /// Member number `index` of the family under `key`; members with different numbers, or of families with different
    /// `K`, are independent.
    #[must_use]
    pub fn new(key: HashKey, index: u64) -> Self {
        let mut seed = SeedStream::new(key.derive("sketch-hash polynomial", K as u64), "member", index);
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
        evaluate::<PRIME_BITS, K>(&self.coefficients, key)
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
        *hash = evaluate::<PRIME_BITS, K>(coefficients, *key);
    }
}

/// The polynomial at `key` modulo 2^`BITS` − 1, by Horner's rule. The library uses `BITS = 61`; tests enumerate a
/// small field.
#[expect(clippy::inline_always, reason = "the batch compiles it once for each instruction set")]
#[inline(always)]
fn evaluate<const BITS: u32, const K: usize>(coefficients: &[u64; K], key: u64) -> u64 {
    const { assert!(0 < K && K < 8, "the sums below would overflow for more coefficients") }
    let prime = (1 << BITS) - 1;
    let x = fold::<BITS>(u128::from(key));
    let mut sum = coefficients[K - 1];
    for coefficient in coefficients[..K - 1].iter().rev() {
        // Each step adds at most 2^61 to the bound of the sum, as x is hardly above 2^61.
        sum = fold::<BITS>(u128::from(sum) * u128::from(x) + u128::from(*coefficient));
    }
    let sum = fold::<BITS>(u128::from(sum));
    if sum >= prime { sum - prime } else { sum }
}

/// A smaller number that is equal modulo 2^`BITS` − 1: as 2^`BITS` is 1 there, the high part is added to the low one.
#[expect(clippy::inline_always, reason = "the batch compiles it once for each instruction set")]
#[inline(always)]
fn fold<const BITS: u32>(value: u128) -> u64 {
    (low_word(value) & ((1 << BITS) - 1)) + low_word(value >> BITS)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{PRIME, Polynomial4, evaluate};

    /// Every polynomial over the field of 7 elements, once.
    fn all_over_seven<const K: usize>() -> impl Iterator<Item = [u64; K]> {
        (0..7_u64.pow(u32::try_from(K).unwrap())).map(|number| {
            let mut rest = number;
            [(); K].map(|()| {
                let digit = rest % 7;
                rest /= 7;
                digit
            })
        })
    }

    /// Asserts that over all members the hashes of `keys` take every combination exactly once.
    fn assert_independent<const K: usize>(keys: [u64; K]) {
        let mut seen = std::collections::HashSet::new();
        for member in all_over_seven::<K>() {
            let hashes = keys.map(|key| evaluate::<3, K>(&member, key));
            assert!(hashes.iter().all(|hash| *hash < 7));
            assert!(seen.insert(hashes), "{hashes:?} twice for keys {keys:?}");
        }
        assert_eq!(seen.len(), 7_usize.pow(u32::try_from(K).unwrap()));
    }

    #[test]
    fn two_coefficients_make_any_two_keys_independent() {
        for (x, y) in (0..7).flat_map(|x| (0..x).map(move |y| (x, y))) {
            assert_independent([x, y]);
        }
    }

    #[test]
    fn four_coefficients_make_any_four_keys_independent() {
        for left_out in 0_u64..7 * 7 * 7 {
            let out = [left_out % 7, left_out / 7 % 7, left_out / 49];
            let keys: Vec<u64> = (0..7).filter(|key| !out.contains(key)).collect();
            if let Ok(keys) = <[u64; 4]>::try_from(keys) {
                assert_independent(keys);
            }
        }
    }

    #[test]
    fn the_largest_coefficients_and_keys_do_not_overflow() {
        // With x = −1 the sum c − c + c − … of seven equal coefficients is c.
        assert_eq!(evaluate::<61, 7>(&[PRIME - 1; 7], PRIME - 1), PRIME - 1);
        // u64::MAX is 8 · (2^61 − 1) + 7.
        assert_eq!(evaluate::<61, 2>(&[0, 1], u64::MAX), 7);
        assert_eq!(evaluate::<61, 2>(&[PRIME - 1, 1], PRIME), PRIME - 1);
    }

    proptest! {
        #[test]
        fn the_folded_sums_equal_plain_remainders(coefficients: [u64; 7], key: u64) {
            let coefficients = coefficients.map(|c| c % PRIME);
            let prime = u128::from(PRIME);
            let plain = coefficients.iter().rev().fold(0, |sum, c| (sum * (u128::from(key) % prime) + u128::from(*c)) % prime);
            prop_assert_eq!(u128::from(evaluate::<61, 7>(&coefficients, key)), plain);
        }

        #[test]
        fn keys_from_hashes_are_in_the_field(hash: u64) {
            prop_assert!(Polynomial4::key_from_hash(hash) <= PRIME);
        }
    }
}
