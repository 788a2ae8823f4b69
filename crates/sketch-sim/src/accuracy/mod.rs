//! The accuracy tables of the docs: measured against predicted, with the rule that both agree.

mod clip;
mod countsketch;
mod decode;
mod dictionary;
mod f0;
mod f0_beside;
mod law;
mod plan;
mod rows;
mod subsampled;
mod tails;
mod tally;
mod tally_reference;
mod venn;

use std::time::Instant;

use crate::f0::F0Error;
use crate::frequency::FrequencyError;
use crate::simulate::{SimulationError, Summary, simulate};
pub use plan::{Plan, Which};
use rows::{Row, heads, rows};

/// How far the measured error may lie from the predicted one, relative to it, up to which prediction. With 10,000 trials
/// its own standard error is 0.7 %. Beyond the last, errors have heavy tails and no rule.
const ERROR_BANDS: [(f64, f64); 2] = [(0.12, 0.03), (0.20, 0.06)];
/// What 95 % intervals must cover while the prediction is below 12 %, and up to 20 %, where half of the misses may lie
/// below the noise. With 10,000 trials the standard error of a coverage is 0.22 %.
const COVERAGE_BANDS: [(f64, [f64; 2]); 2] = [(0.12, [0.94, 0.96]), (0.20, [0.94, 0.97])];

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
    /// Frequencies could not be simulated.
    #[error(transparent)]
    Frequency(#[from] FrequencyError),
    /// Parity sketches could not be simulated.
    #[error(transparent)]
    F0(#[from] F0Error),
}

impl AccuracyError {
    fn parameter<E: std::fmt::Display>(error: E) -> Self {
        Self::Parameter(error.to_string())
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
    match plan.which {
        Which::Tails => return tails::table(plan, progress),
        Which::Tally(Some(sketches)) => return tally::table(plan, sketches, progress),
        Which::Tally(None) => return Err(AccuracyError::Parameter("how many releases are tallied?".to_owned())),
        Which::Venn => return venn::table(plan, progress),
        Which::CountSketch => return countsketch::table(plan, progress),
        Which::Decode => return decode::table(plan, progress),
        Which::Law => return law::table(plan, progress),
        Which::F0 => return f0::table(plan, progress),
        Which::F0Beside => return f0_beside::table(plan, progress),
        Which::Subsampled => return subsampled::table(plan, progress),
        Which::Single | Which::Families | Which::Merged => {}
    }
    let mut lines = Vec::new();
    let mut violations = Vec::new();
    for row in rows(plan)? {
        let begin = Instant::now();
        let summary = simulate(&row.settings, plan.threads)?;
        lines.push(line(&row, &summary));
        violations.extend(violation(&row, &summary));
        progress(&format!("{}: {:.1} s", row.title.join(", "), begin.elapsed().as_secs_f64()));
    }
    Ok(Table { markdown: markdown(plan, &lines), violations })
}

/// The band that a prediction up to some limit falls in.
fn band<T: Copy>(bands: &[(f64, T)], predicted: f64) -> Option<T> {
    bands.iter().find(|(limit, _)| predicted <= *limit).map(|(_, band)| *band)
}

fn line(row: &Row, summary: &Summary) -> String {
    let rule = match band(&ERROR_BANDS, summary.predicted_rse()) {
        Some(bound) => format!("±{:.0} %", 100.0 * bound),
        None => "none".to_owned(),
    };
    format!(
        "| {} | {:.3} % | {:.3} % | {:+.1} % | {rule} | {:+.3} % | {:.2} % |",
        row.title.join(" | "),
        100.0 * summary.rrmse_of_values(),
        100.0 * summary.predicted_rse(),
        100.0 * (summary.rrmse_of_values() / summary.predicted_rse() - 1.0),
        100.0 * summary.mean_bias(),
        100.0 * summary.coverage(),
    )
}

fn violation(row: &Row, summary: &Summary) -> Option<String> {
    let predicted = summary.predicted_rse();
    let ratio = summary.rrmse_of_values() / predicted - 1.0;
    let error = band(&ERROR_BANDS, predicted).is_none_or(|bound| ratio.abs() <= bound);
    let [low, high] = band(&COVERAGE_BANDS, predicted).unwrap_or([0.0, 1.0]);
    let covers = (low..=high).contains(&summary.coverage());
    (!(error && covers)).then(|| {
        format!(
            "{}: error {ratio:+.4} off its prediction of {predicted:.4}, coverage {:.4}",
            row.title.join(", "),
            summary.coverage()
        )
    })
}

fn markdown(plan: &Plan, lines: &[String]) -> String {
    let command = format!("cargo xtask accuracy{} --trials {} --seed {}", plan.which.flag(), plan.trials, plan.seed);
    let heads = heads(plan.which);
    format!(
        "{}, {} trials a row; written by `{command}`.\n\n\
         | {} | measured error (RRMSE) | predicted | difference | allowed | mean bias | 95 % intervals cover |\n\
         |{}---:|---:|---:|---:|---:|---:|\n{}\n",
        plan.which.about(),
        plan.trials,
        heads.join(" | "),
        "---:|".repeat(heads.len()),
        lines.join("\n"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(which: Which) -> Plan {
        Plan { which, trials: 2, seed: 1, threads: Some(1), out: None }
    }

    #[test]
    fn a_table_has_a_row_for_each_setting() {
        let small = table(&plan(Which::Single), |_| {}).unwrap();
        assert_eq!(small.markdown.lines().filter(|line| line.starts_with("| 1")).count(), 9);
    }

    #[test]
    fn rows_outside_their_band_are_named() {
        // Two trials cannot measure an error to three percent in each of nine rows.
        assert!(!table(&plan(Which::Single), |_| {}).unwrap().violations.is_empty());
    }

    #[test]
    fn every_table_names_its_own_command_and_every_setting_differs() {
        for which in [Which::Single, Which::Families, Which::Merged] {
            let rows = rows(&plan(which)).unwrap();
            let mut titles: Vec<_> = rows.iter().map(|row| row.title.clone()).collect();
            titles.sort();
            titles.dedup();
            assert_eq!(titles.len(), rows.len());
            assert!(titles.iter().all(|title| title.len() == heads(which).len()));
            let words = markdown(&plan(which), &[]);
            let command = words.split('`').nth(1).unwrap();
            let options = command.strip_prefix("cargo xtask accuracy").unwrap().split_whitespace();
            assert_eq!(Plan::parse(options.map(str::to_owned)).unwrap()[0].which, which);
        }
    }

    #[test]
    fn the_rule_is_three_percent_then_six_then_none() {
        assert_eq!(
            [0.01, 0.12, 0.13, 0.20, 0.21].map(|x| band(&ERROR_BANDS, x)),
            [Some(0.03), Some(0.03), Some(0.06), Some(0.06), None]
        );
    }
}
