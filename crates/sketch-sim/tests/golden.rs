//! The golden-file runner on whole files.

mod support;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sketch_sim::golden::run;

use support::wrong;

/// The kinds that the product computes today.
const KINDS: &str = "mechanism,dp_level,merge,nway_or,likelihood,edge,asymptotic,linear_counting,bloom,\
                     liquid_legions,hash,placement,presto_bytes,product_statistic";

fn kinds() -> Vec<String> {
    KINDS.split(',').map(str::to_owned).collect()
}

fn public_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../sfm-pcsa/tests/golden/sfm_golden.json")
}

/// Runs a file of the given cases.
fn run_cases(name: &str, cases: &Value) -> (usize, usize, String) {
    let file = json!({ "schema": "sfm-golden/1", "count": cases.as_array().map(Vec::len), "cases": cases });
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.json"));
    std::fs::write(&path, file.to_string()).expect("the test folder can be written");
    let report = run(&[path], &[]);
    (report.passed(), report.failed(), report.to_string())
}

/// A case of linear counting: 900 of 1024 cells empty; n̂ = ln(900/1024)/ln(1 − 1/1024).
fn case(mle: f64) -> Value {
    json!({
        "id": "mine", "kind": "linear_counting", "rtol": 1e-11, "atol": 0.0,
        "input": { "cells": 1024, "p": 1.0, "q": 0.0, "ones": 124.0 },
        "expect": { "rho": 1.0 / 1024.0, "mle": mle, "note": "a remark" },
    })
}

/// The expected value of [`case`], from its formula.
fn right() -> f64 {
    (900.0_f64 / 1024.0).ln() / (-1.0_f64 / 1024.0).ln_1p()
}

#[test]
fn every_public_case_of_the_kinds_that_exist_passes() {
    let report = run(&[public_file()], &kinds());
    assert!(report.is_clean(), "{report}");
    assert!(report.passed() >= 66, "{report}");
}

#[test]
fn every_case_of_the_sections_of_count_sketches_passes() {
    let report = run(&[sections_file()], &[]);
    assert!(report.is_clean(), "{report}");
    assert_eq!(report.passed(), 225, "{report}");
}

fn parity_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../f0-sketch/tests/golden/f0_golden.json")
}

#[test]
fn every_case_of_parity_sketches_passes() {
    let report = run(&[parity_file()], &[]);
    assert!(report.is_clean(), "{report}");
    assert_eq!(report.passed(), 62, "{report}");
}

#[test]
fn a_wrong_value_of_any_kind_of_parity_sketches_fails() {
    let text = std::fs::read_to_string(parity_file()).expect("the file is there");
    let file: Value = serde_json::from_str(&text).expect("the file is JSON");
    let cases = file["cases"].as_array().expect("a list of cases");
    for (index, case) in cases.iter().enumerate() {
        for field in case["expected"].as_object().expect("named values").keys() {
            let mut changed = file.clone();
            let value = &mut changed["cases"][index]["expected"][field];
            *value = wrong(value);
            let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("wrong_parity.json");
            std::fs::write(&path, changed.to_string()).expect("the test folder can be written");
            let report = run(&[path], &[]);
            assert_eq!((report.passed(), report.failed()), (61, 1), "{}, {field}: {report}", case["id"]);
        }
    }
}

fn sections_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../countsketch-dp/tests/golden/countsketch_golden.json")
}

/// Runs the file of sections after a change.
fn run_changed(name: &str, change: impl Fn(&mut Value)) -> (usize, String) {
    let text = std::fs::read_to_string(sections_file()).expect("the file is there");
    let mut file: Value = serde_json::from_str(&text).expect("the file is JSON");
    change(&mut file["sections"]);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.json"));
    std::fs::write(&path, file.to_string()).expect("the test folder can be written");
    let report = run(&[path], &[]);
    (report.failed(), report.to_string())
}

