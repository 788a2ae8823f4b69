//! Sets and streams from data to answers. Raw files are compared with sketches made item by item; answers with the exact ones,
//! at six standard errors, which noise crosses once in 10^8.

use dpsketch::f0_sketch::{F0Shape, F0Sketch, MaxWeight, Set, WeightRule};
use dpsketch::sketch_hash::{AnyHash, Item};
use serde_json::Value;

use crate::support::{Folder, text_of};

fn names(from: u32, to: u32) -> impl Iterator<Item = String> {
    (from..to).map(|name| format!("user {name}"))
}

fn set(shape: F0Shape, rule: WeightRule) -> F0Sketch<Set, AnyHash> {
    F0Sketch::new(shape, rule, AnyHash::default())
}

/// The bytes of a raw file of the set of these texts.
fn expected(texts: impl Iterator<Item = String>) -> Vec<u8> {
    let mut sketch = set(F0Shape::new(24, 4096).expect("a shape"), WeightRule::Unit);
    for text in texts {
        sketch.toggle_item(&Item::Text(&text));
    }
    sketch.to_sensitive_bytes().to_vec()
}

/// Two sets at epsilon 4: users 0 to 5999 and 4000 to 8999, of whom 2000 are in both.
fn two(folder: &Folder, mode: &str) {
    for (name, from, to) in [("a", 0, 6000), ("b", 4000, 9000)] {
        folder.write("in.txt", text_of(names(from, to).chain(names(from, to))));
        let out = format!("{name}.dps");
        folder.ok(&["build", "in.txt", "--kind", "f0", "--mode", mode, "--epsilon", "4", "--out", &out]);
    }
}

fn within(json: &Value, exact: f64) {
    let (value, error) = (json["estimate"].as_f64().expect("a value"), json["std_error"].as_f64().expect("an error"));
    assert!((value - exact).abs() < 6.0 * error, "{json}: {exact}");
    let (lower, upper) = (json["lower"].as_f64().expect("a bound"), json["upper"].as_f64().expect("a bound"));
    assert!(lower <= value && value <= upper && json["status"] == "ok", "{json}");
}

#[test]
fn a_set_holds_every_item_once_whatever_the_rows_threads_and_formats() {
    let folder = Folder::new();
    let expected = expected(names(0, 3000));
    folder.write("a.txt", text_of(names(0, 2000).chain(names(500, 2500))));
    folder.write("b.txt", text_of(names(1000, 3000)));
    for threads in ["1", "4"] {
        let more = ["--threads", threads, "--out", "s.raw.dps"];
        let run = folder.ok(&[&["build", "a.txt", "b.txt", "--kind", "f0"][..], &more].concat());
        assert!(run.stderr.contains("6,000 rows read") && run.stderr.contains("3,000 distinct items in the set"));
        assert_eq!(folder.read("s.raw.dps"), expected, "{threads} threads");
    }
    folder.write(
        "c.csv",
        format!("day,user\n{}", text_of(names(0, 3000).chain(names(0, 9)).map(|user| format!("1,{user}")))),
    );
    let objects = names(0, 3000).chain(names(0, 9)).map(|user| serde_json::json!({ "user": user }).to_string());
    folder.write("c.ndjson", text_of(objects));
    for input in ["c.csv", "c.ndjson"] {
        folder.ok(&["build", input, "--kind", "f0", "--mode", "set", "--column", "user", "--out", "s.raw.dps"]);
        assert_eq!(folder.read("s.raw.dps"), expected, "{input}");
    }
}

