//! The three levels of a release, and what each costs.

use core::fmt;

use countsketch_dp::{Exposure, GaussianTerms, PrivacyCost, ReleaseError};
use dp_noise::{CalibrationError, Delta, Epsilon, Neighbouring, Rho};

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
    /// or removed and the noise is not too wide to sum its law, else through zCDP ([`Calibration`] says which).
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
        let mut calibration = None;
        let noise = match self {
            Self::Rho(rho) => Noise::Rho { terms: exposure.gaussian(rho)?, stated: rho },
            Self::Approximate { epsilon, delta } => {
                let (terms, route) = approximate(exposure, epsilon, delta)?;
                calibration = Some(route);
                Noise::Planned(terms)
            }
            Self::Pure(epsilon) => {
                exposure.laplace(epsilon)?;
                Noise::Laplace(epsilon)
            }
        };
        Ok(PricedRelease { level: self, exposure, noise, calibration })
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
    !exposure.bound().is_user() && exposure.parts() == 1 && exposure.relation() == Neighbouring::AddRemove
}

/// Noise for ε and δ, and how it was found.
fn approximate(
    exposure: Exposure,
    epsilon: Epsilon,
    delta: Delta,
) -> Result<(GaussianTerms, Calibration), ReleaseError> {
    if is_exact(exposure) {
        match exposure.gaussian_exact(epsilon, delta) {
            Err(ReleaseError::Calibration(CalibrationError::TooWide { .. })) => {}
            terms => return Ok((terms?, Calibration::Exact)),
        }
    }
    Ok((exposure.gaussian_for(epsilon, delta)?, Calibration::Zcdp))
}

/// By which way noise for ε and δ was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Calibration {
    /// By the exact δ of the discrete law: about 7 % less noise at ε = 1, δ = 10⁻⁶.
    Exact,
    /// Through the largest ρ that converts to ε and δ.
    Zcdp,
}

impl Calibration {
    /// `exact` or `zcdp`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Zcdp => "zcdp",
        }
    }
}

impl fmt::Display for Calibration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A level, the noise it takes for one sketch, and its cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PricedRelease {
    level: FrequencyLevel,
    exposure: Exposure,
    noise: Noise,
    calibration: Option<Calibration>,
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

    /// By which way the noise was found, for a level of ε and δ; `None` for the others, which need no search.
    #[must_use]
    pub const fn calibration(&self) -> Option<Calibration> {
        self.calibration
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

#[cfg(test)]
mod tests {
    use countsketch_dp::{ContributionBound, CountSketchShape};

    use super::*;

    fn priced(max_weight: u64, parts: u32) -> PricedRelease {
        let (epsilon, delta) = (Epsilon::new(1.0).unwrap(), Delta::new(1e-6).unwrap());
        let bound = ContributionBound::entry(max_weight).unwrap();
        let exposure = Exposure::new(CountSketchShape::new(15, 64).unwrap(), bound, parts, Neighbouring::AddRemove);
        FrequencyLevel::Approximate { epsilon, delta }.price(exposure).unwrap()
    }

    /// Golden figures per unit of norm at ε = 1, δ = 10⁻⁶: 4.225 exactly and 4.531 through zCDP.
    #[test]
    fn noise_too_wide_to_sum_up_is_found_through_zcdp_and_says_so() {
        for (max_weight, parts, route, figure) in [
            (1, 1, Calibration::Exact, 4.225),
            (100, 1, Calibration::Exact, 4.225),
            (1_000_000, 1, Calibration::Zcdp, 4.531),
            (1 << 30, 1, Calibration::Zcdp, 4.531),
            (1, 2, Calibration::Zcdp, 2.0 * 4.531),
        ] {
            let priced = priced(max_weight, parts);
            assert_eq!(priced.calibration(), Some(route), "{max_weight} {parts}");
            let norm = 15.0_f64.sqrt() * f64::from(u32::try_from(max_weight).unwrap());
            let found = priced.gaussian().unwrap().variance().to_f64().sqrt() / norm;
            assert!((found / figure - 1.0).abs() < 2e-3, "{max_weight} {parts}: {found}");
        }
        let exposure = priced(1, 1).exposure();
        assert_eq!(FrequencyLevel::Rho(Rho::new(1.0).unwrap()).price(exposure).unwrap().calibration(), None);
    }
}