#[test]
fn a_wrong_number_in_any_section_fails() {
    let of_cases = [
        ("sigma_zcdp", "sigma2"),
        ("laplace_scale", "scale"),
        ("analytic_gaussian", "classical_sigma"),
        ("gaussian_delta", "delta"),
        ("zcdp_to_dp", "eps_tight"),
        ("dp_to_zcdp", "rho"),
        ("zcdp_delta", "alpha_opt"),
        ("discrete_gaussian", "variance"),
        ("discrete_gaussian_delta_1d", "delta"),
        ("discrete_laplace", "pmf"),
        ("bernoulli_exp", "hex"),
        ("distributed_dgauss", "tau"),
        ("median_tail", "exact"),
        ("median_of_gaussians", "cdf_abs"),
        ("min_of_gaussians_mean", "bias"),
        ("order_statistic_ci", "r"),
        ("row_probability", "cheb"),
        ("count_mean_central", "estimate"),
        ("count_mean_local", "estimate"),
        ("merge", "loss_shared"),
        ("top_up", "extra_sigma2"),
        ("hierarchy", "sigma2"),
        ("exact_delta_rows", "delta_exact"),
    ];
    let others = [("f2_inner", "f2", "variance"), ("f2_inner", "inner", "variance")];
    for (section, list, field) in of_cases.map(|(section, field)| (section, "cases", field)).into_iter().chain(others) {
        let wrong = json!({ "7": 7 });
        let (failed, text) = run_changed("wrong", |sections| sections[section][list][0][field] = wrong.clone());
        assert_eq!(failed, 1, "{section}: {text}");
    }
    let (failed, _) = run_changed("slope", |sections| sections["row_probability_slope"]["value"] = json!(0.3));
    assert_eq!(failed, 1);
}

#[test]
fn an_unknown_section_or_field_fails() {
    let (failed, text) = run_changed("section", |sections| sections["oracle"] = json!({ "rtol": 0, "cases": [] }));
    assert!(failed == 1 && text.contains("unknown section `oracle`"), "{text}");
    let (failed, text) = run_changed("more", |sections| sections["merge"]["more"] = json!([]));
    assert!(failed == 1 && text.contains("unknown field `more`"), "{text}");
    let (failed, text) = run_changed("wanted", |sections| sections["merge"]["cases"][0]["charm"] = json!(1));
    assert!(failed == 1 && text.contains("charm: got not computed"), "{text}");
}

/// The tolerance of a field counts for that field alone.
#[test]
fn absolute_tolerances_of_fields_are_kept() {
    let shift = |value: f64| {
        move |sections: &mut Value| {
            let bias = &mut sections["min_of_gaussians_mean"]["cases"][0]["bias"];
            *bias = json!(bias.as_f64().unwrap() + value);
        }
    };
    assert_eq!(run_changed("near", shift(0.9e-12)).0, 0);
    assert_eq!(run_changed("far", shift(1.1e-12)).0, 1);
}

#[test]
fn a_right_case_passes() {
    assert_eq!(run_cases("right", &json!([case(right())])), (1, 0, "1 passed, 0 failed".to_owned()));
}

#[test]
fn a_wrong_field_is_named_with_what_was_got_and_wanted() {
    let (passed, failed, text) = run_cases("wrong_case", &json!([case(right()), case(130.0)]));
    assert_eq!((passed, failed), (1, 1));
    assert!(text.contains("mine mle: got 132.") && text.contains("want 130"), "{text}");
    assert!(text.ends_with("1 passed, 1 failed"), "{text}");
}

#[test]
fn a_field_that_nothing_computes_fails() {
    let mut unknown = case(right());
    unknown["expect"]["variance"] = json!(1.0);
    let (_, failed, text) = run_cases("field", &json!([unknown]));
    assert_eq!(failed, 1);
    assert!(text.contains("variance: got not computed"), "{text}");
}

#[test]
fn an_unknown_kind_fails() {
    let mut unknown = case(right());
    unknown["kind"] = json!("crystal_ball");
    let (passed, failed, text) = run_cases("kind", &json!([unknown]));
    assert_eq!((passed, failed), (0, 1));
    assert!(text.contains("unknown kind"), "{text}");
}

#[test]
fn arguments_that_the_product_refuses_fail_their_case() {
    let mut absurd = case(right());
    absurd["input"]["ones"] = json!(5000);
    let (_, failed, text) = run_cases("refused", &json!([absurd]));
    assert_eq!(failed, 1);
    assert!(text.contains("refused"), "{text}");
}

