//! The only generators a release accepts.

use rand_core::CryptoRng;

use crate::EntropyError;

pub(crate) mod sealed {
    /// Closes [`NoiseSource`](super::NoiseSource) to other crates.
    pub trait Sealed {}
}

/// A generator whose output may be used as privacy noise.
///
/// The trait is sealed: [`NoiseRng`](crate::NoiseRng) is the implementation for real releases, and the `hazmat`
/// feature adds a reproducible one for tests. A bound on `CryptoRng` alone would let a ChaCha generator seeded with
/// the number 42 pass, and anybody can implement that marker; with the sealed trait the wrong generator does not
/// compile.
///
/// # Privacy
/// A release calls [`begin_release`](Self::begin_release) once before it draws its first noise, and states
/// [`is_insecure`](Self::is_insecure) in what it writes.
pub trait NoiseSource: CryptoRng + sealed::Sealed {
    /// Mixes fresh bytes of the operating system into the key.
    ///
    /// Two processes that continue from one state (a fork, a restored snapshot) would otherwise draw equal noise, and
    /// the difference of two releases with equal noise is exact.
    ///
    /// # Errors
    /// [`EntropyError`] when the operating system gives no random bytes; nothing may be released then.
    fn begin_release(&mut self) -> Result<(), EntropyError>;

    /// Whether the noise can be reproduced by somebody else; true only for the test generator of `hazmat`.
    fn is_insecure(&self) -> bool;

    /// Fills `words` with independent uniform 64-bit words.
    fn fill_words(&mut self, words: &mut [u64]);
}
