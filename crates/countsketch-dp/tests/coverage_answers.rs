//! Intervals of norms, inner products, Count-Mean and prefixes against the truth, one answer a sketch, so that answers are
//! independent. Fixed seeds; false-alarm rate 1e-6 a check.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic, too")]

mod answers;

use answers::{float, hash, key, permit, private, shape, unit_sketch, zipf};
use countsketch_dp::cardinality_estimators::{Confidence, Estimate};
use countsketch_dp::dp_noise::hazmat::InsecureTestRng;
use countsketch_dp::{
    ContributionBound, PrefixLayout, PrefixSearch, PrefixStack, PrivatePrefixStack, QueryOptions, TotalWeight,
    UnsignedSketch,
};
use sketch_testkit::binomial_at_most;

const P95: Confidence = Confidence::P95;

/// Fails if more answers miss than happens once in a million times when each misses with probability 5 % at most.
fn assert_covered(answers: impl Iterator<Item = (Estimate, f64)>, name: &str) {
    let (mut trials, mut missed) = (0, 0);
    for (answer, truth) in answers {
        trials += 1;
        missed += u64::from(!answer.covers(truth));
    }
    let allowed = (0..=trials).find(|&n| binomial_at_most(n, trials, 0.05) > 1.0 - 1e-6).unwrap();
    assert!(missed <= allowed, "{name}: {missed} of {trials} miss, allowed {allowed}");
}

fn square(frequencies: &[u64]) -> f64 {
    frequencies.iter().map(|&x| float(x).powi(2)).sum()
}

#[test]
fn second_moments_and_norms_are_covered() {
    let skewed = zipf(500, 20_000.0);
    // Collisions, both, and noise as the larger error.
    for (rows, width, rho) in [(5_u8, 128, 1.0), (5, 512, 0.01), (15, 256, 0.001)] {
        for truth in [skewed.clone(), vec![20; 400]] {
            let f2 = square(&truth);
            let sketch = |seed| private(shape(rows, width), seed, &truth, rho);
            let moments = (1..=200).map(|seed| (sketch(seed).second_moment(P95).unwrap(), f2));
            assert_covered(moments, &format!("F2, {rows} x {width}, rho {rho}"));
            let norms = (201..=400).map(|seed| (sketch(seed).norm(P95).unwrap(), f2.sqrt()));
            assert_covered(norms, &format!("norm, {rows} x {width}, rho {rho}"));
        }
    }
}

#[test]
fn inner_products_are_covered() {
    let (left, right) = (zipf(300, 5000.0), vec![12; 350]);
    let truth = left.iter().zip(&right).map(|(&x, &y)| float(x) * float(y)).sum();
    for (rows, width, rho) in [(5_u8, 128, 0.5), (9, 512, 0.01)] {
        let one = |seed: u64| {
            let release = |frequencies: &[u64], noise| {
                let raw = unit_sketch(shape(rows, width), &hash(seed), frequencies);
                raw.release(permit(rho), &mut InsecureTestRng::from_u64(noise)).unwrap()
            };
            release(&left, 2 * seed).inner_product(&release(&right, 2 * seed + 1), P95).unwrap()
        };
        assert_covered((1..=300).map(|seed| (one(seed), truth)), &format!("inner product, {rows} x {width}, {rho}"));
    }
}

#[test]
fn count_mean_is_covered() {
    let truth = zipf(400, 8000.0);
    let total: u64 = truth.iter().sum();
    for (rows, width, rho) in [(5_u8, 64, 1.0), (5, 256, 0.02)] {
        for released_total in [false, true] {
            let one = |seed: u64| {
                let mut raw =
                    UnsignedSketch::new(shape(rows, width), hash(seed), ContributionBound::UNIT_ENTRY).unwrap();
                for (item, &frequency) in (0..).zip(&truth) {
                    (0..frequency).for_each(|_| raw.update_u64(item, 1).unwrap());
                }
                let sketch = raw.release(permit(rho), &mut InsecureTestRng::from_u64(seed)).unwrap();
                // Heavy and light items and absent ones; a total with an error of one standard deviation, either way.
                let item = [0, 3, 50, 399, 5000][usize::try_from(seed % 5).unwrap()];
                let error = if seed.is_multiple_of(2) { 300.0 } else { -300.0 };
                let total = if released_total {
                    TotalWeight::released(float(total) + error, 90_000.0)
                } else {
                    TotalWeight::public(float(total))
                };
                let answer = sketch.count_mean(key(&hash(seed), item), total.unwrap(), P95).unwrap();
                (answer, float(truth.get(usize::try_from(item).unwrap()).copied().unwrap_or(0)))
            };
            assert_covered((1..=150).map(one), &format!("Count-Mean, {rows} x {width}, rho {rho}"));
        }
    }
}

/// Keys of 16 bits: one level of plain cells, and three of sketches. The heavy key is 0xbeef.
fn stack(seed: u64, rho: f64) -> PrivatePrefixStack {
    let layout = PrefixLayout::new(16, 3, shape(5, 64)).unwrap();
    let mut raw = PrefixStack::new(layout, hash(seed), ContributionBound::UNIT_ENTRY).unwrap();
    (0..700).for_each(|_| raw.update(0xbeef, 1).unwrap());
    for light in 0..1500_u64 {
        raw.update(light.wrapping_mul(0x9e37) & 0xffff, 1).unwrap();
    }
    raw.release(permit(rho), &mut InsecureTestRng::from_u64(seed)).unwrap()
}

/// How many keys of the stack have a prefix.
fn count(prefix: u64, shift: u32) -> f64 {
    let light = (0..1500_u64).filter(|light| (light.wrapping_mul(0x9e37) & 0xffff) >> shift == prefix).count();
    let heavy = if 0xbeef >> shift == prefix { 700.0 } else { 0.0 };
    float(u64::try_from(light).unwrap()) + heavy
}

#[test]
fn prefixes_of_every_level_are_covered() {
    let rho = 0.02;
    let stacks: Vec<PrivatePrefixStack> = (1..=160).map(|seed| stack(seed, rho)).collect();
    let layout = stacks[0].layout().clone();
    assert_eq!(layout.lengths(), [8, 11, 14, 16]);
    for (level, &length) in layout.lengths().iter().enumerate() {
        for key in [0xbeef_u64, 0x9e37, 1] {
            let shift = u32::from(16 - length);
            let truth = count(key >> shift, shift);
            let answers = stacks
                .iter()
                .map(|stack| (stack.estimate(level, key >> shift, QueryOptions::default()).unwrap(), truth));
            assert_covered(answers, &format!("prefix {key:x} of {length} bits, rho {rho}"));
        }
    }
}

/// The intervals of a search hold for all found keys at once.
#[test]
fn keys_that_a_search_finds_are_covered_together() {
    let mut missed = 0;
    for seed in 1..=120 {
        let hits = stack(seed, 0.1).search(&PrefixSearch::above(400.0)).unwrap();
        missed += u64::from(hits.found.iter().any(|hit| !hit.estimate.covers(count(hit.key, 0))));
        // At five standard errors and more above the threshold the heavy key is always found.
        assert!(hits.found.iter().any(|hit| hit.key == 0xbeef), "{seed}");
    }
    let allowed = (0..=120).find(|&n| binomial_at_most(n, 120, 0.05) > 1.0 - 1e-6).unwrap();
    assert!(missed <= allowed, "{missed} of 120, allowed {allowed}");
}
