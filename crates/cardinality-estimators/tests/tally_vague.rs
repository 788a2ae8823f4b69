//! Tallies drawn at random against scans of both likelihoods, and tallies that say little: few cells, few items, much noise, or
//! no items at all.
//!
//! Seeds are fixed. A test of coverage fails by chance with probability below 1e-6.

#![expect(clippy::unwrap_used, reason = "helpers of tests panic where a test would")]

use cardinality_estimators::tally::{SizeSpread, TallyClass, TallyCounts, TallyMethod, estimate_union, point_union};
use cardinality_estimators::{BitChannel, CellLayout, Confidence, LevelCounts, Status, diagnostics, estimate};

#[path = "support/random.rs"]
mod random;
use random::Random;

/// What `k` noisy sketches show of `n` items, each item in all of them or in one.
struct Draw {
    histograms: Vec<Vec<u64>>,
    counts: TallyCounts,
    sizes: Option<SizeSpread>,
}

fn draw(random: &mut Random, (bucket_bits, levels): (u32, usize), k: usize, n: u64, epsilon: f64, all: bool) -> Draw {
    let buckets = 1_usize << bucket_bits;
    let mut cells = vec![0_u64; levels * buckets];
    for i in 0..n {
        let hash = random.bits() | (1 << (levels - 1));
        let level = usize::try_from(hash.trailing_zeros()).unwrap();
        let bucket = usize::try_from(hash >> (64 - bucket_bits)).unwrap();
        cells[level * buckets + bucket] |= if all { (1 << k) - 1 } else { 1 << (i % k as u64) };
    }
    let channel = BitChannel::symmetric(1.0 / (1.0 + epsilon.exp())).unwrap();
    let mut histograms = vec![vec![0_u64; k + 1]; levels];
    let mut ones = vec![vec![0_u64; levels]; k];
    for (level, row) in cells.chunks_exact(buckets).enumerate() {
        for held in row {
            let mut tally = 0;
            for (sketch, ones) in ones.iter_mut().enumerate() {
                let one = random.chance(if (held >> sketch) & 1 == 1 { channel.p() } else { channel.q() });
                ones[level] += u64::from(one);
                tally += usize::from(one);
            }
            histograms[level][tally] += 1;
        }
    }
    let layout = CellLayout::pcsa(1 << bucket_bits, u8::try_from(levels).unwrap()).unwrap();
    let size = |ones: &Vec<u64>| {
        let size = estimate(&layout.counts(ones, channel).unwrap(), Confidence::P95);
        Some((size.value()?, size.std_error()?.powi(2)))
    };
    let sizes = ones.iter().map(size).collect::<Option<Vec<_>>>().map(|sizes| SizeSpread::new(&sizes).unwrap());
    let counts = TallyCounts::new(&layout, &[TallyClass { channel, sketches: k }], histograms.clone()).unwrap();
    Draw { histograms, counts, sizes }
}

/// The search against a look at 16 sizes an octave, each solved to a certificate of 1e-6.
#[test]
fn no_size_looked_at_is_likelier_than_the_answer() {
    let mut random = Random::new(20);
    for trial in 0..120_u32 {
        let (bucket_bits, levels) = [(6, 10), (8, 12)][usize::try_from(trial % 2).unwrap()];
        let k = [2, 4, 8][usize::try_from(trial / 2 % 3).unwrap()];
        let epsilon = [0.2, 0.5, 1.0][usize::try_from(trial / 6 % 3).unwrap()];
        let n = [0, 30, 1000][usize::try_from(trial / 18 % 3).unwrap()];
        let draw = draw(&mut random, (bucket_bits, levels), k, n, epsilon, trial % 5 == 0);
        let answer = point_union(&draw.counts, None, Confidence::P95).unwrap();
        let at = |n: f64| diagnostics::tally_free_law(&draw.counts, n, 1e-6).log_likelihood;
        let cap = draw.counts.n_cap();
        let steps = (0..).map(|step| 0.0625 * (f64::from(step) / 16.0).exp2()).take_while(|&n| n < cap);
        let found = answer.free();
        for n in std::iter::once(0.0).chain(steps).chain([cap]) {
            let above = at(n) - found.log_likelihood();
            assert!(above < 1e-4, "{trial}: {above} at {n} above {found:?} ({})", answer.estimate());
        }
    }
}

