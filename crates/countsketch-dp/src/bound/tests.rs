use dp_noise::Neighbouring;

use super::*;

#[test]
fn codes_are_one_to_one() {
    let shape = CountSketchShape::new(3, 8).unwrap();
    for bound in [
        ContributionBound::UNIT_ENTRY,
        ContributionBound::entry(ContributionBound::MAX_WEIGHT).unwrap(),
        ContributionBound::user_total(7).unwrap(),
        ContributionBound::user_items(3, 5).unwrap(),
        ContributionBound::clipped_for(shape, 3, 5).unwrap(),
    ] {
        assert_eq!(ContributionBound::from_codes(bound.to_codes()), Some(bound));
    }
    for codes in [(0, 1, 1, 0), (1, 0, 1, 0), (1, 1, 0, 0), (1, 1, 1, 1), (2, 1, 1, 0), (3, 1, 1, 1), (5, 1, 1, 1)] {
        assert_eq!(ContributionBound::from_codes(codes), None, "{codes:?}");
    }
}

#[test]
fn bounds_have_ranges() {
    assert!(ContributionBound::entry(0).is_err() && ContributionBound::entry(1 << 63).is_err());
    assert!(ContributionBound::user_items(0, 1).is_err() && ContributionBound::user_items(1 << 21, 1).is_err());
    assert!(ContributionBound::user_items(4, 1 << 61).is_err());
    assert!(ContributionBound::clipped(2, 1 << 55, 1).is_ok() && ContributionBound::clipped(3, 1 << 55, 1).is_err());
    assert!(ContributionBound::clipped(1, 1, 0).is_err());
}

/// The rows of the table, with k = 5.
#[test]
fn sensitivities_are_those_of_the_table() {
    let shape = CountSketchShape::new(5, 64).unwrap();
    let both = |bound: ContributionBound, parts, relation| {
        let l1 = bound.l1(shape, parts, relation).unwrap().get();
        (l1, bound.squared_l2(shape, parts, relation).unwrap().get())
    };
    let (one, other) = (Neighbouring::AddRemove, Neighbouring::Substitute);
    assert_eq!(both(ContributionBound::UNIT_ENTRY, 1, one), (5, 5));
    assert_eq!(both(ContributionBound::UNIT_ENTRY, 1, other), (10, 20));
    assert_eq!(both(ContributionBound::entry(4).unwrap(), 1, one), (20, 80));
    assert_eq!(both(ContributionBound::user_total(3).unwrap(), 1, one), (15, 45));
    assert_eq!(both(ContributionBound::user_total(3).unwrap(), 1, other), (30, 180));
    assert_eq!(both(ContributionBound::user_items(2, 3).unwrap(), 1, one), (30, 180));
    // k m c = 30, √(k m C²) = √(5 · 2 · 60) = 24.49, C² = 60.
    let clipped = ContributionBound::clipped(2, 3, 60).unwrap();
    assert_eq!(both(clipped, 1, one), (24, 60));
    assert_eq!(both(clipped, 1, other), (48, 240));
    assert_eq!(both(clipped, 3, one), (72, 540), "three parts: three times the norm");
    // A squared norm of 4 allows four cells of ±1.
    assert_eq!(both(ContributionBound::clipped(2, 3, 4).unwrap(), 1, one), (4, 4));
}

#[test]
fn sensitivities_that_do_not_fit_are_errors() {
    let shape = CountSketchShape::new(255, 2).unwrap();
    let bound = ContributionBound::entry(ContributionBound::MAX_WEIGHT).unwrap();
    assert!(bound.squared_l2(shape, 1, Neighbouring::AddRemove).is_err());
    assert!(bound.l1(shape, u32::MAX, Neighbouring::Substitute).is_ok());
    assert!(ContributionBound::UNIT_ENTRY.l1(shape, 0, Neighbouring::AddRemove).is_err());
}

#[test]
fn a_scaled_bound_is_the_bound_of_scaled_weights() {
    let clipped = ContributionBound::clipped(2, 3, 60).unwrap();
    assert_eq!(clipped.scaled(10), ContributionBound::clipped(2, 30, 6000));
    assert_eq!(ContributionBound::UNIT_ENTRY.scaled(7), ContributionBound::entry(7));
    assert!(ContributionBound::UNIT_ENTRY.scaled(0).is_err());
}
