//! From raw to private.

use dp_noise::{Epsilon, NoiseSource, Permit, RandomizedResponse};
use sketch_hash::KeyedHash;
use zeroize::Zeroizing;

use crate::error::ReleaseError;
use crate::leaf::{Terms, share_of};
use crate::noisy::NoisyBits;
use crate::private::PrivateBitmap;
use crate::shape::BitmapShape;
use crate::sketch::RawBitmap;
use crate::unit::Unit;

/// How a release flips bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mechanism {
    /// Ones and zeros alike, with probability `1/(1 + e^ε)`: the smallest error at one ε, alone and after merging.
    #[default]
    Symmetric,
    /// A one stays with probability 1/2, a zero becomes one with probability `e^−ε/2`: merges need no coins
    /// ([`MergeForm::Xor`](crate::MergeForm::Xor)) [HTC23, Theorem 4.1].
    XorFamily,
}

impl Mechanism {
    pub(crate) fn flips(self, bit_level: Epsilon) -> RandomizedResponse {
        match self {
            Self::Symmetric => RandomizedResponse::symmetric(bit_level),
            Self::XorFamily => RandomizedResponse::xor_family(bit_level),
        }
    }
}

impl<S: BitmapShape, H: KeyedHash> RawBitmap<S, H> {
    /// Flips every cell by symmetric randomised response and gives up the raw sketch.
    ///
    /// Each cell is inverted with probability `1/(1 + e^ε)`, rounded up to a multiple of 2⁻⁶⁴ [HTC23, Section 3.2]; in a
    /// Bloom filter of `k` hashes, where an item sets up to `k` cells, with `1/(1 + e^(ε/k))`, the quotient rounded down. Among all ways to flip at one ε this gives the smallest error, alone and after merging.
    ///
    /// # Privacy
    /// ε-differentially private, pure, for data sets that differ in one distinct item: repetitions are free, replacing
    /// one item by another costs 2ε, and a person behind up to `k` items is protected at kε. The permit's
    /// [`cost`](Permit::cost) is the ε used and its [`stated`](Permit::stated) value is the one written down. An empty
    /// sketch is released like any other. Not protected: the shape, the hash and ε; and a second release of a clone of
    /// the same raw sketch adds its own ε.
    ///
    /// # Errors
    /// [`ReleaseError::Entropy`] when the operating system gives no random bytes. The raw sketch and the permit are gone
    /// then, too.
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # #[cfg(feature = "os-rng")] {
    /// use sfm_pcsa::{PcsaShape, PcsaSketch};
    /// use sfm_pcsa::cardinality_estimators::Confidence;
    /// use sfm_pcsa::dp_noise::{Epsilon, NoiseRng, Permit};
    /// use sfm_pcsa::sketch_hash::DefaultHash;
    ///
    /// let mut raw = PcsaSketch::new(PcsaShape::DEFAULT, DefaultHash::default());
    /// raw.update_u64_batch(&(0..100_000).collect::<Vec<u64>>());
    /// let private = raw.release(Permit::standalone(Epsilon::new(2.0)?), &mut NoiseRng::from_os()?)?;
    ///
    /// let estimate = private.estimate(Confidence::P95);
    /// let error = estimate.value().ok_or("no value")? / 100_000.0 - 1.0;
    /// assert!(error.abs() < 0.16, "ten standard errors of 1.6%");
    /// assert_eq!(private.epsilon(), 2.0);
    /// # }
    /// # Ok(())
    /// # }
    /// ```
    pub fn release<R>(self, permit: Permit<Epsilon>, noise: &mut R) -> Result<PrivateBitmap<S>, ReleaseError>
    where
        R: NoiseSource + ?Sized,
    {
        let unit = self.unit();
        self.release_with(Mechanism::Symmetric, unit, permit, noise)
    }

    /// Flips so that private sketches merge by exclusive or: a one stays with probability 1/2, a zero becomes a one with
    /// probability `e^−ε/2`.
    ///
    /// Such sketches need no coins to merge ([`MergeForm::Xor`](crate::MergeForm::Xor)) [HTC23, Theorem 4.1], at the
    /// price of a larger error: 1.4 times that of [`release`](Self::release) at ε = 1, 1.7 times at ε = 2, twice at most.
    ///
    /// # Privacy
    /// As for [`release`](Self::release).
    ///
    /// # Errors
    /// As for [`release`](Self::release).
    pub fn release_xor_family<R>(self, permit: Permit<Epsilon>, noise: &mut R) -> Result<PrivateBitmap<S>, ReleaseError>
    where
        R: NoiseSource + ?Sized,
    {
        let unit = self.unit();
        self.release_with(Mechanism::XorFamily, unit, permit, noise)
    }

