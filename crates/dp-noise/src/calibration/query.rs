//! One integer query with discrete Gaussian noise.

use super::CalibrationError;
use super::rows::exact_rows_delta;
use crate::{Epsilon, Variance};

/// The exact δ, rounded up, of one integer query that neighbours move by `sensitivity`, with discrete Gaussian noise.
///
/// ```text
/// δ = P[X >= j] − e^ε P[X >= j + D],   j = ⌊ε σ²/D − D/2⌋ + 1
/// ```
///
/// summed as `Σ P[X = x] max(0, 1 − e^(ε − loss(x)))`, so that nothing cancels.
///
/// # Errors
/// As [`exact_rows_delta`](crate::exact_rows_delta).
///
/// # Examples
/// ```
/// use dp_noise::{Epsilon, Variance, integer_query_delta};
/// let delta = integer_query_delta(Variance::new(4, 1)?, 1, Epsilon::new(1.0)?)?;
/// assert!((delta - 0.007_248_776_846).abs() < 1e-12);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub fn integer_query_delta(variance: Variance, sensitivity: u64, epsilon: Epsilon) -> Result<f64, CalibrationError> {
    exact_rows_delta(1, variance, sensitivity, epsilon)
}
