//! `estimate`: numbers, intervals, and what they cost.

use serde_json::Value;

use crate::support::{Folder, text_of};

const FIELDS: [&str; 10] =
    ["kind", "estimate", "std_error", "lower", "upper", "confidence", "status", "epsilon", "epsilon_total", "sketches"];

#[test]
fn json_has_every_field() {
    let folder = Folder::new();
    let file = folder.private("a", 0, 20_000, "4");
    let json = folder.ok(&["estimate", &file, "--json"]).json();
    for field in FIELDS {
        assert!(json.get(field).is_some(), "{field}: {json}");
    }
    assert_eq!(json["kind"], "sfm");
    assert_eq!(json["status"], "ok");
    assert_eq!((json["epsilon"].as_f64(), json["epsilon_total"].as_f64()), (Some(4.0), Some(4.0)));
    assert_eq!((json["sketches"].as_u64(), json["confidence"].as_f64()), (Some(1), Some(0.95)));
    // Predicted error 1.0 %; eight standard errors are missed once in 10^15 runs.
    let estimate = json["estimate"].as_f64().unwrap();
    assert!((estimate - 20_000.0).abs() < 8.0 * 0.012 * 20_000.0, "{estimate}");
    let (lower, upper) = (json["lower"].as_f64().unwrap(), json["upper"].as_f64().unwrap());
    assert!(lower < estimate && estimate < upper);
}

#[test]
fn a_union_adds_up_epsilons_and_counts_releases() {
    let folder = Folder::new();
    let files = [
        folder.private("a", 0, 20_000, "4"),
        folder.private("b", 10_000, 30_000, "2.5"),
        folder.private("c", 0, 5, "0.1"),
    ];
    let args = ["estimate", &files[0], &files[1], &files[2], "--json"];
    let run = folder.ok(&args);
    let json = run.json();
    assert_eq!((json["epsilon"].as_f64(), json["epsilon_total"].as_f64()), (Some(4.0), Some(6.6)));
    assert_eq!(json["sketches"], 3);
    assert_eq!(folder.ok(&args).stdout, run.stdout, "no coins are drawn, so asking again gives the same answer");
}

#[test]
fn the_union_of_two_overlapping_sets_is_estimated() {
    let folder = Folder::new();
    let files = [folder.private("a", 0, 20_000, "4"), folder.private("b", 10_000, 30_000, "4")];
    let json = folder.ok(&["estimate", &files[0], &files[1], "--json"]).json();
    // Two sketches at epsilon 4 err by about 1.3 %; eight standard errors.
    assert!((json["estimate"].as_f64().unwrap() - 30_000.0).abs() < 8.0 * 0.015 * 30_000.0, "{json}");
}

#[test]
fn leaves_of_merged_files_are_counted() {
    let folder = Folder::new();
    let files = [folder.private("a", 0, 20_000, "4"), folder.private("b", 10_000, 30_000, "2")];
    folder.ok(&["merge", &files[0], &files[1], "--out", "m.dps"]);
    let json = folder.ok(&["estimate", "m.dps", "--json"]).json();
    assert_eq!((json["epsilon"].as_f64(), json["epsilon_total"].as_f64()), (Some(4.0), Some(6.0)));
    assert_eq!(json["sketches"], 2);
}

#[test]
fn raw_sketches_have_no_epsilon_and_are_warned_about() {
    let folder = Folder::new();
    let raw = folder.raw("a", &["ann", "bob"]);
    let run = folder.ok(&["estimate", &raw, "--json"]);
    let json = run.json();
    assert!(json["epsilon"].is_null() && json["epsilon_total"].is_null());
    assert!((json["estimate"].as_f64().unwrap() - 2.0).abs() < 0.01);
    assert!(run.stderr.contains("not private"), "{}", run.stderr);
    assert!(folder.ok(&["estimate", &raw]).text().contains("NONE"));
}

#[test]
fn an_empty_raw_sketch_is_empty_and_not_an_error() {
    let folder = Folder::new();
    let raw = folder.raw("a", &[]);
    let json = folder.ok(&["estimate", &raw, "--json"]).json();
    assert_eq!(json["status"], "empty");
    assert_eq!(json["estimate"].as_f64(), Some(0.0));
}