#[test]
fn inserts_and_deletes_toggle_their_items() {
    let folder = Folder::new();
    let row = |operation: &str, user: String| format!("{user},{operation}");
    let rows = names(0, 3000).map(|user| row("+", user)).chain(names(2000, 3000).map(|user| row("delete", user)));
    folder.write("a.csv", format!("user,op\n{}", text_of(rows)));
    let build = ["build", "a.csv", "--kind", "f0", "--column", "user", "--op-column", "op"];
    for threads in ["1", "4"] {
        let run = folder.ok(&[&build[..], &["--threads", threads, "--out", "a.raw.dps"]].concat());
        assert!(run.stderr.contains("3,000 inserts, 1,000 deletes"), "{}", run.stderr);
        assert_eq!(folder.read("a.raw.dps"), expected(names(0, 2000)));
    }
    // A delete of what is not there inserts it, and a second insert deletes.
    folder.write("a.csv", "user,op\nuser 0,remove\nuser 1,add\nuser 1, Insert \nuser 2,-\n");
    folder.ok(&[&build[..], &["--out", "a.raw.dps"]].concat());
    assert_eq!(folder.read("a.raw.dps"), expected([0, 2].map(|user| format!("user {user}")).into_iter()));

    let before = folder.names();
    folder.write("a.csv", "user,op\nuser 0,+\nuser 1,update\n");
    for (threads, told) in [("1", "row 2 has an operation"), ("2", "a row has an operation")] {
        let error = folder.fails(5, &[&build[..], &["--threads", threads, "--out", "b.raw.dps"]].concat());
        assert_eq!(error["argument"], "--op-column", "{error}");
        assert!(error["message"].as_str().unwrap().contains(told), "{error}");
        assert!(!error.to_string().contains("update"), "no data in messages");
    }
    for more in [&["--mode", "presampled"][..], &["--on-conflict", "largest"], &["--temp-dir", "."]] {
        let error = folder.fails(2, &[&build[..], more, &["--out", "b.raw.dps"]].concat());
        assert!(["--op-column", more[0]].contains(&error["argument"].as_str().unwrap()), "{error}");
    }
    let error = folder.fails(2, &["build", "a.csv", "--kind", "f0", "--op-column", "op", "--out", "b.raw.dps"]);
    assert_eq!(error["argument"], "--column");
    let wrong = ["build", "a.csv", "--kind", "f0", "--column", "user", "--op-column", "none", "--out", "b.raw.dps"];
    assert_eq!(folder.fails(2, &wrong)["argument"], "--op-column");
    assert_eq!(folder.names(), before);
}

#[test]
fn two_sets_are_compared_both_ways() {
    let folder = Folder::new();
    two(&folder, "set");
    within(&folder.ok(&["estimate", "a.dps", "--json"]).json(), 6000.0);
    let json = folder.ok(&["estimate", "a.dps", "b.dps", "--json"]).json();
    within(&json, 7000.0);
    assert_eq!(
        (&json["kind"], &json["mode"], &json["of"], &json["max_weight"]),
        (&"f0".into(), &"set".into(), &"symmetric_difference".into(), &Value::Null)
    );
    assert_eq!((json["epsilon"].as_f64(), json["epsilon_total"].as_f64()), (Some(4.0), Some(8.0)));
    let asked = |formula: &str| {
        folder.ok(&["estimate", "--name", "a=a.dps", "--name", "b=b.dps", "--expr", formula, "--json"]).json()
    };
    for (formula, exact) in [
        ("a ^ b", 7000.0),
        ("a & b", 2000.0),
        ("b & a", 2000.0),
        ("a | b", 9000.0),
        ("a - b", 4000.0),
        ("a & !b", 4000.0),
        ("b - a", 3000.0),
        ("!a & b", 3000.0),
    ] {
        let json = asked(formula);
        within(&json, exact);
        assert_eq!(json["expr"], formula);
    }
    let similar = folder.ok(&["estimate", "--name", "a=a.dps", "--name", "b=b.dps", "--jaccard", "--json"]).json();
    within(&similar, 2.0 / 9.0);

    let run = folder.ok(&["merge", "a.dps", "b.dps", "--out", "m.dps"]);
    assert!(run.stderr.contains("symmetric difference") && run.text().contains("2 releases"), "{}", run.stderr);
    within(&folder.ok(&["estimate", "m.dps", "--json"]).json(), 7000.0);
    for files in [&["estimate", "m.dps"][..], &["estimate", "a.dps", "b.dps"]] {
        assert!(folder.ok(files).text().contains("items in exactly one of the two sets"));
        let json = folder.ok(&[files, &["--json"]].concat()).json();
        assert_eq!(json["of"], "symmetric_difference");
    }
    let facts = folder.ok(&["inspect", "m.dps", "--json"]).json()[0].clone();
    assert_eq!((&facts["kind"], &facts["mode"], &facts["sketches"]), (&"f0".into(), &"set".into(), &2.into()));
    folder.ok(&["verify", "a.dps", "b.dps"]);
    // The xor of a merged file with one of its parts would cancel noise against itself.
    assert_eq!(folder.fails(3, &["merge", "m.dps", "a.dps", "--out", "x.dps"])["argument"], "FILE");
    assert!(!folder.path("x.dps").exists());
}

