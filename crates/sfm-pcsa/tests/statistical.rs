//! What enumeration cannot show: whole sketches, drawn many times. Seeds are fixed; every bound is missed by a right build
//! less than once in a million.
#![expect(clippy::cast_precision_loss, reason = "counts are small, and probabilities may round")]

mod support;

use cardinality_estimators::{CellLayout, Confidence, predicted_rse};
use dp_noise::rand_core::Rng;
use sfm_pcsa::{MergeForm, PcsaShape, SfmSketch, union_estimate};
use sketch_testkit::{assert_binomial, assert_frequencies, assert_mean, chi_square_bounds};
use support::{noise, permit, raw, released, shape, value};

#[test]
fn flips_have_the_stated_rate_in_every_mask_of_levels() {
    // 64 x 8 cells, empty and full, 200 releases each: ones among zeros, and zeros among ones.
    let shape = shape(64, 8);
    let full = || {
        let mut sketch = raw(shape, []);
        for bucket in 0..64_u64 {
            for level in 0..8 {
                sketch.update_hash(bucket << 58 | 1 << level);
            }
        }
        sketch
    };
    assert_eq!(released(full(), 256.0, &mut noise(0)).ones_per_level(), [64; 8]);
    let mut coins = noise(1);
    for epsilon in [0.5, 2.0] {
        let mut flipped = [[0; 8]; 2];
        let mut leaf = None;
        for _ in 0..200 {
            for (raw, sums) in [raw(shape, []), full()].into_iter().zip(&mut flipped) {
                let private = released(raw, epsilon, &mut coins);
                sums.iter_mut().zip(private.ones_per_level()).for_each(|(sum, ones)| *sum += ones);
                leaf = Some(private.leaves()[0]);
            }
        }
        let leaf = leaf.expect("at least one release");
        let rates = [leaf.q_numerator(), leaf.p_numerator()].map(|numerator| numerator as f64 / 2f64.powi(64));
        for (sums, rate) in flipped.into_iter().zip(rates) {
            for ones in sums {
                assert_binomial(ones, 200 * 64, rate);
            }
        }
    }
}

#[test]
fn xor_family_flips_have_the_stated_rates() {
    let shape = shape(64, 8);
    let mut coins = noise(2);
    let ones: u64 = (0..200)
        .map(|_| raw(shape, []).release_xor_family(permit(1.0), &mut coins).expect("a release"))
        .map(|private| private.ones_per_level().iter().sum::<u64>())
        .sum();
    assert_binomial(ones, 200 * 512, 0.5 * (-1f64).exp());
}

#[test]
fn release_names_are_fresh_and_uniform() {
    let mut coins = noise(3);
    let mut names: Vec<[u8; 16]> =
        (0..4096).map(|_| released(raw(shape(2, 1), []), 1.0, &mut coins).leaves()[0].id().to_bytes()).collect();
    let mut counts = [0; 256];
    names.iter().flatten().for_each(|&byte| counts[usize::from(byte)] += 1);
    assert_frequencies(&counts, &[1.0 / 256.0; 256]);
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 4096);
}

/// Items that no other trial has.
fn fresh(coins: &mut dp_noise::hazmat::InsecureTestRng, count: u64) -> core::ops::Range<u64> {
    let start = coins.next_u64() >> 1;
    start..start + count
}

/// Asserts that relative errors have the predicted size: their mean square over the predicted one is chi-square, which
/// near-normal errors follow well enough below 5%; 3% is left for the prediction itself.
fn assert_error(errors: &[f64], predicted: f64) {
    let trials = errors.len() as u64;
    let squares: f64 = errors.iter().map(|error| (error / predicted).powi(2)).sum();
    let (low, high) = chi_square_bounds(trials, 1e-6);
    assert!(low * 0.94 <= squares && squares <= high * 1.06, "{squares} is not in {low} ..= {high}");
}

#[test]
fn estimates_of_one_release_have_the_predicted_error() {
    let layout = CellLayout::pcsa(1024, 20).expect("a layout");
    let mut coins = noise(4);
    for (epsilon, n) in [(2.0, 20_000), (4.0, 5_000)] {
        let errors: Vec<f64> = (0..400)
            .map(|_| {
                let items = fresh(&mut coins, n);
                value(&released(raw(shape(1024, 20), items), epsilon, &mut coins)) / n as f64 - 1.0
            })
            .collect();
        let channel = released(raw(shape(1024, 20), []), epsilon, &mut coins).channel();
        let predicted = predicted_rse(&layout, channel, n as f64);
        assert_mean(&errors, 0.0, predicted);
        assert_error(&errors, predicted);
    }
}

/// Relative errors for the union of `parties` disjoint sets of `each` items, by the merge and by the product statistic.
fn union_errors(parties: usize, each: u64, epsilon: f64, form: MergeForm, trials: usize) -> [Vec<f64>; 2] {
    let mut coins = noise(5);
    let n = parties as f64 * each as f64;
    let mut errors = [Vec::new(), Vec::new()];
    for _ in 0..trials {
        let parts: Vec<SfmSketch> = (0..parties)
            .map(|_| {
                let items = fresh(&mut coins, each);
                released(raw(PcsaShape::DEFAULT, items), epsilon, &mut coins)
            })
            .collect();
        let parts: Vec<&SfmSketch> = parts.iter().collect();
        let merged = SfmSketch::merge_all(&parts, form, &mut coins).expect("fresh releases");
        errors[0].push(value(&merged) / n - 1.0);
        let union = union_estimate(&parts, Confidence::P95).expect("fresh releases");
        errors[1].push(union.value().expect("a value") / n - 1.0);
    }
    errors
}

#[test]
fn merges_and_unions_have_the_errors_of_theory() {
    // Large-n relative errors of two equal disjoint sets at epsilon = 1 (4096 buckets): published form 5.17%,
    // extremal 4.31%, product statistic 3.81%.
    for (form, predicted) in [(MergeForm::Symmetric, 0.0517), (MergeForm::Extremal, 0.0431)] {
        let [merged, union] = union_errors(2, 50_000, 1.0, form, 300);
        assert_error(&merged, predicted);
        assert_error(&union, 0.0381);
        assert_mean(&union, 0.0, 0.0381);
    }
}

#[test]
fn eight_parties_have_the_errors_of_theory() {
    let [merged, union] = union_errors(8, 25_000, 2.0, MergeForm::Extremal, 300);
    assert_error(&merged, 0.0393);
    assert_error(&union, 0.0287);
}

#[test]
fn intervals_cover() {
    let mut coins = noise(6);
    let trials = 2000;
    let covered = (0..trials)
        .filter(|_| {
            let items = fresh(&mut coins, 3_000);
            released(raw(shape(512, 16), items), 3.0, &mut coins).estimate(Confidence::P95).covers(3_000.0)
        })
        .count();
    // 95% within one point, the tolerance of the method, plus five standard errors of the count.
    let share = covered as f64 / f64::from(trials);
    assert!((share - 0.95).abs() < 0.01 + 5.0 * (0.95_f64 * 0.05 / f64::from(trials)).sqrt(), "{share}");
}
