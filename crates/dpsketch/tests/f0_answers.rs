//! Answers from F0 sketches: counts, sums of weights, symmetric differences, unions, set formulas, similarity.
//!
//! Noise is random: every value is held against six of its own standard errors, which fails by chance less than once in
//! 10⁸ where errors are normal.

use dpsketch::dp_noise::Epsilon;
use dpsketch::f0_sketch::{F0Shape, MaxWeight};
use dpsketch::sketch_hash::{AnyHash, Item};
use dpsketch::{
    Answer, AnySketch, ErrorKind, F0Builder, F0Terms, F0Whole, RawF0Sketch, TextRules, estimate, estimate_formula,
    estimate_jaccard, merge, parse_confidence,
};

const SHAPE: F0Shape = F0Shape::DEFAULT;

fn confidence() -> dpsketch::cardinality_estimators::Confidence {
    parse_confidence("0.95").expect("in range")
}

fn set(items: core::ops::Range<u64>) -> RawF0Sketch {
    let mut builder = F0Builder::operations(F0Terms::unit(SHAPE), AnyHash::default(), TextRules::default());
    for item in items {
        builder.push_row_with([Some(Item::from(item))], None, Some(Item::from("+"))).expect("an insert");
    }
    builder.finish().expect("a sketch").0
}

/// Every item twice.
fn stream(items: core::ops::Range<u64>) -> RawF0Sketch {
    let terms = F0Terms::unit(SHAPE);
    let mut builder = F0Builder::presampled(terms, AnyHash::default(), TextRules::default()).expect("randomness");
    for item in items.clone().chain(items) {
        builder.push_row([Some(Item::from(item))]).expect("an occurrence");
    }
    builder.finish().expect("a sketch").0
}

fn named(sketches: impl IntoIterator<Item = impl Into<AnySketch>>) -> Vec<(String, AnySketch)> {
    sketches.into_iter().zip(["a", "b", "c"]).map(|(sketch, name)| (name.to_owned(), sketch.into())).collect()
}

fn private(raws: impl IntoIterator<Item = RawF0Sketch>) -> Vec<(String, AnySketch)> {
    named(raws.into_iter().map(|raw| raw.release(Epsilon::new(6.0).expect("in range")).expect("noise")))
}

/// Two sets of 60,000 with 20,000 in common.
fn two(kind: impl Fn(core::ops::Range<u64>) -> RawF0Sketch) -> Vec<(String, AnySketch)> {
    private([kind(0..60_000), kind(40_000..100_000)])
}

#[track_caller]
fn near(answer: &Answer, truth: f64) {
    let (value, error) = (answer.estimate().value(), answer.estimate().std_error());
    let (Some(value), Some(error)) = (value, error) else { panic!("{answer:?}") };
    assert!((value - truth).abs() < 6.0 * error, "{value} ± {error}, truth {truth}");
    assert!(error < 0.3 * truth, "{value} ± {error} says little");
}

#[test]
fn one_sketch_counts_its_set() {
    for (raw, mode) in [(set(0..60_000), "set"), (stream(0..60_000), "presampled")] {
        let files = private([raw]);
        let answer = estimate(&files, confidence()).expect("an answer");
        near(&answer, 60_000.0);
        assert_eq!((answer.whole(), answer.sketches(), answer.max_weight()), (Some(F0Whole::One), 1, None));
        let json = answer.to_json();
        assert_eq!((&json["kind"], &json["mode"], &json["of"]), (&"f0".into(), &mode.into(), &"one".into()));
        assert_eq!((&json["epsilon"], &json["unit"], &json["status"]), (&6.0.into(), &"one item".into(), &"ok".into()));
        let (parts, error) = (answer.error_parts().expect("parts"), answer.estimate().std_error().expect("an error"));
        // At ε = 6 the cells decide, and nothing was merged.
        assert!(parts.hash > parts.noise && parts.merge < 1e-3 * error, "{parts:?}");
        assert!((parts.hash.hypot(parts.noise).hypot(parts.merge) / error - 1.0).abs() < 1e-9, "{parts:?}");
        let by_name = estimate_formula(&files, "a", confidence()).expect("an answer");
        assert_eq!(by_name.estimate(), answer.estimate());
    }
}

#[test]
fn several_sets_tell_of_their_symmetric_difference_and_several_streams_of_their_union() {
    for (files, whole, truth) in
        [(two(set), F0Whole::SymmetricDifference, 80_000.0), (two(stream), F0Whole::Union, 100_000.0)]
    {
        let answer = estimate(&files, confidence()).expect("an answer");
        near(&answer, truth);
        assert_eq!((answer.whole(), answer.sketches()), (Some(whole), 2));
        let json = answer.to_json();
        assert_eq!((&json["epsilon"], &json["epsilon_total"]), (&6.0.into(), &12.0.into()));
        assert_eq!(json["of"], whole.as_str());
        assert!(json["error_parts"]["merge"].as_f64().is_some_and(|merge| merge > 0.0), "{json}");
        // The merged file has the same cells and says the same, of the same.
        let merged = merge(&files, dpsketch::sfm_pcsa::MergeForm::default()).expect("alike");
        let again = estimate(&[("m".to_owned(), merged)], confidence()).expect("an answer");
        assert_eq!((again.estimate(), again.whole()), (answer.estimate(), Some(whole)));
    }
}

