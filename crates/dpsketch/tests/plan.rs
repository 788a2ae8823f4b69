//! Plans against the estimators they predict, published numbers, and the files they foretell.

use cardinality_estimators::{BitChannel, CellLayout, Status, asymptotic_rse, predicted_rse};
use dp_noise::{Epsilon, RandomizedResponse};
use dpsketch::{
    AnySketch, DistinctBuilder, MaxItems, Plan, PlanError, PlannedAnswer, PrivacyUnit, Purpose, RawSketch, TextRules,
    merge,
};
use proptest::prelude::*;
use sfm_pcsa::{MergeForm, PcsaShape};
use sketch_hash::AnyHash;

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).expect("in range")
}

fn plan(distinct: f64, level: f64, parties: u32, shape: (u32, u8)) -> Plan {
    let purpose = Purpose::new(distinct, epsilon(level)).and_then(|purpose| purpose.with_parties(parties));
    purpose.expect("a purpose").plan(PcsaShape::new(shape.0, shape.1).expect("a shape"))
}

fn error(plan: &Plan, answer: PlannedAnswer) -> f64 {
    plan.prediction(answer).relative_error()
}

#[test]
fn one_sketch_is_predicted_as_the_estimator_predicts_it() {
    for (n, level, shape) in
        [(1e4, 4.0, (4096, 24)), (1e6, 1.0, (4096, 24)), (50.0, 0.5, (64, 16)), (3e9, 2.0, (1024, 32))]
    {
        let q = RandomizedResponse::symmetric(epsilon(level)).q().to_f64();
        let layout = CellLayout::pcsa(shape.0, shape.1).unwrap();
        let expected = predicted_rse(&layout, BitChannel::symmetric(q).unwrap(), n);
        assert_eq!(error(&plan(n, level, 1, shape), PlannedAnswer::One).to_bits(), expected.to_bits());
        // With one party the product statistic is the same estimate, through another formula.
        let together = error(&plan(n, level, 1, shape), PlannedAnswer::Together);
        assert!((together / expected - 1.0).abs() < 1e-6, "{n} {level}: {together} {expected}");
    }
}

#[test]
fn many_items_reach_the_closed_forms() {
    // The golden value for p = 1 / (1 + e^-1), 4096 buckets, computed with mpmath.
    let golden = 0.027_435_193_082_105_565;
    let found = error(&plan(1e7, 1.0, 1, (4096, 24)), PlannedAnswer::One);
    assert!((found / golden - 1.0).abs() < 2e-3, "{found}");
    for level in [0.5, 2.0, 4.0] {
        let q = RandomizedResponse::symmetric(epsilon(level)).q().to_f64();
        let closed = asymptotic_rse(4096, BitChannel::symmetric(q).unwrap());
        let found = error(&plan(1e7, level, 1, (4096, 24)), PlannedAnswer::One);
        assert!((found / closed - 1.0).abs() < 2e-3, "{level}: {found} {closed}");
    }
}

/// Relative errors with many items, 4096 buckets, equal disjoint sets: ε, parties, symmetric, extremal, product.
/// Computed by an independent program, to the digits given.
const MANY_ITEMS: [(f64, u32, f64, f64, f64, f64); 5] = [
    (1.0, 2, 0.0517, 0.0431, 0.0381, 6e-5),
    (1.0, 8, 1.008, 0.625, 0.267, 6e-4),
    (2.0, 8, 0.0700, 0.0393, 0.0287, 6e-5),
    (2.0, 32, 2.72, 1.02, 0.216, 6e-3),
    (4.0, 32, 0.0334, 0.0182, 0.0165, 6e-5),
];

#[test]
fn several_parties_reach_the_known_errors_of_many_items() {
    for (level, parties, symmetric, extremal, product, rounding) in MANY_ITEMS {
        let plan = plan(1e7, level, parties, (4096, 24));
        for (answer, expected) in [
            (PlannedAnswer::MergedSymmetric, symmetric),
            (PlannedAnswer::Merged, extremal),
            (PlannedAnswer::Together, product),
        ] {
            let found = error(&plan, answer);
            assert!(
                (found - expected).abs() < rounding + 2e-3 * expected,
                "{level} {parties} {answer:?}: {found} {expected}"
            );
        }
    }
}

#[test]
fn files_are_as_long_as_planned() {
    for (shape, parties) in [((4096, 24), 3), ((2, 1), 2), ((64, 5), 1)] {
        let plan = plan(100.0, 1.0, parties, shape);
        let released = |party: u32| {
            let builder = DistinctBuilder::new(plan.shape(), AnyHash::default(), TextRules::default());
            let private = RawSketch::try_from(builder).unwrap().release(epsilon(1.0)).unwrap();
            (party.to_string(), AnySketch::from(private))
        };
        let files: Vec<_> = (0..parties).map(released).collect();
        assert!(files.iter().all(|(_, file)| file.to_bytes().len() as u64 == plan.bytes()));
        if parties > 1 {
            let merged = merge(&files, MergeForm::Extremal).unwrap();
            assert_eq!(merged.to_bytes().len() as u64, plan.merged_bytes());
        }
    }
}

