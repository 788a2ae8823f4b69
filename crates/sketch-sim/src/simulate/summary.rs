//! The trials of a setting, summed up.

use std::fmt;

use cardinality_estimators::Status;
use serde_json::{Map, Value, json};

use super::trial::Trial;
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
    predicted_rse: Option<f64>,
    coverage: f64,
    median_half_width: Option<f64>,
    methods: Vec<(&'static str, u64)>,
    mean_weight: Option<f64>,
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
        let mut widths: Vec<f64> = trials.iter().map(|trial| trial.half_width).collect();
        widths.sort_by(f64::total_cmp);
        let methods: Vec<_> = trials.iter().filter_map(|trial| trial.method).collect();
        let weights: Vec<f64> = methods.iter().filter_map(|method| method.weight).collect();
        let mut names: Vec<&str> = methods.iter().map(|method| method.name).collect();
        names.sort_unstable();
        Self {
            settings,
            trials: trials.len(),
            rrmse: mean(&|trial| trial.error * trial.error).sqrt(),
            rrmse_of_values: root_mean_square(trials.iter().filter(|trial| trial.status.has_value())),
            mean_bias: mean(&|trial| trial.error),
            median_bias: median(&errors),
            predicted_rse: Some(predicted_rse).filter(|rse| !rse.is_nan()),
            median_half_width: Some(median(&widths)).filter(|width| width.is_finite()),
            methods: names.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u64)).collect(),
            mean_weight: (!weights.is_empty()).then(|| weights.iter().sum::<f64>() / number::length(weights.len())),
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

    /// The relative standard error that was predicted before any data; NaN where nothing was.
    #[must_use]
    pub fn predicted_rse(&self) -> f64 {
        self.predicted_rse.unwrap_or(f64::NAN)
    }

    /// The share of trials whose 95 % interval holds the true count; a missing upper end is infinite.
    #[must_use]
    pub const fn coverage(&self) -> f64 {
        self.coverage
    }

    /// The median of half the length of the intervals over n; `None` when that has no upper end.
    #[must_use]
    pub const fn median_half_width(&self) -> Option<f64> {
        self.median_half_width
    }

    /// How many answers came about in which way, where there are several.
    #[must_use]
    pub fn methods(&self) -> &[(&'static str, u64)] {
        &self.methods
    }

    /// The mean weight of the shared law in answers of tallies.
    #[must_use]
    pub const fn mean_weight(&self) -> Option<f64> {
        self.mean_weight
    }

    /// All trials.
    #[must_use]
    pub const fn trials(&self) -> usize {
        self.trials
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
        let methods: Map<String, Value> =
            self.methods.iter().map(|(name, count)| ((*name).to_owned(), json!(count))).collect();
        json!({
            "settings": self.settings,
            "trials": self.trials,
            "rrmse": self.rrmse,
            "rrmse_of_values": self.rrmse_of_values,
            "mean_bias": self.mean_bias,
            "median_bias": self.median_bias,
            "predicted_rse": self.predicted_rse,
            "coverage": self.coverage,
            "median_half_width": self.median_half_width,
            "no_estimate": self.no_estimate,
            "statuses": statuses,
            "methods": methods,
            "mean_weight": self.mean_weight,
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
        match self.predicted_rse {
            Some(predicted) => writeln!(f, "predicted      {:.3} %", 100.0 * predicted)?,
            None => writeln!(f, "predicted      none")?,
        }
        writeln!(f, "mean bias      {}", percent(self.mean_bias))?;
        writeln!(f, "median bias    {}", percent(self.median_bias))?;
        writeln!(f, "95% coverage   {:.2} %", 100.0 * self.coverage)?;
        match self.median_half_width {
            Some(width) => writeln!(f, "half-width     {:.3} %", 100.0 * width)?,
            None => writeln!(f, "half-width     none")?,
        }
        if !self.methods.is_empty() {
            let words: Vec<String> = self.methods.iter().map(|(name, count)| format!("{name} {count}")).collect();
            writeln!(f, "methods        {}", words.join(", "))?;
        }
        if let Some(weight) = self.mean_weight {
            writeln!(f, "mean weight    {weight:.3}")?;
        }
        writeln!(f, "no estimate    {}", self.no_estimate)?;
        let seen = self.statuses.iter().filter(|(_, count)| *count > 0);
        let words: Vec<String> = seen.map(|(status, count)| format!("{} {count}", status.as_str())).collect();
        write!(f, "statuses       {}", words.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::Method;
    use super::*;

    fn summary(trials: &[Trial]) -> Summary {
        Summary::new(json!({ "kind": "sfm" }), trials, 0.5)
    }

    fn trial(error: f64, status: Status, covered: bool, half_width: f64) -> Trial {
        Trial { error, status, covered, half_width, method: None }
    }

    #[test]
    fn a_trial_without_an_estimate_counts_as_minus_one_hundred_percent_and_apart() {
        let good = trial(0.5, Status::Ok, true, 0.25);
        let none = trial(-1.0, Status::Saturated, true, f64::INFINITY);
        let zero = trial(-1.0, Status::BelowNoise, false, 0.5);
        let all = summary(&[good, none, zero, good]);
        assert_eq!(all.no_estimate(), 1);
        assert!((all.mean_bias() - -0.25).abs() < 1e-15);
        assert!((all.rrmse() - (2.5_f64 / 4.0).sqrt()).abs() < 1e-15);
        // All but the one without an estimate: 0.25, 1 and 0.25.
        assert!((all.rrmse_of_values() - 0.5_f64.sqrt()).abs() < 1e-15);
        assert!((all.median_bias() - -0.25).abs() < 1e-15);
        assert!((all.coverage() - 0.75).abs() < 1e-15);
        assert_eq!(all.median_half_width(), Some(0.375));
        assert_eq!(all.to_json()["statuses"]["saturated"], 1);
        assert_eq!(summary(&[none, none, zero]).median_half_width(), None);
    }

    #[test]
    fn methods_are_counted_and_weights_averaged() {
        let by = |name, weight| Trial {
            method: Some(Method { name, weight: Some(weight) }),
            ..trial(0.1, Status::Ok, true, 0.2)
        };
        let all = summary(&[by("shared", 1.0), by("free", 0.0), by("mixed", 0.5), by("shared", 1.0)]);
        assert_eq!(all.methods(), [("free", 1), ("mixed", 1), ("shared", 2)]);
        assert_eq!(all.mean_weight(), Some(0.625));
        let json = all.to_json();
        assert_eq!((&json["methods"]["shared"], &json["mean_weight"]), (&json!(2), &json!(0.625)));
        assert_eq!(summary(&[trial(0.1, Status::Ok, true, 0.2)]).to_json()["mean_weight"], Value::Null);
    }

    #[test]
    fn the_median_of_an_odd_number_is_the_middle_one() {
        assert!((median(&[1.0, 2.0, 7.0]) - 2.0).abs() < 1e-15);
        assert!((median(&[1.0, 2.0, 4.0, 7.0]) - 3.0).abs() < 1e-15);
    }
}
