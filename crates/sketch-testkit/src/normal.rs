//! The normal distribution's tail.

use core::f64::consts::{FRAC_1_SQRT_2, PI};

/// `P(Z > x)` of a standard normal `Z`, to about 1e-14 relative.
///
/// Below 2 by the series `Φ(x) − ½ = φ(x) · Σ x^(2k+1) / (1·3·5···(2k+1))`, above by the continued fraction
/// `φ(x) / (x + 1/(x + 2/(x + 3/(x + …))))`.
///
/// # Examples
/// ```
/// let tail = sketch_testkit::normal_tail(1.959_963_984_540_054);
/// assert!((tail - 0.025).abs() < 1e-14);
/// ```
#[must_use]
pub fn normal_tail(x: f64) -> f64 {
    if x < 0.0 {
        return 1.0 - normal_tail(-x);
    }
    let density = (-0.5 * x * x).exp() * FRAC_1_SQRT_2 / PI.sqrt();
    if x < 2.0 {
        let (mut term, mut sum, mut odd) = (x, 0.0, 1.0);
        while term > 1e-18 {
            sum += term;
            odd += 2.0;
            term *= x * x / odd;
        }
        0.5 - density * sum
    } else {
        // From the inside out; 200 levels are more than enough from 2 on.
        let fraction = (1..=200).rev().fold(x, |below, k| x + f64::from(k) / below);
        density / fraction
    }
}

/// The `z` that a standard normal exceeds in absolute value with probability `false_alarm`.
///
/// # Panics
/// When `false_alarm` is not strictly between 0 and 1.
///
/// # Examples
/// ```
/// assert!((sketch_testkit::two_sided_z(0.05) - 1.959_963_984_540_054).abs() < 1e-12);
/// assert!((sketch_testkit::two_sided_z(1e-6) - 4.891_638_475_698_590).abs() < 1e-12);
/// ```
#[must_use]
pub fn two_sided_z(false_alarm: f64) -> f64 {
    assert!(false_alarm > 0.0 && false_alarm < 1.0, "a probability strictly between 0 and 1, not {false_alarm}");
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if 2.0 * normal_tail(middle) > false_alarm {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}
