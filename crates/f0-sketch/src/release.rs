//! From raw to private.

use dp_noise::{Epsilon, NoiseSource, Permit, bernoulli_words};
use sketch_hash::KeyedHash;
use zeroize::Zeroizing;

use crate::coins::CoinSet;
use crate::error::ReleaseError;
use crate::leaf::{Leaf, ReleaseId};
use crate::mode::{Mode, ModeKind, Presampled};
use crate::noise::{NoiseRule, flip_probability};
use crate::private::PrivateF0Sketch;
use crate::sketch::F0Sketch;
use crate::unit::Unit;

impl<M: Mode, H: KeyedHash> F0Sketch<M, H> {
    /// Flips every cell with the least noise that keeps ε, and gives up the raw sketch.
    ///
    /// Each cell is inverted with probability `1/(1 + e^ε)` in mode [`Set`](crate::Set) and `e^−ε/2` in mode
    /// [`Presampled`], rounded up to a multiple of 2⁻⁶⁴. For users with up to `k` items the level of a
    /// cell is `ε/k`, rounded down.
    ///
    /// # Privacy
    /// ε-differentially private, pure, for data sets that differ in one item with all its occurrences, or in its weight:
    /// such a change toggles one cell at most. In mode `presampled`, repetitions are free, since an item that occurs is a
    /// fair coin, and the coins are part of the proof. Replacing one item by another costs 2ε; a person behind up to `k`
    /// items is protected at kε. The permit's [`cost`](Permit::cost) is the ε used and its [`stated`](Permit::stated) value
    /// is the one written down. It holds for every hash and key, which may be public. An empty sketch is released like any
    /// other. Not protected: shape, largest weight, hash and ε, which must not be chosen by the data; and a second release
    /// of a clone of the same raw sketch adds its own ε.
    ///
    /// # Errors
    /// [`ReleaseError::Entropy`] when the operating system gives no random bytes, and [`ReleaseError::Share`] as for
    /// [`release_with`](Self::release_with). The raw sketch and the permit are gone then, too.
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # #[cfg(feature = "os-rng")] {
    /// use f0_sketch::{F0Shape, F0Sketch, WeightRule};
    /// use f0_sketch::dp_noise::{Epsilon, NoiseRng, Permit};
    /// use f0_sketch::sketch_hash::DefaultHash;
    ///
    /// let mut raw: F0Sketch = F0Sketch::new(F0Shape::DEFAULT, WeightRule::Unit, DefaultHash::default());
    /// raw.toggle_u64_batch(&(0..100_000).collect::<Vec<u64>>());
    /// let private = raw.release(Permit::standalone(Epsilon::new(1.0)?), &mut NoiseRng::from_os()?)?;
    /// assert!((private.contrast() - 0.5_f64.tanh()).abs() < 1e-15);
    /// assert_eq!(private.epsilon(), 1.0);
    /// # }
    /// # Ok(())
    /// # }
    /// ```
    pub fn release<R>(self, permit: Permit<Epsilon>, noise: &mut R) -> Result<PrivateF0Sketch<M>, ReleaseError>
    where
        R: NoiseSource + ?Sized,
    {
        let unit = self.unit();
        self.release_with(NoiseRule::Tight, unit, permit, noise)
    }

    /// As [`release`](Self::release) with a choice of the noise and of the unit of privacy.
    ///
    /// # Privacy
    /// ε-differentially private for data sets that differ in one `unit`. A user with at most `k` items changes at most `k`
    /// cells, so every cell is flipped at level `ε/k`, rounded down. That no user has more is up to whoever built the
    /// sketch; the released sketch states the unit. [`NoiseRule::Paper`] is paid and recorded at ε, although it spends less:
    /// [`Leaf::realised_level`].
    ///
    /// # Errors
    /// As for [`release`](Self::release); [`ReleaseError::Share`] when a cell's part of ε is below the least ε, and
    /// [`ReleaseError::Unit`] when the data was [bounded](Self::with_unit) for another unit.
    #[expect(clippy::needless_pass_by_value, reason = "a permit is spent by the release, however it ends")]
    pub fn release_with<R>(
        self,
        rule: NoiseRule,
        unit: Unit,
        permit: Permit<Epsilon>,
        noise: &mut R,
    ) -> Result<PrivateF0Sketch<M>, ReleaseError>
    where
        R: NoiseSource + ?Sized,
    {
        self.flipped(rule, unit, &permit, noise)
    }

    /// Whether a release at `epsilon` for `unit` would be refused, to be asked before anything is paid for.
    ///
    /// # Errors
    /// [`ReleaseError::Share`] and [`ReleaseError::Unit`] as for [`release_with`](Self::release_with).
    pub fn check_release(&self, unit: Unit, epsilon: Epsilon) -> Result<(), ReleaseError> {
        self.check_unit(unit)?;
        // A permit for this ε may be of a level a little below it.
        share_of(Permit::standalone(epsilon).cost(), unit).map(drop)
    }

