//! From raw to private.

use dp_noise::{
    DiscreteGaussian, DiscreteLaplace, Epsilon, Neighbouring, NoiseSampler, NoiseSource, Permit, Rho, SampleError,
    Scale,
};
use sketch_hash::KeyedHash;
use zeroize::Zeroizing;

use crate::error::ReleaseError;
use crate::exposure::{Exposure, GaussianTerms};
use crate::leaf::{Guarantee, Leaf, NoiseLaw, PrivacyCost, ReleaseId};
use crate::lineage::Lineage;
use crate::private::PrivateCountSketch;
use crate::sketch::CountSketch;

/// Raw cells are brought into ±2⁶² before noise is added. That moves no two data sets further apart, so it costs no privacy,
/// and no release depends on whether a counter fits.
const MAX_CELL: i64 = 1 << 62;

impl<H: KeyedHash> CountSketch<H> {
    /// What neighbouring data sets may change in this sketch.
    #[must_use]
    pub const fn exposure(&self, relation: Neighbouring) -> Exposure {
        Exposure::new(self.shape(), self.bound(), self.parts(), relation)
    }

    /// Adds discrete Gaussian noise to every cell and gives up the raw sketch.
    ///
    /// The noise has `σ² = D₂²/(2ρ)`, exact as a fraction and rounded up, with the sensitivity of the
    /// [bound](crate::ContributionBound): `k/(2ρ)` for records of weight 1. One independent draw goes into every cell, touched or
    /// not, on the grid of the weights.
    ///
    /// # Privacy
    /// ρ-zCDP \[CKS20, Theorem 4\] for data sets that differ in one unit of the bound, a record or a user, added or removed.
    /// The permit's [`cost`](Permit::cost) is the ρ used, its [`stated`](Permit::stated) value the one written down. Not
    /// protected: shape, hash, bound and ρ; and a second release of a clone of the raw sketch adds its own ρ. The hash key
    /// must have been chosen without looking at the data.
    ///
    /// # Errors
    /// [`ReleaseError::Entropy`] when the operating system gives no random bytes, and others where the level asks for noise
    /// out of range; none depends on the data. The raw sketch and the permit are gone then, too.
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # #[cfg(feature = "os-rng")] {
    /// use countsketch_dp::{ContributionBound, CountSketch, CountSketchShape};
    /// use countsketch_dp::dp_noise::{NoiseRng, Permit, Rho};
    /// use countsketch_dp::sketch_hash::DefaultHash;
    /// let shape = CountSketchShape::new(5, 1024)?;
    /// let mut raw = CountSketch::new(shape, DefaultHash::default(), ContributionBound::UNIT_ENTRY);
    /// raw.update_u64_batch(&[7; 1000])?;
    /// let private = raw.release(Permit::standalone(Rho::new(0.5)?), &mut NoiseRng::from_os()?)?;
    /// assert_eq!(private.noise_variance(), 5.0); // k / 2ρ
    /// assert_eq!(private.rho_total(), Some(0.5));
    /// # }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// [`ContributionBound`]: crate::ContributionBound
    pub fn release<R>(self, permit: Permit<Rho>, noise: &mut R) -> Result<PrivateCountSketch, ReleaseError>
    where
        R: NoiseSource + ?Sized,
    {
        self.release_with(Neighbouring::AddRemove, permit, noise)
    }

    /// As [`release`](Self::release) with a choice of which data sets are neighbours. Replacing a unit by another takes four
    /// times the variance.
    ///
    /// # Errors
    /// As for [`release`](Self::release).
    pub fn release_with<R>(
        self,
        relation: Neighbouring,
        permit: Permit<Rho>,
        noise: &mut R,
    ) -> Result<PrivateCountSketch, ReleaseError>
    where
        R: NoiseSource + ?Sized,
    {
        let terms = self.exposure(relation).gaussian(permit.cost())?;
        self.release_planned(terms, permit, noise)
    }

