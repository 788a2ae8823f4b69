//! Laws that hold for all counts, honest or not.

use cardinality_estimators::{
    BitChannel, CellGroup, CellLayout, Confidence, Estimate, Grid, LevelCounts, ParamError, PatternCounts,
    ProductMoments, ProductStatistic, SetFormula, Status, bloom_count, diagnostics, estimate, jaccard,
    legions_probability, linear_counting, set_estimate, signed_one_step,
};
use proptest::prelude::*;

fn channels() -> impl Strategy<Value = BitChannel> {
    let general = (1e-9..=1.0_f64, 1e-12..=1.0_f64).prop_map(|(p, a)| BitChannel::from_keep(p, a).expect("in range"));
    let weak = (-89.0..0.0_f64).prop_map(|e| BitChannel::from_keep(0.5, 10.0_f64.powf(e)).expect("in range"));
    let symmetric = (0.0..0.5_f64).prop_map(|flip| BitChannel::symmetric(flip).expect("in range"));
    prop_oneof![Just(BitChannel::NOISELESS), general, weak, symmetric]
}

/// A count of cells and ones among them, of any size.
fn cells() -> impl Strategy<Value = (u64, u64)> {
    let size = prop_oneof![0..=20_u64, 0..=5000_u64, Just(u64::MAX), any::<u64>()];
    size.prop_flat_map(|cells| (Just(cells), prop_oneof![0..=cells, Just(0), Just(cells)]))
}

fn groups() -> impl Strategy<Value = Vec<CellGroup>> {
    let rate = prop_oneof![(-128.0..=7.0_f64).prop_map(f64::exp2), Just(0.25), Just(1e-4)];
    let group = (cells(), rate).prop_map(|((cells, ones), rate)| CellGroup::new(cells, ones, rate).expect("in range"));
    prop::collection::vec(group, 1..12)
}

/// Channels of one to three sketches, and counts of their patterns in one to six groups.
fn patterns() -> impl Strategy<Value = (Vec<BitChannel>, Vec<Vec<u64>>)> {
    prop::collection::vec(channels(), 1..=3).prop_flat_map(|channels| {
        let count = prop_oneof![3 => 0..=2000_u64, 2 => Just(0), 1 => 0..=1_u64 << 60];
        let counts = prop::collection::vec(prop::collection::vec(count, 1 << channels.len()), 1..=6);
        (Just(channels), counts)
    })
}

