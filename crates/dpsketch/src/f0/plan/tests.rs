use sketch_hash::AnyHash;

use super::*;
use crate::ErrorKind;
use crate::f0::{F0Builder, F0Terms};
use crate::text::TextRules;
use crate::user_bound::MaxItems;

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

fn purpose(distinct: f64, level: f64, mode: ModeKind) -> F0Purpose {
    F0Purpose::new(distinct, epsilon(level), mode).unwrap()
}

#[test]
fn predictions_are_those_of_the_closed_form_in_mid_range() {
    // rse^2 = 4 ln 2 / (m Li2(c^2)); Li2(c^2) / 4 is .0565 for sets and .1122 with pre-sampling at epsilon 1.
    for (mode, noise, information) in [
        (ModeKind::Set, NoiseRule::Tight, 0.0565),
        (ModeKind::Set, NoiseRule::Paper, 0.0286),
        (ModeKind::Presampled, NoiseRule::Tight, 0.1122),
    ] {
        let plan = purpose(1e6, 1.0, mode).with_noise(noise).plan(F0Shape::DEFAULT);
        let expected = (core::f64::consts::LN_2 / (4096.0 * information)).sqrt();
        let found = plan.prediction(PlannedAnswer::One).relative_error();
        assert!((found / expected - 1.0).abs() < 0.01, "{mode} {noise:?}: {found} {expected}");
    }
}

#[test]
fn the_noise_floor_grows_with_the_root_of_the_cells() {
    // sqrt(3 m p (1 - p)) / c: 106 items at eps = 1 and m = 4096.
    let floor = |cells| {
        let plan = purpose(1e4, 1.0, ModeKind::Set).plan(F0Shape::new(24, cells).unwrap());
        plan.prediction(PlannedAnswer::One).noise_floor()
    };
    assert!((floor(4096) - 106.0).abs() < 1.0, "{}", floor(4096));
    assert!((floor(16_384) / floor(4096) - 2.0).abs() < 0.01);
}

#[test]
fn lengths_are_those_of_files() {
    for (levels, cells) in [(24, 4096), (1, 5), (13, 1000)] {
        let shape = F0Shape::new(levels, cells).unwrap();
        let plan = purpose(100.0, 1.0, ModeKind::Set).with_parties(3).unwrap().plan(shape.clone());
        let release = || {
            let (hash, rules) = (AnyHash::default(), TextRules::default());
            let raw = F0Builder::operations(F0Terms::unit(shape.clone()), hash, rules).finish().unwrap().0;
            ("a".to_owned(), crate::AnySketch::from(raw.release(epsilon(4.0)).unwrap()))
        };
        let parties = [release(), release(), release()];
        assert_eq!(plan.bytes(), parties[0].1.to_bytes().len() as u64);
        let merged = crate::merge(&parties, sfm_pcsa::MergeForm::default()).unwrap();
        assert_eq!(plan.merged_bytes(), merged.to_bytes().len() as u64);
    }
}

#[test]
fn the_smallest_shape_is_enough_and_one_cell_less_is_not() {
    for (distinct, level, mode, target) in
        [(1e7, 1.0, ModeKind::Set, 0.05), (1e4, 2.0, ModeKind::Presampled, 0.03), (500.0, 4.0, ModeKind::Set, 0.2)]
    {
        let purpose = purpose(distinct, level, mode);
        let plan = purpose.smallest(target, PlannedAnswer::One, None, None).unwrap();
        assert!(plan.prediction(PlannedAnswer::One).relative_error() <= target);
        let cells = plan.shape().cells_per_level().unwrap();
        let smaller = purpose.plan(F0Shape::new(purpose.levels(cells - 1), cells - 1).unwrap());
        assert!(smaller.prediction(PlannedAnswer::One).relative_error() > target, "{distinct} {cells}");
    }
}

#[test]
fn limits_are_kept_and_told() {
    let purpose = purpose(1e6, 1.0, ModeKind::Set);
    let one = PlannedAnswer::One;
    let short = purpose.smallest(0.2, one, None, Some(4000)).unwrap();
    assert!(short.bytes() <= 4000);
    assert!(purpose.best_within(4000, one, None).unwrap().bytes() <= 4000);
    for (error, argument) in [
        (purpose.smallest(0.001, one, None, Some(4000)).unwrap_err(), "--target-rse"),
        (purpose.smallest(0.0, one, None, None).unwrap_err(), "--target-rse"),
        (purpose.smallest(f64::NAN, one, None, None).unwrap_err(), "--target-rse"),
        (purpose.smallest(0.1, one, None, Some(100)).unwrap_err(), "--max-bytes"),
        (purpose.best_within(100, one, None).unwrap_err(), "--max-bytes"),
        (purpose.smallest(0.1, one, Some(0), None).unwrap_err(), "--levels"),
        (purpose.with_parties(0).unwrap_err(), "--parties"),
        (purpose.with_parties(65_537).unwrap_err(), "--parties"),
        (F0Purpose::new(0.5, epsilon(1.0), ModeKind::Set).unwrap_err(), "--distinct"),
        (F0Purpose::new(f64::NAN, epsilon(1.0), ModeKind::Set).unwrap_err(), "--distinct"),
    ] {
        let told = crate::Error::from(error);
        assert_eq!((told.kind(), told.to_json()["argument"].as_str()), (ErrorKind::Parameter, Some(argument)));
    }
    let user = PrivacyUnit::User { max_items: MaxItems::new(1 << 20).unwrap() };
    assert!(F0Purpose::new(1e6, epsilon(1e-4), ModeKind::Set).unwrap().with_unit(user).is_err());
}

#[test]
fn many_noisy_parties_leave_nothing_and_the_json_says_so_without_a_number() {
    let purpose = purpose(1e5, 0.1, ModeKind::Set).with_parties(60_000).unwrap();
    let plan = purpose.plan(F0Shape::DEFAULT);
    let json = plan.to_json();
    assert!(json["predicted_rse"].is_null() && json["noise_floor"].is_null(), "{json}");
    let error = crate::Error::from(purpose.smallest(0.5, PlannedAnswer::Merged, None, None).unwrap_err());
    assert_eq!(error.to_json()["argument"], "--target-rse");
}
