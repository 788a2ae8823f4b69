//! Tallies, joint likelihoods, and which of them answers what.

use dpsketch::sfm_pcsa::{LinearShape, MergeForm, PcsaShape, RawBitmap};
use dpsketch::sketch_hash::{AnyHash, DefaultHash, HashKey};
use dpsketch::{
    Answer, AnySketch, Description, ErrorKind, Method, RecordedSketch, check_mergeable, estimate, estimate_formula,
    estimate_jaccard, estimate_regions, merge, parse_confidence, parse_epsilon, read_sketch_from, tally, thin_tally,
};

type Named = (String, AnySketch);

/// A release of some numbers.
fn release(name: &str, items: core::ops::Range<u64>, epsilon: &str) -> Named {
    let mut sketch = RawBitmap::new(PcsaShape::DEFAULT, AnyHash::default());
    sketch.update_u64_batch(&items.collect::<Vec<_>>());
    released(name, &sketch, epsilon)
}

fn released(name: &str, sketch: &RawBitmap<PcsaShape, AnyHash>, epsilon: &str) -> Named {
    let raw = RecordedSketch::try_from(sketch).expect("a sketch");
    (name.to_owned(), raw.release(parse_epsilon(epsilon).expect("in range")).expect("noise").into())
}

/// Sites of 10,000 items, half of which are in the next one, too.
fn sites(number: u64, epsilon: &str) -> Vec<Named> {
    (0..number).map(|site| release(&format!("s{site}"), 5_000 * site..5_000 * site + 10_000, epsilon)).collect()
}

fn ask(sketches: &[Named]) -> Answer {
    estimate(sketches, parse_confidence("0.95").expect("in range")).expect("fits")
}

fn size(answer: &Answer) -> (f64, f64) {
    (answer.estimate().value().expect("a value"), answer.estimate().std_error().expect("an error"))
}

/// Eight of the largest standard error that is expected: missed once in 10^15 runs.
fn near(answer: &Answer, exact: f64, most: f64) {
    let (value, error) = size(answer);
    assert!((value - exact).abs() < 8.0 * most && error < 3.0 * most, "{exact}: {answer:?}");
}

#[test]
fn the_number_of_files_and_their_noise_decide_the_method() {
    let files = sites(8, "2");
    let named = |files: &[Named]| ask(files).method().expect("a method");
    assert_eq!(named(&files[..1]), Method::Likelihood);
    assert_eq!(named(&files[..2]), Method::Joint { sets: 2, tallied: false });
    assert_eq!(named(&files[..3]), Method::Joint { sets: 3, tallied: false });
    for number in [4, 8] {
        assert!(matches!(named(&files[..number]), Method::Tally { sketches, .. } if sketches == number));
    }
    let mixed = |levels: &[&str]| -> Vec<Named> {
        levels.iter().zip(&files).map(|(level, (name, _))| release(name, 0..20_000, level)).collect()
    };
    assert!(matches!(named(&mixed(&["1", "2", "1", "2"])), Method::Tally { .. }));
    let mut apart = mixed(&["1", "2", "4", "2"]);
    assert_eq!(named(&apart), Method::Product);
    let thin = |files: &[Named]| ask(files).note().is_some_and(|note| note.contains("merge --tally --thin"));
    assert!(thin(&apart) && ask(&apart).to_json()["note"].is_string() && !thin(&files));
    // A merged sketch is in no tally.
    let parts = [release("x", 0..20_000, "4"), release("y", 0..20_000, "4")];
    apart[2].1 = merge(&parts, MergeForm::Extremal).expect("two releases");
    assert_eq!((named(&apart), thin(&apart)), (Method::Product, false));
}

