//! Secret samples in sketches of both kinds: measured against predicted, and against no sampling.

use std::time::Instant;

use dp_noise::{Epsilon, SampleRate};
use f0_sketch::{ModeKind, NoiseRule};
use sfm_pcsa::PcsaShape;

use super::{AccuracyError, Plan, Table};
use crate::f0::{self, Estimator, Weights};
use crate::simulate::{self, Merge, Overlap, Sampling, Summary};

/// Trials of a row, unless asked for otherwise.
pub(super) const TRIALS: u32 = 400;
const LEVELS: u8 = 24;
const CELLS: u32 = 4096;
/// Items in all, ε of each sketch, sketches of disjoint sets, γ, and the error of merged F0 sketches by an independent computation.
const ROWS: [(u64, f64, u32, f64, f64); 6] = [
    (100_000, 1.0, 1, 0.057, 0.024),
    (100_000, 1.0, 8, 0.031, 0.038),
    (100_000, 1.0, 32, 0.014, 0.078),
    (1_000_000, 0.5, 1, 0.0076, 0.022),
    (1_000_000, 0.5, 32, 0.003, 0.039),
    (10_000, 1.0, 2, 0.23, 0.055),
];
/// Predictions below this have a rule: how far the measured error may lie from them, relative to it. With 400 trials its own
/// standard error is 3.5 %.
const RULE: (f64, f64) = (0.20, 0.15);
const LEAST_COVERAGE: f64 = 0.88;
/// Errors beyond are written as none: such answers tell nothing.
const NOTHING: f64 = 1.0;

/// What one kind of sketch gives in a row.
#[derive(Clone, Debug)]
struct Side {
    summary: Summary,
    /// Predicted without sampling; none where the product finds no signal.
    without: Option<f64>,
}

/// Simulates every row.
pub(super) fn table(plan: &Plan, mut progress: impl FnMut(&str)) -> Result<Table, AccuracyError> {
    let (mut lines, mut violations) = ([Vec::new(), Vec::new()], Vec::new());
    for (seed, row) in (plan.seed + 600..).step_by(2).zip(ROWS) {
        let begin = Instant::now();
        let (n, epsilon, sketches, gamma, reference) = row;
        let rate = SampleRate::new(gamma).map_err(AccuracyError::parameter)?;
        let level = Epsilon::new(epsilon).map_err(AccuracyError::parameter)?;
        let title = format!("{n} | {epsilon} | {sketches} | {gamma} | {:.2}", rate.inner_level(level).get());
        let parity = parity((n, level, sketches, rate), plan, seed)?;
        let bitmap = bitmap((n, level, sketches, rate), plan, seed + 1)?;
        lines[0].push(format!("| {title} | {} | {:.1} % |", parity.columns(), 100.0 * reference));
        lines[1].push(format!("| {title} | {} |", bitmap.columns()));
        violations.extend(parity.violation(&format!("F0, {title}")));
        violations.extend(bitmap.violation(&format!("SFM, {title}")));
        let took = begin.elapsed().as_secs_f64();
        progress(&format!("| {title} | {} | {} | {took:.0} s", parity.columns(), bitmap.columns()));
    }
    Ok(Table { markdown: markdown(plan, &lines), violations })
}

type Setting = (u64, Epsilon, u32, SampleRate);

/// The xor of F0 sketches.
fn parity((n, epsilon, merged, rate): Setting, plan: &Plan, seed: u64) -> Result<Side, AccuracyError> {
    let settings = f0::Settings {
        levels: LEVELS,
        cells: CELLS,
        mode: ModeKind::Set,
        epsilon: Some(epsilon),
        noise: NoiseRule::Tight,
        n,
        merged,
        estimator: Estimator::Mle,
        weights: Weights::Unit,
        rate: Some(rate),
        trials: plan.trials,
        seed,
    };
    let summary = f0::simulate(&settings, plan.threads)?;
    Ok(Side { summary, without: f0::predicted(&f0::Settings { rate: None, ..settings }).ok() })
}

/// The union of SFM sketches by the product statistic; of one sketch, by its likelihood.
fn bitmap((n, epsilon, parties, rate): Setting, plan: &Plan, seed: u64) -> Result<Side, AccuracyError> {
    let settings = simulate::Settings {
        shape: PcsaShape::new(CELLS, LEVELS).map_err(AccuracyError::parameter)?.into(),
        epsilon: Some(epsilon),
        n,
        parties,
        overlap: Overlap::Disjoint,
        merge: Merge::None,
        sampling: Sampling::Subsampled(rate),
        trials: plan.trials,
        seed,
    };
    let summary = simulate::simulate(&settings, plan.threads)?;
    let whole = simulate::Settings { sampling: Sampling::Cells, ..settings };
    Ok(Side { summary, without: simulate::predicted(&whole).ok() })
}

impl Side {
    /// Predicted, measured, difference, coverage, without.
    fn columns(&self) -> String {
        let (found, predicted) = (self.summary.rrmse(), self.summary.predicted_rse());
        let without = self.without.filter(|error| *error <= NOTHING);
        format!(
            "{:.2} % | **{:.2} %** | {:+.1} % | {:.1} % | {}",
            100.0 * predicted,
            100.0 * found,
            100.0 * (found / predicted - 1.0),
            100.0 * self.summary.coverage(),
            without.map_or_else(|| "none".to_owned(), |error| format!("{:.1} %", 100.0 * error)),
        )
    }

