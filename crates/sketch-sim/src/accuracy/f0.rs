//! Parity sketches: measured against predicted errors, coverage, and whether the likelihood answers where intervals do.

use std::time::Instant;

use dp_noise::Epsilon;
use f0_sketch::{ModeKind, NoiseRule};

use super::{AccuracyError, Plan, Table, band};
use crate::f0::{CONFIDENCE, Estimator, F0Error, Model, Settings, Weights};
use crate::simulate::{Summary, Trial, repeat};

const LEVELS: u8 = 24;
const EPSILONS: [f64; 4] = [0.5, 1.0, 2.0, 4.0];
const MERGED: [u32; 3] = [1, 2, 8];
const ITEMS: [u64; 4] = [1_000, 10_000, 100_000, 1_000_000];

/// How far the measured error may lie from the predicted one, relative to it, up to which prediction.
const ERROR_BANDS: [(f64, f64); 2] = [(0.20, 0.05), (0.35, 0.15)];
/// What 95 % intervals cover: of items of weight 1, and the least with other weights, whose squares nobody knows.
const UNIT_COVERAGE: [f64; 2] = [0.935, 0.975];
const LEAST_COVERAGE: f64 = 0.935;
/// Beyond the last band, where merges have left little or no signal, so many times fewer trials see that intervals are not
/// far off, and that the likelihood answers.
const FEWER: u32 = 10;
const LOST_COVERAGE: [f64; 2] = [0.90, 1.0];

/// What the trials of a setting gave.
struct Outcome {
    settings: Settings,
    summary: Summary,
    trials: u32,
    /// Trials in which the intervals' intersection answers, and those of them in which the likelihood does not.
    intersections: u32,
    unanswered: u32,
}

/// All parts of the page.
pub(super) fn table(plan: &Plan, mut progress: impl FnMut(&str)) -> Result<Table, AccuracyError> {
    let (mut lines, mut beyond, mut violations) = (Vec::new(), Vec::new(), Vec::new());
    for (seed, settings) in (plan.seed..).zip(settings()?) {
        let begin = Instant::now();
        let outcome = run(&Settings { seed, ..settings }, plan)?;
        violations.extend(outcome.violation());
        let line = outcome.line();
        progress(&format!("{line} {:.1} s", begin.elapsed().as_secs_f64()));
        if outcome.bound().is_some() {
            lines.push(line);
        } else {
            beyond.push(outcome);
        }
    }
    Ok(Table { markdown: markdown(plan, &lines, &beyond), violations })
}

/// Every setting of the table: all of one weight, and some of others.
fn settings() -> Result<Vec<Settings>, AccuracyError> {
    let mut all = Vec::new();
    for mode in [ModeKind::Set, ModeKind::Presampled] {
        for epsilon in EPSILONS {
            for cells in [1024, 4096, 16_384] {
                let widest = if cells == 4096 { 1_000_000 } else { 100_000 };
                for merged in MERGED {
                    for n in ITEMS.into_iter().filter(|&n| n <= widest) {
                        all.push(setting((mode, epsilon, cells), merged, n, Weights::Unit)?);
                    }
                }
            }
            for weights in [Weights::Uniform, Weights::Pareto] {
                for (merged, n) in [(1, 10_000), (1, 100_000), (1, 1_000_000), (2, 100_000), (8, 100_000)] {
                    all.push(setting((mode, epsilon, 4096), merged, n, weights)?);
                }
            }
        }
    }
    Ok(all)
}

fn setting(
    (mode, epsilon, cells): (ModeKind, f64, u32),
    merged: u32,
    n: u64,
    weights: Weights,
) -> Result<Settings, AccuracyError> {
    Ok(Settings {
        levels: LEVELS,
        cells,
        mode,
        epsilon: Some(Epsilon::new(epsilon).map_err(AccuracyError::parameter)?),
        noise: NoiseRule::Tight,
        n,
        merged,
        estimator: Estimator::Mle,
        weights,
        rate: None,
        trials: 1,
        seed: 0,
    })
}

fn run(settings: &Settings, plan: &Plan) -> Result<Outcome, AccuracyError> {
    let model = Model::new(settings)?;
    let (truth, predicted) = (model.population.total(), model.predicted_rse()?);
    let fewer = if band(&ERROR_BANDS, predicted).is_some() { 1 } else { FEWER };
    let trials = (plan.trials / fewer).max(1);
    let found = repeat(
        (trials, settings.seed, plan.threads),
        || (),
        |(), random| {
            let counts = model.draw(random)?;
            let answer = Estimator::Mle.answer(&counts, CONFIDENCE)?;
            let other = Estimator::Interval.answer(&counts, CONFIDENCE)?.value().is_some();
            Ok::<_, F0Error>((Trial::new(&answer, truth), other, other && answer.value().is_none()))
        },
    )?;
    let count = |of: fn(&(Trial, bool, bool)) -> bool| {
        u32::try_from(found.iter().filter(|trial| of(trial)).count()).unwrap_or(u32::MAX)
    };
    let (intersections, unanswered) = (count(|trial| trial.1), count(|trial| trial.2));
    let of_likelihood: Vec<Trial> = found.iter().map(|trial| trial.0).collect();
    let summary = Summary::new(settings.to_json(), &of_likelihood, predicted);
    Ok(Outcome { settings: settings.clone(), summary, trials, intersections, unanswered })
}