fn caps() -> impl Strategy<Value = f64> {
    (-20.0..=200.0_f64).prop_map(f64::exp2)
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_counts_give_a_consistent_answer(groups in groups(), channel in channels(), n_cap in caps()) {
        if let Ok(counts) = LevelCounts::new(groups, channel, n_cap) {
            prop_assert!(is_consistent(&estimate(&counts, Confidence::P95)));
            prop_assert!(signed_one_step(&counts).is_none_or(f64::is_finite));
            let (lower, upper) = diagnostics::plain_likelihood_ratio_interval(&counts, Confidence::P95);
            prop_assert!(lower.is_none_or(f64::is_finite) && upper.is_none_or(f64::is_finite));
        }
    }

    #[test]
    fn the_order_of_groups_does_not_matter(groups in groups(), channel in channels(), shift in 0..12_usize) {
        let mut turned = groups.clone();
        turned.rotate_left(shift % groups.len());
        turned.reverse();
        let answer = |groups| LevelCounts::new(groups, channel, 1e12).map(|counts| estimate(&counts, Confidence::P95));
        prop_assert_eq!(answer(groups), answer(turned));
    }

    #[test]
    fn more_ones_never_lower_the_estimate(
        ones in prop::collection::vec(0..=255_u64, 1..20),
        at in 0..20_usize,
        channel in channels(),
    ) {
        let value = |ones: &[u64]| {
            let counts = LevelCounts::pcsa(256, ones, channel).expect("a valid shape");
            diagnostics::mle(&counts).n_hat
        };
        let mut more = ones.clone();
        more[at % ones.len()] += 1;
        let (before, after) = (value(&ones), value(&more));
        prop_assert!(after >= before * (1.0 - 1e-6), "{before} became {after}");
    }

    #[test]
    fn splitting_a_group_changes_nothing(ones in 0..=100_u64, more in 0..=50_u64, channel in channels()) {
        let group = |cells, ones, rate| CellGroup::new(cells, ones, rate).expect("in range");
        let other = group(150, 40, 0.001);
        let one = LevelCounts::new(vec![other, group(150, ones + more, 0.004)], channel, 1e7);
        let two = LevelCounts::new(vec![group(100, ones, 0.004), other, group(50, more, 0.004)], channel, 1e7);
        prop_assert_eq!(one, two);
    }

    #[test]
    fn any_filter_gives_a_consistent_answer((cells, ones) in cells(), hashes in 1..=64_u32, channel in channels()) {
        match bloom_count(cells, hashes, ones, channel, Confidence::P95) {
            Ok(answer) => prop_assert!(is_consistent(&answer)),
            Err(error) => prop_assert_eq!(error, ParamError::Cells { expected: 2, found: cells }),
        }
    }

    #[test]
    fn any_moments_give_a_consistent_answer(
        moments in prop::collection::vec((1..=u64::MAX, -40.0..=3.0_f64, -1e3..=1e3_f64, 0.0..=1e6_f64), 1..12),
        channels in prop::collection::vec(channels(), 1..6),
        n_cap in caps(),
    ) {
        let moments = moments.into_iter().map(|(cells, rate, mean, variance)| {
            ProductMoments::new(cells, rate.exp2(), mean, variance).expect("in range")
        });
        let statistic = ProductStatistic::new(moments.collect(), &channels, n_cap).expect("in range");
        prop_assert!(is_consistent(&statistic.estimate(Confidence::P95)));
    }

    #[test]
    fn any_patterns_give_a_consistent_answer(
        (channels, counts) in patterns(),
        weights in prop::collection::vec(-3..=3_i64, 8),
        rates in prop::collection::vec(-120.0..=5.0_f64, 6),
        n_cap in caps(),
    ) {
        let sketches = channels.len();
        let groups: Vec<_> = counts.iter().zip(rates).map(|(c, rate)| (c.iter().sum(), rate.exp2())).collect();
        let Ok(layout) = CellLayout::new(&groups, n_cap) else { return Ok(()) };
        let patterns = PatternCounts::new(&layout, &channels, counts).expect("counts of the layout");
        let weights: Vec<i64> = (0..1_usize << sketches).map(|mask| if mask == 0 { 0 } else { weights[mask] }).collect();
        let formula = SetFormula::from_regions(sketches, &weights).expect("small weights");
        prop_assert!(is_consistent(&set_estimate(&patterns, &formula, Confidence::P95).expect("as many sketches")));
        for union in 1..1 << sketches {
            let formula = SetFormula::from_unions(sketches, [(union, 1)]).expect("a union");
            prop_assert!(is_consistent(&set_estimate(&patterns, &formula, Confidence::P95).expect("as many sketches")));
        }
        if sketches == 2 {
            let share = jaccard(&patterns, Confidence::P95).expect("two sketches");
            prop_assert!(is_consistent(&share));
            prop_assert!(share.upper().is_none_or(|upper| upper <= 1.0));
        }
    }

    #[test]
    fn the_names_of_two_sets_do_not_matter(
        counts in prop::collection::vec((0..=90_u64, 0..=90_u64, 0..=90_u64, 1..=90_u64), 1..8),
        flips in (0.001..0.45_f64, 0.001..0.45_f64),
    ) {
        let channels = [flips.0, flips.1].map(|flip| BitChannel::symmetric(flip).expect("in range"));
        let answer = |swap: bool| {
            let mut groups = Vec::new();
            let mut patterns = Vec::new();
            for (level, &(none, first, second, both)) in (0_i32..).zip(&counts) {
                groups.push((none + first + second + both, 0.01 * 0.5_f64.powi(level)));
                patterns.push(if swap { vec![none, second, first, both] } else { vec![none, first, second, both] });
            }
            let layout = CellLayout::new(&groups, 1e6).expect("in range");
            let channels = if swap { [channels[1], channels[0]] } else { channels };
            let patterns = PatternCounts::new(&layout, &channels, patterns).expect("counts of the layout");
            let only = SetFormula::from_membership(2, |sets| sets == if swap { 2 } else { 1 }).expect("two sets");
            set_estimate(&patterns, &only, Confidence::P95).expect("two sketches")
        };
        let (one, other) = (answer(false), answer(true));
        prop_assert_eq!(one.status(), other.status());
        let close = |x: Option<f64>, y: Option<f64>| match (x, y) {
            (Some(x), Some(y)) => (x - y).abs() <= 1e-6 * (1.0 + x.abs()),
            (x, y) => x == y,
        };
        prop_assert!(close(one.value(), other.value()) && close(one.upper(), other.upper()));
        prop_assert!(close(one.std_error(), other.std_error()));
    }

    #[test]
    fn any_legions_shape_has_a_layout(cells in prop_oneof![2..=u64::MAX, 2..=1_u64 << 35, 2..=5000_u64], decay in -20.0..=6.0_f64) {
        let layout = match CellLayout::legions(cells, decay.exp2()) {
            Ok(layout) => layout,
            Err(error) => {
                let too_small = matches!(error, ParamError::Rate { .. }) && cells > 1 << 35;
                prop_assert!(too_small, "{}", error);
                return Ok(());
            }
        };
        prop_assert!(layout.groups().len() <= 1 << 17);
        prop_assert_eq!(layout.groups().map(|(cells, _)| u128::from(cells)).sum::<u128>(), u128::from(cells));
        let rates: Vec<f64> = layout.groups().map(|(_, rate)| rate).collect();
        prop_assert!(rates.windows(2).all(|pair| pair[0] >= pair[1] * (1.0 - 1e-9)));
    }

    #[test]
    fn a_higher_confidence_gives_a_wider_interval(n in 0..=60_usize, ones in prop::collection::vec(0..=64_u64, 4..12)) {
        let channel = BitChannel::symmetric(0.004 * f64::from(u8::try_from(n).unwrap_or(0))).expect("in range");
        let counts = LevelCounts::pcsa(64, &ones, channel).expect("a valid shape");
        let narrow = estimate(&counts, Confidence::P95);
        let wide = estimate(&counts, Confidence::new(0.999).expect("in range"));
        prop_assert_eq!(narrow.value(), wide.value());
        // The two may come from different methods, whose ends differ by rounding to their tolerance.
        prop_assert!(wide.lower().zip(narrow.lower()).is_none_or(|(w, n)| w <= n * (1.0 + 0.01)));
        prop_assert!(wide.upper().is_none_or(|w| narrow.upper().is_some_and(|n| w >= n * (1.0 - 0.01))));
    }
}

