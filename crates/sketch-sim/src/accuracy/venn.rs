//! The regions of two and three releases: the joint likelihood beside what there was, errors and coverage.

use std::time::Instant;

use cardinality_estimators::{Confidence, SetFormula, set_estimate, venn};
use dp_noise::Epsilon;
use dp_noise::hazmat::InsecureTestRng;
use sfm_pcsa::{PcsaShape, SfmSketch, pattern_counts};

use super::{AccuracyError, Plan, Table};
use crate::number;
use crate::simulate::{
    Merge, Overlap, Placement, Sampling, Settings, SimulationError, Summary, Trial, build, in_parallel, predicted,
    release,
};

pub(super) const TRIALS: u32 = 300;
const ITEMS: [u64; 2] = [10_000, 1_000_000];
const SKETCHES: [u32; 2] = [2, 3];
const EPSILONS: [f64; 3] = [1.0, 2.0, 4.0];
const OVERLAPS: [Overlap; 5] = [Overlap::Disjoint, Overlap::Half, Overlap::Same, Overlap::Share90, Overlap::Subset];
const CONFIDENCE: Confidence = Confidence::P95;
/// The rules of the intervals of unions: of all rows together, and of any.
const POOLED: [f64; 2] = [0.94, 0.98];
const LEAST_COVERAGE: f64 = 0.88;

/// What one trial gives: the union, what is in all sets, what is in the first alone; the last two also by inclusion and
/// exclusion.
type Answers = [Trial; 5];

struct Row {
    settings: Settings,
    epsilon: f64,
    answers: [Summary; 5],
    /// The predicted errors of the symmetric and of the extremal merge.
    merges: [f64; 2],
}

/// Simulates every row.
pub(super) fn table(plan: &Plan, mut progress: impl FnMut(&str)) -> Result<Table, AccuracyError> {
    let mut rows = Vec::new();
    for settings in settings(plan)? {
        let begin = Instant::now();
        let row = Row::new(settings, plan.threads)?;
        progress(&format!("{} {:.0} s", row.line(), begin.elapsed().as_secs_f64()));
        rows.push(row);
    }
    let violations = violations(&rows);
    Ok(Table { markdown: markdown(plan, &rows), violations })
}

fn settings(plan: &Plan) -> Result<Vec<Settings>, AccuracyError> {
    let mut all = Vec::new();
    for parties in SKETCHES {
        for n in ITEMS {
            for epsilon in EPSILONS {
                for overlap in OVERLAPS {
                    all.push(Settings {
                        shape: PcsaShape::DEFAULT.into(),
                        epsilon: Some(Epsilon::new(epsilon).map_err(AccuracyError::parameter)?),
                        n,
                        parties,
                        overlap,
                        merge: Merge::Joint,
                        sampling: Sampling::Cells,
                        trials: plan.trials,
                        seed: plan.seed.wrapping_mul(1_000_003).wrapping_add(5000 + all.len() as u64),
                    });
                }
            }
        }
    }
    Ok(all)
}

impl Row {
    fn new(settings: Settings, threads: Option<usize>) -> Result<Self, AccuracyError> {
        let Some(epsilon) = settings.epsilon else { return Err(AccuracyError::Parameter("no noise".to_owned())) };
        let memory = || Placement::new(PcsaShape::DEFAULT);
        let plan = (settings.trials, settings.seed, threads);
        let trials: Vec<Answers> = in_parallel(plan, memory, |items, noise| trial(&settings, epsilon, items, noise))?;
        let of = |index: usize| {
            let trials: Vec<Trial> = trials.iter().map(|trial| trial[index]).collect();
            Summary::new(settings.to_json(), &trials, f64::NAN)
        };
        let merges =
            [Merge::Symmetric, Merge::Extremal].map(|merge| predicted(&Settings { merge, ..settings.clone() }));
        let [symmetric, extremal] = merges;
        Ok(Self {
            answers: [of(0), of(1), of(2), of(3), of(4)],
            merges: [symmetric?, extremal?],
            epsilon: epsilon.get(),
            settings,
        })
    }

    fn title(&self) -> String {
        let Settings { parties, n, overlap, .. } = self.settings;
        format!("{parties} | {n} | {} | {overlap}", self.epsilon)
    }

    fn line(&self) -> String {
        let percent = |share: f64| format!("{:.2} %", 100.0 * share);
        let covers = |summary: &Summary| format!("{:.1} %", 100.0 * summary.coverage());
        let [union, all, first, all_before, first_before] = &self.answers;
        format!(
            "| {} | **{}** | {:+.2} % | {} | {} | {} | **{}** | {} | {} | **{}** | {} | {} |",
            self.title(),
            percent(union.rrmse()),
            100.0 * union.mean_bias(),
            covers(union),
            percent(self.merges[0]),
            percent(self.merges[1]),
            percent(all.rrmse()),
            covers(all),
            percent(all_before.rrmse()),
            percent(first.rrmse()),
            covers(first),
            percent(first_before.rrmse()),
        )
    }
}