    /// As [`release`](Self::release) with noise that was calibrated before, say for (ε, δ).
    ///
    /// # Privacy
    /// Whatever the noise was calibrated for; in zCDP it costs [`GaussianTerms::rho`], which the permit has to pay.
    ///
    /// # Errors
    /// [`ReleaseError::Underpaid`] when the permit pays less, [`ReleaseError::Terms`] for terms of other sketches, and as for
    /// [`release`](Self::release).
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # #[cfg(feature = "os-rng")] {
    /// use countsketch_dp::{ContributionBound, CountSketch, CountSketchShape};
    /// use countsketch_dp::dp_noise::{Delta, Epsilon, Neighbouring, NoiseRng, Permit};
    /// use countsketch_dp::sketch_hash::DefaultHash;
    /// let shape = CountSketchShape::new(5, 1024)?;
    /// let raw = CountSketch::new(shape, DefaultHash::default(), ContributionBound::UNIT_ENTRY);
    /// let exposure = raw.exposure(Neighbouring::AddRemove);
    /// let terms = exposure.gaussian_for(Epsilon::new(1.0)?, Delta::new(1e-6)?)?;
    /// let permit = Permit::standalone(terms.rho());
    /// let private = raw.release_planned(terms, permit, &mut NoiseRng::from_os()?)?;
    /// let sigma = (private.noise_variance() / 5.0).sqrt();
    /// assert!((sigma - 4.531).abs() < 1e-3, "{sigma}");
    /// # }
    /// # Ok(())
    /// # }
    /// ```
    #[expect(clippy::needless_pass_by_value, reason = "a permit is spent by the release, however it ends")]
    pub fn release_planned<R>(
        self,
        terms: GaussianTerms,
        permit: Permit<Rho>,
        noise: &mut R,
    ) -> Result<PrivateCountSketch, ReleaseError>
    where
        R: NoiseSource + ?Sized,
    {
        terms.check_paid(&permit)?;
        let leaf = self.gaussian_leaf(&terms, permit.stated(), noise)?;
        self.add_noise(&DiscreteGaussian::new(terms.variance())?, leaf, noise)
    }

    /// Adds discrete Laplace noise to every cell and gives up the raw sketch: `t = D₁/ε`, which is `k/ε` for records of
    /// weight 1.
    ///
    /// The noise of an estimate grows with the number of rows here, unlike that of Gaussian noise: few rows are best.
    ///
    /// # Privacy
    /// ε-differentially private, pure, for data sets that differ in one unit of the bound, added or removed; otherwise as
    /// [`release`](Self::release).
    ///
    /// # Errors
    /// As for [`release`](Self::release).
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # #[cfg(feature = "os-rng")] {
    /// use countsketch_dp::{ContributionBound, CountSketch, CountSketchShape, NoiseLaw};
    /// use countsketch_dp::dp_noise::{Epsilon, NoiseRng, Permit, Scale};
    /// use countsketch_dp::sketch_hash::DefaultHash;
    /// let shape = CountSketchShape::new(3, 1024)?;
    /// let raw = CountSketch::new(shape, DefaultHash::default(), ContributionBound::UNIT_ENTRY);
    /// let private = raw.release_laplace(Permit::standalone(Epsilon::new(0.5)?), &mut NoiseRng::from_os()?)?;
    /// assert_eq!(private.leaves()[0].law(), NoiseLaw::Laplace { scale: Scale::new(6, 1)? });
    /// # }
    /// # Ok(())
    /// # }
    /// ```
    pub fn release_laplace<R>(self, permit: Permit<Epsilon>, noise: &mut R) -> Result<PrivateCountSketch, ReleaseError>
    where
        R: NoiseSource + ?Sized,
    {
        self.release_laplace_with(Neighbouring::AddRemove, permit, noise)
    }

