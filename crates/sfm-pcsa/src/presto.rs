//! Sketches in the bytes of Presto and Velox.

mod error;
mod flip;
mod last_level;
mod layout;

use sketch_hash::{DefaultHash, Domain, HashAlgorithm, HashId, HashKey, KeyFingerprint, KeyedHash};

pub use error::{PrestoDecodeError, PrestoEncodeError};
pub use layout::looks_like_presto;

use crate::leaf::{Leaf, ReleaseId};
use crate::lineage::{Lineage, Outcome};
use crate::noisy::NoisyBits;
use crate::params::PcsaShape;
use crate::private::SfmSketch;
use crate::sensitive::SensitiveBytes;
use crate::sketch::PcsaSketch;
use crate::unit::Unit;
use layout::Layout;

/// The hash of Presto's SQL functions.
const HASH: HashId = HashId::new(HashAlgorithm::Xxh64Seed0, KeyFingerprint::NO_KEY);

/// What Presto's bytes say before their cells: for programs that do not know yet which kind they read.
///
/// # Examples
/// ```
/// use sfm_pcsa::{PcsaShape, PcsaSketch, PrestoHeader};
/// use sfm_pcsa::sketch_hash::PrestoHash;
/// let bytes = PcsaSketch::new(PcsaShape::DEFAULT, PrestoHash).to_sensitive_presto_bytes()?;
/// let header = PrestoHeader::read(&bytes)?;
/// assert_eq!(header.shape(), PcsaShape::DEFAULT);
/// assert!(!header.is_private());
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrestoHeader {
    shape: PcsaShape,
    flip_probability: f64,
}

impl PrestoHeader {
    /// Reads and checks the whole layout, but keeps only what stands before the cells.
    ///
    /// # Errors
    /// [`PrestoDecodeError`] for bytes that are no sketch of Presto's.
    pub fn read(bytes: &[u8]) -> Result<Self, PrestoDecodeError> {
        let Layout { shape, flip_probability, .. } = Layout::read(bytes)?;
        Ok(Self { shape, flip_probability })
    }

    /// Buckets and levels.
    #[must_use]
    pub const fn shape(&self) -> PcsaShape {
        self.shape
    }

    /// With which probability each cell was inverted, in 0 ..= 1/2.
    #[must_use]
    pub const fn flip_probability(&self) -> f64 {
        self.flip_probability
    }

    /// Whether there is noise at all; without it the bytes are raw state, as sensitive as the data.
    #[must_use]
    pub fn is_private(&self) -> bool {
        self.flip_probability > 0.0
    }
}

impl SfmSketch {
    /// A private sketch that Presto or Velox wrote: what `noisy_approx_set_sfm` returns, cast to `varbinary`.
    ///
    /// It becomes one release, [made elsewhere](Leaf::made_elsewhere), under [`PrestoHash`](sketch_hash::PrestoHash).
    /// Its flip probability is taken exactly, or to the nearest multiple of 2⁻⁶⁴ where it is below 2⁻¹¹. The release's
    /// name is a hash of the content, so that the same sketch read twice is refused by a merge. Beyond that nobody can
    /// tell whether two such sketches were flipped independently: a Presto sketch and a merge that it went into, or a
    /// sketch written by [`to_presto_bytes`](Self::to_presto_bytes) and the one it was written from, must not be put
    /// together.
    ///
    /// Sketches of Velox over text are under no hash at all: it hashes where the text lies in memory. Those over
    /// integers and floating-point numbers agree with Presto's.
    ///
    /// # Privacy
    /// [`epsilon`](Self::epsilon) is the level that the flip probability stands for, rounded up, and says as much as
    /// the writer is trusted. If Presto merged private sketches, it is the level of the merged bits seen alone, while
    /// their data sets paid more; the format does not tell. Therefore
    /// [`epsilon_if_seen_alone`](Self::epsilon_if_seen_alone) is `None`.
    ///
    /// # Errors
    /// [`PrestoDecodeError`] for bytes that are no sketch of Presto's, [`PrestoDecodeError::Raw`] for one without noise,
    /// [`PrestoDecodeError::NoSignal`] and [`PrestoDecodeError::TooLittleNoise`] for noise that is of no use.
    ///
    /// # Examples
    /// ```
    /// use sfm_pcsa::SfmSketch;
    /// // 16 buckets of 2 levels, each cell inverted with probability 1/4.
    /// let bytes = [
    ///     &[7][..], &4_i32.to_le_bytes(), &2_i32.to_le_bytes(), &0.25_f64.to_le_bytes(), &3_i32.to_le_bytes(),
    ///     &[0b1001_1011, 0b0111_1101, 0b0000_0101],
    /// ].concat();
    /// let sketch = SfmSketch::from_presto_bytes(&bytes)?;
    /// assert_eq!(sketch.ones_per_level(), [11, 2]);
    /// assert!((sketch.epsilon() - 3f64.ln()).abs() < 1e-15);
    /// assert!(sketch.leaves()[0].made_elsewhere());
    /// # Ok::<(), sfm_pcsa::PrestoDecodeError>(())
    /// ```
    pub fn from_presto_bytes(bytes: &[u8]) -> Result<Self, PrestoDecodeError> {
        let Layout { shape, flip_probability, words } = Layout::read(bytes)?;
        if flip_probability <= 0.0 {
            return Err(PrestoDecodeError::Raw);
        }
        let (noise, epsilon) = flip::mechanism(flip_probability)?;
        let leaf = Leaf::from_elsewhere(content_name(shape, flip_probability, &words), noise, epsilon);
        let refused = PrestoDecodeError::FlipProbability { found: flip_probability };
        let outcome = Outcome { channel: leaf.channel().map_err(|_| refused.clone())?, randomised: 0 };
        let bits = NoisyBits::from_parts(shape.cells(), words.to_vec(), Lineage::single(leaf), outcome, false);
        Ok(Self::from_noisy(shape, HASH, bits.map_err(|_| refused)?))
    }

