//! `build --prefix-tree` and `topk --prefix-tree`: frequent keys without a list. With rho 60000 the noise of every level is far
//! below one, so frequencies are exact up to collisions.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::{Folder, text_of};

/// 300 rare words, and three that occur 500, 400 and 300 times.
fn folder() -> Folder {
    let folder = Folder::new();
    let frequent = [("lucy", 500), ("max", 400), ("charlie", 300)];
    let lines = frequent.into_iter().flat_map(|(name, times)| std::iter::repeat_n(name.to_owned(), times));
    folder.write("a.txt", text_of(lines.chain((0..300).map(|word| format!("w{word}")))));
    folder
}

fn build<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let args = ["build", "a.txt", "--kind", "countsketch", "--prefix-tree", "--rows", "5", "--width", "4096"];
    [&args[..], more].concat()
}

fn found(json: &Value) -> BTreeMap<String, (u64, f64)> {
    let row = |row: &Value| {
        let (rank, value) = (row["rank"].as_u64().expect("a rank"), row["estimate"].as_f64().expect("an estimate"));
        (row["item"].as_str().expect("an item").to_owned(), (rank, value))
    };
    json["items"].as_array().expect("a list").iter().map(row).collect()
}

fn expected(names: [&str; 3]) -> BTreeMap<String, (u64, f64)> {
    let counts = [500.0, 400.0, 300.0];
    (1..).zip(names.into_iter().zip(counts)).map(|(rank, (name, count))| (name.to_owned(), (rank, count))).collect()
}

#[test]
fn frequent_texts_are_found_with_their_exact_counts_and_ranks() {
    let folder = folder();
    let run = folder.ok(&build(&["--rho", "60000", "--out", "a.dps"]));
    assert!(run.stderr.contains("the first 8 bytes of texts"), "{}", run.stderr);
    let search = ["topk", "a.dps", "--prefix-tree", "--above", "200"];
    assert_eq!(found(&folder.ok(&[&search[..], &["--json"]].concat()).json()), expected(["lucy", "max", "charlie"]));
    let csv = folder.ok(&[&search[..], &["-k", "1", "--csv"]].concat()).text();
    assert!(csv.starts_with("rank,item,estimate,std_error,lower,upper,confidence,status\n1,lucy,500.0,"), "{csv}");
    assert_eq!(csv.lines().count(), 2);
    // Without a frequency the search finds its own: 1500 in all, so a third of that, and lower until there are three.
    let largest = folder.ok(&["topk", "a.dps", "--prefix-tree", "-k", "3", "--json"]).json();
    assert_eq!(found(&largest), expected(["lucy", "max", "charlie"]));
    let above = largest["above"].as_f64().expect("the frequency that was searched for");
    assert!((above - 250.0).abs() < 1.0, "{above}");
    // Shorter keys tell only the first bytes apart.
    folder.ok(&build(&["--rho", "60000", "--key-bytes", "3", "--step", "4", "--out", "b.dps"]));
    let json = folder.ok(&["topk", "b.dps", "--prefix-tree", "--above", "200", "--json"]).json();
    assert_eq!(found(&json), expected(["luc", "max", "cha"]));
}

#[test]
fn integers_are_found_and_others_are_left_out() {
    let folder = Folder::new();
    let ports = [(443, 500), (80, 400), (65_535, 300), (65_536, 200)];
    folder.write(
        "a.txt",
        text_of(ports.into_iter().flat_map(|(port, times)| std::iter::repeat_n(port.to_string(), times))),
    );
    let run = folder.ok(&build(&["--key-bits", "16", "--rho", "60000", "--out", "a.dps"]));
    assert!(run.stderr.contains("1,400 rows read, 200 with a missing value left out"), "{}", run.stderr);
    let json = folder.ok(&["topk", "a.dps", "--prefix-tree", "--integers", "--above", "200", "--json"]).json();
    assert_eq!(found(&json), expected(["443", "80", "65535"]));
}

#[test]
fn stacks_are_released_once_add_up_and_are_booked() {
    let folder = folder();
    folder.ok(&["ledger", "create", "--ledger", "r.ledger", "--rho", "30001"]);
    folder.ok(&build(&["--out", "a.raw.dps"]));
    let release =
        ["release", "a.raw.dps", "--rho", "30000", "--ledger", "r.ledger", "--label", "words", "--out", "a.dps"];
    folder.ok(&release);
    assert_eq!(folder.ok(&["ledger", "show", "--ledger", "r.ledger", "--json"]).json()["remaining"], "1");
    folder.fails(4, &release);
    folder.fails(4, &build(&["--rho", "2", "--ledger", "r.ledger", "--label", "words", "--out", "b.dps"]));
    folder.ok(&build(&["--rho", "30000", "--out", "b.dps"]));
    folder.ok(&["verify", "a.dps", "b.dps"]);
    folder.ok(&["merge", "a.dps", "b.dps", "--out", "m.dps"]);
    let json = folder.ok(&["topk", "m.dps", "--prefix-tree", "--above", "500", "--json"]).json();
    let twice =
        expected(["lucy", "max", "charlie"]).into_iter().map(|(name, (rank, count))| (name, (rank, 2.0 * count)));
    assert_eq!(found(&json), twice.collect());
    let facts = folder.ok(&["inspect", "m.dps", "--json"]).json()[0].clone();
    assert_eq!(
        (&facts["kind"], &facts["rho_total"], &facts["sketches"]),
        (&json!("prefix"), &json!(60_000.0), &json!(2))
    );
    assert!(folder.ok(&["inspect", "m.dps"]).text().contains("key_bits"));
    folder.fails(3, &["topk", "a.raw.dps", "--prefix-tree", "--above", "5"]);
    folder.fails(3, &["query", "a.dps", "--item", "lucy"]);
}

#[test]
fn flags_that_do_not_fit_are_named() {
    let folder = folder();
    for (flags, argument) in [
        (&["--epsilon", "1", "--pure"][..], "--pure"),
        (&["--rho", "1", "--key-bytes", "9"], "--key-bytes"),
        (&["--rho", "1", "--key-bytes", "0"], "--key-bytes"),
        (&["--rho", "1", "--key-bits", "65"], "--key-bits"),
        (&["--rho", "1", "--step", "17"], "--step"),
        (&["--rho", "1", "--column", "a,b"], "--column"),
    ] {
        assert_eq!(folder.fails(2, &build(&[flags, &["--out", "x.dps"]].concat()))["argument"], argument, "{flags:?}");
    }
    let plain = ["build", "a.txt", "--kind", "countsketch", "--rho", "10000", "--out", "p.dps"];
    assert_eq!(folder.fails(2, &[&plain[..], &["--step", "8"]].concat())["argument"], "--step");
    assert_eq!(folder.fails(2, &["build", "a.txt", "--prefix-tree", "--out", "x.dps"])["argument"], "--prefix-tree");
    folder.ok(&plain);
    folder.fails(3, &["topk", "p.dps", "--prefix-tree", "--above", "5"]);
    folder.ok(&build(&["--rho", "1", "--out", "a.dps"]));
    assert_eq!(folder.fails(2, &["topk", "a.dps", "--prefix-tree", "--above", "0"])["argument"], "--above");
    folder.fails(2, &["topk", "a.dps"]);
    assert!(!folder.path("x.dps").exists());
}
