//! Variances of norms and inner products read off a sketch.

use super::{DomainError, non_negative, positive};

/// The variance of one row's estimate of `F₂ = Σ x²`: `2(F₂² − F₄)/b + 4s²F₂ + 2bs⁴`, with `F₄ = Σ x⁴` and noise of
/// variance `s²` in each of the `b` cells.
///
/// For 4-wise independent signs and Gaussian noise. Averaging `k` rows divides it by `k`.
///
/// # Errors
/// [`DomainError`] for negative or infinite arguments or a width of 0.
///
/// # Examples
/// ```
/// let variance = countsketch_dp::theory::f2_variance(14.0, 98.0, 8.0, 0.0)?;
/// assert_eq!(variance, 24.5); // x = (1, 2, 3): 2·(196 − 98)/8
/// # Ok::<(), countsketch_dp::theory::DomainError>(())
/// ```
pub fn f2_variance(f2: f64, f4: f64, width: f64, noise_variance: f64) -> Result<f64, DomainError> {
    let (f2, f4) = (non_negative("f2", f2)?, non_negative("f4", f4)?);
    let (b, s2) = (positive("width", width)?, non_negative("noise_variance", noise_variance)?);
    Ok(2.0 * (f2 * f2 - f4).max(0.0) / b + 4.0 * s2 * f2 + 2.0 * b * s2 * s2)
}

/// What the variance of an inner product depends on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NormPair {
    /// `‖x‖²`.
    pub left: f64,
    /// `‖y‖²`.
    pub right: f64,
    /// `⟨x, y⟩`.
    pub inner: f64,
    /// `Σ x²y²`.
    pub squares: f64,
}

/// The variance of one row's inner product of two sketches with independent noise:
/// `(‖x‖²‖y‖² + ⟨x,y⟩² − 2Σx²y²)/b + s²_y‖x‖² + s²_x‖y‖² + b·s²_x·s²_y`.
///
/// `left_noise` is the noise variance in a cell of the sketch of `x`, `right_noise` of `y`.
///
/// # Errors
/// [`DomainError`] for negative (but for the inner product) or infinite arguments or a width of 0.
pub fn inner_product_variance(
    norms: NormPair,
    width: f64,
    left_noise: f64,
    right_noise: f64,
) -> Result<f64, DomainError> {
    let (x2, y2) = (non_negative("left", norms.left)?, non_negative("right", norms.right)?);
    let (xy, x2y2) = (norms.inner, non_negative("squares", norms.squares)?);
    non_negative("inner", xy.abs())?;
    let (sx, sy) = (non_negative("left_noise", left_noise)?, non_negative("right_noise", right_noise)?);
    let b = positive("width", width)?;
    Ok((x2 * y2 + xy * xy - 2.0 * x2y2).max(0.0) / b + sy * x2 + sx * y2 + b * sx * sy)
}
