//! The solver against its certificate, a slow solver, and counts made to break it.

use super::{BlockLaw, LawFit, kernel, product_kernel};
use crate::BitChannel;

fn spread(index: usize) -> f64 {
    (f64::from(u32::try_from(index).unwrap()) * 0.618_033_988_749_895).fract()
}

fn binomial(p: f64, q: f64, sketches: usize) -> (BlockLaw, Vec<f64>) {
    let width = sketches + 1;
    let all = kernel(BitChannel::new(p, q).unwrap(), sketches);
    let fixed = all.iter().step_by(width).copied().collect();
    let free = all.chunks_exact(width).flat_map(|row| row[1..].to_vec()).collect();
    (BlockLaw::new(width, free, vec![sketches]).unwrap(), fixed)
}

fn times(column: &[f64], factor: f64) -> Vec<f64> {
    column.iter().map(|x| x * factor).collect()
}

/// The certificate worked out again from the answer's weights alone, without the solver's numbers.
fn certificate(law: &BlockLaw, counts: &[f64], fixed: &[f64], fit: &LawFit) -> f64 {
    let mut slopes = vec![0.0; law.columns()];
    for state in (0..law.states()).filter(|&state| counts[state] > 0.0) {
        let row = law.row(state);
        let f = fixed[state] + row.iter().zip(&fit.weights).map(|(k, v)| k * v).sum::<f64>();
        slopes.iter_mut().zip(row).for_each(|(slope, k)| *slope += counts[state] * k / f);
    }
    law.block_ranges()
        .map(|block| {
            let top = slopes[block.clone()].iter().copied().fold(0.0, f64::max);
            block.map(|m| fit.weights[m] * (top - slopes[m])).sum::<f64>()
        })
        .sum()
}

/// Expectation and maximisation: slow, and obviously right.
fn slow(law: &BlockLaw, counts: &[f64], fixed: &[f64], masses: &[f64], steps: usize) -> f64 {
    let mut weights: Vec<f64> = law
        .block_ranges()
        .zip(masses)
        .flat_map(|(block, &mass)| vec![mass / f64::from(u32::try_from(block.len()).unwrap()); block.len()])
        .collect();
    let mut height = 0.0;
    for _ in 0..steps {
        let mut shares = vec![0.0; law.columns()];
        height = 0.0;
        for state in 0..law.states() {
            let row = law.row(state);
            let f = fixed[state] + row.iter().zip(&weights).map(|(k, v)| k * v).sum::<f64>();
            if counts[state] > 0.0 {
                height += counts[state] * f.ln();
                shares.iter_mut().zip(row.iter().zip(&weights)).for_each(|(s, (k, v))| *s += counts[state] * k * v / f);
            }
        }
        for (block, &mass) in law.block_ranges().zip(masses) {
            let sum: f64 = shares[block.clone()].iter().sum();
            block.for_each(|m| weights[m] = if sum > 0.0 { shares[m] * mass / sum } else { weights[m] });
        }
    }
    height
}

fn check(law: &BlockLaw, counts: &[f64], fixed: &[f64], masses: &[f64], fit: &LawFit, tolerance: f64) {
    assert!(fit.log_likelihood.is_finite() && fit.gap <= tolerance, "gap {} after {} steps", fit.gap, fit.steps);
    assert!(fit.weights.iter().all(|v| *v >= 0.0));
    for (block, mass) in law.block_ranges().zip(masses) {
        assert!((fit.weights[block].iter().sum::<f64>() - mass).abs() < 1e-12);
    }
    let found = certificate(law, counts, fixed, fit);
    assert!((found - fit.gap).abs() < 1e-9 + 1e-6 * fit.gap, "{found} {}", fit.gap);
    assert!(slow(law, counts, fixed, masses, 300) <= fit.log_likelihood + fit.gap + 1e-9);
}

