//! The hash function of one row.

use sketch_hash::{HashKey, SeedStream, sign_low_bit};

/// Multiply-shift over the two 32-bit halves of a key, strongly universal: 64-bit keys to 32-bit hashes \[D96\].
///
/// `h(x) = ⌊((a₀ · low(x) + a₁ · high(x) + c) mod 2⁶⁴) / 2³²⌋` with `a₀`, `a₁` and `c` uniform on 64 bits. For two different keys
/// the pair of hashes is exactly uniform on 2⁶⁴ values, so all bits of one hash are independent as well.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowHash {
    low: u64,
    high: u64,
    constant: u64,
}

impl RowHash {
    /// Member number `index` of the family under `key`; members with different numbers are independent.
    pub(crate) fn new(key: HashKey, index: u64) -> Self {
        let mut seed = SeedStream::new(key, "countsketch-dp row", index);
        Self { low: seed.next_word(), high: seed.next_word(), constant: seed.next_word() }
    }

    /// The hash of `key`, 32 uniform bits.
    #[inline]
    pub(crate) const fn hash(self, key: u64) -> u64 {
        halves_multiply_shift([self.low, self.high, self.constant], key, 32, 64, 32)
    }

    /// [`hash`](Self::hash) in the type of its size.
    #[expect(clippy::inline_always, reason = "the batch compiles it once for each instruction set")]
    #[expect(clippy::cast_possible_truncation, reason = "the family gives 32 bits")]
    #[inline(always)]
    pub(crate) const fn hash_word(self, key: u64) -> u32 {
        halves_multiply_shift([self.low, self.high, self.constant], key, 32, 64, 32) as u32
    }
}

/// The bucket, from the highest of 32 bits, and the sign, from the lowest.
#[inline]
pub(crate) fn place(hash: u64, width: u64) -> (usize, i64) {
    // A row has at most 2^24 buckets.
    (usize::try_from((hash * width) >> 32).unwrap_or(usize::MAX), sign_low_bit(hash))
}

/// The family at any word size, so that tests can enumerate a small one: keys of two halves of `half` bits, `word` bits to
/// compute with, the top `out` of them as the hash.
#[expect(clippy::inline_always, reason = "the batch compiles it once for each instruction set")]
#[inline(always)]
const fn halves_multiply_shift([low, high, constant]: [u64; 3], key: u64, half: u32, word: u32, out: u32) -> u64 {
    let (first, second) = (key & ((1 << half) - 1), key >> half);
    let sum = low.wrapping_mul(first).wrapping_add(high.wrapping_mul(second)).wrapping_add(constant);
    (sum & (u64::MAX >> (64 - word))) >> (word - out)
}

/// A bucket is below 2²⁴.
#[expect(clippy::inline_always, reason = "the batch compiles it once for each instruction set")]
#[inline(always)]
pub(crate) const fn bucket_of(hash: u64, width: u64) -> u32 {
    ((hash * width) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys of two halves of 2 bits, hashes of 3 bits: the smallest word the theorem allows is 2 + 3 − 1 = 4.
    #[test]
    fn two_different_keys_have_exactly_independent_hashes() {
        let members: Vec<[u64; 3]> = (0..16 * 16 * 16).map(|n| [n % 16, n / 16 % 16, n / 256]).collect();
        for (x, y) in (0..16).flat_map(|x| (0..x).map(move |y| (x, y))) {
            let mut pairs = [[0; 8]; 8];
            for &member in &members {
                let [hash_x, hash_y] =
                    [x, y].map(|key| usize::try_from(halves_multiply_shift(member, key, 2, 4, 3)).unwrap());
                pairs[hash_x][hash_y] += 1;
            }
            assert_eq!(pairs, [[64; 8]; 8], "keys {x} and {y}");
        }
    }
}
