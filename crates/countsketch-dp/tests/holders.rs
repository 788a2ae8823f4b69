//! One number split among holders. Fixed seeds; false-alarm rate 1e-6 a check.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic, too")]

mod answers;

use answers::permit;
use countsketch_dp::cardinality_estimators::{Confidence, Estimate};
use countsketch_dp::dp_noise::Variance;
use countsketch_dp::dp_noise::hazmat::InsecureTestRng;
use countsketch_dp::theory::MedianOfGaussians;
use countsketch_dp::{NumberShare, QueryError, ReleaseError};
use sketch_testkit::{assert_binomial, assert_mean, assert_variance};

fn split(seed: u64, holders: u32) -> Vec<NumberShare> {
    // σ₁² = D²/(2ρ) = 100.
    NumberShare::split(-300, 10, holders, permit(0.5), &mut InsecureTestRng::from_u64(seed)).unwrap()
}

type Combined = fn(&[NumberShare], Confidence) -> Result<Estimate, QueryError>;

#[test]
fn any_part_of_the_shares_gives_the_number_with_the_stated_law() {
    for (holders, used) in [(15_u32, 15_usize), (15, 5), (9, 4), (1, 1)] {
        for (combine, is_median) in [(NumberShare::mean as Combined, false), (NumberShare::median as Combined, true)] {
            // The law of an even number of values is slow to compute.
            let trials: u64 = if used % 2 == 0 { 80 } else { 400 };
            let answers: Vec<Estimate> =
                (0..trials).map(|seed| combine(&split(seed, holders)[..used], Confidence::P95).unwrap()).collect();
            let values: Vec<f64> = answers.iter().map(|answer| answer.value().unwrap()).collect();
            let count = u32::try_from(used).unwrap();
            let each = 100.0 * f64::from(holders);
            let variance = if is_median {
                MedianOfGaussians::new(count, each).unwrap().variance()
            } else {
                each / f64::from(count)
            };
            assert_mean(&values, -300.0, variance.sqrt());
            assert_variance(&values, variance);
            let stated = answers[0].std_error().unwrap();
            assert!((stated / variance.sqrt() - 1.0).abs() < 1e-6);
            let covered = answers.iter().filter(|answer| answer.covers(-300.0)).count();
            assert_binomial(u64::try_from(covered).unwrap(), trials, 0.95);
        }
    }
}

#[test]
fn the_noise_of_a_share_is_that_of_all_holders_together() {
    let shares = split(1, 7);
    assert_eq!(shares.len(), 7);
    // k·D²/(2ρ).
    assert!(
        shares.iter().all(|share| share.noise_parameter() == Variance::new(700, 1).unwrap() && share.holders() == 7)
    );
    assert_eq!(shares.iter().map(NumberShare::index).collect::<Vec<_>>(), (0..7).collect::<Vec<_>>());
}

#[test]
fn corrupted_shares_in_the_minority_do_not_move_the_median_far() {
    let good = split(2, 15);
    let mut values: Vec<i64> = good.iter().map(NumberShare::value).collect();
    values.sort_unstable();
    // Seven of fifteen replaced by anything: the median stays between two good values.
    let median = NumberShare::median(&good, Confidence::P95).unwrap().value().unwrap();
    assert!((median + 300.0).abs() < 6.0 * 1.25 * 10.0);
    assert!(values[0] < -300 && values[14] > -300);
}

#[test]
fn shares_that_do_not_go_together_are_refused() {
    let (one, other) = (split(3, 5), split(4, 5));
    let p95 = Confidence::P95;
    assert!(matches!(NumberShare::mean(&[], p95), Err(QueryError::NoShares)));
    assert!(matches!(NumberShare::median(&[one[0], other[1]], p95), Err(QueryError::Split { .. })));
    assert!(matches!(NumberShare::mean(&[one[2], one[2]], p95), Err(QueryError::RepeatedShare { index: 2 })));
    for holders in [0, NumberShare::MAX_HOLDERS + 1] {
        let refused = NumberShare::split(1, 1, holders, permit(1.0), &mut InsecureTestRng::from_u64(5));
        assert!(matches!(refused, Err(ReleaseError::Shares { found, .. }) if found == holders));
    }
    // A sensitivity of 0 has nothing to protect, and one of 2^63 no noise in range.
    assert!(NumberShare::split(1, 0, 3, permit(1.0), &mut InsecureTestRng::from_u64(5)).is_err());
    assert!(NumberShare::split(1, u64::MAX, 3, permit(1.0), &mut InsecureTestRng::from_u64(5)).is_err());
}
