use dp_noise::{Delta, DisjointParts, Epsilon};
use sketch_hash::AnyHash;

use super::*;
use crate::error::ErrorKind;
use crate::frequency::FrequencyBuilder;
use crate::text::TextRules;

fn rho(value: f64) -> FrequencyLevel {
    FrequencyLevel::Rho(Rho::new(value).unwrap())
}

fn purpose(total: f64, level: FrequencyLevel) -> FrequencyPurpose {
    FrequencyPurpose::new(TailNorms::of_total(total).unwrap(), PlannedUnit::Record { max_weight: 1 }, level)
}

#[test]
fn noise_is_that_of_the_release_and_bytes_are_those_of_the_file() {
    let shape = CountSketchShape::new(5, 64).unwrap();
    let plan = purpose(1e4, rho(0.25)).plan(shape, Confidence::P95).unwrap();
    // k / (2 rho), and the discrete law has that variance for so large a parameter.
    assert!((plan.noise_variance() - 10.0).abs() < 1e-6);
    let release = || {
        let builder = FrequencyBuilder::new(plan.terms(), AnyHash::default(), TextRules::default()).unwrap();
        builder.finish().unwrap().release(rho(0.25), Neighbouring::AddRemove).unwrap()
    };
    let one = release();
    assert_eq!(plan.bytes(), one.to_bytes().len() as u64);
    let parties = purpose(1e4, rho(0.25)).with_parties(3).unwrap().plan(shape, Confidence::P95).unwrap();
    let (two, three) = (release(), release());
    let sum = countsketch_dp::PrivateCountSketch::sum_disjoint(&[&one, &two, &three], DisjointParts::EachUnitInOnePart);
    let sum = sum.unwrap();
    assert_eq!(parties.merged_bytes(), sum.to_bytes().len() as u64);
    assert!((parties.noise_variance() / sum.noise_variance() - 1.0).abs() < 1e-9);
}

#[test]
fn the_smallest_shape_reaches_the_target_and_half_of_its_width_does_not() {
    let purpose = purpose(1e6, rho(0.1));
    for target in [2_000.0, 10_000.0] {
        let plan = purpose.smallest(target, Confidence::P95, None).unwrap();
        assert!(plan.half_width() <= target, "{plan:?}");
        let narrower = CountSketchShape::new(plan.shape().rows(), plan.shape().width() / 2).unwrap();
        assert!(purpose.plan(narrower, Confidence::P95).unwrap().half_width() > target);
    }
}

#[test]
fn limits_are_kept_and_told() {
    let purpose = purpose(1e6, rho(0.1));
    let plan = purpose.best_within(100_000, Confidence::P95).unwrap();
    assert!(plan.bytes() <= 100_000);
    let error = purpose.smallest(10.0, Confidence::P95, Some(100_000)).unwrap_err();
    assert_eq!((error.kind(), error.to_json()["argument"].as_str()), (ErrorKind::Parameter, Some("--target-error")));
    assert_eq!(purpose.best_within(100, Confidence::P95).unwrap_err().to_json()["allowed"], "191 or more");
    for target in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(purpose.smallest(target, Confidence::P95, None).is_err());
    }
    assert!(purpose.with_parties(0).is_err());
}

#[test]
fn clipped_users_need_far_less_noise_and_pure_noise_grows_with_the_rows() {
    let user = |clipping| PlannedUnit::User { max_items: 100, max_weight: 1, clipping };
    let norms = TailNorms::of_total(1e6).unwrap();
    let shape = CountSketchShape::new(15, 1024).unwrap();
    let variance = |unit, level| {
        FrequencyPurpose::new(norms.clone(), unit, level).plan(shape, Confidence::P95).unwrap().noise_variance()
    };
    let ratio = variance(user(Clipping::Off), rho(0.1)) / variance(user(Clipping::Auto), rho(0.1));
    assert!((ratio - 150_000.0 / 1654.0).abs() < 1e-6, "{ratio}");
    let pure = FrequencyLevel::Pure(Epsilon::new(1.0).unwrap());
    // 2 t² for t = k = 15, up to the discreteness: 2q/(1-q)² with q = exp(-1/15).
    let q = (-1.0_f64 / 15.0).exp();
    let law = 2.0 * q / (1.0 - q).powi(2);
    assert!((variance(PlannedUnit::Record { max_weight: 1 }, pure) / law - 1.0).abs() < 1e-9);
}

#[test]
fn json_names_the_level_as_it_was_asked_for() {
    let (epsilon, delta) = (Epsilon::new(1.0).unwrap(), Delta::new(1e-6).unwrap());
    let shape = CountSketchShape::new(5, 1024).unwrap();
    let plan = purpose(1e6, FrequencyLevel::Approximate { epsilon, delta }).plan(shape, Confidence::P95).unwrap();
    let json = plan.to_json();
    assert_eq!(
        (json["epsilon"].as_f64(), json["delta"].as_f64(), json["level"].as_str()),
        (Some(1.0), Some(1e-6), Some("approximate"))
    );
    assert!((json["rho"].as_f64().unwrap() - 0.0280).abs() < 2e-4);
    assert!(json["half_width"].as_f64().unwrap() > json["typical_half_width"].as_f64().unwrap());
    assert_eq!(json["norm"].as_f64(), Some(1e6));
}
