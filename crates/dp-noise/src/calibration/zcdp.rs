//! From zCDP to (ε, δ) and back, pure ε as zCDP, groups and shares of a budget.

use super::{MARGIN, bisect, probability_up, raised_until};
use crate::fraction::{odd_digits, quotient_down};
use crate::wide::Wide;
use crate::{Delta, Epsilon, ParameterError, Rho};

/// Orders `a = 1 + e^u` are searched for `u` in this range.
const LOG_ORDERS: f64 = 60.0;

/// `ln δ` by the order `a = 1 + b`: `(a − 1)(a ρ − ε) − ln(a − 1) + a ln(1 − 1/a)`.
///
/// Written in `b` and its logarithm `u`: with `a`, the difference `1 − 1/a` costs digits on the unsafe side.
fn log_delta_at(rho: f64, epsilon: f64, u: f64) -> f64 {
    let b = u.exp();
    b * ((b + 1.0) * rho - epsilon) - u - (b + 1.0) * (-u).exp().ln_1p()
}

/// The `u` of the least bound: the derivative `(2b + 1) ρ − ε − ln(1 + 1/b)` grows with `u`.
fn best_log_order(rho: f64, epsilon: f64) -> f64 {
    bisect(-LOG_ORDERS, LOG_ORDERS, |u| (2.0 * u.exp() + 1.0) * rho - epsilon - (-u).exp().ln_1p() >= 0.0)
}

/// The δ at which a ρ-zCDP mechanism is (ε, δ)-differentially private, rounded up \[CKS20, Proposition 7\].
///
/// ```text
/// δ = min over a > 1 of  e^((a − 1)(a ρ − ε)) / (a − 1) · (1 − 1/a)^a
/// ```
///
/// Any `a` gives a valid bound, so a minimum that is not quite met is safe. Never 0: an answer below the least normal
/// number is stated as that one. For a negative or missing ε (NaN) it is that at 0.
///
/// # Examples
/// ```
/// let delta = dp_noise::zcdp_delta(dp_noise::Rho::new(0.1)?, 1.0);
/// assert!((delta - 0.008_933_245_772).abs() < 1e-12);
/// # Ok::<(), dp_noise::ParameterError>(())
/// ```
#[must_use]
pub fn zcdp_delta(rho: Rho, epsilon: f64) -> f64 {
    let epsilon = epsilon.max(0.0);
    let u = best_log_order(rho.get(), epsilon);
    probability_up(log_delta_at(rho.get(), epsilon, u).exp())
}

/// The order `a > 1` at which the bound of [`zcdp_delta`] is least.
pub(crate) fn optimal_order(rho: Rho, epsilon: f64) -> f64 {
    1.0 + best_log_order(rho.get(), epsilon.max(0.0)).exp()
}

/// The least ε for which ρ-zCDP gives (ε, δ)-differential privacy by the bound of [`zcdp_delta`], rounded up; 0 where
/// even that is more than needed.
///
/// # Examples
/// ```
/// use dp_noise::{Delta, Rho, zcdp_to_dp, zcdp_to_dp_simple};
/// let (rho, delta) = (Rho::new(0.0001)?, Delta::new(1e-5)?);
/// assert!((zcdp_to_dp(rho, delta) - 0.045_047_462).abs() < 1e-9);
/// assert!(zcdp_to_dp_simple(rho, delta) > zcdp_to_dp(rho, delta));
/// # Ok::<(), dp_noise::ParameterError>(())
/// ```
#[must_use]
pub fn zcdp_to_dp(rho: Rho, delta: Delta) -> f64 {
    least_epsilon(rho, delta.get())
}

/// [`zcdp_to_dp`] for any δ in `0 .. 1`.
pub(crate) fn least_epsilon(rho: Rho, delta: f64) -> f64 {
    if zcdp_delta(rho, 0.0) <= delta {
        return 0.0;
    }
    // At the best order of the ε that is sought, ln δ = −b² ρ − ln(1 + b) and ε = (2b + 1) ρ − ln(1 + 1/b).
    let r = rho.get();
    let u = bisect(-LOG_ORDERS, LOG_ORDERS, |u| u.exp().powi(2) * r + u.exp().ln_1p() >= -delta.ln());
    let epsilon = ((2.0 * u.exp() + 1.0) * r - (-u).exp().ln_1p()).max(f64::MIN_POSITIVE);
    raised_until(epsilon, |epsilon| zcdp_delta(rho, epsilon) <= delta)
}