#[test]
fn an_answer_that_drowns_in_noise_says_so() {
    let folder = Folder::new();
    for (name, from) in [("a", 0), ("b", 10)] {
        folder.write("in.txt", text_of(names(from, from + 100)));
        let out = format!("{name}.dps");
        folder.ok(&["build", "in.txt", "--kind", "f0", "--epsilon", "0.01", "--out", &out]);
    }
    let asked = ["estimate", "--name", "a=a.dps", "--name", "b=b.dps", "--expr", "b - a"];
    for args in [&["estimate", "a.dps"][..], &["estimate", "a.dps", "b.dps"], &asked] {
        let status = folder.ok(&[args, &["--json"]].concat()).json()["status"].as_str().unwrap().to_owned();
        assert!(["low_information", "below_noise", "saturated", "unbounded"].contains(&status.as_str()), "{status}");
        let text = folder.ok(args).text();
        assert!(text.contains(&format!("{status}: ")), "{text}");
        if status == "low_information" {
            assert!(text.contains("plan --kind f0"), "{text}");
        }
    }
}

#[test]
fn streams_with_repetitions_have_a_union() {
    let folder = Folder::new();
    two(&folder, "presampled");
    within(&folder.ok(&["estimate", "a.dps", "--json"]).json(), 6000.0);
    let json = folder.ok(&["estimate", "a.dps", "b.dps", "--json"]).json();
    within(&json, 9000.0);
    assert_eq!((&json["mode"], &json["of"]), (&"presampled".into(), &"union".into()));
    let run = folder.ok(&["merge", "a.dps", "b.dps", "--out", "m.dps"]);
    assert!(run.stderr.contains("union of the streams"), "{}", run.stderr);
    within(&folder.ok(&["estimate", "m.dps", "--json"]).json(), 9000.0);
    let union = ["estimate", "--name", "a=a.dps", "--name", "b=b.dps", "--expr", "a | b", "--json"];
    within(&folder.ok(&union).json(), 9000.0);
    // Raw copies have the same coins.
    folder.write("in.txt", text_of(names(0, 100)));
    folder.ok(&["build", "in.txt", "--kind", "f0", "--mode", "presampled", "--out", "r.raw.dps"]);
    std::fs::copy(folder.path("r.raw.dps"), folder.path("s.raw.dps")).expect("a copy");
    folder.fails(3, &["merge", "r.raw.dps", "s.raw.dps", "--out", "x.raw.dps"]);
    assert!(!folder.path("x.raw.dps").exists());
    folder.ok(&["build", "in.txt", "--kind", "f0", "--mode", "presampled", "--out", "t.raw.dps"]);
    let run = folder.ok(&["merge", "r.raw.dps", "t.raw.dps", "--out", "x.raw.dps"]);
    assert!(run.stderr.contains("warning: it shares the secret coins of its inputs"), "{}", run.stderr);
    // So have two releases of one raw stream.
    folder.ok(&["release", "t.raw.dps", "--epsilon", "1", "--out", "t1.dps"]);
    let run = folder.ok(&["release", "t.raw.dps", "--epsilon", "1", "--again", "--out", "t2.dps"]);
    assert!(run.stderr.contains("warning: this release shares the secret coins"), "{}", run.stderr);
    assert_kept_apart(&folder, "t1.dps", "t2.dps");
}

/// No verb puts releases of the same coins together, and each says which releases they are.
fn assert_kept_apart(folder: &Folder, first: &str, second: &str) {
    let ids = [first, second].map(|file| {
        let facts = folder.ok(&["inspect", file, "--json"]).json();
        facts[0]["releases"][0]["id"].as_str().expect("an id").to_owned()
    });
    let names = [format!("a={first}"), format!("b={second}")];
    let formula = ["estimate", "--name", &names[0], "--name", &names[1], "--expr", "a & b"];
    let jaccard = ["estimate", "--name", &names[0], "--name", &names[1], "--jaccard"];
    let merge = ["merge", first, second, "--out", "no.dps"];
    for args in [&["estimate", first, second][..], &["estimate", second, first], &formula, &jaccard, &merge] {
        let error = folder.fails(3, args);
        let message = error["message"].as_str().expect("a message");
        assert!(ids.iter().all(|id| message.contains(id)), "{args:?}: {message}");
        assert!(message.contains("same secret coins"), "{message}");
    }
    assert!(!folder.path("no.dps").exists());
}