    /// As [`release`](Self::release) with a choice of the mechanism and of the unit of privacy.
    ///
    /// # Privacy
    /// ε-differentially private for data sets that differ in one `unit`. A user with at most `M` items changes at most
    /// `M` cells, `M·k` in a Bloom filter of `k` hashes, so every cell is flipped at that part of ε, rounded down. That no user added more is up to whoever built the
    /// sketch; the released sketch states the unit.
    ///
    /// # Errors
    /// As for [`release`](Self::release); [`ReleaseError::Share`] when a cell's part of ε is below the least ε, and
    /// [`ReleaseError::Unit`] when the data was [bounded](Self::with_unit) for another unit.
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # #[cfg(feature = "os-rng")] {
    /// use sfm_pcsa::{Mechanism, PcsaShape, PcsaSketch, Unit};
    /// use sfm_pcsa::dp_noise::{Epsilon, NoiseRng, Permit};
    /// use sfm_pcsa::sketch_hash::DefaultHash;
    ///
    /// // Pages visited, of which no user added more than four.
    /// let raw = PcsaSketch::new(PcsaShape::DEFAULT, DefaultHash::default());
    /// let unit = Unit::user(4).ok_or("at least one item")?;
    /// let permit = Permit::standalone(Epsilon::new(2.0)?);
    /// let private = raw.release_with(Mechanism::Symmetric, unit, permit, &mut NoiseRng::from_os()?)?;
    /// assert_eq!((private.epsilon(), private.units()), (2.0, vec![unit]));
    /// assert!((private.channel().q() - 1.0 / (1.0 + 0.5f64.exp())).abs() < 1e-15);
    /// # }
    /// # Ok(())
    /// # }
    /// ```
    pub fn release_with<R>(
        self,
        mechanism: Mechanism,
        unit: Unit,
        permit: Permit<Epsilon>,
        noise: &mut R,
    ) -> Result<PrivateBitmap<S>, ReleaseError>
    where
        R: NoiseSource + ?Sized,
    {
        self.check_unit(unit)?;
        let shape = self.shape();
        let terms = Terms { mechanism, unit, cells_per_item: shape.cells_per_item() };
        let flipped = NoisyBits::release(Zeroizing::new(self.to_bits()), shape.cells(), terms, permit, noise)?;
        Ok(PrivateBitmap::from_noisy(shape, self.hash_id(), flipped))
    }

    /// Whether a release at `epsilon` for `unit` would be refused, to be asked before anything is paid for.
    ///
    /// # Errors
    /// [`ReleaseError::Share`] and [`ReleaseError::Unit`] as for [`release_with`](Self::release_with).
    ///
    /// # Examples
    /// ```
    /// use sfm_pcsa::{PcsaShape, PcsaSketch, Unit};
    /// use sfm_pcsa::dp_noise::Epsilon;
    /// use sfm_pcsa::sketch_hash::DefaultHash;
    ///
    /// let raw = PcsaSketch::new(PcsaShape::DEFAULT, DefaultHash::default());
    /// let unit = Unit::user(1000).ok_or("at least one item")?;
    /// assert!(raw.check_release(unit, Epsilon::new(1.0)?).is_ok());
    /// assert!(raw.check_release(unit, Epsilon::new(1e-8)?).is_err(), "a thousandth is below the least ε");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn check_release(&self, unit: Unit, epsilon: Epsilon) -> Result<(), ReleaseError> {
        self.check_unit(unit)?;
        // A permit for this ε may be of a level a little below it.
        let level = Permit::standalone(epsilon).cost();
        share_of(level, unit, self.shape().cells_per_item()).map(drop)
    }

    /// Input that was bounded for users is released for those users, and no other unit.
    pub(crate) fn check_unit(&self, found: Unit) -> Result<(), ReleaseError> {
        let expected = self.unit();
        if expected == Unit::Item || expected == found { Ok(()) } else { Err(ReleaseError::Unit { expected, found }) }
    }
}
