//! The trials of a setting, summed up.

use std::fmt;

use cardinality_estimators::Status;
use serde_json::{Map, Value, json};

use super::run::Trial;
use crate::number;

/// The statuses in the order they are reported.
const STATUSES: [Status; 7] = [
    Status::Ok,
    Status::Empty,
    Status::BelowNoise,
    Status::Saturated,
    Status::LowInformation,
    Status::Unbounded,
    Status::NotConverged,
];

/// Errors and coverage over all trials, relative to the true count. A trial without an estimate counts as an error of
/// −100 % and is also counted apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    settings: Value,
    trials: usize,
    rrmse: f64,
    rrmse_of_values: f64,
    mean_bias: f64,
    median_bias: f64,
    predicted_rse: f64,
    coverage: f64,
    statuses: Vec<(Status, u64)>,
    no_estimate: u64,
}

impl Summary {
    /// Of trials of the settings that this JSON describes.
    pub(crate) fn new(settings: Value, trials: &[Trial], predicted_rse: f64) -> Self {
        let count = number::length(trials.len());
        let mean = |value: &dyn Fn(&Trial) -> f64| trials.iter().map(value).sum::<f64>() / count;
        let mut errors: Vec<f64> = trials.iter().map(|trial| trial.error).collect();
        errors.sort_by(f64::total_cmp);
        let of = |status| trials.iter().filter(|trial| trial.status == status).count() as u64;
        Self {
            settings,
            trials: trials.len(),
            rrmse: mean(&|trial| trial.error * trial.error).sqrt(),
            rrmse_of_values: root_mean_square(trials.iter().filter(|trial| trial.status.has_value())),
            mean_bias: mean(&|trial| trial.error),
            median_bias: median(&errors),
            predicted_rse,
            coverage: mean(&|trial| if trial.covered { 1.0 } else { 0.0 }),
            statuses: STATUSES.into_iter().map(|status| (status, of(status))).collect(),
            no_estimate: trials.iter().filter(|trial| !trial.status.has_value()).count() as u64,
        }
    }

    /// The root of the mean square of `estimate/n − 1`.
    #[must_use]
    pub const fn rrmse(&self) -> f64 {
        self.rrmse
    }

    /// The same over the trials that gave an estimate, which is what a prediction speaks of; NaN without any.
    #[must_use]
    pub const fn rrmse_of_values(&self) -> f64 {
        self.rrmse_of_values
    }

    /// The mean of `estimate/n − 1`.
    #[must_use]
    pub const fn mean_bias(&self) -> f64 {
        self.mean_bias
    }

    /// The median of `estimate/n − 1`.
    #[must_use]
    pub const fn median_bias(&self) -> f64 {
        self.median_bias
    }

    /// The relative standard error that was predicted before any data.
    #[must_use]
    pub const fn predicted_rse(&self) -> f64 {
        self.predicted_rse
    }

    /// The share of trials whose 95 % interval holds the true count; a missing upper end is infinite.
    #[must_use]
    pub const fn coverage(&self) -> f64 {
        self.coverage
    }

    /// Trials without an estimate.
    #[must_use]
    pub const fn no_estimate(&self) -> u64 {
        self.no_estimate
    }

    /// The summary as one JSON object.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let statuses: Map<String, Value> =
            self.statuses.iter().map(|(status, count)| (status.as_str().to_owned(), json!(count))).collect();
        json!({
            "settings": self.settings,
            "trials": self.trials,
            "rrmse": self.rrmse,
            "rrmse_of_values": self.rrmse_of_values,
            "mean_bias": self.mean_bias,
            "median_bias": self.median_bias,
            "predicted_rse": self.predicted_rse,
            "coverage": self.coverage,
            "no_estimate": self.no_estimate,
            "statuses": statuses,
        })
    }
}

fn root_mean_square<'a>(trials: impl Iterator<Item = &'a Trial>) -> f64 {
    let (count, squares) =
        trials.fold((0.0, 0.0), |(count, sum), trial| (count + 1.0, sum + trial.error * trial.error));
    (squares / count).sqrt()
}

fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    match (sorted.get(middle), middle.checked_sub(1).and_then(|below| sorted.get(below))) {
        (Some(&upper), Some(&lower)) if sorted.len().is_multiple_of(2) => f64::midpoint(lower, upper),
        (Some(&upper), _) => upper,
        (None, _) => f64::NAN,
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |share: f64| format!("{:+.3} %", 100.0 * share);
        writeln!(f, "trials         {}", self.trials)?;
        writeln!(f, "RRMSE          {:.3} %", 100.0 * self.rrmse)?;
        writeln!(f, "predicted      {:.3} %", 100.0 * self.predicted_rse)?;
        writeln!(f, "mean bias      {}", percent(self.mean_bias))?;
        writeln!(f, "median bias    {}", percent(self.median_bias))?;
        writeln!(f, "95% coverage   {:.2} %", 100.0 * self.coverage)?;
        writeln!(f, "no estimate    {}", self.no_estimate)?;
        let seen = self.statuses.iter().filter(|(_, count)| *count > 0);
        let words: Vec<String> = seen.map(|(status, count)| format!("{} {count}", status.as_str())).collect();
        write!(f, "statuses       {}", words.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(trials: &[Trial]) -> Summary {
        Summary::new(json!({ "kind": "sfm" }), trials, 0.5)
    }

    #[test]
    fn a_trial_without_an_estimate_counts_as_minus_one_hundred_percent_and_apart() {
        let good = Trial { error: 0.5, status: Status::Ok, covered: true };
        let none = Trial { error: -1.0, status: Status::Saturated, covered: true };
        let zero = Trial { error: -1.0, status: Status::BelowNoise, covered: false };
        let all = summary(&[good, none, zero, good]);
        assert_eq!(all.no_estimate(), 1);
        assert!((all.mean_bias() - -0.25).abs() < 1e-15);
        assert!((all.rrmse() - (2.5_f64 / 4.0).sqrt()).abs() < 1e-15);
        // All but the one without an estimate: 0.25, 1 and 0.25.
        assert!((all.rrmse_of_values() - 0.5_f64.sqrt()).abs() < 1e-15);
        assert!((all.median_bias() - -0.25).abs() < 1e-15);
        assert!((all.coverage() - 0.75).abs() < 1e-15);
        assert_eq!(all.to_json()["statuses"]["saturated"], 1);
    }

    #[test]
    fn the_median_of_an_odd_number_is_the_middle_one() {
        assert!((median(&[1.0, 2.0, 7.0]) - 2.0).abs() < 1e-15);
        assert!((median(&[1.0, 2.0, 4.0, 7.0]) - 3.0).abs() < 1e-15);
    }
}
