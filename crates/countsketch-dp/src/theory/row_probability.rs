//! How much of its law one row keeps within ±g: the bound by characteristic functions.

use core::f64::consts::PI;

use super::normal::{density, upper_tail};
use super::quadrature::{panel, panels};
use super::{DomainError, non_negative, positive, row_probability_chebyshev};

/// `2√2/(3π)`, the slope of [`row_probability_fejer`] in `g/√v` at 0 without noise.
pub const ROW_PROBABILITY_SLOPE: f64 = 0.300_105_438_719_035_34;

/// Panels of the oscillating integral, each one period of `sin²` long, before its mean takes over.
const PERIODS: u32 = 2048;

/// A lower bound on `P[|A + B| ≤ g]` for one row: `A` symmetric with variance at most `v` and a non-negative
/// characteristic function, `B ~ N(0, s²)` independent. The larger of [`row_probability_fejer`] and
/// [`row_probability_chebyshev`].
///
/// In a CountSketch with fully random hashing `A` is the error by collisions, `v = ‖x‖²/b` without the item itself.
/// Discrete Gaussian noise with `σ² ≥ 1` changes the result by less than 1e-8 of it.
///
/// # Errors
/// [`DomainError`] unless `gamma` is finite and above 0 and both variances are finite and at least 0.
///
/// # Examples
/// ```
/// let p = countsketch_dp::theory::row_probability(3.0, 1.0, 1.0)?;
/// assert!((p - 0.631_694_6).abs() < 1e-6);
/// # Ok::<(), countsketch_dp::theory::DomainError>(())
/// ```
pub fn row_probability(gamma: f64, v: f64, s2: f64) -> Result<f64, DomainError> {
    Ok(row_probability_fejer(gamma, v, s2)?.max(row_probability_chebyshev(gamma, v, s2)?))
}

/// The bound `(g/π)·∫_0^{√(2/v)} sinc(gt/2)²·(1 − vt²/2)·exp(−s²t²/2) dt`, with `sinc(z) = sin(z)/z`.
///
/// The triangle on `[−g, g]` lies below the indicator and has a non-negative transform, and the characteristic function
/// of `A` is at least `max(0, 1 − vt²/2)`. Best for small `g`. For `v = 0` the integral runs to infinity and is
/// `E max(0, 1 − |B|/g)`.
///
/// # Errors
/// [`DomainError`] unless `gamma` is finite and above 0 and both variances are finite and at least 0.
pub fn row_probability_fejer(gamma: f64, v: f64, s2: f64) -> Result<f64, DomainError> {
    let g = positive("gamma", gamma)?;
    let (v, s2) = (non_negative("v", v)?, non_negative("s2", s2)?);
    if v == 0.0 {
        return Ok(triangle_of_noise(g, s2.sqrt()));
    }
    // u = gt/2 up to U = g/√(2v): p = (2/π)·∫_0^U sinc(u)²·(1 − (u/U)²)·exp(−2(s/g)²u²) du.
    let end = g / (2.0 * v).sqrt();
    let decay = 2.0 * s2 / (g * g);
    let smooth = |u: f64| (1.0 - (u / end).powi(2)).max(0.0) * (-decay * u * u).exp();
    // Where the exponential is below 1e-17 nothing is left.
    let stop = if decay > 0.0 { end.min((39.0 / decay).sqrt()) } else { end };
    Ok((2.0 / PI * oscillating(stop, smooth)).clamp(0.0, 1.0))
}

/// `∫_0^end sinc(u)²·smooth(u) du` for a decreasing weight in `0 ..= 1`; never above the truth by more than rounding.
fn oscillating(end: f64, smooth: impl Fn(f64) -> f64) -> f64 {
    let near = end.min(f64::from(PERIODS) * PI);
    let mut sum = 0.0;
    let mut start = 0.0;
    while start < near {
        let stop = (start + PI).min(near);
        sum += panel(start, stop, |u| sinc(u).powi(2) * smooth(u));
        start = stop;
    }
    if end <= near {
        return sum;
    }
    // Beyond, sin² is ½ − cos(2u)/2: the half is integrated on a logarithmic scale, and the cosine is at most
    // smooth(near)/(2·near²) by the second mean value theorem.
    let half = panels(near.ln(), end.ln(), 64, |log| 0.5 * (-log).exp() * smooth(log.exp()));
    sum + (half - 0.5 * smooth(near) / (near * near)).max(0.0)
}

fn sinc(z: f64) -> f64 {
    if z < 1e-4 { 1.0 - z * z / 6.0 } else { z.sin() / z }
}

/// `E max(0, 1 − |B|/g)` for `B ~ N(0, s²)`.
fn triangle_of_noise(g: f64, s: f64) -> f64 {
    if s == 0.0 {
        return 1.0;
    }
    let z = g / s;
    if z < 8.0 {
        // 2z·∫_0^1 (1−y)·φ(zy) dy, whose terms all are positive.
        return 2.0 * z * panels(0.0, 1.0, 8, |y| (1.0 - y) * density(z * y));
    }
    1.0 - 2.0 * upper_tail(z) - 2.0 / z * (density(0.0) - density(z))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_the_noise_triangle_agree() {
        let below = triangle_of_noise(7.999_999_999, 1.0);
        let above = triangle_of_noise(8.000_000_001, 1.0);
        assert!((below - above).abs() < 1e-9);
        assert!((triangle_of_noise(1e-3, 1.0) / (1e-3 * density(0.0)) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn vanishing_collisions_leave_the_noise_triangle() {
        for g in [0.1, 1.0, 5.0] {
            let limit = row_probability_fejer(g, 0.0, 1.0).unwrap();
            assert!((row_probability_fejer(g, 1e-9, 1.0).unwrap() / limit - 1.0).abs() < 1e-6, "{g}");
        }
    }

    /// Without noise: `(2/π)·(Si(2U) − sin²(U)/U − (1/U²)(U/2 − sin(2U)/4))`, with `Si` by its asymptotic series.
    #[test]
    fn wide_windows_agree_with_the_sine_integral() {
        for end in [1e3_f64, 5e4, 1e6] {
            let x = 2.0 * end;
            let si = PI / 2.0 - x.cos() / x * (1.0 - 2.0 / (x * x)) - x.sin() / (x * x) * (1.0 - 6.0 / (x * x));
            let inner = si - end.sin().powi(2) / end - (end / 2.0 - x.sin() / 4.0) / (end * end);
            let want = 2.0 / PI * inner;
            let got = row_probability_fejer(end * 2.0_f64.sqrt(), 1.0, 0.0).unwrap();
            assert!((got - want).abs() < 3e-8 && got <= want + 1e-12, "{end}: {got} {want}");
        }
    }

    #[test]
    fn the_slope_is_met_at_small_windows() {
        assert!((ROW_PROBABILITY_SLOPE / (2.0 * 2.0_f64.sqrt() / (3.0 * PI)) - 1.0).abs() < 1e-15);
        let p = row_probability_fejer(1e-4, 1.0, 0.0).unwrap();
        assert!((p / 1e-4 / ROW_PROBABILITY_SLOPE - 1.0).abs() < 1e-7);
    }
}