    /// As [`release_laplace`](Self::release_laplace) with a choice of which data sets are neighbours.
    ///
    /// # Errors
    /// As for [`release`](Self::release).
    #[expect(clippy::needless_pass_by_value, reason = "a permit is spent by the release, however it ends")]
    pub fn release_laplace_with<R>(
        self,
        relation: Neighbouring,
        permit: Permit<Epsilon>,
        noise: &mut R,
    ) -> Result<PrivateCountSketch, ReleaseError>
    where
        R: NoiseSource + ?Sized,
    {
        let (scale, leaf) = self.laplace_leaf(relation, &permit, noise)?;
        self.add_noise(&DiscreteLaplace::new(scale)?, leaf, noise)
    }

    /// Begins a Gaussian release: fresh entropy and a fresh name.
    pub(crate) fn gaussian_leaf<R>(
        &self,
        terms: &GaussianTerms,
        stated: Rho,
        noise: &mut R,
    ) -> Result<Leaf, ReleaseError>
    where
        R: NoiseSource + ?Sized,
    {
        let relation = terms.exposure().relation();
        if terms.exposure() != self.exposure(relation) {
            return Err(ReleaseError::Terms);
        }
        noise.begin_release()?;
        let cost = PrivacyCost::Rho(stated);
        let guarantee = Guarantee { bound: self.bound, parts: self.parts, relation, cost };
        let law = NoiseLaw::Gaussian { variance: terms.variance() };
        Ok(Leaf { id: ReleaseId::draw(noise), law, factor: 1, guarantee: Some(guarantee) })
    }

    /// Begins a Laplace release.
    pub(crate) fn laplace_leaf<R>(
        &self,
        relation: Neighbouring,
        permit: &Permit<Epsilon>,
        noise: &mut R,
    ) -> Result<(Scale, Leaf), ReleaseError>
    where
        R: NoiseSource + ?Sized,
    {
        let scale = self.exposure(relation).laplace(permit.cost())?;
        noise.begin_release()?;
        let cost = PrivacyCost::Epsilon(permit.stated());
        let guarantee = Guarantee { bound: self.bound, parts: self.parts, relation, cost };
        let law = NoiseLaw::Laplace { scale };
        Ok((scale, Leaf { id: ReleaseId::draw(noise), law, factor: 1, guarantee: Some(guarantee) }))
    }

    /// Where noise meets raw cells: all of it is drawn first, then added.
    fn add_noise<L, R>(self, law: &L, leaf: Leaf, noise: &mut R) -> Result<PrivateCountSketch, ReleaseError>
    where
        L: NoiseSampler,
        R: NoiseSource + ?Sized,
    {
        let cells = noisy_cells(self.table.cells(), law, noise)?;
        let frame = (self.hash_id(), self.shape(), self.granularity());
        Ok(PrivateCountSketch::from_parts(
            frame,
            self.rows().clone(),
            cells,
            Lineage::single(leaf),
            noise.is_insecure(),
        ))
    }
}

/// Raw cells plus one independent draw each.
pub(crate) fn noisy_cells<L, R>(cells: &[i64], law: &L, noise: &mut R) -> Result<Vec<i64>, SampleError>
where
    L: NoiseSampler,
    R: NoiseSource + ?Sized,
{
    add_draws(cells, law, noise, |cell| cell.clamp(-MAX_CELL, MAX_CELL))
}

/// One independent draw for each cell, all drawn first, plus a function of the cell. Sums stay within ±(2⁶³ − 1), which
/// depends on the exact sum alone and so tells no more than that.
pub(crate) fn add_draws<L, R>(
    cells: &[i64],
    law: &L,
    noise: &mut R,
    part: impl Fn(i64) -> i64,
) -> Result<Vec<i64>, SampleError>
where
    L: NoiseSampler,
    R: NoiseSource + ?Sized,
{
    let mut drawn = Zeroizing::new(vec![0; cells.len()]);
    law.fill(noise, &mut drawn)?;
    for (noisy, &cell) in drawn.iter_mut().zip(cells) {
        *noisy = noisy.saturating_add(part(cell)).max(-i64::MAX);
    }
    Ok(core::mem::take(&mut *drawn))
}
