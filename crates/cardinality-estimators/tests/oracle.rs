//! The fast paths against slow ones, and derivatives against differences.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use approx::assert_relative_eq;
use cardinality_estimators::{
    BitChannel, CellGroup, CellLayout, Confidence, LevelCounts, PatternCounts, ProductMoments, ProductStatistic,
    SetFormula, Status, asymptotic_information, bloom_count, diagnostics, estimate, jaccard, legions_probability,
    linear_counting_private, predicted_rse, set_estimate,
};
use support::{Random, place, read, response, sketch};

/// Uniform on `0..n`.
fn below(random: &mut Random, n: u32) -> u64 {
    ((random.bits() >> 32) * u64::from(n)) >> 32
}

/// Counts that no honest sketch would give: two sizes mixed, levels swapped, uniform noise.
fn hostile(random: &mut Random, levels: u8, channel: BitChannel) -> LevelCounts {
    let cells = 1_u32 << (4 + below(random, 8));
    let a = (random.unit() * 30.0).exp2();
    let b = (random.unit() * 30.0).exp2();
    let style = below(random, 4);
    let ones: Vec<u64> = (0..levels)
        .map(|level| {
            let n = if style == 0 || (style == 1 && random.chance(0.5)) { a } else { b };
            let empty = (-n * 0.5_f64.powi(i32::from(level) + 1) / f64::from(cells)).exp();
            let on = channel.p() - channel.d() * empty;
            if style == 3 { below(random, cells + 1) } else { (0..cells).map(|_| u64::from(random.chance(on))).sum() }
        })
        .collect();
    LevelCounts::pcsa(cells, &ones, channel).unwrap()
}

fn random_channel(random: &mut Random) -> BitChannel {
    match below(random, 5) {
        0 => BitChannel::NOISELESS,
        1 => BitChannel::new(0.5, 0.5 * random.unit()).unwrap(),
        2 => BitChannel::from_keep(0.05 + 0.95 * random.unit(), random.unit().powi(3).max(1e-3)).unwrap(),
        _ => response(0.2 + 6.0 * random.unit()),
    }
}

#[test]
fn the_fast_search_finds_the_global_maximum() {
    let mut random = Random::new(1);
    for _ in 0..6000 {
        let channel = random_channel(&mut random);
        let levels = 1 + u8::try_from(below(&mut random, 30)).unwrap();
        let counts = hostile(&mut random, levels, channel);
        let (fast, slow) = (diagnostics::mle(&counts), diagnostics::mle_on_grid(&counts));
        assert_eq!(fast.status, slow.status, "{counts:?}");
        assert_relative_eq!(fast.n_hat, slow.n_hat, max_relative = 1e-8);
    }
}

#[test]
fn no_point_of_a_fine_grid_is_higher_than_the_maximum() {
    let mut random = Random::new(2);
    for _ in 0..150 {
        let channel = random_channel(&mut random);
        let counts = hostile(&mut random, 20, channel);
        let top = diagnostics::log_likelihood(&counts, diagnostics::mle(&counts).n_hat).value;
        for i in 0..2000 {
            let n = 0.01 * (f64::from(i) / 40.0).exp2();
            if n <= counts.n_cap() {
                // The sum itself is rounded, at about 1e-16 of its size.
                let here = diagnostics::log_likelihood(&counts, n).value;
                assert!(here <= top + 1e-12 * top.abs(), "{here} at {n} above {top}: {counts:?}");
            }
        }
    }
}

#[test]
fn derivatives_are_limits_of_differences() {
    // Among them the channels without misses and without false ones, which have their own formulas.
    for (p, q) in [(0.9, 0.1), (1.0, 0.0), (1.0, 0.3), (0.7, 0.0), (0.5, 0.499)] {
        let channel = BitChannel::new(p, q).unwrap();
        let counts = LevelCounts::pcsa(256, &[200, 140, 90, 77, 40, 12], channel).unwrap();
        for n in [3.0, 100.0, 700.0, 5000.0] {
            let at = |n: f64| diagnostics::log_likelihood(&counts, n);
            let h = 1e-4 * n;
            assert_relative_eq!(
                at(n).d1,
                (at(n + h).value - at(n - h).value) / (2.0 * h),
                max_relative = 1e-5,
                epsilon = 1e-8
            );
            assert_relative_eq!(at(n).d2, (at(n + h).d1 - at(n - h).d1) / (2.0 * h), max_relative = 1e-6);
        }
    }
}

