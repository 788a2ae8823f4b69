//! The accuracy table of the docs: measured against predicted, with the rule that both agree.

use std::time::Instant;

use dp_noise::Epsilon;
use sfm_pcsa::PcsaShape;

use crate::options::{OptionError, Options};
use crate::simulate::{Merge, Overlap, Settings, SimulationError, Summary, simulate};

/// Distinct items and privacy parameters of the table.
const COUNTS: [u64; 3] = [10_000, 100_000, 1_000_000];
const EPSILONS: [f64; 3] = [1.0, 2.0, 4.0];
/// How far the measured error may lie from the predicted one, relative to it. With 10,000 trials its own standard error
/// is 0.7 %.
const ERROR_BAND: f64 = 0.03;
/// What 95 % intervals must cover. With 10,000 trials the standard error of a coverage is 0.22 %.
const COVERAGE_BAND: [f64; 2] = [0.94, 0.96];

/// How the table is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Runs for each setting.
    pub trials: u32,
    /// Seed of the first setting; the others follow.
    pub seed: u64,
    /// Worker threads, `None` for all cores.
    pub threads: Option<usize>,
    /// Where the table goes.
    pub out: Option<String>,
}

/// Why there is no table.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AccuracyError {
    /// A parameter of the table is outside its range.
    #[error("{0}")]
    Parameter(String),
    /// A setting could not be simulated.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
}

impl Plan {
    /// Reads the options of `accuracy`.
    ///
    /// # Errors
    /// [`OptionError`] naming the option.
    pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Self, OptionError> {
        let options = Options::parse(arguments, &["--trials", "--seed", "--threads", "--out"], &[])?;
        if let Some(operand) = options.operands().first() {
            return Err(OptionError::Unknown { name: operand.clone() });
        }
        let expected = "a whole number from 1 to 10000000";
        let trials = options.number("--trials", expected)?.unwrap_or(10_000);
        if !(1..=Settings::MAX_TRIALS).contains(&trials) {
            return Err(Options::refuse("--trials", &trials.to_string(), expected));
        }
        Ok(Self {
            trials,
            seed: options.number("--seed", "a whole number below 2^64")?.unwrap_or(1),
            threads: crate::simulate::threads(&options)?,
            out: options.text("--out").map(str::to_owned),
        })
    }
}

/// The finished table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// As Markdown.
    pub markdown: String,
    /// A sentence for each row outside its band.
    pub violations: Vec<String>,
}

/// Simulates every row; `progress` is told about each.
///
/// # Errors
/// [`AccuracyError`] when a row could not be simulated.
pub fn table(plan: &Plan, mut progress: impl FnMut(&str)) -> Result<Table, AccuracyError> {
    let mut rows = Vec::new();
    let mut violations = Vec::new();
    for (index, (n, epsilon)) in COUNTS.into_iter().flat_map(|n| EPSILONS.map(|epsilon| (n, epsilon))).enumerate() {
        let begin = Instant::now();
        let settings = settings(plan, n, epsilon, plan.seed.wrapping_add(index as u64))?;
        let summary = simulate(&settings, plan.threads)?;
        rows.push(row(n, epsilon, &summary));
        violations.extend(violation(n, epsilon, &summary));
        progress(&format!("n = {n}, epsilon = {epsilon}: {:.1} s", begin.elapsed().as_secs_f64()));
    }
    Ok(Table { markdown: markdown(plan, &rows), violations })
}

fn settings(plan: &Plan, n: u64, epsilon: f64, seed: u64) -> Result<Settings, AccuracyError> {
    let epsilon = Epsilon::new(epsilon).map_err(|error| AccuracyError::Parameter(error.to_string()))?;
    Ok(Settings {
        shape: PcsaShape::DEFAULT,
        epsilon: Some(epsilon),
        n,
        parties: 1,
        overlap: Overlap::Disjoint,
        merge: Merge::None,
        trials: plan.trials,
        seed,
    })
}

fn row(n: u64, epsilon: f64, summary: &Summary) -> String {
    format!(
        "| {n} | {epsilon} | {:.3} % | {:.3} % | {:+.1} % | {:+.3} % | {:.2} % |",
        100.0 * summary.rrmse(),
        100.0 * summary.predicted_rse(),
        100.0 * (summary.rrmse() / summary.predicted_rse() - 1.0),
        100.0 * summary.mean_bias(),
        100.0 * summary.coverage(),
    )
}

fn violation(n: u64, epsilon: f64, summary: &Summary) -> Option<String> {
    let ratio = summary.rrmse() / summary.predicted_rse() - 1.0;
    let [low, high] = COVERAGE_BAND;
    let inside = ratio.abs() <= ERROR_BAND && (low..=high).contains(&summary.coverage());
    (!inside).then(|| {
        format!(
            "n = {n}, epsilon = {epsilon}: error {ratio:+.4} off its prediction, coverage {:.4}",
            summary.coverage()
        )
    })
}

fn markdown(plan: &Plan, rows: &[String]) -> String {
    let command = format!("cargo xtask accuracy --trials {} --seed {}", plan.trials, plan.seed);
    format!(
        "One sketch of {} buckets and {} levels, {} trials a row; written by `{command}`.\n\n\
         | distinct items | ε | measured error (RRMSE) | predicted | difference | mean bias | 95 % intervals cover |\n\
         |---:|---:|---:|---:|---:|---:|---:|\n{}\n",
        PcsaShape::DEFAULT.buckets(),
        PcsaShape::DEFAULT.levels(),
        plan.trials,
        rows.join("\n"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_a_row_for_each_setting() {
        let plan = Plan { trials: 2, seed: 1, threads: Some(1), out: None };
        let small = table(&plan, |_| {}).unwrap();
        assert_eq!(small.markdown.lines().filter(|line| line.starts_with("| 1")).count(), 9);
    }

    #[test]
    fn rows_outside_their_band_are_named() {
        // Two trials cannot measure an error to three percent in each of nine rows.
        let plan = Plan { trials: 2, seed: 1, threads: Some(1), out: None };
        assert!(!table(&plan, |_| {}).unwrap().violations.is_empty());
    }
}
