//! The planner against the bounds it stands on.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic, too")]

mod answers;

use answers::{float, hash, key, permit, private, shape, unit_sketch, zipf};
use countsketch_dp::cardinality_estimators::Confidence;
use countsketch_dp::dp_noise::hazmat::InsecureTestRng;
use countsketch_dp::dp_noise::{Neighbouring, Rho};
use countsketch_dp::theory::{TailNorms, half_width};
use countsketch_dp::{Combiner, ContributionBound, CountSketchShape, Granularity, PlanError, Planner};

fn planner(norms: TailNorms, rho: f64) -> Planner {
    Planner::new(norms, ContributionBound::UNIT_ENTRY, Rho::new(rho).unwrap())
}

#[test]
fn a_plan_meets_its_target_and_nothing_narrower_does() {
    let planner = planner(TailNorms::of_total(100_000.0).unwrap(), 0.5);
    for target in [20.0, 100.0, 1000.0] {
        let plan = planner.shape_for(target, Confidence::P95).unwrap();
        assert!(plan.half_width <= target * (1.0 + 1e-6) && plan.typical_half_width <= plan.half_width);
        let narrower = CountSketchShape::new(plan.shape.rows(), plan.shape.width() / 2).unwrap();
        assert!(planner.predict(narrower, Confidence::P95).unwrap().half_width > target);
    }
}

#[test]
fn a_prediction_is_the_bound_with_the_noise_of_a_release() {
    let norms = TailNorms::of_squared(1e6).unwrap();
    let shape = shape(9, 512);
    let plan = planner(norms.clone(), 0.1).predict(shape, Confidence::P95).unwrap();
    let release = private(shape, 1, &[], 0.1);
    assert!((plan.noise_variance / release.noise_parameter().unwrap().to_f64() - 1.0).abs() < 1e-12);
    let want = half_width(9, 512, &norms, plan.noise_variance, 0.05).unwrap().unwrap();
    // Frequencies are whole numbers.
    assert!(want.fract() > 1e-3 && (plan.half_width - want.ceil()).abs() < 1e-9, "{} {want}", plan.half_width);
}

#[test]
fn relation_and_grid_enter_the_noise() {
    let plain = planner(TailNorms::of_squared(1e4).unwrap(), 0.5);
    let variance = |planner: &Planner| planner.predict(shape(5, 256), Confidence::P95).unwrap().noise_variance;
    assert!((variance(&plain) - 5.0).abs() < 1e-12);
    assert!((variance(&plain.clone().relation(Neighbouring::Substitute)) - 20.0).abs() < 1e-12);
    // One grid unit of 1/8 is the weight of a record.
    assert!((variance(&plain.granularity(Granularity::new(3).unwrap())) - 5.0 / 64.0).abs() < 1e-12);
}

#[test]
fn errors_of_a_planned_sketch_stay_within_the_plan() {
    let truth = zipf(500, 20_000.0);
    let squares = truth.iter().map(|&x| float(x).powi(2)).collect();
    let plan = planner(TailNorms::new(squares, 0.0).unwrap(), 0.5).shape_for(60.0, Confidence::P95).unwrap();
    let (mut missed, mut asked) = (0_u32, 0_u32);
    for seed in 0..20 {
        let raw = unit_sketch(plan.shape, &hash(seed), &truth);
        let sketch = raw.release(permit(0.5), &mut InsecureTestRng::from_u64(seed)).unwrap();
        let reader = sketch.points(Combiner::Median);
        for item in 0..50 {
            let value = reader.value(key(&hash(seed), item));
            missed += u32::from((value - float(truth[usize::try_from(item).unwrap()])).abs() > plan.half_width);
            asked += 1;
        }
    }
    // The bound is proved, and loose: 5 % would be 50 of 1000.
    assert!(missed * 20 <= asked, "{missed} of {asked}");
}

#[test]
fn nonsense_is_refused() {
    let planner = planner(TailNorms::of_total(1e6).unwrap(), 0.001);
    for target in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(planner.shape_for(target, Confidence::P95), Err(PlanError::Domain(_))), "{target}");
    }
    assert!(TailNorms::of_total(-1.0).is_err() && TailNorms::of_total(1e200).is_err());
    // No half-width is below one grid unit.
    let precise =
        Planner::new(TailNorms::of_squared(0.0).unwrap(), ContributionBound::UNIT_ENTRY, Rho::new(2.0).unwrap());
    let refused = precise.shape_for(0.9, Confidence::P95);
    assert!(matches!(refused, Err(PlanError::Unreachable { least, .. }) if (least - 1.0).abs() < 1e-12), "{refused:?}");
    // The noise alone, σ₁ = 22, is larger.
    let refused = planner.shape_for(1.0, Confidence::P95);
    assert!(matches!(refused, Err(PlanError::Unreachable { least, .. }) if least > 20.0), "{refused:?}");
}