#[test]
fn both_ways_to_invert_the_likelihood_ratio_agree() {
    // Far enough from 0 for one search and too close for the Wald interval, so that the answer uses the ratio.
    let mut random = Random::new(3);
    for _ in 0..20 {
        let counts = sketch(&mut random, 12, 24, 2000, response(1.0));
        let answer = estimate(&counts, Confidence::P95);
        let (lower, upper) = diagnostics::likelihood_ratio_interval(&counts, Confidence::P95);
        assert_relative_eq!(answer.lower().unwrap(), lower.unwrap(), max_relative = 1e-5);
        assert_relative_eq!(answer.upper().unwrap(), upper.unwrap(), max_relative = 1e-5);
    }
}

#[test]
fn the_two_interval_methods_agree_where_items_are_many() {
    let mut random = Random::new(4);
    let counts = sketch(&mut random, 12, 24, 200_000, response(2.0));
    let answer = estimate(&counts, Confidence::P95);
    let (lower, upper) = diagnostics::log_wald_interval(&counts, Confidence::P95);
    assert_eq!((answer.lower(), answer.upper()), (lower, upper));
    let (low, high) = diagnostics::likelihood_ratio_interval(&counts, Confidence::P95);
    // Their ends differ by the square of the relative error, 1.5 %.
    assert_relative_eq!(lower.unwrap(), low.unwrap(), max_relative = 1e-3);
    assert_relative_eq!(upper.unwrap(), high.unwrap(), max_relative = 1e-3);
}

#[test]
fn the_pair_sum_agrees_with_the_short_variance_for_many_buckets() {
    for epsilon in [0.5, 2.0, 40.0] {
        let layout = CellLayout::pcsa(4096, 24).unwrap();
        for n in [10.0, 1e3, 1e5, 1e7] {
            let exact = diagnostics::rse_fixed_n(&layout, response(epsilon), n);
            let short = diagnostics::rse_fixed_n_approx(&layout, response(epsilon), n);
            assert_relative_eq!(exact, short, max_relative = 2e-4);
            assert_relative_eq!(short, predicted_rse(&layout, response(epsilon), n), max_relative = 1e-15);
        }
    }
}

#[test]
fn the_product_of_one_sketch_is_the_likelihood_estimate() {
    let mut random = Random::new(5);
    for (epsilon, n) in [(1.0, 5_000), (4.0, 300), (40.0, 40_000), (0.5, 50_000)] {
        let channel = response(epsilon);
        let table = place(&mut random, 10, 20, n);
        let ones = read(&mut random, &table, 20, channel);
        let layout = CellLayout::pcsa(1024, 20).unwrap();
        let single = diagnostics::mle_on_grid(&layout.counts(&ones, channel).unwrap());
        let moments = layout
            .groups()
            .zip(&ones)
            .map(|((cells, rate), &k)| ProductMoments::from_classes(rate, channel, &[cells - k, k]).unwrap());
        let product = ProductStatistic::new(moments.collect(), &[channel], layout.n_cap()).unwrap();
        let answer = product.estimate(Confidence::P95);
        assert_eq!(single.status, Status::Ok);
        assert_relative_eq!(answer.value().unwrap(), single.n_hat, max_relative = 1e-7);
        assert_relative_eq!(
            answer.std_error().unwrap() / single.n_hat,
            predicted_rse(&layout, channel, single.n_hat),
            max_relative = 0.1
        );
    }
}

