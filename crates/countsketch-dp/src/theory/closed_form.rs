//! Simple bounds for the back of an envelope.

use super::{DomainError, require};

/// `min(1, 2·exp(−0.042·α²·k))`: a bound on `P[|error| > α·√V]` with `V = ‖x‖²/b + σ²` (the item's own value left out
/// of the norm), for `α` in `0 ..= 1`.
///
/// Rigorous for fully random hashing and loose: answers use the binomial form with a numeric row probability. It follows
/// from [`median_tail`](super::median_tail) with `p ≥ 0.29·α`.
///
/// # Errors
/// [`DomainError`] when `alpha` is not in `0 ..= 1`.
///
/// # Examples
/// ```
/// let bound = countsketch_dp::theory::closed_form_tail(1.0, 101)?;
/// assert!((bound - 2.0 * (-4.242_f64).exp()).abs() < 1e-12);
/// # Ok::<(), countsketch_dp::theory::DomainError>(())
/// ```
pub fn closed_form_tail(alpha: f64, rows: u32) -> Result<f64, DomainError> {
    envelope(0.042, alpha, rows)
}

/// As [`closed_form_tail`] with the tail norm, `V = ‖tail_{b/2}(x)‖²/b + σ²`: `min(1, 2·exp(−0.0149·α²·k))`, for a
/// width `b` of at least 16.
///
/// # Errors
/// [`DomainError`] when `alpha` is not in `0 ..= 1` or `width` is below 16.
pub fn closed_form_tail_norm(alpha: f64, rows: u32, width: u32) -> Result<f64, DomainError> {
    require("width", "at least 16", f64::from(width), width >= 16)?;
    envelope(0.0149, alpha, rows)
}

fn envelope(constant: f64, alpha: f64, rows: u32) -> Result<f64, DomainError> {
    require("alpha", "in 0 ..= 1", alpha, (0.0..=1.0).contains(&alpha))?;
    Ok((2.0 * (-constant * alpha * alpha * f64::from(rows)).exp()).min(1.0))
}
