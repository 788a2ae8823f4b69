//! Parity sketches: laws against enumeration, maxima and intervals against slow searches.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "sizes of tests are far below 2^53 and not negative"
)]

#[path = "support/parity.rs"]
mod parity;
#[path = "support/random.rs"]
mod random;

use approx::assert_relative_eq;
use cardinality_estimators::parity::{
    IntervalIntersection, ItemWeights, JointFit, JointParityCounts, ParityCounts, ParityErrors, ParityLayout,
    ParityModel, Radius, SetCombination, expected_ones, expected_ones_of_weights, parity_estimate,
};
use cardinality_estimators::{Confidence, Status, diagnostics};
use parity::{Setting, below, pair};
use random::Random;

const MODELS: [ParityModel; 2] = [ParityModel::Set, ParityModel::Presampled];

/// Calls `visit` with every placement of `items` into the cells `0 .. cells`, where cell `cells` stands for the other tables,
/// and its probability.
fn for_placements(items: usize, cells: usize, share: f64, mut visit: impl FnMut(&[usize], f64)) {
    let choices = cells + 1;
    for code in 0..choices.pow(u32::try_from(items).unwrap()) {
        let cell_of = |item: usize| code / choices.pow(u32::try_from(item).unwrap()) % choices;
        let placed: Vec<usize> = (0..items).map(cell_of).collect();
        let chance = |&cell: &usize| if cell == cells { 1.0 - share } else { share / cells as f64 };
        visit(&placed, placed.iter().map(chance).product());
    }
}

/// The probability that an odd number of so many fair coins falls, or that the number itself is odd.
fn odd(model: ParityModel, items: usize) -> f64 {
    match model {
        ParityModel::Set => (items % 2) as f64,
        ParityModel::Presampled => {
            if items > 0 {
                0.5
            } else {
                0.0
            }
        }
    }
}

#[test]
fn expected_ones_are_those_of_all_placements() {
    let layout = ParityLayout::new(&[(0.6, 3), (0.4, 5)]).unwrap();
    let contrast = 0.7;
    for model in MODELS {
        for items in 0..5 {
            let mut ones = 0.0;
            for_placements(items, 3, 0.6, |placed, chance| {
                for cell in 0..3 {
                    let one = odd(model, placed.iter().filter(|&&place| place == cell).count());
                    ones += chance * (0.15 + contrast * one);
                }
            });
            let got = expected_ones(&layout, model, ItemWeights::Unit, contrast, items as f64).unwrap();
            assert_relative_eq!(got[0], ones, max_relative = 1e-12);
        }
    }
}

#[test]
fn weighted_ones_are_those_of_all_subsets_kept() {
    let layout = ParityLayout::new(&[(0.6, 3), (0.4, 5)]).unwrap();
    let weights = [1.0, 0.25, 0.6];
    for model in MODELS {
        let mut ones = 0.0;
        for kept in 0..8_usize {
            let is_kept = |item: usize| (kept >> item) & 1 == 1;
            let chance: f64 = (0..3).map(|i| if is_kept(i) { weights[i] } else { 1.0 - weights[i] }).product();
            let n = f64::from(kept.count_ones());
            ones += chance * expected_ones(&layout, model, ItemWeights::Unit, 0.7, n).unwrap()[1];
        }
        let got = expected_ones_of_weights(&layout, model, 0.7, &weights).unwrap();
        assert_relative_eq!(got[1], ones, max_relative = 1e-12);
    }
}

#[test]
fn pairs_of_bits_have_the_law_of_all_placements() {
    let layout = ParityLayout::new(&[(0.6, 3), (0.4, 5)]).unwrap();
    let contrasts = [0.8, 0.3];
    let pairs = [[3, 0, 0, 0], [5, 0, 0, 0]];
    for model in MODELS {
        let counts = JointParityCounts::new(&layout, model, ItemWeights::Unit, &pairs, contrasts).unwrap();
        for (only_a, only_b, both) in [(0, 0, 0), (1, 0, 0), (0, 0, 2), (2, 1, 1), (1, 2, 2)] {
            let mut law = [0.0; 4];
            for_placements(only_a + only_b + both, 3, 0.6, |placed, chance| {
                let here = |range: core::ops::Range<usize>| placed[range].iter().filter(|&&cell| cell == 0).count();
                let (own_a, own_b, shared) =
                    (here(0..only_a), here(only_a..only_a + only_b), here(only_a + only_b..placed.len()));
                let (first, second) = (odd(model, own_a + shared), odd(model, own_b + shared));
                for (index, probability) in law.iter_mut().enumerate() {
                    // Given the numbers the two bits are independent: parities are fixed, coins are separate.
                    let bit = |one: f64, contrast: f64, wanted: bool| {
                        let p = (1.0 - contrast) / 2.0 + contrast * one;
                        if wanted { p } else { 1.0 - p }
                    };
                    let (s, t) = (bit(first, 0.8, index >= 2), bit(second, 0.3, index % 2 == 1));
                    *probability += chance * s * t;
                }
            });
            let regions = [only_a as f64, only_b as f64, both as f64];
            let got = diagnostics::joint_parity_law(&counts, regions)[0];
            for (got, want) in got.into_iter().zip(law) {
                assert_relative_eq!(got, want, max_relative = 1e-12);
            }
        }
    }
}

