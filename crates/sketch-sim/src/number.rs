//! Conversions between integers and floats, each with its reason.

/// The nearest `f64` of a count.
#[expect(clippy::cast_precision_loss, reason = "the one place where rounding a count to the nearest f64 is meant")]
pub(crate) const fn to_f64(value: u64) -> f64 {
    value as f64
}

/// The nearest `f64` of a length.
#[expect(clippy::cast_precision_loss, reason = "lengths of lists in memory are far below 2^53")]
pub(crate) const fn length(value: usize) -> f64 {
    value as f64
}

/// The integer an `f64` holds, if it holds one in the range of `u64`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked: whole, not negative, below 2^64")]
pub(crate) fn whole(value: f64) -> Option<u64> {
    let fits = (0.0..18_446_744_073_709_551_616.0).contains(&value) && value.fract() == 0.0;
    fits.then_some(value as u64)
}

/// The integer part of a value known to lie in `0 ..= 2^63`; what lies outside is moved to the nearer end.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the range of the target")]
pub(crate) fn floor_clamped(value: f64) -> u64 {
    value.clamp(0.0, 9_223_372_036_854_775_808.0) as u64
}
