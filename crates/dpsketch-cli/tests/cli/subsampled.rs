//! Sketches of a secret sample through the command line. Answers are within six standard errors, which noise crosses once in 10^8.

use serde_json::Value;

use crate::support::{Folder, text_of};

fn users(from: u32, to: u32) -> String {
    text_of((from..to).map(|user| format!("user {user}")))
}

fn within(json: &Value, exact: f64) {
    let (value, error) = (json["estimate"].as_f64().expect("a value"), json["std_error"].as_f64().expect("an error"));
    assert!((value - exact).abs() < 6.0 * error && error < exact / 3.0, "{json}: {exact}");
}

fn key(folder: &Folder, name: &str) {
    folder.ok(&["key", "new", "--subsample", name]);
}

/// `build … --subsample-key … --subsample-rate 0.2 --out OUT` of `in.txt`.
fn build(folder: &Folder, kind: &str, key: &str, more: &[&str], out: &str) -> String {
    let args = ["build", "in.txt", "--kind", kind, "--subsample-key", key, "--subsample-rate", "0.2", "--out", out];
    folder.ok(&[&args[..], more].concat()).stderr
}

#[test]
fn samples_of_both_kinds_are_built_released_merged_and_estimated() {
    let folder = Folder::new();
    key(&folder, "k.key");
    for kind in ["sfm", "f0"] {
        folder.write("in.txt", users(0, 20_000) + &users(0, 500));
        build(&folder, kind, "k.key", &[], "a.raw.dps");
        within(&folder.ok(&["estimate", "a.raw.dps", "--json"]).json(), 20_000.0);
        let run = folder.ok(&["release", "a.raw.dps", "--epsilon", "1", "--out", "a.dps"]);
        assert!(run.stderr.contains("as long as the sample key is secret"), "{}", run.stderr);
        assert!(run.stderr.contains("nothing else is released under it"), "{}", run.stderr);
        folder.write("in.txt", users(10_000, 40_000));
        build(&folder, kind, "k.key", &["--epsilon", "1"], "b.dps");
        let json = folder.ok(&["estimate", "a.dps", "--json"]).json();
        within(&json, 20_000.0);
        // ln(1 + (e − 1)/0.2) = 2.26.
        let inner = json["epsilon_if_key_known"].as_f64().expect("a level");
        assert!((inner - (1.0 + 1_f64.exp_m1() / 0.2).ln()).abs() < 1e-6, "{json}");
        assert_eq!((&json["epsilon"], &json["kind"]), (&1.0.into(), &format!("{kind}-subsampled").into()));
        let text = folder.ok(&["estimate", "a.dps"]).text();
        assert!(text.contains("2.26 towards whoever has the key"), "{text}");
        // The union of 40,000, and in mode set the difference of 30,000.
        let exact = if kind == "sfm" { 40_000.0 } else { 30_000.0 };
        let json = folder.ok(&["estimate", "a.dps", "b.dps", "--json"]).json();
        within(&json, exact);
        // One key: ln(1 + 0.2 (e^4.52 − 1)) = 2.96, not 2.
        let both = (1.0 + 0.2 * ((2.0 * inner).exp() - 1.0)).ln();
        assert!((json["epsilon_total"].as_f64().expect("a level") - both).abs() < 1e-6 && both > 2.9, "{json}");
        let merged = folder.ok(&["merge", "a.dps", "b.dps", "--out", "m.dps"]);
        // Two sets of kind f0 become their difference, which is said.
        let asked = |args: &[&str]| folder.ok(&[&["estimate"], args].concat()).text();
        assert_eq!(merged.stderr.contains("symmetric difference"), kind == "f0", "{}", merged.stderr);
        for files in [&["a.dps", "b.dps"][..], &["m.dps"]] {
            assert_eq!(asked(files).contains("items in exactly one of the two sets"), kind == "f0");
            let json = folder.ok(&[&["estimate", "--json"], files].concat()).json();
            let of = if kind == "f0" { "symmetric_difference".into() } else { Value::Null };
            assert_eq!(json.get("of").unwrap_or(&Value::Null), &of, "{json}");
        }
        let told = asked(&["a.dps", "b.dps"]);
        assert!(told.contains(&format!("{:.4} for somebody", (both * 1e4).ceil() / 1e4)), "{told}");
        within(&folder.ok(&["estimate", "m.dps", "--json"]).json(), exact);
        folder.ok(&["verify", "m.dps"]);
        let facts = folder.ok(&["inspect", "m.dps", "--json"]).json()[0].clone();
        assert_eq!((&facts["sampling_rate"], &facts["sketches"]), (&0.2.into(), &2.into()), "{facts}");
        assert!(facts["releases"][0]["epsilon_if_key_known"].as_f64().expect("a level") > 2.2, "{facts}");
        let shown = folder.ok(&["key", "show", "--subsample", "k.key", "--json"]).json();
        assert_eq!(shown["sample_key"], facts["sample_key"], "the name, not the key");
        let error = folder.fails(3, &["merge", "m.dps", "a.dps", "--out", "x.dps"]);
        assert!(error["message"].as_str().expect("a message").starts_with("m.dps and a.dps: "), "{error}");
    }
    let asked = ["estimate", "--name", "a=a.dps", "--name", "b=b.dps", "--expr"];
    within(&folder.ok(&[&asked[..], &["a & b", "--json"]].concat()).json(), 10_000.0);
    folder.fails(4, &["estimate", "--name", "a=a.dps", "--name", "b=b.dps", "--jaccard"]);
}