    /// A sentence when error or coverage breaks its rule.
    fn violation(&self, title: &str) -> Option<String> {
        let (predicted, coverage) = (self.summary.predicted_rse(), self.summary.coverage());
        let ratio = self.summary.rrmse() / predicted - 1.0;
        let (limit, bound) = RULE;
        // What is not a number agrees with nothing.
        let agrees = predicted >= limit || (-bound..=bound).contains(&ratio);
        let covers = (LEAST_COVERAGE..=1.0).contains(&coverage);
        (!(agrees && covers))
            .then(|| format!("{title}: error {ratio:+.4} off its prediction of {predicted:.4}, coverage {coverage:.4}"))
    }
}

fn markdown(plan: &Plan, [parity, bitmap]: &[Vec<String>; 2]) -> String {
    let title = "| n | ε of each | sketches | γ | ε₀ | predicted | measured (RRMSE) | difference | 95 % intervals cover | without sampling |";
    let rule = "|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|";
    format!(
        "Sketches of {LEVELS} × {CELLS} cells of disjoint sets, n items in all, a key for every trial, real coins, {} trials a row; written by \
         `cargo xtask accuracy{} --trials {} --seed {}`. Errors without sampling are predictions, `none` above 100 %.\n\n\
         F0 sketches, merged by xor; the last column is the prediction of an independent computation:\n\n\
         {title} reference |\n{rule}---:|\n{}\n\n\
         SFM sketches, one by its likelihood, several by the product statistic:\n\n\
         {title}\n{rule}\n{}\n",
        plan.trials,
        plan.which.flag(),
        plan.trials,
        plan.seed,
        parity.join("\n"),
        bitmap.join("\n"),
    )
}

#[cfg(test)]
mod tests {
    use super::super::Which;
    use super::*;

    fn small() -> Plan {
        Plan { which: Which::Subsampled, trials: 3, seed: 1, threads: Some(1), out: None }
    }

    fn last_row() -> Setting {
        let (n, epsilon, sketches, gamma, _) = ROWS[5];
        (n, Epsilon::new(epsilon).unwrap(), sketches, SampleRate::new(gamma).unwrap())
    }

    #[test]
    fn a_row_has_a_column_for_every_head() {
        let (parity, bitmap) = (parity(last_row(), &small(), 1).unwrap(), bitmap(last_row(), &small(), 2).unwrap());
        let line = |side: &Side| format!("| n | ε | k | γ | ε₀ | {} |", side.columns());
        let text = markdown(&small(), &[vec![line(&parity) + " 5.5 % |"], vec![line(&bitmap)]]);
        assert!(text.contains("`cargo xtask accuracy --subsampled --trials 3 --seed 1`"), "{text}");
        for table in text.split("\n\n").filter(|part| part.starts_with('|')) {
            let columns: Vec<usize> = table.lines().map(|line| line.matches('|').count()).collect();
            assert!(columns.len() == 3 && columns.iter().all(|count| *count == columns[0]), "{table}");
        }
    }

    fn predicted(n: u64, epsilon: f64, merged: u32, gamma: f64) -> f64 {
        let shape = "--levels 24 --cells 4096";
        let words = format!("{shape} --epsilon {epsilon} --n {n} --merged {merged} --subsample-rate {gamma}");
        let (settings, _, _) = f0::Settings::parse(words.split(' ').map(str::to_owned)).unwrap();
        f0::predicted(&settings).unwrap()
    }

    /// They have two digits, and the first of them is a tenth of a percent at least.
    #[test]
    fn predictions_of_f0_sketches_are_the_references() {
        for (n, epsilon, merged, gamma, reference) in ROWS {
            let got = predicted(n, epsilon, merged, gamma);
            assert!((got - reference).abs() < 0.000_501, "{n}, {merged}: {got}, not {reference}");
        }
    }

    /// Many items in every cell and no level of too few: `4 ln 2/(m Li₂(c₀^2k)) − 1/n`, where what the kept items vary by is in
    /// the first part already.
    #[test]
    fn predictions_of_many_items_are_those_of_the_dilogarithm() {
        for (merged, gamma) in [(1, 0.05), (2, 0.02)] {
            let square = ((1.0_f64.exp_m1() / gamma).ln_1p() / 2.0).tanh().powf(2.0 * f64::from(merged));
            let dilogarithm: f64 = (1..400).map(|k| square.powi(k) / f64::from(k).powi(2)).sum();
            let want = (4.0 * 2.0_f64.ln() / (4096.0 * dilogarithm) - 1e-8).sqrt();
            let got = predicted(100_000_000, 1.0, merged, gamma);
            assert!((got / want - 1.0).abs() < 0.01, "{merged}: {got}, not {want}");
        }
    }

    #[test]
    fn rows_beside_their_rules_are_named() {
        let side = parity(last_row(), &Plan { trials: 40, ..small() }, 1).unwrap();
        assert_eq!(side.violation("row").is_some(), {
            let off = side.summary.rrmse() / side.summary.predicted_rse() - 1.0;
            off.abs() > 0.15 || side.summary.coverage() < 0.88
        });
        let (settings, without) = (side.summary.to_json(), None);
        let none = Side { summary: Summary::new(settings, &[], 0.05), without };
        assert!(none.violation("row").is_some() && none.columns().ends_with("none"));
    }
}
