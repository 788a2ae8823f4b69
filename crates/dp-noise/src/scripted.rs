//! A noise source that reads out a script, so that tests can go through every possible draw.

use core::convert::Infallible;
use std::collections::VecDeque;

use rand_core::{Rng, TryCryptoRng, TryRng};

use crate::source::sealed::Sealed;
use crate::{EntropyError, NoiseSource};

/// Hands out the given words in order; running out of them fails the test.
#[derive(Debug)]
pub(crate) struct Script(VecDeque<u64>);

impl Script {
    pub(crate) fn new(words: impl IntoIterator<Item = u64>) -> Self {
        Self(words.into_iter().collect())
    }

    /// How many words are left.
    pub(crate) fn left(&self) -> usize {
        self.0.len()
    }
}

impl TryRng for Script {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        unreachable!("the samplers draw whole words")
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.0.pop_front().expect("the script is long enough"))
    }

    fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Infallible> {
        unreachable!("the samplers draw whole words")
    }
}

impl TryCryptoRng for Script {}

impl Sealed for Script {}

impl NoiseSource for Script {
    fn begin_release(&mut self) -> Result<(), EntropyError> {
        Ok(())
    }

    fn is_insecure(&self) -> bool {
        true
    }

    fn fill_words(&mut self, words: &mut [u64]) {
        words.fill_with(|| self.next_u64());
    }
}

/// `SplitMix64`, enough to make scripts that look random.
pub(crate) fn random_words(seed: u64) -> impl Iterator<Item = u64> {
    (1..).map(move |n: u64| {
        let mut z = seed.wrapping_add(n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    })
}

/// `digits` words in which lane `l` holds the binary digits of `l`, most significant first: over all lanes (and for
/// fewer than six digits several times over) every sequence of random digits occurs equally often.
pub(crate) fn all_digit_sequences(digits: u32) -> Vec<u64> {
    (0..digits)
        .map(|place| (0..64).fold(0, |word, lane: u64| word | (((lane >> (digits - 1 - place)) & 1) << lane)))
        .collect()
}
