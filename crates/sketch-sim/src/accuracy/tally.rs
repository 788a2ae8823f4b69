//! Tallies of many releases: errors and coverage for all kinds of overlaps, beside an independent implementation.

use std::time::Instant;

use dp_noise::Epsilon;
use sfm_pcsa::PcsaShape;

use super::tally_reference::{Known, MAIN, MORE};
use super::{AccuracyError, Plan, Table};
use crate::number;
use crate::simulate::{Merge, Overlap, Sampling, Settings, Summary, predicted, simulate};

const ITEMS: u64 = 1_000_000;
const EPSILONS: [f64; 3] = [1.0, 2.0, 4.0];
/// The rules: of the error over all main rows, relative to that of the reference; of that of one row; of the coverage of
/// any row; and of the pooled coverage.
const MEAN_EXCESS: f64 = 0.10;
const MOST_EXCESS: f64 = 0.35;
const LEAST_COVERAGE: f64 = 0.88;
const POOLED: [f64; 2] = [0.95, 0.985];

/// Runs of each setting of so many releases.
pub(super) const fn trials(sketches: u32) -> u32 {
    if sketches > 8 { 200 } else { 500 }
}

/// A setting with what is known of it from elsewhere, and what its trials gave.
struct Row {
    epsilon: f64,
    overlap: Overlap,
    reference: f64,
    main: bool,
    summary: Summary,
    /// Predicted errors of the symmetric merge, of the extremal one and of the product statistic.
    others: [f64; 3],
}

/// The tables of so many releases.
pub(super) fn table(plan: &Plan, sketches: u32, mut progress: impl FnMut(&str)) -> Result<Table, AccuracyError> {
    let mut rows = Vec::new();
    for (main, known) in [(true, MAIN), (false, MORE)] {
        for &Known { overlap, errors, .. } in known.iter().filter(|known| known.sketches == sketches) {
            for (epsilon, reference) in EPSILONS.into_iter().zip(errors) {
                let begin = Instant::now();
                let settings = setting(plan, (sketches, epsilon, overlap), rows.len() as u64)?;
                let summary = simulate(&settings, plan.threads)?;
                let others = [Merge::Symmetric, Merge::Extremal, Merge::None]
                    .map(|merge| predicted(&Settings { merge, ..settings.clone() }).unwrap_or(f64::INFINITY));
                let row = Row { epsilon, overlap, reference, main, summary, others };
                progress(&format!("{} {:.0} s", row.line(), begin.elapsed().as_secs_f64()));
                rows.push(row);
            }
        }
    }
    let violations = violations(&rows);
    Ok(Table { markdown: markdown(plan, sketches, &rows), violations })
}

fn setting(
    plan: &Plan,
    (parties, epsilon, overlap): (u32, f64, Overlap),
    index: u64,
) -> Result<Settings, AccuracyError> {
    Ok(Settings {
        shape: PcsaShape::DEFAULT.into(),
        epsilon: Some(Epsilon::new(epsilon).map_err(AccuracyError::parameter)?),
        n: ITEMS,
        parties,
        overlap,
        merge: Merge::Tally,
        sampling: Sampling::Cells,
        trials: plan.trials,
        seed: plan.seed.wrapping_mul(1_000_003).wrapping_add(1000 * u64::from(parties) + index),
    })
}

impl Row {
    fn excess(&self) -> f64 {
        self.summary.rrmse() / self.reference - 1.0
    }

    fn title(&self) -> String {
        format!("{}, ε = {}", self.overlap, self.epsilon)
    }

    fn line(&self) -> String {
        let Self { summary, .. } = self;
        let others: Vec<String> = self.others.iter().map(|error| percent(*error)).collect();
        let ways = ["shared", "mixed", "free"].map(|way| {
            let found = summary.methods().iter().find(|(name, _)| *name == way);
            found.map_or(0, |(_, count)| *count).to_string()
        });
        format!(
            "| {} | {} | **{}** | {} | {:+.0} % | {:+.2} % | {:.1} % | {} | {:.2} | {} | {} |",
            self.epsilon,
            self.overlap,
            percent(summary.rrmse()),
            percent(self.reference),
            100.0 * self.excess(),
            100.0 * summary.mean_bias(),
            100.0 * summary.coverage(),
            summary.median_half_width().map_or_else(|| "none".to_owned(), percent),
            summary.mean_weight().unwrap_or(f64::NAN),
            ways.join(", "),
            others.join(" | "),
        )
    }
}