#[test]
fn a_week_is_kept_apart_from_its_days_whichever_is_released_first() {
    let folder = Folder::new();
    for (day, from) in [("mon", 0), ("tue", 3000), ("wed", 6000)] {
        folder.write("in.txt", text_of(names(from, from + 4000).chain(names(from, from + 500))));
        let out = format!("{day}.raw.dps");
        folder.ok(&["build", "in.txt", "--kind", "f0", "--mode", "presampled", "--out", &out]);
    }
    let release = |name: &str| {
        let (raw, out) = (format!("{name}.raw.dps"), format!("{name}.dps"));
        // The week counts the release of a day in it.
        folder.ok(&["release", &raw, "--epsilon", "3", "--again", "--out", &out]);
    };
    release("mon");
    folder.ok(&["merge", "mon.raw.dps", "tue.raw.dps", "wed.raw.dps", "--out", "week.raw.dps"]);
    let refused = folder.fails(3, &["merge", "week.raw.dps", "tue.raw.dps", "--out", "x.raw.dps"]);
    assert!(refused["message"].as_str().expect("a message").contains("secret coins"), "{refused}");
    folder.fails(3, &["estimate", "week.raw.dps", "wed.raw.dps"]);
    release("week");
    release("tue");
    release("wed");
    for day in ["mon.dps", "tue.dps", "wed.dps"] {
        assert_kept_apart(&folder, day, "week.dps");
    }
    // The days themselves go together, and then not with the week.
    within(&folder.ok(&["estimate", "mon.dps", "tue.dps", "wed.dps", "--json"]).json(), 10_000.0);
    within(&folder.ok(&["estimate", "week.dps", "--json"]).json(), 10_000.0);
    folder.ok(&["merge", "mon.dps", "tue.dps", "wed.dps", "--out", "days.dps"]);
    folder.fails(3, &["estimate", "days.dps", "week.dps"]);
    folder.fails(3, &["merge", "week.dps", "days.dps", "--out", "x.dps"]);
    let facts = folder.ok(&["inspect", "week.dps", "--json"]).json();
    assert_eq!(facts[0]["releases"][0]["coins"].as_array().expect("names").len(), 3, "{facts}");
    // A build with several threads has one name all the same.
    let facts = folder.ok(&["inspect", "mon.raw.dps", "--json"]).json();
    assert_eq!(facts[0]["coins"].as_array().expect("names").len(), 1, "{facts}");
}

#[test]
fn equal_raw_sets_are_warned_of() {
    let folder = Folder::new();
    folder.write("in.txt", text_of(names(0, 100)));
    folder.ok(&["build", "in.txt", "--kind", "f0", "--out", "a.raw.dps"]);
    std::fs::copy(folder.path("a.raw.dps"), folder.path("b.raw.dps")).expect("a copy");
    let named = ["estimate", "--name", "a=a.raw.dps", "--name", "b=b.raw.dps", "--expr", "a ^ b"];
    let merge = ["merge", "a.raw.dps", "b.raw.dps", "--out", "m.raw.dps"];
    for args in [&["estimate", "a.raw.dps", "b.raw.dps"][..], &named, &merge] {
        let run = folder.ok(args);
        assert!(run.stderr.contains("hold the same set"), "{args:?}: {}", run.stderr);
    }
}