/// The largest ρ for which ρ-zCDP gives (ε, δ)-differential privacy by the bound of [`zcdp_delta`], rounded down.
///
/// # Errors
/// [`ParameterError`] when that is below [`Rho::MIN`].
///
/// # Examples
/// ```
/// use dp_noise::{Delta, Epsilon, dp_to_zcdp};
/// let rho = dp_to_zcdp(Epsilon::new(0.1)?, Delta::new(1e-6)?)?;
/// assert!((rho.get() - 0.000_321_047_690_346).abs() < 1e-13);
/// # Ok::<(), dp_noise::ParameterError>(())
/// ```
pub fn dp_to_zcdp(epsilon: Epsilon, delta: Delta) -> Result<Rho, ParameterError> {
    let (e, log_delta) = (epsilon.get(), delta.get().ln());
    // The ρ for which order 1 + b is the best, and ln δ = −b² ρ − ln(1 + b) there, which falls in b.
    let rho_at = |u: f64| (e + (-u).exp().ln_1p()) / (2.0 * u.exp() + 1.0);
    let u = bisect(-LOG_ORDERS, LOG_ORDERS, |u| u.exp().powi(2) * rho_at(u) + u.exp().ln_1p() >= -log_delta);
    let mut rho = Rho::new((rho_at(u) * (1.0 - MARGIN)).min(Rho::MAX))?;
    let mut step = MARGIN;
    while zcdp_delta(rho, e) > delta.get() {
        rho = Rho::new(rho.get() * (1.0 - step))?;
        step *= 2.0;
    }
    Ok(rho)
}

/// The ε of the textbook conversion, `ρ + 2 √(ρ ln(1/δ))`, rounded up: always more than [`zcdp_to_dp`] \[BS16\].
#[must_use]
pub fn zcdp_to_dp_simple(rho: Rho, delta: Delta) -> f64 {
    simple_epsilon(rho, delta.get())
}

/// [`zcdp_to_dp_simple`] for any δ in `0 .. 1`.
pub(crate) fn simple_epsilon(rho: Rho, delta: f64) -> f64 {
    (rho.get() + 2.0 * (rho.get() * -delta.ln()).sqrt()) * (1.0 + MARGIN)
}

/// The zCDP cost of a pure ε-differentially private release: `ε²/2` \[BS16\], rounded up, at least [`Rho::MIN`].
///
/// # Errors
/// [`ParameterError`] never for a valid ε: the largest costs 32768.
///
/// # Examples
/// ```
/// use dp_noise::{Epsilon, Rho, pure_to_zcdp};
/// assert_eq!(pure_to_zcdp(Epsilon::new(0.5)?)?, Rho::new(0.125)?);
/// # Ok::<(), dp_noise::ParameterError>(())
/// ```
pub fn pure_to_zcdp(epsilon: Epsilon) -> Result<Rho, ParameterError> {
    let e = epsilon.get();
    let square = e * e;
    // The rounding error of a product is itself an f64, and the fused operation gives it.
    let square = if e.mul_add(e, -square) > 0.0 { square.next_up() } else { square };
    Rho::new((square / 2.0).max(Rho::MIN))
}

/// What a ρ-zCDP release costs a group of `size` people together: `size² ρ`, rounded up.
///
/// An (ε, δ) statement for a group is converted from this; `(g ε, g δ)` would be false.
///
/// # Errors
/// [`ParameterError`] when that is above [`Rho::MAX`], or `size` is 0.
pub fn group_rho(rho: Rho, size: u32) -> Result<Rho, ParameterError> {
    let square = f64::from(size) * f64::from(size);
    // Up to 2^64: rounding of the square and of the product are within one unit of the last place each.
    let product = rho.get() * square;
    let exact = size < 1 << 26 && rho.get().mul_add(square, -product) <= 0.0;
    Rho::new(if exact { product } else { product.next_up().next_up() })
}

/// What an ε-differentially private release costs a group of `size` people together: `size ε`, rounded up.
///
/// # Errors
/// [`ParameterError`] when that is above [`Epsilon::MAX`], or `size` is 0.
pub fn group_epsilon(epsilon: Epsilon, size: u32) -> Result<Epsilon, ParameterError> {
    let product = epsilon.get() * f64::from(size);
    let exact = epsilon.get().mul_add(f64::from(size), -product) <= 0.0;
    Epsilon::new(if exact { product } else { product.next_up() })
}

/// Divides a budget in the ratio of `weights`, each share rounded down, so that the shares never exceed the whole.
///
/// # Errors
/// [`ParameterError`] when a share is below [`Rho::MIN`], as it is for weight 0.
///
/// # Examples
/// ```
/// use dp_noise::{Rho, split_rho};
/// let shares = split_rho(Rho::new(0.7)?, &[1, 2, 4])?;
/// assert!((shares[2].get() - 0.4).abs() < 1e-15);
/// assert!(shares.iter().map(|share| share.get()).sum::<f64>() <= 0.7);
/// # Ok::<(), dp_noise::ParameterError>(())
/// ```
pub fn split_rho(rho: Rho, weights: &[u32]) -> Result<Vec<Rho>, ParameterError> {
    let total: u128 = weights.iter().map(|&weight| u128::from(weight)).sum();
    let (digits, exponent) = odd_digits(rho.get());
    let share = |&weight: &u32| {
        let product = Wide::product(u128::from(digits), u128::from(weight));
        Rho::new(quotient_down(product, total, exponent).unwrap_or(0.0))
    };
    weights.iter().map(share).collect()
}
