//! Frequencies of Zipf data: how often intervals hold the truth, what they cost, and other mechanisms beside.

use countsketch_dp::theory::{TailNorms, count_mean_variance, half_width};
use countsketch_dp::{Combiner, CountSketchShape, IntervalMethod, QueryOptions};
use dp_noise::Rho;
use dp_noise::hazmat::InsecureTestRng;
use sketch_hash::Item;

use super::{AccuracyError, Plan, Table, clip};
use crate::frequency::{
    Answers, Baseline, Data, Estimator, FrequencyError, Population, Settings, hash_from, mean_and_std_error,
    private_sketch, simulate,
};
use crate::number;
use crate::simulate::repeat;

/// Sketches of a setting.
pub(super) const SKETCHES: u32 = 8;
const QUERIES: u32 = 500;
const WIDTHS: [u32; 2] = [256, 4096];
const ROWS: [u8; 3] = [5, 15, 31];
const RHOS: [f64; 3] = [0.01, 0.1, 1.0];
const DATA: Data = Data::Zipf { items: 100_000, total: 1_000_000, exponent: 1.1 };
/// What bucket intervals cover, and the least that those cover whose coverage is only bounded below.
const BUCKET: [f64; 2] = [0.935, 0.965];
const OTHERS: f64 = 0.945;
/// By how many of its own standard errors a coverage may be outside. Few sketches tell them roughly.
const SLACK: f64 = 2.0;

/// What one sketch says, by the three methods.
struct Methods {
    bucket: Answers,
    order: Answers,
    /// Queries whose error the a-priori bound holds.
    bounded: u32,
}

/// All parts of the page.
pub(super) fn table(plan: &Plan, mut progress: impl FnMut(&str)) -> Result<Table, AccuracyError> {
    let (mut lines, mut violations) = (Vec::new(), Vec::new());
    let settings = WIDTHS.iter().flat_map(|&b| ROWS.iter().flat_map(move |&k| RHOS.map(|rho| (b, k, rho))));
    for (seed, (width, rows, rho)) in (plan.seed..).zip(settings) {
        let settings = setting((width, rows, rho), None, plan, seed)?;
        let (line, broken) = intervals(&settings, plan.threads)?;
        progress(&line);
        lines.push(line);
        violations.extend(broken);
    }
    let mut compared = Vec::new();
    for (seed, (width, rows, rho)) in (plan.seed + 100..).zip(COMPARED) {
        let (line, broken) = baselines((width, rows, rho), plan, seed)?;
        progress(&line);
        compared.push(line);
        violations.extend(broken);
    }
    let (clipped, broken) = clip::lines(plan)?;
    violations.extend(broken);
    Ok(Table { markdown: markdown(plan, &lines, &compared, &clipped), violations })
}

fn setting(
    (width, rows, rho): (u32, u8, f64),
    baseline: Option<Baseline>,
    plan: &Plan,
    seed: u64,
) -> Result<Settings, AccuracyError> {
    Ok(Settings {
        shape: CountSketchShape::new(rows, width).map_err(AccuracyError::parameter)?,
        rho: Rho::new(rho).map_err(AccuracyError::parameter)?,
        level: None,
        data: DATA,
        estimator: Estimator::Rows(Combiner::Median),
        baseline,
        queries: QUERIES,
        trials: plan.trials,
        seed,
    })
}

