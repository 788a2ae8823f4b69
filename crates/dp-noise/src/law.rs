//! Numbers that describe the two laws: probabilities, variances, tails. For estimates and records; no draw uses them.

use core::f64::consts::{PI, TAU};

use crate::dyadic::to_f64;
use crate::{Scale, Variance};

/// From this variance on the sums are evaluated by Poisson summation, of which two terms are enough.
const WIDE: f64 = 1.0;
/// The widest law whose tail is summed term by term.
const MAX_STD_DEV: f64 = 1_048_576.0;

/// `e^(−x²/(2σ²))`
pub(crate) fn gaussian_weight(s2: f64, x: i64) -> f64 {
    let x = to_f64(x.unsigned_abs());
    (-x * x / (2.0 * s2)).exp()
}

/// `Σ e^(−y²/(2σ²))`, by `√(2πσ²) (1 + 2 Σ e^(−2π²σ²n²))` where the law is wide.
pub(crate) fn gaussian_norm(s2: f64) -> f64 {
    if s2 >= WIDE {
        return (TAU * s2).sqrt() * (1.0 + 2.0 * dual(s2, |_| 1.0));
    }
    1.0 + 2.0 * narrow(s2, |_| 1.0)
}

/// `Σ_{n>=1} factor(n) e^(−2π²σ²n²)`
fn dual(s2: f64, factor: impl Fn(f64) -> f64) -> f64 {
    (1..4).map(f64::from).map(|n| factor(n) * (-2.0 * PI * PI * s2 * n * n).exp()).sum()
}

/// `Σ_{y>=1} factor(y) e^(−y²/(2σ²))` for `σ² < 1`: beyond 40 nothing is left.
fn narrow(s2: f64, factor: impl Fn(f64) -> f64) -> f64 {
    (1..40).map(f64::from).map(|y| factor(y) * (-y * y / (2.0 * s2)).exp()).sum()
}

/// `1 − Var/σ²`. By Poisson summation `Var = σ² − 4π²σ⁴ · 2 Σ n² e^(−2π²σ²n²) / (1 + 2 Σ e^(−2π²σ²n²))`.
pub(crate) fn gaussian_variance_deficit(s2: f64) -> f64 {
    if s2 >= WIDE {
        return 8.0 * PI * PI * s2 * dual(s2, |n| n * n) / (1.0 + 2.0 * dual(s2, |_| 1.0));
    }
    1.0 - narrow_variance(s2) / s2
}

fn narrow_variance(s2: f64) -> f64 {
    2.0 * narrow(s2, |y| y * y) / gaussian_norm(s2)
}

/// The variance of the discrete Gaussian law.
pub(crate) fn gaussian_variance(parameter: Variance) -> f64 {
    let s2 = parameter.to_f64();
    if s2 >= WIDE { s2 * (1.0 - gaussian_variance_deficit(s2)) } else { narrow_variance(s2) }
}

/// `P[X >= from]`; `None` where the sum is too long.
pub(crate) fn gaussian_tail(s2: f64, from: i64) -> Option<f64> {
    if s2.sqrt() > MAX_STD_DEV {
        return None;
    }
    if from <= 0 {
        // P[X >= −m] = 1 − P[X >= m + 1]
        let above = gaussian_tail(s2, from.checked_neg()?.checked_add(1)?)?;
        return Some(1.0 - above);
    }
    let start = to_f64(from.unsigned_abs());
    let (mut sum, mut x) = (0.0, start);
    loop {
        // Relative to the first term, so that nothing underflows on the way.
        let term = ((start - x) * (start + x) / (2.0 * s2)).exp();
        sum += term;
        if term <= f64::EPSILON * 1e-4 * sum {
            return Some(sum * (-start * start / (2.0 * s2)).exp() / gaussian_norm(s2));
        }
        x += 1.0;
    }
}

/// The probability of `x` under the discrete Laplace law: `tanh(1/(2t)) e^(−|x|/t)`.
pub(crate) fn laplace_probability(t: f64, x: i64) -> f64 {
    (0.5 / t).tanh() * (-to_f64(x.unsigned_abs()) / t).exp()
}

/// The variance `2q/(1 − q)²` of the discrete Laplace law.
pub(crate) fn laplace_variance(parameter: Scale) -> f64 {
    let inverse = 1.0 / parameter.to_f64();
    let gap = -(-inverse).exp_m1(); // 1 − q
    2.0 * (-inverse).exp() / (gap * gap)
}