#[test]
fn weights_add_up_to_the_largest_one_and_an_item_has_one() {
    let folder = Folder::new();
    let row = |user: u32| format!("user {user},{}", f64::from(user % 5) / 2.0);
    let table = |users: std::ops::Range<u32>| format!("user,w\n{}", text_of(users.map(row)));
    folder.write("a.csv", table(0..4000));
    let build = ["build", "a.csv", "--kind", "f0", "--column", "user", "--weight", "w"];
    folder.ok(&[&build[..], &["--max-weight", "2", "--out", "a.raw.dps"]].concat());
    let max = MaxWeight::new(2.0).expect("a weight");
    let mut sketch = set(F0Shape::new(24, 4096).expect("a shape"), WeightRule::Weighted(max));
    for user in 0..4000 {
        let weight = max.weight(f64::from(user % 5) / 2.0).expect("a weight");
        sketch.toggle_item_weighted(&Item::Text(&format!("user {user}")), weight).expect("a sketch with weights");
    }
    assert_eq!(folder.read("a.raw.dps"), sketch.to_sensitive_bytes().to_vec());
    folder.write("b.csv", table(1000..5000));
    for name in ["a", "b"] {
        let input = format!("{name}.csv");
        let out = format!("{name}.dps");
        let args = ["build", &input, "--kind", "f0", "--column", "user", "--weight", "w", "--max-weight", "2"];
        folder.ok(&[&args[..], &["--epsilon", "6", "--out", &out]].concat());
    }
    // Users weigh 0, 0.5, 1, 1.5 and 2 in turn: one on average.
    let json = folder.ok(&["estimate", "a.dps", "--json"]).json();
    within(&json, 4000.0);
    assert_eq!(json["max_weight"], 2.0);
    let only = ["estimate", "--name", "a=a.dps", "--name", "b=b.dps", "--expr"];
    within(&folder.ok(&[&only[..], &["b - a", "--json"]].concat()).json(), 1000.0);
    assert!(folder.ok(&[&only[..], &["a & b"]].concat()).text().contains("\nweight "));
    let clipped = folder.ok(&[&build[..], &["--max-weight", "1.5", "--out", "c.raw.dps"]].concat());
    assert!(clipped.stderr.contains("800 rows clipped"), "{}", clipped.stderr);

    let before = folder.names();
    let fails = |code: i32, more: &[&str]| folder.fails(code, &[&build[..], more, &["--out", "x.raw.dps"]].concat());
    assert_eq!(fails(2, &[])["argument"], "--max-weight");
    assert_eq!(fails(2, &["--max-weight", "0"])["argument"], "--max-weight");
    let unweighted = ["build", "a.csv", "--kind", "f0", "--column", "user", "--max-weight", "2", "--out", "x.raw.dps"];
    assert_eq!(folder.fails(2, &unweighted)["argument"], "--max-weight");
    folder.write("a.csv", "user,w\nann,1\nbob,2\nann,2\n");
    let error = fails(4, &["--max-weight", "2"]);
    assert!(error["hint"].as_str().unwrap().contains("--on-conflict largest"), "{error}");
    let largest = ["--max-weight", "2", "--on-conflict", "largest", "--out", "c.raw.dps"];
    let run = folder.ok(&[&build[..], &largest].concat());
    assert!(run.stderr.contains("1 item with different weights"), "{}", run.stderr);
    folder.write("a.csv", "user,w\nann,-1\n");
    assert_eq!(fails(5, &["--max-weight", "2"])["argument"], "--weight");
    assert_eq!(folder.names(), before);
}