/// Sums of weights say so, and totals above every epsilon are told: 28 releases at ε 1 and γ 1e-4 cost
/// ln(1 + 1e-4·(e^{28·ln(1 + (e − 1)/1e-4)} − 1)) = 28·9.7517 − 9.2103 = 263.84.
#[test]
fn sums_and_large_totals_are_told() {
    let folder = Folder::new();
    key(&folder, "k.key");
    folder.write("w.csv", format!("user,w\n{}", text_of((0..6000).map(|user| format!("u{user},{}", 1 + user % 5)))));
    let weighted = ["build", "w.csv", "--column", "user", "--weight", "w", "--max-weight", "5", "--kind", "f0"];
    let sampled = ["--subsample-key", "k.key", "--subsample-rate", "0.2", "--out", "w.raw.dps"];
    folder.ok(&[&weighted[..], &sampled].concat());
    folder.ok(&["release", "w.raw.dps", "--epsilon", "4", "--out", "w.dps"]);
    for name in ["w.raw.dps", "w.dps"] {
        let json = folder.ok(&["estimate", name, "--json"]).json();
        assert_eq!((&json["max_weight"], &json["mode"], &json["of"]), (&5.0.into(), &"set".into(), &"one".into()));
        within(&json, 18_000.0);
        assert!(folder.ok(&["estimate", name]).text().starts_with("weight "));
        assert_eq!(folder.ok(&["inspect", name, "--json"]).json()[0]["max_weight"], 5.0);
    }
    folder.write("in.txt", users(0, 10));
    let names: Vec<String> = (0..28).map(|day| format!("{day}.dps")).collect();
    for name in &names {
        let rare = ["build", "in.txt", "--subsample-key", "k.key", "--subsample-rate", "0.0001", "--epsilon", "1"];
        let told = folder.ok(&[&rare[..], &["--levels", "4", "--buckets", "16", "--out", name]].concat());
        assert!(told.text().contains("rate 0.0001,"), "{}", told.text());
    }
    let estimate: Vec<&str> = ["estimate"].into_iter().chain(names.iter().map(String::as_str)).collect();
    let total = 28.0 * (1.0 + 1_f64.exp_m1() / 1e-4).ln() + 1e-4_f64.ln();
    let json = folder.ok(&[&estimate[..], &["--json"]].concat()).json();
    assert!(total > 256.0 && (json["epsilon_total"].as_f64().expect("a total") - total).abs() < 1e-3, "{json}");
    assert_eq!((&json["sampling_rate"], &json["method"]["name"]), (&1e-4.into(), &"product".into()));
    assert!(folder.ok(&estimate).text().contains("263.838"));
}

/// Copies of one raw set cancel, which is warned of; and a second release is warned of before it is made.
#[test]
fn copies_are_warned_of_and_second_releases_before_they_are_paid() {
    let folder = Folder::new();
    key(&folder, "k.key");
    folder.write("in.txt", users(0, 2000));
    build(&folder, "f0", "k.key", &[], "a.raw.dps");
    folder.write("b.raw.dps", folder.read("a.raw.dps"));
    let merged = folder.ok(&["merge", "a.raw.dps", "b.raw.dps", "--out", "c.raw.dps"]);
    assert!(merged.stderr.contains("hold the same set, and cancel"), "{}", merged.stderr);
    folder.write("in.txt", users(0, 2200));
    build(&folder, "f0", "k.key", &[], "d.raw.dps");
    build(&folder, "sfm", "k.key", &[], "e.raw.dps");
    for (a, b) in [("a.raw.dps", "d.raw.dps"), ("e.raw.dps", "e.raw.dps")] {
        let merged = folder.ok(&["merge", a, b, "--out", "c.raw.dps"]);
        assert!(!merged.stderr.contains("cancel"), "{}", merged.stderr);
    }
    folder.ok(&["release", "a.raw.dps", "--epsilon", "1", "--out", "a.dps"]);
    folder.ok(&["ledger", "create", "--ledger", "s.ledger", "--epsilon", "0.5"]);
    let again = ["release", "a.raw.dps", "--epsilon", "1", "--again", "--out", "b.dps"];
    let run = folder.run(&[&again[..], &["--ledger", "s.ledger", "--label", "x"]].concat());
    assert_eq!(run.code, 4);
    assert!(run.stderr.contains("will cost epsilon 2.9"), "{}", run.stderr);
}