    /// The sketch in Presto's bytes, which its `cardinality` and `merge` functions take (cast from `varbinary`).
    ///
    /// The format holds symmetric noise only. Releases by [`release`](PcsaSketch::release) and merges in the published
    /// form have it; any other sketch is [thinned](Self::symmetrised) first. The flip probability is written as an
    /// `f64`, rounded down: no reader finds a smaller level than the bits have, and the rounding, less than one part in
    /// 2⁵², moves no estimate.
    ///
    /// What the format does not hold is lost: which releases are in the sketch, and the unit of privacy. Presto's own
    /// merge of private sketches has been biased upwards (prestodb/presto#28461), so merge before writing.
    ///
    /// # Privacy
    /// Costs nothing: the same bits in another wrapping.
    ///
    /// # Errors
    /// [`PrestoEncodeError::Hash`] unless the sketch was made with [`PrestoHash`](sketch_hash::PrestoHash): the bytes do
    /// not name their hash, so Presto would take it for its own. [`PrestoEncodeError::Asymmetric`] and
    /// [`PrestoEncodeError::TooMuchNoise`] for channels that the format cannot hold;
    /// [`PrestoEncodeError::InsecureNoise`] for noise of the test generator, a mark that would be lost.
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # #[cfg(feature = "os-rng")] {
    /// use sfm_pcsa::dp_noise::{Epsilon, NoiseRng, Permit};
    /// use sfm_pcsa::sketch_hash::PrestoHash;
    /// use sfm_pcsa::{PcsaShape, PcsaSketch, SfmSketch};
    /// let mut noise = NoiseRng::from_os()?;
    /// let mut release = || {
    ///     let raw = PcsaSketch::new(PcsaShape::DEFAULT, PrestoHash);
    ///     raw.release(Permit::standalone(Epsilon::new(2.0)?), &mut noise).map_err(Box::<dyn core::error::Error>::from)
    /// };
    /// let (a, b) = (release()?, release()?);
    /// let bytes = a.to_presto_bytes()?;
    /// assert_eq!(bytes[0], 7);
    /// assert_eq!(SfmSketch::from_presto_bytes(&bytes)?.ones_per_level(), a.ones_per_level());
    ///
    /// let union = a.merge(&b, Default::default(), &mut noise)?;
    /// assert!(union.to_presto_bytes().is_err(), "an extremal merge is not symmetric");
    /// assert!(union.symmetrised(&mut noise)?.to_presto_bytes().is_ok());
    /// # }
    /// # Ok(())
    /// # }
    /// ```
    pub fn to_presto_bytes(&self) -> Result<Vec<u8>, PrestoEncodeError> {
        if self.insecure_noise() {
            return Err(PrestoEncodeError::InsecureNoise);
        }
        self.presto_bytes()
    }