/// A row of coverages, and a sentence where one is outside its rule.
fn intervals(settings: &Settings, threads: Option<usize>) -> Result<(String, Vec<String>), AccuracyError> {
    let population = Population::new(settings);
    let (rows, width) = (u32::from(settings.shape.rows()), settings.shape.width());
    let norms = TailNorms::new(population.squares(), 0.0).map_err(AccuracyError::parameter)?;
    let s2 = f64::from(rows) / (2.0 * settings.rho.get());
    let bound = half_width(rows, width, &norms, s2, 0.05).map_err(AccuracyError::parameter)?;
    let plan = (settings.trials, settings.seed, threads);
    let found = repeat(plan, || (), |(), noise| by_methods(settings, &population, bound, noise))?;
    let title = format!("{width} | {rows} | {}", settings.rho.get());
    let shares = |count: &dyn Fn(&Methods) -> u32| {
        let shares: Vec<f64> =
            found.iter().map(|one| f64::from(count(one)) / number::length(one.bucket.errors.len())).collect();
        mean_and_std_error(&shares)
    };
    let bucket = shares(&|one| one.bucket.covered);
    let order = shares(&|one| one.order.covered);
    let bounded = shares(&|one| one.bounded);
    let width_of = |widths: Vec<f64>| (!widths.is_empty()).then(|| mean_and_std_error(&widths).0);
    let bucket_width = width_of(found.iter().filter_map(|one| one.bucket.half_width).collect());
    let order_width = width_of(found.iter().filter_map(|one| one.order.half_width).collect());
    let line = format!(
        "| {title} | {} | {} | {} | {} | {} | {} |",
        share(bucket),
        length(bucket_width),
        if order_width.is_some() { share(order) } else { "no ends".to_owned() },
        length(order_width),
        share(bounded),
        length(bound),
    );
    let mut violations = Vec::new();
    if !inside(bucket, BUCKET) {
        violations.push(format!("{title}: bucket intervals cover {:.4} ± {:.4}", bucket.0, bucket.1));
    }
    for (name, found) in [("order statistics", order), ("the bound", bounded)] {
        if !inside(found, [OTHERS, 1.0]) {
            violations.push(format!("{title}: {name} cover {:.4} ± {:.4}", found.0, found.1));
        }
    }
    Ok((line, violations))
}

fn inside((mean, std_error): (f64, f64), [low, high]: [f64; 2]) -> bool {
    let slack = if std_error.is_finite() { SLACK * std_error } else { 0.0 };
    mean >= low - slack && mean <= high + slack
}

fn share((mean, std_error): (f64, f64)) -> String {
    format!("{:.2} % ± {:.2}", 100.0 * mean, 100.0 * std_error)
}

fn length(width: Option<f64>) -> String {
    width.map_or_else(|| "∞".to_owned(), |width| format!("{width:.1}"))
}

fn by_methods(
    settings: &Settings,
    population: &Population,
    bound: Option<f64>,
    noise: &mut InsecureTestRng,
) -> Result<Methods, FrequencyError> {
    let hash = hash_from(noise);
    let keys: Vec<u64> = population.queries.iter().map(|&item| Item::from(item).hash64(&hash)).collect();
    let sketch = private_sketch(settings.shape, settings.rho, &population.updates, &hash, noise)?;
    let answers = |method| {
        let options = QueryOptions::default().interval(method);
        let frequencies = sketch.frequencies(options).map_err(FrequencyError::refused)?;
        let estimates = frequencies.estimate_all(&keys).map_err(FrequencyError::refused)?;
        Ok::<_, FrequencyError>(Answers::new(population, &estimates))
    };
    let (bucket, order) = (answers(IntervalMethod::Bucket)?, answers(IntervalMethod::OrderStatistics)?);
    let bounded = bucket.errors.iter().filter(|error| bound.is_none_or(|bound| error.abs() <= bound)).count();
    Ok(Methods { bounded: u32::try_from(bounded).unwrap_or(u32::MAX), bucket, order })
}

/// Where other mechanisms stand beside: few and many cells, little and much noise.
const COMPARED: [(u32, u8, f64); 8] = [
    (256, 5, 0.1),
    (256, 15, 1.0),
    (1024, 5, 1.0),
    (1024, 15, 0.1),
    (1024, 31, 0.01),
    (16_384, 5, 0.1),
    (16_384, 15, 1.0),
    (16_384, 31, 0.01),
];
/// A measured root mean square of a Count-Mean may be off its theory by so much: a few heavy collisions make it.
const COUNT_MEAN: f64 = 0.5;