#[test]
fn impossible_counts_are_typed_errors() {
    let noiseless = BitChannel::NOISELESS;
    assert_eq!(CellGroup::new(4, 5, 0.1), Err(ParamError::Ones { ones: 5, cells: 4 }));
    assert_eq!(LevelCounts::pcsa(4, &[5, 0], noiseless), Err(ParamError::Ones { ones: 5, cells: 4 }));
    assert_eq!(LevelCounts::pcsa(0, &[0], noiseless), Err(ParamError::Cells { expected: 1, found: 0 }));
    assert_eq!(LevelCounts::pcsa(4, &[], noiseless), Err(ParamError::Levels { found: 0 }));
    assert_eq!(LevelCounts::pcsa(4, &[0; 65], noiseless), Err(ParamError::Levels { found: 65 }));
    assert_eq!(LevelCounts::pcsa(1, &[1], noiseless), Err(ParamError::Rate { found: f64::INFINITY }));
    assert_eq!(linear_counting(8, 9).err(), Some(ParamError::Zeros { zeros: 9, cells: 8 }));
    let layout = CellLayout::pcsa(8, 3).expect("a valid shape");
    assert_eq!(layout.counts(&[1], noiseless), Err(ParamError::Counts { expected: 3, found: 1 }));
    let patterns = |sketches, counts| PatternCounts::new(&layout, &vec![noiseless; sketches], counts);
    assert_eq!(patterns(0, vec![vec![8]; 3]), Err(ParamError::SetSketches { found: 0 }));
    assert_eq!(patterns(9, vec![vec![8]; 3]), Err(ParamError::SetSketches { found: 9 }));
    assert_eq!(patterns(1, vec![vec![7, 1]; 2]), Err(ParamError::Counts { expected: 3, found: 2 }));
    assert_eq!(patterns(1, vec![vec![8]; 3]), Err(ParamError::Counts { expected: 2, found: 1 }));
    assert_eq!(patterns(1, vec![vec![7, 0]; 3]), Err(ParamError::Patterns { expected: 8, found: 7 }));
    let three = SetFormula::from_membership(3, |_| true).expect("three sets");
    let one = patterns(1, vec![vec![7, 1]; 3]).expect("counts of the layout");
    let refused = ParamError::Operands { expected: 3, found: 1 };
    assert_eq!(set_estimate(&one, &three, Confidence::P95), Err(refused));
    assert_eq!(jaccard(&one, Confidence::P95), Err(ParamError::Operands { expected: 2, found: 1 }));
}

