//! Failed releases.

use dp_noise::{
    CalibrationError, EntropyError, Epsilon, FractionError, ParameterError, Rho, SampleError, SensitivityError,
};

use crate::bound::ContributionBound;
use crate::lineage::LineageError;

/// A release that did not happen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReleaseError {
    /// No random bytes for the noise.
    #[error("no entropy for the noise")]
    Entropy(#[from] EntropyError),
    /// No noise was found for ε and δ.
    #[error("calibration")]
    Calibration(#[from] CalibrationError),
    /// Neighbouring data differs by more than can be protected.
    #[error("sensitivity")]
    Sensitivity(#[from] SensitivityError),
    /// The level asks for noise out of range.
    #[error("noise")]
    Noise(#[from] FractionError),
    /// The cost of the noise is out of range.
    #[error("cost")]
    Cost(#[from] ParameterError),
    /// The noise is too large for 64-bit counters.
    #[error("the {name} of the noise is at most {max}, found {found}")]
    TooMuchNoise {
        /// Which parameter.
        name: &'static str,
        /// The largest value.
        max: f64,
        /// The value that the level asks for.
        found: f64,
    },
    /// The sampler refused.
    #[error("sampler")]
    Sample(#[from] SampleError),
    /// Noise that was calibrated for another shape, bound or number of parts.
    #[error("the noise was calibrated for a sketch of another shape or bound")]
    Terms,
    /// The permit pays for less than the noise costs.
    #[error("the permit pays for {paid:?}, the release costs {cost:?}")]
    Underpaid {
        /// What the permit allows.
        paid: Rho,
        /// What the release costs.
        cost: Rho,
    },
    /// The permit pays for less than the shares cost.
    #[error("the permit pays for {paid:?}, the release costs {cost:?}")]
    UnderpaidEpsilon {
        /// What the permit allows.
        paid: Epsilon,
        /// What the release costs.
        cost: Epsilon,
    },
    /// Exact calibration is for records that are added or removed.
    #[error("exact calibration is for one record added or removed, the sketch bounds {bound}")]
    NotExact {
        /// The bound of the sketch.
        bound: ContributionBound,
    },
    /// Shares of noise for fewer than two parties, or for too many.
    #[error("noise is shared by {min} ..= {max} parties, found {found}")]
    Shares {
        /// The fewest.
        min: u32,
        /// The most.
        max: u32,
        /// The number given.
        found: u32,
    },
    /// A variance below 2: the sum of such noises hides less than its variance says.
    #[error("noise that is added up needs a variance of at least 2 each, found {found}")]
    SmallVariance {
        /// The variance given.
        found: f64,
    },
    /// Noise on top of what is not one Gaussian release.
    #[error("noise is topped up only on sketches whose noise is Gaussian")]
    NotGaussian,
    /// Not one weight above 0 for every level of a stack.
    #[error("expected {expected} weights above 0, one for each level, found {found}")]
    Split {
        /// The levels.
        expected: usize,
        /// The weights given that are above 0.
        found: usize,
    },
    /// The releases in the sketch do not go together.
    #[error("history")]
    Lineage(#[from] LineageError),
    /// Words of a sum of shares that no shares add up to.
    #[error("expected a sum of {expected} words, found {found}")]
    Words {
        /// The words of a share.
        expected: usize,
        /// The words given.
        found: usize,
    },
    /// Fewer shares than the noise was calibrated for.
    #[error("the noise was calibrated for {expected} shares, the sum holds {found}")]
    MissingShares {
        /// The number that keeps the level.
        expected: u32,
        /// The number that the sum states.
        found: u64,
    },
}
