//! Intervals against the truth, and errors against their laws. Fixed seeds; false-alarm rate 1e-6 a check.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic, too")]

mod answers;

use answers::{float, hash, key, private, shape, zipf};
use countsketch_dp::theory::{MedianOfGaussians, TailNorms};
use countsketch_dp::{Combiner, IntervalMethod, QueryOptions};
use sketch_testkit::{binomial_at_most, mean_tolerance};

/// The share of intervals that hold the truth, sketch by sketch: queries of one sketch depend on each other.
fn coverage(rows: u8, width: u32, rho: f64, sketches: u64, options: impl Fn(&[u64]) -> QueryOptions) -> Vec<f64> {
    let truth = zipf(2000, 50_000.0);
    let one = |seed: u64| {
        let sketch = private(shape(rows, width), seed, &truth, rho);
        let frequencies = sketch.frequencies(options(&truth)).unwrap();
        let hash = hash(seed);
        // Heavy, middling and absent items.
        let items: Vec<u64> = (0..50).chain(500..600).chain(5000..5100).collect();
        let covered = items.iter().filter(|&&item| {
            let answer = frequencies.estimate(key(&hash, item)).unwrap();
            answer.covers(float(truth.get(usize::try_from(item).unwrap()).copied().unwrap_or(0)))
        });
        float(u64::try_from(covered.count()).unwrap()) / float(u64::try_from(items.len()).unwrap())
    };
    (1..=sketches).map(one).collect()
}

fn check(shares: &[f64], least: f64, name: &str) {
    let trials = u64::try_from(shares.len()).unwrap();
    let mean = shares.iter().sum::<f64>() / float(trials);
    let variance = shares.iter().map(|share| (share - mean).powi(2)).sum::<f64>() / float(trials - 1);
    // The spread of a share over sketches is not known, so it is taken from the sample, and never below what 250
    // independent queries would have.
    let spread = variance.max(0.05 * 0.95 / 250.0).sqrt();
    let tolerance = mean_tolerance(spread, trials);
    assert!(mean >= least - tolerance, "{name}: covers {mean}, nominal {least}, tolerance {tolerance}");
}

fn check_settings(settings: &[(u8, u32, f64)], sketches: u64) {
    for &(rows, width, rho) in settings {
        for combiner in [Combiner::Median, Combiner::Trimmed, Combiner::Mean] {
            let options = |_: &[u64]| QueryOptions::default().combiner(combiner);
            let shares = coverage(rows, width, rho, sketches, options);
            check(&shares, 0.95, &format!("bucket {combiner:?} {rows} {width} {rho}"));
        }
        let order = |_: &[u64]| QueryOptions::default().interval(IntervalMethod::OrderStatistics);
        check(&coverage(rows, width, rho, sketches, order), 0.95, "order statistics");
        let plug_in = |_: &[u64]| QueryOptions::default().interval(IntervalMethod::PlugIn);
        check(&coverage(rows, width, rho, sketches, plug_in), 0.95, "plug-in bound");
        let norms = |truth: &[u64]| {
            let squares = truth.iter().map(|&x| float(x).powi(2)).collect();
            QueryOptions::default().interval(IntervalMethod::Norm(TailNorms::new(squares, 0.0).unwrap()))
        };
        check(&coverage(rows, width, rho, sketches, norms), 0.95, "bound by norms");
    }
}

#[test]
fn intervals_cover_at_their_confidence() {
    check_settings(&[(5, 512, 0.1), (15, 1024, 0.1)], 12);
}

#[test]
#[ignore = "seven minutes: 18 settings of 40 sketches; `cargo xtask test --all` runs it"]
fn intervals_cover_at_their_confidence_in_many_settings() {
    let mut settings = Vec::new();
    for width in [256, 4096] {
        for rows in [5, 15, 31] {
            settings.extend([0.01, 0.1, 1.0].map(|rho| (rows, width, rho)));
        }
    }
    check_settings(&settings, 40);
}

/// Several hundred intervals that are to hold all at once do so in all but a few sketches.
#[test]
fn simultaneous_intervals_hold_at_once() {
    let options = |_: &[u64]| QueryOptions::default().simultaneous(250);
    let shares = coverage(9, 512, 0.1, 60, options);
    let failed = u64::try_from(shares.iter().filter(|&&share| share < 1.0).count()).unwrap();
    // More failures than this in 60 at 5 % each have probability below 1e-6.
    let allowed = (0..60).find(|&n| binomial_at_most(n, 60, 0.05) > 1.0 - 1e-6).unwrap();
    assert!(failed <= allowed, "{failed} of 60 sketches have an interval that misses, allowed {allowed}");
}

/// Kolmogorov and Smirnov's distance of samples from a law.
fn distance(samples: &mut [f64], cdf: impl Fn(f64) -> f64) -> f64 {
    samples.sort_unstable_by(f64::total_cmp);
    let n = float(u64::try_from(samples.len()).unwrap());
    let gap = |(index, &x): (u64, &f64)| {
        let below = float(index) / n;
        (cdf(x) - below).abs().max((cdf(x) - below - n.recip()).abs())
    };
    (0..).zip(samples.iter()).map(gap).fold(0.0, f64::max)
}

/// Massart: P[D > √(ln(2/α)/(2n))] ≤ α.
fn allowed_distance(samples: usize) -> f64 {
    ((2.0 / sketch_testkit::FALSE_ALARM).ln() / (2.0 * float(u64::try_from(samples).unwrap()))).sqrt()
}

/// In an empty sketch the error is the median of k noises. A row's noise is an integer, so the law is compared at the
/// middle between integers; with σ² = 250 and more that moves it by less than the distance allowed.
#[test]
fn errors_without_collisions_follow_the_median_of_gaussians() {
    for rows in [1_u8, 5, 15, 31] {
        let rho = f64::from(rows) / (2.0 * 4000.0);
        let mut errors = Vec::new();
        for seed in 0..8 {
            // Items of one sketch share cells, so that only some of them are asked.
            let sketch = private(shape(rows, 1 << 14), seed, &[], rho);
            let reader = sketch.points(Combiner::Median);
            errors.extend((0..300).map(|item| reader.value(key(&hash(seed), item))));
        }
        let law = MedianOfGaussians::new(u32::from(rows), 4000.0).unwrap();
        let found = distance(&mut errors.clone(), |x| law.cdf(x).unwrap());
        // The step of a law on the integers, at most 1/(√(2π)·σ_median).
        let step = 0.4 / law.variance().sqrt();
        let allowed = allowed_distance(errors.len()) + step;
        assert!(found <= allowed, "{rows} rows: {found}, allowed {allowed}");
    }
}

/// Sparse vectors with entries of 10 in as many buckets: errors are symmetric around 0, so that above and below are equally
/// frequent.
#[test]
fn errors_with_collisions_are_symmetric() {
    let frequencies = vec![10; 300];
    for combiner in [Combiner::Median, Combiner::Trimmed, Combiner::Mean] {
        let (mut above, mut below) = (0, 0);
        for seed in 100..400 {
            let sketch = private(shape(7, 300), seed, &frequencies, 0.5);
            // One item a sketch: two of them are not independent.
            let error = sketch.points(combiner).value(key(&hash(seed), 5)) - 10.0;
            above += u64::from(error > 0.0);
            below += u64::from(error < 0.0);
        }
        sketch_testkit::assert_binomial(above, above + below, 0.5);
    }
}
