//! Noisy cells that nobody has seen yet, into which more raw data may go.

use core::fmt;

use dp_noise::{Epsilon, NoiseSource, Permit};
use sketch_hash::{HashId, KeyedHash};
use zeroize::Zeroizing;

use crate::coins::CoinSet;
use crate::error::{MergeError, ReleaseError};
use crate::leaf::Leaf;
use crate::mode::{Mode, Set};
use crate::noise::NoiseRule;
use crate::private::PrivateF0Sketch;
use crate::refused::Refused;
use crate::shape::F0Shape;
use crate::sketch::{F0Sketch, Kind, check_alike};
use crate::unit::Unit;
use crate::weight::WeightRule;

/// A released sketch that nobody has seen: raw sketches may still be merged into it.
///
/// For data that arrives in parts where the parts so far must not stay in memory without noise. Until
/// [`publish`](Self::publish) it shows nothing: it has no bytes, no estimate and no copy, and its cells are wiped when it is
/// dropped. Anything read from bytes counts as seen and has no such method.
///
/// # Privacy
/// [`publish`](Self::publish) gives **one** release at the ε of the permit for all the data together: it is, bit for bit, the
/// [`release`](F0Sketch::release) of the xor of all raw sketches. So one item more or less, in one part or in several, is
/// protected at ε.
///
/// That holds only because nobody sees the cells before. Raw data changes the cells without any noise of its own, so to
/// somebody who had seen them before the difference is the raw sketch: no ε bounds that.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), Box<dyn core::error::Error>> {
/// # #[cfg(feature = "os-rng")] {
/// use f0_sketch::{F0Shape, F0Sketch, WeightRule};
/// use f0_sketch::dp_noise::{Epsilon, NoiseRng, Permit};
/// use f0_sketch::sketch_hash::DefaultHash;
///
/// let mut noise = NoiseRng::from_os()?;
/// let day = |items: std::ops::Range<u64>| {
///     let mut raw: F0Sketch = F0Sketch::new(F0Shape::DEFAULT, WeightRule::Unit, DefaultHash::default());
///     raw.toggle_u64_batch(&items.collect::<Vec<_>>());
///     raw
/// };
/// let mut week = day(0..40_000).release_unseen(Permit::standalone(Epsilon::new(2.0)?), &mut noise)?;
/// week.absorb(day(40_000..70_000))?;
/// let published = week.publish();
/// assert_eq!((published.epsilon(), published.leaves().len()), (2.0, 1));
/// # }
/// # Ok(())
/// # }
/// ```
#[must_use = "an unseen sketch that is dropped is budget spent for nothing"]
pub struct UnseenF0Sketch<M: Mode = Set> {
    shape: F0Shape,
    rule: WeightRule,
    hash_id: HashId,
    bits: Zeroizing<Vec<u64>>,
    leaf: Leaf,
    insecure_noise: bool,
    /// Whom the raw data was bounded for.
    unit: Unit,
    /// The exposure that the noise was made for.
    exposure: f64,
    coins: CoinSet,
    mode: core::marker::PhantomData<M>,
}

impl<M: Mode> fmt::Debug for UnseenF0Sketch<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnseenF0Sketch")
            .field("mode", &M::KIND)
            .field("shape", &self.shape)
            .field("weights", &self.rule)
            .field("hash", &self.hash_id)
            .field("epsilon", &self.epsilon())
            .finish_non_exhaustive()
    }
}

impl<M: Mode, H: KeyedHash> F0Sketch<M, H> {
    /// As [`release`](Self::release), but keeps the result back, so that further raw sketches can go into it.
    ///
    /// # Privacy
    /// The permit pays for everything that is absorbed until it is published.
    ///
    /// # Errors
    /// As for [`release`](Self::release).
    pub fn release_unseen<R>(self, permit: Permit<Epsilon>, noise: &mut R) -> Result<UnseenF0Sketch<M>, ReleaseError>
    where
        R: NoiseSource + ?Sized,
    {
        let unit = self.unit();
        self.release_unseen_with(NoiseRule::Tight, unit, permit, noise)
    }

