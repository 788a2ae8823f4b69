//! The standard normal law.

use core::f64::consts::{FRAC_1_SQRT_2, PI};

/// `P(Z > x)`, to 1e-13 of itself in the upper tail.
///
/// Up to 3 by the series `Φ(x) − ½ = φ(x)·Σ x^(2i+1)/(1·3·5···(2i+1))`, beyond by the continued fraction
/// `φ(x)/(x + 1/(x + 2/(x + 3/(x + …))))`.
pub(crate) fn upper_tail(x: f64) -> f64 {
    if x < 0.0 {
        return 1.0 - upper_tail(-x);
    }
    if x > 3.0 {
        return density(x) / (1..=40).rev().fold(x, |below, level| x + f64::from(level) / below);
    }
    let (mut term, mut sum, mut odd) = (x, 0.0, 1.0);
    while term > sum * 1e-17 {
        sum += term;
        odd += 2.0;
        term *= x * x / odd;
    }
    0.5 - density(x) * sum
}

/// `P(Z ≤ x)`, with its relative precision in the lower tail.
pub(crate) fn cdf(x: f64) -> f64 {
    upper_tail(-x)
}

/// The density at `x`.
pub(crate) fn density(x: f64) -> f64 {
    (-0.5 * x * x).exp() * FRAC_1_SQRT_2 / PI.sqrt()
}

/// `P(|Z − shift| ≤ half_width)` for `shift ≥ 0`, as a difference of upper tails.
pub(crate) fn window(shift: f64, half_width: f64) -> f64 {
    if shift >= half_width {
        (upper_tail(shift - half_width) - upper_tail(shift + half_width)).max(0.0)
    } else {
        1.0 - upper_tail(half_width - shift) - upper_tail(shift + half_width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_keep_their_relative_precision() {
        // Values of the C library's erfc(x/√2)/2.
        let table = [
            (0.0, 0.5),
            (0.5, 0.308_537_538_725_986_9),
            (1.0, 0.158_655_253_931_457_07),
            (3.0, 0.001_349_898_031_630_095_7),
            (8.0, 6.220_960_574_271_819e-16),
            (20.0, 2.753_624_118_606_331_4e-89),
            (35.0, 1.124_910_706_472_553_4e-268),
        ];
        for (x, want) in table {
            assert!((upper_tail(x) / want - 1.0).abs() < 1e-12, "{x}");
            assert!((cdf(x) - (1.0 - want)).abs() < 1e-15);
        }
    }

    #[test]
    fn the_series_meets_the_fraction() {
        let (below, above) = (upper_tail(3.0), upper_tail(3.0_f64.next_up()));
        assert!((below / above - 1.0).abs() < 1e-13);
        assert!(upper_tail(f64::INFINITY).abs() < f64::MIN_POSITIVE);
    }

    #[test]
    fn a_window_is_the_integral_of_the_density() {
        for (shift, half_width) in [(0.0, 1.0), (2.0, 1.0), (5.0, 0.25), (1.0, 4.0)] {
            let steps = 20_000;
            let width = 2.0 * half_width / f64::from(steps);
            let sum: f64 = (0..steps).map(|i| density(shift - half_width + (f64::from(i) + 0.5) * width) * width).sum();
            assert!((window(shift, half_width) - sum).abs() < 1e-8);
        }
    }
}
