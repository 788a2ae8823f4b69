//! Accuracy and coverage of parity sketches: items thrown one by one, every cell flipped on its own.
//!
//! Seeds are fixed. A threshold is 4.9 standard errors of the simulated figure, which a correct build exceeds with
//! probability 1e-6, plus what the claim itself leaves open.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]
#![expect(clippy::cast_precision_loss, reason = "sizes of tests are far below 2^53")]

#[path = "support/parity.rs"]
mod parity;
#[path = "support/random.rs"]
mod random;

use cardinality_estimators::parity::{
    IntervalIntersection, ItemWeights, JointFit, ParityErrors, ParityModel, Radius, SetCombination, parity_estimate,
};
use cardinality_estimators::{Confidence, Estimate};
use parity::{Setting, pair};
use random::Random;

use ParityModel::{Presampled, Set};

const SIGMAS: f64 = 4.9;

/// What many answers to one question say together.
#[derive(Default)]
struct Tally {
    trials: f64,
    valued: f64,
    covered: f64,
    squares: f64,
    fourths: f64,
}

impl Tally {
    fn add(&mut self, truth: f64, answer: &Estimate) {
        self.trials += 1.0;
        self.covered += f64::from(u8::from(answer.covers(truth)));
        if let Some(value) = answer.value() {
            let error = (value / truth - 1.0).powi(2);
            self.valued += 1.0;
            self.squares += error;
            self.fourths += error * error;
        }
    }

    /// Asserts that coverage lies in `low ..= high`, but for what chance explains.
    fn assert_coverage(&self, low: f64, high: f64, what: &str) {
        let coverage = self.covered / self.trials;
        let chance = |p: f64| SIGMAS * (p * (1.0 - p) / self.trials).sqrt();
        let fits = coverage > low - chance(low) && coverage < high + chance(high);
        assert!(fits, "{what}: coverage {coverage}");
    }

    /// Asserts that the root-mean-square error is within a share of what was predicted, but for what chance explains.
    fn assert_error(&self, predicted: f64, share: f64, what: &str) {
        let mean = self.squares / self.valued;
        let spread = ((self.fourths / self.valued - mean * mean) / self.valued).sqrt();
        let (found, chance) = (mean.sqrt(), SIGMAS * spread / (2.0 * mean.sqrt()));
        assert!((found - predicted).abs() < share * predicted + chance, "{what}: error {found}, predicted {predicted}");
    }
}

/// `tanh(ε/2)` or `1 − e^−ε`, to the power of the merges.
fn contrast(model: ParityModel, epsilon: f64, merges: i32) -> f64 {
    let one = match model {
        Set => (epsilon / 2.0).tanh(),
        Presampled => -(-epsilon).exp_m1(),
    };
    one.powi(merges)
}

/// Coverage and error of one setting; the claims of the documentation.
fn check(levels: i32, cells: u64, model: ParityModel, (epsilon, merges): (f64, i32), n: u64, trials: u32) {
    let what = format!("{levels} x {cells}, {model:?}, epsilon {epsilon}, {merges} merged, {n} items");
    let setting = Setting::regular(levels, cells, model, contrast(model, epsilon, merges));
    let mut random = Random::new(n + cells);
    let mut tally = Tally::default();
    let truth = n as f64;
    for _ in 0..trials {
        let counts = setting.counts(&mut random, n, ItemWeights::Unit);
        tally.add(truth, &parity_estimate(&counts, Confidence::P95));
    }
    tally.assert_coverage(0.935, 0.975, &what);
    let errors = ParityErrors::new(&setting.layout(), model, setting.contrast).unwrap();
    let predicted = errors.expected_rse(truth);
    if predicted < 0.35 {
        tally.assert_error(predicted, if predicted < 0.2 { 0.05 } else { 0.15 }, &what);
    }
}

#[test]
fn intervals_cover_and_errors_are_as_predicted() {
    for (levels, cells, model, noise, n) in [
        (24, 512, Set, (4.0, 1), 100),
        (24, 512, Presampled, (2.0, 1), 1000),
        (12, 512, Set, (1.0, 2), 10_000),
        (12, 512, Set, (4.0, 1), 1_000_000),
        (14, 1024, Presampled, (0.5, 1), 3000),
        (12, 4096, Set, (4.0, 1), 100),
        (12, 2048, Presampled, (4.0, 8), 1000),
    ] {
        check(levels, cells, model, noise, n, 1500);
    }
}

