//! Several sketches at once: counts of patterns, set formulas, similarity.

mod support;

use sfm_pcsa::cardinality_estimators::{Confidence, PatternCounts, SetFormula};
use sfm_pcsa::{
    MergeError, MergeForm, PcsaShape, PcsaSketch, SfmSketch, UnionError, jaccard_estimate, pattern_counts,
    set_estimate, union_estimate,
};
use sketch_hash::PrestoHash;
use sketch_testkit::assert_mean;
use support::{noise, other_key, permit, raw, released, shape};

const P95: Confidence = Confidence::P95;

fn presto_release(shape: PcsaShape, items: std::ops::Range<u64>, seed: u64) -> SfmSketch {
    let mut raw = PcsaSketch::new(shape, PrestoHash);
    raw.update_u64_batch(&items.collect::<Vec<_>>());
    raw.release(permit(1.0), &mut noise(seed)).expect("a release")
}

/// Patterns cell by cell, from the bits that Presto's format shows.
fn plainly(sketches: &[&SfmSketch]) -> Vec<Vec<u64>> {
    let shape = sketches[0].shape();
    let bitmaps: Vec<Vec<u8>> = sketches
        .iter()
        .map(|sketch| sketch.to_presto_bytes_allowing_insecure_noise().expect("symmetric")[21..].to_vec())
        .collect();
    let bit = |bitmap: &[u8], i: usize| usize::from(bitmap.get(i / 8).is_some_and(|byte| byte >> (i % 8) & 1 == 1));
    let buckets = shape.buckets() as usize;
    (0..usize::from(shape.levels()))
        .map(|level| {
            let mut counts = vec![0; 1 << sketches.len()];
            for cell in level * buckets..(level + 1) * buckets {
                let pattern: usize = bitmaps.iter().enumerate().map(|(i, bitmap)| bit(bitmap, cell) << i).sum();
                counts[pattern] += 1;
            }
            counts
        })
        .collect()
}

#[test]
fn patterns_are_counted_as_one_by_one() {
    for shape in [shape(2, 5), shape(32, 9), shape(64, 8), shape(4096, 10)] {
        let sketches: Vec<SfmSketch> =
            (0..8).map(|seed| presto_release(shape, seed * 100..seed * 150 + 400, seed)).collect();
        for count in 1..=8 {
            let chosen: Vec<&SfmSketch> = sketches[..count].iter().collect();
            let channels: Vec<_> = chosen.iter().map(|sketch| sketch.channel()).collect();
            let layout = sfm_pcsa::cardinality_estimators::CellLayout::pcsa(shape.buckets(), shape.levels());
            let expected = PatternCounts::new(&layout.expect("a layout"), &channels, plainly(&chosen));
            assert_eq!(pattern_counts(&chosen).expect("one shape"), expected.expect("counts"), "{count} of {shape}");
        }
    }
}

#[test]
fn sketches_that_do_not_belong_together_are_refused() {
    let mut coins = noise(1);
    let small = shape(64, 8);
    let [a, b, c] = [1.0, 2.0, 3.0].map(|epsilon| released(raw(small, 0..50), epsilon, &mut coins));
    let mismatch = |sketches: &[&SfmSketch]| match pattern_counts(sketches) {
        Err(UnionError::Mismatch(error)) => error,
        other => panic!("{other:?}"),
    };
    assert!(matches!(mismatch(&[]), MergeError::Empty));
    let ab = a.merge(&b, MergeForm::Extremal, &mut coins).expect("two releases");
    for twice in [[&a, &a], [&ab, &b]] {
        assert!(matches!(mismatch(&twice), MergeError::RepeatedRelease { .. }));
    }
    let larger = released(raw(shape(64, 9), 0..50), 1.0, &mut coins);
    assert!(matches!(mismatch(&[&a, &larger]), MergeError::Shape { .. }));
    let foreign = PcsaSketch::new(small, other_key()).release(permit(1.0), &mut coins).expect("a release");
    assert!(matches!(mismatch(&[&a, &foreign]), MergeError::Hash { .. }));
    assert!(pattern_counts(&[&ab, &c]).is_ok());

    let nine: Vec<SfmSketch> = (0..9).map(|_| released(raw(small, 0..50), 1.0, &mut coins)).collect();
    let nine: Vec<&SfmSketch> = nine.iter().collect();
    let message = pattern_counts(&nine).expect_err("at most eight");
    assert!(matches!(message, UnionError::Estimate(_)), "{message}");
    let of_two = SetFormula::from_membership(2, |sets| sets == 0b11).expect("a formula");
    assert!(matches!(set_estimate(&[&a, &b, &c], &of_two, P95), Err(UnionError::Estimate(_))));
}

