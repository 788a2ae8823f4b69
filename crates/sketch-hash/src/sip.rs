//! SipHash-1-3 \[AB12\], written so that a loop over inputs vectorises. Tests pin it to the `siphasher` crate.
#![expect(clippy::inline_always, reason = "a step that is not inlined into the loop would stop it from vectorising")]

use crate::word::{high_word, low_word};

/// The four state words of SipHash.
#[derive(Clone, Copy)]
pub(crate) struct SipState {
    v: [u64; 4],
}

impl SipState {
    /// The state before any data, for 64-bit output.
    pub(crate) const fn new(key: [u8; 16]) -> Self {
        let key = u128::from_le_bytes(key);
        let [k0, k1] = [low_word(key), high_word(key)];
        // The ASCII text "somepseudorandomlygeneratedbytes".
        Self {
            v: [
                k0 ^ 0x736f_6d65_7073_6575,
                k1 ^ 0x646f_7261_6e64_6f6d,
                k0 ^ 0x6c79_6765_6e65_7261,
                k1 ^ 0x7465_6462_7974_6573,
            ],
        }
    }

    /// The same key for 128-bit output.
    #[inline(always)]
    pub(crate) fn wide(mut self) -> Self {
        self.v[1] ^= 0xee;
        self
    }

    /// One `SipRound`.
    #[inline(always)]
    fn round(&mut self) {
        let [v0, v1, v2, v3] = &mut self.v;
        *v0 = v0.wrapping_add(*v1);
        *v2 = v2.wrapping_add(*v3);
        *v1 = v1.rotate_left(13) ^ *v0;
        *v3 = v3.rotate_left(16) ^ *v2;
        *v0 = v0.rotate_left(32);
        *v2 = v2.wrapping_add(*v1);
        *v0 = v0.wrapping_add(*v3);
        *v1 = v1.rotate_left(17) ^ *v2;
        *v3 = v3.rotate_left(21) ^ *v0;
        *v2 = v2.rotate_left(32);
    }

    /// The state after one more message block: one round, the `1` of SipHash-1-3.
    #[inline(always)]
    pub(crate) fn absorb(mut self, block: u64) -> Self {
        self.v[3] ^= block;
        self.round();
        self.v[0] ^= block;
        self
    }

    /// The state after the eight bytes of `word` and SipHash's last block, which holds their number.
    #[inline(always)]
    fn absorb_word(self, word: u64) -> Self {
        self.absorb(word).absorb(8 << 56)
    }

    /// The state after all of `bytes` and SipHash's last block.
    #[inline(always)]
    fn absorb_bytes(self, bytes: &[u8]) -> Self {
        let blocks = bytes.as_chunks::<8>().0;
        let state = blocks.iter().fold(self, |state, block| state.absorb(u64::from_le_bytes(*block)));
        state.absorb(last_block(bytes))
    }

    /// `other` if `condition` holds, else this state.
    #[inline(always)]
    pub(crate) fn or_if(self, condition: bool, other: Self) -> Self {
        let [a0, a1, a2, a3] = self.v;
        let [b0, b1, b2, b3] = other.v;
        // Word by word, which becomes a blend of vectors.
        let choose = |a, b| if condition { b } else { a };
        Self { v: [choose(a0, b0), choose(a1, b1), choose(a2, b2), choose(a3, b3)] }
    }

    /// Three rounds, the `3` of SipHash-1-3, and the sum of the state.
    #[inline(always)]
    fn squeeze(&mut self) -> u64 {
        self.round();
        self.round();
        self.round();
        self.v[0] ^ self.v[1] ^ self.v[2] ^ self.v[3]
    }

    /// The 64-bit hash of what was absorbed.
    #[inline(always)]
    pub(crate) fn finish64(mut self) -> u64 {
        self.v[2] ^= 0xff;
        self.squeeze()
    }

    /// The 128-bit hash of what was absorbed into a [`wide`](Self::wide) state.
    #[inline(always)]
    pub(crate) fn finish128(mut self) -> [u64; 2] {
        self.v[2] ^= 0xee;
        let first = self.squeeze();
        self.v[1] ^= 0xdd;
        [first, self.squeeze()]
    }

    /// SipHash-1-3 of `bytes`.
    #[inline]
    pub(crate) fn hash64(self, bytes: &[u8]) -> u64 {
        self.absorb_bytes(bytes).finish64()
    }

    /// SipHash-1-3 of `bytes`, 128-bit output.
    #[inline]
    pub(crate) fn hash128(self, bytes: &[u8]) -> [u64; 2] {
        self.wide().absorb_bytes(bytes).finish128()
    }

    /// SipHash-1-3 of the eight little-endian bytes of `word`.
    #[inline(always)]
    pub(crate) fn hash64_word(self, word: u64) -> u64 {
        self.absorb_word(word).finish64()
    }

    /// SipHash-1-3 of the eight little-endian bytes of `word`, 128-bit output.
    #[inline(always)]
    pub(crate) fn hash128_word(self, word: u64) -> [u64; 2] {
        self.wide().absorb_word(word).finish128()
    }
}

/// SipHash's last block: the bytes behind the whole blocks, and the length modulo 256 in the highest byte.
#[inline(always)]
pub(crate) fn last_block(bytes: &[u8]) -> u64 {
    let length = (bytes.len() as u64) << 56;
    let rest = bytes.len() % 8;
    if let Some(tail) = bytes.last_chunk::<8>() {
        // The rest is the upper part of the last eight bytes; two shifts, as one by 64 is not defined.
        return u64::from_le_bytes(*tail) >> 8 >> (8 * (7 - rest)) | length;
    }
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)) | length
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;
    use siphasher::{sip, sip128};

    use super::SipState;

    /// Written by `make_vectors.py`: messages of 0 to 63 counting bytes under a key of counting bytes.
    const VECTORS: &str = include_str!("../tests/golden/siphash.json");

    fn word(value: &Value) -> u64 {
        u64::from_str_radix(value.as_str().unwrap(), 16).unwrap()
    }

    #[test]
    fn vectors_of_an_independent_implementation_are_met() {
        let vectors: Value = serde_json::from_str(VECTORS).unwrap();
        let state = SipState::new(core::array::from_fn(|i| u8::try_from(i).unwrap()));
        let message: Vec<u8> = (0..64).collect();
        for len in 0..64 {
            assert_eq!(state.hash64(&message[..len]), word(&vectors["hash64"][len]), "{len} bytes");
            let wide = state.hash128(&message[..len]);
            assert_eq!(wide, [0, 1].map(|half| word(&vectors["hash128"][len][half])), "{len} bytes");
        }
    }

    proptest! {
        #[test]
        fn the_siphasher_crate_agrees(key: [u8; 16], bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let state = SipState::new(key);
            prop_assert_eq!(state.hash64(&bytes), sip::SipHasher13::new_with_key(&key).hash(&bytes));
            let (first, second) = sip128::SipHasher13::new_with_key(&key).hash(&bytes).as_u64();
            prop_assert_eq!(state.hash128(&bytes), [first, second]);
        }

        #[test]
        fn a_word_hashes_as_its_bytes(key: [u8; 16], word: u64) {
            let state = SipState::new(key);
            prop_assert_eq!(state.hash64_word(word), state.hash64(&word.to_le_bytes()));
            prop_assert_eq!(state.hash128_word(word), state.hash128(&word.to_le_bytes()));
        }
    }
}