#[test]
fn a_tally_answers_as_its_files_do_and_states_the_sum_of_their_epsilons() {
    let files = sites(8, "2");
    let whole = tally(&files).expect("alike");
    let parts = [tally(&files[..3]).expect("alike"), tally(&files[3..7]).expect("alike")];
    let [first, second] = parts.map(|part| ("part".to_owned(), part));
    // In any order, in any steps: the same bytes.
    let other = tally(&[second, files[7].clone(), first]).expect("alike");
    assert_eq!(whole.to_bytes().as_ref(), other.to_bytes().as_ref());
    let read = read_sketch_from(whole.to_bytes().as_ref(), "a tally").expect("its own bytes");
    assert_eq!(read, whole);

    let (alone, together) = (ask(&[("t".to_owned(), whole)]), ask(&files));
    assert_eq!(size(&alone), size(&together));
    // The free law errs by 3.5 % at most of such sets.
    near(&alone, 45_000.0, 0.035 * 45_000.0);
    for answer in [alone.to_json(), together.to_json()] {
        assert_eq!(
            (&answer["epsilon"], &answer["epsilon_total"], &answer["sketches"]),
            (&2.0.into(), &16.0.into(), &8.into())
        );
        assert_eq!((&answer["kind"], &answer["method"]["name"]), (&"sfm".into(), &"tally".into()));
        let weight = answer["method"]["shared_weight"].as_f64().expect("a weight");
        assert!((0.0..=1.0).contains(&weight) && answer["method"]["law"].is_string());
    }
}

#[test]
fn a_release_counts_once_and_a_merge_is_no_release() {
    let files = sites(4, "2");
    let part = ("part".to_owned(), tally(&files[..2]).expect("alike"));
    let again = [part.clone(), files[1].clone()];
    for error in [
        tally(&again).expect_err("twice"),
        tally(&[files[0].clone(), files[0].clone()]).expect_err("twice"),
        estimate(&again, parse_confidence("0.95").expect("in range")).expect_err("twice"),
        check_mergeable(&again).expect_err("twice"),
    ] {
        assert_eq!(error.kind(), ErrorKind::Incompatible);
        assert!(error.message().contains("used only once"), "{error}");
    }
    let merged = ("m".to_owned(), merge(&files[2..], MergeForm::Extremal).expect("two releases"));
    for mixed in [[part.clone(), merged.clone()], [merged, part.clone()]] {
        let error = tally(&mixed).expect_err("a merge");
        assert!(error.message().starts_with("m: ") && error.message().contains("merge of 2"), "{error}");
        assert_eq!(check_mergeable(&mixed).expect_err("a merge").kind(), ErrorKind::Incompatible);
    }
    let error = merge(&[part, files[2].clone()], MergeForm::Extremal).expect_err("a tally");
    assert!(error.to_text().contains("--tally"), "{}", error.to_text());
}

#[test]
fn only_alike_releases_are_tallied() {
    let file = release("a", 0..1_000, "2");
    let small = RawBitmap::new(PcsaShape::new(1024, 24).expect("a shape"), AnyHash::default());
    let keyed = RawBitmap::new(PcsaShape::DEFAULT, AnyHash::from(DefaultHash::new(HashKey::from_bytes([7; 16]))));
    for other in [released("b", &small, "2"), released("b", &keyed, "2")] {
        let error = tally(&[file.clone(), other]).expect_err("others");
        assert_eq!(error.kind(), ErrorKind::Incompatible);
        assert!(error.message().contains("b does not fit a"), "{error}");
    }
    let mut linear = RawBitmap::new(LinearShape::new(4096).expect("a shape"), AnyHash::default());
    linear.update_u64_batch(&[1, 2, 3]);
    let raw = RecordedSketch::try_from(&linear).expect("a sketch");
    let private = raw.clone().release(parse_epsilon("2").expect("in range")).expect("noise");
    for other in [AnySketch::from(raw), AnySketch::from(private)] {
        assert_eq!(tally(&[("l".to_owned(), other)]).expect_err("linear").kind(), ErrorKind::Incompatible);
    }
}