#[test]
fn a_saturated_sketch_has_a_lower_bound_and_no_estimate() {
    let folder = Folder::new();
    folder.write("a.txt", text_of((0..20_000).map(|line| line.to_string())));
    folder.ok(&["build", "a.txt", "--buckets", "2", "--levels", "1", "--out", "a.raw.dps"]);
    let json = folder.ok(&["estimate", "a.raw.dps", "--json"]).json();
    assert_eq!(json["status"], "saturated");
    assert!(json["estimate"].is_null() && json["upper"].is_null(), "{json}");
    assert!(json["lower"].as_f64().unwrap() > 0.0);
    assert!(folder.ok(&["estimate", "a.raw.dps"]).text().contains("at least"));
}

#[test]
fn the_confidence_is_as_asked_for() {
    let folder = Folder::new();
    let file = folder.private("a", 0, 20_000, "4");
    let width = |confidence: &str| {
        let json = folder.ok(&["estimate", &file, "--confidence", confidence, "--json"]).json();
        assert_eq!(json["confidence"], confidence.parse::<f64>().unwrap());
        json["upper"].as_f64().unwrap() - json["lower"].as_f64().unwrap()
    };
    assert!(width("0.5") < width("0.95") && width("0.95") < width("0.999"));
}

#[test]
fn every_format_tells_the_same() {
    let folder = Folder::new();
    let file = folder.private("a", 0, 20_000, "4");
    let json = folder.ok(&["estimate", &file, "--format", "json"]).json();
    let ndjson = folder.ok(&["estimate", &file, "--format", "ndjson"]);
    assert_eq!(ndjson.json(), json);
    assert_eq!(ndjson.text().lines().count(), 1);
    let csv = folder.ok(&["estimate", &file, "--csv"]).text();
    let mut table = csv::Reader::from_reader(csv.as_bytes());
    let headers = table.headers().unwrap().clone();
    let row = table.records().next().unwrap().unwrap();
    for (name, field) in headers.iter().zip(&row) {
        match &json[name] {
            Value::String(text) => assert_eq!(field, text, "{name}"),
            Value::Null => assert_eq!(field, "", "{name}"),
            // Reading a number from JSON may round its last digit.
            Value::Number(number) => {
                let (shown, number) = (field.parse::<f64>().unwrap(), number.as_f64().unwrap());
                assert!((shown - number).abs() <= 1e-12 * number.abs(), "{name}: {shown} {number}");
            }
            other => assert!(field.starts_with('{'), "{name}: {other}"),
        }
    }
}

#[test]
fn text_says_what_matters() {
    let folder = Folder::new();
    let file = folder.private("a", 0, 20_000, "4");
    let text = folder.ok(&["estimate", &file]).text();
    for word in ["about", "95 % confidence", "std error", "ok: the interval holds", "epsilon 4"] {
        assert!(text.contains(word), "{word} is not in {text}");
    }
}

#[test]
fn a_confidence_is_told_with_the_digits_it_has() {
    let folder = Folder::new();
    let file = folder.private("a", 0, 20_000, "4");
    for (confidence, told) in [("1e-6", "(0.0001 % confidence)"), ("0.99999999", "(99.999999 % confidence)")] {
        let text = folder.ok(&["estimate", &file, "--confidence", confidence]).text();
        assert!(text.contains(told), "{told}: {text}");
    }
}

#[test]
fn several_full_sketches_may_be_full_of_noise() {
    let folder = Folder::new();
    folder.write("a.txt", text_of((0..200_000).map(|line| line.to_string())));
    let shape = ["--buckets", "16", "--levels", "2", "--epsilon", "8"];
    for out in ["a.dps", "b.dps"] {
        folder.ok(&[&["build", "a.txt", "--out", out], &shape[..]].concat());
    }
    let one = folder.ok(&["estimate", "a.dps"]).text();
    assert!(one.contains("saturated: more items than a sketch of this size can tell apart; build"), "{one}");
    let both = folder.ok(&["estimate", "a.dps", "b.dps"]).text();
    assert!(both.contains("saturated: more items, or more noise, than sketches of this size"), "{both}");
}
