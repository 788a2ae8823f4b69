//! Estimates against sets that are known. Seeds are fixed; a bound of 4.9 standard errors is missed by a right build less than
//! once in a million, and a threshold on many answers is set to the same rate.

mod support;

use dp_noise::hazmat::InsecureTestRng;
use f0_sketch::cardinality_estimators::parity::{Radius, SetCombination};
use f0_sketch::cardinality_estimators::{Confidence, Estimate, Status};
use f0_sketch::{
    F0Plan, F0Shape, F0Sketch, MaxWeight, MergeError, ModeKind, PlanError, Presampled, PrivateF0Sketch, SketchPair,
    Unit, WeightRule,
};
use sketch_hash::DefaultHash;
use support::{Raw, empty, epsilon, noise, raw, released, shape, stream};

const SIGMAS: f64 = 4.9;

fn set(items: core::ops::Range<u64>, level: f64, random: &mut InsecureTestRng) -> PrivateF0Sketch {
    released(raw(shape(16, 2048), items), level, random)
}

/// Asserts that an answer is within 4.9 standard errors of the truth.
fn assert_near(answer: &Estimate, truth: f64) {
    let (value, error) = (answer.value().expect("a value"), answer.std_error().expect("an error"));
    assert!((value - truth).abs() < SIGMAS * error, "{answer} ± {error}, truth {truth}");
}

#[test]
fn counts_come_back_through_noise_and_merges() {
    let mut random = noise(1);
    for (n, level) in [(500_u32, 4.0), (20_000, 1.0), (300_000, 0.5)] {
        let answer = set(0..n.into(), level, &mut random).estimate(Confidence::P95);
        assert_near(&answer, n.into());
        assert_eq!(answer.status(), Status::Ok);
    }
    // Three sets: an item in two of them is gone, one in all three is there.
    let parts = [
        set(0..30_000, 4.0, &mut random),
        set(10_000..40_000, 4.0, &mut random),
        set(20_000..50_000, 4.0, &mut random),
    ];
    let merged = PrivateF0Sketch::merge_all(&[&parts[0], &parts[1], &parts[2]]).expect("alike");
    assert_near(&merged.estimate(Confidence::P95), 30_000.0);
}

#[test]
fn repetitions_and_parties_do_not_count_in_presampled_streams() {
    let mut random = noise(2);
    let shape = shape(16, 2048);
    let mut party = |items: core::ops::Range<u64>, times: usize| {
        let occurrences: Vec<u64> = items.cycle().take(20_000 * times).collect();
        let raw = stream(shape.clone(), &occurrences, &mut random);
        released(raw, 2.0, &mut random)
    };
    let (a, b) = (party(0..20_000, 3), party(10_000..30_000, 2));
    assert_near(&a.estimate(Confidence::P95), 20_000.0);
    assert_near(&a.merge(&b).expect("alike").estimate(Confidence::P95), 30_000.0);
    let pair = SketchPair::new(&a, &b).expect("alike");
    assert_near(&pair.estimate(SetCombination::Union, Confidence::P95), 30_000.0);
    assert_near(&pair.estimate(SetCombination::Intersection, Confidence::P95), 10_000.0);
}

/// PS21 doubles the count of odd items; the model of presampled cells reads the union directly.
#[test]
fn doubling_and_the_presampled_model_agree_within_one_standard_error() {
    use f0_sketch::cardinality_estimators::parity::{ItemWeights, ParityCounts, ParityModel, parity_estimate};
    let mut random = noise(3);
    for n in [5_000_u64, 50_000] {
        for _ in 0..10 {
            let raw = stream(shape(16, 2048), &(0..n).collect::<Vec<_>>(), &mut random);
            let private = released(raw, 2.0, &mut random);
            let direct = private.estimate(Confidence::P95);
            let layout = private.shape().layout();
            let odd = ParityCounts::new(
                &layout,
                ParityModel::Set,
                ItemWeights::Unit,
                &private.ones_per_table(),
                private.contrast(),
            );
            let doubled = 2.0 * parity_estimate(&odd.expect("valid counts"), Confidence::P95).value().expect("a value");
            let (value, error) = (direct.value().expect("a value"), direct.std_error().expect("an error"));
            assert!((value - doubled).abs() < error, "{direct} and {doubled}");
        }
    }
}

#[test]
fn combinations_of_sets_of_different_noise_come_back() {
    let mut random = noise(4);
    let (a, b) = (set(0..40_000, 2.0, &mut random), set(25_000..60_000, 4.0, &mut random));
    let pair = SketchPair::new(&a, &b).expect("alike");
    let truths = [60_000.0, 15_000.0, 25_000.0, 20_000.0, 45_000.0, 40_000.0, 35_000.0];
    for (combination, truth) in SetCombination::ALL.into_iter().zip(truths) {
        let answer = pair.estimate(combination, Confidence::P95);
        assert_near(&answer, truth);
        assert_eq!(answer.status(), Status::Ok);
    }
    assert_near(&pair.jaccard(Confidence::P95), 0.25);
    let plugged = pair.plug_in().expect("three values");
    let union = pair.estimate(SetCombination::Union, Confidence::P95);
    assert!((plugged.union - union.value().expect("a value")).abs() < 2.0 * union.std_error().expect("an error"));
    // The xor of the two is the same question asked otherwise.
    let xor = a.merge(&b).expect("alike").estimate(Confidence::P95);
    assert_near(&xor, 45_000.0);
}