/// Of two sketches the shared law is short: with `N_1/2` items in each set alone and `N_2` in both, a cell is empty in both with
/// probability `e^(−ρ(N_1 + N_2))` and in one of them with `e^(−ρ(N_1/2 + N_2))`.
#[test]
fn no_sizes_looked_at_are_likelier_than_the_shared_law_says() {
    let mut random = Random::new(23);
    for trial in 0..24_u32 {
        let epsilon = [1.0, 2.0][usize::try_from(trial % 2).unwrap()];
        let draw = draw(&mut random, (10, 16), 2, 20_000, epsilon, trial % 3 == 0);
        let channel = BitChannel::symmetric(1.0 / (1.0 + epsilon.exp())).unwrap();
        let kernel = diagnostics::tally_kernel(channel, 2);
        let rates: Vec<f64> = CellLayout::pcsa(1024, 16).unwrap().groups().map(|(_, rate)| -(-rate).exp_m1()).collect();
        let height = |single: f64, both: f64| -> f64 {
            let level = |(histogram, rate): (&Vec<u64>, &f64)| -> f64 {
                let (neither, first) = ((-rate * (single + both)).exp(), (-rate * (0.5 * single + both)).exp());
                let held = [neither, 2.0 * (first - neither), 1.0 - 2.0 * first + neither];
                let rows = kernel.chunks_exact(3).zip(histogram);
                rows.map(|(row, &count)| number(count) * row.iter().zip(held).map(|(k, v)| k * v).sum::<f64>().ln())
                    .sum()
            };
            draw.histograms.iter().zip(&rates).map(level).sum()
        };
        let found = point_union(&draw.counts, None, Confidence::P95).unwrap().shared();
        for step in 0..=120_u32 {
            let n = 12_000.0 * (f64::from(step) * 0.01).exp();
            for part in 0..=50_u32 {
                let both = n * f64::from(part) / 50.0;
                let above = height(n - both, both) - found.log_likelihood();
                assert!(above < 1e-3, "{trial}: {above} at {n}, {both} above {found:?}");
            }
        }
    }
}

fn number(count: u64) -> f64 {
    f64::from(u32::try_from(count).unwrap())
}

#[test]
fn the_standard_error_and_the_status_do_not_depend_on_the_confidence() {
    let mut random = Random::new(21);
    for (k, epsilon, n) in [(2, 1.0, 3000), (4, 2.0, 500), (3, 1.0, 0), (2, 0.5, 100)] {
        let draw = draw(&mut random, (9, 14), k, n, epsilon, false);
        let at = |confidence: Confidence| estimate_union(&draw.counts, draw.sizes.as_ref(), confidence).unwrap();
        let usual = at(Confidence::P95).estimate();
        for level in [1e-6, 0.01, 0.3, 0.8, 0.99] {
            let other = at(Confidence::new(level).unwrap()).estimate();
            assert_eq!((other.std_error(), other.status()), (usual.std_error(), usual.status()), "{k} {n} {level}");
            assert_eq!(other.value(), usual.value());
        }
    }
}

/// Of sets without an item the interval should start at 0 in 95 % or more.
#[test]
fn empty_sets_are_covered() {
    let mut random = Random::new(22);
    let mut missed = 0;
    for (k, epsilon) in [(2, 1.0), (4, 1.0), (8, 1.0), (8, 3.0)] {
        for _ in 0..75 {
            let draw = draw(&mut random, (10, 16), k, 0, epsilon, false);
            let answer = estimate_union(&draw.counts, draw.sizes.as_ref(), Confidence::P95).unwrap().estimate();
            missed += u32::from(!answer.covers(0.0));
            assert_eq!(answer.value() == Some(0.0), answer.status() == Status::BelowNoise);
        }
    }
    // P(Bin(300, 0.05) ≥ 36) < 1e-6.
    assert!(missed < 36, "{missed} missed");
}

