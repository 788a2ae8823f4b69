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

/// One step of `SplitMix64` [SLF14].
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
