//! Noise levels of sums, of stacks and of topped-up sketches.

use super::{DomainError, positive};

/// The `rho` of a single release with as much noise as the sum of releases at `rhos`: `1/Σ(1/rho)`.
///
/// # Privacy
/// A noise level, not a privacy loss: see [`shared_loss`] and [`disjoint_loss`].
///
/// # Errors
/// [`DomainError`] unless every `rho` is finite and above 0, and there is one.
///
/// # Examples
/// ```
/// assert_eq!(countsketch_dp::theory::merged_noise_rho(&[0.5, 0.5])?, 0.25);
/// # Ok::<(), countsketch_dp::theory::DomainError>(())
/// ```
pub fn merged_noise_rho(rhos: &[f64]) -> Result<f64, DomainError> {
    let mut sum = 0.0;
    for &rho in rhos {
        sum += positive("rho", rho)?.recip();
    }
    positive("sum of 1/rho", sum).map(f64::recip)
}

/// The zCDP loss of releases about the same people: the sum.
///
/// # Errors
/// [`DomainError`] unless every `rho` is finite and above 0.
pub fn shared_loss(rhos: &[f64]) -> Result<f64, DomainError> {
    rhos.iter().try_fold(0.0, |sum, &rho| Ok(sum + positive("rho", rho)?))
}

/// The zCDP loss of releases of which each person is in one only: the largest.
///
/// # Errors
/// [`DomainError`] unless every `rho` is finite and above 0.
pub fn disjoint_loss(rhos: &[f64]) -> Result<f64, DomainError> {
    rhos.iter().try_fold(0.0_f64, |largest, &rho| Ok(largest.max(positive("rho", rho)?)))
}

/// Noise variances of the sketched levels of a stack under one budget, in the order of their weights:
/// `k·Σw/(2·rho·w)` for entries of weight 1.
///
/// For planning: a release computes its variances in exact fractions, rounded up.
///
/// # Errors
/// [`DomainError`] unless `rho` and every weight are finite and above 0.
///
/// # Examples
/// ```
/// let variances = countsketch_dp::theory::hierarchy_variances(9, 0.1, &[1.0, 2.0, 4.0])?;
/// assert!(variances.iter().zip([315.0, 157.5, 78.75]).all(|(got, want)| (got - want).abs() < 1e-9));
/// # Ok::<(), countsketch_dp::theory::DomainError>(())
/// ```
pub fn hierarchy_variances(rows: u32, rho: f64, weights: &[f64]) -> Result<Vec<f64>, DomainError> {
    positive("rho", rho)?;
    let total = weights.iter().try_fold(0.0, |sum, &weight| Ok(sum + positive("weight", weight)?))?;
    Ok(weights.iter().map(|weight| f64::from(rows) * total / (2.0 * rho * weight)).collect())
}

/// The noise variance to add to a cell to go from the level `rho_have` to the stronger `rho_want`:
/// `k/(2·rho_want) − k/(2·rho_have)`.
///
/// # Errors
/// [`DomainError`] unless both are finite and above 0 and `rho_want` is at most `rho_have`.
pub fn top_up_variance(rows: u32, rho_have: f64, rho_want: f64) -> Result<f64, DomainError> {
    let have = f64::from(rows) / (2.0 * positive("rho_have", rho_have)?);
    let want = f64::from(rows) / (2.0 * positive("rho_want", rho_want)?);
    super::non_negative("added variance", want - have)
}