#[test]
fn moments_of_classes_are_moments_of_cells() {
    let channel = BitChannel::new(0.8, 0.3).unwrap();
    let classes = [5_u64, 7, 2];
    let by_class = ProductMoments::from_classes(0.01, channel, &classes).unwrap();
    let factor = |bit: f64| (0.8 - bit) / 0.5;
    let values = [factor(0.0).powi(2), factor(0.0) * factor(1.0), factor(1.0).powi(2)];
    let by_cell = ProductMoments::from_values(0.01, values.into_iter().zip(classes)).unwrap();
    assert_relative_eq!(by_class.mean(), by_cell.mean(), max_relative = 1e-14);
    assert_relative_eq!(by_class.variance(), by_cell.variance(), max_relative = 1e-14);
    assert_eq!((by_class.cells(), by_cell.cells()), (14, 14));
}

#[test]
fn the_search_reaches_two_to_the_sixty() {
    // The counts to expect of 2^60 items in 4096 buckets of 52 levels.
    let channel = response(2.0);
    let layout = CellLayout::pcsa(4096, 52).unwrap();
    let n = 2.0_f64.powi(60);
    let groups = layout.groups().map(|(cells, rate)| {
        let on = channel.p() - channel.d() * (-n * rate).exp();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of 4096 cells")]
        let ones = (4096.0 * on).round() as u64;
        CellGroup::new(cells, ones, rate).unwrap()
    });
    let counts = LevelCounts::new(groups.collect(), channel, layout.n_cap()).unwrap();
    let answer = estimate(&counts, Confidence::P95);
    assert_eq!(answer.status(), Status::Ok);
    assert_relative_eq!(answer.value().unwrap(), n, max_relative = 2e-3);
}

#[test]
fn a_bloom_filter_is_linear_counting_of_its_darts() {
    let channel = response(1.5);
    for (hashes, ones) in [(2, 1100), (5, 1500), (5, 980)] {
        let filter = bloom_count(4096, hashes, ones, channel, Confidence::P95).unwrap();
        let darts = linear_counting_private(4096, ones, channel, Confidence::P95).unwrap();
        let k = f64::from(hashes);
        assert_eq!(filter.status(), darts.status());
        assert_relative_eq!(filter.value().unwrap() * k, darts.value().unwrap(), max_relative = 1e-12);
        assert_relative_eq!(filter.std_error().unwrap() * k, darts.std_error().unwrap(), max_relative = 1e-9);
        assert_relative_eq!(filter.upper().unwrap() * k, darts.upper().unwrap(), max_relative = 1e-8);
        let (bloom, linear) = (CellLayout::bloom(4096, hashes).unwrap(), CellLayout::linear(4096).unwrap());
        let predicted = |layout, n| predicted_rse(layout, channel, n);
        assert_relative_eq!(predicted(&bloom, 300.0), predicted(&linear, 300.0 * k), max_relative = 1e-9);
        let exact = |layout, n| diagnostics::rse_fixed_n(layout, channel, n);
        assert_relative_eq!(exact(&bloom, 300.0), exact(&linear, 300.0 * k), max_relative = 1e-9);
        let short = |layout, n| diagnostics::rse_fixed_n_approx(layout, channel, n);
        assert_relative_eq!(short(&bloom, 300.0), exact(&bloom, 300.0), max_relative = 1e-3);
    }
}

/// Liquid Legions with every cell a group of its own.
fn every_cell(cells: u64, decay: f64) -> CellLayout {
    let rate = |cell| -(-legions_probability(cells, decay, cell).unwrap()).ln_1p();
    let groups: Vec<_> = (0..cells).map(|cell| (1, rate(cell))).collect();
    CellLayout::new(&groups, CellLayout::legions(cells, decay).unwrap().n_cap()).unwrap()
}

