//! A sketch that starts with its noise and takes data until it is published.

use dp_noise::{
    DiscreteGaussian, DiscreteLaplace, DisjointParts, Epsilon, Neighbouring, NoiseSampler, NoiseSource, Permit, Rho,
};
use sketch_hash::{DefaultHash, HashId, Item, KeyedHash};

use crate::bound::ContributionBound;
use crate::error::{MergeError, ReleaseError, UpdateError};
use crate::exposure::GaussianTerms;
use crate::granularity::Granularity;
use crate::leaf::Leaf;
use crate::lineage::Lineage;
use crate::private::PrivateCountSketch;
use crate::release::noisy_cells;
use crate::shape::CountSketchShape;
use crate::sketch::CountSketch;
use crate::user::UserContribution;

/// A sketch whose cells hold noise from the start, and data as it comes: whoever looks into the memory once sees a release.
///
/// Noise and updates commute, so what is published in the end follows the law of a [`release`](CountSketch::release) of all data
/// together \[PT22\]. Until [`finish`](Self::finish) it shows nothing: it has no bytes, no estimate and no copy.
///
/// # Privacy
/// The permit pays for **one** look at the cells: an intruder's, or the publication. Two looks differ by exact data, so a
/// checkpoint, a swapped page or a core dump is a look, too. To publish although somebody may have looked, add fresh noise:
/// [`finish_with_fresh_noise`](Self::finish_with_fresh_noise). An update that fails for a counter out of range tells about the
/// counter; bounds that keep counters below 2⁶² exclude it.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), Box<dyn core::error::Error>> {
/// # #[cfg(feature = "os-rng")] {
/// use countsketch_dp::{ContributionBound, CountSketch, CountSketchShape};
/// use countsketch_dp::dp_noise::{NoiseRng, Permit, Rho};
/// use countsketch_dp::sketch_hash::DefaultHash;
/// let mut noise = NoiseRng::from_os()?;
/// let shape = CountSketchShape::new(5, 1024)?;
/// let empty = CountSketch::new(shape, DefaultHash::default(), ContributionBound::UNIT_ENTRY);
/// let mut stream = empty.release_unseen(Permit::standalone(Rho::new(0.5)?), &mut noise)?;
/// stream.update(b"alice", 1)?;
/// stream.update_u64_batch(&[1, 2, 3])?;
/// let private = stream.finish();
/// assert_eq!((private.noise_variance(), private.rho_total()), (5.0, Some(0.5)));
/// # }
/// # Ok(())
/// # }
/// ```
#[must_use = "a sketch with noise that is dropped is budget spent for nothing"]
pub struct NoisyCountSketch<H: KeyedHash = DefaultHash> {
    /// Data and noise.
    sketch: CountSketch<H>,
    leaf: Leaf,
    insecure_noise: bool,
}

impl<H: KeyedHash> core::fmt::Debug for NoisyCountSketch<H> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("NoisyCountSketch")
            .field("shape", &self.shape())
            .field("hash", &self.hash_id())
            .field("granularity", &self.granularity())
            .field("bound", &self.bound())
            .finish_non_exhaustive()
    }
}

impl<H: KeyedHash> CountSketch<H> {
    /// As [`release`](Self::release), but keeps the result back, so that further data can go into it.
    ///
    /// # Privacy
    /// The permit pays for everything that is added until it is published.
    ///
    /// # Errors
    /// As for [`release`](Self::release).
    pub fn release_unseen<R>(self, permit: Permit<Rho>, noise: &mut R) -> Result<NoisyCountSketch<H>, ReleaseError>
    where
        R: NoiseSource + ?Sized,
    {
        let terms = self.exposure(Neighbouring::AddRemove).gaussian(permit.cost())?;
        self.release_unseen_planned(terms, permit, noise)
    }

