//! How often answers near the noise stray far: the table of low ε and few items.

use cardinality_estimators::{Confidence, Estimate, SetFormula, Status};
use dp_noise::hazmat::InsecureTestRng;
use dp_noise::{Epsilon, Permit};
use sfm_pcsa::{PcsaShape, PcsaSketch, SfmSketch, set_estimate};
use sketch_hash::DefaultHash;

use super::{AccuracyError, Plan, Table};
use crate::number;
use crate::simulate::{Placement, SimulationError, in_parallel};

const EPSILONS: [f64; 3] = [0.1, 0.25, 0.5];
const COUNTS: [u64; 4] = [0, 5, 100, 10_000];
/// Beyond so many of its standard errors an answer is counted as far off. Of normal errors 0.006 % are.
const FAR: f64 = 4.0;
/// What may be far off of all answers with status `ok`, and what intervals of 95 % may miss, in all rows, beside what chance
/// adds to a share of so many trials in one row of a million.
const MOST_FAR: f64 = 0.002;
const MOST_MISSED: f64 = 0.06;
const SIGMAS: f64 = 4.9;

/// Items that only the third set holds.
const OTHERS: u64 = 10_000;

/// The questions asked of two sets of `n` items each, half of them common, of a third, C, that holds the common items
/// and [`OTHERS`], and of a fourth, D, that holds as many which nobody else has.
const QUESTIONS: [&str; 7] = ["A", "A ∪ B", "A ∩ B", "A ∖ B", "A ∩ C", "A ∩ B ∩ C", "C ∩ D"];

/// What the answers to one question say together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Tally {
    answers: u32,
    ok: u32,
    /// With status `ok` and far off.
    far: u32,
    missed: u32,
    /// With status `ok` and missed.
    ok_missed: u32,
}

impl Tally {
    fn of(answer: &Estimate, truth: f64) -> Self {
        let ok = answer.status() == Status::Ok;
        let off =
            answer.value().zip(answer.std_error()).is_some_and(|(value, error)| (value - truth).abs() > FAR * error);
        let missed = !answer.covers(truth);
        let one = u32::from;
        Self { answers: 1, ok: one(ok), far: one(ok && off), missed: one(missed), ok_missed: one(ok && missed) }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            answers: self.answers + other.answers,
            ok: self.ok + other.ok,
            far: self.far + other.far,
            missed: self.missed + other.missed,
            ok_missed: self.ok_missed + other.ok_missed,
        }
    }

    fn share(self, count: u32) -> f64 {
        f64::from(count) / f64::from(self.answers.max(1))
    }

    fn line(self, title: &str) -> String {
        let percent = |count| format!("{:.2} %", 100.0 * self.share(count));
        format!(
            "| {title} | {} | {} | {} | {} |",
            percent(self.ok),
            percent(self.far),
            percent(self.missed),
            percent(self.ok_missed)
        )
    }

    /// A sentence when answers stray more often than they may.
    fn violation(self, title: &str) -> Option<String> {
        let (far, missed) = (self.share(self.far), self.share(self.missed));
        let bound = |most: f64| most + SIGMAS * (most / f64::from(self.answers.max(1))).sqrt();
        (far > bound(MOST_FAR) || missed > bound(MOST_MISSED))
            .then(|| format!("{title}: {far:.4} of all answers ok and far off, {missed:.4} missed by their interval"))
    }
}

/// Simulates every row.
pub(super) fn table(plan: &Plan, mut progress: impl FnMut(&str)) -> Result<Table, AccuracyError> {
    let (mut lines, mut violations) = (Vec::new(), Vec::new());
    let settings = EPSILONS.into_iter().flat_map(|epsilon| COUNTS.map(|n| (epsilon, n)));
    for (seed, (epsilon, n)) in (plan.seed..).zip(settings) {
        let level = Epsilon::new(epsilon).map_err(AccuracyError::parameter)?;
        let memory = || Placement::new(PcsaShape::DEFAULT);
        let trials =
            in_parallel((plan.trials, seed, plan.threads), memory, |items, noise| trial(n, level, items, noise))?;
        for (question, name) in QUESTIONS.iter().enumerate() {
            let tally = trials.iter().fold(Tally::default(), |sum, trial| sum.plus(trial[question]));
            let title = format!("{name} | {n} | {epsilon}");
            let line = tally.line(&title);
            progress(&line);
            lines.push(line);
            violations.extend(tally.violation(&title));
        }
    }
    let markdown = format!(
        "Sketches of 4096 buckets and 24 levels, A and B of so many items each with half of them common, C of the common ones and 10,000 others, D of 10,000 more, {} trials a row; \
         written by `cargo xtask accuracy --tails --trials {} --seed {}`. Shares are of all answers.\n\n\
         | answer | items | ε | status `ok` | `ok` and off by more than {FAR} standard errors | interval misses | `ok` and interval misses |\n\
         |---|---:|---:|---:|---:|---:|---:|\n{}\n",
        plan.trials,
        plan.trials,
        plan.seed,
        lines.join("\n")
    );
    Ok(Table { markdown, violations })
}

/// The answers from fresh releases.
fn trial(
    n: u64,
    epsilon: Epsilon,
    items: &mut Placement,
    noise: &mut InsecureTestRng,
) -> Result<[Tally; QUESTIONS.len()], SimulationError> {
    let common = n / 2;
    let mut shared = PcsaSketch::new(PcsaShape::DEFAULT, DefaultHash::default());
    items.place(common, noise, |hashes| shared.update_hashes(hashes));
    let mut release = |others| {
        let mut own = shared.clone();
        items.place(others, noise, |hashes| own.update_hashes(hashes));
        own.release(Permit::standalone(epsilon), noise)
    };
    let [first, second, third]: [SfmSketch; 3] = [release(n - common)?, release(n - common)?, release(OTHERS)?];
    let mut alone = PcsaSketch::new(PcsaShape::DEFAULT, DefaultHash::default());
    items.place(OTHERS, noise, |hashes| alone.update_hashes(hashes));
    let fourth = alone.release(Permit::standalone(epsilon), noise)?;
    let formula = |sketches: &[&SfmSketch], belongs: fn(usize) -> bool, truth: u64| -> Result<Tally, SimulationError> {
        let formula = SetFormula::from_membership(sketches.len(), belongs)?;
        Ok(Tally::of(&set_estimate(sketches, &formula, Confidence::P95)?, number::to_f64(truth)))
    };
    Ok([
        Tally::of(&first.estimate(Confidence::P95), number::to_f64(n)),
        formula(&[&first, &second], |sets| sets != 0, 2 * n - common)?,
        formula(&[&first, &second], |sets| sets == 3, common)?,
        formula(&[&first, &second], |sets| sets == 1, n - common)?,
        formula(&[&first, &third], |sets| sets == 3, common)?,
        formula(&[&first, &second, &third], |sets| sets == 7, common)?,
        formula(&[&third, &fourth], |sets| sets == 3, 0)?,
    ])
}