/// Mean absolute errors of four mechanisms, and a sentence where one is not as theory says.
fn baselines(setting_of: (u32, u8, f64), plan: &Plan, seed: u64) -> Result<(String, Vec<String>), AccuracyError> {
    let (width, rows, rho) = setting_of;
    let run = |baseline| Ok::<_, AccuracyError>(simulate(&setting(setting_of, baseline, plan, seed)?, plan.threads)?);
    let (median, least) = (run(None)?, run(Some(Baseline::CountMin))?);
    let (mean, vector) = (run(Some(Baseline::CountMean))?, run(Some(Baseline::Gaussian))?);
    let population = Population::new(&setting(setting_of, None, plan, seed)?);
    let (k, s2) = (u32::from(rows), f64::from(rows) / (2.0 * rho));
    let second_moment = population.squares().iter().sum();
    let theory = count_mean_variance(k, width, second_moment, s2).map_err(AccuracyError::parameter)?.sqrt();
    let noise = (2.0 * rho).sqrt().recip();
    let title = format!("{width} | {rows} | {rho}");
    let line = format!(
        "| {title} | {:.2} | {:.2} ({:.1}) | {:.2} ({:.1}) | {:.2} | {:.1} | {theory:.1} |",
        median.mean_abs_error(),
        least.mean_abs_error(),
        least.mean_abs_error() / median.mean_abs_error(),
        mean.mean_abs_error(),
        mean.mean_abs_error() / median.mean_abs_error(),
        vector.mean_abs_error(),
        mean.rmse(),
    );
    let mut violations = Vec::new();
    // One answer in each of 4000 is independent: the standard deviation of their root mean square is 1.1 % of it.
    if (vector.rmse() / noise - 1.0).abs() > 4.9 / (2.0 * f64::from(QUERIES * plan.trials)).sqrt() + 0.01 {
        violations.push(format!("{title}: Gaussian mechanism off by {:.3}, not {noise:.3}", vector.rmse()));
    }
    if mean.rmse() > theory * (1.0 + COUNT_MEAN) {
        violations.push(format!("{title}: Count-Mean off by {:.1}, theory {theory:.1}", mean.rmse()));
    }
    if width <= 1024 && least.mean_abs_error() < 2.0 * median.mean_abs_error() {
        violations.push(format!("{title}: Count-Min is not far behind: {:.2}", least.mean_abs_error()));
    }
    Ok((line, violations))
}

fn markdown(plan: &Plan, lines: &[String], compared: &[String], clipped: &[String]) -> String {
    format!(
        "Zipf data of exponent 1.1, 10⁵ items, 10⁶ records of weight 1; {} sketches a row, each with a key of its own, \
         {QUERIES} items asked of each, the heaviest half of them. Written by \
         `cargo xtask accuracy --countsketch --trials {} --seed {}`.\n\n\
         Share of 95 % intervals that hold the truth, with its standard error over sketches, and half of their length:\n\n\
         | b | k | ρ | bucket | half | order statistics | half | bound by exact norms | half |\n\
         |---:|---:|---:|---:|---:|---:|---:|---:|---:|\n{}\n\n\
         Mean absolute errors at the same ρ, in brackets over that of the median; last, root mean squares of Count-Mean \
         with their theory:\n\n\
         | b | k | ρ | median | Count-Min | Count-Mean | Gaussian mechanism | Count-Mean, RMSE | theory |\n\
         |---:|---:|---:|---:|---:|---:|---:|---:|---:|\n{}\n\n\
         Norms of one user's part of a sketch, m items of weight 1, over `sqrt(k m)`, {} users a row:\n\n\
         | b | k | m | worst possible | 99 % | 99.9 % | mean square | theory |\n\
         |---:|---:|---:|---:|---:|---:|---:|---:|\n{}\n",
        plan.trials,
        plan.trials,
        plan.seed,
        lines.join("\n"),
        compared.join("\n"),
        clip::USERS,
        clipped.join("\n"),
    )
}
