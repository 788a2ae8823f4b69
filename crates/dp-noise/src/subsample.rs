//! Secret sub-sampling: the key that decides which items are kept, and who must not have it.

mod coins;
mod rate;

use core::fmt;

use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use zeroize::Zeroizing;

pub use coins::Subsampler;
pub use rate::{SampleRate, SampledNoise, loss_under_one_key};

/// Stream of the only block that is made with a key itself: ASCII "subsampl".
const LABEL: u64 = u64::from_le_bytes(*b"subsampl");

/// The 256-bit secret that decides which items a sketch keeps.
///
/// An item is kept when a pseudo-random number in `0 .. 2⁶⁴`, a function of the key and of the item's hash, is below a
/// [threshold](SampleRate). Repetitions, deletions and parties with the same key agree on it. The function is the block of
/// `ChaCha20` with a key derived from this one and the 128 bits of the hash in place of counter and nonce: the same assumption that
/// the [noise](crate::NoiseRng) rests on, and none about the public hash of the sketch.
///
/// # Privacy
/// What is released from a secret sample is ε-differentially private with the noise of a larger ε₀ only because **nobody who
/// sees it has the key, then or later**. Analysts and colluding parties must not have it; whoever gets it, even years later,
/// faces ε₀ ([`SampleRate::inner_level`]), for every release under it. Destroy it once no deletion and no further sketch under it is
/// due. The guarantee is computational: as good as the cipher.
///
/// One key for several sketches of a person costs more than the sum of their ε: [`loss_under_one_key`]. Make a fresh key for
/// each release unless sketches have to be merged.
///
/// The bytes are wiped when dropped, are not shown by `Debug`, and cannot be cloned by accident.
///
/// # Examples
/// ```
/// use dp_noise::{SampleRate, SubsampleKey};
/// let key = SubsampleKey::from_bytes([7; 32]); // from a secure generator: SubsampleKey::draw
/// assert_eq!(format!("{key:?}"), format!("SubsampleKey {{ id: {}, .. }}", key.id()));
/// let coins = key.sampler(SampleRate::new(0.25)?);
/// let kept = (0..4000_u64).filter(|&item| coins.keeps([item, 0])).count();
/// assert!((800..1200).contains(&kept), "a thousand, give or take");
/// # Ok::<(), dp_noise::ParameterError>(())
/// ```
pub struct SubsampleKey(Zeroizing<[u8; 32]>);

impl SubsampleKey {
    /// A fresh key from a secure generator.
    ///
    /// # Privacy
    /// A key does not remember its generator. Releases of samples under a key from the insecure test generator are not marked, unlike
    /// those with its noise, and protect at ε₀ only: whoever knows the seed has the key.
    #[must_use]
    pub fn draw<R: crate::NoiseSource + ?Sized>(source: &mut R) -> Self {
        let mut bytes = Zeroizing::new([0; 32]);
        source.fill_bytes(bytes.as_mut_slice());
        Self(bytes)
    }

    /// A key from its 32 bytes. The caller's own copy of them is the caller's to wipe.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// The 32 bytes. Secret.
    #[must_use]
    pub fn to_bytes(&self) -> Zeroizing<[u8; 32]> {
        self.0.clone()
    }

    /// The name of the key, which gives nothing of it away: bits of one block of `ChaCha20` that serve nothing else.
    #[must_use]
    pub fn id(&self) -> SubsampleKeyId {
        self.derive().1
    }

    /// The coins of this key at a rate.
    #[must_use]
    pub fn sampler(&self, rate: SampleRate) -> Subsampler {
        let (coins, key) = self.derive();
        Subsampler::new(coins, Sampling { rate, key })
    }

    /// The key of the coins and the name, from one block.
    fn derive(&self) -> (Zeroizing<[u8; 32]>, SubsampleKeyId) {
        let mut block = Zeroizing::new([0_u8; 48]);
        let mut cipher = ChaCha20Rng::from_seed(*self.0);
        cipher.set_stream(LABEL);
        cipher.fill_bytes(block.as_mut_slice());
        let (mut coins, mut id) = (Zeroizing::new([0; 32]), [0; 16]);
        coins.copy_from_slice(&block[..32]);
        id.copy_from_slice(&block[32..]);
        (coins, SubsampleKeyId(id))
    }
}

impl fmt::Debug for SubsampleKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SubsampleKey {{ id: {}, .. }}", self.id())
    }
}

/// The public name of a [`SubsampleKey`]: tells whether two sketches were sampled with one key. Displayed as 32 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubsampleKeyId([u8; 16]);

impl SubsampleKeyId {
    /// From its bytes, as a sketch states them.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0
    }
}

impl fmt::Display for SubsampleKeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for SubsampleKeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SubsampleKeyId({self})")
    }
}

/// How a sketch was sampled: at which rate and with which key. Sketches of one sampling go together, and no others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sampling {
    /// The rate.
    pub rate: SampleRate,
    /// The name of the key.
    pub key: SubsampleKeyId,
}

impl fmt::Display for Sampling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rate {} with key {}", self.rate, self.key)
    }
}

impl Sampling {
    /// Checks that two sketches were sampled alike, so that they go together.
    ///
    /// # Errors
    /// [`SamplingMismatch`] for another rate or another key: samples of different coins are not samples of one whole.
    pub fn check(self, found: Self) -> Result<(), SamplingMismatch> {
        if self == found { Ok(()) } else { Err(SamplingMismatch { expected: self, found }) }
    }
}

/// Sketches that were sampled at different rates or with different keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SamplingMismatch {
    /// That of the first one.
    pub expected: Sampling,
    /// That of the other one.
    pub found: Sampling,
}

impl fmt::Display for SamplingMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sampling mismatch: expected {}, found {}", self.expected, self.found)
    }
}

impl core::error::Error for SamplingMismatch {}
