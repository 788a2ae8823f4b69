//! One release: its name, its noise, its cost and whom it protects.

use dp_noise::{
    Epsilon, Neighbouring, NoiseSampler, NoiseSource, ReferenceGaussian, ReferenceLaplace, Rho, Scale, Variance,
};

use crate::bound::ContributionBound;
use crate::exposure::Exposure;
use crate::shape::CountSketchShape;
use crate::share::{ShareTerms, gaussian_cost};

/// The random name of one release, 128 bits from the same generator as its noise.
///
/// Two releases never share it, so a sum can refuse to use one release twice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReleaseId([u8; 16]);

impl ReleaseId {
    /// From its bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0
    }

    pub(crate) fn draw<R: NoiseSource + ?Sized>(noise: &mut R) -> Self {
        let mut id = [0; 16];
        noise.fill_bytes(&mut id);
        Self(id)
    }
}

impl core::fmt::Display for ReleaseId {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl core::fmt::Debug for ReleaseId {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "ReleaseId({self})")
    }
}

/// The law of the noise in every cell, with its exact parameters in grid units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoiseLaw {
    /// Discrete Gaussian of parameter σ².
    Gaussian {
        /// σ².
        variance: Variance,
    },
    /// Discrete Laplace of scale t.
    Laplace {
        /// t.
        scale: Scale,
    },
    /// The sum of discrete Gaussians that several parties drew.
    GaussianShares {
        /// σ² of one share.
        share: Variance,
        /// Shares that the stated cost counts on: those that stay secret.
        secret: u32,
        /// Shares in the sum.
        summed: u32,
    },
    /// The sum of negative binomial differences that several parties drew: a discrete Laplace of scale t if there are
    /// as many as it was divided for.
    LaplaceShares {
        /// t.
        scale: Scale,
        /// Shares that the stated cost counts on: those that stay secret.
        secret: u32,
        /// Shares in the sum.
        summed: u32,
    },
}

impl NoiseLaw {
    /// The variance of a cell's noise: that of the discrete law, which is a little below σ² where σ² is small.
    #[must_use]
    pub fn variance(&self) -> f64 {
        match *self {
            Self::Gaussian { variance } => ReferenceGaussian::new(variance).variance(),
            Self::Laplace { scale } => ReferenceLaplace::new(scale).variance(),
            Self::GaussianShares { share, summed, .. } => f64::from(summed) * ReferenceGaussian::new(share).variance(),
            Self::LaplaceShares { scale, secret, summed } => {
                f64::from(summed) / f64::from(secret) * ReferenceLaplace::new(scale).variance()
            }
        }
    }
}

impl NoiseLaw {
    /// The variance of the normal law whose tails bound those of a cell's noise, one unit further out: the parameter of
    /// discrete Gaussians, as `P[N ≥ m] ≤ P[G ≥ m − 1]` \[CKS20, Proposition 25\]. Their own variance is far smaller where
    /// σ² is below 1, and too small for that.
    pub(crate) fn tail_variance(&self) -> f64 {
        match *self {
            Self::Gaussian { variance } => variance.to_f64(),
            Self::GaussianShares { share, summed, .. } => f64::from(summed) * share.to_f64(),
            Self::Laplace { .. } | Self::LaplaceShares { .. } => self.variance(),
        }
    }
}

/// What a release costs.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum PrivacyCost {
    /// ρ of zero-concentrated differential privacy.
    Rho(Rho),
    /// ε of pure differential privacy.
    Epsilon(Epsilon),
}

/// Whom a release protects, and what it cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Guarantee {
    pub(crate) bound: ContributionBound,
    pub(crate) parts: u32,
    pub(crate) relation: Neighbouring,
    pub(crate) cost: PrivacyCost,
}

impl Guarantee {
    /// The unit of privacy and how much it may have added, in grid units.
    #[must_use]
    pub const fn bound(&self) -> ContributionBound {
        self.bound
    }

