//! Tallies against closed forms and the estimator of one sketch, and with counts made to break them.

#![expect(clippy::unwrap_used, reason = "helpers of tests panic where a test would")]

use approx::assert_relative_eq;
use cardinality_estimators::tally::{
    SizeSpread, TallyClass, TallyCounts, TallyEstimate, TallyMethod, estimate_union, point_union,
};
use cardinality_estimators::{BitChannel, CellLayout, Confidence, LevelCounts, ParamError, Status, estimate};

fn class(p: f64, q: f64, sketches: usize) -> TallyClass {
    TallyClass { channel: BitChannel::new(p, q).unwrap(), sketches }
}

/// The tallies to expect of sets given as (items, which sketches hold them), rounded: the law of all patterns of true bits
/// by inclusion and exclusion, each sent through the channels.
fn expected(buckets: u32, levels: u8, sketches: &[(f64, f64, usize)], sets: &[(f64, u32)]) -> TallyCounts {
    let channels: Vec<(f64, f64)> =
        sketches.iter().flat_map(|&(p, q, number)| std::iter::repeat_n((p, q), number)).collect();
    let k = channels.len();
    let layout = CellLayout::pcsa(buckets, levels).unwrap();
    let histogram = |rate: f64| {
        let all = 1_u32 << k;
        let mut law: Vec<f64> = (0..all)
            .map(|held| {
                let items: f64 = sets.iter().filter(|(_, mask)| mask & !held & (all - 1) != 0).map(|(n, _)| n).sum();
                (-rate * items).exp()
            })
            .collect();
        for bit in (0..k).map(|i| 1_usize << i) {
            for s in (0..law.len()).filter(|s| s & bit != 0) {
                law[s] -= law[s ^ bit];
            }
        }
        for (i, &(p, q)) in channels.iter().enumerate() {
            let bit = 1_usize << i;
            for s in (0..law.len()).filter(|s| s & bit == 0) {
                let (zero, one) = (law[s], law[s | bit]);
                law[s] = (1.0 - q) * zero + (1.0 - p) * one;
                law[s | bit] = q * zero + p * one;
            }
        }
        let states: usize = sketches.iter().map(|(_, _, number)| number + 1).product();
        let mut counts = vec![0.0; states];
        for (pattern, probability) in law.iter().enumerate() {
            let (mut state, mut width, mut from) = (0, 1, 0);
            for &(_, _, number) in sketches {
                let ones = ((pattern >> from) & ((1 << number) - 1)).count_ones();
                state += width * usize::try_from(ones).unwrap();
                width *= number + 1;
                from += number;
            }
            counts[state] += f64::from(buckets) * probability;
        }
        round(&counts, u64::from(buckets))
    };
    let histograms = layout.groups().map(|(_, rate)| histogram(rate)).collect();
    let classes: Vec<TallyClass> = sketches.iter().map(|&(p, q, number)| class(p, q, number)).collect();
    TallyCounts::new(&layout, &classes, histograms).unwrap()
}

