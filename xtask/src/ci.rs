//! `ci`: every check in order. The same run on a desk and in continuous integration.
//!
//! Building is what costs time, so the steps keep to three sets of artefacts: metadata (lints, API pages), the test
//! profile (tests, doctests, benches run once) and the optimised simulator.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::args::Args;
use crate::audit;
use crate::docs;
use crate::failure::Failure;
use crate::features;
use crate::layers;
use crate::process;
use crate::setup;
use crate::sim;
use crate::steps::Steps;
use crate::test::{self, Extent, Features};
use crate::workspace::Workspace;

pub(crate) const USAGE: &str = "\
Usage: cargo xtask ci [--quick] [--strict]

Runs every check, also after one has failed, and lists the failures at the end.

Options:
  --quick   formatting, lints, layers, unit tests and golden cases only
  --strict  a missing tool fails its step instead of skipping it; on by itself when CI=true, where `setup` runs first
";

pub(crate) fn run(mut args: Args) -> Result<(), Failure> {
    let quick = args.flag("--quick");
    let in_ci = std::env::var("CI").is_ok_and(|value| value == "true");
    let strict = args.flag("--strict") || in_ci;
    args.finish()?;
    let mut steps = Steps::new(strict);
    if in_ci && !quick {
        steps.run("setup", setup::install_defaults);
    }
    sources(&mut steps);
    if quick {
        steps.run("unit tests", || test::tests(Features::All, Extent::Unit));
        steps.run("golden cases", golden);
    } else {
        tests(&mut steps);
        documents(&mut steps);
    }
    steps.finish()
}

/// What can be said without running the product.
fn sources(steps: &mut Steps) {
    steps.run("formatting", || process::run(&mut process::cargo(["fmt", "--all", "--check"])));
    steps.run("layers", || layers::check_or_write(true));
    steps.run("features of what is shipped", features::check);
    steps.run("lints, all features", || clippy(&["--workspace", "--all-targets", "--all-features"]));
    steps.run("lints, no features", || {
        for selection in test::without_defaults(&Workspace::load()?) {
            let words: Vec<&str> = selection.iter().map(String::as_str).collect();
            clippy(&words)?;
        }
        Ok(())
    });
}

fn clippy(selection: &[&str]) -> Result<(), Failure> {
    process::run(process::cargo(["clippy", "--quiet"]).args(selection).args(["--", "--deny", "warnings"]))
}

fn tests(steps: &mut Steps) {
    steps.run("tests, all features", || test::tests(Features::All, Extent::Usual));
    steps.run("tests, default features", || test::tests(Features::Default, Extent::Usual));
    steps.run("tests, no features", || test::tests(Features::None, Extent::Usual));
    steps.run("doctests", test::doctests);
    steps.run("benches, once", || {
        process::run(&mut process::cargo([
            "test",
            "--quiet",
            "--package",
            "dpsketch-benches",
            "--benches",
            "--all-features",
        ]))
    });
    steps.run("golden cases", golden);
    steps.run("figures against theory", sim::check_figures);
}

/// Kinds of cases that golden files of each schema must hold: a file that is lost would otherwise pass in silence.
const GOLDEN_KINDS: &[(&str, &[&str])] = &[
    (
        "sfm-golden/1",
        &[
            "mechanism",
            "dp_level",
            "merge",
            "nway_or",
            "likelihood",
            "edge",
            "asymptotic",
            "linear_counting",
            "bloom",
            "liquid_legions",
            "hash",
            "placement",
            "presto_bytes",
            "product_statistic",
        ],
    ),
    (
        "countsketch-golden-v1",
        &[
            "sigma_zcdp",
            "laplace_scale",
            "analytic_gaussian",
            "gaussian_delta",
            "zcdp_to_dp",
            "dp_to_zcdp",
            "zcdp_delta",
            "discrete_gaussian",
            "discrete_gaussian_delta_1d",
            "discrete_laplace",
            "bernoulli_exp",
            "distributed_dgauss",
            "median_tail",
            "median_of_gaussians",
            "min_of_gaussians_mean",
            "order_statistic_ci",
            "row_probability",
            "row_probability_slope",
            "count_mean_central",
            "count_mean_local",
            "f2_inner",
            "merge",
            "top_up",
            "hierarchy",
            "exact_delta_rows",
        ],
    ),
    (
        "1",
        &[
            "noise",
            "xor_compose",
            "level_from_hash",
            "expected_ones",
            "weighted_expected_ones",
            "loglik",
            "mle",
            "predicted_error",
            "plan",
            "subsample",
            "interval",
            "set_ops",
            "joint_fisher",
            "gf2_rref",
            "gf2_mul",
            "gf2_inverse",
            "gf2_solve",
            "gf2_vec",
        ],
    ),
    ("beyond-golden/1", &["tally_kernel", "tally_loglik", "tally_mle", "joint_venn", "venn_expr"]),
];