/// Counts that no honest sketch would give.
fn hostile(random: &mut Random) -> ParityCounts {
    let model = MODELS[usize::from(random.chance(0.5))];
    let levels = 1 + u8::try_from(below(random, 24)).unwrap();
    let cells = 4 << below(random, 9);
    let layout = ParityLayout::regular(levels, u32::try_from(cells).unwrap()).unwrap();
    let contrast = match below(random, 4) {
        0 => 1.0,
        1 => random.unit().powi(6),
        _ => random.unit(),
    };
    let style = below(random, 3);
    let sizes = [(random.unit() * 25.0).exp2(), (random.unit() * 25.0).exp2()];
    let laws = sizes.map(|n| expected_ones(&layout, model, ItemWeights::Unit, contrast, n).unwrap());
    let ones: Vec<u64> = (0..usize::from(levels))
        .map(|level| match style {
            0 => below(random, cells + 1),
            1 => {
                let law = &laws[usize::from(random.chance(0.5))];
                parity::binomial(random, cells, law[level] / cells as f64)
            }
            _ => parity::binomial(random, cells, laws[0][level] / cells as f64),
        })
        .collect();
    ParityCounts::new(&layout, model, ItemWeights::Unit, &ones, contrast).unwrap()
}

#[test]
fn the_fast_search_finds_the_global_maximum() {
    let mut random = Random::new(1);
    for _ in 0..4000 {
        let counts = hostile(&mut random);
        let levels = counts.level_counts();
        let (fast, slow) = (diagnostics::mle(levels), diagnostics::mle_on_grid(levels));
        assert_eq!(fast.status, slow.status, "{counts:?}");
        assert_relative_eq!(fast.n_hat, slow.n_hat, max_relative = 1e-8);
    }
}

#[test]
fn no_point_of_a_fine_grid_is_higher_than_the_maximum() {
    let mut random = Random::new(2);
    for _ in 0..200 {
        let counts = hostile(&mut random);
        let levels = counts.level_counts();
        let top = diagnostics::log_likelihood(levels, diagnostics::mle(levels).n_hat).value;
        for i in 0..1600 {
            let n = 1e-3 * (f64::from(i) / 32.0).exp2();
            if n <= levels.n_cap() {
                let here = diagnostics::log_likelihood(levels, n).value;
                assert!(here <= top + 1e-12 * top.abs(), "{here} at {n} above {top}: {counts:?}");
            }
        }
    }
}

/// Every count inside the interval, found by looking at each of a fine grid, lies in the interval reported; just outside, none.
#[test]
fn intervals_are_hulls_of_the_counts_that_fit() {
    let mut random = Random::new(3);
    for _ in 0..150 {
        let counts = hostile(&mut random);
        let answer = parity_estimate(&counts, Confidence::P95);
        let (levels, z) = (counts.level_counts(), Confidence::P95.z());
        let peak = diagnostics::mle(levels).n_hat;
        let information = errors_of(&counts).information(peak);
        if answer.status() == Status::NotConverged || !information.is_finite() || counts.contrast() >= 1.0 {
            continue;
        }
        let share_left = (1.0 - peak * information).clamp(0.0, 1.0);
        let top = diagnostics::log_likelihood(levels, peak).value;
        for i in 0..1600 {
            let n = 1e-3 * (f64::from(i) / 32.0).exp2();
            let ratio = 2.0 * (top - diagnostics::log_likelihood(levels, n).value);
            if n <= levels.n_cap() && ratio <= 0.999 * z * z * share_left - 1e-9 {
                assert!(answer.covers(n), "{n} fits, {answer}: {counts:?}");
            }
        }
        for end in [answer.lower().filter(|&lower| lower > 0.0), answer.upper()].into_iter().flatten() {
            let ratio = 2.0 * (top - diagnostics::log_likelihood(levels, end).value);
            assert_relative_eq!(ratio, z * z * share_left, max_relative = 1e-3, epsilon = 1e-8);
        }
    }
}

