//! The generator of real noise.

use core::convert::Infallible;
use core::fmt;

use chacha20::variants::Legacy;
use chacha20::{ChaCha20Rng, ChaChaCore, R20};
use rand_core::block::Generator;
use rand_core::{Rng, SeedableRng, TryCryptoRng, TryRng};
use zeroize::{Zeroize, Zeroizing};

use crate::source::sealed::Sealed;
use crate::{EntropyError, NoiseSource};

/// 32-bit words that one call of the cipher gives.
const CALL: usize = 64;
/// Calls of the cipher in one refill: 4 KiB, the next key included.
const CALLS: usize = 16;
/// 32-bit words of the key.
const KEY: usize = 8;
/// 64-bit words that one refill leaves to hand out.
const BUFFER: usize = (CALL * CALLS - KEY) / 2;

/// `ChaCha20` keyed by the operating system: the generator for real releases.
///
/// - The 256-bit key comes from the operating system, and construction fails where there is none to be had.
/// - Keystream is made 4 KiB at a time; its first 32 bytes become the next key, and every word is overwritten as it is
///   handed out (fast key erasure). A captured state tells nothing about noise drawn before.
/// - [`begin_release`](NoiseSource::begin_release) mixes 32 fresh bytes into the key, so that two copies of a process
///   (a fork, a restored snapshot) do not draw the same noise. As a second guard a refill notices a changed process id.
/// - Key and keystream are wiped on drop, are not shown by `Debug`, and cannot be cloned or serialised.
///
/// # Examples
/// ```
/// # #[cfg(feature = "os-rng")] {
/// use dp_noise::{NoiseRng, NoiseSource};
/// let mut noise = NoiseRng::from_os()?;
/// noise.begin_release()?;
/// let mut words = [0; 4];
/// noise.fill_words(&mut words);
/// assert!(!noise.is_insecure());
/// # }
/// # Ok::<(), dp_noise::EntropyError>(())
/// ```
pub struct NoiseRng {
    /// One heap allocation that never grows, so that moving the generator leaves no copy of the secret behind.
    secret: Box<Secret>,
    origin: Origin,
}

/// Where the key came from, hence who answers for its being used once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// The operating system; the key belongs to the process with this id.
    #[cfg_attr(not(feature = "os-rng"), expect(dead_code, reason = "made only where the system's source is used"))]
    System { process: u32 },
    /// A caller of `hazmat`.
    #[cfg_attr(not(feature = "hazmat"), expect(dead_code, reason = "made only by hazmat"))]
    Caller,
}

struct Secret {
    key: [u8; 32],
    words: [u64; BUFFER],
    /// The first word not handed out yet; the ones before it are zero.
    next: usize,
}

impl NoiseRng {
    /// A generator with a fresh key from the operating system.
    ///
    /// # Errors
    /// [`EntropyError`] when the operating system gives no random bytes.
    #[cfg(feature = "os-rng")]
    pub fn from_os() -> Result<Self, EntropyError> {
        let key = crate::entropy::fresh_key()?;
        Ok(Self::with_key(&key, Origin::System { process: std::process::id() }))
    }

    /// A generator with a key of the caller's, say from an own secure generator. Needs feature `hazmat`.
    ///
    /// # Privacy
    /// The caller answers for the key being secret, uniform and used for one generator only: the same key gives the
    /// same noise, and two releases with equal noise tell their exact difference.
    /// [`begin_release`](NoiseSource::begin_release) mixes nothing into such a generator. The caller's own copy of the
    /// key is the caller's to wipe.
    #[cfg(feature = "hazmat")]
    #[must_use]
    pub fn from_key(key: [u8; 32]) -> Self {
        Self::with_key(&Zeroizing::new(key), Origin::Caller)
    }

    /// A second, independent generator, say for another thread; it is keyed with 32 fresh bytes of keystream.
    #[must_use]
    pub fn split(&mut self) -> Self {
        let mut key = Zeroizing::new([0; 32]);
        self.fill_bytes(key.as_mut_slice());
        Self::with_key(&key, self.origin)
    }

