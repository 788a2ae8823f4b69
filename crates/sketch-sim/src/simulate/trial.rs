//! What one trial gave.

use cardinality_estimators::{Estimate, Status};

/// An answer, and how it came about where there are several ways.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) estimate: Estimate,
    pub(crate) method: Option<Method>,
}

/// How an answer came about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Method {
    pub(crate) name: &'static str,
    /// The weight of the shared law in a tally's answer.
    pub(crate) weight: Option<f64>,
}

impl From<Estimate> for Answer {
    fn from(estimate: Estimate) -> Self {
        Self { estimate, method: None }
    }
}

/// An answer beside the truth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Trial {
    /// `estimate/n − 1`, and −1 without an estimate.
    pub(crate) error: f64,
    pub(crate) status: Status,
    pub(crate) covered: bool,
    /// Half the length of the interval over n, infinite without an end.
    pub(crate) half_width: f64,
    pub(crate) method: Option<Method>,
}

impl Trial {
    /// What an answer says of the truth, relative to it.
    pub(crate) fn new(answer: &Estimate, truth: f64) -> Self {
        Self::in_units(answer, truth, truth)
    }

    /// What an answer says of the truth, in units of something else.
    pub(crate) fn in_units(answer: &Estimate, truth: f64, unit: f64) -> Self {
        let length = answer.lower().zip(answer.upper()).map(|(lower, upper)| upper - lower);
        Self {
            error: answer.value().map_or(-1.0, |value| (value - truth) / unit),
            status: answer.status(),
            covered: answer.status() != Status::NotConverged && answer.covers(truth),
            half_width: length.map_or(f64::INFINITY, |length| 0.5 * length / unit),
            method: None,
        }
    }

    /// The same of an answer that tells how it came about.
    pub(super) fn of(answer: &Answer, truth: f64) -> Self {
        Self { method: answer.method, ..Self::new(&answer.estimate, truth) }
    }
}
