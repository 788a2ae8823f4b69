//! Divergences from their definition.
#![allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "numbers are small")]

use dp_noise::Variance;

/// Rényi divergence of order α between a discrete Gaussian and the same moved by `shift`, from its definition.
pub(crate) fn renyi(variance: Variance, shift: i64, alpha: f64) -> f64 {
    let s2 = variance.to_f64();
    // The summand is largest near (1 − α) shift.
    let reach = 40 + shift.abs() * (alpha as i64 + 2) + (40.0 * s2.sqrt()) as i64;
    let log_weight = |x: i64| -((x * x) as f64) / (2.0 * s2);
    let log_sum = |terms: Vec<f64>| {
        let largest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        largest + terms.iter().map(|term| (term - largest).exp()).sum::<f64>().ln()
    };
    let mass = log_sum((-reach..=reach).map(log_weight).collect());
    let terms = (-reach..=reach).map(|x| alpha * log_weight(x) + (1.0 - alpha) * log_weight(x - shift) - mass);
    log_sum(terms.collect()) / (alpha - 1.0)
}