#[test]
fn three_noise_levels_are_kept_and_answered_after_thinning() {
    let levels = ["1", "2", "4", "4"];
    let files: Vec<Named> =
        levels.iter().enumerate().map(|(i, level)| release(&format!("f{i}"), 0..20_000, level)).collect();
    let kept = tally(&files).expect("alike");
    let facts = Description::of(&kept).to_json();
    assert_eq!(
        (&facts["kind"], &facts["state"], &facts["sketches"]),
        (&"sfm-tally".into(), &"private".into(), &4.into())
    );
    assert_eq!((&facts["epsilon"], &facts["epsilon_total"]), (&4.0.into(), &11.0.into()));
    let classes = facts["classes"].as_array().expect("a list");
    assert_eq!(classes.iter().map(|class| class["sketches"].as_u64().unwrap_or(0)).collect::<Vec<_>>(), [1, 1, 2]);
    let refused = estimate(&[("t".to_owned(), kept.clone())], parse_confidence("0.95").expect("in range"));
    let error = refused.expect_err("three levels");
    assert!(error.kind() == ErrorKind::Incompatible && error.to_text().contains("--thin"), "{}", error.to_text());

    let thinned = thin_tally(kept).expect("noise");
    let facts = Description::of(&thinned).to_json();
    assert_eq!((facts["classes"].as_array().map(Vec::len), &facts["thinned"]), (Some(1), &true.into()));
    assert_eq!((&facts["epsilon"], &facts["epsilon_total"]), (&4.0.into(), &11.0.into()), "nothing is lower");
    let answer = ask(&[("t".to_owned(), thinned)]);
    // Four equal sets at epsilon 1 err by about 5 %.
    near(&answer, 20_000.0, 0.06 * 20_000.0);
    assert_eq!(answer.to_json()["epsilon_total"], 11.0);
}

#[test]
fn regions_fit_together_and_formulas_are_sums_of_them() {
    let confidence = parse_confidence("0.95").expect("in range");
    let files = [release("a", 0..20_000, "4"), release("b", 10_000..30_000, "4"), release("c", 15_000..40_000, "4")];
    let regions = estimate_regions(&files, confidence).expect("alike");
    // By mask: a, b, ab, c, ac, bc, abc.
    let exact = [10_000.0, 0.0, 5_000.0, 10_000.0, 0.0, 10_000.0, 5_000.0];
    let names: Vec<&str> = regions.iter().filter_map(Answer::expr).collect();
    assert_eq!(names[..3], ["a & !b & !c", "!a & b & !c", "a & b & !c"]);
    for (region, exact) in regions.iter().zip(exact) {
        near(region, exact, 600.0);
        assert_eq!(region.method(), Some(Method::Joint { sets: 3, tallied: false }));
        assert_eq!(region.to_json()["epsilon_total"], 12.0);
    }
    let sum = |masks: &[usize]| masks.iter().map(|mask| size(&regions[mask - 1]).0).sum::<f64>();
    for (formula, masks) in
        [("a & b & c", &[7][..]), ("(a | b) & c", &[5, 6, 7]), ("a ^ b ^ c", &[1, 2, 4, 7]), ("!a", &[2, 4, 6])]
    {
        let answer = estimate_formula(&files, formula, confidence).expect("alike");
        // One fit: exact but for rounding.
        assert!((size(&answer).0 - sum(masks)).abs() < 1e-6 * 50_000.0, "{formula}");
    }
    assert!((size(&ask(&files)).0 - sum(&[1, 2, 3, 4, 5, 6, 7])).abs() < 1e-6 * 50_000.0);
    let jaccard = estimate_jaccard(&files[..2], confidence).expect("two");
    near(&jaccard, 1.0 / 3.0, 0.02);
    assert_eq!(jaccard.method(), Some(Method::Joint { sets: 2, tallied: false }));
}

#[test]
fn other_families_have_regions_and_tallies_of_unions_too() {
    let confidence = parse_confidence("0.95").expect("in range");
    let file = |name: &str, items: core::ops::Range<u64>| -> Named {
        let mut sketch = RawBitmap::new(LinearShape::new(16_384).expect("a shape"), AnyHash::default());
        sketch.update_u64_batch(&items.collect::<Vec<_>>());
        let raw = RecordedSketch::try_from(&sketch).expect("a sketch");
        (name.to_owned(), raw.release(parse_epsilon("4").expect("in range")).expect("noise").into())
    };
    let files = [file("a", 0..6_000), file("b", 4_000..10_000), file("c", 2_000..8_000), file("d", 0..6_000)];
    let both = estimate_formula(&files[..2], "a & b", confidence).expect("alike");
    near(&both, 2_000.0, 150.0);
    assert_eq!((both.to_json()["kind"].as_str(), both.method().map(Method::as_str)), (Some("linear"), Some("joint")));
    let union = ask(&files);
    near(&union, 10_000.0, 300.0);
    assert_eq!(union.method().map(Method::as_str), Some("tally"));
}