fn errors_of(counts: &ParityCounts) -> ParityErrors {
    let tables = counts.tables();
    let rho = |rate: f64| -(-rate).exp_m1() / counts.model().items_per_hit();
    let shares: Vec<_> = tables.iter().map(|table| (rho(table.rate()) * table.cells() as f64, table.cells())).collect();
    ParityErrors::new(&ParityLayout::new(&shares).unwrap(), counts.model(), counts.contrast()).unwrap()
}

#[test]
fn interval_intersections_hold_what_all_tables_allow() {
    let mut random = Random::new(4);
    for round in 0..300 {
        let counts = hostile(&mut random);
        let radius = if round % 2 == 0 {
            Radius::FailureProbability(random.unit().max(1e-9))
        } else {
            Radius::Cells(random.unit() * 9.0)
        };
        let intersection = IntervalIntersection::new(&counts, radius).unwrap();
        let t = intersection.tables()[0].radius;
        let worst = |n: f64| {
            let gap = |table: &cardinality_estimators::CellGroup| {
                let bias = counts.contrast() * (-table.rate() * n).exp();
                (table.ones() as f64 - table.cells() as f64 * (1.0 - bias) / 2.0).abs()
            };
            counts.tables().iter().map(gap).fold(0.0, f64::max)
        };
        let best = worst(intersection.minimax());
        for i in 0..800 {
            let n = if i == 0 { 0.0 } else { 1e-3 * (f64::from(i) / 16.0).exp2() };
            let slack = 1e-9 * (1.0 + t);
            let inside = intersection.common().is_some_and(|(low, high)| low <= n && n <= high);
            assert!(!inside || worst(n) <= t + slack, "{n} of {counts:?}");
            assert!(inside || worst(n) >= t - slack, "{n} of {counts:?}");
            assert!(n > counts.level_counts().n_cap() || worst(n) >= best - slack, "{n} is better: {counts:?}");
        }
    }
}

/// Estimator (b) has a value wherever estimator (a) has one, also for sketches that say nothing.
#[test]
fn maximum_likelihood_answers_wherever_the_intersection_does() {
    let mut random = Random::new(5);
    let mut answered = 0;
    for round in 0..6000 {
        let contrast = 0.5_f64.powi(1 + round % 14);
        let setting =
            Setting::regular(8 + round % 17, 128 << (round % 4), MODELS[usize::from(round % 2 == 0)], contrast);
        let n = (random.unit() * 20.0).exp2();
        let counts = setting.counts(&mut random, n as u64, ItemWeights::Unit);
        for radius in [Radius::FailureProbability(0.05), Radius::FailureProbability(0.9), Radius::of_paper(24)] {
            if IntervalIntersection::new(&counts, radius).unwrap().estimate().value().is_some() {
                answered += 1;
                let answer = parity_estimate(&counts, Confidence::P95);
                assert!(answer.value().is_some(), "{answer}: {counts:?}");
            }
        }
    }
    assert!(answered > 3000, "{answered}");
}

/// Counts as they are expected, of so many cells that rounding them to whole numbers does not matter.
fn expected_pairs(model: ParityModel, contrasts: [f64; 2], regions: [f64; 3], cells: u64) -> JointParityCounts {
    let layout = ParityLayout::new(&[(0.5, cells), (0.25, cells), (0.25, cells)]).unwrap();
    let empty = [[cells, 0, 0, 0]; 3];
    let law = JointParityCounts::new(&layout, model, ItemWeights::Unit, &empty, contrasts).unwrap();
    let round = |law: [f64; 4]| {
        let mut counts = law.map(|p| (p * cells as f64).round() as u64);
        counts[0] = cells - counts[1..].iter().sum::<u64>();
        counts
    };
    let pairs: Vec<_> = diagnostics::joint_parity_law(&law, regions).into_iter().map(round).collect();
    JointParityCounts::new(&layout, model, ItemWeights::Unit, &pairs, contrasts).unwrap()
}

