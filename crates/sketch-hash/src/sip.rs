//! SipHash-1-3 of one 64-bit word, written so that a loop over words vectorises.
#![expect(clippy::inline_always, reason = "a step that is not inlined into the loop would stop it from vectorising")]

use crate::word::{high_word, low_word};

/// The four state words of SipHash after its key is absorbed, before any data.
#[derive(Clone, Copy)]
pub(crate) struct SipState {
    v: [u64; 4],
}

impl SipState {
    /// State for 64-bit output. `key` is read as two little-endian words.
    pub(crate) fn new(key: [u8; 16]) -> Self {
        let key = u128::from_le_bytes(key);
        let [k0, k1] = [low_word(key), high_word(key)];
        Self {
            v: [
                k0 ^ 0x736f_6d65_7073_6575,
                k1 ^ 0x646f_7261_6e64_6f6d,
                k0 ^ 0x6c79_6765_6e65_7261,
                k1 ^ 0x7465_6462_7974_6573,
            ],
        }
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

    /// Absorbs one message block: one round, the `1` of SipHash-1-3.
    #[inline(always)]
    fn absorb(&mut self, block: u64) {
        self.v[3] ^= block;
        self.round();
        self.v[0] ^= block;
    }

    /// Three rounds, the `3` of SipHash-1-3, and the sum of the state.
    #[inline(always)]
    fn squeeze(&mut self) -> u64 {
        self.round();
        self.round();
        self.round();
        self.v[0] ^ self.v[1] ^ self.v[2] ^ self.v[3]
    }

    /// SipHash-1-3 of the eight little-endian bytes of `word`.
    #[inline(always)]
    pub(crate) fn hash64_word(mut self, word: u64) -> u64 {
        self.absorb(word);
        self.absorb(8 << 56);
        self.v[2] ^= 0xff;
        self.squeeze()
    }

    /// SipHash-1-3 with 128-bit output of the eight little-endian bytes of `word`.
    #[inline(always)]
    pub(crate) fn hash128_word(mut self, word: u64) -> [u64; 2] {
        self.v[1] ^= 0xee;
        self.absorb(word);
        self.absorb(8 << 56);
        self.v[2] ^= 0xee;
        let first = self.squeeze();
        self.v[1] ^= 0xdd;
        [first, self.squeeze()]
    }
}