#[test]
fn parameters_outside_their_range_are_typed_errors() {
    for (p, q) in [(0.5, 0.5), (0.4, 0.5), (1.1, 0.5), (0.5, -0.1), (f64::NAN, 0.1), (0.5, f64::NAN)] {
        assert!(matches!(BitChannel::new(p, q), Err(ParamError::Channel { .. })), "{p} {q}");
    }
    for a in [0.0, -0.5, 1.5, 1e-300, f64::NAN] {
        assert!(
            matches!(BitChannel::from_keep(0.5, a), Err(ParamError::Keep { .. } | ParamError::Channel { .. })),
            "{a}"
        );
    }
    for flip in [0.5, -0.1, f64::NAN] {
        assert!(matches!(BitChannel::symmetric(flip), Err(ParamError::Channel { .. })), "{flip}");
    }
    for level in [0.0, 1.0, -1.0, f64::NAN, 1.5] {
        assert!(matches!(Confidence::new(level), Err(ParamError::Confidence { .. })), "{level}");
    }
    for n_cap in [0.0, f64::INFINITY, f64::NAN, 1e300] {
        assert!(matches!(CellLayout::new(&[(4, 0.1)], n_cap), Err(ParamError::Cap { .. })), "{n_cap}");
    }
    for (start, density) in [(0.0, 4), (2.0, 4), (f64::NAN, 4), (0.1, 0), (0.1, 65)] {
        assert!(matches!(Grid::new(start, density), Err(ParamError::Grid { .. })), "{start} {density}");
    }
    for decay in [0.0, -1.0, 65.0, f64::NAN] {
        assert!(matches!(CellLayout::legions(100, decay), Err(ParamError::Decay { .. })), "{decay}");
    }
    assert_eq!(CellLayout::legions(1, 4.0), Err(ParamError::Cells { expected: 2, found: 1 }));
    assert_eq!(legions_probability(10, 4.0, 10), Err(ParamError::Index { index: 10, cells: 10 }));
    assert_eq!(CellLayout::bloom(100, 0), Err(ParamError::Hashes { found: 0 }));
    assert!(matches!(ProductMoments::new(4, 0.1, f64::INFINITY, 0.0), Err(ParamError::Moments { .. })));
    assert!(matches!(ProductStatistic::new(Vec::new(), &[BitChannel::NOISELESS], 1e6), Err(ParamError::Cells { .. })));
}

#[test]
fn very_many_very_noisy_sketches_do_not_converge_or_are_refused() {
    let channel = BitChannel::from_keep(0.5, 1e-3).expect("in range");
    let mut classes = vec![0; 401];
    classes[200] = 1024;
    assert!(matches!(ProductMoments::from_classes(0.001, channel, &classes), Err(ParamError::Moments { .. })));
    let moments = ProductMoments::new(1024, 0.001, 0.5, 0.25).expect("in range");
    let statistic = ProductStatistic::new(vec![moments], &[channel; 400], 1e6).expect("in range");
    assert_eq!(statistic.estimate(Confidence::P95).status(), Status::NotConverged);
}

#[test]
fn a_saturated_sketch_has_only_a_lower_bound() {
    let counts = LevelCounts::pcsa(4096, &[4096; 24], BitChannel::NOISELESS).expect("a valid shape");
    let answer = estimate(&counts, Confidence::P95);
    assert_eq!(answer.status(), Status::Saturated);
    assert_eq!((answer.value(), answer.std_error(), answer.upper()), (None, None, None));
    // At this count the last two levels, 8192 cells, are all full with probability 0.147 = exp(−z²/2).
    let last = 2.0_f64.powi(-23) / 4096.0;
    let expected = -(-(0.146_6_f64.ln() / 8192.0).exp()).ln_1p() / last;
    assert!(answer.lower().is_some_and(|lower| (lower / expected - 1.0).abs() < 0.01), "{answer} {expected}");
}

#[test]
fn quantiles_agree_with_tables() {
    for (level, z) in [(0.5, 0.674_489_750_196_081_7), (0.95, 1.959_963_984_540_054), (0.999, 3.290_526_731_491_893_6)]
    {
        let found = Confidence::new(level).map(Confidence::z);
        assert!(found.is_ok_and(|found| (found - z).abs() < 1e-12), "{level}");
    }
    assert_eq!(Confidence::new(0.95).map(Confidence::get), Ok(Confidence::P95.get()));
}

#[test]
fn weak_channels_keep_their_privacy_level() {
    // ln(p/q) = −ln(1−a) and ln((1−q)/(1−p)) = ln(1+d/(1−p)): both close to a here.
    let channel = BitChannel::from_keep(0.5, 1e-20).expect("in range");
    assert!((channel.dp_level() / 1e-20 - 1.0).abs() < 1e-15);
    assert!(BitChannel::NOISELESS.dp_level().is_infinite());
    // At ε = 40 the probability of a miss is below the spacing of numbers near 1.
    let flip = 1.0 / (1.0 + 40.0_f64.exp());
    let channel = BitChannel::symmetric(flip).expect("in range");
    assert!((channel.dp_level() - 40.0).abs() < 1e-12);
}
