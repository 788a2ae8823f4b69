//! What an answer is worth: the closed list of statuses.

use core::fmt;

/// What kind of answer an [`Estimate`](crate::Estimate) is.
///
/// | status | value | meaning |
/// |---|---|---|
/// | `ok` | yes | the interval holds at its confidence |
/// | `empty` | 0 | a noiseless sketch without a single one |
/// | `below_noise` | 0 | the likelihood is highest at 0: the count cannot be told from none |
/// | `saturated` | none, only a lower bound | the answer would lie at the end of the sketch's range |
/// | `low_information` | yes | the standard error exceeds half the value (of a set formula: all of it, or does not tell how far the answer may stray), or the data cannot be told from those of a full sketch and bound the count only from below |
/// | `unbounded` | none, only a lower bound | a method that reads its value off an interval found no upper end |
/// | `not_converged` | none | a solver gave up |
///
/// A likelihood has a highest point whether or not its interval has an upper end, so its answer keeps the value and is
/// `low_information`: near saturation that happens to a tenth of the answers whose error is an eighth of the value, and
/// leaving out just the highest of them would bias the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// The interval holds at its confidence.
    Ok,
    /// A noiseless sketch without a one: nothing was counted.
    Empty,
    /// The likelihood is highest at 0; the value is 0 and the upper bound says how much noise may hide.
    BelowNoise,
    /// The sketch is too full to say more than a lower bound.
    Saturated,
    /// There is a value, but its standard error exceeds half of it (of a set formula: all of it, or does not tell how far
    /// the answer may stray) or nothing bounds the count from above.
    LowInformation,
    /// The value would come from an interval, and that has no upper end; only a lower bound is known.
    Unbounded,
    /// The solver gave up: there is no value and no bound.
    NotConverged,
}

impl Status {
    /// Every status, in the order of the table above.
    pub const ALL: [Self; 7] = [
        Self::Ok,
        Self::Empty,
        Self::BelowNoise,
        Self::Saturated,
        Self::LowInformation,
        Self::Unbounded,
        Self::NotConverged,
    ];

    /// The word used in every output format.
    ///
    /// # Examples
    /// ```
    /// assert_eq!(cardinality_estimators::Status::BelowNoise.as_str(), "below_noise");
    /// ```
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Empty => "empty",
            Self::BelowNoise => "below_noise",
            Self::Saturated => "saturated",
            Self::LowInformation => "low_information",
            Self::Unbounded => "unbounded",
            Self::NotConverged => "not_converged",
        }
    }

    /// The status of a count with its standard error and the upper end of its interval.
    pub(crate) fn of_value(value: f64, std_error: f64, upper: Option<f64>) -> Self {
        if 2.0 * std_error <= value && upper.is_some() { Self::Ok } else { Self::LowInformation }
    }

    /// Whether an answer with this status carries a value.
    #[must_use]
    pub const fn has_value(self) -> bool {
        matches!(self, Self::Ok | Self::Empty | Self::BelowNoise | Self::LowInformation)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