/// The answers to fresh releases, in units of the union.
fn trial(
    settings: &Settings,
    epsilon: Epsilon,
    items: &mut Placement,
    noise: &mut InsecureTestRng,
) -> Result<Answers, SimulationError> {
    let raw = build(PcsaShape::DEFAULT, settings, items, noise)?;
    let releases = release(settings, epsilon, raw, noise)?;
    let patterns = pattern_counts(&releases.iter().collect::<Vec<&SfmSketch>>())?;
    let fit = venn::fit(&patterns)?;
    let everywhere = (1 << settings.parties) - 1;
    let in_all = SetFormula::from_membership(patterns.sketches(), |sets| sets == everywhere)?;
    let in_first = SetFormula::from_membership(patterns.sketches(), |sets| sets == 1)?;
    let size = |holds: &dyn Fn(u32) -> bool| -> u64 {
        let regions = settings.overlap.regions(settings.n, settings.parties);
        let inside = |members: &dyn Fn(u32) -> bool| (0..settings.parties).all(|set| members(set) == holds(set));
        regions.iter().filter(|region| inside(&|set| region.members.holds(set))).map(|region| region.items).sum()
    };
    let (all, first) = (size(&|_| true), size(&|set| set == 0));
    let n = number::to_f64(settings.n);
    let of = |answer, truth: u64| Trial::in_units(&answer, number::to_f64(truth), n);
    Ok([
        of(fit.union(CONFIDENCE), settings.n),
        of(fit.formula(&in_all, CONFIDENCE)?, all),
        of(fit.formula(&in_first, CONFIDENCE)?, first),
        of(set_estimate(&patterns, &in_all, CONFIDENCE)?, all),
        of(set_estimate(&patterns, &in_first, CONFIDENCE)?, first),
    ])
}

fn violations(rows: &[Row]) -> Vec<String> {
    let low = rows.iter().filter(|row| row.answers[0].coverage() < LEAST_COVERAGE);
    let mut found: Vec<String> = low
        .map(|row| format!("{}: intervals of the union cover {:.3}", row.title(), row.answers[0].coverage()))
        .collect();
    let pooled = pooled(rows, 0);
    if !(POOLED[0]..=POOLED[1]).contains(&pooled) {
        found.push(format!("intervals of unions cover {pooled:.4} in all rows together"));
    }
    found
}

/// The coverage of one kind of answer in all rows together.
fn pooled(rows: &[Row], answer: usize) -> f64 {
    rows.iter().map(|row| row.answers[answer].coverage()).sum::<f64>() / number::length(rows.len())
}

fn markdown(plan: &Plan, rows: &[Row]) -> String {
    let lines: Vec<String> = rows.iter().map(Row::line).collect();
    let percent = |answer| format!("{:.2} %", 100.0 * pooled(rows, answer));
    let least = rows.iter().map(|row| row.answers[0].coverage()).fold(f64::INFINITY, f64::min);
    format!(
        "Two and three releases of 4096 buckets and 24 levels, {} trials a row; written by \
         `cargo xtask accuracy --venn --trials {} --seed {}`. Errors are relative to the union, those of single regions too. In \
         all rows together intervals of unions cover {}, in no row less than {:.1} %; those of what is in all sets {}, of what is \
         in the first alone {}. Errors of merges are predictions; `before` is inclusion and exclusion over the product \
         statistics of unions.\n\n\
         | releases | distinct items | ε | sets | union | mean bias | covered | symmetric merge | extremal merge | in all sets | covered | before | in the first alone | covered | before |\n\
         |---:|---:|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n{}\n",
        plan.trials,
        plan.trials,
        plan.seed,
        percent(0),
        100.0 * least,
        percent(1),
        percent(2),
        lines.join("\n"),
    )
}

#[cfg(test)]
mod tests {
    use super::super::Which;
    use super::*;

    #[test]
    fn there_is_a_row_for_each_setting_with_a_seed_of_its_own() {
        let plan = Plan { which: Which::Venn, trials: 2, seed: 1, threads: Some(1), out: None };
        let mut seeds: Vec<u64> = settings(&plan).unwrap().iter().map(|settings| settings.seed).collect();
        seeds.dedup();
        assert_eq!(seeds.len(), 60);
    }

    #[test]
    fn a_row_tells_all_five_answers() {
        let plan = Plan { which: Which::Venn, trials: 3, seed: 1, threads: Some(1), out: None };
        let settings = settings(&plan).unwrap().into_iter().find(|one| one.overlap == Overlap::Half).unwrap();
        let row = Row::new(settings, Some(1)).unwrap();
        assert_eq!(row.line().matches('|').count(), 16);
        let text = markdown(&plan, &[row]);
        assert!(text.contains("`cargo xtask accuracy --venn --trials 3 --seed 1`"), "{text}");
    }
}
