//! Answers from numbers.

use cardinality_estimators::{Confidence, Estimate, Status};

use crate::theory::{DomainError, require};

/// An answer whose interval is widened, if need be, to hold its value.
pub(crate) fn answer(
    status: Status,
    value: f64,
    std_error: Option<f64>,
    ends: (Option<f64>, Option<f64>),
    confidence: Confidence,
) -> Result<Estimate, DomainError> {
    let (lower, upper) = (ends.0.map(|end| end.min(value)), ends.1.map(|end| end.max(value)));
    Estimate::new(status, Some(value), std_error, (lower, upper), confidence).map_err(|_| improper(value, std_error))
}

/// An answer that may have either sign: `ok`, or `low_information` when its standard error is more than half its size or
/// an end is missing.
pub(crate) fn signed(
    value: f64,
    std_error: f64,
    ends: (Option<f64>, Option<f64>),
    confidence: Confidence,
) -> Result<Estimate, DomainError> {
    let known = 2.0 * std_error <= value.abs() && ends.0.is_some() && ends.1.is_some();
    let status = if known { Status::Ok } else { Status::LowInformation };
    answer(status, value, Some(std_error), ends, confidence)
}

/// `value ± z·std_error` for what cannot be negative: 0 and `below_noise` from 0 down.
pub(crate) fn clamped_at_zero(value: f64, std_error: f64, confidence: Confidence) -> Result<Estimate, DomainError> {
    let reach = confidence.z() * std_error;
    let ends = (Some((value - reach).max(0.0)), Some((value + reach).max(0.0)));
    require("value", "finite", value, value.is_finite())?;
    if value > 0.0 {
        signed(value, std_error, ends, confidence)
    } else {
        answer(Status::BelowNoise, 0.0, Some(std_error), ends, confidence)
    }
}

/// `value ± z·std_error` for what may have either sign.
pub(crate) fn normal(value: f64, std_error: f64, confidence: Confidence) -> Result<Estimate, DomainError> {
    let reach = confidence.z() * std_error;
    signed(value, std_error, (Some(value - reach), Some(value + reach)), confidence)
}

/// Parts that do not fit are numbers beyond `f64`.
fn improper(value: f64, std_error: Option<f64>) -> DomainError {
    let found = if value.is_finite() { std_error.unwrap_or(f64::INFINITY) } else { value };
    DomainError { argument: "answer", expected: "a finite number with a finite error", found }
}