#[test]
fn a_raw_set_is_released_once_and_paid_for() {
    let folder = Folder::new();
    folder.write("a.txt", text_of(names(0, 100)));
    let run = folder.ok(&["build", "a.txt", "--kind", "f0", "--levels", "4", "--cells", "64", "--out", "a.raw.dps"]);
    assert!(run.stderr.contains("a.raw.dps is raw"), "{}", run.stderr);
    folder.ok(&["ledger", "create", "--ledger", "s.ledger", "--epsilon", "3"]);
    let booked = ["--ledger", "s.ledger", "--label", "x"];
    let release = |epsilon, out| [&["release", "a.raw.dps", "--epsilon", epsilon, "--out", out][..], &booked].concat();
    folder.ok(&release("1", "a.dps"));
    assert_eq!(folder.fails(4, &release("1", "b.dps"))["argument"], "RAW");
    folder.ok(&[&release("1", "b.dps")[..], &["--again"]].concat());
    folder.fails(4, &[&release("2", "c.dps")[..], &["--again"]].concat());
    folder.ok(&[&["build", "a.txt", "--kind", "f0", "--epsilon", "1", "--out", "d.dps"][..], &booked].concat());
    let ledger = folder.ok(&["ledger", "show", "--ledger", "s.ledger", "--json"]).json();
    let named: Vec<&Value> = ledger["spends"].as_array().unwrap().iter().map(|spend| &spend["release"]).collect();
    for (file, place) in [("a.dps", 0), ("b.dps", 1), ("d.dps", 2)] {
        let facts = folder.ok(&["inspect", file, "--json"]).json()[0].clone();
        assert_eq!(&facts["releases"][0]["id"], named[place], "{facts}");
        assert_eq!((&facts["unit"], facts["epsilon"].as_f64()), (&"one item".into(), Some(1.0)));
    }
    assert_eq!(ledger["remaining"], "0");
    assert_eq!(folder.ok(&["inspect", "a.raw.dps", "--json"]).json()[0]["times_released"], 2);
    assert!(!folder.path("c.dps").exists());
    let rho = ["release", "a.raw.dps", "--again", "--rho", "1", "--out", "c.dps"];
    assert_eq!(folder.fails(2, &rho)["argument"], "--rho");
    assert_eq!(folder.fails(4, &["release", "a.dps", "--epsilon", "1", "--out", "c.dps"])["argument"], "RAW");
}

#[test]
fn sketches_that_do_not_fit_together_are_refused() {
    let folder = Folder::new();
    folder.write("a.csv", "user,w\nann,1\nbob,1\n");
    folder.ok(&["key", "new", "study.key"]);
    let variants: [(&str, &[&str]); 6] = [
        ("a", &[]),
        ("other", &[]),
        ("mode", &["--mode", "presampled"]),
        ("cells", &["--cells", "64"]),
        ("weights", &["--weight", "w", "--max-weight", "2"]),
        ("key", &["--key-file", "study.key"]),
    ];
    let build = ["build", "a.csv", "--kind", "f0", "--column", "user"];
    for (name, more) in variants {
        let (private, raw) = (format!("{name}.dps"), format!("{name}.raw.dps"));
        folder.ok(&[&build[..], more, &["--epsilon", "1", "--out", &private]].concat());
        folder.ok(&[&build[..], more, &["--out", &raw]].concat());
    }
    let sfm = folder.private("sfm", 0, 10, "1");
    for other in ["mode.dps", "cells.dps", "weights.dps", "key.dps", "a.raw.dps", "a.dps", &sfm] {
        let error = folder.fails(3, &["merge", "a.dps", other, "--out", "x.dps"]);
        assert_eq!(error["argument"], "FILE", "{error}");
        folder.fails(3, &["estimate", "--name", "a=a.dps", "--name", &format!("b={other}"), "--expr", "a ^ b"]);
        folder.fails(6, &["verify", "a.dps", other]);
    }
    for other in ["mode.raw.dps", "cells.raw.dps", "weights.raw.dps", "key.raw.dps"] {
        folder.fails(3, &["merge", "a.raw.dps", other, "--out", "x.raw.dps"]);
    }
    assert!(!folder.path("x.dps").exists() && !folder.path("x.raw.dps").exists());
    // Equal raw sets have nothing but each other: the difference is empty.
    folder.ok(&["merge", "a.raw.dps", "other.raw.dps", "--out", "x.raw.dps"]);
    assert_eq!(folder.ok(&["estimate", "x.raw.dps", "--json"]).json()["status"], "empty");
    for form in ["extremal", "symmetric"] {
        let error = folder.fails(2, &["merge", "a.dps", "other.dps", "--form", form, "--out", "x.dps"]);
        assert_eq!(error["argument"], "--form");
    }
    folder.ok(&["merge", "a.dps", "other.dps", "--form", "xor", "--out", "x.dps"]);
    assert_eq!(
        folder.fails(2, &["merge", "a.dps", "other.dps", "--disjoint", "--out", "y.dps"])["argument"],
        "--disjoint"
    );
}

