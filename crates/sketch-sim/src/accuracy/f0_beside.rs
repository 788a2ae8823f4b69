//! Parity sketches beside bitmaps of as many bits: what each choice costs.

use cardinality_estimators::Estimate;
use dp_noise::Epsilon;
use f0_sketch::{ModeKind, NoiseRule};
use sfm_pcsa::PcsaShape;

use super::{AccuracyError, Plan, Table};
use crate::f0::{self, CONFIDENCE, Estimator, F0Error, Model, Weights};
use crate::number;
use crate::simulate::{self, Merge, Overlap, Sampling, repeat};

/// Trials of a row, unless asked for otherwise.
pub(super) const TRIALS: u32 = 2000;
/// 98,304 bits, 12 KiB, of either kind.
const LEVELS: u8 = 24;
const CELLS: u32 = 4096;
const ITEMS: u64 = 100_000;
const EPSILONS: [f64; 4] = [0.5, 1.0, 2.0, 4.0];
const MERGED: [u32; 3] = [1, 2, 8];
/// Errors beyond are written as lost: their root mean square is whatever the worst answer makes it.
const LOST: f64 = 1.0;
/// By how much the error of the likelihood may exceed that of the intervals on the same sketches: chance.
const SLACK: f64 = 1.05;

/// The errors of one estimator on the sketches of a setting.
#[derive(Clone, Copy, Debug)]
struct Side {
    /// Root mean square over the answers.
    error: f64,
    /// The share of sketches that are answered.
    answers: f64,
    /// The median half-length of the intervals over the truth, infinite where an end is missing.
    half: f64,
}

/// The table of all choices side by side.
pub(super) fn table(plan: &Plan, mut progress: impl FnMut(&str)) -> Result<Table, AccuracyError> {
    let (mut lines, mut halves, mut violations) = (Vec::new(), Vec::new(), Vec::new());
    let settings = MERGED.into_iter().flat_map(|merged| EPSILONS.map(|epsilon| (merged, epsilon)));
    for (seed, (merged, epsilon)) in (plan.seed..).step_by(4).zip(settings) {
        let sketch = |mode, noise, seed| setting((mode, noise), epsilon, merged, plan, seed);
        let [paper_b, paper_a] = sides(&sketch(ModeKind::Set, NoiseRule::Paper, seed)?, plan)?;
        let [tight_b, tight_a] = sides(&sketch(ModeKind::Set, NoiseRule::Tight, seed + 1)?, plan)?;
        let [stream_b, _] = sides(&sketch(ModeKind::Presampled, NoiseRule::Tight, seed + 2)?, plan)?;
        let bitmap = bitmap(epsilon, merged, plan, seed + 3)?;
        let title = format!("{merged} | {epsilon}");
        let columns = [paper_a, tight_a, paper_b, tight_b, stream_b, bitmap].map(Side::error_text).join(" | ");
        progress(&format!("| {title} | {columns} |"));
        lines.push(format!("| {title} | {columns} |"));
        halves
            .push(format!("| {title} | {} |", [paper_a, tight_a, tight_b, stream_b].map(Side::half_text).join(" | ")));
        violations.extend(violation(&title, tight_a, tight_b));
    }
    Ok(Table { markdown: markdown(plan, &lines, &halves), violations })
}

fn setting(
    (mode, noise): (ModeKind, NoiseRule),
    epsilon: f64,
    merged: u32,
    plan: &Plan,
    seed: u64,
) -> Result<f0::Settings, AccuracyError> {
    Ok(f0::Settings {
        levels: LEVELS,
        cells: CELLS,
        mode,
        epsilon: Some(Epsilon::new(epsilon).map_err(AccuracyError::parameter)?),
        noise,
        n: ITEMS,
        merged,
        estimator: Estimator::Mle,
        weights: Weights::Unit,
        rate: None,
        trials: plan.trials,
        seed,
    })
}

/// The likelihood and the intervals on the same sketches.
fn sides(settings: &f0::Settings, plan: &Plan) -> Result<[Side; 2], AccuracyError> {
    let model = Model::new(settings)?;
    let found = repeat(
        (settings.trials, settings.seed, plan.threads),
        || (),
        |(), random| {
            let counts = model.draw(random)?;
            let of = |estimator: Estimator| estimator.answer(&counts, CONFIDENCE);
            Ok::<_, F0Error>([of(Estimator::Mle)?, of(Estimator::Interval)?])
        },
    )?;
    Ok([0, 1].map(|which| Side::of(found.iter().map(|answers| &answers[which]))))
}

