//! Laws of the fit of all regions that hold for all counts, honest or not.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use cardinality_estimators::tally::TallyClass;
use cardinality_estimators::venn::GroupCounts;
use cardinality_estimators::{
    BitChannel, CellLayout, Confidence, Estimate, ParamError, PatternCounts, SetFormula, Status, venn,
};
use proptest::prelude::*;

fn channels() -> impl Strategy<Value = BitChannel> {
    let general = (1e-9..=1.0_f64, 1e-12..=1.0_f64).prop_map(|(p, a)| BitChannel::from_keep(p, a).unwrap());
    let weak = (-89.0..0.0_f64).prop_map(|e| BitChannel::from_keep(0.5, 10.0_f64.powf(e)).unwrap());
    let epsilon = (-10.0..4.0_f64).prop_map(|e| BitChannel::symmetric(1.0 / (1.0 + e.exp().exp())).unwrap());
    prop_oneof![Just(BitChannel::NOISELESS), general, weak, epsilon]
}

fn counts(sketches: usize, groups: usize) -> impl Strategy<Value = Vec<Vec<u64>>> {
    let one = prop_oneof![3 => 0..=2000_u64, 3 => Just(0), 1 => 0..=1_u64 << 56];
    let mixed = prop::collection::vec(one, 1 << sketches);
    // All cells alike: all zeros, all ones, or any other pattern.
    let alike = (0..1_usize << sketches, prop_oneof![Just(1_u64), Just(4096), Just(1 << 56)]).prop_map(
        move |(pattern, cells)| (0..1 << sketches).map(|index| if index == pattern { cells } else { 0 }).collect(),
    );
    prop::collection::vec(prop_oneof![2 => mixed, 1 => alike], groups)
}

/// One to four sketches over one to six groups of any rate.
fn patterns() -> impl Strategy<Value = PatternCounts> {
    let rate = prop_oneof![(-128.0..=7.0_f64).prop_map(f64::exp2), Just(0.25), Just(1e-4)];
    (1..=4_usize, 1..=6_usize).prop_flat_map(move |(sketches, groups)| {
        (
            prop::collection::vec(channels(), sketches),
            prop::collection::vec(rate.clone(), groups),
            counts(sketches, groups),
            (-20.0..=200.0_f64).prop_map(f64::exp2),
        )
            .prop_filter_map("a layout without cells", |(channels, rates, counts, n_cap)| {
                let cells = counts.iter().map(|counts| counts.iter().sum());
                let groups: Vec<(u64, f64)> = cells.zip(rates).collect();
                let layout = CellLayout::new(&groups, n_cap).ok()?;
                Some(PatternCounts::new(&layout, &channels, counts).unwrap())
            })
    })
}

/// What every answer promises, whatever its status.
fn is_consistent(answer: &Estimate) -> bool {
    let rebuilt = Estimate::new(
        answer.status(),
        answer.value(),
        answer.std_error(),
        (answer.lower(), answer.upper()),
        answer.confidence(),
    );
    rebuilt == Ok(*answer) && (answer.status() == Status::NotConverged || answer.lower().is_some())
}

