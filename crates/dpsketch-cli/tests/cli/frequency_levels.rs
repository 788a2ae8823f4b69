//! Levels, shapes and flags of frequencies: what is refused, and what is warned about; studies, plans and ledgers.

use serde_json::{Value, json};

use crate::support::Folder;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("a.txt", "ann\nbob\nann\n");
    folder
}

fn build<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["build", "a.txt", "--kind", "countsketch", "--rows", "3", "--width", "64", "--out", "a.dps"][..], more].concat()
}

/// The refusal names the argument and its value and says what is allowed.
fn refused(folder: &Folder, args: &[&str], argument: &str, value: Option<&str>) {
    let error = folder.fails(2, args);
    assert_eq!(error["argument"], argument, "{args:?}: {error}");
    if let Some(value) = value {
        assert_eq!(error["value"], value, "{args:?}: {error}");
        assert!(error["allowed"].is_string(), "{error}");
    }
    assert!(!folder.path("a.dps").exists(), "{args:?}");
}

#[test]
fn absurd_levels_are_refused_with_argument_value_and_range() {
    let folder = folder();
    for value in ["0", "-1", "NaN", "inf", "-0.0", "1e-320", "1e300", "one", "257"] {
        refused(&folder, &build(&["--pure", "--epsilon", value]), "--epsilon", Some(value));
        refused(&folder, &build(&["--delta", "1e-6", "--epsilon", value]), "--epsilon", Some(value));
    }
    for value in ["0", "1", "2", "-1e-9", "NaN", "0.51", "one"] {
        refused(&folder, &build(&["--epsilon", "1", "--delta", value]), "--delta", Some(value));
    }
    for value in ["0", "-1", "NaN", "inf", "-0.0", "1e-320", "65537", "one"] {
        refused(&folder, &build(&["--rho", value]), "--rho", Some(value));
    }
    // In range, but the noise would not be: the message names the level all the same.
    refused(&folder, &build(&["--epsilon", "1e-9", "--delta", "1e-90"]), "--epsilon", Some("0.000000001"));
}

#[test]
fn flags_that_say_too_much_or_too_little_are_named() {
    let folder = folder();
    for (flags, argument) in [
        (&["--epsilon", "1"][..], "--epsilon"),
        (&["--delta", "1e-6"], "--delta"),
        (&["--pure"], "--pure"),
        (&["--epsilon", "1", "--delta", "1e-6", "--pure"], "--delta"),
        (&["--rho", "1", "--epsilon", "1"], "--epsilon"),
        (&["--rho", "1", "--delta", "1e-6"], "--delta"),
        (&["--rho", "1", "--levels", "24"], "--levels"),
        (&["--rho", "1", "--buckets", "1024"], "--buckets"),
        (&["--rho", "1", "--column", "a", "--group-by", "g"], "--group-by"),
        (&["--rho", "1", "--column", "a", "--weight", "w"], "--max-weight"),
    ] {
        refused(&folder, &build(flags), argument, None);
    }
    for (flags, argument) in [
        (&["--rows", "3"][..], "--rows"),
        (&["--width", "64"], "--width"),
        (&["--weight", "w"], "--weight"),
        (&["--clip-weights"], "--clip-weights"),
        (&["--max-weight", "2"], "--max-weight"),
        (&["--granularity", "1"], "--granularity"),
        (&["--rho", "1"], "--rho"),
        (&["--delta", "1e-6"], "--delta"),
        (&["--pure"], "--pure"),
        (&["--relation", "substitute"], "--relation"),
    ] {
        refused(&folder, &[&["build", "a.txt", "--out", "a.dps"][..], flags].concat(), argument, None);
    }
    let raw = folder.raw("r", &["ann"]);
    refused(&folder, &["release", &raw, "--epsilon", "1", "--delta", "1e-6", "--out", "a.dps"], "--delta", None);
    refused(&folder, &["release", &raw, "--out", "a.dps"], "--epsilon", None);
}

#[test]
fn shapes_and_bounds_out_of_range_are_refused() {
    let folder = folder();
    let args = |more: &[&'static str]| {
        [&["build", "a.txt", "--kind", "countsketch", "--rho", "1", "--out", "a.dps"][..], more].concat()
    };
    for (flag, values) in [
        ("--rows", &["0", "2", "256", "-1", "NaN", "one"][..]),
        ("--width", &["0", "1", "16777217", "-1", "NaN", "one"]),
        ("--max-weight", &["0", "-1", "NaN", "inf", "10000000000000000000", "one", "0.5"]),
        ("--granularity", &["0", "0.3", "2", "2^-53", "NaN", "one"]),
    ] {
        for value in values {
            refused(&folder, &args(&[flag, value]), flag, Some(value));
        }
    }
}