#[test]
fn an_unknown_schema_a_wrong_count_and_a_missing_file_fail() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let write = |name: &str, json: &Value| {
        let path = folder.join(name);
        std::fs::write(&path, json.to_string()).unwrap();
        path
    };
    let schema = write("schema.json", &json!({ "schema": "other/1", "cases": [] }));
    let count = write("count.json", &json!({ "schema": "sfm-golden/1", "count": 2, "cases": [case(right())] }));
    let report = run(&[schema, count, folder.join("no-such.json")], &[]);
    assert_eq!((report.passed(), report.failed()), (0, 3), "{report}");
}

#[test]
fn an_unknown_kind_to_select_fails() {
    let report = run(&[public_file()], &["dp_level".to_owned(), "dp_lever".to_owned()]);
    assert_eq!((report.passed(), report.failed()), (4, 1), "{report}");
}

/// Other parameters than the public file has, with expectations from the formulas in the comments.
#[test]
fn kinds_take_any_parameters() {
    let flip = |epsilon: f64| 1.0 / (1.0 + epsilon.exp());
    let wide: Vec<f64> = vec![40.0; 3];
    // a* = Π (1 − e^-ε); symmetric: p* = 1/(2 − a*), ε* = −ln(1 − a*).
    let lost = -(wide.iter().map(|epsilon| (-(-epsilon).exp()).ln_1p()).sum::<f64>()).exp_m1();
    let cases = json!([
        { "id": "strong", "kind": "mechanism", "rtol": 1e-12, "atol": 0.0, "input": { "eps": 20 },
          // ⌈2^64/(1 + e^20)⌉ by decimal arithmetic with 60 digits.
          "expect": { "symmetric": { "p": 1.0 - flip(20.0), "q": flip(20.0),
                                     "min_q_numerator_over_2pow64": "38021573292" },
                      "xor_family": { "p": 0.5, "q": 0.5 * (-20.0_f64).exp() } } },
        { "id": "level", "kind": "dp_level", "rtol": 1e-12, "atol": 0.0, "input": { "p": 0.2, "q": 0.05 },
          "expect": { "eps": 4.0_f64.ln() } },
        { "id": "nway", "kind": "nway_or", "rtol": 1e-12, "atol": 0.0, "input": { "eps": wide },
          "expect": { "symmetric": { "p": 1.0 / (1.0 + lost), "q": lost / (1.0 + lost), "eps": -lost.ln() } } },
        { "id": "one", "kind": "nway_or", "rtol": 1e-12, "atol": 0.0, "input": { "eps": ["inf", 1] },
          "expect": { "symmetric": { "p": 1.0 - flip(1.0), "q": flip(1.0), "eps": 1.0 } } },
        { "id": "full", "kind": "edge", "rtol": 1e-12, "atol": 0.0,
          "input": { "B": 16, "P": 2, "p": 0.9, "q": 0.1, "ones_per_level": [16, 16] },
          // n_cap = (ln B + 5)/ρ of the last level = (ln 16 + 5)·32.
          "expect": { "status": "saturated", "mle": (16.0_f64.ln() + 5.0) * 32.0, "n_cap": (16.0_f64.ln() + 5.0) * 32.0 } },
        { "id": "places", "kind": "placement", "rtol": 0.0, "atol": 0.0,
          "input": { "index_bits": 1, "P": 63, "hashes": ["c000000000000000", "0000000000000100"] },
          "expect": { "bucket_level": [[1, 62], [0, 8]] } },
        // n = ln((p/d)/(...)): one sketch, no noise, 3 of 4 cells empty.
        { "id": "plain", "kind": "product_statistic", "rtol": 1e-12, "atol": 0.0,
          "input": { "p": 1.0, "q": 0.0, "cells_with_w_ones": [3, 1] },
          "expect": { "sum_of_products": 3.0, "empty_fraction_estimate": 0.75 } },
    ]);
    let (passed, failed, text) = run_cases("other", &cases);
    assert_eq!((passed, failed), (7, 0), "{text}");
}
