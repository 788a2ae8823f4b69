//! The one place where counts become floating point.

/// A count as `f64`: exact up to 2^53, and to 1 part in 2^53 above.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts above 2^53 cells cannot be held in memory, and rounding is harmless"
)]
pub(crate) fn to_f64(count: u64) -> f64 {
    count as f64
}