/// The whole field of noise, sizes and shapes, 10,000 sketches each.
#[test]
#[ignore = "a quarter of an hour: 10,000 trials of many settings; `cargo xtask test --all` runs it"]
fn intervals_cover_and_errors_are_as_predicted_everywhere() {
    for (levels, cells) in [(24, 512), (12, 512), (24, 4096), (12, 4096), (24, 16_384)] {
        for model in [Set, Presampled] {
            for noise in [(0.5, 1), (1.0, 1), (1.0, 2), (2.0, 8), (4.0, 1), (4.0, 2)] {
                for n in [100, 1000, 10_000, 100_000] {
                    let setting = Setting::regular(levels, cells, model, contrast(model, noise.0, noise.1));
                    let errors = ParityErrors::new(&setting.layout(), model, setting.contrast).unwrap();
                    // Where nothing can be said, intervals from 0 on cover more than 97.5 %.
                    if errors.rse(n as f64) < 0.8 {
                        check(levels, cells, model, noise, n, 10_000);
                    }
                }
            }
        }
    }
}

#[test]
fn head_tables_help_small_counts_and_are_predicted() {
    // Half the items to tables of 16 .. 1024 cells, the rest to regular levels of 2048.
    let mut tables: Vec<(f64, u64)> = (0..7).map(|i| (0.5 / 7.0, 16 << i)).collect();
    tables.extend((0..11).map(|level| (0.5_f64.powi(2 + level.min(9)), 2048)));
    let setting = Setting { tables, model: Set, contrast: contrast(Set, 2.0, 1) };
    let errors = ParityErrors::new(&setting.layout(), Set, setting.contrast).unwrap();
    let plain = Setting::regular(14, 2048, Set, setting.contrast);
    let plain = ParityErrors::new(&plain.layout(), Set, setting.contrast).unwrap();
    assert!(errors.rse(60.0) < 0.8 * plain.rse(60.0));
    let mut random = Random::new(3);
    for n in [60, 4000] {
        let mut tally = Tally::default();
        for _ in 0..1500 {
            let counts = setting.counts(&mut random, n, ItemWeights::Unit);
            tally.add(n as f64, &parity_estimate(&counts, Confidence::P95));
        }
        tally.assert_coverage(0.935, 0.975, "head tables");
        tally.assert_error(errors.expected_rse(n as f64), 0.15, "head tables");
    }
}

/// Items weigh as given; every sketch keeps each with the probability of its weight.
fn check_weights(weights: &[f64], epsilon: f64, model: ParityModel) {
    let (total, squares) = (weights.iter().sum::<f64>(), weights.iter().map(|w| w * w).sum::<f64>());
    let what = format!("{} weights adding to {total}, epsilon {epsilon}, {model:?}", weights.len());
    let setting = Setting::regular(12, 1024, model, contrast(model, epsilon, 1));
    let mut random = Random::new(weights.len() as u64);
    let (mut blind, mut knowing) = (Tally::default(), Tally::default());
    for _ in 0..1000 {
        let kept = weights.iter().filter(|&&weight| random.chance(weight)).count() as u64;
        let ones = setting.ones(&mut random, kept);
        let answer = |weights| {
            let counts = parity_counts(&setting, weights, &ones);
            parity_estimate(&counts, Confidence::P95)
        };
        blind.add(total, &answer(ItemWeights::Weighted));
        knowing.add(total, &answer(ItemWeights::SquaresSumTo(squares)));
    }
    blind.assert_coverage(0.935, 1.0, &what);
    knowing.assert_coverage(0.935, 0.975, &what);
    let errors = ParityErrors::new(&setting.layout(), model, setting.contrast).unwrap();
    let predicted = errors.std_error_weighted(total, squares) / total;
    if predicted < 0.35 {
        knowing.assert_error(predicted, if predicted < 0.2 { 0.05 } else { 0.15 }, &what);
    }
}

