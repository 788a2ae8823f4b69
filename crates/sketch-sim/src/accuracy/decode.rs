//! Decoding all keys of a dictionary: mean errors beside the median's, a reference's, and those of noise on every count.

use std::time::Instant;

use countsketch_dp::Threshold;
use dp_noise::hazmat::InsecureTestRng;

use super::dictionary::{Judged, fresh, mean, options, percent, setting};
use super::{AccuracyError, Plan, Table};
use crate::frequency::{Baseline, FrequencyError, Population, Settings, simulate};
use crate::simulate::repeat;

/// Sketches of a setting.
pub(super) const SKETCHES: u32 = 8;
/// How far the mean absolute error may exceed that of the reference.
const EXCESS: f64 = 0.05;

/// A setting with its errors in an independent implementation: our float prototype.
struct Known {
    setting: (u8, u32, f64),
    median: f64,
    /// Decoded, all estimates as they are.
    whole: f64,
    /// Decoded, small ones set to 0.
    thresholded: f64,
}

#[expect(clippy::approx_constant, reason = "a measured error, not a multiple of the circle")]
const KNOWN: [Known; 4] = [
    Known { setting: (15, 16_384, 0.1), median: 3.50, whole: 2.41, thresholded: 1.58 },
    Known { setting: (15, 4096, 0.1), median: 8.71, whole: 3.92, thresholded: 1.94 },
    Known { setting: (31, 1024, 1.0), median: 23.2, whole: 7.75, thresholded: 2.34 },
    Known { setting: (15, 1024, 0.1), median: 35.2, whole: 18.6, thresholded: 3.14 },
];

/// The median, decoded without a threshold, and decoded with one.
type Ways = [Judged; 3];

pub(super) fn table(plan: &Plan, mut progress: impl FnMut(&str)) -> Result<Table, AccuracyError> {
    let (mut lines, mut violations) = (Vec::new(), Vec::new());
    for (seed, known) in (plan.seed + 300..).zip(&KNOWN) {
        let begin = Instant::now();
        let settings = setting(known.setting, plan.trials, seed)?;
        let population = Population::new(&settings);
        let trials = (settings.trials, settings.seed, plan.threads);
        let found = repeat(trials, || (), |(), noise| ways(&settings, &population, noise))?;
        let noise = Settings { baseline: Some(Baseline::Gaussian), ..settings };
        let noise = simulate(&noise, plan.threads)?.mean_abs_error();
        let (line, broken) = row(known, &found, noise);
        progress(&format!("{line} {:.0} s", begin.elapsed().as_secs_f64()));
        lines.push(line);
        violations.extend(broken);
    }
    Ok(Table { markdown: markdown(plan, &lines), violations })
}

fn ways(settings: &Settings, population: &Population, noise: &mut InsecureTestRng) -> Result<Ways, FrequencyError> {
    let (sketch, keys) = fresh(settings, population, noise)?;
    let medians = sketch.frequencies(options())?;
    let decoded = |threshold: Threshold| {
        let decoded = sketch.decode(&keys, threshold)?;
        Judged::new(population, keys.iter().filter_map(|&key| decoded.estimate(key).transpose()))
    };
    let median = Judged::new(population, keys.iter().map(|&key| medians.estimate(key)))?;
    Ok([median, decoded(Threshold::None)?, decoded(Threshold::Auto)?])
}

/// A row of the table, and a sentence for each error that is not as it should be.
fn row(known: &Known, found: &[Ways], noise: f64) -> (String, Vec<String>) {
    let way = |index: usize| found.iter().map(|ways| ways[index]).collect::<Vec<Judged>>();
    let [median, whole, thresholded] = [way(0), way(1), way(2)];
    let error = |judged: &[Judged]| mean(judged, |one| one.error);
    let (rows, width, rho) = known.setting;
    let title = format!("{rows} | {width} | {rho}");
    let beside = |judged: &[Judged], reference: f64| {
        let (mean, std_error) = error(judged);
        format!("**{mean:.3}** ± {std_error:.3} | {reference} | {:+.1} %", 100.0 * (mean / reference - 1.0))
    };
    let line = format!(
        "| {title} | {:.2} | {} | {} | {} | {} | {} | {} | {noise:.2} |",
        error(&median).0,
        known.median,
        beside(&whole, known.whole),
        beside(&thresholded, known.thresholded),
        percent(&median, |one| one.covered),
        percent(&whole, |one| one.covered),
        percent(&whole, |one| one.heavy_covered),
    );
    let ways = [("decoded", &whole, known.whole), ("decoded with a threshold", &thresholded, known.thresholded)];
    let broken = ways.into_iter().filter_map(|(name, judged, reference)| {
        let (mean, _) = error(judged);
        (mean > reference * (1.0 + EXCESS) || mean.is_nan())
            .then(|| format!("{title}: {name}, mean error {mean:.3}, reference {reference}"))
    });
    (line, broken.collect())
}

fn markdown(plan: &Plan, lines: &[String]) -> String {
    format!(
        "Zipf data of exponent 1.1, 10⁵ keys, 10⁶ records of weight 1; all keys are candidates and all are asked for; {} sketches a \
         row, each with a hash key of its own; written by `cargo xtask accuracy --decode --trials {} --seed {}`. Mean absolute \
         errors over all keys, ± their standard error over sketches, and beside them those of our float prototype.\n\n\
         | k | b | ρ | median | prototype | decoded | prototype | difference | decoded, small ones 0 | prototype | difference | median covers | decoded covers | of the 500 heaviest | noise on every count |\n\
         |---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n{}\n",
        plan.trials,
        plan.trials,
        plan.seed,
        lines.join("\n"),
    )
}
