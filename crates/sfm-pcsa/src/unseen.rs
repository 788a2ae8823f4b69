//! Noisy bits that nobody has seen yet, into which more raw data may go.

use dp_noise::{DyadicProbability, Epsilon, NoiseSource, Permit, bernoulli_words};
use sketch_hash::{HashId, KeyedHash};
use zeroize::Zeroizing;

use crate::error::{MergeError, ReleaseError};
use crate::leaf::Terms;
use crate::merge::check_alike;
use crate::noisy::NoisyBits;
use crate::params::PcsaShape;
use crate::private::PrivateBitmap;
use crate::release::Mechanism;
use crate::shape::BitmapShape;
use crate::sketch::RawBitmap;
use crate::unit::Unit;

/// A released sketch that nobody has seen: raw sketches may still be merged into it.
///
/// For data that arrives in parts where the parts so far must not stay in memory without noise. Until
/// [`publish`](Self::publish) it shows nothing: it has no bytes, no estimate and no copy, and its bits are wiped when it is
/// dropped. Anything read from bytes counts as seen and has no such method.
///
/// # Privacy
/// [`publish`](Self::publish) gives **one** release at the ε of the permit for all the data together: it follows the same
/// law as the [`release`](RawBitmap::release) of the OR of all raw sketches, to the last bit. So one item more or less,
/// in one part or in several, is protected at ε.
///
/// That holds only because nobody sees the bits before. A cell that was empty in the later data keeps its noisy bit, so
/// to somebody who had seen that bit a changed one would prove an item: no ε bounds that [HTC23, Section 4]. For the same
/// reason the coins must be secret, and the generator is a [`NoiseSource`].
///
/// # Examples
/// ```
/// # fn main() -> Result<(), Box<dyn core::error::Error>> {
/// # #[cfg(feature = "os-rng")] {
/// use sfm_pcsa::dp_noise::{Epsilon, NoiseRng, Permit};
/// use sfm_pcsa::sketch_hash::DefaultHash;
/// use sfm_pcsa::{PcsaShape, PcsaSketch};
/// use sfm_pcsa::cardinality_estimators::Confidence;
///
/// let mut noise = NoiseRng::from_os()?;
/// let day = |items: std::ops::Range<u64>| {
///     let mut raw = PcsaSketch::new(PcsaShape::DEFAULT, DefaultHash::default());
///     raw.update_u64_batch(&items.collect::<Vec<_>>());
///     raw
/// };
/// let mut week = day(0..40_000).release_unseen(Permit::standalone(Epsilon::new(2.0)?), &mut noise)?;
/// week.absorb(day(20_000..70_000), &mut noise)?;
/// week.absorb(day(50_000..100_000), &mut noise)?;
/// let published = week.publish();
/// assert_eq!((published.epsilon(), published.leaves().len()), (2.0, 1));
/// let count = published.estimate(Confidence::P95).value().ok_or("no value")?;
/// assert!((count / 100_000.0 - 1.0).abs() < 0.16, "ten standard errors of 1.6%");
/// # }
/// # Ok(())
/// # }
/// ```
#[must_use = "an unseen sketch that is dropped is budget spent for nothing"]
pub struct UnseenBitmap<S: BitmapShape> {
    shape: S,
    hash_id: HashId,
    /// As released, with its bits moved to `bits`.
    origin: NoisyBits,
    bits: Zeroizing<Vec<u64>>,
    /// P(1→1).
    keep: DyadicProbability,
    insecure_noise: bool,
}

/// The unseen private sketch of PCSA cells.
pub type UnseenSfmSketch = UnseenBitmap<PcsaShape>;

impl<S: BitmapShape> core::fmt::Debug for UnseenBitmap<S> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("UnseenBitmap")
            .field("shape", &self.shape)
            .field("hash", &self.hash_id)
            .field("epsilon", &self.origin.epsilon())
            .finish_non_exhaustive()
    }
}

impl<S: BitmapShape, H: KeyedHash> RawBitmap<S, H> {
    /// As [`release`](Self::release), but keeps the result back, so that further raw sketches can go into it.
    ///
    /// # Privacy
    /// The permit pays for everything that is absorbed until it is published.
    ///
    /// # Errors
    /// As for [`release`](Self::release).
    pub fn release_unseen<R>(self, permit: Permit<Epsilon>, noise: &mut R) -> Result<UnseenBitmap<S>, ReleaseError>
    where
        R: NoiseSource + ?Sized,
    {
        let unit = self.unit();
        self.release_unseen_with(Mechanism::Symmetric, unit, permit, noise)
    }