    /// Input that was bounded for users is released for those users, and no other unit.
    pub(crate) fn check_unit(&self, found: Unit) -> Result<(), ReleaseError> {
        let expected = self.unit();
        if expected == Unit::Item || expected == found { Ok(()) } else { Err(ReleaseError::Unit { expected, found }) }
    }

    /// A noisy copy of the cells, under a fresh name. All noise is drawn first, for all cells whatever they hold.
    fn flipped<R>(
        &self,
        rule: NoiseRule,
        unit: Unit,
        permit: &Permit<Epsilon>,
        noise: &mut R,
    ) -> Result<PrivateF0Sketch<M>, ReleaseError>
    where
        R: NoiseSource + ?Sized,
    {
        self.check_unit(unit)?;
        let share = share_of(permit.cost(), unit)?;
        noise.begin_release()?;
        let flips = flip_probability(M::KIND, rule, share, self.exposure);
        let leaf = Leaf::new(ReleaseId::draw(noise), flips, permit.stated(), unit, M::KIND);
        let mut bits = Zeroizing::new(vec![0; self.cells.words().len()]);
        bernoulli_words(flips, noise, &mut bits);
        clear_beyond(&mut bits, self.shape().cells());
        gf2_linalg::xor_into(&mut bits, self.cells.words());
        let insecure = noise.is_insecure() || self.insecure_coins;
        let bits = core::mem::take(&mut *bits);
        Ok(PrivateF0Sketch::of_release(self.kind(), bits, leaf, &self.named_coins(noise), insecure))
    }

    /// The names of the coins. A sketch that never drew a coin gets one all the same, or its release would tell that.
    pub(crate) fn named_coins<R: NoiseSource + ?Sized>(&self, noise: &mut R) -> CoinSet {
        let nameless = M::KIND == ModeKind::Presampled && self.coins.is_empty();
        if nameless { CoinSet::draw(noise) } else { self.coins.clone() }
    }
}

impl<H: KeyedHash> F0Sketch<Presampled, H> {
    /// As [`release_with`](Self::release_with), but keeps the raw sketch for further occurrences and further releases, say of
    /// days and of the week that they make up.
    ///
    /// A further release of the same coins is made with more noise than the first, so that the permits add up: the second
    /// at ε = 1 has `p = 0.244` where the first had 0.184.
    ///
    /// # Privacy
    /// All releases of these coins together lose at most the sum of their permits. Naive copies would lose more
    /// ([`presampled_cost`](crate::presampled_cost)), which is why a sketch in this mode cannot be cloned. Two releases of
    /// the same coins never come together in a merge or a pair, where what they share would cancel: both state the
    /// [names](crate::CoinId) of their coins, and are refused.
    ///
    /// # Errors
    /// As for [`release_with`](Self::release_with). The permit is gone then; the sketch is unchanged.
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # #[cfg(feature = "os-rng")] {
    /// use f0_sketch::{F0Shape, F0Sketch, NoiseRule, Presampled, Unit, WeightRule};
    /// use f0_sketch::dp_noise::{Epsilon, NoiseRng, Permit};
    /// use f0_sketch::sketch_hash::DefaultHash;
    ///
    /// let mut random = NoiseRng::from_os()?;
    /// let mut raw: F0Sketch<Presampled> =
    ///     F0Sketch::new(F0Shape::DEFAULT, WeightRule::Unit, DefaultHash::default());
    /// raw.observe_u64_batch(&[1, 1, 2, 3, 5, 8], &mut random)?;
    /// let permit = || Epsilon::new(1.0).map(Permit::standalone);
    /// let first = raw.release_keeping(NoiseRule::Tight, Unit::Item, permit()?, &mut random)?;
    /// let second = raw.release_keeping(NoiseRule::Tight, Unit::Item, permit()?, &mut random)?;
    /// assert!((first.leaves()[0].flip_probability() - 0.183_94).abs() < 1e-5);
    /// assert!((second.leaves()[0].flip_probability() - 0.243_57).abs() < 1e-5);
    /// # }
    /// # Ok(())
    /// # }
    /// ```
    #[expect(clippy::needless_pass_by_value, reason = "a permit is spent by the release, however it ends")]
    pub fn release_keeping<R>(
        &mut self,
        rule: NoiseRule,
        unit: Unit,
        permit: Permit<Epsilon>,
        noise: &mut R,
    ) -> Result<PrivateF0Sketch<Presampled>, ReleaseError>
    where
        R: NoiseSource + ?Sized,
    {
        let released = self.flipped(rule, unit, &permit, noise)?;
        self.expose(rule, share_of(permit.cost(), unit)?);
        Ok(released)
    }
}

/// The level of one cell when one unit may change a cell for each of its items: `ε / items`, rounded down.
pub(crate) fn share_of(epsilon: Epsilon, unit: Unit) -> Result<Epsilon, ReleaseError> {
    let cells = unit.max_items();
    epsilon.divide(cells).map_err(|source| ReleaseError::Share { unit, cells, source })
}

/// Zeroes the bits beyond the last cell.
pub(crate) fn clear_beyond(bits: &mut [u64], cells: usize) {
    if let (Some(last), used @ 1..) = (bits.last_mut(), cells % 64) {
        *last &= (1 << used) - 1;
    }
}
