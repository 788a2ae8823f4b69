//! `build --user`: epsilon for whole users.

use std::fmt::Write;

use dpsketch::read_sketch;

use crate::support::Folder;

/// A file with `users` users of `items` items each, user by user.
fn sorted(users: u32, items: u32) -> String {
    let mut text = String::from("user,page\n");
    for user in 0..users {
        for item in 0..items {
            writeln!(text, "{user:06},{user} {item}").expect("text grows");
        }
    }
    text
}

fn build<'a>(file: &'a str, out: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let args =
        ["build", file, "--column", "page", "--user", "user", "--max-items", "3", "--epsilon", "240", "--out", out];
    [&args[..], more].concat()
}

fn estimate(folder: &Folder, file: &str) -> f64 {
    folder.ok(&["estimate", file, "--json"]).json()["estimate"].as_f64().expect("an estimate")
}

#[test]
fn at_most_so_many_items_of_a_user_are_kept_in_any_order() {
    let folder = Folder::new();
    let text = sorted(2_000, 10);
    folder.write("sorted.csv", &text);
    let mut lines: Vec<&str> = text.lines().skip(1).collect();
    // Far from sorted: every line goes somewhere else.
    lines.sort_by_key(|line| line.bytes().rev().collect::<Vec<u8>>());
    folder.write("shuffled.csv", format!("user,page\n{}\n", lines.join("\n")));
    let run = folder.ok(&build("sorted.csv", "a.dps", &["--sorted-by-user"]));
    assert!(run.stderr.contains("6,000 distinct items of 2,000 users kept"), "{}", run.stderr);
    let run = folder.ok(&build("shuffled.csv", "b.dps", &[]));
    assert!(run.stderr.contains("6,000 distinct items of 2,000 users kept"), "{}", run.stderr);
    // Epsilon 80 an item flips nothing here, so that the same items give the same cells.
    let ones = |file: &str| match read_sketch(&folder.path(file)).unwrap() {
        dpsketch::AnySketch::Sfm(sketch) => sketch.ones_per_level(),
        other => panic!("{other:?}"),
    };
    assert_eq!(ones("a.dps"), ones("b.dps"));
    // Without noise the error is 0.65 %; eight of them.
    assert!((estimate(&folder, "a.dps") / 6_000.0 - 1.0).abs() < 8.0 * 0.0065);
}

#[test]
fn the_released_file_states_the_unit() {
    let folder = Folder::new();
    folder.write("a.csv", sorted(10, 2));
    folder.ok(&build("a.csv", "a.dps", &[]));
    let json = folder.ok(&["inspect", "a.dps", "--json"]).json();
    assert_eq!(json[0]["unit"], "one user with at most 3 items", "{json}");
    assert_eq!(json[0]["epsilon"], 240.0);
    let text = folder.ok(&["estimate", "a.dps"]).text();
    assert!(text.contains("one user with at most 3 items"), "{text}");
    let json = folder.ok(&["estimate", "a.dps", "--json"]).json();
    assert_eq!(json["unit"], "one user with at most 3 items", "{json}");
    let other = folder.private("b", 0, 5, "1");
    assert_eq!(folder.ok(&["inspect", &other, "--json"]).json()[0]["unit"], "one item");
    let both = folder.ok(&["estimate", "a.dps", &other, "--json"]).json();
    assert_eq!(both["unit"], "one item; one user with at most 3 items");
    assert!(both["epsilon_total"].is_null(), "what an item pays and what a user pays do not add up");
}

#[test]
fn a_raw_file_remembers_its_users_and_merges_with_no_other() {
    let folder = Folder::new();
    folder.write("a.csv", sorted(10, 5));
    for out in ["a.raw.dps", "b.raw.dps"] {
        folder.ok(&["build", "a.csv", "--column", "page", "--user", "user", "--max-items", "3", "--out", out]);
    }
    assert_eq!(folder.ok(&["inspect", "a.raw.dps", "--json"]).json()[0]["unit"], "one user with at most 3 items");
    let error = folder.fails(3, &["merge", "a.raw.dps", "b.raw.dps", "--out", "m.raw.dps"]);
    assert!(error["message"].as_str().unwrap().contains("a user in both could exceed the bound"), "{error}");
    folder.ok(&["release", "a.raw.dps", "--epsilon", "3", "--out", "a.dps"]);
    let json = folder.ok(&["inspect", "a.dps", "--json"]).json();
    assert_eq!(
        (json[0]["unit"].as_str(), json[0]["epsilon"].as_f64()),
        (Some("one user with at most 3 items"), Some(3.0))
    );
}