#[test]
fn tallies_stand_for_the_union_of_their_releases() {
    let confidence = parse_confidence("0.95").expect("in range");
    // Three sites of 0..20,000, two of 10,000..30,000.
    let first = [release("a", 0..10_000, "4"), release("b", 5_000..15_000, "4"), release("c", 10_000..20_000, "4")];
    let second = [release("d", 10_000..20_000, "4"), release("e", 20_000..30_000, "4")];
    let tallies =
        [("north".to_owned(), tally(&first).expect("alike")), ("south".to_owned(), tally(&second).expect("alike"))];
    let both = estimate_formula(&tallies, "north & south", confidence).expect("alike");
    near(&both, 10_000.0, 700.0);
    assert_eq!(both.method(), Some(Method::Joint { sets: 2, tallied: true }));
    assert_eq!((&both.to_json()["epsilon_total"], &both.to_json()["sketches"]), (&20.0.into(), &5.into()));
    let regions = estimate_regions(&tallies, confidence).expect("alike");
    for (region, exact) in regions.iter().zip([10_000.0, 10_000.0, 10_000.0]) {
        near(region, exact, 700.0);
    }
    // The formula itself puts the five files into the same two groups.
    let files: Vec<Named> = first.iter().chain(&second).cloned().collect();
    let grouped = estimate_formula(&files, "(a | b | c) & (d | e)", confidence).expect("alike");
    assert_eq!((size(&grouped), grouped.method()), (size(&both), both.method()));
    // A file beside a tally.
    let mixed = [tallies[0].clone(), second[0].clone()];
    near(&estimate_formula(&mixed, "north & !d", confidence).expect("alike"), 10_000.0, 700.0);
    near(&estimate_jaccard(&tallies, confidence).expect("two"), 1.0 / 3.0, 0.04);
    // A union of everything is one tally.
    let union = estimate_formula(&tallies, "north | south", confidence).expect("alike");
    assert_eq!(union.method().map(Method::as_str), Some("tally"));
    near(&union, 30_000.0, 700.0);
}

#[test]
fn five_sets_that_all_matter_are_answered_by_unions_or_refused_for_tallies() {
    let confidence = parse_confidence("0.95").expect("in range");
    let mut files: Vec<Named> = ["a", "b", "c", "d", "e"].iter().map(|name| release(name, 0..20_000, "4")).collect();
    let all = estimate_formula(&files, "a & b & c & d & e", confidence).expect("alike");
    assert_eq!((all.method(), all.note()), (Some(Method::Product), None));
    files[4].1 = tally(&files[4..]).expect("one");
    let error = estimate_formula(&files, "a & b & c & d & e", confidence).expect_err("a tally among them");
    assert!(error.kind() == ErrorKind::Incompatible && error.message().contains("5 groups"), "{error}");
    let grouped = estimate_formula(&files, "a & !b & (c | d | e)", confidence).expect("three groups");
    assert_eq!(grouped.method(), Some(Method::Joint { sets: 3, tallied: true }));
}

#[test]
fn five_files_of_other_families_and_merges_are_grouped_too() {
    let confidence = parse_confidence("0.95").expect("in range");
    let file = |name: &str, items: core::ops::Range<u64>| release(name, items, "4");
    let parts = [file("x", 0..5_000), file("y", 5_000..10_000)];
    let merged = ("a".to_owned(), merge(&parts, MergeForm::Extremal).expect("two releases"));
    let files = [merged, file("b", 10_000..20_000), file("c", 5_000..15_000), file("d", 0..5_000), file("e", 0..5_000)];
    let answer = estimate_formula(&files, "(a | b) & (c | d | e)", confidence).expect("alike");
    near(&answer, 15_000.0, 1_200.0);
    assert_eq!(answer.method(), Some(Method::Joint { sets: 2, tallied: true }));
    assert_eq!(answer.to_json()["sketches"], 6);
}

#[test]
fn a_formula_whose_error_exceeds_its_value_says_so() {
    let confidence = parse_confidence("0.95").expect("in range");
    let files = [release("a", 0..50_000, "1"), release("b", 50_000..100_000, "1")];
    let both = estimate_formula(&files, "a & b", confidence).expect("alike");
    let (value, error) = size(&both);
    if error > value {
        assert!(["low_information", "below_noise"].contains(&both.estimate().status().as_str()), "{both:?}");
    }
    assert!(both.estimate().lower().is_some_and(|lower| lower <= 1e-9 + 8.0 * error), "{both:?}");
}