/// Whole numbers with the sum given: rounded sums of what came before.
fn round(counts: &[f64], total: u64) -> Vec<u64> {
    let (mut sum, mut before) = (0.0, 0);
    let mut whole: Vec<u64> = Vec::new();
    for count in counts {
        sum += count;
        let up_to = to_u64(sum).min(total);
        whole.push(up_to - before);
        before = up_to;
    }
    *whole.last_mut().unwrap() += total - before;
    whole
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of cells")]
fn to_u64(x: f64) -> u64 {
    x.max(0.0).round() as u64
}

fn union(counts: &TallyCounts) -> TallyEstimate {
    estimate_union(counts, None, Confidence::P95).unwrap()
}

#[test]
fn one_sketch_is_estimated_as_ever() {
    let layout = CellLayout::pcsa(1024, 8).unwrap();
    let ones = [805, 613, 419, 280, 197, 151, 127, 127];
    let histograms = ones.iter().map(|&ones| vec![1024 - ones, ones]).collect();
    let counts = TallyCounts::new(&layout, &[class(0.9, 0.1, 1)], histograms).unwrap();
    let sketch = LevelCounts::pcsa(1024, &ones, BitChannel::symmetric(0.1).unwrap()).unwrap();
    let answer = union(&counts);
    let alone = estimate(&sketch, Confidence::P95);
    assert_relative_eq!(answer.estimate().value().unwrap(), alone.value().unwrap(), max_relative = 1e-9);
    assert_relative_eq!(answer.estimate().upper().unwrap(), alone.upper().unwrap(), max_relative = 1e-9);
    assert_eq!(answer.method(), TallyMethod::Shared);
}

#[test]
fn without_noise_the_free_law_is_the_sketch_of_the_union() {
    // Which sketches hold an occupied cell says nothing about the union then.
    let counts = expected(512, 12, &[(1.0, 0.0, 3)], &[(3000.0, 1), (2000.0, 2), (5000.0, 4), (700.0, 7)]);
    let layout = CellLayout::pcsa(512, 12).unwrap();
    let ones: Vec<u64> =
        layout.groups().map(|(cells, rate)| cells - to_u64(512.0 * (-rate * 10_700.0).exp())).collect();
    let sketch = estimate(&layout.counts(&ones, BitChannel::NOISELESS).unwrap(), Confidence::P95);
    assert_relative_eq!(union(&counts).free().n_hat(), sketch.value().unwrap(), max_relative = 1e-4);
}

#[test]
fn expected_counts_give_the_union_under_both_laws() {
    for sets in [vec![(4e6, 1), (4e6, 2), (4e6, 4)], vec![(9e6, 7)], vec![(9e6, 7), (1e6, 1), (1e6, 2), (1e6, 4)]] {
        let truth: f64 = sets.iter().map(|(n, _)| n).sum();
        for sketches in
            [vec![(0.88, 0.12, 3)], vec![(0.88, 0.12, 2), (0.7, 0.2, 1)], vec![(0.5, 0.1, 1), (0.95, 0.05, 2)]]
        {
            let answer = union(&expected(1 << 16, 14, &sketches, &sets));
            assert_relative_eq!(answer.free().n_hat(), truth, max_relative = 4e-3);
            assert_relative_eq!(answer.shared().n_hat(), truth, max_relative = 2e-3);
            assert!(answer.estimate().covers(truth), "{sketches:?}");
        }
    }
}

#[test]
fn the_free_law_does_not_mind_which_sets_are_large() {
    let sets = [(9e6, 1), (9e5, 2), (1e5, 6)];
    let answer = union(&expected(1 << 16, 14, &[(0.9, 0.1, 3)], &sets));
    assert_relative_eq!(answer.free().n_hat(), 1e7, max_relative = 0.01);
    assert!(answer.shared().n_hat() < 8e6 && answer.shared_weight() < 0.01, "{answer:?}");
    assert_eq!(answer.method(), TallyMethod::Free);
}

#[test]
fn sizes_that_differ_take_the_shared_laws_weight() {
    let counts = expected(4096, 16, &[(0.75, 0.25, 3)], &[(20_000.0, 1), (20_000.0, 2), (20_000.0, 4)]);
    let sizes = |sizes: [f64; 3]| SizeSpread::new(&sizes.map(|n| (n, 1e6))).unwrap();
    let answer = |spread: &SizeSpread| estimate_union(&counts, Some(spread), Confidence::P95).unwrap();
    let even = answer(&sizes([20_000.0, 20_500.0, 19_000.0]));
    let uneven = answer(&sizes([20_000.0, 40_000.0, 1000.0]));
    assert_eq!((even.method(), uneven.method()), (TallyMethod::Shared, TallyMethod::Free));
    let width = |answer: &TallyEstimate| answer.estimate().upper().unwrap() - answer.estimate().lower().unwrap();
    assert!(width(&even) < 0.8 * width(&uneven));
    // Without sizes the shared law never answers alone.
    assert_ne!(union(&counts).method(), TallyMethod::Shared);
    let four = SizeSpread::new(&[(1.0, 1.0); 4]).unwrap();
    assert_eq!(estimate_union(&counts, Some(&four), Confidence::P95), Err(ParamError::Sketches { found: 4 }));
}

#[test]
fn more_confidence_is_a_longer_interval() {
    let counts = expected(512, 12, &[(0.8, 0.2, 4)], &[(3000.0, 15), (500.0, 1), (500.0, 2), (500.0, 4), (500.0, 8)]);
    let mut inner = union(&counts).estimate().value().map(|n| (n, n)).unwrap();
    for level in [1e-6, 0.5, 0.8, 0.95, 0.999, 1.0 - 1e-12] {
        let answer = estimate_union(&counts, None, Confidence::new(level).unwrap()).unwrap().estimate();
        let ends = (answer.lower().unwrap(), answer.upper().unwrap_or(f64::INFINITY));
        assert!(ends.0 <= inner.0 && inner.1 <= ends.1, "{level}: {ends:?} {inner:?}");
        inner = ends;
    }
}

#[test]
fn points_are_the_values_of_intervals() {
    let counts = expected(1024, 12, &[(0.8, 0.2, 4)], &[(3000.0, 15), (5000.0, 1), (500.0, 6)]);
    let (point, whole) = (point_union(&counts, None, Confidence::P95).unwrap(), union(&counts));
    assert_relative_eq!(point.estimate().value().unwrap(), whole.estimate().value().unwrap(), max_relative = 1e-9);
    assert_eq!((point.estimate().lower(), point.estimate().upper()), (None, None));
    let errors = point.estimate().std_error().unwrap() / whole.estimate().std_error().unwrap();
    assert!((0.3..1.1).contains(&errors), "{errors}");
}

#[test]
fn statuses_are_what_they_say() {
    let layout = CellLayout::pcsa(256, 6).unwrap();
    let flat =
        |histogram: [u64; 3], p, q| TallyCounts::new(&layout, &[class(p, q, 2)], vec![histogram.to_vec(); 6]).unwrap();
    let status = |counts: &TallyCounts| union(counts).estimate().status();
    assert_eq!(status(&flat([256, 0, 0], 1.0, 0.0)), Status::Empty);
    assert_eq!(status(&flat([256, 0, 0], 0.9, 0.1)), Status::BelowNoise);
    assert_eq!(status(&flat([208, 46, 2], 0.9, 0.1)), Status::BelowNoise);
    assert_eq!(status(&flat([0, 0, 256], 0.9, 0.1)), Status::Saturated);
    let full = union(&flat([0, 0, 256], 0.9, 0.1)).estimate();
    assert!(full.lower().is_some_and(|n| n > 10_000.0) && full.upper().is_none());
    let none = union(&flat([208, 46, 2], 0.9, 0.1)).estimate();
    assert!(none.covers(0.0) && none.upper().is_some_and(|n| n < 200.0), "{none}");
}

#[test]
fn hostile_counts_get_an_answer() {
    let channels = [(1.0, 0.0), (0.5 + 1e-9, 0.5), (0.73, 0.27), (1e-3, 0.0), (1.0, 1.0 - 1e-6), (0.999_999, 1e-9)];
    for (p, q) in channels {
        for sketches in [2, 3, 17] {
            let states = sketches + 1;
            let one =
                |at: usize, cells: u64| (0..states).map(|x| if x == at { cells } else { 0 }).collect::<Vec<u64>>();
            let shapes: Vec<Vec<Vec<u64>>> = vec![
                vec![one(0, 64); 5],
                vec![one(sketches, 64); 5],
                vec![one(1, 64); 5],
                vec![one(0, 64), one(sketches, 64), one(0, 64), one(sketches, 64), one(0, 64)],
                (0..5).map(|level| one(level % states, 64)).collect(),
                vec![round(&vec![64.0 / f64::from(u32::try_from(states).unwrap()); states], 64); 5],
            ];
            for shape in shapes {
                let layout = CellLayout::pcsa(64, 5).unwrap();
                let counts = TallyCounts::new(&layout, &[class(p, q, sketches)], shape).unwrap();
                let answer = union(&counts).estimate();
                assert!(answer.value().is_none_or(|n| (0.0..=counts.n_cap()).contains(&n)), "{p} {q} {answer}");
                assert_eq!(answer.value().is_some(), answer.status().has_value());
            }
        }
    }
}

#[test]
fn one_cell_and_many_sketches_get_an_answer() {
    let layout = CellLayout::new(&[(1, 0.5), (3, 1e-30), (2, 100.0)], 1e30).unwrap();
    let sparse = |cells: u64| [vec![0; 7], vec![cells], vec![0; 192]].concat();
    let counts = TallyCounts::new(&layout, &[class(0.8, 0.2, 199)], [1, 3, 2].map(sparse).to_vec()).unwrap();
    assert!(union(&counts).estimate().value().is_none_or(f64::is_finite));
}

#[test]
fn a_hundred_sketches_are_estimated() {
    // Of 100 disjoint sets of 100 items each: cells are held by Poisson numbers of sketches, as items hardly ever meet.
    let k = 100;
    let layout = CellLayout::pcsa(1024, 14).unwrap();
    let kernel = cardinality_estimators::diagnostics::tally_kernel(BitChannel::new(0.9, 0.1).unwrap(), k);
    let histogram = |rate: f64| {
        let hit = -(-rate * 100.0_f64).exp_m1();
        let mut held = vec![0.0; k + 1];
        held[0] = 1.0;
        for sketch in 1..=k {
            for m in (0..=sketch).rev() {
                held[m] = held[m] * (1.0 - hit) + if m > 0 { held[m - 1] * hit } else { 0.0 };
            }
        }
        let counts: Vec<f64> = kernel
            .chunks_exact(k + 1)
            .map(|row| 1024.0 * row.iter().zip(&held).map(|(x, y)| x * y).sum::<f64>())
            .collect();
        round(&counts, 1024)
    };
    let histograms = layout.groups().map(|(_, rate)| histogram(rate)).collect();
    let counts = TallyCounts::new(&layout, &[class(0.9, 0.1, k)], histograms).unwrap();
    let answer = union(&counts);
    assert!(answer.estimate().covers(10_000.0), "{}", answer.estimate());
    assert_relative_eq!(answer.shared().n_hat(), 10_000.0, max_relative = 0.02);
}

#[test]
fn what_does_not_fit_is_refused() {
    let layout = CellLayout::pcsa(64, 2).unwrap();
    let new = |classes: &[TallyClass], counts: Vec<Vec<u64>>| TallyCounts::new(&layout, classes, counts);
    let two = [class(0.9, 0.1, 2)];
    assert_eq!(new(&[], vec![]), Err(ParamError::Classes { found: 0 }));
    assert_eq!(new(&[class(0.9, 0.1, 0)], vec![]), Err(ParamError::Classes { found: 1 }));
    assert_eq!(new(&[two[0]; 3], vec![]), Err(ParamError::Classes { found: 3 }));
    assert_eq!(new(&[class(0.9, 0.1, 256)], vec![]), Err(ParamError::Counts { expected: 2, found: 0 }));
    assert_eq!(new(&[class(0.9, 0.1, 257)], vec![]), Err(ParamError::States { found: 258 }));
    assert_eq!(new(&[class(0.9, 0.1, 15), class(0.8, 0.1, 16)], vec![]), Err(ParamError::States { found: 272 }));
    assert_eq!(new(&[class(0.9, 0.1, usize::MAX)], vec![]), Err(ParamError::States { found: usize::MAX }));
    assert_eq!(new(&two, vec![vec![64, 0, 0]]), Err(ParamError::Counts { expected: 2, found: 1 }));
    assert_eq!(new(&two, vec![vec![64, 0]; 2]), Err(ParamError::Counts { expected: 3, found: 2 }));
    assert_eq!(new(&two, vec![vec![64, 0, 1]; 2]), Err(ParamError::Patterns { expected: 64, found: 65 }));
    let overflow = vec![vec![u64::MAX, 65, 0]; 2];
    assert_eq!(new(&two, overflow), Err(ParamError::Patterns { expected: 64, found: u64::MAX }));
    assert!(matches!(SizeSpread::new(&[(1.0, 1.0)]), Err(ParamError::Sketches { found: 1 })));
    assert!(matches!(SizeSpread::new(&[(1.0, 1.0), (f64::NAN, 1.0)]), Err(ParamError::Moments { .. })));
}

#[test]
fn sizes_without_noise_or_items_have_a_spread() {
    let spread = |sizes: &[(f64, f64)]| SizeSpread::new(sizes).unwrap();
    let (none, same) = (spread(&[(0.0, 0.0); 3]), spread(&[(5.0, 0.0); 3]));
    assert!(none.size_cv2().abs() < 1e-300 && none.size_z().abs() < 1e-300 && same.size_z().abs() < 1e-300);
    assert!(spread(&[(5.0, 0.0), (6.0, 0.0)]).size_z().is_infinite());
}
