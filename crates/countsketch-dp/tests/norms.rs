//! Norms and inner products of released sketches. Fixed seeds; false-alarm rate 1e-6 a check.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic, too")]

mod answers;

use answers::{float, hash, permit, private, shape, unit_sketch, zipf};
use countsketch_dp::cardinality_estimators::{Confidence, Status};
use countsketch_dp::dp_noise::hazmat::InsecureTestRng;
use countsketch_dp::dp_noise::{Epsilon, Permit};
use countsketch_dp::theory::{NormPair, f2_variance, inner_product_variance};
use countsketch_dp::{MergeError, QueryError};
use sketch_testkit::assert_mean;

fn moments(frequencies: &[u64]) -> (f64, f64) {
    let power = |n: i32| frequencies.iter().map(|&x| float(x).powi(n)).sum();
    (power(2), power(4))
}

#[test]
fn the_second_moment_is_unbiased_with_the_stated_variance() {
    let truth = zipf(300, 3000.0);
    let (f2, f4) = moments(&truth);
    for (rows, width, rho) in [(1_u8, 64, 0.5), (5, 32, 0.05)] {
        let estimates: Vec<f64> =
            (0..800).map(|seed| private(shape(rows, width), seed, &truth, rho).second_moment_unbiased()).collect();
        let s2 = f64::from(rows) / (2.0 * rho);
        let variance = f2_variance(f2, f4, f64::from(width), s2).unwrap() / f64::from(rows);
        assert_mean(&estimates, f2, variance.sqrt());
        let found = estimates.iter().map(|x| (x - f2).powi(2)).sum::<f64>() / 800.0;
        // The squares of a sum of collisions have heavy tails: half as much again is far outside for 800 samples.
        assert!((found / variance).ln().abs() < 0.4, "{found} {variance}");
    }
}

/// Small sketches of pure noise, where Laplace noise has heavier tails than Gaussian noise of its variance.
#[test]
fn laplace_noise_is_stated_with_its_fourth_moment() {
    let release = |seed: u64| {
        let raw = unit_sketch(shape(1, 512), &hash(seed), &[]);
        let permit = Permit::standalone(Epsilon::new(0.5).unwrap());
        raw.release_laplace(permit, &mut InsecureTestRng::from_u64(seed)).unwrap()
    };
    let squares: Vec<f64> = (0..600).map(|seed| release(seed).second_moment_unbiased()).collect();
    // t = 2: q = e^{-1/2}, V = 2q/(1−q)², and the variance of B² is 5V² + V.
    let q = (-0.5_f64).exp();
    let v = 2.0 * q / (1.0 - q).powi(2);
    let std_dev = (512.0 * (5.0 * v * v + v)).sqrt();
    assert_mean(&squares, 0.0, std_dev);
    let found = (squares.iter().map(|x| x * x).sum::<f64>() / 600.0).sqrt();
    assert!((found / std_dev - 1.0).abs() < 0.2, "{found} {std_dev}");
    // The answer says so: the estimate of F₂ adds to it what is above 0.
    let stated = release(1).second_moment(Confidence::P95).unwrap().std_error().unwrap();
    assert!(stated >= std_dev * (1.0 - 1e-9), "{stated} {std_dev}");
}

#[test]
fn an_answer_is_clamped_and_says_so() {
    let empty = (0..20).map(|seed| private(shape(3, 64), seed, &[], 0.01)).find(|s| s.second_moment_unbiased() < 0.0);
    let sketch = empty.unwrap();
    let (square, norm) = (sketch.second_moment(Confidence::P95).unwrap(), sketch.norm(Confidence::P95).unwrap());
    for answer in [square, norm] {
        assert_eq!((answer.status(), answer.value(), answer.lower()), (Status::BelowNoise, Some(0.0), Some(0.0)));
    }
    let heavy = private(shape(5, 1024), 1, &[100_000], 1.0).norm(Confidence::P95).unwrap();
    assert_eq!(heavy.status(), Status::Ok);
    assert!((heavy.value().unwrap() - 100_000.0).abs() < 100.0);
}

#[test]
fn inner_products_are_unbiased_with_the_stated_variance() {
    let (left, right) = (zipf(200, 2000.0), vec![7; 250]);
    let pairs = || left.iter().zip(&right).map(|(&x, &y)| (float(x), float(y)));
    let norms = NormPair {
        left: moments(&left).0,
        right: moments(&right).0,
        inner: pairs().map(|(x, y)| x * y).sum(),
        squares: pairs().map(|(x, y)| (x * y).powi(2)).sum(),
    };
    let variance = inner_product_variance(norms, 64.0, 15.0, 30.0).unwrap() / 3.0;
    let one = |seed: u64| {
        let release = |frequencies: &[u64], rho, noise| {
            let raw = unit_sketch(shape(3, 64), &hash(seed), frequencies);
            raw.release(permit(rho), &mut InsecureTestRng::from_u64(noise)).unwrap()
        };
        let (x, y) = (release(&left, 0.1, 2 * seed), release(&right, 0.05, 2 * seed + 1));
        x.inner_product(&y, Confidence::P95).unwrap().value().unwrap()
    };
    let estimates: Vec<f64> = (1..600).map(one).collect();
    assert_mean(&estimates, norms.inner, variance.sqrt());
}

#[test]
fn common_noise_is_refused_or_taken_off() {
    let estimates: Vec<f64> = (1..400)
        .map(|seed| {
            let sketch = private(shape(3, 128), seed, &[30, 20], 0.01);
            let refused = sketch.inner_product(&sketch, Confidence::P95);
            assert!(matches!(refused, Err(QueryError::Incompatible(MergeError::RepeatedRelease { .. }))));
            let common = sketch.common_noise(&sketch);
            assert!((common - 150.0).abs() < 1e-9);
            let same = sketch.inner_product_with_common_noise(&sketch, common, Confidence::P95).unwrap();
            assert!((same.value().unwrap() - sketch.second_moment_unbiased()).abs() < 1e-6);
            same.value().unwrap()
        })
        .collect();
    let std_dev = (f2_variance(1300.0, 970_000.0, 128.0, 150.0).unwrap() / 3.0).sqrt();
    assert_mean(&estimates, 1300.0, std_dev);
    let sketch = private(shape(3, 128), 1, &[30, 20], 0.01);
    assert!(sketch.inner_product_with_common_noise(&sketch, 151.0, Confidence::P95).is_err());
}

#[test]
fn sketches_that_differ_have_no_inner_product() {
    let (one, other) = (private(shape(3, 128), 1, &[1], 1.0), private(shape(3, 128), 2, &[1], 1.0));
    assert!(matches!(
        one.inner_product(&other, Confidence::P95),
        Err(QueryError::Incompatible(MergeError::Hash { .. }))
    ));
}