    /// As [`release_unseen`](Self::release_unseen) with a choice of the noise and of the unit of privacy.
    ///
    /// # Privacy
    /// With a `unit` of users, the bound on their items is one on what each has in all absorbed data together. Data that was
    /// [bounded for users](Self::with_unit) by itself takes in no more, since a user may be in both parts.
    ///
    /// # Errors
    /// As for [`release_with`](Self::release_with).
    pub fn release_unseen_with<R>(
        self,
        rule: NoiseRule,
        unit: Unit,
        permit: Permit<Epsilon>,
        noise: &mut R,
    ) -> Result<UnseenF0Sketch<M>, ReleaseError>
    where
        R: NoiseSource + ?Sized,
    {
        let (bounded_for, exposure) = (self.unit(), self.exposure);
        let released = self.release_with(rule, unit, permit, noise)?;
        Ok(UnseenF0Sketch::hide(released, bounded_for, exposure))
    }
}

impl<M: Mode> UnseenF0Sketch<M> {
    fn hide(released: PrivateF0Sketch<M>, unit: Unit, exposure: f64) -> Self {
        let Kind { hash_id, shape, rule } = released.kind();
        let (shape, leaf, insecure_noise) = (shape.clone(), released.leaves()[0], released.insecure_noise());
        let coins = released.coin_set();
        let bits = Zeroizing::new(released.into_bits());
        Self {
            shape,
            rule,
            hash_id,
            bits,
            leaf,
            insecure_noise,
            unit,
            exposure,
            coins,
            mode: core::marker::PhantomData,
        }
    }

    /// The shape, which raw sketches must share to be absorbed.
    #[must_use]
    pub const fn shape(&self) -> &F0Shape {
        &self.shape
    }

    /// Whether items have weights, and their largest.
    #[must_use]
    pub const fn weight_rule(&self) -> WeightRule {
        self.rule
    }

    /// Which hash function and key decide the cells.
    #[must_use]
    pub const fn hash_id(&self) -> HashId {
        self.hash_id
    }

    /// The ε that was paid, for everything in it.
    #[must_use]
    pub fn epsilon(&self) -> f64 {
        self.leaf.epsilon().get()
    }

    /// Merges a raw sketch in, by xor, and gives it up. The noise stays what it is.
    ///
    /// # Privacy
    /// Costs nothing beyond the permit that the release used up.
    ///
    /// # Errors
    /// [`MergeError::Hash`], [`MergeError::Shape`] or [`MergeError::Weights`] for a sketch of another kind,
    /// [`MergeError::Unit`] when it or what was released first was [bounded for users](F0Sketch::with_unit), since a user may
    /// be in both parts, [`MergeError::Exposure`] for one whose coins were released at a higher level before than the noise
    /// was made for, and [`MergeError::RepeatedCoins`] and [`MergeError::TooManyCoins`] as in a
    /// [merge](F0Sketch::<crate::Presampled>::merge). Nothing is changed then, and the raw sketch is handed back.
    pub fn absorb<H: KeyedHash>(&mut self, raw: F0Sketch<M, H>) -> Result<(), Refused<F0Sketch<M, H>, MergeError>> {
        if let Err(error) = self.check_absorb(&raw) {
            return Err(Refused::new(raw, error));
        }
        gf2_linalg::xor_into(&mut self.bits, raw.cells.words());
        self.insecure_noise |= raw.insecure_coins;
        self.coins.append(&raw.coins);
        Ok(())
    }

    /// Whether [`absorb`](Self::absorb) would be refused.
    ///
    /// # Errors
    /// As for [`absorb`](Self::absorb).
    pub fn check_absorb<H: KeyedHash>(&self, raw: &F0Sketch<M, H>) -> Result<(), MergeError> {
        check_alike(&self.kind(), &raw.kind())?;
        let (first, second) = (self.unit, raw.unit());
        if (first, second) != (Unit::Item, Unit::Item) {
            return Err(MergeError::Unit { first, second });
        }
        if raw.exposure > self.exposure {
            return Err(MergeError::Exposure { expected: self.exposure, found: raw.exposure });
        }
        self.coins.check_union(&raw.coins)
    }

    fn kind(&self) -> Kind<'_> {
        Kind { hash_id: self.hash_id, shape: &self.shape, rule: self.rule }
    }

    /// Ends it: the released sketch, which anybody may see from now on, and into which no raw data can go any more.
    #[must_use]
    pub fn publish(mut self) -> PrivateF0Sketch<M> {
        let bits = core::mem::take(&mut *self.bits);
        PrivateF0Sketch::of_release(self.kind(), bits, self.leaf, &self.coins, self.insecure_noise)
    }
}
