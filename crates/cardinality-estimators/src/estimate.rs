//! An answer with its uncertainty.

use core::fmt;

use crate::{Confidence, ParamError, Status};

/// An estimated count with its standard error, an interval and a status.
///
/// A part that does not exist is `None`: a saturated estimate has only a lower bound, and an interval without a finite
/// upper end has no `upper`. Values are never NaN or infinite.
///
/// # Examples
/// ```
/// use cardinality_estimators::{BitChannel, Confidence, LevelCounts, Status, estimate};
/// let counts = LevelCounts::pcsa(64, &[35, 21, 11, 6, 3, 2, 1, 1], BitChannel::NOISELESS)?;
/// let answer = estimate(&counts, Confidence::P95);
/// assert_eq!(answer.status(), Status::Ok);
/// assert!((answer.value().ok_or("none")? - 100.0).abs() < 2.0);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use]
pub struct Estimate {
    value: Option<f64>,
    std_error: Option<f64>,
    lower: Option<f64>,
    upper: Option<f64>,
    confidence: Confidence,
    status: Status,
}

/// What is known about the count, before it becomes an [`Estimate`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts {
    pub(crate) value: Option<f64>,
    pub(crate) std_error: Option<f64>,
    pub(crate) lower: Option<f64>,
    pub(crate) upper: Option<f64>,
}

impl Estimate {
    /// An estimate from its parts; `bounds` are the lower and the upper end of the interval.
    ///
    /// # Errors
    /// [`ParamError::Estimate`] when a number is NaN or infinite, the standard error is negative, the interval does not
    /// hold the value, or the parts contradict the status: a value is present exactly when
    /// [`Status::has_value`] says so and is 0 for `empty` and `below_noise`; `saturated` and `unbounded` have no upper
    /// end; `not_converged` has nothing.
    pub fn new(
        status: Status,
        value: Option<f64>,
        std_error: Option<f64>,
        bounds: (Option<f64>, Option<f64>),
        confidence: Confidence,
    ) -> Result<Self, ParamError> {
        let parts = Parts { value, std_error, lower: bounds.0, upper: bounds.1 };
        match contradiction(status, &parts) {
            Some(reason) => Err(ParamError::Estimate { status, reason }),
            None => Ok(Self::from_parts(status, parts, confidence)),
        }
    }

    /// The answer of a solver that gave up: no value and no bounds.
    pub const fn not_converged(confidence: Confidence) -> Self {
        Self { value: None, std_error: None, lower: None, upper: None, confidence, status: Status::NotConverged }
    }

    /// Parts that fit by construction.
    pub(crate) fn from_parts(status: Status, parts: Parts, confidence: Confidence) -> Self {
        debug_assert_eq!(contradiction(status, &parts), None);
        let Parts { value, std_error, lower, upper } = parts;
        Self { value, std_error, lower, upper, confidence, status }
    }

    /// The estimated count, if there is one.
    #[must_use]
    pub const fn value(&self) -> Option<f64> {
        self.value
    }

    /// The standard error of the value, in items.
    #[must_use]
    pub const fn std_error(&self) -> Option<f64> {
        self.std_error
    }

    /// The lower end of the interval.
    #[must_use]
    pub const fn lower(&self) -> Option<f64> {
        self.lower
    }

    /// The upper end of the interval; `None` when the data do not bound the count from above.
    #[must_use]
    pub const fn upper(&self) -> Option<f64> {
        self.upper
    }

    /// The confidence of the interval.
    #[must_use]
    pub const fn confidence(&self) -> Confidence {
        self.confidence
    }

    /// What the answer is worth.
    #[must_use]
    pub const fn status(&self) -> Status {
        self.status
    }