#[test]
fn joint_information_is_the_curvature_of_the_expected_likelihood() {
    let cells = 1_u64 << 24;
    let regions = [4e6, 7e6, 5e6];
    for model in MODELS {
        let counts = expected_pairs(model, [0.8, 0.5], regions, cells);
        let information = diagnostics::joint_parity_information(&counts, regions);
        let h = 2e4;
        let at = |i: usize, x: f64, j: usize, y: f64| {
            let mut moved = regions;
            moved[i] += x;
            moved[j] += y;
            diagnostics::joint_parity_log_likelihood(&counts, moved)
        };
        for (i, row) in information.iter().enumerate() {
            for (j, &entry) in row.iter().enumerate() {
                let curvature = (at(i, h, j, h) - at(i, h, j, -h) - at(i, -h, j, h) + at(i, -h, j, -h)) / (4.0 * h * h);
                assert_relative_eq!(entry, -curvature, max_relative = 2e-3);
            }
        }
    }
}

#[test]
fn expected_pairs_are_fitted_by_the_sizes_behind_them() {
    for model in MODELS {
        for regions in [[4e6, 7e6, 5e6], [3e6, 0.0, 2e6], [0.0, 0.0, 4e6], [3e6, 5e6, 0.0]] {
            let fit = JointFit::new(expected_pairs(model, [0.8, 0.5], regions, 1 << 24)).unwrap();
            for (got, want) in fit.regions().unwrap().into_iter().zip(regions) {
                assert!((got - want).abs() < 20.0, "{got} {want} of {regions:?}");
            }
        }
    }
}

#[test]
fn no_sizes_nearby_or_far_fit_better_than_the_joint_maximum() {
    let mut random = Random::new(6);
    for round in 0..60 {
        let setting = Setting::regular(10, 256, MODELS[round % 2], 0.3 + 0.6 * random.unit());
        let regions = [below(&mut random, 3000), below(&mut random, 3000), below(&mut random, 1500)];
        let counts = pair(&mut random, &setting, 0.8, regions);
        let fit = JointFit::new(counts.clone()).unwrap();
        let best = fit.regions().unwrap();
        let top = diagnostics::joint_parity_log_likelihood(&counts, best);
        for step in 0..600 {
            let reach = 0.5_f64.powi(step % 12);
            let other = best.map(|n| (n + 200.0) * (1.0 + reach * (random.unit() - 0.5)) - 200.0).map(|n| n.max(0.0));
            let here = diagnostics::joint_parity_log_likelihood(&counts, other);
            assert!(here <= top + 1e-6, "{other:?} above {best:?} by {}", here - top);
        }
    }
}

/// The highest likelihood with an intersection of `both`, on a grid of the other two sizes that is refined five times.
fn profile(counts: &JointParityCounts, both: f64, start: [f64; 3]) -> f64 {
    let mut centre = [start[0], start[1]];
    let mut reach = [start[0] + 300.0, start[1] + 300.0];
    let mut top = f64::NEG_INFINITY;
    for _ in 0..6 {
        let around = centre;
        for i in -10..=10 {
            for j in -10..=10 {
                let at = [around[0] + reach[0] * f64::from(i) / 10.0, around[1] + reach[1] * f64::from(j) / 10.0];
                let at = at.map(|n| n.max(0.0));
                let here = diagnostics::joint_parity_log_likelihood(counts, [at[0], at[1], both]);
                if here > top {
                    (top, centre) = (here, at);
                }
            }
        }
        reach = reach.map(|r| r / 4.0);
    }
    top
}

#[test]
fn intervals_of_intersections_end_where_the_profile_likelihood_does() {
    let mut random = Random::new(7);
    for (regions, model) in [([900, 700, 800], MODELS[0]), ([900, 700, 20], MODELS[0]), ([500, 900, 400], MODELS[1])] {
        let counts = pair(&mut random, &Setting::regular(8, 256, model, 0.8), 0.6, regions);
        let fit = JointFit::new(counts.clone()).unwrap();
        let best = fit.regions().unwrap();
        let answer = fit.estimate(SetCombination::Intersection, Confidence::P95);
        let top = diagnostics::joint_parity_log_likelihood(&counts, best);
        let variance = fit.covariance().unwrap()[2][2];
        let share_left = variance / (variance + best[2]);
        let ends = [answer.lower().filter(|&lower| lower > 0.0), answer.upper()];
        assert!(ends[1].is_some());
        for end in ends.into_iter().flatten() {
            let ratio = 2.0 * (top - profile(&counts, end, best));
            assert_relative_eq!(ratio, Confidence::P95.z().powi(2) * share_left, max_relative = 0.01);
        }
        if answer.lower() == Some(0.0) {
            let ratio = 2.0 * (top - profile(&counts, 0.0, best));
            assert!(ratio <= Confidence::P95.z().powi(2) * share_left * 1.01);
        }
    }
}