#[test]
fn every_legions_item_falls_in_exactly_one_cell() {
    for (cells, decay) in [(2, 64.0), (7, 1e-6), (1000, 12.0), (40_000, 30.0)] {
        let sum: f64 = (0..cells).map(|cell| legions_probability(cells, decay, cell).unwrap()).sum();
        assert_relative_eq!(sum, 1.0, max_relative = 1e-12);
        let groups: u64 = CellLayout::legions(cells, decay).unwrap().groups().map(|(cells, _)| cells).sum();
        assert_eq!(groups, cells);
    }
}

#[test]
fn grouping_legions_cells_moves_estimates_by_a_fraction_of_their_error() {
    let mut random = Random::new(6);
    let (grouped, separate) = (CellLayout::legions(4000, 10.0).unwrap(), every_cell(4000, 10.0));
    assert!(grouped.groups().len() < 250);
    let mut drift = 0.0;
    for trial in 0..60 {
        let (channel, n) = (response(1.0 + f64::from(trial % 4)), 3000.0 * f64::from(1 + trial));
        let hit = |rate: f64| channel.p() - channel.d() * (-rate * n).exp();
        let bits: Vec<u64> = separate.groups().map(|(_, rate)| u64::from(random.chance(hit(rate)))).collect();
        let range = |cells: std::ops::Range<u64>| {
            bits[usize::try_from(cells.start).unwrap()..usize::try_from(cells.end).unwrap()].iter().sum()
        };
        let one = estimate(&grouped.counts_by_range(range, channel).unwrap(), Confidence::P95);
        let other = estimate(&separate.counts(&bits, channel).unwrap(), Confidence::P95);
        let shift = (one.value().unwrap() - other.value().unwrap()) / other.std_error().unwrap();
        // Knowing only the group of a one costs a thousandth of the information, so the answers differ by 3 % of an error.
        assert!(shift.abs() < 0.15, "{shift} of the error");
        drift += shift / 60.0;
        let (short, long) = (predicted_rse(&grouped, channel, n), predicted_rse(&separate, channel, n));
        assert_relative_eq!(short, long, max_relative = 2e-3);
    }
    // The bias is below 1 %; the mean of 60 differences strays by half a percent.
    assert!(drift.abs() < 0.035, "{drift}");
}

#[test]
fn legions_have_the_error_of_their_density() {
    // Cells lie with density m/A in the logarithm of their rate, so 1/RSE² = (m/A)·I in the middle of the range.
    for epsilon in [1.0, 4.0, 36.0] {
        let layout = CellLayout::legions(50_000, 20.0).unwrap();
        let expected = (20.0 / 50_000.0 / asymptotic_information(response(epsilon))).sqrt();
        assert_relative_eq!(predicted_rse(&layout, response(epsilon), 3e7), expected, max_relative = 2e-3);
        let short = diagnostics::rse_fixed_n_approx(&layout, response(epsilon), 3000.0);
        let exact = diagnostics::rse_fixed_n(&layout, response(epsilon), 3000.0);
        assert_relative_eq!(short, exact, max_relative = 2e-3);
    }
}

/// Sizes of the regions of three sets, by mask.
const REGIONS: [f64; 8] = [0.0, 4000.0, 3000.0, 700.0, 2500.0, 1200.0, 0.0, 900.0];

/// The patterns to expect of three sets through three channels, in so many cells that rounding does not matter.
fn expected_patterns(layout: &CellLayout, channels: &[BitChannel; 3]) -> Vec<Vec<u64>> {
    let truth = |rate: f64| {
        // Item by region: which cells are occupied, by adding one region after the other.
        let mut law = [0.0; 8];
        law[0] = 1.0;
        for (region, size) in REGIONS.into_iter().enumerate() {
            let missed = (-rate * size).exp();
            let mut next = [0.0; 8];
            for (state, probability) in law.into_iter().enumerate() {
                next[state] += probability * missed;
                next[state | region] += probability * (1.0 - missed);
            }
            law = next;
        }
        law
    };
    let noisy = |law: [f64; 8], pattern: usize| -> f64 {
        let chance = |state: usize, sketch: usize, channel: &BitChannel| {
            let one = if (state >> sketch) & 1 == 1 { channel.p() } else { channel.q() };
            if (pattern >> sketch) & 1 == 1 { one } else { 1.0 - one }
        };
        let through = |state| channels.iter().enumerate().map(|(i, c)| chance(state, i, c)).product::<f64>();
        law.into_iter().enumerate().map(|(state, probability)| probability * through(state)).sum()
    };
    let counts = |(cells, rate): (u64, f64)| {
        let law = truth(rate);
        let total = f64::from(u32::try_from(cells).unwrap());
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of the cells")]
        let mut counts: Vec<u64> = (0..8).map(|pattern| (total * noisy(law, pattern)).round() as u64).collect();
        counts[0] = cells - counts[1..].iter().sum::<u64>();
        counts
    };
    layout.groups().map(counts).collect()
}

