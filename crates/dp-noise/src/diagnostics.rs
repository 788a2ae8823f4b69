//! Numbers that describe the laws and the conversions, for planning, figures and checks. No draw and no release uses
//! them, and unlike the calibration functions they are not rounded in a safe direction unless they say so.

use crate::calibration::{least_epsilon, optimal_order, simple_epsilon};
use crate::exp::{Enclosure, exp_minus_enclosed};
use crate::law;
use crate::parameter::checked;
use crate::{ParameterError, Rho, Scale, Variance};

/// `Σ e^(−y²/(2σ²))` over all integers: what the probabilities of the discrete Gaussian are divided by.
///
/// # Examples
/// ```
/// use dp_noise::{Variance, diagnostics::gaussian_norm};
/// assert!((gaussian_norm(Variance::new(1, 4)?) - 1.271_341_522_189_015_2).abs() < 1e-15);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[must_use]
pub fn gaussian_norm(variance: Variance) -> f64 {
    law::gaussian_norm(variance.to_f64())
}

/// The probability of `x` under the discrete Gaussian law.
#[must_use]
pub fn gaussian_probability(variance: Variance, x: i64) -> f64 {
    law::gaussian_weight(variance.to_f64(), x) / gaussian_norm(variance)
}

/// `P[X >= from]` under the discrete Gaussian law, by a sum that loses no digits in the tail.
///
/// `None` for `σ > 2²⁰`, where the sum would take too long.
///
/// # Examples
/// ```
/// use dp_noise::{Variance, diagnostics::gaussian_tail};
/// let tail = gaussian_tail(Variance::new(1, 100)?, 1).ok_or("too wide")?;
/// assert!((tail / 1.928_749_847_963_918e-22 - 1.0).abs() < 1e-12);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[must_use]
pub fn gaussian_tail(variance: Variance, from: i64) -> Option<f64> {
    law::gaussian_tail(variance.to_f64(), from)
}

/// By what share the variance of the discrete Gaussian law is below σ²: `1 − Var/σ²`, without cancellation.
///
/// 14% at `σ² = 1/4`, 3.6% at 1/3, nothing to speak of from 2 on.
#[must_use]
pub fn gaussian_variance_deficit(variance: Variance) -> f64 {
    law::gaussian_variance_deficit(variance.to_f64())
}

/// The probability of `x` under the discrete Laplace law.
///
/// # Examples
/// ```
/// use dp_noise::{Scale, diagnostics::laplace_probability};
/// assert!((laplace_probability(Scale::new(1, 1)?, 0) - 0.462_117_157_260_009_8).abs() < 1e-15);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[must_use]
pub fn laplace_probability(scale: Scale, x: i64) -> f64 {
    law::laplace_probability(scale.to_f64(), x)
}

/// The mean of `|X|` under the discrete Laplace law, `2q/(1 − q²)`.
#[must_use]
pub fn laplace_mean_magnitude(scale: Scale) -> f64 {
    1.0 / (1.0 / scale.to_f64()).sinh()
}

/// The order at which the bound of [`zcdp_delta`](crate::zcdp_delta) is least.
#[must_use]
pub fn zcdp_optimal_order(rho: Rho, epsilon: f64) -> f64 {
    optimal_order(rho, epsilon)
}

/// [`zcdp_to_dp`](crate::zcdp_to_dp), rounded up as there, for any δ between 0 and 1, also such as no guarantee may state.
///
/// # Errors
/// [`ParameterError`] for any other δ.
pub fn zcdp_epsilon(rho: Rho, delta: f64) -> Result<f64, ParameterError> {
    Ok(least_epsilon(rho, probability(delta)?))
}

/// [`zcdp_to_dp_simple`](crate::zcdp_to_dp_simple) for any δ between 0 and 1.
///
/// # Errors
/// [`ParameterError`] for any other δ.
pub fn zcdp_epsilon_simple(rho: Rho, delta: f64) -> Result<f64, ParameterError> {
    Ok(simple_epsilon(rho, probability(delta)?))
}

fn probability(delta: f64) -> Result<f64, ParameterError> {
    checked("delta", delta, f64::MIN_POSITIVE, 1.0_f64.next_down())
}

/// The first 192 binary digits of `e^(−numerator/denominator)`, first word first: those that coins are compared with.
///
/// `None` for a zero denominator, an exponent of 0 (the value is 1) or above 2⁶², or when the bounds computed do not
/// agree in all digits.
///
/// # Examples
/// ```
/// use dp_noise::diagnostics::exp_minus_digits;
/// assert_eq!(exp_minus_digits(1, 1).ok_or("none")?[0], 0x5e2d_58d8_b3bc_df1a);
/// # Ok::<(), &str>(())
/// ```
#[must_use]
pub fn exp_minus_digits(numerator: u128, denominator: u128) -> Option<[u64; 3]> {
    if denominator == 0 || numerator == 0 || numerator / denominator >= 1 << 62 {
        return None;
    }
    let bounds: Enclosure<7> = exp_minus_enclosed(Enclosure::of_ratio(numerator, denominator));
    let digits = bounds.low.first_three_words();
    (digits == bounds.high.first_three_words()).then_some(digits)
}