    /// Raw sketches, bounded apart and merged before the release, that one user's data may have been in.
    #[must_use]
    pub const fn parts(&self) -> u32 {
        self.parts
    }

    /// Which data sets are neighbours.
    #[must_use]
    pub const fn relation(&self) -> Neighbouring {
        self.relation
    }

    /// The level as stated by the permit; the noise costs no more.
    #[must_use]
    pub const fn cost(&self) -> PrivacyCost {
        self.cost
    }
}

/// One release in a sketch: its name, its noise, and by what factor it is in the sum.
///
/// Noise that was [added on top](crate::PrivateCountSketch::top_up) is a release without a guarantee: it costs nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leaf {
    pub(crate) id: ReleaseId,
    pub(crate) law: NoiseLaw,
    pub(crate) factor: i64,
    pub(crate) guarantee: Option<Guarantee>,
}

impl Leaf {
    /// The name of the release.
    #[must_use]
    pub const fn id(&self) -> ReleaseId {
        self.id
    }

    /// The law of its noise, before the factor.
    #[must_use]
    pub const fn law(&self) -> NoiseLaw {
        self.law
    }

    /// By what it was multiplied, −1 after a subtraction; never 0.
    #[must_use]
    pub const fn factor(&self) -> i64 {
        self.factor
    }

    /// Whom it protects at what cost; `None` for noise without data.
    #[must_use]
    pub const fn guarantee(&self) -> Option<Guarantee> {
        self.guarantee
    }

    /// The variance that it adds to a cell of the sum.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a variance for estimates")]
    pub fn variance(&self) -> f64 {
        let factor = self.factor as f64;
        factor * factor * self.law.variance()
    }

    /// As [`variance`](Self::variance), of the normal law behind the tails.
    #[expect(clippy::cast_precision_loss, reason = "a variance for estimates")]
    pub(crate) fn tail_variance(&self) -> f64 {
        let factor = self.factor as f64;
        factor * factor * self.law.tail_variance()
    }
}

impl Leaf {
    /// Whether its noise is enough for what it states to cost, in a sketch of this shape.
    pub(crate) fn keeps_its_cost(&self, shape: CountSketchShape) -> bool {
        let Some(Guarantee { bound, parts, relation, cost }) = self.guarantee else { return true };
        let exposure = Exposure::new(shape, bound, parts, relation);
        let (Ok(l1), Ok(squared_l2)) = (exposure.l1(), exposure.squared_l2()) else { return false };
        match (self.law, cost) {
            (NoiseLaw::Gaussian { variance }, PrivacyCost::Rho(rho)) => {
                variance.rho_cost(squared_l2).is_ok_and(|cost| cost <= rho)
            }
            (NoiseLaw::Laplace { scale }, PrivacyCost::Epsilon(epsilon)) => {
                scale.epsilon_cost(l1).is_ok_and(|cost| cost <= epsilon)
            }
            // Costs of Gaussian shares are floats, of which the last bits may differ between machines.
            (NoiseLaw::GaussianShares { share, secret, summed }, PrivacyCost::Rho(rho)) => {
                let exact_up_to = 1.0 + f64::from(f32::EPSILON) / 128.0;
                let cost = gaussian_cost(&exposure, secret, share);
                secret <= summed
                    && summed <= ShareTerms::MAX_SHARES
                    && cost.is_ok_and(|cost| cost.get() <= rho.get() * exact_up_to)
            }
            (NoiseLaw::LaplaceShares { scale, secret, summed }, PrivacyCost::Epsilon(epsilon)) => {
                let shares = 1 <= secret && secret <= summed && summed <= ShareTerms::MAX_SHARES;
                shares && scale.epsilon_cost(l1).is_ok_and(|cost| cost <= epsilon)
            }
            _ => false,
        }
    }
}

/// A release that appears more than once, if any.
pub(crate) fn first_repeated(ids: impl Iterator<Item = ReleaseId>) -> Option<ReleaseId> {
    let mut sorted: Vec<ReleaseId> = ids.collect();
    sorted.sort_unstable();
    sorted.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}