#[test]
fn expected_patterns_give_back_every_region() {
    let groups: Vec<_> = CellLayout::pcsa(512, 10).unwrap().groups().map(|(_, rate)| (1 << 31, rate)).collect();
    let layout = CellLayout::new(&groups, 1e7).unwrap();
    let channels = [response(1.0), response(3.0), BitChannel::new(0.5, 0.2).unwrap()];
    let patterns = PatternCounts::new(&layout, &channels, expected_patterns(&layout, &channels)).unwrap();
    let answer = |belongs: &dyn Fn(usize) -> bool| {
        set_estimate(&patterns, &SetFormula::from_membership(3, belongs).unwrap(), Confidence::P95).unwrap()
    };
    for (region, size) in REGIONS.into_iter().enumerate().skip(1) {
        let found = answer(&|sets| sets == region).value().unwrap();
        assert!((found - size).abs() < 1.0, "region {region}: {found}, not {size}");
    }
    for set in 0..3 {
        let size: f64 = (1..8).filter(|region| (region >> set) & 1 == 1).map(|region| REGIONS[region]).sum();
        assert_relative_eq!(answer(&|sets| (sets >> set) & 1 == 1).value().unwrap(), size, max_relative = 1e-4);
    }
}

#[test]
fn a_multiple_of_a_union_has_that_multiple_of_its_error() {
    let mut random = Random::new(7);
    let layout = CellLayout::pcsa(1024, 16).unwrap();
    let channels = [response(2.0), response(3.0)];
    let shared = place(&mut random, 10, 16, 4000);
    let tables = [place(&mut random, 10, 16, 3000), place(&mut random, 10, 16, 2000)];
    let mut counts = vec![vec![0; 4]; 16];
    for bucket in 0..1024 {
        for (level, counts) in counts.iter_mut().enumerate() {
            let bit = |random: &mut Random, sketch: usize| {
                let set = ((shared[bucket] | tables[sketch][bucket]) >> level) & 1 == 1;
                usize::from(random.chance(if set { channels[sketch].p() } else { channels[sketch].q() }))
            };
            let pattern = bit(&mut random, 0) | (bit(&mut random, 1) << 1);
            counts[pattern] += 1;
        }
    }
    let patterns = PatternCounts::new(&layout, &channels, counts).unwrap();
    let answer = |factor| {
        let formula = SetFormula::from_unions(2, [(3, factor)]).unwrap();
        set_estimate(&patterns, &formula, Confidence::P95).unwrap()
    };
    let (one, seven) = (answer(1), answer(7));
    assert_relative_eq!(seven.value().unwrap(), 7.0 * one.value().unwrap(), max_relative = 1e-9);
    // One counts the variance of the product from its moments, the other from the patterns.
    assert_relative_eq!(seven.std_error().unwrap(), 7.0 * one.std_error().unwrap(), max_relative = 0.02);
    // The similarity is the intersection over the union.
    let both = set_estimate(&patterns, &SetFormula::from_membership(2, |sets| sets == 3).unwrap(), Confidence::P95);
    let share = both.unwrap().value().unwrap() / one.value().unwrap();
    assert_relative_eq!(jaccard(&patterns, Confidence::P95).unwrap().value().unwrap(), share, max_relative = 1e-9);
}
