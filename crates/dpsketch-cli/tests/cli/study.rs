//! `study`: what parties agree on, and builds that follow it.

use crate::support::{Folder, text_of};

fn study(args: &[&str]) -> Folder {
    let folder = Folder::new();
    folder.write("a.txt", text_of(["  Ann", "ann ", "NA", "bob"]));
    folder.ok(&[&["study", "new", "--out", "s.study", "--epsilon", "0.5"], args].concat());
    folder
}

#[test]
fn parties_that_build_by_a_study_can_merge() {
    let folder = study(&["--buckets", "1024", "--levels", "20", "--trim", "--lowercase", "--null", "na"]);
    for out in ["a.dps", "b.dps"] {
        folder.ok(&["build", "a.txt", "--study", "s.study", "--out", out]);
    }
    let json = folder.ok(&["inspect", "a.dps", "--json"]).json();
    assert_eq!((json[0]["buckets"].as_u64(), json[0]["levels"].as_u64()), (Some(1024), Some(20)));
    assert_eq!((json[0]["state"].as_str(), json[0]["epsilon"].as_f64()), (Some("private"), Some(0.5)));
    folder.ok(&["merge", "a.dps", "b.dps", "--out", "m.dps"]);
    let checked = folder.ok(&["study", "check", "s.study", "a.dps", "m.dps", "--json"]).json();
    assert_eq!((checked["ok"].as_bool(), checked["sketches"].as_array().map(Vec::len)), (Some(true), Some(2)));
    assert!(folder.ok(&["study", "check", "s.study", "a.dps"]).text().contains("a.dps: ok"));
}

#[test]
fn a_study_is_shown_and_never_overwritten() {
    let folder = study(&["--user-max-items", "4"]);
    let json = folder.ok(&["study", "check", "s.study", "--json"]).json();
    assert_eq!((json["shape"].as_str(), json["epsilon"].as_f64()), (Some("sfm 4096 x 24"), Some(0.5)));
    assert_eq!((json["unit"].as_str(), json["max_items"].as_u64()), (Some("one user with at most 4 items"), Some(4)));
    let text = folder.ok(&["study", "check", "s.study"]).text();
    assert!(text.contains("one user with at most 4 items") && text.contains("the public one"), "{text}");
    let before = folder.read("s.study");
    folder.fails(2, &["study", "new", "--out", "s.study", "--epsilon", "1"]);
    assert_eq!(folder.read("s.study"), before);
}

#[test]
fn flags_that_say_otherwise_are_refused_and_those_that_agree_are_not() {
    let folder = study(&["--trim", "--null", "NA"]);
    let build = |more: &[&'static str]| [&["build", "a.txt", "--study", "s.study", "--out", "a.dps"], more].concat();
    for (more, argument) in [
        (&["--buckets", "1024"][..], "--buckets"),
        (&["--levels", "20"], "--levels"),
        (&["--epsilon", "1"], "--epsilon"),
        (&["--hash", "presto"], "--hash"),
        (&["--lowercase"], "--lowercase"),
        (&["--null", "none"], "--null"),
        (&["--user", "u", "--max-items", "3"], "--user"),
    ] {
        let error = folder.fails(2, &build(more));
        assert_eq!(error["argument"], argument, "{error}");
        assert!(error["hint"].as_str().unwrap().contains("the study decides"), "{error}");
    }
    assert!(!folder.path("a.dps").exists());
    folder.ok(&build(&[
        "--buckets",
        "4096",
        "--levels",
        "24",
        "--epsilon",
        "0.5",
        "--trim",
        "--null",
        "NA",
        "--hash",
        "default",
    ]));
    // A study is for releases.
    folder.fails(2, &["build", "a.txt", "--study", "s.study", "--out", "a.raw.dps"]);
}

#[test]
fn the_key_has_to_be_the_one_of_the_study() {
    let folder = Folder::new();
    folder.write("a.txt", "ann\n");
    for key in ["right.key", "wrong.key"] {
        folder.ok(&["key", "new", key]);
    }
    folder.ok(&["study", "new", "--out", "s.study", "--epsilon", "1", "--key-file", "right.key"]);
    let fingerprint = folder.ok(&["key", "show", "right.key", "--json"]).json()["fingerprint"].clone();
    assert_eq!(folder.ok(&["study", "check", "s.study", "--json"]).json()["key"], fingerprint);
    let key = String::from_utf8(folder.read("right.key")).unwrap().lines().nth(1).unwrap().to_owned();
    assert!(!String::from_utf8(folder.read("s.study")).unwrap().contains(&key), "the key itself is in no study");

    let build = |more: &[&'static str]| [&["build", "a.txt", "--study", "s.study", "--out", "a.dps"], more].concat();
    let error = folder.fails(2, &build(&[]));
    assert_eq!(error["argument"], "--key-file");
    assert!(error["allowed"].as_str().unwrap().contains(fingerprint.as_str().unwrap()), "{error}");
    let error = folder.fails(3, &build(&["--key-file", "wrong.key"]));
    assert_eq!(error["argument"], "--key-file");
    folder.ok(&build(&["--key-file", "right.key"]));

    folder.ok(&["study", "new", "--out", "p.study", "--epsilon", "1", "--hash", "presto"]);
    folder.ok(&["build", "a.txt", "--study", "p.study", "--out", "p.dps"]);
    folder.fails(2, &["build", "a.txt", "--study", "p.study", "--key-file", "right.key", "--out", "p.dps"]);
    let error = folder.fails(3, &["study", "check", "s.study", "a.dps", "p.dps"]);
    assert!(error["message"].as_str().unwrap().contains("1 sketch is not made as the study says"), "{error}");
}

#[test]
fn sketches_that_were_made_otherwise_are_told_with_every_difference() {
    let folder = study(&[]);
    folder.ok(&["build", "a.txt", "--epsilon", "1", "--buckets", "1024", "--out", "a.dps"]);
    let run = folder.run(&["study", "check", "s.study", "a.dps", "--json"]);
    assert_eq!(run.code, 3, "{}", run.stderr);
    let fields: Vec<String> = run.json()["sketches"][0]["differences"]
        .as_array()
        .unwrap()
        .iter()
        .map(|difference| difference["field"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(fields, ["shape", "epsilon"]);
    let raw = folder.raw("r", &["ann"]);
    assert!(folder.ok(&["study", "check", "s.study", &raw]).stderr.contains("is raw"));
}

#[test]
fn what_is_no_study_is_said_to_be_none() {
    let folder = study(&[]);
    assert_eq!(folder.fails(5, &["study", "check", "a.txt"])["argument"], "STUDY");
    assert_eq!(folder.fails(5, &["study", "check", "no.study"])["argument"], "STUDY");
    assert_eq!(folder.fails(5, &["build", "a.txt", "--study", "a.txt", "--out", "x.dps"])["argument"], "--study");
    for (more, argument) in [
        (&["--epsilon", "0"][..], "--epsilon"),
        (&["--epsilon", "1", "--buckets", "7"], "--buckets"),
        (&["--epsilon", "1e-9", "--user-max-items", "1000"], "--user-max-items"),
        (&["--epsilon", "1", "--user-max-items", "0"], "--user-max-items"),
    ] {
        let error = folder.fails(2, &[&["study", "new", "--out", "t.study"], more].concat());
        assert_eq!(error["argument"], argument, "{error}");
    }
    folder.fails(2, &["study", "new", "--out", "t.study"]);
    assert!(!folder.path("t.study").exists());
}