#[test]
fn the_smallest_shape_reaches_the_target_and_half_of_it_does_not() {
    for (n, level, target, parties) in
        [(1e6, 1.0, 0.01, 1), (1e5, 0.5, 0.1, 1), (1e7, 2.0, 0.05, 8), (1e12, 1.0, 0.02, 1)]
    {
        let purpose = Purpose::new(n, epsilon(level)).unwrap().with_parties(parties).unwrap();
        let found = purpose.smallest(target, purpose.main_answer(), None, None).unwrap();
        assert!(error(&found, purpose.main_answer()) <= target);
        assert!(found.largest_count() >= n);
        let half = found.shape().buckets() / 2;
        let smaller = purpose.plan(PcsaShape::new(half, purpose.levels(half)).unwrap());
        assert!(error(&smaller, purpose.main_answer()) > target, "{n} {level}");
    }
}

#[test]
fn what_cannot_be_reached_is_told_with_the_best() {
    let purpose = Purpose::new(1e6, epsilon(1.0)).unwrap();
    match purpose.smallest(1e-6, PlannedAnswer::One, None, None) {
        Err(PlanError::OutOfReach { best, .. }) => assert!(best > 1e-6 && best < 0.01),
        other => panic!("{other:?}"),
    }
    let limited = purpose.smallest(0.01, PlannedAnswer::One, None, Some(20_000));
    assert!(matches!(limited, Err(PlanError::OutOfReach { buckets: 4096, .. })), "{limited:?}");
    assert!(matches!(purpose.best_within(50, PlannedAnswer::One, None), Err(PlanError::TooLong { max: 50, .. })));
    let best = purpose.best_within(20_000, PlannedAnswer::One, None).unwrap();
    assert_eq!((best.shape().buckets(), best.bytes()), (4096, 12_405));
    for target in [0.0, 1.0, -0.1, f64::NAN] {
        assert!(matches!(purpose.smallest(target, PlannedAnswer::One, None, None), Err(PlanError::Target { .. })));
    }
    for distinct in [0.0, -1.0, 1e30, f64::NAN, f64::INFINITY] {
        assert!(Purpose::new(distinct, epsilon(1.0)).is_err());
    }
    assert!(purpose.with_parties(0).is_err() && purpose.with_parties(65_537).is_err());
}

#[test]
fn few_items_want_few_buckets() {
    // Every bucket brings noise of its own: the floor grows with their root.
    let floor = |buckets| plan(200.0, 0.5, 1, (buckets, 24)).prediction(PlannedAnswer::One).noise_floor();
    assert!(floor(4096) > 1.9 * floor(1024));
    assert_eq!(plan(20.0, 0.5, 1, (4096, 24)).prediction(PlannedAnswer::One).status(), Status::BelowNoise);
    assert_eq!(plan(1e5, 0.5, 1, (4096, 24)).prediction(PlannedAnswer::One).status(), Status::Ok);
    assert_eq!(plan(1e15, 0.5, 1, (4096, 24)).prediction(PlannedAnswer::One).status(), Status::Saturated);
}

#[test]
fn users_with_many_items_are_planned_at_their_share() {
    let unit = PrivacyUnit::User { max_items: MaxItems::new(4).unwrap() };
    let users = Purpose::new(1e6, epsilon(4.0)).unwrap().with_unit(unit).unwrap().plan(PcsaShape::DEFAULT);
    let items = plan(1e6, 1.0, 1, (4096, 24));
    assert_eq!(error(&users, PlannedAnswer::One).to_bits(), error(&items, PlannedAnswer::One).to_bits());
    assert_eq!(users.to_json()["unit"], "one user with at most 4 items");
    let small = Purpose::new(1e6, epsilon(1e-9)).unwrap();
    assert!(matches!(small.with_unit(unit), Err(PlanError::ItemEpsilon(_))));
}

proptest! {
    #[test]
    fn every_purpose_has_a_plan_without_nan(
        distinct in 1.0..1.8e19_f64,
        level in 1e-9..256.0_f64,
        parties in 1_u32..200,
        bits in 1_u32..=20,
        levels in 1_u8..=44,
    ) {
        let plan = plan(distinct, level, parties, (1 << bits, levels));
        for answer in plan.answers() {
            let found = plan.prediction(*answer);
            prop_assert!(found.relative_error() > 0.0 && found.noise_floor() >= 0.0);
            prop_assert!(found.status() != Status::Ok || found.relative_error() <= 0.5);
        }
        prop_assert!(!plan.to_json().to_string().contains("NaN"));
    }
}
