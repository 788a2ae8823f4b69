//! From raw to private.

use dp_noise::{Epsilon, NoiseSource, Permit, RandomizedResponse};
use sketch_hash::KeyedHash;

use crate::error::ReleaseError;
use crate::lineage::{Leaf, ReleaseId};
use crate::private::SfmSketch;
use crate::sketch::PcsaSketch;

impl<H: KeyedHash> PcsaSketch<H> {
    /// Flips every cell by symmetric randomised response and gives up the raw sketch.
    ///
    /// Each cell is inverted with probability `1/(1 + e^ε)`, rounded up to a multiple of 2⁻⁶⁴ [HTC23, Section 3.2].
    /// Among all ways to flip at one ε this gives the smallest error, alone and after merging.
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
    pub fn release<R>(self, permit: Permit<Epsilon>, noise: &mut R) -> Result<SfmSketch, ReleaseError>
    where
        R: NoiseSource + ?Sized,
    {
        let flips = RandomizedResponse::symmetric(permit.cost());
        self.release_through(flips, permit, noise)
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
    pub fn release_xor_family<R>(self, permit: Permit<Epsilon>, noise: &mut R) -> Result<SfmSketch, ReleaseError>
    where
        R: NoiseSource + ?Sized,
    {
        let flips = RandomizedResponse::xor_family(permit.cost());
        self.release_through(flips, permit, noise)
    }

    /// The steps common to both: fresh entropy, a fresh name, one pass of noise over all cells whatever they hold.
    #[expect(clippy::needless_pass_by_value, reason = "a permit is spent by the release, however it ends")]
    fn release_through<R>(
        self,
        flips: RandomizedResponse,
        permit: Permit<Epsilon>,
        noise: &mut R,
    ) -> Result<SfmSketch, ReleaseError>
    where
        R: NoiseSource + ?Sized,
    {
        noise.begin_release()?;
        let mut id = [0; 16];
        noise.fill_bytes(&mut id);
        let leaf = Leaf::new(ReleaseId::from_bytes(id), flips, permit.stated());
        let mut bits = self.to_level_major();
        flips.apply(noise, &mut bits);
        Ok(SfmSketch::from_release(self.shape(), self.hash_id(), bits, leaf, noise.is_insecure())?)
    }
}
