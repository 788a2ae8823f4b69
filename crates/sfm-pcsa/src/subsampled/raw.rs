//! The raw sketch of a secret sample.

use core::fmt;

use cardinality_estimators::{Confidence, Estimate};
use dp_noise::{
    Epsilon, NoiseSource, Permit, SampledNoise, Sampling, SamplingMismatch, Subsampler, loss_under_one_key,
};
use sketch_hash::{DefaultHash, Domain, HashId, Item, KeyedHash};

use super::error::SubsampledMergeError;
use super::private::{SubsampledSfmSketch, of_sample};
use crate::error::ReleaseError;
use crate::leaf::multiply_up;
use crate::noisy::add_up;
use crate::params::PcsaShape;
use crate::release::Mechanism;
use crate::sketch::PcsaSketch;
use crate::unit::Unit;

/// Beside the 64 bits of an item's hash, so that coins are functions of 128 bits: ASCII "pcsa".
const BESIDE: u64 = 0x6173_6370;

/// A raw PCSA sketch of the items that a secret key keeps.
///
/// It states rate and name of the key, never the key. Items go in through a [writer](Self::writer) with the key's coins; to merge
/// and to release it no key is needed.
///
/// # Privacy
/// As raw as any other: it tells for every item whether it may be in the set, and, to whoever can guess items, something
/// about the key. Copies are further releases of the same sample: see [`exposure`](Self::exposure).
///
/// # Examples
/// ```
/// # fn main() -> Result<(), Box<dyn core::error::Error>> {
/// # #[cfg(feature = "os-rng")] {
/// use sfm_pcsa::cardinality_estimators::Confidence;
/// use sfm_pcsa::dp_noise::{Epsilon, NoiseRng, Permit, SampleRate, SubsampleKey};
/// use sfm_pcsa::sketch_hash::{DefaultHash, Item};
/// use sfm_pcsa::{PcsaShape, RawSubsampledPcsa};
///
/// let mut noise = NoiseRng::from_os()?;
/// let coins = SubsampleKey::draw(&mut noise).sampler(SampleRate::new(0.05)?);
/// let mut raw: RawSubsampledPcsa =
///     RawSubsampledPcsa::new(PcsaShape::DEFAULT, DefaultHash::default(), coins.sampling());
/// let mut writer = raw.writer(&coins)?;
/// for item in 0..100_000_u64 {
///     writer.update_item(&Item::from(item));
/// }
/// let private = raw.release(Permit::standalone(Epsilon::new(1.0)?), &mut noise)?;
/// let release = private.releases().next().ok_or("one")?;
/// assert_eq!(release.epsilon().get(), 1.0);
/// assert!((release.epsilon_if_key_known().get() - 3.565).abs() < 1e-3);
/// let count = private.estimate(Confidence::P95).value().ok_or("no value")?;
/// assert!((count / 100_000.0 - 1.0).abs() < 0.2, "ten standard errors of 1.8%; 2.7% without sampling");
/// # }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct RawSubsampledPcsa<H: KeyedHash = DefaultHash> {
    pub(crate) sketch: PcsaSketch<H>,
    pub(super) sampling: Sampling,
    /// The sum of the levels of noise on a cell at which this sample was released.
    pub(super) exposure: f64,
}

/// Equal when sketch, sampling and exposure are.
impl<H: KeyedHash> PartialEq for RawSubsampledPcsa<H> {
    fn eq(&self, other: &Self) -> bool {
        self.sketch == other.sketch
            && self.sampling == other.sampling
            && self.exposure.to_bits() == other.exposure.to_bits()
    }
}

impl<H: KeyedHash> fmt::Debug for RawSubsampledPcsa<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawSubsampledPcsa")
            .field("sketch", &self.sketch)
            .field("sampling", &self.sampling)
            .finish_non_exhaustive()
    }
}

impl<H: KeyedHash> RawSubsampledPcsa<H> {
    /// The sketch of the empty set.
    #[must_use]
    pub fn new(shape: PcsaShape, hash: H, sampling: Sampling) -> Self {
        Self { sketch: PcsaSketch::new(shape, hash), sampling, exposure: 0.0 }
    }