    /// As [`to_presto_bytes`](Self::to_presto_bytes), but also writes sketches whose noise anybody can repeat.
    ///
    /// # Privacy
    /// For simulations and tests. The bytes do not say that they protect nobody.
    ///
    /// # Errors
    /// As [`to_presto_bytes`](Self::to_presto_bytes).
    #[cfg(feature = "hazmat")]
    pub fn to_presto_bytes_allowing_insecure_noise(&self) -> Result<Vec<u8>, PrestoEncodeError> {
        self.presto_bytes()
    }

    fn presto_bytes(&self) -> Result<Vec<u8>, PrestoEncodeError> {
        check_hash(self.hash_id())?;
        let flip_probability = flip::probability(self.noisy().outcome().channel)?;
        Ok(layout::write(self.shape(), flip_probability, self.noisy().bits()))
    }
}

impl<H: KeyedHash> PcsaSketch<H> {
    /// A sketch that Presto or Velox wrote without noise (flip probability 0, their ε = ∞).
    ///
    /// `hash` is [`PrestoHash`](sketch_hash::PrestoHash), or [`AnyHash`](sketch_hash::AnyHash) holding it.
    ///
    /// # Errors
    /// [`PrestoDecodeError`] for bytes that are no sketch of Presto's, [`PrestoDecodeError::Private`] for one with noise,
    /// [`PrestoDecodeError::Hash`] for another hash.
    ///
    /// # Examples
    /// ```
    /// use sfm_pcsa::sketch_hash::PrestoHash;
    /// use sfm_pcsa::{PcsaShape, PcsaSketch};
    /// let mut raw = PcsaSketch::new(PcsaShape::DEFAULT, PrestoHash);
    /// raw.update(b"alice");
    /// let bytes = raw.to_sensitive_presto_bytes()?;
    /// assert_eq!(PcsaSketch::from_sensitive_presto_bytes(&bytes, PrestoHash)?, raw);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn from_sensitive_presto_bytes(bytes: &[u8], hash: H) -> Result<Self, PrestoDecodeError> {
        let (expected, found) = (HASH, hash.id());
        if expected != found {
            return Err(PrestoDecodeError::Hash { expected, found });
        }
        let Layout { shape, flip_probability, words } = Layout::read(bytes)?;
        if flip_probability > 0.0 {
            return Err(PrestoDecodeError::Private { flip_probability });
        }
        Ok(Self::from_parts(shape, hash, &words, 0, Unit::Item))
    }

    /// The raw sketch in Presto's bytes, with flip probability 0.
    ///
    /// The count of [releases](Self::releases) and the [unit](Self::unit) are not part of the format.
    ///
    /// # Privacy
    /// As sensitive as the data, like [`to_sensitive_bytes`](Self::to_sensitive_bytes). Presto merges such a sketch even
    /// into private ones that were published, which exposes it: [release](Self::release) it first.
    ///
    /// # Errors
    /// [`PrestoEncodeError::Hash`] unless the sketch was made with [`PrestoHash`](sketch_hash::PrestoHash).
    pub fn to_sensitive_presto_bytes(&self) -> Result<SensitiveBytes, PrestoEncodeError> {
        check_hash(self.hash_id())?;
        let words = zeroize::Zeroizing::new(self.to_bits());
        Ok(SensitiveBytes::new(layout::write(self.shape(), 0.0, &words)))
    }
}

fn check_hash(found: HashId) -> Result<(), PrestoEncodeError> {
    if found == HASH { Ok(()) } else { Err(PrestoEncodeError::Hash { expected: HASH, found }) }
}

/// The name of a release that has none of its own: 128 bits of SipHash under a fixed key over the shortest bytes of the
/// content, so that bytes with and without zeros at the end give one name.
fn content_name(shape: PcsaShape, flip_probability: f64, words: &[u64]) -> ReleaseId {
    let hash = DefaultHash::new(HashKey::from_bytes(*b"presto release\0\0"));
    let [low, high] = hash.hash128(Domain::Bytes, &layout::write(shape, flip_probability, words));
    let mut name = [0; 16];
    name[..8].copy_from_slice(&low.to_le_bytes());
    name[8..].copy_from_slice(&high.to_le_bytes());
    ReleaseId::from_bytes(name)
}
