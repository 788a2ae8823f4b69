//! What many releases say together.

use std::fmt;

use serde_json::{Value, json};

use super::Answers;
use super::settings::Settings;
use crate::number;

/// Errors and intervals over all queries of all releases, in units of weight.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    settings: Settings,
    answers: usize,
    mean_abs_error: f64,
    rmse: f64,
    bias: f64,
    /// Of the absolute error: the median, 95 % and 99 %.
    quantiles: [f64; 3],
    coverage: f64,
    coverage_std_error: f64,
    half_width: Option<f64>,
}

impl Summary {
    pub(super) fn new(settings: &Settings, trials: &[Answers]) -> Self {
        let mut sizes: Vec<f64> = trials.iter().flat_map(|trial| &trial.errors).map(|error| error.abs()).collect();
        sizes.sort_by(f64::total_cmp);
        let count = number::length(sizes.len());
        let shares: Vec<f64> =
            trials.iter().map(|trial| f64::from(trial.covered) / number::length(trial.errors.len())).collect();
        let (coverage, coverage_std_error) = mean_and_std_error(&shares);
        let widths: Vec<f64> = trials.iter().filter_map(|trial| trial.half_width).collect();
        Self {
            settings: settings.clone(),
            answers: sizes.len(),
            mean_abs_error: sizes.iter().sum::<f64>() / count,
            rmse: (sizes.iter().map(|size| size * size).sum::<f64>() / count).sqrt(),
            bias: trials.iter().flat_map(|trial| &trial.errors).sum::<f64>() / count,
            quantiles: [0.5, 0.95, 0.99].map(|share| quantile(&sizes, share)),
            coverage,
            coverage_std_error,
            half_width: (!widths.is_empty()).then(|| mean_and_std_error(&widths).0),
        }
    }

    /// The mean of `|answer − truth|`.
    #[must_use]
    pub const fn mean_abs_error(&self) -> f64 {
        self.mean_abs_error
    }

    /// The root of the mean of `(answer − truth)²`.
    #[must_use]
    pub const fn rmse(&self) -> f64 {
        self.rmse
    }

    /// The share of answers whose 95 % interval holds the truth.
    #[must_use]
    pub const fn coverage(&self) -> f64 {
        self.coverage
    }

    /// The standard error of that share, from its spread over releases: the queries of one depend on each other.
    #[must_use]
    pub const fn coverage_std_error(&self) -> f64 {
        self.coverage_std_error
    }

    /// The mean of half the length of the intervals that have both ends.
    #[must_use]
    pub const fn half_width(&self) -> Option<f64> {
        self.half_width
    }

    /// The summary as one JSON object.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let [p50, p95, p99] = self.quantiles;
        json!({
            "settings": self.settings.to_json(),
            "trials": self.settings.trials,
            "answers": self.answers,
            "mean_abs_error": self.mean_abs_error,
            "rmse": self.rmse,
            "bias": self.bias,
            "p50": p50,
            "p95": p95,
            "p99": p99,
            "coverage": self.coverage,
            "coverage_std_error": self.coverage_std_error,
            "half_width": self.half_width,
        })
    }
}

/// The mean of numbers and its standard error from their spread, NaN for a single one.
pub(crate) fn mean_and_std_error(values: &[f64]) -> (f64, f64) {
    let count = number::length(values.len());
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0) / count).sqrt())
}

/// The smallest value that is not exceeded by this share of sorted values.
pub(crate) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let rank = number::floor_clamped((share * number::length(sorted.len())).ceil()).max(1);
    let at = usize::try_from(rank - 1).ok().and_then(|rank| sorted.get(rank));
    at.copied().unwrap_or(f64::NAN)
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [p50, p95, p99] = self.quantiles;
        writeln!(f, "releases        {}, {} answers", self.settings.trials, self.answers)?;
        writeln!(f, "mean |error|    {:.3}", self.mean_abs_error)?;
        writeln!(f, "RMSE            {:.3}", self.rmse)?;
        writeln!(f, "bias            {:+.3}", self.bias)?;
        writeln!(f, "|error| of 50 %, 95 %, 99 %   {p50:.3}, {p95:.3}, {p99:.3}")?;
        writeln!(f, "95% coverage    {:.2} % (± {:.2})", 100.0 * self.coverage, 100.0 * self.coverage_std_error)?;
        match self.half_width {
            Some(width) => write!(f, "half-width      {width:.3}"),
            None => write!(f, "half-width      none"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_summed_up_over_answers_and_coverage_over_releases() {
        let words = "--rows 3 --width 8 --rho 1 --trials 2".split(' ').map(str::to_owned);
        let settings = Settings::parse(words).unwrap().0;
        let first = Answers { errors: vec![3.0, -1.0], covered: 1, half_width: Some(2.0) };
        let second = Answers { errors: vec![0.0, 4.0], covered: 2, half_width: None };
        let summary = Summary::new(&settings, &[first, second]);
        assert!((summary.mean_abs_error() - 2.0).abs() < 1e-15);
        assert!((summary.rmse() - 6.5_f64.sqrt()).abs() < 1e-15);
        assert!((summary.coverage() - 0.75).abs() < 1e-15 && (summary.coverage_std_error() - 0.25).abs() < 1e-15);
        assert_eq!(summary.half_width(), Some(2.0));
        let json = summary.to_json();
        assert_eq!(
            (json["p50"].as_f64(), json["p95"].as_f64(), json["bias"].as_f64()),
            (Some(1.0), Some(4.0), Some(1.5))
        );
    }
}