#[test]
fn the_certificate_of_binomial_laws_closes() {
    for (p, q) in [(0.73, 0.27), (0.98, 0.02), (0.5, 0.2), (0.9, 0.33), (0.53, 0.47), (1.0, 0.0), (1.0, 0.3)] {
        for sketches in [1, 2, 3, 8, 32] {
            let (law, empty) = binomial(p, q, sketches);
            for (seed, mass) in [(1, 0.999), (2, 0.5), (3, 0.05), (4, 1e-7), (5, 1.0)] {
                // What a random law of the states would show, rounded, with states that are never seen.
                let counts: Vec<f64> = (0..=sketches)
                    .map(|x| {
                        let truth: f64 = law.row(x).iter().enumerate().map(|(m, k)| k * spread(seed * 77 + m)).sum();
                        (4096.0 * (truth * mass + (1.0 - mass) * empty[x])
                            / (0.5 * f64::from(u32::try_from(sketches).unwrap())))
                        .round()
                    })
                    .collect();
                let fixed = times(&empty, 1.0 - mass);
                let fit = law.fit(&counts, &fixed, &[mass], 1e-9, None);
                if fit.log_likelihood.is_finite() {
                    check(&law, &counts, &fixed, &[mass], &fit, 1e-9);
                    assert!(fit.steps <= 30, "{} steps for k = {sketches}, p = {p}, q = {q}", fit.steps);
                }
            }
        }
    }
}

#[test]
fn a_slow_solver_finds_no_more() {
    let (law, empty) = binomial(0.8, 0.2, 3);
    let counts = [500.0, 700.0, 400.0, 250.0];
    let fixed = times(&empty, 0.4);
    let fit = law.fit(&counts, &fixed, &[0.6], 1e-10, None);
    let slow = slow(&law, &counts, &fixed, &[0.6], 200_000);
    assert!((fit.log_likelihood - slow).abs() < 1e-6, "{} {slow}", fit.log_likelihood);
}

#[test]
fn nothing_on_a_fine_grid_is_higher() {
    let (law, empty) = binomial(0.75, 0.25, 2);
    for counts in [[10.0, 5.0, 30.0], [30.0, 1.0, 30.0], [0.0, 0.0, 7.0], [5.0, 0.0, 0.0]] {
        let fixed = times(&empty, 0.3);
        let fit = law.fit(&counts, &fixed, &[0.7], 1e-9, None);
        let height = |v: f64| -> f64 {
            let f = |x: usize| fixed[x] + law.row(x)[0] * v + law.row(x)[1] * (0.7 - v);
            (0..3).filter(|&x| counts[x] > 0.0).map(|x| counts[x] * f(x).ln()).sum()
        };
        let best = (0..=70_000).map(|i| height(f64::from(i) * 1e-5)).fold(f64::NEG_INFINITY, f64::max);
        assert!((fit.log_likelihood - best).abs() < 1e-7, "{counts:?}");
    }
}

