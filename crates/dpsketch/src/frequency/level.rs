//! The three levels of a release, and what each costs.

use core::fmt;

use countsketch_dp::{Exposure, GaussianTerms, PrivacyCost};
use dp_noise::{Delta, Epsilon, Neighbouring, Rho};

use crate::error::Error;

/// How private a release is to be: one of three laws of noise.
///
/// # Examples
/// ```
/// use dpsketch::countsketch_dp::dp_noise::{Delta, Epsilon, Neighbouring, Rho};
/// use dpsketch::countsketch_dp::{ContributionBound, CountSketchShape, Exposure, PrivacyCost};
/// use dpsketch::FrequencyLevel;
///
/// let shape = CountSketchShape::new(5, 1024)?;
/// let exposure = Exposure::new(shape, ContributionBound::UNIT_ENTRY, 1, Neighbouring::AddRemove);
/// let rho = FrequencyLevel::Rho(Rho::new(0.5)?).price(exposure)?;
/// assert_eq!(rho.cost(), PrivacyCost::Rho(Rho::new(0.5)?));
/// let approximate = FrequencyLevel::Approximate { epsilon: Epsilon::new(1.0)?, delta: Delta::new(1e-6)? };
/// let PrivacyCost::Rho(charged) = approximate.price(exposure)?.cost() else { unreachable!() };
/// assert!((charged.get() - 0.0280).abs() < 0.0001); // 1/(2 · 4.225²), what the exact calibration comes to
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum FrequencyLevel {
    /// ρ-zCDP by discrete Gaussian noise.
    Rho(Rho),
    /// (ε, δ)-differential privacy by discrete Gaussian noise: by the exact δ of the discrete law where one record is added
    /// or removed, else through zCDP.
    Approximate {
        /// ε.
        epsilon: Epsilon,
        /// δ.
        delta: Delta,
    },
    /// Pure ε-differential privacy by discrete Laplace noise. The error grows with the number of rows: few are best.
    Pure(Epsilon),
}

impl FrequencyLevel {
    /// The noise that this level takes for such a sketch, and what a ledger has to book for it.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter) where sensitivity or noise are out of range.
    pub fn price(self, exposure: Exposure) -> Result<PricedRelease, Error> {
        let (argument, value) = match self {
            Self::Rho(rho) => ("--rho", rho.get()),
            Self::Approximate { epsilon, .. } | Self::Pure(epsilon) => ("--epsilon", epsilon.get()),
        };
        self.priced(exposure).map_err(|error| {
            error
                .argument_or(argument)
                .value(value.to_string())
                .allowed("a level whose noise can be drawn for this shape and these bounds, so mostly a larger one")
        })
    }

    fn priced(self, exposure: Exposure) -> Result<PricedRelease, Error> {
        let noise = match self {
            Self::Rho(rho) => Noise::Rho { terms: exposure.gaussian(rho)?, stated: rho },
            Self::Approximate { epsilon, delta } if is_exact(exposure) => {
                Noise::Planned(exposure.gaussian_exact(epsilon, delta)?)
            }
            Self::Approximate { epsilon, delta } => Noise::Planned(exposure.gaussian_for(epsilon, delta)?),
            Self::Pure(epsilon) => {
                exposure.laplace(epsilon)?;
                Noise::Laplace(epsilon)
            }
        };
        Ok(PricedRelease { level: self, exposure, noise })
    }

    /// `rho`, `approximate` or `pure`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rho(_) => "rho",
            Self::Approximate { .. } => "approximate",
            Self::Pure(_) => "pure",
        }
    }
}

impl fmt::Display for FrequencyLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rho(rho) => write!(f, "rho {}", rho.get()),
            Self::Approximate { epsilon, delta } => write!(f, "epsilon {}, delta {:e}", epsilon.get(), delta.get()),
            Self::Pure(epsilon) => write!(f, "epsilon {}", epsilon.get()),
        }
    }
}

/// Whether δ is known exactly for the discrete law.
fn is_exact(exposure: Exposure) -> bool {
    !exposure.bound().is_user() && exposure.relation() == Neighbouring::AddRemove
}

/// A level, the noise it takes for one sketch, and its cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PricedRelease {
    level: FrequencyLevel,
    exposure: Exposure,
    noise: Noise,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Noise {
    Rho { terms: GaussianTerms, stated: Rho },
    Planned(GaussianTerms),
    Laplace(Epsilon),
}

impl PricedRelease {
    /// The level that was asked for.
    #[must_use]
    pub const fn level(&self) -> FrequencyLevel {
        self.level
    }

    /// The sketch and the relation that it was priced for.
    #[must_use]
    pub const fn exposure(&self) -> Exposure {
        self.exposure
    }

    /// What has to be paid: ρ for Gaussian noise, that of the variance really drawn, and ε for Laplace noise.
    #[must_use]
    pub fn cost(&self) -> PrivacyCost {
        match self.noise {
            Noise::Rho { stated, .. } => PrivacyCost::Rho(stated),
            Noise::Planned(terms) => PrivacyCost::Rho(terms.rho()),
            Noise::Laplace(epsilon) => PrivacyCost::Epsilon(epsilon),
        }
    }

    /// The noise of every cell, if it is Gaussian: what `σ²` it has, and what it costs.
    #[must_use]
    pub const fn gaussian(&self) -> Option<GaussianTerms> {
        match self.noise {
            Noise::Rho { terms, .. } | Noise::Planned(terms) => Some(terms),
            Noise::Laplace(_) => None,
        }
    }

    pub(super) const fn noise(&self) -> Noise {
        self.noise
    }
}
