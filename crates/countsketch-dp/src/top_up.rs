//! More noise on a private sketch, and what the sum is worth to somebody who sees nothing else.

use dp_noise::{DiscreteGaussian, NoiseSource, Variance, top_up_rho};

use crate::error::ReleaseError;
use crate::exposure::Exposure;
use crate::leaf::{Guarantee, Leaf, NoiseLaw, PrivacyCost, ReleaseId};
use crate::lineage::Lineage;
use crate::private::PrivateCountSketch;
use crate::release::add_draws;

/// The least variance of either noise: below, their sum is too far from a Gaussian.
const LEAST: f64 = 2.0;

impl PrivateCountSketch {
    /// Adds Gaussian noise of variance `extra` to every cell: from `σ²` to `σ² + extra`.
    ///
    /// # Privacy
    /// Whoever also sees the sketch as it was, now or later, has its noise and no more, so what was paid stays what it is. Only for
    /// viewers who never see that one does the loss fall, to [`rho_if_seen_alone`](Self::rho_if_seen_alone).
    ///
    /// # Errors
    /// [`ReleaseError::NotGaussian`] for other noise than Gaussian, [`ReleaseError::SmallVariance`] where either noise has a
    /// variance below 2, and [`ReleaseError::Entropy`].
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # #[cfg(feature = "os-rng")] {
    /// use countsketch_dp::{ContributionBound, CountSketch, CountSketchShape};
    /// use countsketch_dp::dp_noise::{NoiseRng, Permit, Rho, Variance};
    /// use countsketch_dp::sketch_hash::DefaultHash;
    /// let mut noise = NoiseRng::from_os()?;
    /// let shape = CountSketchShape::new(5, 1024)?;
    /// let raw = CountSketch::new(shape, DefaultHash::default(), ContributionBound::UNIT_ENTRY);
    /// let private = raw.release(Permit::standalone(Rho::new(0.5)?), &mut noise)?; // variance 5
    /// let topped_up = private.top_up(Variance::new(5, 1)?, &mut noise)?;
    /// assert_eq!((topped_up.noise_variance(), topped_up.rho_total()), (10.0, Some(0.5)));
    /// let alone = topped_up.rho_if_seen_alone().ok_or("one release")?;
    /// assert!((alone - 0.25).abs() < 1e-9, "{alone}");
    /// # }
    /// # Ok(())
    /// # }
    /// ```
    pub fn top_up<R>(&self, extra: Variance, noise: &mut R) -> Result<Self, ReleaseError>
    where
        R: NoiseSource + ?Sized,
    {
        let have = self.noise_parameter().ok_or(ReleaseError::NotGaussian)?;
        for found in [have.to_f64(), extra.to_f64()] {
            if found < LEAST {
                return Err(ReleaseError::SmallVariance { found });
            }
        }
        noise.begin_release()?;
        let law = NoiseLaw::Gaussian { variance: extra };
        let leaf = Leaf { id: ReleaseId::draw(noise), law, factor: 1, guarantee: None };
        let lineage = Lineage::joined(&[self.lineage(), &Lineage::single(leaf)], false)?;
        let cells = add_draws(self.all_cells(), &DiscreteGaussian::new(extra)?, noise, |cell| cell)?;
        let insecure = self.insecure_noise() || noise.is_insecure();
        Ok(Self::from_parts(self.frame(), self.rows().clone(), cells, lineage, insecure))
    }

    /// The zCDP level towards somebody who sees this sketch and no other with its noise; rounded up.
    ///
    /// For one Gaussian release, or one that was [topped up](Self::top_up) once: the sum of two discrete Gaussians of
    /// parameters `s` and `d` is close to one of `s + d`, and with `τ = 10 exp(−2π² s d/(s + d))`, `a² = D₂²/(s + d)`,
    /// `c = D₁/√(s + d)` and `n` cells it keeps `ρ = ½ min((a + τ√n)², a² + 2cτ + τ²n, a² + 2τn)` \[KLS21, Proposition 14\].
    /// `None` for anything else. This is information, not to be booked: the release itself was paid at its own ρ.
    #[must_use]
    pub fn rho_if_seen_alone(&self) -> Option<f64> {
        let gaussian = |leaf: &Leaf| match leaf.law() {
            NoiseLaw::Gaussian { variance } if leaf.factor().abs() == 1 => Some(variance),
            _ => None,
        };
        let (release, extra) = match self.leaves() {
            [release] => (release, None),
            [release, extra] if extra.guarantee().is_none() => (release, Some(gaussian(extra)?)),
            _ => return None,
        };
        let Guarantee { bound, parts, relation, cost: PrivacyCost::Rho(stated) } = release.guarantee()? else {
            return None;
        };
        let Some(extra) = extra else { return Some(stated.get()) };
        let exposure = Exposure::new(self.shape(), bound, parts, relation);
        let cells = u64::try_from(self.shape().cells()).ok()?;
        let (l1, l2) = (exposure.l1().ok()?, exposure.squared_l2().ok()?);
        // Where the bound says nothing, more noise still costs no more.
        let alone = top_up_rho(gaussian(release)?, extra, cells, l1, l2).map_or(f64::INFINITY, |bound| bound.rho());
        Some(alone.min(stated.get()))
    }
}
