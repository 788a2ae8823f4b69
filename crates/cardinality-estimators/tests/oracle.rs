//! The fast paths against slow ones, and derivatives against differences.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use approx::assert_relative_eq;
use cardinality_estimators::{
    BitChannel, CellGroup, CellLayout, Confidence, LevelCounts, ProductMoments, ProductStatistic, Status, diagnostics,
    estimate, predicted_rse,
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
