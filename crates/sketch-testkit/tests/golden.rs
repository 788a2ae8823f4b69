//! Comparison of computed values with golden ones.

use serde_json::{Value, json};
use sketch_testkit::{GoldenFile, Mismatch, Tolerance, compare, number};

const TIGHT: Tolerance = Tolerance { absolute: 0.0, relative: 1e-9 };

fn fields(want: &Value, got: &Value) -> Vec<String> {
    compare(want, got, TIGHT).into_iter().map(|miss: Mismatch| miss.field).collect()
}

#[test]
fn close_numbers_and_equal_words_pass() {
    let want = json!({"n": [1.0, 2, {"p": 0.5}], "status": "ok", "none": null, "yes": true});
    let got = json!({"n": [1.000_000_000_1, 2.0, {"p": 0.5}], "status": "ok", "none": null, "yes": true, "more": 1});
    assert!(fields(&want, &got).is_empty());
}

#[test]
fn every_difference_is_named_where_it_is() {
    let want = json!({"n": [1.0, 2.0], "a": {"b": [0, {"c": 1}]}, "status": "ok", "gone": 1, "none": null});
    let got = json!({"n": [1.0, 2.1], "a": {"b": [0, {"c": 2}]}, "status": "empty", "none": 0});
    // In which order an object is walked depends on a feature of `serde_json` that other packages may turn on.
    let mut different = fields(&want, &got);
    different.sort();
    assert_eq!(different, ["a.b.1.c", "gone", "n.1", "none", "status"]);
    assert_eq!(fields(&json!([1, 2]), &json!([1])), [""]);
}

#[test]
fn not_a_number_and_missing_values_never_pass() {
    let wide = Tolerance { absolute: f64::INFINITY, relative: 1.0 };
    assert_eq!(compare(&json!(1.0), &json!(f64::NAN), wide).len(), 1);
    assert_eq!(compare(&json!({"x": 1.0}), &json!({}), wide).len(), 1);
    assert_eq!(compare(&json!(1.0), &json!("1.0"), wide).len(), 1);
}

#[test]
fn wanted_zero_without_tolerance_is_exactly_zero() {
    assert!(compare(&json!(0), &json!(-0.0), TIGHT).is_empty());
    assert_eq!(compare(&json!(0), &json!(1e-300), TIGHT).len(), 1);
}

#[test]
fn large_integers_are_compared_as_integers() {
    let (want, got) = (json!(u64::MAX), json!(u64::MAX - 1));
    assert_eq!(compare(&want, &got, Tolerance::EXACT).len(), 1);
}

#[test]
fn both_spellings_of_a_case_are_understood() {
    let text = r#"{"cases": [
        {"id": "a", "kind": "k", "input": {}, "expect": {"y": 2}, "rtol": 0.5, "atol": 0.25},
        {"id": "b", "kind": "k", "input": {}, "expected": {"y": 2}, "tol_rel": 0.5, "tol_abs": 0.25},
        {"id": "c", "kind": "other", "input": {}, "expect": 1}
    ], "count": 3}"#;
    let file = GoldenFile::parse(text).expect("a golden file");
    let tolerances: Vec<Tolerance> = file.of_kind("k").map(|case| case.tolerance).collect();
    assert_eq!(tolerances, [Tolerance { absolute: 0.25, relative: 0.5 }; 2]);
    assert!(file.cases[0].check(&json!({"y": 3.25})).is_empty());
    assert_eq!(file.cases[1].check(&json!({"y": 3.26})).len(), 1);
    assert_eq!(file.cases[2].tolerance, Tolerance::EXACT);
}

#[test]
fn unusable_files_say_what_is_wrong() {
    let error = |text: &str| GoldenFile::parse(text).expect_err("refused");
    assert_eq!(error("{}"), "no list `cases`");
    assert_eq!(error(r#"{"cases": [], "count": 2}"#), "expected 2 cases, found 0");
    assert_eq!(error(r#"{"cases": [{"id": "a", "kind": "k", "input": 1}]}"#), "case 0: no field `expect`");
    assert!(GoldenFile::read("absent.json").expect_err("refused").starts_with("absent.json: "));
}

#[test]
#[should_panic(expected = "case-1 y: got 3, want 2")]
fn a_failing_case_names_itself_field_and_values() {
    let text = r#"{"cases": [{"id": "case-1", "kind": "k", "input": {}, "expect": {"y": 2}}]}"#;
    GoldenFile::parse(text).expect("a golden file").cases[0].assert(&json!({"y": 3}));
}

#[test]
fn infinity_is_a_word() {
    assert_eq!(number(&json!("inf")), Some(f64::INFINITY));
    assert_eq!(number(&json!(2)), Some(2.0));
    assert_eq!(number(&json!("many")), None);
}