    /// A sketch into which a [`SampleWriter`] put the items that the key of `sampling` keeps, and no others; the caller answers for
    /// that. `None` if it was released before.
    #[must_use]
    pub fn from_sample(sketch: PcsaSketch<H>, sampling: Sampling) -> Option<Self> {
        (sketch.releases() == 0).then_some(Self { sketch, sampling, exposure: 0.0 })
    }

    /// States whom the input was bounded for; see [`PcsaSketch::with_unit`].
    #[must_use]
    pub fn with_unit(self, unit: Unit) -> Self {
        Self { sketch: self.sketch.with_unit(unit), ..self }
    }

    /// Takes items with the coins of its key.
    ///
    /// # Errors
    /// [`SamplingMismatch`] for another key or rate.
    pub fn writer<'a>(&'a mut self, coins: &'a Subsampler) -> Result<SampleWriter<'a, H>, SamplingMismatch> {
        self.sampling.check(coins.sampling())?;
        Ok(SampleWriter::new(&mut self.sketch, coins))
    }

    /// Rate and name of the key.
    #[must_use]
    pub const fn sampling(&self) -> Sampling {
        self.sampling
    }

    /// The shape.
    #[must_use]
    pub fn shape(&self) -> PcsaShape {
        self.sketch.shape()
    }

    /// Which hash function and key decide the cells.
    #[must_use]
    pub fn hash_id(&self) -> HashId {
        self.sketch.hash_id()
    }

    /// Whom the input was bounded for.
    #[must_use]
    pub fn unit(&self) -> Unit {
        self.sketch.unit()
    }

    /// How often this sample has been released before.
    #[must_use]
    pub fn releases(&self) -> u32 {
        self.sketch.releases()
    }

    /// The sum of the levels ε₀ of a cell at which this sample has been released, those of merged parts included.
    #[must_use]
    pub const fn exposure(&self) -> f64 {
        self.exposure
    }

    /// What one unit will have lost in all through the releases of this sketch, after one more at `epsilon`, rounded up: more than the
    /// sum of their ε, see [`loss_under_one_key`]. Releases of other sketches under the key come on top.
    ///
    /// # Errors
    /// As [`check_release`](Self::check_release).
    pub fn loss_with(&self, epsilon: Epsilon) -> Result<f64, ReleaseError> {
        let inner = self.noise_at(epsilon)?.of_cell().get();
        let loss = loss_under_one_key(&[(self.sampling.rate, add_up(self.exposure, inner))]);
        Ok(multiply_up(loss, f64::from(self.unit().max_items())))
    }

    /// The level of noise on one cell of a release at `epsilon`: what a ledger combines.
    ///
    /// # Errors
    /// As [`check_release`](Self::check_release).
    pub fn inner_level(&self, epsilon: Epsilon) -> Result<f64, ReleaseError> {
        Ok(self.noise_at(epsilon)?.of_cell().get())
    }

    /// Makes this the sketch of the union, sampled with the same key. Counts and exposures add up.
    ///
    /// # Errors
    /// [`SubsampledMergeError`]; nothing is changed then.
    pub fn merge(&mut self, other: &Self) -> Result<(), SubsampledMergeError> {
        self.sampling.check(other.sampling)?;
        self.sketch.merge(&other.sketch)?;
        self.exposure = add_up(self.exposure, other.exposure).min(f64::MAX);
        Ok(())
    }

    /// The number of distinct items, **without privacy**; with the error of the sampling.
    pub fn estimate(&self, confidence: Confidence) -> Estimate {
        of_sample(&self.sketch.estimate(confidence), self.sampling)
    }

    /// Whether a release at `epsilon` would be refused, to be asked before anything is paid for.
    ///
    /// # Errors
    /// [`ReleaseError::Share`] when the ε of an item is below the least, or the ε₀ of a unit above the largest.
    pub fn check_release(&self, epsilon: Epsilon) -> Result<(), ReleaseError> {
        self.noise_at(epsilon).map(drop)
    }