    /// As [`release_unseen`](Self::release_unseen) with a choice of the mechanism and of the unit of privacy.
    ///
    /// # Privacy
    /// The bound on the items of a user holds for what the user has in all absorbed data together.
    ///
    /// # Errors
    /// As for [`release_with`](Self::release_with).
    pub fn release_unseen_with<R>(
        self,
        mechanism: Mechanism,
        unit: Unit,
        permit: Permit<Epsilon>,
        noise: &mut R,
    ) -> Result<UnseenBitmap<S>, ReleaseError>
    where
        R: NoiseSource + ?Sized,
    {
        self.check_unit(unit)?;
        let (shape, hash_id) = (self.shape(), self.hash_id());
        let terms = Terms { mechanism, unit, cells_per_item: shape.cells_per_item() };
        let mut origin = NoisyBits::release(Zeroizing::new(self.to_bits()), shape.cells(), terms, permit, noise)?;
        let bits = Zeroizing::new(origin.take_bits());
        let keep = origin.leaves()[0].noise().p();
        Ok(UnseenBitmap { shape, hash_id, origin, bits, keep, insecure_noise: noise.is_insecure() })
    }
}

impl<S: BitmapShape> UnseenBitmap<S> {
    /// The shape, which raw sketches must share to be absorbed.
    #[must_use]
    pub const fn shape(&self) -> S {
        self.shape
    }

    /// Which hash function and key decide the cells.
    #[must_use]
    pub const fn hash_id(&self) -> HashId {
        self.hash_id
    }

    /// The ε that was paid, for everything in it.
    #[must_use]
    pub fn epsilon(&self) -> f64 {
        self.origin.epsilon()
    }

    /// Merges a raw sketch in and gives it up.
    ///
    /// A cell that is set in `raw` gets a fresh bit, 1 with the probability `p` that a set cell has anyway; the others
    /// keep theirs. So the channel stays what it is, exactly: the probability is the same integer over 2⁶⁴ that the
    /// release used, and nothing is rounded. Coins are drawn for all cells, whatever they hold.
    ///
    /// # Privacy
    /// Costs nothing beyond the permit that the release used up.
    ///
    /// # Errors
    /// [`MergeError::Hash`] or [`MergeError::Shape`] for a sketch of another hash or shape, [`MergeError::Unit`] for one that
    /// was [bounded for users](RawBitmap::with_unit), since a user may be in both parts, [`MergeError::Entropy`] without
    /// random bytes; nothing is changed then, but the raw sketch is gone.
    #[expect(clippy::needless_pass_by_value, reason = "raw state is given up: what went in is released with the rest")]
    pub fn absorb<H, R>(&mut self, raw: RawBitmap<S, H>, noise: &mut R) -> Result<(), MergeError>
    where
        H: KeyedHash,
        R: NoiseSource + ?Sized,
    {
        check_alike((self.hash_id, self.shape), (raw.hash_id(), raw.shape()))?;
        if raw.unit() != Unit::Item {
            return Err(MergeError::Unit { first: self.origin.leaves()[0].unit(), second: raw.unit() });
        }
        noise.begin_release()?;
        let cells = Zeroizing::new(raw.to_bits());
        let mut fresh = Zeroizing::new(vec![0; cells.len()]);
        bernoulli_words(self.keep, noise, &mut fresh);
        for ((bit, set), fresh) in self.bits.iter_mut().zip(cells.iter()).zip(fresh.iter()) {
            *bit = (*bit & !set) | (fresh & set);
        }
        self.insecure_noise |= noise.is_insecure();
        Ok(())
    }

    /// Ends it: the released sketch, which anybody may see from now on, and into which no raw data can go any more.
    #[must_use]
    pub fn publish(mut self) -> PrivateBitmap<S> {
        let bits = core::mem::take(&mut *self.bits);
        let noisy = self.origin.with_bits(bits, self.insecure_noise);
        PrivateBitmap::from_noisy(self.shape, self.hash_id, noisy)
    }
}