#[test]
fn formulas_that_are_unions_are_answered_like_unions() {
    let mut coins = noise(2);
    let sketches = [0..30_000, 20_000..70_000, 60_000..80_000]
        .map(|items| released(raw(PcsaShape::DEFAULT, items), 3.0, &mut coins));
    let all: Vec<&SfmSketch> = sketches.iter().collect();
    let near = |a: Option<f64>, b: Option<f64>| {
        let (a, b) = (a.expect("a value"), b.expect("a value"));
        assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
    };
    let union = SetFormula::from_membership(3, |_| true).expect("a formula");
    let expected = union_estimate(&all, P95).expect("one shape");
    let found = set_estimate(&all, &union, P95).expect("one shape");
    near(found.value(), expected.value());
    near(found.std_error(), expected.std_error());
    let second = SetFormula::from_membership(3, |sets| sets & 0b010 != 0).expect("a formula");
    near(set_estimate(&all, &second, P95).expect("one shape").value(), sketches[1].estimate(P95).value());
}

#[test]
fn intersections_differences_and_similarities_are_right_on_average() {
    let sets = [0..60_000, 40_000..100_000];
    let formulas = [(20_000.0, 0b1000), (40_000.0, 0b0010), (80_000.0, 0b0110)];
    let formulas = formulas.map(|(size, table): (f64, u64)| {
        (size, SetFormula::from_membership(2, |sets| table >> sets & 1 == 1).expect("a formula"))
    });
    let mut coins = noise(3);
    let mut deviations = vec![Vec::new(); 4];
    for _ in 0..60 {
        let [a, b] = sets.clone().map(|items| released(raw(PcsaShape::DEFAULT, items), 3.0, &mut coins));
        let mut add = |i: usize, estimate: sfm_pcsa::cardinality_estimators::Estimate, truth: f64| {
            let (value, error) = (estimate.value().expect("a value"), estimate.std_error().expect("an error"));
            deviations[i].push((value - truth) / error);
        };
        for (i, (size, formula)) in formulas.iter().enumerate() {
            add(i, set_estimate(&[&a, &b], formula, P95).expect("one shape"), *size);
        }
        add(3, jaccard_estimate(&a, &b, P95).expect("one shape"), 0.2);
    }
    // One placement of the items for all trials: its share of the error, at most that of a sketch without noise (less
    // than 0.85 of the whole at epsilon = 3), does not average out. 4.9 standard deviations of it and of the mean.
    for (i, deviations) in deviations.iter().enumerate() {
        let mean = deviations.iter().sum::<f64>() / 60.0;
        assert!(mean.abs() < 4.9 * (0.85 + 1.0 / 60f64.sqrt()), "{i}: {mean}");
    }
}

#[test]
fn merged_sketches_stand_for_their_union() {
    let mut coins = noise(4);
    let parts = [0..30_000, 30_000..60_000, 40_000..100_000];
    let shape = PcsaShape::DEFAULT;
    let both = SetFormula::from_membership(2, |sets| sets == 0b11).expect("a formula");
    let mut values = Vec::new();
    for trial in 0..40_u64 {
        // Other items in each trial, so that placement varies too.
        let shift = trial << 32;
        let [a, b, c] =
            parts.clone().map(|items| released(raw(shape, items.start + shift..items.end + shift), 4.0, &mut coins));
        let ab = a.merge(&b, MergeForm::Extremal, &mut coins).expect("two releases");
        values.push(set_estimate(&[&ab, &c], &both, P95).expect("one shape"));
    }
    let deviations: Vec<f64> = values
        .iter()
        .map(|estimate| (estimate.value().expect("a value") - 20_000.0) / estimate.std_error().expect("an error"))
        .collect();
    assert_mean(&deviations, 0.0, 1.0);
}