/// All cases of all files, after a look that no kind is without any.
fn golden() -> Result<(), Failure> {
    let missing = missing_kinds(&process::root())?;
    if !missing.is_empty() {
        return Err(Failure::Failed(format!("no golden case of kind {}", missing.join(", "))));
    }
    sim::run_golden(Args::new(std::iter::empty()))
}

/// The kinds of [`GOLDEN_KINDS`] that no case of a golden file has.
fn missing_kinds(root: &Path) -> Result<Vec<&'static str>, Failure> {
    let mut found = BTreeSet::new();
    for member in std::fs::read_dir(root.join("crates"))? {
        let folder = member?.path().join("tests/golden");
        if !folder.is_dir() {
            continue;
        }
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.file_name().is_some_and(|name| name.to_string_lossy().ends_with("_golden.json")) {
                found.extend(kinds_in(&process::read(&path)?));
            }
        }
    }
    let wanted = GOLDEN_KINDS.iter().flat_map(|(schema, kinds)| kinds.iter().map(move |kind| (*schema, *kind)));
    let missing = wanted.filter(|(schema, kind)| !found.contains(&((*schema).to_owned(), (*kind).to_owned())));
    Ok(missing.map(|(_, kind)| kind).collect())
}

/// The schema of a golden file with each kind of its cases, which stand in a list or in sections named by kind.
fn kinds_in(text: &str) -> BTreeSet<(String, String)> {
    let json: Value = serde_json::from_str(text).unwrap_or_default();
    // A word, or a number.
    let schema = json.get("schema").map(Value::to_string).unwrap_or_default();
    let schema = schema.trim_matches('"');
    let cases = json["cases"].as_array().map(Vec::as_slice).unwrap_or_default();
    let listed = cases.iter().filter_map(|case| case["kind"].as_str()).map(str::to_owned);
    let sections = json["sections"].as_object().into_iter().flat_map(|sections| sections.keys().cloned());
    listed.chain(sections).map(|kind| (schema.to_owned(), kind)).collect()
}

fn documents(steps: &mut Steps) {
    let reader = process::root().join("docs/reader/test_reader.py");
    let python = process::works(std::process::Command::new("python3").arg("--version")).then_some("python3");
    steps.run_with("reader of the file format", ("python3", python), |program| {
        process::run(std::process::Command::new(program).arg("-B").arg(&reader).current_dir(process::root()))
    });
    steps.run("links", docs::check_links);
    steps.run("API pages", docs::check_pages);
    steps.run_with("book", ("mdbook", setup::find("mdbook")), |mdbook| docs::build_site(&mdbook));
    steps.run_with("spelling", ("typos", setup::find("typos")), |typos| audit::spelling(&typos));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_case() {
        assert_eq!(missing_kinds(&process::root()).expect("the golden files can be read"), Vec::<&str>::new());
    }

    #[test]
    fn kinds_are_read_from_lists_of_cases_and_from_sections() {
        let kinds = |text: &str| kinds_in(text).into_iter().map(|(_, kind)| kind).collect::<Vec<_>>();
        assert_eq!(kinds(r#"{"cases": [{"kind": "a"}, {"kind": "b"}, {"kind": "a"}, {}]}"#), ["a", "b"]);
        assert_eq!(kinds(r#"{"sections": {"c": {}, "d": {}}}"#), ["c", "d"]);
        assert!(kinds("not JSON").is_empty());
        let schema = |text: &str| kinds_in(text).into_iter().map(|(schema, _)| schema).collect::<Vec<_>>();
        assert_eq!(schema(r#"{"schema": 1, "cases": [{"kind": "a"}]}"#), ["1"]);
        assert_eq!(schema(r#"{"schema": "one", "cases": [{"kind": "a"}]}"#), ["one"]);
    }
}