#[test]
fn a_small_overlap_of_large_sets_is_not_claimed() {
    let mut random = noise(5);
    let (a, b) = (set(0..200_000, 1.0, &mut random), set(199_900..400_000, 1.0, &mut random));
    let both = SketchPair::new(&a, &b).expect("alike").estimate(SetCombination::Intersection, Confidence::P95);
    assert!(matches!(both.status(), Status::LowInformation | Status::BelowNoise), "{both}");
    assert!(both.covers(100.0));
}

#[test]
fn pairs_that_do_not_belong_together_are_refused() {
    let mut random = noise(6);
    let a = set(0..100, 1.0, &mut random);
    assert!(matches!(SketchPair::new(&a, &a), Err(MergeError::RepeatedRelease { .. })));
    let merged = a.merge(&set(50..70, 1.0, &mut random)).expect("alike");
    assert!(matches!(SketchPair::new(&a, &merged), Err(MergeError::RepeatedRelease { .. })));
    let other = released(raw(shape(8, 2048), 0..100), 1.0, &mut random);
    assert!(matches!(SketchPair::new(&a, &other), Err(MergeError::Shape { .. })));
    let stranger: Raw = F0Sketch::new(shape(16, 2048), WeightRule::Unit, support::other_key());
    let stranger = released(stranger, 1.0, &mut random);
    assert!(matches!(SketchPair::new(&a, &stranger), Err(MergeError::Hash { .. })));
}

#[test]
fn sums_of_weights_come_back_and_knowing_their_squares_narrows_them() {
    let mut random = noise(7);
    let max = MaxWeight::new(50.0).expect("in range");
    let mut sketch: Raw = F0Sketch::new(shape(16, 2048), WeightRule::Weighted(max), DefaultHash::default());
    let (mut sum, mut squares) = (0.0, 0.0);
    for item in 0..40_000_u32 {
        let value = f64::from(item % 97) / 2.0;
        sketch.toggle_u64_weighted(item.into(), max.weight(value).expect("in range")).expect("weighted");
        sum += value;
        squares += value * value;
    }
    let private = released(sketch, 4.0, &mut random);
    let answer = private.estimate(Confidence::P95);
    assert_near(&answer, sum);
    let known = private.estimate_knowing(squares, Confidence::P95).expect("a valid sum");
    assert_eq!(known.value(), answer.value());
    assert!(known.std_error() < answer.std_error());
    assert_near(&known, sum);
}

#[test]
fn intervals_hold_in_repeated_releases() {
    let mut random = noise(8);
    let (trials, mut covered, mut certified) = (400, 0, 0);
    for trial in 0..trials {
        // Another set each time: cells are random over sets as over keys.
        let first = trial * 1_000_000;
        let private = released(raw(shape(14, 512), first..first + 3_000), 2.0, &mut random);
        covered += u32::from(private.estimate(Confidence::P95).covers(3_000.0));
        let interval = private.interval_estimate(Radius::FailureProbability(0.05)).expect("a valid radius");
        certified += u32::from(interval.status() != Status::NotConverged && interval.covers(3_000.0));
    }
    // Binomial with 400 trials at 0.935: below 344 with probability 1e-6.
    assert!(covered >= 344, "{covered} of {trials}");
    assert!(certified >= 344, "{certified} of {trials}");
}

#[test]
fn raw_counts_need_no_noise() {
    let small = raw(shape(16, 2048), 0..7).estimate(Confidence::P95);
    assert!(small.covers(7.0) && small.value().is_some_and(|n| (n - 7.0).abs() < 0.1), "{small}");
    let none = empty::<Presampled>(F0Shape::DEFAULT).estimate(Confidence::P95);
    assert_eq!((none.status(), none.value()), (Status::Empty, Some(0.0)));
}

#[test]
fn plans_are_met() {
    let plan = F0Plan {
        mode: ModeKind::Presampled,
        epsilon: epsilon(2.0),
        unit: Unit::Item,
        merges: 2,
        target_rse: 0.1,
        n_min: 500.0,
        n_max: 1e6,
    };
    let planned = plan.solve().expect("a plan");
    let mut random = noise(9);
    let mut squares = 0.0;
    for trial in 0..60_u64 {
        let first = trial * 1_000_000;
        let mut part = |range: core::ops::Range<u64>| {
            let raw = stream(planned.shape().clone(), &range.collect::<Vec<_>>(), &mut random);
            released(raw, 2.0, &mut random)
        };
        let (a, b) = (part(first..first + 20_000), part(first + 10_000..first + 30_000));
        let answer = a.merge(&b).expect("alike").estimate(Confidence::P95);
        squares += (answer.value().expect("a value") / 30_000.0 - 1.0).powi(2);
    }
    let rse = (squares / 60.0).sqrt();
    assert!((planned.rse(30_000.0) - 0.1).abs() < 0.01);
    // χ² with 60 degrees of freedom lies within 19.2 and 131 but for one in a million.
    assert!((0.56..1.48).contains(&(rse / planned.rse(30_000.0))), "{rse}");
    // A user with ten items needs ten times the ε for the same noise.
    let users = F0Plan { unit: Unit::user(10).expect("some"), epsilon: epsilon(20.0), ..plan };
    assert_eq!(users.solve().expect("a plan").shape(), planned.shape());
    assert!(matches!(F0Plan { merges: 0, ..plan }.solve(), Err(PlanError::Request(_))));
    assert!(matches!(F0Plan { target_rse: 1e-4, ..plan }.solve(), Err(PlanError::Shape(_) | PlanError::Request(_))));
}