    fn with_key(key: &Zeroizing<[u8; 32]>, origin: Origin) -> Self {
        // Boxed before the key is written, so that no copy of it is built on the stack.
        let mut secret = Box::new(Secret { key: [0; 32], words: [0; BUFFER], next: BUFFER });
        secret.key.copy_from_slice(key.as_slice());
        Self { secret, origin }
    }

    #[cold]
    fn refill(&mut self) {
        if let Origin::System { process } = &mut self.origin {
            let now = std::process::id();
            if *process != now {
                // Forked since the key was made. The id alone separates the two streams, whatever the system says.
                *process = now;
                self.secret.rekey(now);
                #[cfg(feature = "os-rng")]
                if let Ok(fresh) = crate::entropy::fresh_key() {
                    self.secret.mix(&fresh);
                }
            }
        }
        self.secret.refill();
    }
}

impl Secret {
    /// Makes keystream; its first 32 bytes become the next key.
    fn refill(&mut self) {
        let mut cipher = ChaChaCore::<R20, Legacy>::from_seed(self.key);
        let mut call = Zeroizing::new([0_u32; CALL]);
        let mut filled = 0;
        for index in 0..CALLS {
            cipher.generate(&mut call);
            let skip = if index == 0 { KEY } else { 0 };
            for (bytes, word) in self.key.chunks_exact_mut(4).zip(&call[..skip]) {
                bytes.copy_from_slice(&word.to_le_bytes());
            }
            let pairs = call[skip..].chunks_exact(2);
            let count = pairs.len();
            for (word, pair) in self.words[filled..filled + count].iter_mut().zip(pairs) {
                *word = u64::from(pair[0]) | (u64::from(pair[1]) << 32);
            }
            filled += count;
        }
        self.next = 0;
    }

    /// Replaces the key by one derived from it for this process.
    fn rekey(&mut self, process: u32) {
        let mut cipher = ChaCha20Rng::from_seed(self.key);
        cipher.set_stream(u64::from(process) | (1 << 63));
        cipher.fill_bytes(&mut self.key);
    }

    /// Mixes fresh bytes into the key and forgets the keystream made with the old one.
    #[cfg_attr(not(feature = "os-rng"), expect(dead_code, reason = "fresh bytes come from the operating system"))]
    fn mix(&mut self, fresh: &Zeroizing<[u8; 32]>) {
        for (byte, new) in self.key.iter_mut().zip(fresh.iter()) {
            *byte ^= new;
        }
        self.words.zeroize();
        self.next = BUFFER;
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.key.zeroize();
        self.words.zeroize();
    }
}

impl fmt::Debug for NoiseRng {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NoiseRng { .. }")
    }
}

impl TryRng for NoiseRng {
    type Error = Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let [a, b, c, d, ..] = self.next_u64().to_le_bytes();
        Ok(u32::from_le_bytes([a, b, c, d]))
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        if self.secret.next >= BUFFER {
            self.refill();
        }
        let word = core::mem::take(&mut self.secret.words[self.secret.next]);
        self.secret.next += 1;
        Ok(word)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.next_u64().to_le_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}

impl TryCryptoRng for NoiseRng {}

impl Sealed for NoiseRng {}

impl NoiseSource for NoiseRng {
    fn begin_release(&mut self) -> Result<(), EntropyError> {
        match &mut self.origin {
            #[cfg(feature = "os-rng")]
            Origin::System { process } => {
                let fresh = crate::entropy::fresh_key()?;
                *process = std::process::id();
                self.secret.mix(&fresh);
            }
            #[cfg(not(feature = "os-rng"))]
            Origin::System { .. } => {}
            Origin::Caller => {}
        }
        Ok(())
    }

    fn is_insecure(&self) -> bool {
        false
    }

    fn fill_words(&mut self, words: &mut [u64]) {
        let mut rest = words;
        while !rest.is_empty() {
            if self.secret.next >= BUFFER {
                self.refill();
            }
            let ready = &mut self.secret.words[self.secret.next..];
            let count = ready.len().min(rest.len());
            let (now, later) = rest.split_at_mut(count);
            now.copy_from_slice(&ready[..count]);
            ready[..count].fill(0);
            self.secret.next += count;
            rest = later;
        }
    }
}

#[cfg(all(test, feature = "hazmat", feature = "os-rng"))]
mod tests;
