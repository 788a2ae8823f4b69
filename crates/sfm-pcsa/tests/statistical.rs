//! What enumeration cannot show: whole sketches, drawn many times. Seeds are fixed; every bound is missed by a right build
//! less than once in a million.
#![expect(clippy::cast_precision_loss, reason = "counts are small, and probabilities may round")]

mod support;

use cardinality_estimators::{CellLayout, Confidence, legions_probability, predicted_rse};
use dp_noise::rand_core::Rng;
use sfm_pcsa::diagnostics::legions_boundaries;
use sfm_pcsa::{BitmapShape, BloomShape, LegionsShape, LinearShape, MergeForm, PcsaShape, SfmSketch, union_estimate};
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

/// Relative errors of `trials` releases and of merges of two disjoint halves, by estimate, merge and union.
fn errors_of<S: BitmapShape>(shape: S, n: u64, epsilon: f64, trials: usize, seed: u64) -> [Vec<f64>; 3] {
    let mut coins = noise(seed);
    let mut errors = [Vec::new(), Vec::new(), Vec::new()];
    for _ in 0..trials {
        let items = fresh(&mut coins, n);
        let halves = [items.start..items.start + n / 2, items.start + n / 2..items.end];
        let single = released(raw(shape, items), epsilon, &mut coins);
        let [a, b] = halves.map(|half| released(raw(shape, half), epsilon, &mut coins));
        let merged = a.merge(&b, MergeForm::Extremal, &mut coins).expect("fresh releases");
        let union = union_estimate(&[&a, &b], Confidence::P95).expect("fresh releases");
        let counts = [value(&single), value(&merged), union.value().expect("a value")];
        errors.iter_mut().zip(counts).for_each(|(list, count)| list.push(count / n as f64 - 1.0));
    }
    errors
}

/// Checks one release and the merge of two against the predicted error; the union lies below the merge.
fn assert_predicted<S: BitmapShape>(shape: S, layout: &CellLayout, n: u64, epsilon: f64, seed: u64) {
    let trials = 400;
    let [single, merged, union] = errors_of(shape, n, epsilon, trials, seed);
    let mut coins = noise(seed);
    let [a, b] = [0, 1].map(|_| released(raw(shape, []), epsilon, &mut coins));
    let joined = a.merge(&b, MergeForm::Extremal, &mut coins).expect("fresh releases");
    for (errors, channel) in [(single, a.channel()), (merged.clone(), joined.channel())] {
        let predicted = predicted_rse(layout, channel, n as f64);
        assert!(predicted < 0.12, "a prediction that is accurate, not {predicted}");
        // The estimator's own bias, below the variance over n and the curve of one group, is left a tenth of an error.
        let mean = errors.iter().sum::<f64>() / trials as f64;
        assert!(mean.abs() < predicted * (0.1 + 4.9 / (trials as f64).sqrt()), "mean {mean} for {predicted}");
        assert_error(&errors, predicted);
    }
    let squares = |errors: &[f64]| errors.iter().map(|error| error * error).sum::<f64>();
    assert!(squares(&union) < squares(&merged), "{} {}", squares(&union), squares(&merged));
}

#[test]
fn linear_counting_has_the_predicted_error() {
    let shape = LinearShape::new(10_000).expect("in range");
    let layout = CellLayout::linear(10_000).expect("a layout");
    assert_predicted(shape, &layout, 8_000, 2.0, 11);
    assert_predicted(shape, &layout, 20_000, 4.0, 12);
}

#[test]
fn bloom_filters_have_the_predicted_error() {
    let shape = BloomShape::new(20_000, 3).expect("in range");
    assert_predicted(shape, &CellLayout::bloom(20_000, 3).expect("a layout"), 6_000, 6.0, 13);
}

#[test]
fn liquid_legions_have_the_predicted_error() {
    let shape = LegionsShape::new(10_000, 10.0).expect("in range");
    let layout = CellLayout::legions(10_000, 10.0).expect("a layout");
    assert_predicted(shape, &layout, 20_000, 2.0, 14);
    assert_predicted(shape, &layout, 60_000, 4.0, 15);
}

#[test]
fn cells_of_rows_are_hit_as_often_as_they_should_be() {
    // Items one at a time: the number of cells set by many is what independent darts leave.
    let darts = |cells: f64, thrown: f64| cells * (1.0 - (thrown * (-1.0 / cells).ln_1p()).exp());
    let bloom = raw(BloomShape::new(4096, 8).expect("in range"), 0..300).estimate(Confidence::P95);
    assert!(bloom.covers(300.0), "{bloom:?}");
    // Each of 10,000 items alone sets as many different cells of 64 as eight darts do on average.
    let mut coins = noise(16);
    let counts: Vec<f64> = (0..10_000)
        .map(|_| {
            let item = fresh(&mut coins, 1);
            let bytes = raw(BloomShape::new(64, 8).expect("in range"), item).to_sensitive_bytes();
            f64::from(u64::from_le_bytes(bytes[bytes.len() - 8..].try_into().expect("eight bytes")).count_ones())
        })
        .collect();
    let expected = darts(64.0, 8.0);
    // The variance of the number of cells hit, by the probabilities that one and that two cells stay empty.
    let (one, two) = ((1.0 - 1.0 / 64.0_f64).powi(8), (1.0 - 2.0 / 64.0_f64).powi(8));
    let deviation = (64.0 * one * (1.0 - one) + 64.0 * 63.0 * (two - one * one)).sqrt();
    assert_mean(&counts, expected, deviation);
    // Cells of Liquid Legions by the formula.
    let firsts = legions_boundaries(LegionsShape::new(40, 4.0).expect("in range"));
    let mut hits = vec![0; 40];
    for _ in 0..100_000 {
        let hash = coins.next_u64();
        hits[firsts.partition_point(|&first| first <= hash) - 1] += 1;
    }
    let rates: Vec<f64> = (0..40).map(|i| legions_probability(40, 4.0, i).expect("a cell")).collect();
    assert_frequencies(&hits, &rates);
}
