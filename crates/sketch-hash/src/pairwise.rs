//! The multiply-shift family, pairwise independent over 64-bit keys.

use crate::word::high_word;
use crate::{HashKey, SeedStream, bucket_multiply_shift_64, sign_low_bit};

/// The strongly universal multiply-shift family: 64-bit keys to 64-bit hashes, pairwise independent \[D96\].
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

/// Applies `f` to every key.
#[inline]
pub(crate) fn map_into(keys: &[u64], out: &mut [u64], f: impl Fn(u64) -> u64) {
    assert_eq!(keys.len(), out.len(), "one output for each key");
    for (key, hash) in keys.iter().zip(out) {
        *hash = f(*key);
    }
}

#[cfg(test)]
mod tests {
    use super::multiply_shift;

    /// Keys of 3 bits, hashes of 2: the smallest word size the theorem allows is 3 + 2 − 1 = 4.
    #[test]
    fn two_different_keys_have_exactly_independent_hashes() {
        let hash = |a, b, x| (multiply_shift(a, b, x, 4) >> 2) as usize;
        for (x, y) in (0..8).flat_map(|x| (0..8).map(move |y| (x, y))).filter(|(x, y)| x != y) {
            let mut pairs = [[0; 4]; 4];
            for (a, b) in (0..16).flat_map(|a| (0..16).map(move |b| (a, b))) {
                pairs[hash(a, b, x)][hash(a, b, y)] += 1;
            }
            assert_eq!(pairs, [[16; 4]; 4], "keys {x} and {y}");
        }
    }
}
