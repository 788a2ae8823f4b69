//! Ledgers: spent before noise is drawn, never too much, never forgotten.

use std::io::Write;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Folder, Run, program, text_of};

fn ledger(total: &str) -> Folder {
    let folder = Folder::new();
    folder.write("a.txt", "ann\nbob\n");
    folder.ok(&["ledger", "create", "--ledger", "s.ledger", "--epsilon", total]);
    folder
}

fn show(folder: &Folder) -> Value {
    folder.ok(&["ledger", "show", "--ledger", "s.ledger", "--json"]).json()
}

fn build<'a>(epsilon: &'a str, out: &'a str) -> [&'a str; 10] {
    ["build", "a.txt", "--epsilon", epsilon, "--ledger", "s.ledger", "--label", "visits", "--out", out]
}

#[test]
fn ten_tenths_fit_in_one_and_the_eleventh_is_refused() {
    let folder = ledger("1");
    for _ in 0..10 {
        folder.ok(&build("0.1", "a.dps"));
    }
    let error = folder.fails(4, &build("0.1", "b.dps"));
    assert_eq!((error["argument"].as_str(), error["kind"].as_str()), (Some("--epsilon"), Some("refused")));
    assert_eq!((error["value"].as_str(), error["allowed"].as_str()), (Some("0.1"), Some("at most 0")));
    assert!(error["message"].as_str().unwrap().contains("requested 0.1, remaining 0"), "{error}");
    assert!(!folder.path("b.dps").exists());
    assert_eq!((show(&folder)["spent"].as_str(), show(&folder)["remaining"].as_str()), (Some("1"), Some("0")));
}

#[test]
fn the_ledger_names_the_release_that_was_written() {
    let folder = ledger("1");
    folder.ok(&build("0.5", "a.dps"));
    let release = folder.ok(&["inspect", "a.dps", "--json"]).json()[0]["releases"][0]["id"].clone();
    let spend = &show(&folder)["spends"][0];
    assert_eq!(
        (&spend["release"], &spend["label"], &spend["status"]),
        (&release, &"visits".into(), &"released".into())
    );
}

#[test]
fn a_refused_release_changes_nothing() {
    let folder = ledger("1");
    let raw = folder.raw("r", &["ann"]);
    let args =
        |epsilon, out| ["release", &raw, "--epsilon", epsilon, "--ledger", "s.ledger", "--label", "r", "--out", out];
    let (before, names) = (folder.read("s.ledger"), folder.names());
    let raw_before = folder.read(&raw);
    let error = folder.fails(4, &args("1.1", "x.dps"));
    assert!(error["message"].as_str().unwrap().contains("requested 1.1, remaining 1 "), "{error}");
    assert_eq!((folder.read("s.ledger"), folder.names()), (before, names));
    assert!(folder.read(&raw) == raw_before, "the count of releases is as it was");

    folder.ok(&args("0.6", "a.dps"));
    assert_eq!(folder.ok(&["inspect", &raw, "--json"]).json()[0]["times_released"], 1);
    let raw_before = folder.read(&raw);
    folder.fails(4, &args("0.6", "b.dps"));
    // A second release is refused by the raw file before the ledger is asked.
    folder.fails(4, &args("0.1", "b.dps"));
    assert!(folder.read(&raw) == raw_before && !folder.path("b.dps").exists());
    assert_eq!(show(&folder)["spent"], "0.6");
}

#[test]
fn rho_is_half_the_square_of_epsilon() {
    let folder = Folder::new();
    folder.write("a.txt", "ann\n");
    folder.ok(&["ledger", "create", "--ledger", "s.ledger", "--rho", "0.5", "--unit", "one patient"]);
    folder.ok(&build("0.6", "a.dps"));
    let json = show(&folder);
    assert_eq!((json["currency"].as_str(), json["unit"].as_str()), (Some("rho"), Some("one patient")));
    assert_eq!((json["spent"].as_str(), json["remaining"].as_str()), (Some("0.18"), Some("0.32")));
    folder.fails(4, &build("0.9", "b.dps"));
}