#[test]
fn levels_that_protect_little_warn() {
    let folder = folder();
    for (flags, word) in [
        (&["--epsilon", "11", "--pure"][..], Some("epsilon 11 protects little")),
        (&["--epsilon", "11", "--delta", "1e-6"], Some("epsilon 11 protects little")),
        (&["--epsilon", "1", "--delta", "0.01"], Some("delta 1e-2 protects little")),
        (&["--rho", "5"], Some("rho 5 protects little")),
        (&["--rho", "0.5"], None),
        (&["--epsilon", "1", "--delta", "1e-3"], None),
    ] {
        let run = folder.ok(&build(flags));
        match word {
            Some(word) => assert!(run.stderr.contains(word), "{}", run.stderr),
            None => assert!(!run.stderr.contains("warning"), "{}", run.stderr),
        }
    }
}

#[test]
fn a_ledger_of_rho_books_what_the_noise_costs_and_one_of_epsilon_only_pure_releases() {
    let folder = folder();
    folder.ok(&["ledger", "create", "--ledger", "r.ledger", "--rho", "1"]);
    folder.ok(&["ledger", "create", "--ledger", "e.ledger", "--epsilon", "1"]);
    let book = |ledger: &'static str| ["--ledger", ledger, "--label", "words"];
    let show = |ledger: &str| -> Value { folder.ok(&["ledger", "show", "--ledger", ledger, "--json"]).json() };
    folder.ok(&build(&[&["--rho", "0.25"][..], &book("r.ledger")].concat()));
    let release = folder.ok(&["inspect", "a.dps", "--json"]).json()[0]["releases"][0]["id"].clone();
    let found = show("r.ledger");
    assert_eq!((&found["remaining"], &found["spends"][0]["release"]), (&json!("0.75"), &release));
    // A pure release costs epsilon^2 / 2 in rho.
    folder.ok(&build(&[&["--epsilon", "1", "--pure"][..], &book("r.ledger")].concat()));
    assert_eq!(show("r.ledger")["remaining"], "0.25");
    let error = folder.fails(4, &build(&[&["--rho", "0.3"][..], &book("r.ledger")].concat()));
    assert_eq!((&error["argument"], &error["allowed"]), (&json!("--rho"), &json!("at most 0.25")));
    folder.ok(&["ledger", "spend", "--ledger", "r.ledger", "--label", "elsewhere", "--rho", "0.25"]);
    assert_eq!(show("r.ledger")["remaining"], "0");
    assert_eq!(
        folder.fails(2, &["ledger", "spend", "--ledger", "r.ledger", "--label", "x", "--rho", "0"])["argument"],
        "--rho"
    );
    folder.fails(2, &["ledger", "spend", "--ledger", "r.ledger", "--label", "x"]);

    folder.ok(&build(&[&["--epsilon", "0.5", "--pure"][..], &book("e.ledger")].concat()));
    assert_eq!(show("e.ledger")["remaining"], "0.5");
    folder.fails(4, &build(&[&["--rho", "0.1"][..], &book("e.ledger")].concat()));
    folder.fails(4, &["ledger", "spend", "--ledger", "e.ledger", "--label", "x", "--rho", "0.1"]);
    folder.fails(2, &build(&book("e.ledger")));
    assert_eq!(show("e.ledger")["remaining"], "0.5");

    let raw = ["build", "a.txt", "--kind", "countsketch", "--rows", "3", "--width", "64", "--out", "a.raw.dps"];
    folder.ok(&raw);
    let release = ["release", "a.raw.dps", "--epsilon", "0.5", "--pure", "--out", "b.dps"];
    folder.ok(&[&release[..], &book("e.ledger")].concat());
    assert_eq!(show("e.ledger")["remaining"], "0");
    let again = [&release[..], &book("e.ledger"), &["--again"]].concat();
    folder.fails(4, &again);
    assert_eq!(folder.ok(&["inspect", "a.raw.dps", "--json"]).json()[0]["times_released"], 1);
}