fn check(patterns: &PatternCounts) -> Result<(), TestCaseError> {
    let fit = venn::fit(patterns).unwrap();
    let sets = fit.sets();
    prop_assert_eq!(fit.regions().is_some(), fit.status().has_value());
    for answer in [fit.union(Confidence::P95), fit.jaccard(Confidence::P95)] {
        prop_assert!(is_consistent(&answer), "{answer:?}");
        prop_assert!(fit.status().has_value() || !answer.status().has_value());
    }
    for mask in 1..1 << sets {
        prop_assert!(is_consistent(&fit.region(mask, Confidence::P95).unwrap()));
    }
    if let (Some(regions), Some(covariance)) = (fit.regions(), fit.covariance()) {
        prop_assert!(regions.iter().all(|n| *n >= 0.0 && n.is_finite()));
        prop_assert!(covariance.iter().all(|x| x.is_finite()));
        prop_assert!(fit.log_likelihood().is_some_and(f64::is_finite));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_counts_give_consistent_answers(patterns in patterns()) {
        check(&patterns)?;
    }

    /// The order of the sets is a matter of names.
    #[test]
    fn sets_may_change_places(counts in prop::collection::vec(0..=300_u64, 16)) {
        let channels = [0.1, 0.2].map(|flip| BitChannel::symmetric(flip).unwrap());
        let build = |swap: bool| {
            let rows: Vec<Vec<u64>> = counts
                .chunks_exact(4)
                .map(|row| if swap { vec![row[0] + 1, row[2], row[1], row[3]] } else { vec![row[0] + 1, row[1], row[2], row[3]] })
                .collect();
            let groups: Vec<(u64, f64)> =
                rows.iter().zip([0.1, 0.05, 0.025, 0.0125]).map(|(row, rate)| (row.iter().sum(), rate)).collect();
            let layout = CellLayout::new(&groups, 1000.0).unwrap();
            let channels = if swap { [channels[1], channels[0]] } else { channels };
            venn::fit(&PatternCounts::new(&layout, &channels, rows).unwrap()).unwrap()
        };
        let (fit, swapped) = (build(false), build(true));
        prop_assert_eq!(fit.status(), swapped.status());
        if let (Some(x), Some(y)) = (fit.log_likelihood(), swapped.log_likelihood()) {
            prop_assert!((x - y).abs() < 1e-6, "{} {}", x, y);
        }
    }
}

fn pcsa(channels: &[BitChannel], counts: impl Fn(usize) -> Vec<u64>) -> PatternCounts {
    let layout = CellLayout::pcsa(512, 16).unwrap();
    PatternCounts::new(&layout, channels, (0..16).map(counts).collect()).unwrap()
}

fn only(sketches: usize, pattern: usize) -> Vec<u64> {
    (0..1 << sketches).map(|index| if index == pattern { 512 } else { 0 }).collect()
}

#[test]
fn sketches_without_a_one_are_empty_or_below_the_noise() {
    for sketches in 1..=4 {
        for (channel, status) in
            [(BitChannel::NOISELESS, Status::Empty), (BitChannel::symmetric(0.25).unwrap(), Status::BelowNoise)]
        {
            let fit = venn::fit(&pcsa(&vec![channel; sketches], |_| only(sketches, 0))).unwrap();
            assert_eq!(fit.status(), status);
            let union = fit.union(Confidence::P95);
            assert_eq!((union.status(), union.value(), union.lower()), (status, Some(0.0), Some(0.0)));
            assert_eq!(fit.region(1, Confidence::P95).unwrap().value(), Some(0.0));
            assert_eq!(fit.jaccard(Confidence::P95).upper(), Some(1.0));
        }
    }
}

#[test]
fn sketches_full_of_ones_are_saturated() {
    for sketches in 1..=4 {
        for channel in [BitChannel::NOISELESS, BitChannel::symmetric(0.25).unwrap()] {
            let fit = venn::fit(&pcsa(&vec![channel; sketches], |_| only(sketches, (1 << sketches) - 1))).unwrap();
            assert_eq!(fit.status(), Status::Saturated);
            assert_eq!((fit.regions(), fit.covariance(), fit.log_likelihood()), (None, None, None));
            let union = fit.union(Confidence::P95);
            assert_eq!((union.value(), union.lower(), union.upper()), (None, Some(0.0), None));
        }
    }
}

/// At ε = 0.001 patterns are as good as coins: nothing may be claimed.
#[test]
fn next_to_no_signal_is_no_certainty() {
    let channel = BitChannel::symmetric(1.0 / (1.0 + 0.001_f64.exp())).unwrap();
    for sketches in 2..=4 {
        let share = 512 >> sketches;
        let fit = venn::fit(&pcsa(&vec![channel; sketches], |_| vec![share; 1 << sketches])).unwrap();
        for mask in 1..1 << sketches {
            assert_ne!(fit.region(mask, Confidence::P95).unwrap().status(), Status::Ok);
        }
        assert_ne!(fit.union(Confidence::P95).status(), Status::Ok);
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let layout = CellLayout::linear(32).unwrap();
    let mut counts = vec![0; 32];
    counts[0] = 32;
    let five = PatternCounts::new(&layout, &[BitChannel::NOISELESS; 5], vec![counts]).unwrap();
    assert_eq!(venn::fit(&five), Err(ParamError::VennSets { found: 5 }));
    let two = PatternCounts::new(&layout, &[BitChannel::NOISELESS; 2], vec![vec![20, 4, 4, 4]]).unwrap();
    let fit = venn::fit(&two).unwrap();
    for mask in [0, 4, usize::MAX] {
        assert_eq!(fit.region(mask, Confidence::P95), Err(ParamError::Region { mask, sets: 2 }));
    }
    let three = SetFormula::from_membership(3, |_| true).unwrap();
    assert_eq!(fit.formula(&three, Confidence::P95), Err(ParamError::Operands { expected: 3, found: 2 }));
}

fn class(channel: BitChannel, sketches: usize) -> TallyClass {
    TallyClass { channel, sketches }
}

#[test]
fn groups_that_do_not_fit_are_refused() {
    let layout = CellLayout::linear(10).unwrap();
    let one = || class(BitChannel::NOISELESS, 1);
    let new = |groups: &[Vec<TallyClass>], counts| GroupCounts::new(&layout, groups, counts).unwrap_err();
    assert_eq!(new(&[], vec![vec![10]]), ParamError::VennSets { found: 0 });
    assert_eq!(new(&vec![vec![one()]; 5], vec![vec![10]]), ParamError::VennSets { found: 5 });
    assert_eq!(new(&[vec![one()], vec![]], vec![vec![10]]), ParamError::EmptyGroup { group: 1 });
    let hollow = vec![one(), class(BitChannel::NOISELESS, 0)];
    assert_eq!(new(&[hollow], vec![vec![10]]), ParamError::EmptyGroup { group: 0 });
    let large = vec![vec![class(BitChannel::NOISELESS, 17)]; 2];
    let expected = GroupCounts::MAX_STATES;
    assert_eq!(new(&large, vec![]), ParamError::GroupStates { expected, found: 324 });
    // More regions leave room for fewer: four sketches a group for three groups, two for four.
    let alike = |groups, sketches| vec![vec![class(BitChannel::NOISELESS, sketches)]; groups];
    assert_eq!(new(&alike(3, 5), vec![]), ParamError::GroupStates { expected: 150, found: 216 });
    assert_eq!(new(&alike(4, 3), vec![]), ParamError::GroupStates { expected: 81, found: 256 });
    assert_eq!(new(&alike(3, 4), vec![]), ParamError::Counts { expected: 1, found: 0 });
    assert_eq!(new(&alike(4, 2), vec![]), ParamError::Counts { expected: 1, found: 0 });
    let endless = vec![vec![class(BitChannel::NOISELESS, usize::MAX)]; 2];
    assert_eq!(new(&endless, vec![]), ParamError::GroupStates { expected, found: usize::MAX });
    assert_eq!(new(&[vec![one()]], vec![vec![10, 0, 0]]), ParamError::Counts { expected: 2, found: 3 });
    assert_eq!(new(&[vec![one()]], vec![vec![4, 5]]), ParamError::Patterns { expected: 10, found: 9 });
}

#[test]
fn groups_without_a_one_hold_nothing() {
    let channel = BitChannel::symmetric(1.0 / (1.0 + 40.0_f64.exp())).unwrap();
    let layout = CellLayout::pcsa(2, 64).unwrap();
    for groups in [vec![7, 7], vec![3, 3, 3]] {
        let states: usize = groups.iter().map(|sketches| sketches + 1).product();
        let groups: Vec<_> = groups.into_iter().map(|sketches| vec![class(channel, sketches)]).collect();
        let zeros: Vec<u64> = (0..states).map(|state| if state == 0 { 2 } else { 0 }).collect();
        let fit = venn::fit_groups(&GroupCounts::new(&layout, &groups, vec![zeros; 64]).unwrap()).unwrap();
        assert_eq!(fit.status(), Status::BelowNoise);
        let union = fit.union(Confidence::P95);
        assert_eq!((union.value(), union.status()), (Some(0.0), Status::BelowNoise));
        assert!(union.upper().is_some_and(|upper| upper < 20.0), "{union}");
    }
}