#[test]
fn a_spend_by_hand_is_booked_without_a_release() {
    let folder = ledger("1");
    let args = ["ledger", "spend", "--ledger", "s.ledger", "--label", "elsewhere", "--epsilon", "0.25"];
    let json = folder.ok(&[&args[..], &["--json"]].concat()).json();
    assert_eq!((json["number"].as_u64(), json["remaining"].as_str()), (Some(1), Some("0.75")));
    assert_eq!((json["status"].as_str(), json["release"].is_null()), (Some("spent, not released"), true));
    let text = folder.ok(&["ledger", "show", "--ledger", "s.ledger"]).text();
    assert!(text.contains("spent, not released") && text.contains("elsewhere"), "{text}");
    assert!(text.lines().any(|line| line.split_whitespace().eq(["spend", "cost", "status", "label"])), "{text}");
    let missing = folder.fails(5, &["ledger", "show", "--ledger", "no.ledger"]);
    assert!(missing["hint"].as_str().unwrap().contains("dpsketch ledger create"), "{missing}");
    folder.fails(4, &["ledger", "spend", "--ledger", "s.ledger", "--label", "x", "--epsilon", "0.76"]);
}

#[test]
fn every_format_has_the_totals() {
    let folder = ledger("1");
    for (args, rows) in [(&["--label", "a"][..], 1), (&["--label", "b"], 2)] {
        let table = folder.ok(&["ledger", "show", "--ledger", "s.ledger", "--csv"]).text();
        assert_eq!(table.lines().count(), 2, "{table}");
        assert!(table.lines().next().unwrap().contains("remaining"));
        let spend = ["ledger", "spend", "--ledger", "s.ledger", "--epsilon", "0.1"];
        folder.ok(&[&spend[..], args].concat());
        assert_eq!(show(&folder)["spends"].as_array().map(Vec::len), Some(rows));
        if rows == 2 {
            let lines = folder.ok(&["ledger", "show", "--ledger", "s.ledger", "--format", "ndjson"]).text();
            assert_eq!(lines.lines().count(), 2);
        }
    }
}