impl Side {
    fn of<'a>(answers: impl Iterator<Item = &'a Estimate>) -> Self {
        let truth = number::to_f64(ITEMS);
        let (mut squares, mut answered, mut halves) = (0.0, 0_usize, Vec::new());
        for answer in answers {
            if let Some(value) = answer.value() {
                squares += (value / truth - 1.0).powi(2);
                answered += 1;
            }
            let ends = answer.lower().zip(answer.upper());
            halves.push(ends.map_or(f64::INFINITY, |(lower, upper)| (upper - lower) / truth / 2.0));
        }
        halves.sort_by(f64::total_cmp);
        Self {
            error: (squares / number::length(answered)).sqrt(),
            answers: number::length(answered) / number::length(halves.len()),
            half: halves.get(halves.len() / 2).copied().unwrap_or(f64::NAN),
        }
    }

    fn error_text(self) -> String {
        if self.answers <= 0.0 {
            return "no answers".to_owned();
        }
        let error = if self.error > LOST { "lost".to_owned() } else { format!("{:.1} %", 100.0 * self.error) };
        // Rounded down, so that all means all.
        let answers = (1000.0 * self.answers).floor() / 10.0;
        match answers {
            _ if self.answers >= 1.0 => error,
            _ if answers < 0.1 => format!("{error} (< 0.1 %)"),
            _ => format!("{error} ({answers:.1} %)"),
        }
    }

    fn half_text(self) -> String {
        if self.half.is_finite() { format!("{:.1} %", 100.0 * self.half) } else { "no end".to_owned() }
    }
}

/// The extremal merge of symmetric releases of a bitmap with as many bits.
fn bitmap(epsilon: f64, merged: u32, plan: &Plan, seed: u64) -> Result<Side, AccuracyError> {
    let settings = simulate::Settings {
        shape: PcsaShape::new(CELLS, LEVELS).map_err(AccuracyError::parameter)?.into(),
        epsilon: Some(Epsilon::new(epsilon).map_err(AccuracyError::parameter)?),
        n: ITEMS,
        parties: merged,
        overlap: Overlap::Disjoint,
        merge: if merged == 1 { Merge::None } else { Merge::Extremal },
        sampling: Sampling::Counts,
        trials: plan.trials,
        seed,
    };
    let summary = simulate::simulate(&settings, plan.threads)?;
    let answers = 1.0 - number::to_f64(summary.no_estimate()) / f64::from(plan.trials);
    Ok(Side { error: summary.rrmse_of_values(), answers, half: f64::NAN })
}

/// A sentence when intervals beat the likelihood with the same noise.
fn violation(title: &str, intervals: Side, likelihood: Side) -> Option<String> {
    let answers = likelihood.answers < intervals.answers;
    let error = likelihood.answers >= 1.0 && intervals.answers >= 1.0 && likelihood.error > SLACK * intervals.error;
    (answers || error).then(|| format!("{title}: intervals {intervals:?} beat the likelihood {likelihood:?}"))
}

fn markdown(plan: &Plan, lines: &[String], halves: &[String]) -> String {
    format!(
        "Sketches of {LEVELS} × {CELLS} bits (12 KiB), 10⁵ items in all, {} trials a row; written by \
         `cargo xtask accuracy --f0 --compare --trials {} --seed {}`.\n\n\
         Root mean square errors of the answers, in brackets the share of sketches that are answered where not all are; \
         `lost` is more than 100 %:\n\n\
         | merged | ε of each | (a), p of the paper | (a), tight p | (b), p of the paper | (b), tight p | (b), pre-sampled | \
         Sketch-Flip-Merge |\n\
         |---:|---:|---:|---:|---:|---:|---:|---:|\n{}\n\n\
         Half-length of the intervals over the truth, median: guaranteed with probability 1 − 2⁻²⁴ by (a), 95 % by (b):\n\n\
         | merged | ε of each | (a), p of the paper | (a), tight p | (b), tight p | (b), pre-sampled |\n\
         |---:|---:|---:|---:|---:|---:|\n{}\n",
        plan.trials,
        plan.trials,
        plan.seed,
        lines.join("\n"),
        halves.join("\n"),
    )
}