    /// The same answer in other units: every number times `factor`.
    ///
    /// # Errors
    /// [`ParamError::Estimate`] when a number would be infinite or NaN, or the factor is not positive.
    ///
    /// # Examples
    /// ```
    /// use cardinality_estimators::{Confidence, Estimate, Status};
    /// let shares = Estimate::new(Status::Ok, Some(4.0), Some(1.0), (Some(2.0), Some(6.0)), Confidence::P95)?;
    /// assert_eq!(shares.scaled(2.5)?.upper(), Some(15.0));
    /// # Ok::<(), cardinality_estimators::ParamError>(())
    /// ```
    pub fn scaled(&self, factor: f64) -> Result<Self, ParamError> {
        if factor.is_nan() || factor <= 0.0 {
            return Err(ParamError::Estimate { status: self.status, reason: "the factor must be positive" });
        }
        let times = |number: Option<f64>| number.map(|x| x * factor);
        let bounds = (times(self.lower), times(self.upper));
        Self::new(self.status, times(self.value), times(self.std_error), bounds, self.confidence)
    }

    /// Whether the interval holds `n`; an absent end bounds nothing.
    #[must_use]
    pub fn covers(&self, n: f64) -> bool {
        self.lower.is_none_or(|lower| lower <= n) && self.upper.is_none_or(|upper| n <= upper)
    }
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = |bound: Option<f64>| bound.map_or_else(|| "?".to_owned(), |x| format!("{x:.1}"));
        match self.value {
            Some(value) => write!(f, "{value:.1}")?,
            None => f.write_str("no value")?,
        }
        write!(f, " [{}, {}] ({})", end(self.lower), end(self.upper), self.status)
    }
}

/// What is wrong with the parts of an answer, if anything.
fn contradiction(status: Status, parts: &Parts) -> Option<&'static str> {
    let Parts { value, std_error, lower, upper } = *parts;
    if [value, std_error, lower, upper].into_iter().flatten().any(|x| !x.is_finite()) {
        return Some("numbers must be finite");
    }
    if value.is_some() != status.has_value() {
        return Some("a value is present exactly when the status has one");
    }
    if std_error.is_some_and(|error| error < 0.0) {
        return Some("the standard error is negative");
    }
    let ordered = |low: Option<f64>, high: Option<f64>| low.zip(high).is_none_or(|(low, high)| low <= high);
    if !(ordered(lower, upper) && ordered(lower, value) && ordered(value, upper)) {
        return Some("the interval does not hold the value");
    }
    match status {
        Status::Empty | Status::BelowNoise if value != Some(0.0) => Some("the value must be 0"),
        Status::Saturated | Status::Unbounded if upper.is_some() => Some("there is no upper end"),
        Status::NotConverged if std_error.or(lower).or(upper).is_some() => Some("nothing is known"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(status: Status, value: Option<f64>, bounds: (Option<f64>, Option<f64>)) -> Result<Estimate, ParamError> {
        Estimate::new(status, value, Some(1.0), bounds, Confidence::P95)
    }

    #[test]
    fn an_interval_must_hold_its_value() {
        assert!(new(Status::Ok, Some(5.0), (Some(4.0), Some(6.0))).is_ok());
        assert!(new(Status::Ok, Some(5.0), (Some(5.5), Some(6.0))).is_err());
        assert!(new(Status::Ok, Some(5.0), (Some(4.0), Some(4.5))).is_err());
    }

    #[test]
    fn a_saturated_answer_has_only_a_lower_bound() {
        assert!(new(Status::Saturated, None, (Some(4.0), None)).is_ok());
        assert!(new(Status::Saturated, Some(5.0), (Some(4.0), None)).is_err());
        assert!(new(Status::Saturated, None, (Some(4.0), Some(6.0))).is_err());
    }

    #[test]
    fn nan_and_infinity_are_refused() {
        assert!(new(Status::Ok, Some(f64::NAN), (None, None)).is_err());
        assert!(new(Status::Ok, Some(1.0), (None, Some(f64::INFINITY))).is_err());
    }

    #[test]
    fn an_absent_upper_end_covers_every_large_count() {
        let open = new(Status::LowInformation, Some(5.0), (Some(4.0), None));
        assert!(open.is_ok_and(|e| e.covers(1e18) && !e.covers(3.9)));
    }
}