#[test]
fn labels_and_ledgers_that_cannot_be_are_refused() {
    let folder = ledger("1");
    let long = "x".repeat(256);
    for label in ["", &long] {
        let error = folder.fails(
            2,
            &["build", "a.txt", "--epsilon", "1", "--ledger", "s.ledger", "--label", label, "--out", "x.dps"],
        );
        assert_eq!(error["argument"], "--label");
    }
    let with = |args: &[&'static str]| [&["build", "a.txt", "--out", "x.dps", "--epsilon", "1"], args].concat();
    folder.fails(2, &with(&["--ledger", "s.ledger"]));
    folder.fails(2, &with(&["--label", "x"]));
    assert_eq!(folder.fails(5, &with(&["--ledger", "no.ledger", "--label", "x"]))["argument"], "--ledger");
    assert_eq!(folder.fails(5, &with(&["--ledger", "a.txt", "--label", "x"]))["argument"], "--ledger");
    folder.fails(2, &["build", "a.txt", "--ledger", "s.ledger", "--label", "x", "--out", "x.raw.dps"]);
    folder.fails(2, &["ledger", "create", "--ledger", "s.ledger", "--epsilon", "1"]);
    folder.fails(2, &["ledger", "create", "--ledger", "t.ledger"]);
    folder.fails(2, &["ledger", "create", "--ledger", "t.ledger", "--epsilon", "1", "--rho", "1"]);
    for total in ["0", "-1", "NaN", "inf", "1e-19", "x", ""] {
        let error = folder.fails(2, &["ledger", "create", "--ledger", "t.ledger", "--epsilon", total]);
        assert_eq!((error["argument"].as_str(), error["value"].as_str()), (Some("--epsilon"), Some(total)));
    }
    assert_eq!(show(&folder)["spent"], "0");
    assert!(!folder.path("x.dps").exists() && !folder.path("t.ledger").exists());
}

fn start(folder: &Folder, args: &[&str]) -> Child {
    let mut command = program(&folder.path(""));
    command
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

#[test]
fn of_two_processes_racing_for_more_than_half_exactly_one_wins() {
    for _ in 0..10 {
        let folder = ledger("1");
        let racers = ["0.dps", "1.dps"].map(|out| {
            let mut args = build("0.6", out);
            args[1] = "-";
            start(&folder, &args)
        });
        // Both have looked at the ledger by the time they wait for input.
        thread::sleep(Duration::from_millis(200));
        let pipes = racers.map(|mut racer| (racer.stdin.take(), racer));
        let runs = pipes.map(|(pipe, racer)| {
            pipe.unwrap().write_all(b"ann\n").unwrap();
            racer
        });
        let runs = runs.map(|racer| Run::of(racer.wait_with_output().unwrap()));
        let mut codes = [0, 1].map(|number: usize| runs[number].code);
        let winner = codes.iter().position(|code| *code == 0).unwrap();
        codes.sort_unstable();
        assert_eq!(codes, [0, 4], "{}", runs[1 - winner].stderr);
        assert!(runs[1 - winner].stderr.contains("requested 0.6, remaining 0.4"), "{}", runs[1 - winner].stderr);
        assert!(folder.path(&format!("{winner}.dps")).exists());
        assert!(!folder.path(&format!("{}.dps", 1 - winner)).exists());
        assert_eq!(show(&folder)["spent"], "0.6");
    }
}

#[cfg(unix)]
#[test]
fn a_process_killed_between_spend_and_release_leaves_the_spend() {
    let folder = ledger("1");
    assert!(std::process::Command::new("mkfifo").arg(folder.path("pipe.dps")).status().unwrap().success());
    // More than a pipe holds, so that the release cannot be written until somebody reads it.
    let args = [&build("0.6", "pipe.dps")[..], &["--buckets", "131072"]].concat();
    let mut child = start(&folder, &args);
    let reader = std::fs::File::open(folder.path("pipe.dps")).unwrap();
    let started = Instant::now();
    while show(&folder)["spends"].as_array().is_none_or(Vec::is_empty) {
        assert!(started.elapsed() < Duration::from_secs(60), "no spend");
        thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    drop(reader);
    let spend = &show(&folder)["spends"][0];
    assert_eq!((spend["status"].as_str(), spend["cost"].as_str()), (Some("spent, not released"), Some("0.6")));
    folder.fails(4, &build("0.6", "a.dps"));
    folder.ok(&build("0.4", "a.dps"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_release_that_cannot_be_written_stays_spent_and_says_so() {
    let folder = ledger("1");
    folder.write("a.txt", text_of(["ann"]));
    let error = folder.fails(1, &build("0.5", "/dev/full"));
    assert!(error["hint"].as_str().unwrap().contains("spent, not released"), "{error}");
    assert_eq!(show(&folder)["spends"][0]["status"], "spent, not released");
}

#[test]
fn the_unit_of_every_release_is_booked_and_has_to_fit() {
    let folder = Folder::new();
    folder.write("a.csv", "user,page\nann,1\nbob,2\n");
    let create = |unit: &str| {
        let _ = std::fs::remove_file(folder.path("s.ledger"));
        folder.ok(&["ledger", "create", "--ledger", "s.ledger", "--epsilon", "9", "--unit", unit]);
    };
    let items = [
        "build",
        "a.csv",
        "--column",
        "page",
        "--epsilon",
        "1",
        "--ledger",
        "s.ledger",
        "--label",
        "x",
        "--out",
        "x.dps",
    ];
    let users = [&items[..], &["--user", "user", "--max-items", "3"]].concat();
    let raw = ["build", "a.csv", "--column", "page", "--out", "x.raw.dps"];
    folder.ok(&raw);

    create("one user with at most 3 items");
    let before = folder.read("s.ledger");
    let release = ["release", "x.raw.dps", "--epsilon", "1", "--ledger", "s.ledger", "--label", "x", "--out", "x.dps"];
    for refused in [&items[..], &release] {
        let error = folder.fails(4, refused);
        assert_eq!(
            (error["argument"].as_str(), error["value"].as_str()),
            (Some("--ledger"), Some("one item")),
            "{error}"
        );
    }
    assert_eq!(folder.read("s.ledger"), before);
    assert_eq!(folder.ok(&["inspect", "x.raw.dps", "--json"]).json()[0]["times_released"], 0);
    folder.ok(&users);
    assert_eq!(show(&folder)["spends"][0]["unit"], "one user with at most 3 items");

    create("one patient");
    folder.ok(&items);
    let run = folder.ok(&users);
    assert!(run.stderr.contains("warning: the ledger has releases for one item"), "{}", run.stderr);
    folder.ok(&["ledger", "spend", "--ledger", "s.ledger", "--label", "y", "--epsilon", "1"]);
    folder.ok(&["ledger", "spend", "--ledger", "s.ledger", "--label", "y", "--epsilon", "1", "--max-items", "7"]);
    let units: Vec<Value> =
        show(&folder)["spends"].as_array().unwrap().iter().map(|spend| spend["unit"].clone()).collect();
    let expected = [
        Value::from("one item"),
        Value::from("one user with at most 3 items"),
        Value::Null,
        Value::from("one user with at most 7 items"),
    ];
    assert_eq!(units, expected);
}

#[test]
fn an_epsilon_too_small_for_its_users_is_refused_unpaid() {
    let folder = Folder::new();
    folder.write("a.csv", "user,page,g\nann,1,x\n");
    folder.write("list.txt", "x\n");
    folder.ok(&["ledger", "create", "--ledger", "s.ledger", "--epsilon", "9"]);
    let before = folder.read("s.ledger");
    let users = ["build", "a.csv", "--column", "page", "--user", "user", "--max-items", "1048576", "--epsilon", "1e-6"];
    let booked = ["--ledger", "s.ledger", "--label", "x"];
    for more in [&["--out", "x.dps"][..], &["--group-by", "g", "--groups", "list.txt", "--out", "x.parquet"]] {
        let error = folder.fails(2, &[&users[..], &booked, more].concat());
        assert_eq!(error["argument"], "--epsilon", "{error}");
    }
    assert_eq!(folder.read("s.ledger"), before);
    assert_eq!(folder.names(), ["a.csv", "list.txt", "s.ledger"]);
}

#[test]
fn a_ledger_of_rho_says_what_was_spent_in_epsilon_and_delta() {
    let folder = Folder::new();
    let made = folder.ok(&["ledger", "create", "--ledger", "s.ledger", "--rho", "1"]);
    assert!(made.text().starts_with("rho for \"one item or record\": total 1,"), "{}", made.text());
    assert_eq!(show(&folder)["epsilon_at_delta"], Value::Null);
    folder.ok(&["ledger", "spend", "--ledger", "s.ledger", "--label", "x", "--rho", "0.2"]);
    folder.ok(&["ledger", "spend", "--ledger", "s.ledger", "--label", "x", "--rho", "0.3"]);
    let statements = show(&folder)["epsilon_at_delta"].clone();
    // The least epsilon over all orders of Renyi, by a search to 30 digits.
    for (statement, (delta, epsilon)) in
        statements.as_array().unwrap().iter().zip([(1e-6, 5.221_534_444_530_169), (1e-9, 6.474_070_020_726_486)])
    {
        assert_eq!(statement["delta"], delta);
        let found = statement["epsilon"].as_f64().unwrap();
        assert!(found >= epsilon && found < epsilon * (1.0 + 1e-6), "{statement}");
    }
    let text = folder.ok(&["ledger", "show", "--ledger", "s.ledger"]).text();
    assert!(text.contains("all spends together are epsilon"), "{text}");
}
