//! Statistical assertions with a stated rate of false alarms.

use crate::{binomial_two_sided, chi_square_above, chi_square_bounds, tails::to_f64, two_sided_z};

/// The rate of false alarms of every assertion here: a right implementation fails one in a million of them, over all
/// seeds. With the seed fixed, it fails always or never.
pub const FALSE_ALARM: f64 = 1e-6;

/// How far the mean of `trials` independent samples of standard deviation `std_dev` may lie from its expectation:
/// `z · std_dev / √trials` with `P(|Z| > z) = FALSE_ALARM`, so `z = 4.8916`.
///
/// # Examples
/// ```
/// let tolerance = sketch_testkit::mean_tolerance(2.0, 10_000);
/// assert!((tolerance - 4.891_638_475_7 * 0.02).abs() < 1e-10);
/// ```
#[must_use]
pub fn mean_tolerance(std_dev: f64, trials: u64) -> f64 {
    two_sided_z(FALSE_ALARM) * std_dev / to_f64(trials).sqrt()
}

/// Asserts that the mean of `samples`, whose true standard deviation is `std_dev`, is `expected`.
///
/// The bound is the normal one of [`mean_tolerance`]: it needs enough samples for the central limit theorem to hold
/// five standard errors out.
///
/// # Panics
/// When the mean is outside, or not a number.
#[track_caller]
pub fn assert_mean(samples: &[f64], expected: f64, std_dev: f64) {
    let trials = samples.len() as u64;
    let mean = samples.iter().sum::<f64>() / to_f64(trials);
    let tolerance = mean_tolerance(std_dev, trials);
    assert!((mean - expected).abs() <= tolerance, "mean of {trials}: expected {expected} ± {tolerance}, found {mean}");
}

/// Asserts that the variance of near-normal `samples` around their mean is `expected`.
///
/// `(n−1) s² / σ²` is chi-square with `n−1` degrees of freedom for normal samples; see [`chi_square_bounds`].
///
/// # Panics
/// When the variance is outside, or not a number, or there are fewer than two samples.
#[track_caller]
pub fn assert_variance(samples: &[f64], expected: f64) {
    assert!(samples.len() > 1, "a variance needs two samples");
    let n = to_f64(samples.len() as u64);
    let mean = samples.iter().sum::<f64>() / n;
    let squares = samples.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
    let (low, high) = chi_square_bounds(samples.len() as u64 - 1, FALSE_ALARM);
    let found = squares / expected;
    assert!(
        low <= found && found <= high,
        "variance of {n}: expected {expected}, found {}: scaled sum of squares {found} is not in {low} ..= {high}",
        squares / (n - 1.0)
    );
}

/// Asserts that `successes` of `trials` fit the probability `p`, by the exact two-sided binomial tail.
///
/// # Panics
/// When the tail is below [`FALSE_ALARM`], or `p` is not a probability.
///
/// # Examples
/// ```
/// sketch_testkit::assert_binomial(5_020, 10_000, 0.5);
/// ```
/// ```should_panic
/// sketch_testkit::assert_binomial(5_250, 10_000, 0.5);
/// ```
#[track_caller]
pub fn assert_binomial(successes: u64, trials: u64, p: f64) {
    let tail = binomial_two_sided(successes, trials, p);
    assert!(
        tail >= FALSE_ALARM,
        "{successes} of {trials}: expected about {} for probability {p}, two-sided tail {tail:e}",
        to_f64(trials) * p
    );
}

/// Asserts that counts fit probabilities, by Pearson's statistic `Σ (observed − expected)² / expected`.
///
/// # Panics
/// When the tail is below [`FALSE_ALARM`], when the lengths differ or there are fewer than two classes, or when a class is expected less than five times
/// (its law would not be chi-square: join classes).
#[track_caller]
pub fn assert_frequencies(observed: &[u64], probabilities: &[f64]) {
    assert_eq!(observed.len(), probabilities.len(), "one probability a class");
    let total = to_f64(observed.iter().sum());
    let mut statistic = 0.0;
    for (class, (&count, &p)) in observed.iter().zip(probabilities).enumerate() {
        let expected = total * p;
        assert!(expected >= 5.0, "class {class} is expected {expected} times: too few");
        statistic += (to_f64(count) - expected).powi(2) / expected;
    }
    let tail = chi_square_above(statistic, observed.len() as u64 - 1);
    assert!(tail >= FALSE_ALARM, "counts do not fit: Pearson's statistic is {statistic}, its tail {tail:e}");
}
