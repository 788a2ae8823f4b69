//! Reproducible noise for tests and simulation. **Not private.**
//!
//! Behind the feature `hazmat`, which no shipped package turns on. Anything released with [`InsecureTestRng`] says so
//! in its bytes, and reading it as a private sketch takes an explicit call.

use core::convert::Infallible;

use rand_core::{Rng, SeedableRng, TryCryptoRng, TryRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::source::sealed::Sealed;
use crate::{EntropyError, NoiseSource};

/// xoshiro256++ seeded with a number: the same seed gives the same noise, on every platform and in every version.
///
/// # Privacy
/// None. Whoever knows or guesses the seed removes the noise, and so does whoever sees some of the output.
///
/// # Examples
/// ```
/// use dp_noise::NoiseSource;
/// use dp_noise::hazmat::InsecureTestRng;
/// use dp_noise::rand_core::Rng;
/// let mut noise = InsecureTestRng::from_u64(42);
/// assert_eq!(noise.next_u64(), InsecureTestRng::from_u64(42).next_u64());
/// assert!(noise.is_insecure());
/// ```
#[derive(Clone, Debug)]
pub struct InsecureTestRng(Xoshiro256PlusPlus);

impl InsecureTestRng {
    /// A generator whose 256-bit state is the first four outputs of `SplitMix64` started at `seed`.
    ///
    /// The expansion is ours and value-stable; it does not depend on what an outside crate does with small seeds.
    #[must_use]
    pub fn from_u64(seed: u64) -> Self {
        let mut state = [0; 32];
        let mut counter = seed;
        for bytes in state.chunks_exact_mut(8) {
            bytes.copy_from_slice(&split_mix(&mut counter).to_le_bytes());
        }
        Self(Xoshiro256PlusPlus::from_seed(state))
    }

    /// Skips 2¹²⁸ outputs, so that workers started one jump apart never overlap.
    ///
    /// # Examples
    /// ```
    /// use dp_noise::hazmat::InsecureTestRng;
    /// let mut next = InsecureTestRng::from_u64(42);
    /// let workers: Vec<InsecureTestRng> = (0..4)
    ///     .map(|_| {
    ///         let worker = next.clone();
    ///         next.jump();
    ///         worker
    ///     })
    ///     .collect();
    /// assert_eq!(workers.len(), 4);
    /// ```
    pub fn jump(&mut self) {
        self.0.jump();
    }
}

/// One step of `SplitMix64` \[SLF14\].
fn split_mix(counter: &mut u64) -> u64 {
    *counter = counter.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *counter;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl TryRng for InsecureTestRng {
    type Error = Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.0.try_next_u32()
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0.try_next_u64()
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.try_fill_bytes(bytes)
    }
}

/// Not a secure generator: the marker is needed because [`NoiseSource`] asks for it, and `hazmat` is the warning.
impl TryCryptoRng for InsecureTestRng {}

impl Sealed for InsecureTestRng {}

impl NoiseSource for InsecureTestRng {
    /// Does nothing: reproducible noise takes no fresh bytes.
    fn begin_release(&mut self) -> Result<(), EntropyError> {
        Ok(())
    }

    /// Always true.
    fn is_insecure(&self) -> bool {
        true
    }

    fn fill_words(&mut self, words: &mut [u64]) {
        for word in words {
            *word = self.0.next_u64();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seed_expansion_is_splitmix64() {
        // The first outputs for seed 1234567, published with several implementations of the generator.
        let mut counter = 1_234_567;
        let outputs: Vec<u64> = (0..5).map(|_| split_mix(&mut counter)).collect();
        assert_eq!(
            outputs,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423,
                4_593_380_528_125_082_431,
                16_408_922_859_458_223_821
            ]
        );
    }

    /// xoshiro256++ from its definition [BV21].
    fn step(s: &mut [u64; 4]) -> u64 {
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    #[test]
    fn the_stream_is_xoshiro_started_at_four_splitmix_outputs() {
        let mut counter = 42;
        let mut state = [0; 4].map(|_: u64| split_mix(&mut counter));
        let mut noise = InsecureTestRng::from_u64(42);
        let mut words = [0; 100];
        noise.fill_words(&mut words);
        assert_eq!(words, [0; 100].map(|_: u64| step(&mut state)));
        assert_eq!(noise.next_u64(), step(&mut state));
    }

    #[test]
    fn a_jump_leaves_the_stream_and_adds_up() {
        let [mut one, mut two] = [0, 1].map(|_| InsecureTestRng::from_u64(1));
        one.jump();
        let ahead: Vec<u64> = (0..100).map(|_| one.next_u64()).collect();
        assert!((0..10_000).all(|_| !ahead.contains(&two.next_u64())));
        // Jumping commutes with stepping: it is a fixed number of steps.
        two = InsecureTestRng::from_u64(1);
        two.next_u64();
        two.jump();
        assert_eq!(two.next_u64(), ahead[1]);
    }

    #[test]
    fn a_test_generator_says_that_it_is_insecure() {
        let mut noise = InsecureTestRng::from_u64(0);
        noise.begin_release().unwrap();
        assert!(noise.is_insecure());
        assert_eq!(noise.next_u64(), InsecureTestRng::from_u64(0).next_u64());
    }
}