#[test]
fn any_formula_of_two_sketches_has_an_answer_in_both_modes() {
    for files in [two(set), two(stream)] {
        for (expr, truth) in [
            ("a | b", 100_000.0),
            ("a & b", 20_000.0),
            ("a - b", 40_000.0),
            ("a & !b", 40_000.0),
            ("b - a", 40_000.0),
            ("!a & b", 40_000.0),
            ("a ^ b", 80_000.0),
            ("b ^ a", 80_000.0),
            ("!(a & b)", 80_000.0),
        ] {
            let answer = estimate_formula(&files, expr, confidence()).unwrap_or_else(|error| panic!("{expr}: {error}"));
            near(&answer, truth);
            assert_eq!((answer.sketches(), answer.to_json()["expr"].as_str()), (2, Some(expr)));
        }
        let jaccard = estimate_jaccard(&files, confidence()).expect("an answer");
        near(&jaccard, 0.2);
        assert_eq!(jaccard.expr(), Some("jaccard(a, b)"));
        let nothing = estimate_formula(&files, "a - a | b - b", confidence()).expect("an answer");
        assert_eq!((nothing.estimate().value(), nothing.to_json()["status"].as_str()), (Some(0.0), Some("empty")));
    }
}

#[test]
fn the_order_of_the_names_decides_which_difference_it_is() {
    let files = private([set(0..50_000), set(0..5_000)]);
    let size = |expr| estimate_formula(&files, expr, confidence()).expect("an answer");
    near(&size("a - b"), 45_000.0);
    let small = size("b - a").estimate().value().expect("a value");
    assert!(small < 10_000.0, "{small}");
    let swapped: Vec<_> = files.iter().rev().cloned().collect();
    near(&estimate_formula(&swapped, "a - b", confidence()).expect("an answer"), 45_000.0);
}

#[test]
fn of_three_sketches_the_xor_is_answered_and_the_rest_is_told_what_would_work() {
    // Only in one: 40,000 each; in all three: 10,000; pairs: none beside.
    let sets = private([set(0..50_000), set(40_000..90_000), set(90_000..130_000)]);
    near(&estimate_formula(&sets, "a ^ b ^ c", confidence()).expect("an answer"), 120_000.0);
    let streams = private([stream(0..50_000), stream(40_000..90_000), stream(90_000..130_000)]);
    near(&estimate_formula(&streams, "a | b | c", confidence()).expect("an answer"), 130_000.0);
    for (files, expr, works) in
        [(&sets, "a | b | c", "a ^ b ^ c"), (&sets, "a & b - c", "a ^ b ^ c"), (&streams, "a ^ b ^ c", "a | b | c")]
    {
        let error = estimate_formula(files, expr, confidence()).expect_err("more than two");
        let json = error.to_json();
        assert_eq!((error.kind(), json["argument"].as_str()), (ErrorKind::Refused, Some("--expr")));
        assert!(json["allowed"].as_str().is_some_and(|allowed| allowed.contains(works)), "{json}");
    }
    // What depends on two of the three is answered from these two.
    near(&estimate_formula(&sets, "a & b & c | a & b", confidence()).expect("an answer"), 10_000.0);
}

#[test]
fn raw_sketches_are_answered_by_their_xor_only_and_without_privacy() {
    let raws = named([set(0..60_000), set(40_000..100_000)]);
    for answer in [estimate(&raws, confidence()), estimate_formula(&raws, "a ^ b", confidence())] {
        let answer = answer.expect("an answer");
        near(&answer, 80_000.0);
        assert_eq!((answer.epsilon(), answer.units().len(), answer.sketches()), (None, 0, 2));
    }
    let error = estimate_formula(&raws, "a & b", confidence()).expect_err("raw");
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert_eq!(estimate_jaccard(&raws, confidence()).expect_err("raw").kind(), ErrorKind::Refused);
    let streams = named([stream(0..60_000), stream(40_000..100_000)]);
    near(&estimate(&streams, confidence()).expect("an answer"), 100_000.0);
    near(&estimate_formula(&streams, "a | b", confidence()).expect("an answer"), 100_000.0);
    assert!(estimate_formula(&streams, "a ^ b", confidence()).is_err());
}

#[test]
fn weights_are_summed_in_their_own_unit() {
    let terms = F0Terms::weighted(SHAPE, MaxWeight::new(10.0).expect("in range"));
    let mut builder = F0Builder::operations(terms, AnyHash::default(), TextRules::default());
    for item in 0..100_000_u64 {
        let weight = [1.0, 2.0, 7.0, 30.0][usize::try_from(item % 4).expect("small")];
        let operation = Some(Item::from("+"));
        builder.push_row_with([Some(Item::from(item))], Some(Item::from(weight)), operation).expect("an insert");
    }
    assert_eq!(builder.counts().clipped, 25_000);
    let files = private([builder.finish().expect("a sketch").0]);
    let answer = estimate(&files, confidence()).expect("an answer");
    near(&answer, 25_000.0 * (1.0 + 2.0 + 7.0 + 10.0));
    assert_eq!((answer.max_weight(), answer.to_json()["max_weight"].as_f64()), (Some(10.0), Some(10.0)));
}

#[test]
fn sketches_that_do_not_fit_have_no_answer_together() {
    let files = [private([set(0..10)]), private([stream(0..10)])].concat();
    let renamed: Vec<_> = files.into_iter().zip(["a", "b"]).map(|((_, any), name)| (name.to_owned(), any)).collect();
    for error in [
        estimate(&renamed, confidence()).expect_err("two modes"),
        estimate_formula(&renamed, "a & b", confidence()).expect_err("two modes"),
        estimate_jaccard(&renamed, confidence()).expect_err("two modes"),
    ] {
        assert_eq!(error.kind(), ErrorKind::Incompatible);
    }
}