#[test]
fn several_blocks_keep_their_masses() {
    let channel = |p, q| BitChannel::new(p, q).unwrap();
    // Two groups of three and two sketches: blocks none, first only, second only, both.
    let all = product_kernel(&[(channel(0.8, 0.2), 3), (channel(0.9, 0.3), 2)]);
    let order: Vec<usize> = [vec![0], vec![1, 2, 3], vec![4, 8], vec![5, 6, 7, 9, 10, 11]].concat();
    let kernel: Vec<f64> =
        all.chunks_exact(12).flat_map(|row| order.iter().map(|&m| row[m]).collect::<Vec<_>>()).collect();
    let law = BlockLaw::new(12, kernel, vec![1, 3, 2, 6]).unwrap();
    let counts: Vec<f64> = (0..12).map(|x| (300.0 * spread(x)).round()).collect();
    let fixed = vec![0.0; 12];
    for masses in [[0.4, 0.3, 0.2, 0.1], [0.97, 0.01, 0.01, 0.01], [0.2, 0.0, 0.5, 0.3], [0.0, 0.0, 0.0, 1.0]] {
        let fit = law.fit(&counts, &fixed, &masses, 1e-9, None);
        check(&law, &counts, &fixed, &masses, &fit, 1e-9);
        let curvature = law.curvature(&counts, &fixed, &masses, &fit);
        for block in (0..4).filter(|&block| masses[block] > 0.0) {
            let moved = |step: f64| {
                let mut masses = masses;
                masses[block] += step;
                law.fit(&counts, &fixed, &masses, 1e-10, Some(&fit))
            };
            let step = 1e-5 * masses[block];
            let (up, down) = (moved(step), moved(-step));
            let slope = (up.log_likelihood - down.log_likelihood) / (2.0 * step);
            assert!(
                (slope - fit.multipliers[block]).abs() < 1e-4 * (1.0 + slope.abs()),
                "{slope} {:?}",
                fit.multipliers
            );
            for other in (0..4).filter(|&other| masses[other] > 0.0) {
                let bend = (down.multipliers[other] - up.multipliers[other]) / (2.0 * step);
                let want = curvature[block * 4 + other];
                assert!((bend - want).abs() < 0.02 * (want.abs() + 100.0), "{bend} {want}");
            }
        }
    }
}

#[test]
fn a_start_near_by_ends_at_the_same_height() {
    let (law, empty) = binomial(0.73, 0.27, 16);
    let counts: Vec<f64> = (0..17).map(|x| (500.0 * spread(x + 3)).round()).collect();
    let mut near = law.fit(&counts, &times(&empty, 0.5), &[0.5], 1e-6, None);
    for mass in [0.51, 0.4, 0.9, 0.001] {
        let fixed = times(&empty, 1.0 - mass);
        let cold = law.fit(&counts, &fixed, &[mass], 1e-9, None);
        let warm = law.fit(&counts, &fixed, &[mass], 1e-9, Some(&near));
        check(&law, &counts, &fixed, &[mass], &warm, 1e-9);
        assert!((cold.log_likelihood - warm.log_likelihood).abs() < 2e-9);
        near = warm;
    }
}

#[test]
fn hostile_counts_end() {
    for (p, q) in [(0.5 + 1e-9, 0.5), (0.73, 0.27), (1.0, 0.0), (1e-12, 0.0), (1.0, 1.0 - 1e-9)] {
        for sketches in [1, 2, 5, 64] {
            let (law, empty) = binomial(p, q, sketches);
            let one =
                |at: usize, many: f64| (0..=sketches).map(|x| if x == at { many } else { 0.0 }).collect::<Vec<f64>>();
            for counts in [
                one(0, 0.0),
                one(0, 4096.0),
                one(sketches, 4096.0),
                one(sketches / 2, 1.0),
                one(1, 1e18),
                vec![1e9; sketches + 1],
            ] {
                for mass in [0.0, 1e-300, 1e-18, 0.5, 1.0 - 1e-16, 1.0] {
                    let fit = law.fit(&counts, &times(&empty, 1.0 - mass), &[mass], 1e-3, None);
                    assert!(!fit.log_likelihood.is_nan() && fit.steps <= 80, "{counts:?} {mass}");
                    assert!(fit.weights.iter().all(|v| (0.0..=1.0 + 1e-9).contains(v)), "{:?}", fit.weights);
                    assert!(!fit.gap.is_nan() && fit.gap >= 0.0);
                }
            }
        }
    }
}

#[test]
fn shapes_that_do_not_fit_are_refused() {
    assert_eq!(BlockLaw::new(2, vec![1.0; 4], vec![1, 2]), None);
    assert_eq!(BlockLaw::new(0, vec![], vec![1]), None);
    assert_eq!(BlockLaw::new(2, vec![1.0; 4], vec![2, 0]), None);
    assert_eq!(BlockLaw::new(1, vec![f64::NAN], vec![1]), None);
}