#[test]
fn flags_and_verbs_of_other_kinds_are_refused_by_name() {
    let folder = Folder::new();
    folder.write("a.csv", "user,w\nann,1\n");
    let before = folder.names();
    let build = |kind: &str, more: &[&str]| {
        let args = ["build", "a.csv", "--kind", kind, "--column", "user", "--out", "x.raw.dps"];
        folder.fails(2, &[&args[..], more].concat())["argument"].clone()
    };
    for foreign in [
        &["--buckets", "64"][..],
        &["--rows", "5"],
        &["--width", "64"],
        &["--granularity", "1"],
        &["--clip-weights"],
        &["--rho", "1"],
        &["--pure"],
        &["--relation", "substitute"],
        &["--prefix-tree"],
        &["--group-by", "w"],
    ] {
        assert_eq!(build("f0", foreign), foreign[0]);
    }
    assert_eq!(build("f0", &["--user", "w", "--max-items", "2"]), "--user");
    for kind in ["sfm", "countsketch"] {
        for foreign in [
            &["--mode", "set"][..],
            &["--cells", "64"],
            &["--op-column", "w"],
            &["--on-conflict", "largest"],
            &["--temp-dir", "."],
        ] {
            assert_eq!(build(kind, foreign), foreign[0], "{kind}");
        }
    }
    assert_eq!(build("f0", &["--temp-dir", "nowhere"]), "--temp-dir");
    assert_eq!(build("f0", &["--levels", "0"]), "--levels");
    assert_eq!(build("f0", &["--cells", "1e12"]), "--cells");
    assert_eq!(folder.names(), before);

    folder.ok(&["build", "a.csv", "--kind", "f0", "--column", "user", "--epsilon", "1", "--out", "a.dps"]);
    for args in [
        &["query", "a.dps", "--item", "ann"][..],
        &["topk", "a.dps", "--candidates", "a.csv"],
        &["topk", "a.dps", "--prefix-tree"],
        &["convert", "a.dps", "--to", "presto", "--out", "a.presto"],
    ] {
        let error = folder.fails(3, args);
        assert!(error["message"].as_str().unwrap().contains("kind f0"), "{error}");
        assert_eq!(error["argument"], "FILE", "{error}");
    }
    assert_eq!(folder.fails(2, &["estimate", "a.dps", "--last-level", "exact"])["argument"], "--last-level");
}

#[test]
fn parties_that_build_sets_by_a_study_can_compare_them() {
    let folder = Folder::new();
    folder.write("a.csv", "user,w\nAnn,1\nbob,2\n");
    let new = ["study", "new", "--kind", "f0", "--epsilon", "2", "--out"];
    let shape = ["--levels", "6", "--cells", "128", "--lowercase"];
    folder.ok(&[&new[..], &["s.study"], &shape].concat());
    let json = folder.ok(&[&new[..], &["w.study", "--max-weight", "4", "--json"], &shape].concat()).json();
    assert_eq!((&json["mode"], &json["shape"], &json["max_weight"]), (&"set".into(), &"6 x 128".into(), &4.0.into()));
    let build = |study, more: &[&'static str]| {
        [&["build", "a.csv", "--column", "user", "--study", study, "--out", "a.dps"][..], more].concat()
    };
    folder.ok(&build("s.study", &[]));
    let facts = folder.ok(&["inspect", "a.dps", "--json"]).json()[0].clone();
    assert_eq!((&facts["levels"], &facts["cells_per_level"], &facts["epsilon"]), (&6.into(), &128.into(), &2.0.into()));
    folder.ok(&["study", "check", "s.study", "a.dps"]);
    assert!(folder.ok(&["study", "check", "s.study"]).text().contains("f0 of mode set, 6 x 128"));
    let differs = folder.run(&["study", "check", "w.study", "a.dps", "--json"]);
    assert_eq!((differs.code, &differs.json()["sketches"][0]["differences"][0]["field"]), (3, &"weights".into()));
    folder.ok(&build("w.study", &["--weight", "w", "--max-weight", "4"]));
    folder.ok(&["study", "check", "w.study", "a.dps"]);
    let before = (folder.names(), folder.read("a.dps"));
    for (study, more, argument) in [
        ("s.study", &["--mode", "presampled"][..], "--mode"),
        ("s.study", &["--kind", "sfm"], "--kind"),
        ("s.study", &["--kind", "countsketch"], "--kind"),
        ("s.study", &["--levels", "7"], "--levels"),
        ("s.study", &["--cells", "64"], "--cells"),
        ("s.study", &["--epsilon", "1"], "--epsilon"),
        ("s.study", &["--trim"], "--trim"),
        ("s.study", &["--weight", "w", "--max-weight", "4"], "--weight"),
        ("s.study", &["--max-weight", "4"], "--max-weight"),
        ("w.study", &[], "--weight"),
        ("w.study", &["--weight", "w", "--max-weight", "5"], "--max-weight"),
    ] {
        assert_eq!(folder.fails(2, &build(study, more))["argument"], argument, "{more:?}");
    }
    assert_eq!((folder.names(), folder.read("a.dps")), before);
    assert_eq!(
        folder.fails(2, &[&new[..], &["x.study", "--user-max-items", "2"]].concat())["argument"],
        "--user-max-items"
    );
    assert_eq!(
        folder.fails(2, &["study", "new", "--epsilon", "1", "--cells", "64", "--out", "x.study"])["argument"],
        "--cells"
    );
}

