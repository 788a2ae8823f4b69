//! Location by the law of the cells beside the median: mean errors on the same sketches.

use std::time::Instant;

use dp_noise::hazmat::InsecureTestRng;

use super::dictionary::{Judged, fresh, mean, options, percent, setting};
use super::{AccuracyError, Plan, Table};
use crate::frequency::{FrequencyError, Population, Settings, mean_and_std_error};
use crate::simulate::repeat;

/// Sketches of a setting.
pub(super) const SKETCHES: u32 = 8;
/// By how many standard errors, over sketches, the mean error may exceed the median's: never by more than chance.
const SLACK: f64 = 2.0;
/// Rows, width and ρ: few and many rows, few and many cells, little and much noise.
const SETTINGS: [(u8, u32, f64); 8] = [
    (5, 1024, 0.1),
    (5, 4096, 1.0),
    (5, 16_384, 0.01),
    (15, 1024, 0.01),
    (15, 4096, 0.1),
    (15, 16_384, 1.0),
    (31, 1024, 1.0),
    (31, 16_384, 0.01),
];

/// The median and the law.
type Ways = [Judged; 2];

pub(super) fn table(plan: &Plan, mut progress: impl FnMut(&str)) -> Result<Table, AccuracyError> {
    let (mut lines, mut violations) = (Vec::new(), Vec::new());
    for (seed, of) in (plan.seed + 400..).zip(SETTINGS) {
        let begin = Instant::now();
        let settings = setting(of, plan.trials, seed)?;
        let population = Population::new(&settings);
        let trials = (settings.trials, settings.seed, plan.threads);
        let found = repeat(trials, || (), |(), noise| ways(&settings, &population, noise))?;
        let (line, broken) = row(of, &found);
        progress(&format!("{line} {:.0} s", begin.elapsed().as_secs_f64()));
        lines.push(line);
        violations.extend(broken);
    }
    Ok(Table { markdown: markdown(plan, &lines), violations })
}

fn ways(settings: &Settings, population: &Population, noise: &mut InsecureTestRng) -> Result<Ways, FrequencyError> {
    let (sketch, keys) = fresh(settings, population, noise)?;
    let (medians, law) = (sketch.frequencies(options())?, sketch.law_frequencies(options())?);
    Ok([
        Judged::new(population, keys.iter().map(|&key| medians.estimate(key)))?,
        Judged::new(population, keys.iter().map(|&key| law.estimate(key)))?,
    ])
}

/// A row of the table, and a sentence if the law is worse than chance explains.
fn row((rows, width, rho): (u8, u32, f64), found: &[Ways]) -> (String, Option<String>) {
    let way = |index: usize| found.iter().map(|ways| ways[index]).collect::<Vec<Judged>>();
    let [medians, laws] = [way(0), way(1)];
    // Both answer from the same sketches, so what differs is the difference.
    let differences: Vec<f64> = found.iter().map(|[median, law]| law.error / median.error - 1.0).collect();
    let (difference, std_error) = mean_and_std_error(&differences);
    let title = format!("{rows} | {width} | {rho}");
    let line = format!(
        "| {title} | {:.3} | **{:.3}** | {:+.2} % ± {:.2} | {} | {} | {} |",
        mean(&medians, |one| one.error).0,
        mean(&laws, |one| one.error).0,
        100.0 * difference,
        100.0 * std_error,
        percent(&medians, |one| one.covered),
        percent(&laws, |one| one.covered),
        percent(&laws, |one| one.heavy_covered),
    );
    let slack = if std_error.is_finite() { SLACK * std_error } else { 0.0 };
    let worse = difference > slack || difference.is_nan();
    (line, worse.then(|| format!("{title}: {difference:+.4} ± {std_error:.4} off the median's error")))
}

fn markdown(plan: &Plan, lines: &[String]) -> String {
    format!(
        "Zipf data of exponent 1.1, 10⁵ keys, 10⁶ records of weight 1; all keys asked for; {} sketches a row, each with a hash \
         key of its own and answered in both ways; written by `cargo xtask accuracy --law --trials {} --seed {}`. Mean absolute errors \
         over all keys; the difference ± its standard error over sketches.\n\n\
         | k | b | ρ | median | law | difference | median covers | law covers | of the 500 heaviest |\n\
         |---:|---:|---:|---:|---:|---:|---:|---:|---:|\n{}\n",
        plan.trials,
        plan.trials,
        plan.seed,
        lines.join("\n"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_law_that_is_worse_than_the_median_is_named() {
        let judged = |error| Judged { error, ..Judged::default() };
        let found = |law: f64| [[judged(1.0), judged(law)], [judged(1.1), judged(1.1 * law)]];
        assert_eq!(row((5, 64, 1.0), &found(0.9)).1, None);
        assert!(row((5, 64, 1.0), &found(1.1)).1.unwrap().contains("5 | 64 | 1"));
    }
}
