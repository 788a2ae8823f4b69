//! How far neighbouring data sets move a sketch, and what noise that takes.

use dp_noise::{
    Epsilon, L1Sensitivity, Neighbouring, Permit, Rho, Scale, SensitivityError, SquaredL2Sensitivity, Variance,
};

use crate::bound::ContributionBound;
use crate::error::ReleaseError;
use crate::shape::CountSketchShape;

/// What neighbouring data sets may change in a sketch: its shape, its bound, and which data sets are neighbours.
///
/// From it follow the two sensitivities, and from them the noise of a level and the cost of a noise.
///
/// # Examples
/// ```
/// use countsketch_dp::{ContributionBound, CountSketchShape, Exposure};
/// use countsketch_dp::dp_noise::{Neighbouring, Rho};
/// let shape = CountSketchShape::new(5, 1024)?;
/// let exposure = Exposure::new(shape, ContributionBound::UNIT_ENTRY, 1, Neighbouring::AddRemove);
/// assert_eq!(exposure.squared_l2()?.get(), 5);
/// assert_eq!(exposure.gaussian(Rho::new(0.25)?)?.variance().to_f64(), 10.0); // k / 2ρ
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exposure {
    shape: CountSketchShape,
    bound: ContributionBound,
    parts: u32,
    relation: Neighbouring,
}

/// Gaussian noise, and what it costs in zCDP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaussianTerms {
    exposure: Exposure,
    variance: Variance,
    cost: Rho,
}

impl Exposure {
    /// Of sketches of this shape with units so bounded, of which a user may be in `parts` that were bounded apart.
    #[must_use]
    pub const fn new(shape: CountSketchShape, bound: ContributionBound, parts: u32, relation: Neighbouring) -> Self {
        Self { shape, bound, parts, relation }
    }

    /// The shape.
    #[must_use]
    pub const fn shape(&self) -> CountSketchShape {
        self.shape
    }

    /// The bound.
    #[must_use]
    pub const fn bound(&self) -> ContributionBound {
        self.bound
    }

    /// Raw sketches, bounded apart, that a user may be in.
    #[must_use]
    pub const fn parts(&self) -> u32 {
        self.parts
    }

    /// Which data sets are neighbours.
    #[must_use]
    pub const fn relation(&self) -> Neighbouring {
        self.relation
    }

    /// `D₁`, the largest L1 distance of neighbouring sketches, in grid units.
    ///
    /// # Errors
    /// [`SensitivityError`] where it does not fit.
    pub fn l1(&self) -> Result<L1Sensitivity, SensitivityError> {
        self.bound.l1(self.shape, self.parts, self.relation)
    }

    /// `D₂²`, the largest squared L2 distance of neighbouring sketches, in squared grid units.
    ///
    /// # Errors
    /// [`SensitivityError`] where it does not fit.
    pub fn squared_l2(&self) -> Result<SquaredL2Sensitivity, SensitivityError> {
        self.bound.squared_l2(self.shape, self.parts, self.relation)
    }

    /// Gaussian noise for ρ-zCDP: `σ² = D₂²/(2ρ)`, rounded up \[CKS20\].
    ///
    /// # Errors
    /// [`ReleaseError`] where sensitivity or noise are out of range.
    pub fn gaussian(&self, rho: Rho) -> Result<GaussianTerms, ReleaseError> {
        self.with_variance(Variance::for_rho(self.squared_l2()?, rho)?)
    }

    /// Gaussian noise of this variance, with its cost.
    ///
    /// # Errors
    /// [`ReleaseError::Cost`] where that is out of range.
    pub fn with_variance(&self, variance: Variance) -> Result<GaussianTerms, ReleaseError> {
        let cost = variance.rho_cost(self.squared_l2()?)?;
        Ok(GaussianTerms { exposure: *self, variance, cost })
    }

    /// Laplace noise for ε-differential privacy: `t = D₁/ε`, rounded up.
    ///
    /// # Errors
    /// [`ReleaseError`] where sensitivity or noise are out of range.
    pub fn laplace(&self, epsilon: Epsilon) -> Result<Scale, ReleaseError> {
        let scale = Scale::for_epsilon(self.l1()?, epsilon)?;
        check_noise("scale", scale.to_f64(), MAX_SCALE)?;
        Ok(scale)
    }
}

impl GaussianTerms {
    /// What the noise is for.
    #[must_use]
    pub const fn exposure(&self) -> Exposure {
        self.exposure
    }

    /// σ², in squared grid units.
    #[must_use]
    pub const fn variance(&self) -> Variance {
        self.variance
    }

    /// What the release costs in zCDP: `D₂²/(2σ²)` of the noise actually used, rounded up so far that a permit for it is
    /// enough.
    #[must_use]
    pub fn rho(&self) -> Rho {
        // A ledger books decimals and may round the level down by one place.
        let above = Rho::new(self.cost.get().next_up()).unwrap_or(self.cost);
        let pays = |stated: Rho| Permit::standalone(stated).cost() >= self.cost;
        if pays(self.cost) { self.cost } else { above }
    }

    /// Whether a permit pays.
    pub(crate) fn check_paid(&self, permit: &Permit<Rho>) -> Result<(), ReleaseError> {
        let paid = permit.cost();
        if paid >= self.cost { Ok(()) } else { Err(ReleaseError::Underpaid { paid, cost: self.cost }) }
    }
}

/// The largest scale of Laplace noise, 2⁴⁰ as for the σ of Gaussian noise: draws beyond 2⁶⁰ do not occur.
const MAX_SCALE: f64 = 1_099_511_627_776.0;

pub(crate) fn check_noise(name: &'static str, found: f64, max: f64) -> Result<(), ReleaseError> {
    if found <= max { Ok(()) } else { Err(ReleaseError::TooMuchNoise { name, max, found }) }
}
