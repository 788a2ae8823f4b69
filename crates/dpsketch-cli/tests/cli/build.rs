//! `build`: what goes in comes out, whatever the format and the number of threads.

use dpsketch::sfm_pcsa::{PcsaShape, PcsaSketch};
use dpsketch::sketch_hash::{AnyHash, DefaultHash, HashKey, Item, KeyedHash, PrestoHash};

use crate::support::{Folder, expected_texts, text_of};

#[test]
fn a_line_is_an_item_and_an_empty_line_too() {
    let folder = Folder::new();
    let raw = folder.raw("a", &["ann", "bob", "", "ann"]);
    assert_eq!(folder.read(&raw), expected_texts(&["ann", "bob", ""]));
}

#[test]
fn nulls_are_left_out_and_counted_on_stderr() {
    let folder = Folder::new();
    folder.write("a.txt", "ann\nNA\n\nNA\n");
    let run = folder.ok(&["build", "a.txt", "--null", "NA", "--out", "a.raw.dps"]);
    assert!(run.stderr.contains("4 rows read, 2 with a missing value left out"), "{}", run.stderr);
    assert_eq!(folder.read("a.raw.dps"), expected_texts(&["ann", ""]));
}

#[test]
fn text_is_trimmed_and_lowered_when_asked_to() {
    let folder = Folder::new();
    folder.write("a.txt", "  Ann\nANN \nÉva\n");
    folder.ok(&["build", "a.txt", "--trim", "--lowercase", "--out", "a.raw.dps"]);
    assert_eq!(folder.read("a.raw.dps"), expected_texts(&["ann", "éva"]));
}

#[test]
fn several_inputs_are_one_data_set() {
    let folder = Folder::new();
    folder.write("a.txt", "ann\n");
    folder.write("b.txt", "bob\n");
    folder.ok(&["build", "a.txt", "b.txt", "--out", "ab.raw.dps"]);
    assert_eq!(folder.read("ab.raw.dps"), expected_texts(&["ann", "bob"]));
}

#[test]
fn no_input_is_standard_input() {
    let folder = Folder::new();
    let run = folder.run_with_input(&["build", "--out", "a.raw.dps"], b"ann\nbob");
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(folder.read("a.raw.dps"), expected_texts(&["ann", "bob"]));
}

#[test]
fn an_empty_input_is_the_empty_set() {
    let folder = Folder::new();
    folder.write("a.txt", "");
    folder.ok(&["build", "a.txt", "--out", "a.raw.dps"]);
    assert_eq!(folder.read("a.raw.dps"), expected_texts(&[]));
}

#[test]
fn the_result_does_not_depend_on_the_number_of_threads() {
    let folder = Folder::new();
    let text = text_of((0..200_000).map(|user| format!("{user},\"name, {user}\"")));
    folder.write("a.csv", format!("user,name\n{text}"));
    let mut outputs = Vec::new();
    for threads in ["1", "2", "7"] {
        for column in ["user", "name", "user,name"] {
            let out = format!("{threads}-{}.raw.dps", column.replace(',', "-"));
            folder.ok(&["build", "a.csv", "--column", column, "--threads", threads, "--out", &out]);
            outputs.push((column, folder.read(&out)));
        }
    }
    for (column, bytes) in &outputs {
        let first = outputs.iter().find(|(other, _)| other == column).map(|(_, bytes)| bytes);
        assert_eq!(Some(bytes), first, "{column}");
    }
    assert!(outputs[0].1 != outputs[1].1 && outputs[0].1 != outputs[2].1);
}