    /// Records a release at `epsilon` that another copy of these bytes goes through, and returns the count.
    ///
    /// # Errors
    /// As [`check_release`](Self::check_release); nothing is changed then.
    pub fn record_release(&mut self, epsilon: Epsilon) -> Result<u32, ReleaseError> {
        let inner = self.noise_at(epsilon)?.of_cell().get();
        self.exposure = add_up(self.exposure, inner).min(f64::MAX);
        Ok(self.sketch.record_release())
    }

    /// Flips every cell by symmetric randomised response with the noise of ε₀, and gives up the raw sketch.
    ///
    /// # Privacy
    /// ε-differentially private, computationally, for data sets that differ in one [unit](Self::unit), towards whoever does **not** know
    /// the key; ε₀ towards whoever does, then or later. ε holds for one release under the key: several of a person cost
    /// [more than their sum](loss_under_one_key), copies included.
    ///
    /// # Errors
    /// As [`check_release`](Self::check_release), and [`ReleaseError::Entropy`] without random bytes. Sketch and permit are gone then.
    #[expect(clippy::needless_pass_by_value, reason = "a permit is spent by the release, however it ends")]
    pub fn release<R>(self, permit: Permit<Epsilon>, noise: &mut R) -> Result<SubsampledSfmSketch, ReleaseError>
    where
        R: NoiseSource + ?Sized,
    {
        let (inner, stated, unit) = (self.noise_for(permit.cost())?, permit.stated(), self.unit());
        let inner = Permit::standalone(inner.of_unit());
        let released = self.sketch.release_with(Mechanism::Symmetric, unit, inner, noise)?;
        Ok(SubsampledSfmSketch::of_release(released, self.sampling, stated))
    }

    /// The noise of a release at a level for one unit.
    fn noise_for(&self, level: Epsilon) -> Result<SampledNoise, ReleaseError> {
        let (unit, items) = (self.unit(), self.unit().max_items());
        let refused = |source| ReleaseError::Share { unit, bits: items.into(), source };
        self.sampling.rate.noise_for(level, items).map_err(refused)
    }

    /// A permit for this ε may be of a level a little below it.
    fn noise_at(&self, epsilon: Epsilon) -> Result<SampledNoise, ReleaseError> {
        self.noise_for(Permit::standalone(epsilon).cost())
    }
}

/// Puts items into a raw sketch of a sample: those that the key keeps. Repetitions do not matter.
#[derive(Debug)]
pub struct SampleWriter<'a, H: KeyedHash> {
    sketch: &'a mut PcsaSketch<H>,
    coins: &'a Subsampler,
}

impl<'a, H: KeyedHash> SampleWriter<'a, H> {
    /// For a sketch that will become one [of a sample](RawSubsampledPcsa::from_sample).
    pub const fn new(sketch: &'a mut PcsaSketch<H>, coins: &'a Subsampler) -> Self {
        Self { sketch, coins }
    }

    /// Adds bytes; text counts by its UTF-8 bytes.
    pub fn update(&mut self, item: &[u8]) {
        self.update_hash(self.sketch.hash().hash64(Domain::Bytes, item));
    }

    /// Adds a typed value.
    pub fn update_item(&mut self, item: &Item<'_>) {
        self.update_hash(item.hash64(self.sketch.hash()));
    }

    /// Adds an item by its hash.
    pub fn update_hash(&mut self, hash: u64) {
        if self.coins.keeps([hash, BESIDE]) {
            self.sketch.update_hash(hash);
        }
    }

    /// Adds items by their hashes.
    pub fn update_hashes(&mut self, hashes: &[u64]) {
        let kept = self.coins.keeps_all(hashes.iter().map(|&hash| [hash, BESIDE]));
        for (&hash, _) in hashes.iter().zip(kept.iter()).filter(|(_, kept)| **kept == 1) {
            self.sketch.update_hash(hash);
        }
    }
}