#[test]
fn a_study_decides_shape_bound_and_level() {
    let folder = folder();
    folder.write("a.csv", "item,w\nann,2\nbob,1.5\n");
    let study = ["--rows", "5", "--width", "128", "--granularity", "0.5", "--max-weight", "2", "--rho", "0.25"];
    let new = ["study", "new", "--kind", "countsketch", "--lowercase", "--out", "s.study"];
    let shown = folder.ok(&[&new[..], &study, &["--json"]].concat()).json();
    assert_eq!(
        (&shown["kind"], &shown["shape"], &shown["rho"]),
        (&json!("countsketch"), &json!("5 x 128"), &json!(0.25))
    );
    let build = ["build", "a.csv", "--column", "item", "--weight", "w", "--study", "s.study", "--out", "s.dps"];
    folder.ok(&build);
    folder.ok(&[&build[..], &study, &["--kind", "countsketch"]].concat());
    folder.ok(&["study", "check", "s.study", "s.dps"]);
    for (flags, argument) in [
        (&["--rows", "3"][..], "--rows"),
        (&["--width", "64"], "--width"),
        (&["--granularity", "1"], "--granularity"),
        (&["--max-weight", "3"], "--max-weight"),
        (&["--rho", "0.5"], "--rho"),
        (&["--epsilon", "1", "--pure"], "--epsilon"),
        (&["--relation", "substitute"], "--relation"),
        (&["--trim"], "--trim"),
        (&["--kind", "sfm"], "--kind"),
        (&["--user", "item", "--max-items", "2"], "--user"),
    ] {
        assert_eq!(folder.fails(2, &[&build[..], flags].concat())["argument"], argument);
    }
    let other = ["build", "a.csv", "--column", "item", "--kind", "countsketch", "--rho", "0.5", "--out", "o.dps"];
    folder.ok(&other);
    folder.fails(3, &["study", "check", "s.study", "o.dps"]);
    let sfm = folder.private("sfm", 0, 3, "1");
    folder.fails(3, &["study", "check", "s.study", &sfm]);
    assert_eq!(folder.ok(&["study", "check", "s.study", "--json"]).json()["level"], "rho");
}

#[test]
fn plans_are_those_of_the_formulas() {
    let folder = folder();
    let plan = ["plan", "--kind", "countsketch", "--total", "1e6", "--rho", "0.5"];
    let json = folder.ok(&[&plan[..], &["--rows", "15", "--width", "16384", "--json"]].concat()).json();
    // 15 rows of one unit each: variance 15 / (2 * 0.5).
    assert_eq!((&json["noise_variance"], &json["rows"], &json["width"]), (&json!(15.0), &json!(15), &json!(16384)));
    let found = folder.ok(&[&plan[..], &["--target-error", "5000", "--json"]].concat()).json();
    assert!(found["half_width"].as_f64().unwrap() <= 5000.0, "{found}");
    let small = folder.ok(&[&plan[..], &["--max-bytes", "100kB", "--json"]].concat()).json();
    assert!(small["bytes"].as_u64().unwrap() <= 100_000, "{small}");
    // What is planned is what is built.
    folder.ok(&["build", "a.txt", "--kind", "countsketch", "--rho", "0.5", "--out", "a.dps"]);
    assert_eq!(json["bytes"].as_u64(), Some(folder.read("a.dps").len() as u64));
    assert!(folder.ok(&plan).text().contains("build with: --rows 15 --width 16384"));
    for (flags, argument) in [
        (&["--distinct", "5"][..], "--distinct"),
        (&["--target-rse", "0.1"], "--target-rse"),
        (&["--levels", "3"], "--levels"),
        (&["--parties", "0"], "--parties"),
        (&["--target-error", "0"], "--target-error"),
        (&["--target-error", "NaN"], "--target-error"),
        (&["--target-error", "1e-9"], "--target-error"),
        (&["--max-bytes", "10"], "--max-bytes"),
    ] {
        assert_eq!(folder.fails(2, &[&plan[..], flags].concat())["argument"], argument);
    }
    for total in ["-1", "NaN", "inf", "one"] {
        let args = ["plan", "--kind", "countsketch", "--total", total, "--rho", "1"];
        assert_eq!(folder.fails(2, &args)["argument"], "--total", "{total}");
    }
    assert_eq!(folder.fails(2, &["plan", "--kind", "countsketch", "--rho", "1"])["argument"], "--total");
    assert_eq!(folder.fails(2, &["plan", "--kind", "countsketch", "--total", "1"])["argument"], "--rho");
    assert_eq!(folder.fails(2, &["plan", "--distinct", "5", "--epsilon", "1", "--total", "3"])["argument"], "--total");
    assert_eq!(folder.fails(2, &["plan", "--epsilon", "1"])["argument"], "--distinct");
}