#[test]
fn one_sketch_has_the_likelihood_of_one_sketch() {
    let channel = BitChannel::symmetric(0.1).unwrap();
    let layout = CellLayout::pcsa(256, 6).unwrap();
    let of = |ones: [u64; 6]| {
        let histograms = ones.iter().map(|&ones| vec![256 - ones, ones]).collect();
        let counts = TallyCounts::new(&layout, &[TallyClass { channel, sketches: 1 }], histograms).unwrap();
        let level_counts = LevelCounts::pcsa(256, &ones, channel).unwrap();
        (estimate_union(&counts, None, Confidence::P95).unwrap(), level_counts)
    };
    for ones in [[180, 130, 80, 60, 40, 35], [26; 6], [256; 6]] {
        let (answer, counts) = of(ones);
        let at = answer.free().n_hat();
        let want = diagnostics::log_likelihood(&counts, at).value;
        assert!((answer.free().log_likelihood() - want).abs() < 1e-9 * want.abs());
        assert_eq!(answer.method(), TallyMethod::Shared);
    }
    let (full, counts) = of([256; 6]);
    assert_eq!(full.estimate().status(), Status::Saturated);
    assert!((full.free().n_hat() - counts.n_cap()).abs() < 1e-9 * counts.n_cap());
}

/// Two cells a level and hardly any noise, all of them at half of the largest tally: far from all that sets can do.
#[test]
fn the_most_sketches_get_an_answer() {
    let channel = BitChannel::symmetric(1.0 / (1.0 + 40.0_f64.exp())).unwrap();
    let layout = CellLayout::pcsa(2, 64).unwrap();
    for classes in [vec![256], vec![15, 15]] {
        let states: usize = classes.iter().map(|sketches| sketches + 1).product();
        let classes: Vec<_> = classes.into_iter().map(|sketches| TallyClass { channel, sketches }).collect();
        let level = (0..states).map(|x| if x == states / 2 { 2 } else { 0 }).collect();
        let counts = TallyCounts::new(&layout, &classes, vec![level; 64]).unwrap();
        let answer = estimate_union(&counts, None, Confidence::P95).unwrap().estimate();
        assert!(answer.value().is_none_or(|n| (0.0..=counts.n_cap()).contains(&n)), "{answer}");
    }
}

#[test]
fn a_single_level_has_one_rate() {
    // Of 16 cells, with 256 of each level the shares to expect of three disjoint sets of 8 items each: both laws agree on
    // e^(−24/16) for an empty cell, not on (1 − 1/16)^24 for one of them.
    let channel = BitChannel::symmetric(0.05).unwrap();
    let kernel = diagnostics::tally_kernel(channel, 3);
    let hit = -(-8.0_f64 / 16.0).exp_m1();
    let miss = 1.0 - hit;
    let held = [miss * miss * miss, 3.0 * hit * miss * miss, 3.0 * hit * hit * miss, hit * hit * hit];
    let cells = f64::from(1 << 20);
    let mut counts: Vec<u64> = kernel
        .chunks_exact(4)
        .map(|row| whole(cells * row.iter().zip(held).map(|(x, y)| x * y).sum::<f64>()))
        .collect();
    counts[0] += (1 << 20) - counts.iter().sum::<u64>();
    let layout = CellLayout::new(&[(1 << 20, 1.0 / 16.0)], 1e6).unwrap();
    let counts = TallyCounts::new(&layout, &[TallyClass { channel, sketches: 3 }], vec![counts]).unwrap();
    let answer = point_union(&counts, None, Confidence::P95).unwrap();
    assert!((answer.free().n_hat() - 24.0).abs() < 1e-3, "{answer:?}");
    assert!((answer.shared().n_hat() - 24.0).abs() < 1e-3, "{answer:?}");
    assert!(answer.misfit() > -1e-4);
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of cells")]
fn whole(x: f64) -> u64 {
    x.floor() as u64
}
