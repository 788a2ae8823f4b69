//! How much noise a guarantee takes, and which guarantee noise gives.
//!
//! All in `f64`, in forms that lose nothing to cancellation; each answer is then moved by `2⁻⁴⁰` of itself in the safe
//! direction, which covers the errors that are left, and the inequality that defines it is checked again with it. The
//! exact noise parameters of a release ([`Variance`](crate::Variance), [`Scale`](crate::Scale)) come after this: what a
//! release costs is computed from them in integers.

mod distributed;
mod gaussian;
mod mills;
mod query;
mod rows;
mod zcdp;

use core::fmt;

pub use distributed::{DistributedBound, distributed_gaussian_rho, merged_noise_rho, top_up_rho, top_up_variance};
pub use gaussian::{analytic_gaussian_sigma, classical_gaussian_sigma, gaussian_delta};
pub use query::integer_query_delta;
pub use rows::{calibrate_exact_rows, exact_rows_delta};
pub use zcdp::{
    dp_to_zcdp, group_epsilon, group_rho, pure_to_zcdp, split_rho, zcdp_delta, zcdp_to_dp, zcdp_to_dp_simple,
};
pub(crate) use zcdp::{least_epsilon, optimal_order, simple_epsilon};

use crate::{FractionError, ParameterError};

/// The relative margin by which an answer is moved in the safe direction.
pub(crate) const MARGIN: f64 = crate::parameter::power_of_two(-40);

/// A calibration that cannot be made.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum CalibrationError {
    /// A number outside its range.
    Parameter(ParameterError),
    /// A variance outside its range.
    Variance(FractionError),
    /// A count of zero where there must be at least one.
    Zero {
        /// What is counted.
        name: &'static str,
    },
    /// Noise too wide to sum its law term by term.
    TooWide {
        /// The standard deviation of the sum over the rows.
        std_dev: f64,
        /// The largest that is computed.
        max: f64,
    },
}

impl fmt::Display for CalibrationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parameter(_) => f.write_str("a parameter of the calibration is out of range"),
            Self::Variance(_) => f.write_str("a variance of the calibration is out of range"),
            Self::Zero { name } => write!(f, "the number of {name} must be at least 1, found 0"),
            Self::TooWide { std_dev, max } => {
                write!(
                    f,
                    "the noise of all rows has standard deviation {std_dev:?}, above the {max:?} that is summed up"
                )
            }
        }
    }
}

impl core::error::Error for CalibrationError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Parameter(error) => Some(error),
            Self::Variance(error) => Some(error),
            Self::Zero { .. } | Self::TooWide { .. } => None,
        }
    }
}

impl From<ParameterError> for CalibrationError {
    fn from(error: ParameterError) -> Self {
        Self::Parameter(error)
    }
}

impl From<FractionError> for CalibrationError {
    fn from(error: FractionError) -> Self {
        Self::Variance(error)
    }
}

/// A probability computed in `f64`, rounded up by the margin; never 0, never above 1.
fn probability_up(value: f64) -> f64 {
    (value * (1.0 + MARGIN)).clamp(f64::MIN_POSITIVE, 1.0)
}

/// Raises `value` by the margin, and by twice as much each time that it does not hold.
fn raised_until(value: f64, holds: impl Fn(f64) -> bool) -> f64 {
    let (mut value, mut step) = (value * (1.0 + MARGIN), MARGIN);
    while !holds(value) && value.is_finite() {
        value = value * (1.0 + step) + f64::MIN_POSITIVE;
        step *= 2.0;
    }
    value
}

/// Halves the interval `low ..= high` until it has the resolution of `f64`; `is_high` holds from some point on.
fn bisect(mut low: f64, mut high: f64, is_high: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..200 {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            break;
        }
        if is_high(middle) { high = middle } else { low = middle }
    }
    high
}

/// Accepts a positive finite number; NaN and −0 are none.
fn positive(name: &'static str, value: f64) -> Result<f64, ParameterError> {
    crate::parameter::checked(name, value, f64::MIN_POSITIVE, f64::MAX)
}

/// Accepts an ε of 0 or more, up to what any parameter may be.
fn level(epsilon: f64) -> Result<f64, ParameterError> {
    crate::parameter::checked("epsilon", epsilon, 0.0, crate::Epsilon::MAX)
}
