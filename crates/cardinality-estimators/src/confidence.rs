//! The confidence of an interval and its normal quantile.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::ParamError;

/// The probability with which an interval is to cover the truth, with its two-sided normal quantile.
///
/// # Examples
/// ```
/// use cardinality_estimators::Confidence;
/// assert_eq!(Confidence::P95.get(), 0.95);
/// assert!((Confidence::new(0.99)?.z() - 2.5758).abs() < 1e-4);
/// # Ok::<(), cardinality_estimators::ParamError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Confidence {
    level: f64,
    z: f64,
}

impl Confidence {
    /// 95 %, the default everywhere.
    pub const P95: Self = Self { level: 0.95, z: 1.959_963_984_540_054 };
    /// The smallest accepted confidence.
    pub const MIN: f64 = 1e-6;
    /// The largest accepted confidence.
    pub const MAX: f64 = 1.0 - 1e-12;

    /// A confidence in `1e-6 ..= 1 − 1e-12`.
    ///
    /// # Errors
    /// [`ParamError::Confidence`] outside that range, NaN included.
    pub fn new(level: f64) -> Result<Self, ParamError> {
        if !(Self::MIN..=Self::MAX).contains(&level) {
            return Err(ParamError::Confidence { found: level });
        }
        // The lower tail keeps its relative precision, so the quantile is taken there.
        let z = -Normal::standard().inverse_cdf((1.0 - level) / 2.0);
        Ok(Self { level, z })
    }

    /// The probability itself, for example 0.95.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.level
    }

    /// The quantile `z` with `P(|Z| ≤ z) = confidence` for a standard normal `Z`.
    #[must_use]
    pub const fn z(self) -> f64 {
        self.z
    }
}

impl Default for Confidence {
    fn default() -> Self {
        Self::P95
    }
}

impl TryFrom<f64> for Confidence {
    type Error = ParamError;

    fn try_from(level: f64) -> Result<Self, ParamError> {
        Self::new(level)
    }
}
