//! Which items a key keeps.

use core::fmt;

use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use zeroize::Zeroizing;

use super::Sampling;

/// The coins of a [`SubsampleKey`](crate::SubsampleKey) at a rate.
///
/// The coin of an item with the 128-bit hash `(a, b)` is the first 64-bit word of the `ChaCha20` block with block counter `b` and
/// nonce `a`; the item is kept when it is below the numerator of the [rate](crate::SampleRate). So at two rates under one key
/// the smaller sample is part of the larger one. A coin takes a third of a microsecond.
///
/// # Privacy
/// As secret as the key. Wiped when dropped.
pub struct Subsampler {
    key: Zeroizing<[u8; 32]>,
    sampling: Sampling,
}

impl fmt::Debug for Subsampler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subsampler").field("sampling", &self.sampling).finish_non_exhaustive()
    }
}

impl Subsampler {
    pub(super) const fn new(key: Zeroizing<[u8; 32]>, sampling: Sampling) -> Self {
        Self { key, sampling }
    }

    /// Rate and name of the key.
    #[must_use]
    pub const fn sampling(&self) -> Sampling {
        self.sampling
    }

    /// Whether the item with this hash is kept. A hash of 64 bits takes a constant beside it.
    #[must_use]
    pub fn keeps(&self, hash: [u64; 2]) -> bool {
        self.toss(&mut self.cipher(), hash)
    }

    /// One word for every hash: 1 if the item is kept, else 0. As secret as the hashes: wiped when dropped.
    #[must_use]
    pub fn keeps_all(&self, hashes: impl IntoIterator<Item = [u64; 2]>) -> Zeroizing<Vec<u64>> {
        let mut cipher = self.cipher();
        let hashes = hashes.into_iter();
        // Of the final length at once, so that no copy is left behind.
        let mut kept = Zeroizing::new(Vec::with_capacity(hashes.size_hint().0));
        kept.extend(hashes.map(|hash| u64::from(self.toss(&mut cipher, hash))));
        kept
    }

    fn cipher(&self) -> ChaCha20Rng {
        ChaCha20Rng::from_seed(*self.key)
    }

    fn toss(&self, cipher: &mut ChaCha20Rng, [nonce, counter]: [u64; 2]) -> bool {
        cipher.set_stream(nonce);
        cipher.set_block_pos(counter);
        cipher.next_u64() < self.sampling.rate.numerator()
    }
}

#[cfg(test)]
mod tests {
    use crate::{SampleRate, SubsampleKey};

    /// The block function of `ChaCha20` from its definition (Bernstein 2008), first word pair only.
    fn block(key: &[u8; 32], [nonce, counter]: [u64; 2]) -> u64 {
        let halves = |word: u64| [(word & 0xffff_ffff).try_into().unwrap(), u32::try_from(word >> 32).unwrap()];
        let mut state = [0_u32; 16];
        for (word, bytes) in state.iter_mut().zip(b"expand 32-byte k".chunks(4).chain(key.chunks(4))) {
            *word = u32::from_le_bytes(bytes.try_into().unwrap());
        }
        [state[12], state[13]] = halves(counter);
        [state[14], state[15]] = halves(nonce);
        let start = state;
        let mut quarter = |a: usize, b: usize, c: usize, d: usize| {
            for (x, y, z, turn) in [(a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)] {
                state[x] = state[x].wrapping_add(state[y]);
                state[z] = (state[z] ^ state[x]).rotate_left(turn);
            }
        };
        for _ in 0..10 {
            for [a, b, c, d] in [[0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15]] {
                quarter(a, b, c, d);
            }
            for [a, b, c, d] in [[0, 5, 10, 15], [1, 6, 11, 12], [2, 7, 8, 13], [3, 4, 9, 14]] {
                quarter(a, b, c, d);
            }
        }
        let word = |place: usize| u64::from(state[place].wrapping_add(start[place]));
        word(0) | word(1) << 32
    }

    #[test]
    fn coins_are_blocks_of_the_cipher_at_any_hash() {
        // RFC 7539, appendix A.1, test vector 1: key, counter and nonce zero.
        assert_eq!(block(&[0; 32], [0, 0]), u64::from_le_bytes([0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90]));
        let half = SampleRate::new(0.5).unwrap();
        for key in [[0; 32], [7; 32], core::array::from_fn(|place| u8::try_from(place).unwrap())] {
            let sampler = SubsampleKey::from_bytes(key).sampler(half);
            let hashes = [[0, 0], [1, u64::MAX], [u64::MAX, u64::MAX], [u64::MAX, 5], [1 << 63, (1 << 32) - 1]];
            let together = sampler.keeps_all(hashes);
            for (hash, kept) in hashes.into_iter().zip(together.iter()) {
                let expected = block(&sampler.key, hash) < 1 << 63;
                assert_eq!((sampler.keeps(hash), *kept), (expected, u64::from(expected)), "{hash:?}");
            }
        }
    }

    #[test]
    fn names_and_coins_come_from_different_bits_of_one_block() {
        let key = [9; 32];
        let label = u64::from_le_bytes(*b"subsampl");
        let sampler = SubsampleKey::from_bytes(key).sampler(SampleRate::new(0.1).unwrap());
        assert_eq!(u64::from_le_bytes(sampler.key[..8].try_into().unwrap()), block(&key, [label, 0]));
        let id = sampler.sampling().key.to_bytes();
        assert!(!sampler.key.windows(16).any(|window| window == id) && !key.starts_with(&id));
        assert_ne!(SubsampleKey::from_bytes([8; 32]).id(), SubsampleKey::from_bytes(key).id());
    }

    #[test]
    fn the_share_kept_is_the_rate_and_smaller_samples_are_parts_of_larger_ones() {
        let key = SubsampleKey::from_bytes([3; 32]);
        let rates = [0.3, 0.05].map(|rate| SampleRate::new(rate).unwrap());
        let [large, small] = rates.map(|rate| key.sampler(rate));
        let hashes: Vec<[u64; 2]> =
            (0..40_000_u64).map(|item| [item.wrapping_mul(0x9e37_79b9_7f4a_7c15), item]).collect();
        let [in_large, in_small] = [&large, &small].map(|sampler| sampler.keeps_all(hashes.iter().copied()));
        assert!(in_large.iter().zip(in_small.iter()).all(|(large, small)| large >= small));
        for (kept, rate) in [(in_large, 0.3_f64), (in_small, 0.05)] {
            let found = f64::from(u32::try_from(kept.iter().sum::<u64>()).unwrap());
            let deviation = (40_000.0 * rate * (1.0 - rate)).sqrt();
            // 4.9 standard deviations: false alarm 1e-6.
            assert!((found - 40_000.0 * rate).abs() < 4.9 * deviation, "{found} at {rate}");
        }
    }

    #[test]
    fn nothing_secret_is_shown() {
        let sampler = SubsampleKey::from_bytes([0xab; 32]).sampler(SampleRate::new(0.1).unwrap());
        let text = format!("{sampler:?}");
        let secret = format!("{:08x}", u32::from_be_bytes(sampler.key[..4].try_into().unwrap()));
        assert!(text.contains(&sampler.sampling().key.to_string()) && !text.contains(&secret), "{text}");
    }
}