#[test]
fn keys_stay_secret_and_samples_of_other_keys_apart() {
    let folder = Folder::new();
    key(&folder, "k.key");
    key(&folder, "other.key");
    folder.fails(2, &["key", "new", "--subsample", "k.key"]);
    folder.write("in.txt", users(0, 2000));
    let secret = String::from_utf8(folder.read("k.key")).expect("text").lines().nth(1).expect("digits").to_owned();
    assert_eq!(secret.len(), 64);
    let told = build(&folder, "sfm", "k.key", &["--epsilon", "1"], "a.dps");
    assert!(!told.contains(&secret[..16]));
    let bytes = folder.read("a.dps");
    let half: Vec<u8> = (0..16).map(|at| u8::from_str_radix(&secret[2 * at..2 * at + 2], 16).expect("hex")).collect();
    assert!(!bytes.windows(16).any(|window| window == half), "the key is in no file");
    build(&folder, "sfm", "other.key", &["--epsilon", "1"], "b.dps");
    for args in [&["merge", "a.dps", "b.dps", "--out", "x.dps"][..], &["estimate", "a.dps", "b.dps"]] {
        let error = folder.fails(3, args);
        assert!(error["message"].as_str().expect("a message").contains("sampling mismatch"), "{error}");
    }
    // Nor do samples mix with whole sketches.
    folder.ok(&["build", "in.txt", "--epsilon", "1", "--out", "c.dps"]);
    folder.fails(3, &["merge", "a.dps", "c.dps", "--out", "x.dps"]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let path = folder.path("other.key");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).expect("a mode");
        let args = ["build", "in.txt", "--subsample-key", "other.key", "--subsample-rate", "0.2", "--out", "x.raw.dps"];
        assert_eq!(folder.fails(4, &args)["argument"], "--subsample-key");
    }
    let whole = ["build", "in.txt", "--out", "x.raw.dps", "--subsample-key", "k.key"];
    for (more, code) in [
        (&[][..], 2),
        (&["--subsample-rate", "1"], 2),
        (&["--subsample-rate", "0"], 2),
        (&["--subsample-rate", "x"], 2),
        (&["--subsample-rate", "0.1", "--kind", "countsketch", "--rho", "1"], 2),
        (&["--subsample-rate", "0.1", "--kind", "f0", "--mode", "presampled"], 2),
    ] {
        folder.fails(code, &[&whole[..], more].concat());
    }
    assert!(!folder.path("x.raw.dps").exists());
}

#[test]
fn the_ledger_books_what_a_shared_key_costs() {
    let folder = Folder::new();
    key(&folder, "k.key");
    key(&folder, "fresh.key");
    folder.write("in.txt", users(0, 1000));
    folder.ok(&["ledger", "create", "--ledger", "s.ledger", "--epsilon", "5"]);
    let booked = ["--ledger", "s.ledger", "--label", "x"];
    let spent = || -> f64 {
        let ledger = folder.ok(&["ledger", "show", "--ledger", "s.ledger", "--json"]).json();
        ledger["spent"].as_str().expect("an amount").parse().expect("a number")
    };
    build(&folder, "f0", "k.key", &[], "a.raw.dps");
    folder.ok(&[&["release", "a.raw.dps", "--epsilon", "1", "--out", "a.dps"][..], &booked].concat());
    assert_eq!(spent().to_bits(), 1_f64.to_bits());
    // The same sample again, and another sketch under the key: 2.96 for two, and for three ln(1 + 0.2 (e^6.78 − 1)) = 5.2.
    let inner = (1.0 + 1_f64.exp_m1() / 0.2).ln();
    let together = |count: f64| (1.0 + 0.2 * ((count * inner).exp() - 1.0)).ln();
    let again = ["release", "a.raw.dps", "--epsilon", "1", "--again", "--out", "b.dps"];
    let run = folder.ok(&[&again[..], &booked].concat());
    assert!(run.stderr.contains("more than the sum") && run.stderr.contains("share one key"), "{}", run.stderr);
    assert!((spent() - together(2.0)).abs() < 1e-6, "{}", spent());
    let third = ["build", "in.txt", "--kind", "sfm", "--subsample-rate", "0.2", "--epsilon", "1", "--subsample-key"];
    let refused = folder.fails(4, &[&third[..], &["k.key", "--out", "c.dps"], &booked].concat());
    assert_eq!(refused["argument"], "--epsilon", "{together}", together = together(3.0));
    // A fresh key costs its epsilon.
    folder.ok(&[&third[..], &["fresh.key", "--out", "c.dps"], &booked].concat());
    assert!((spent() - together(2.0) - 1.0).abs() < 1e-6, "{}", spent());
}
