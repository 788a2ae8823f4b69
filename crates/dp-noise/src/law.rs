//! Numbers that describe the two laws: probabilities, variances, tails. For estimates and records; no draw uses them.

use crate::{Scale, Variance};

/// From this variance on the discrete law's variance is σ² to the last bit of an `f64`: by Poisson summation they differ
/// by less than `8 π² σ² e^(−2π²σ²)` relative, 3·10⁻¹⁷ at 2.25.
const SAME_FROM: f64 = 2.25;

/// The variance of the discrete Gaussian law.
pub(crate) fn gaussian_variance(parameter: Variance) -> f64 {
    let s2 = parameter.to_f64();
    if s2 >= SAME_FROM {
        return s2;
    }
    let (mut mass, mut second, mut x) = (0.5, 0.0, 1.0_f64);
    loop {
        let weight = (-x * x / (2.0 * s2)).exp();
        if weight <= f64::EPSILON * 1e-3 * mass && x > 1.0 {
            return second / mass;
        }
        mass += weight;
        second += x * x * weight;
        x += 1.0;
    }
}

/// The variance `2q/(1 − q)²` of the discrete Laplace law.
pub(crate) fn laplace_variance(parameter: Scale) -> f64 {
    let inverse = 1.0 / parameter.to_f64();
    let gap = -(-inverse).exp_m1(); // 1 − q
    2.0 * (-inverse).exp() / (gap * gap)
}