impl Outcome {
    fn bound(&self) -> Option<f64> {
        band(&ERROR_BANDS, self.summary.predicted_rse())
    }

    fn difference(&self) -> f64 {
        self.summary.rrmse_of_values() / self.summary.predicted_rse() - 1.0
    }

    fn share(&self, count: u32) -> f64 {
        f64::from(count) / f64::from(self.trials)
    }

    fn title(&self) -> String {
        let Settings { mode, epsilon, cells, merged, n, weights, .. } = &self.settings;
        let epsilon = epsilon.map_or(f64::INFINITY, Epsilon::get);
        format!("{mode} | {epsilon} | {cells} | {merged} | {n} | {weights}")
    }

    fn line(&self) -> String {
        let bound = self.bound().map_or_else(|| "none".to_owned(), |bound| format!("±{:.0} %", 100.0 * bound));
        format!(
            "| {} | {:.2} % | {:.2} % | {:+.1} % | {bound} | {:+.2} % | {:.2} % | {:.1} % |",
            self.title(),
            100.0 * self.summary.rrmse_of_values(),
            100.0 * self.summary.predicted_rse(),
            100.0 * self.difference(),
            100.0 * self.summary.mean_bias(),
            100.0 * self.summary.coverage(),
            100.0 * self.share(self.intersections),
        )
    }

    /// A sentence when something is outside its rule.
    fn violation(&self) -> Option<String> {
        let error = self.bound().is_none_or(|bound| self.difference().abs() <= bound);
        let [low, high] = match self.settings.weights {
            _ if self.bound().is_none() => LOST_COVERAGE,
            Weights::Unit => UNIT_COVERAGE,
            Weights::Uniform | Weights::Pareto => [LEAST_COVERAGE, 1.0],
        };
        let covers = (low..=high).contains(&self.summary.coverage());
        (!(error && covers && self.unanswered == 0)).then(|| {
            format!(
                "{}: error {:+.3} off its prediction of {:.4}, coverage {:.4}, {} trials without an answer where \
                 intervals have one",
                self.title(),
                self.difference(),
                self.summary.predicted_rse(),
                self.summary.coverage(),
                self.unanswered
            )
        })
    }
}

fn markdown(plan: &Plan, lines: &[String], beyond: &[Outcome]) -> String {
    let trials: u32 = beyond.iter().map(|outcome| outcome.trials).sum();
    let covered: f64 = beyond.iter().map(|one| one.summary.coverage() * f64::from(one.trials)).sum();
    let least = beyond.iter().map(|one| one.summary.coverage()).fold(1.0, f64::min);
    let intersections: u32 = beyond.iter().map(|outcome| outcome.intersections).sum();
    let unanswered: u32 = beyond.iter().map(|outcome| outcome.unanswered).sum();
    format!(
        "Sketches of {LEVELS} levels, tight noise, {} trials a row; written by `cargo xtask accuracy --f0 --trials {} --seed {}`.\n\n\
         | mode | ε of each | cells a level | merged | items | weights | measured error (RRMSE) | predicted | difference | \
         allowed | mean bias | 95 % intervals cover | (a) answers |\n\
         |---|---:|---:|---:|---:|---|---:|---:|---:|---:|---:|---:|---:|\n{}\n\n\
         Beyond a prediction of {:.0} %: {} more settings, {trials} trials in all. Intervals cover {:.2} %, at least \
         {:.1} % in each; (a) answers in {intersections} trials, and (b) is without an answer in {unanswered} of these.\n",
        plan.trials,
        plan.trials,
        plan.seed,
        lines.join("\n"),
        100.0 * ERROR_BANDS[1].0,
        beyond.len(),
        100.0 * covered / f64::from(trials.max(1)),
        100.0 * least,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_differs() {
        let all = settings().unwrap();
        let mut titles: Vec<String> = all.iter().map(|settings| settings.to_json().to_string()).collect();
        titles.sort();
        titles.dedup();
        assert_eq!(titles.len(), all.len());
    }

    #[test]
    fn a_row_outside_its_rule_is_named() {
        let settings = setting((ModeKind::Set, 4.0, 1024), 1, 10_000, Weights::Unit).unwrap();
        let plan = Plan { which: super::super::Which::F0, trials: 400, seed: 1, threads: None, out: None };
        let mut outcome = run(&settings, &plan).unwrap();
        // 400 trials tell an error to 3.5 %; of 4.9 times that the band is wide.
        outcome.summary = Summary::new(settings.to_json(), &[], 0.3);
        assert!(outcome.violation().is_some(), "no number at all");
        outcome.unanswered = 1;
        assert!(outcome.violation().unwrap().contains("1 trials without"));
    }
}