#[test]
fn every_bit_is_released_at_its_share() {
    let folder = Folder::new();
    folder.write("a.csv", sorted(1, 1));
    let args = [
        "build",
        "a.csv",
        "--column",
        "page",
        "--user",
        "user",
        "--max-items",
        "4",
        "--epsilon",
        "2",
        "--out",
        "a.dps",
    ];
    folder.ok(&args);
    let dpsketch::AnySketch::Sfm(sketch) = read_sketch(&folder.path("a.dps")).unwrap() else { panic!("it is private") };
    assert!((sketch.channel().q() - 1.0 / (1.0 + 0.5_f64.exp())).abs() < 1e-12);
}

#[test]
fn input_that_is_not_sorted_is_refused_by_name_when_it_was_said_to_be() {
    let folder = Folder::new();
    folder.write("a.csv", "user,page\nann,1\nbob,1\nann,2\n");
    let error = folder.fails(4, &build("a.csv", "a.dps", &["--sorted-by-user"]));
    assert!(error["message"].as_str().unwrap().contains("not sorted by user: row 3"), "{error}");
    assert!(!error.to_string().contains("ann"), "{error}");
    assert!(!folder.path("a.dps").exists());
}

#[test]
fn rows_without_a_user_or_an_item_are_left_out() {
    let folder = Folder::new();
    folder.write(
        "a.jsonl",
        "{\"user\":1,\"page\":1}\n{\"user\":null,\"page\":2}\n{\"user\":1}\n{\"page\":1,\"user\":2}\n",
    );
    let run = folder.ok(&build("a.jsonl", "a.dps", &[]));
    assert!(run.stderr.contains("4 rows read, 2 with a missing value left out"), "{}", run.stderr);
    assert!(run.stderr.contains("2 distinct items of 2 users kept"), "{}", run.stderr);
}

#[test]
fn users_are_told_apart_after_their_text_was_cleaned() {
    let folder = Folder::new();
    folder.write("a.csv", "user,page\nAnn,1\n ann,2\nANN ,3\nann,4\nNA,5\n");
    let run = folder.ok(&build("a.csv", "a.dps", &["--trim", "--lowercase", "--null", "NA"]));
    assert!(run.stderr.contains("3 distinct items of 1 user kept"), "{}", run.stderr);
}

#[test]
fn a_user_may_be_the_item() {
    let folder = Folder::new();
    folder.write("a.csv", "user,page\nann,1\nbob,1\nann,2\n");
    let args = [
        "build",
        "a.csv",
        "--column",
        "user",
        "--user",
        "user",
        "--max-items",
        "1",
        "--epsilon",
        "1",
        "--out",
        "a.dps",
    ];
    assert!(folder.ok(&args).stderr.contains("2 distinct items of 2 users kept"));
}

#[test]
fn a_study_of_users_needs_their_column_and_bound() {
    let folder = Folder::new();
    folder.write("a.csv", sorted(10, 10));
    folder.ok(&["study", "new", "--out", "s.study", "--epsilon", "1", "--user-max-items", "2"]);
    let build = |more: &[&'static str]| {
        [&["build", "a.csv", "--column", "page", "--study", "s.study", "--out", "a.dps"], more].concat()
    };
    assert_eq!(folder.fails(2, &build(&[]))["argument"], "--user");
    assert_eq!(folder.fails(2, &build(&["--user", "user", "--max-items", "3"]))["argument"], "--max-items");
    let run = folder.ok(&build(&["--user", "user"]));
    assert!(run.stderr.contains("20 distinct items of 10 users kept"), "{}", run.stderr);
    folder.ok(&["study", "check", "s.study", "a.dps"]);
    folder.ok(&["build", "a.csv", "--column", "page", "--epsilon", "1", "--out", "b.dps"]);
    let error = folder.run(&["study", "check", "s.study", "b.dps"]);
    assert!(error.code == 3 && error.text().contains("unit: expected one user"), "{}", error.text());
}

#[test]
fn what_makes_no_sense_is_refused() {
    let folder = Folder::new();
    folder.write("a.csv", sorted(2, 2));
    let base = ["build", "a.csv", "--out", "x.dps", "--epsilon", "1"];
    for (more, argument) in [
        (&["--column", "page", "--user", "user"][..], "--max-items"),
        (&["--column", "page", "--max-items", "3"], "--user"),
        (&["--column", "page", "--user", "user", "--max-items", "0"], "--max-items"),
        (&["--column", "page", "--user", "nobody", "--max-items", "1"], "--user"),
        (&["--column", "page", "--user", "", "--max-items", "1"], "--user"),
        (&["--user", "user", "--max-items", "1"], "--column"),
        (&["--column", "page", "--user", "user", "--max-items", "1", "--temp-dir", "no/folder"], "--temp-dir"),
    ] {
        let error = folder.fails(2, &[&base[..], more].concat());
        assert!(error["argument"].as_str().unwrap().contains(argument), "{more:?}: {error}");
    }
    assert_eq!(folder.names(), ["a.csv"]);
}
