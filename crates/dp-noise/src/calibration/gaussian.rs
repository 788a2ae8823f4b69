//! The Gaussian mechanism with continuous noise, for planning and comparison.

use super::mills::{decline, density, ratio};
use super::{MARGIN, bisect, level, positive, probability_up, raised_until};
use crate::{Delta, Epsilon, ParameterError};

/// Below this `h` the difference of two ratios is integrated instead.
const NARROW: f64 = 0.05;
/// Nodes and weights of ten-point Gauss quadrature on −1 ..= 1, the positive half.
const GAUSS: [(f64, f64); 5] = [
    (0.148_874_338_981_631_2, 0.295_524_224_714_752_87),
    (0.433_395_394_129_247_2, 0.269_266_719_309_996_36),
    (0.679_409_568_299_024_4, 0.219_086_362_515_982_05),
    (0.865_063_366_688_984_5, 0.149_451_349_150_580_6),
    (0.973_906_528_517_171_7, 0.066_671_344_308_688_14),
];

/// The δ of **continuous** Gaussian noise of standard deviation σ at L2 sensitivity D, rounded up \[BW18, Theorem 8\]:
///
/// ```text
/// δ = Φ(D/(2σ) − ε σ/D) − e^ε Φ(−D/(2σ) − ε σ/D)
/// ```
///
/// A release of discrete noise is stated by zCDP or by [`exact_rows_delta`](crate::exact_rows_delta), not by this: its δ
/// is a little larger.
///
/// # Errors
/// [`ParameterError`] unless `0 <= ε <= 256` and D and σ are positive numbers.
///
/// # Examples
/// ```
/// let delta = dp_noise::gaussian_delta(1.0, 1.0, 1.0)?;
/// assert!((delta - 0.126_936_737_507).abs() < 1e-12);
/// # Ok::<(), dp_noise::ParameterError>(())
/// ```
pub fn gaussian_delta(epsilon: f64, sensitivity: f64, sigma: f64) -> Result<f64, ParameterError> {
    let (epsilon, sensitivity) = (level(epsilon)?, positive("sensitivity", sensitivity)?);
    Ok(delta_up(epsilon, sensitivity / positive("sigma", sigma)?))
}

/// The same with `D/σ`.
fn delta_up(epsilon: f64, signal: f64) -> f64 {
    let (h, c) = (signal / 2.0, epsilon / signal);
    // δ = φ(c − h) (R(c − h) − R(c + h)), because e^ε φ(c + h) = φ(c − h).
    let from = c - h;
    let delta = if h < NARROW {
        let inner: f64 = GAUSS.iter().map(|(x, weight)| weight * (decline(c + h * x) + decline(c - h * x))).sum();
        density(from) * h * inner
    } else if from >= 0.0 {
        density(from) * (ratio(from) - ratio(c + h))
    } else {
        1.0 - density(from) * (ratio(-from) + ratio(c + h))
    };
    if delta.is_nan() { 1.0 } else { probability_up(delta) }
}

/// The least standard deviation of **continuous** Gaussian noise that is (ε, δ)-differentially private at L2 sensitivity
/// D, rounded up \[BW18\]. Any `ε >= 0`.
///
/// # Errors
/// [`ParameterError`] unless `0 <= ε <= 256` and D is a positive number for which the answer is one.
///
/// # Examples
/// ```
/// let sigma = dp_noise::analytic_gaussian_sigma(1.0, dp_noise::Delta::new(1e-6)?, 1.0)?;
/// assert!((sigma - 4.224_678_889_327).abs() < 1e-11);
/// # Ok::<(), dp_noise::ParameterError>(())
/// ```
pub fn analytic_gaussian_sigma(epsilon: f64, delta: Delta, sensitivity: f64) -> Result<f64, ParameterError> {
    let (epsilon, sensitivity) = (level(epsilon)?, positive("sensitivity", sensitivity)?);
    // On the logarithm of σ/D: δ >= 2^-300 and ε <= 256 keep it well inside. The answer is checked, not trusted.
    let log_sigma = bisect(-12.0, 260.0, |u| delta_up(epsilon, (-u).exp()) <= delta.get());
    let sigma = raised_until(log_sigma.exp(), |sigma| delta_up(epsilon, 1.0 / sigma) <= delta.get());
    positive("sigma", sigma * sensitivity * (1.0 + MARGIN))
}

/// The classical standard deviation `D √(2 ln(1.25/δ))/ε`, rounded up \[DR14, Theorem A.1\].
///
/// # Errors
/// [`ParameterError`] for `ε > 1`, where the formula is not proved (and false for large ε), and unless D is a positive
/// number.
pub fn classical_gaussian_sigma(epsilon: f64, delta: Delta, sensitivity: f64) -> Result<f64, ParameterError> {
    let epsilon = crate::parameter::checked("epsilon", epsilon, Epsilon::MIN, 1.0)?;
    let sensitivity = positive("sensitivity", sensitivity)?;
    positive("sigma", sensitivity * (2.0 * (1.25 / delta.get()).ln()).sqrt() / epsilon * (1.0 + MARGIN))
}