#[test]
fn a_plan_says_what_two_sets_will_tell() {
    let folder = Folder::new();
    let plan = ["plan", "--kind", "f0", "--distinct", "1e5", "--epsilon", "1", "--json"];
    // Predicted and simulated elsewhere: 5.5 % and, of the xor of two, 12 % with 4096 cells.
    let json = folder.ok(&[&plan[..], &["--parties", "2", "--levels", "24", "--cells", "4096"]].concat()).json();
    let error = |place: usize| json["answers"][place]["predicted_rse"].as_f64().expect("an error");
    assert!((error(0) - 0.055).abs() < 0.002 && (error(1) - 0.12).abs() < 0.005, "{json}");
    assert_eq!((&json["mode"], &json["cells_per_level"], &json["levels"]), (&"set".into(), &4096.into(), &24.into()));
    let json = folder.ok(&[&plan[..], &["--target-rse", "0.05"]].concat()).json();
    assert!(json["predicted_rse"].as_f64().unwrap() <= 0.05, "{json}");
    let best = folder.ok(&[&plan[..], &["--max-bytes", "8KiB"]].concat()).json();
    assert!(best["bytes"].as_u64().unwrap() <= 8192, "{best}");
    let text = folder.ok(&plan[..plan.len() - 1]).text();
    assert!(text.contains("build with: --kind f0 --mode set --levels 7 --cells 4096 --epsilon 1\n"), "{text}");
    for (more, argument) in [
        (&["--buckets", "64"][..], "--buckets"),
        (&["--rows", "5"], "--rows"),
        (&["--max-items", "5"], "--max-items"),
        (&["--cells", "64", "--target-rse", "0.05"], "--cells"),
        (&["--cells", "4096", "--max-bytes", "100"], "--max-bytes"),
        (&["--answer", "merged-symmetric"], "--answer"),
        (&["--answer", "together"], "--answer"),
        (&["--parties", "0"], "--parties"),
    ] {
        assert_eq!(folder.fails(2, &[&plan[..plan.len() - 1], more].concat())["argument"], argument);
    }
    // Too few levels are full, not below the noise; and what cannot work is not to be built.
    let few = [&plan[..], &["--levels", "3", "--cells", "256"]].concat();
    let json = folder.ok(&few).json();
    assert_eq!((&json["answers"][0]["status"], &json["more_levels"]), (&"saturated".into(), &11.into()), "{json}");
    let text = folder.ok(&few[..7].iter().chain(&few[8..]).copied().collect::<Vec<_>>()).text();
    assert!(!text.contains("build with") && text.contains("plan with --levels 11"), "{text}");
    let hopeless =
        folder.ok(&["plan", "--kind", "f0", "--distinct", "100", "--epsilon", "0.01", "--cells", "4096"]).text();
    assert!(!hopeless.contains("build with") && hopeless.contains("the noise drowns this count"), "{hopeless}");
    for (kind, more) in [("sfm", &["--distinct", "9"][..]), ("countsketch", &["--total", "9", "--pure"])] {
        let args = [&["plan", "--kind", kind, "--epsilon", "1", "--cells", "64"][..], more].concat();
        assert_eq!(folder.fails(2, &args)["argument"], "--cells");
    }
}