#[test]
fn raw_files_are_for_their_owner_only_and_warned_about() {
    let folder = Folder::new();
    folder.write("a.txt", "ann\n");
    let run = folder.ok(&["build", "a.txt", "--out", "a.raw.dps"]);
    assert!(run.stderr.contains("warning: a.raw.dps is raw"), "{}", run.stderr);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(folder.path("a.raw.dps")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn epsilon_releases_without_leaving_raw_state() {
    let folder = Folder::new();
    folder.write("a.txt", "ann\n");
    let run = folder.ok(&["build", "a.txt", "--epsilon", "1", "--out", "a.dps", "--json"]);
    assert_eq!(folder.names(), ["a.dps", "a.txt"]);
    assert_eq!(run.json()["state"], "private");
    assert_eq!(run.json()["epsilon"], 1.0);
    assert!(!run.stderr.contains("warning"), "{}", run.stderr);
}

#[test]
fn two_releases_of_the_same_data_have_different_noise() {
    let folder = Folder::new();
    folder.write("a.txt", "ann\n");
    for out in ["a.dps", "b.dps"] {
        folder.ok(&["build", "a.txt", "--epsilon", "1", "--out", out]);
    }
    assert_ne!(folder.read("a.dps"), folder.read("b.dps"));
}

#[test]
fn a_large_epsilon_warns() {
    let folder = Folder::new();
    folder.write("a.txt", "ann\n");
    let run = folder.ok(&["build", "a.txt", "--epsilon", "10.5", "--out", "a.dps"]);
    assert!(run.stderr.contains("warning: epsilon 10.5 protects little"), "{}", run.stderr);
    let run = folder.ok(&["build", "a.txt", "--epsilon", "10", "--out", "a.dps"]);
    assert!(!run.stderr.contains("warning"), "{}", run.stderr);
}

#[test]
fn shape_hash_and_key_are_as_asked_for() {
    let folder = Folder::new();
    folder.write("a.txt", "ann\n");
    folder.ok(&["key", "new", "study.key"]);
    let hex = String::from_utf8(folder.read("study.key")).unwrap().lines().nth(1).unwrap().to_owned();
    let key = HashKey::from_hex(&hex).unwrap();
    let shape = PcsaShape::new(1024, 32).unwrap();
    let hashes: [(&[&str], AnyHash); 3] = [
        (&[], AnyHash::default()),
        (&["--key-file", "study.key"], DefaultHash::new(key).into()),
        (&["--hash", "presto"], PrestoHash.into()),
    ];
    for (args, hash) in hashes {
        let shape_args = ["build", "a.txt", "--buckets", "1_024", "--levels", "32", "--out", "a.raw.dps"];
        folder.ok(&[&shape_args, args].concat());
        let mut sketch = PcsaSketch::new(shape, hash.clone());
        sketch.update_item(&Item::Text("ann"));
        assert_eq!(folder.read("a.raw.dps"), sketch.to_sensitive_bytes().to_vec(), "{}", hash.id());
    }
}

#[test]
fn a_sketch_may_go_to_standard_output() {
    let folder = Folder::new();
    folder.write("a.txt", "ann\n");
    let run = folder.ok(&["build", "a.txt", "--out", "-"]);
    assert_eq!(run.stdout, expected_texts(&["ann"]));
    let estimate = folder.run_with_input(&["estimate", "-", "--json"], &run.stdout);
    assert_eq!(estimate.code, 0, "{}", estimate.stderr);
    assert_eq!(estimate.json()["epsilon"], serde_json::Value::Null);
}

#[test]
fn quiet_drops_notes_and_keeps_warnings() {
    let folder = Folder::new();
    folder.write("a.txt", "ann\n");
    let run = folder.ok(&["build", "a.txt", "--out", "a.raw.dps", "-q"]);
    assert!(run.stderr.contains("warning") && !run.stderr.contains("note"), "{}", run.stderr);
    let run = folder.ok(&["build", "a.txt", "--epsilon", "1", "--out", "a.dps", "-q"]);
    assert_eq!((run.stdout.as_slice(), run.stderr.as_str()), (&b""[..], ""));
    let run = folder.ok(&["build", "a.txt", "--epsilon", "1", "--out", "a.dps", "-v"]);
    assert!(run.stderr.contains("a.txt: read as lines"), "{}", run.stderr);
}