    /// As [`release_unseen`](Self::release_unseen) with noise that was calibrated before.
    ///
    /// # Errors
    /// As for [`release_planned`](Self::release_planned).
    #[expect(clippy::needless_pass_by_value, reason = "a permit is spent by the release, however it ends")]
    pub fn release_unseen_planned<R>(
        self,
        terms: GaussianTerms,
        permit: Permit<Rho>,
        noise: &mut R,
    ) -> Result<NoisyCountSketch<H>, ReleaseError>
    where
        R: NoiseSource + ?Sized,
    {
        terms.check_paid(&permit)?;
        let leaf = self.gaussian_leaf(&terms, permit.stated(), noise)?;
        self.keep_back(&DiscreteGaussian::new(terms.variance())?, leaf, noise)
    }

    /// As [`release_unseen`](Self::release_unseen) with the noise of [`release_laplace`](Self::release_laplace).
    ///
    /// # Errors
    /// As for [`release`](Self::release).
    #[expect(clippy::needless_pass_by_value, reason = "a permit is spent by the release, however it ends")]
    pub fn release_unseen_laplace<R>(
        self,
        relation: Neighbouring,
        permit: Permit<Epsilon>,
        noise: &mut R,
    ) -> Result<NoisyCountSketch<H>, ReleaseError>
    where
        R: NoiseSource + ?Sized,
    {
        let (scale, leaf) = self.laplace_leaf(relation, &permit, noise)?;
        self.keep_back(&DiscreteLaplace::new(scale)?, leaf, noise)
    }

    fn keep_back<L, R>(mut self, law: &L, leaf: Leaf, noise: &mut R) -> Result<NoisyCountSketch<H>, ReleaseError>
    where
        L: NoiseSampler,
        R: NoiseSource + ?Sized,
    {
        let cells = noisy_cells(self.table.cells(), law, noise)?;
        self.table.replace_cells(cells);
        Ok(NoisyCountSketch { sketch: self, leaf, insecure_noise: noise.is_insecure() })
    }
}

impl<H: KeyedHash> NoisyCountSketch<H> {
    /// The shape, which raw sketches must share to be absorbed.
    #[must_use]
    pub const fn shape(&self) -> CountSketchShape {
        self.sketch.shape()
    }

    /// Which hash function and key decide the cells.
    #[must_use]
    pub fn hash_id(&self) -> HashId {
        self.sketch.hash_id()
    }

    /// The unit of weights.
    #[must_use]
    pub const fn granularity(&self) -> Granularity {
        self.sketch.granularity()
    }

    /// Who is protected, and how much they may add.
    #[must_use]
    pub const fn bound(&self) -> ContributionBound {
        self.sketch.bound()
    }

    /// As [`CountSketch::update`].
    ///
    /// # Errors
    /// As [`CountSketch::update`].
    pub fn update(&mut self, item: &[u8], weight: i64) -> Result<(), UpdateError> {
        self.sketch.update(item, weight)
    }

    /// As [`CountSketch::update_item`].
    ///
    /// # Errors
    /// As [`CountSketch::update`].
    pub fn update_item(&mut self, item: &Item<'_>, weight: i64) -> Result<(), UpdateError> {
        self.sketch.update_item(item, weight)
    }

    /// As [`CountSketch::update_hash`].
    ///
    /// # Errors
    /// As [`CountSketch::update`].
    pub fn update_hash(&mut self, key: u64, weight: i64) -> Result<(), UpdateError> {
        self.sketch.update_hash(key, weight)
    }

    /// As [`CountSketch::update_u64_batch`].
    ///
    /// # Errors
    /// As [`CountSketch::update`].
    pub fn update_u64_batch(&mut self, items: &[u64]) -> Result<(), UpdateError> {
        self.sketch.update_u64_batch(items)
    }

    /// As [`CountSketch::update_hashes`].
    ///
    /// # Errors
    /// As [`CountSketch::update`].
    pub fn update_hashes(&mut self, keys: &[u64]) -> Result<(), UpdateError> {
        self.sketch.update_hashes(keys)
    }

    /// As [`CountSketch::add_user`].
    ///
    /// # Errors
    /// As [`CountSketch::add_user`].
    pub fn add_user(&mut self, user: UserContribution<H>) -> Result<(), UpdateError> {
        self.sketch.add_user(user)
    }