fn parity_counts(
    setting: &Setting,
    weights: ItemWeights,
    ones: &[u64],
) -> cardinality_estimators::parity::ParityCounts {
    cardinality_estimators::parity::ParityCounts::new(&setting.layout(), setting.model, weights, ones, setting.contrast)
        .unwrap()
}

#[test]
fn sums_of_weights_are_covered() {
    let rank = |n: u32| move |i: u32| (f64::from(i) + 0.5) / f64::from(n);
    let uniform: Vec<f64> = (0..6000).map(rank(6000)).collect();
    // A tail of exponent 1.2, clipped at 1.
    let pareto: Vec<f64> = (0..8000).map(rank(8000)).map(|u| (0.01 * (1.0 - u).powf(-1.0 / 1.2)).min(1.0)).collect();
    let heavy: Vec<f64> = (0..8000).map(rank(8000)).map(|u| if u < 0.01 { 1.0 } else { 0.01 }).collect();
    for model in [Set, Presampled] {
        check_weights(&uniform, 1.0, model);
        check_weights(&uniform, 4.0, model);
        check_weights(&pareto, 2.0, model);
        check_weights(&heavy, 4.0, model);
    }
}

/// The guarantee of PS21: all tables at once hold the truth, at the stated probability or better.
#[test]
fn interval_intersections_keep_their_guarantee() {
    let mut random = Random::new(5);
    for model in [Set, Presampled] {
        let setting = Setting::regular(12, 512, model, contrast(model, 1.0, 1));
        let mut held = 0;
        for _ in 0..2000 {
            let counts = setting.counts(&mut random, 5000, ItemWeights::Unit);
            let intersection = IntervalIntersection::new(&counts, Radius::FailureProbability(0.05)).unwrap();
            held += u32::from(intersection.common().is_some_and(|(low, high)| low <= 5000.0 && 5000.0 <= high));
        }
        // Hoeffding's radius is generous: 95 % is promised, and 47 of 2000 below it would be chance.
        assert!(held >= 1852, "{held} of 2000, {model:?}");
    }
}

#[test]
fn combinations_of_two_sets_are_covered_and_their_errors_are_right() {
    let mut random = Random::new(6);
    for (model, epsilons, regions) in [
        (Set, [1.0, 2.0], [5000, 5000, 5000]),
        (Set, [4.0, 4.0], [6000, 2000, 50]),
        (Set, [4.0, 2.0], [0, 0, 4000]),
        (Presampled, [2.0, 4.0], [5000, 5000, 5000]),
        (Set, [2.0, 2.0], [0, 0, 0]),
    ] {
        let setting = Setting::regular(12, 512, model, contrast(model, epsilons[0], 1));
        let [a, b, both] = regions.map(|n: u64| n as f64);
        let truths = [a + b + both, both, a, b, a + b, a + both, b + both];
        let mut covered = [0_u32; 8];
        let mut squares = [0.0; 7];
        let mut variances = [0.0; 7];
        for _ in 0..250 {
            let counts = pair(&mut random, &setting, contrast(model, epsilons[1], 1), regions);
            let fit = JointFit::new(counts).unwrap();
            for (index, combination) in SetCombination::ALL.into_iter().enumerate() {
                let answer = fit.estimate(combination, Confidence::P95);
                covered[index] += u32::from(answer.covers(truths[index]));
                squares[index] += (answer.value().unwrap() - truths[index]).powi(2);
                variances[index] += answer.std_error().unwrap().powi(2);
            }
            let share = if truths[0] > 0.0 { both / truths[0] } else { 0.5 };
            covered[7] += u32::from(fit.jaccard(Confidence::P95).covers(share));
        }
        // Binomial at 0.935: fewer than 211 of 250 with probability below 1e-6.
        assert!(covered.iter().all(|&covered| covered >= 211), "{model:?} {epsilons:?} {regions:?}: {covered:?}");
        for (square, variance) in squares.into_iter().zip(variances) {
            // At the edge of what is possible errors are smaller than the standard errors say, never larger.
            let ratio: f64 = f64::sqrt(square / variance);
            assert!(ratio < 1.3, "{model:?} {epsilons:?} {regions:?}: {ratio}");
            assert!(regions.contains(&0) || regions.contains(&50) || ratio > 0.8, "{regions:?}: {ratio}");
        }
    }
}