/// An error in per cent, as far as it says something.
fn percent(error: f64) -> String {
    if error < 1.0 { format!("{:.2} %", 100.0 * error) } else { "lost".to_owned() }
}

fn violations(rows: &[Row]) -> Vec<String> {
    let mut found = Vec::new();
    for row in rows {
        if row.main && row.excess() > MOST_EXCESS {
            found.push(format!("{}: error {:.4}, reference {}", row.title(), row.summary.rrmse(), row.reference));
        }
        if row.summary.coverage() < LEAST_COVERAGE {
            found.push(format!("{}: intervals cover {:.3}", row.title(), row.summary.coverage()));
        }
    }
    let excess = mean_excess(rows);
    if excess > MEAN_EXCESS {
        found.push(format!("errors of the main rows are {:+.1} % off the reference", 100.0 * excess));
    }
    let pooled = pooled_coverage(rows);
    if !(POOLED[0]..=POOLED[1]).contains(&pooled) {
        found.push(format!("intervals cover {pooled:.4} in all rows together"));
    }
    found
}

/// Of the mean error of the main rows, relative to that of the reference.
fn mean_excess(rows: &[Row]) -> f64 {
    let (found, known) = rows
        .iter()
        .filter(|row| row.main)
        .fold((0.0, 0.0), |(found, known), row| (found + row.summary.rrmse(), known + row.reference));
    found / known - 1.0
}

fn pooled_coverage(rows: &[Row]) -> f64 {
    rows.iter().map(|row| row.summary.coverage()).sum::<f64>() / number::length(rows.len())
}

fn markdown(plan: &Plan, sketches: u32, rows: &[Row]) -> String {
    let heads = "| ε of each | sets | error (RRMSE) | our float prototype | difference | mean bias | 95 % intervals cover | median half-width | weight of the shared law | shared, mixed, free | symmetric merge | extremal merge | product statistic |\n\
                 |---:|---|---:|---:|---:|---:|---:|---:|---:|---|---:|---:|---:|";
    let lines = |main| rows.iter().filter(|row| row.main == main).map(Row::line).collect::<Vec<_>>().join("\n");
    let more = lines(false);
    let others =
        if more.is_empty() { String::new() } else { format!("\nNine other kinds of overlap:\n\n{heads}\n{more}\n") };
    let least = rows.iter().map(|row| row.summary.coverage()).fold(f64::INFINITY, f64::min);
    format!(
        "Unions of {sketches} releases of 4096 buckets and 24 levels, 10⁶ distinct items in all, {} trials a row; written by \
         `cargo xtask accuracy{} --trials {} --seed {}`. Errors of the main rows together: {:+.1} % off the prototype's. Intervals \
         of all {} rows together cover {:.2} %, of no row less than {:.1} %.\n\n{heads}\n{}\n{others}",
        plan.trials,
        plan.which.flag(),
        plan.trials,
        plan.seed,
        100.0 * mean_excess(rows),
        rows.len(),
        100.0 * pooled_coverage(rows),
        100.0 * least,
        lines(true),
    )
}

#[cfg(test)]
mod tests {
    use super::super::Which;
    use super::*;

    #[test]
    fn a_table_has_a_row_for_each_known_setting() {
        let plan = Plan { which: Which::Tally(Some(2)), trials: 2, seed: 1, threads: Some(1), out: None };
        let table = table(&plan, 2, |_| {}).unwrap();
        assert_eq!(table.markdown.lines().filter(|line| line.contains("**")).count(), 9);
        assert!(table.markdown.contains("`cargo xtask accuracy --tally --k 2 --trials 2 --seed 1`"));
    }

    #[test]
    fn rows_beside_their_rules_are_named() {
        let plan = Plan { which: Which::Tally(Some(2)), trials: 3, seed: 1, threads: Some(1), out: None };
        let settings = setting(&plan, (2, 4.0, Overlap::Same), 0).unwrap();
        let row = |reference| Row {
            epsilon: 4.0,
            overlap: Overlap::Same,
            reference,
            main: true,
            summary: simulate(&Settings { n: 50_000, ..settings.clone() }, Some(1)).unwrap(),
            others: [0.1; 3],
        };
        // A reference a thousand times better breaks both rules of errors; one a thousand times worse breaks none.
        let named = violations(&[row(1e-5)]).join("\n");
        assert!(named.contains("same, ε = 4: error") && named.contains("main rows"), "{named}");
        assert!(!violations(&[row(10.0)]).join("\n").contains("error"));
    }
}