    /// Adds a raw sketch and gives it up.
    ///
    /// # Privacy
    /// Costs nothing beyond the permit that the noise used up, if no record is in two of the inputs; no program can check that.
    /// A copy of a raw sketch that is absorbed twice doubles the sensitivity, while the noise stays what it is.
    ///
    /// # Errors
    /// [`MergeError`] for another hash, shape, granularity or bound and where a counter would overflow, and
    /// [`MergeError::BoundedApart`] where users are bounded: a user may be in both parts
    /// ([`absorb_disjoint`](Self::absorb_disjoint)). Nothing is changed then, but the raw sketch is gone.
    #[expect(clippy::needless_pass_by_value, reason = "raw state is given up: what went in is released with the rest")]
    pub fn absorb(&mut self, raw: CountSketch<H>) -> Result<(), MergeError> {
        if raw.bound().is_user() {
            return Err(MergeError::BoundedApart { bound: raw.bound() });
        }
        self.sketch.merge(&raw)
    }

    /// As [`absorb`](Self::absorb) of a raw sketch with none of the users that are here already.
    ///
    /// # Privacy
    /// Sound only under the assumption that the caller names; no program can check it. A copy of data that is here already breaks
    /// it: everybody in it then moves the cells twice as far as the noise was made for.
    ///
    /// # Errors
    /// As for [`absorb`](Self::absorb); [`MergeError::BoundedApart`] for a raw sketch in which a user may be in more parts than
    /// the noise was made for.
    #[expect(clippy::needless_pass_by_value, reason = "raw state is given up: what went in is released with the rest")]
    pub fn absorb_disjoint(&mut self, raw: CountSketch<H>, assumption: DisjointParts) -> Result<(), MergeError> {
        if raw.parts() > self.sketch.parts() || assumption != DisjointParts::EachUnitInOnePart {
            return Err(MergeError::BoundedApart { bound: raw.bound() });
        }
        self.sketch.merge_disjoint(&raw, assumption)
    }

    /// Ends it: the released sketch, which anybody may see from now on, and into which no raw data can go any more.
    #[must_use]
    pub fn finish(self) -> PrivateCountSketch {
        let cells = self.sketch.table.cells().to_vec();
        self.published(cells, Lineage::single(self.leaf), self.insecure_noise)
    }

    /// Ends it with a second layer of noise, for a state that somebody may have seen before.
    ///
    /// # Privacy
    /// Whoever saw the state sees, in the difference to what is published, the later data behind the fresh noise **alone**. So the
    /// permit pays for noise of that size, `D₂²/(2 σ²)` with the fresh variance, and both views together cost the sum, which the
    /// sketch states. Somebody who only has what is published has the noise of both.
    ///
    /// # Errors
    /// As for [`CountSketch::release`].
    #[expect(clippy::needless_pass_by_value, reason = "a permit is spent by the release, however it ends")]
    pub fn finish_with_fresh_noise<R>(
        self,
        permit: Permit<Rho>,
        noise: &mut R,
    ) -> Result<PrivateCountSketch, ReleaseError>
    where
        R: NoiseSource + ?Sized,
    {
        let relation = match self.leaf.guarantee() {
            Some(guarantee) => guarantee.relation(),
            None => Neighbouring::AddRemove,
        };
        let terms = self.sketch.exposure(relation).gaussian(permit.cost())?;
        let fresh = self.sketch.gaussian_leaf(&terms, permit.stated(), noise)?;
        let cells = noisy_cells(self.sketch.table.cells(), &DiscreteGaussian::new(terms.variance())?, noise)?;
        let lineage = Lineage::joined(&[&Lineage::single(self.leaf), &Lineage::single(fresh)], false)?;
        let insecure = self.insecure_noise || noise.is_insecure();
        Ok(self.published(cells, lineage, insecure))
    }

    fn published(&self, cells: Vec<i64>, lineage: Lineage, insecure_noise: bool) -> PrivateCountSketch {
        let frame = (self.hash_id(), self.shape(), self.granularity());
        PrivateCountSketch::from_parts(frame, self.sketch.rows().clone(), cells, lineage, insecure_noise)
    }
}
