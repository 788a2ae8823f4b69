//! `key`: made once, shown never.

use crate::support::Folder;

#[test]
fn a_new_key_is_for_its_owner_only_and_its_fingerprint_is_public() {
    let folder = Folder::new();
    let made = folder.ok(&["key", "new", "study.key", "--json"]).json();
    let shown = folder.ok(&["key", "show", "study.key", "--json"]).json();
    assert_eq!(made["fingerprint"], shown["fingerprint"]);
    assert_eq!(made["fingerprint"].as_str().map(str::len), Some(16));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(folder.path("study.key")).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn the_key_itself_is_never_printed() {
    let folder = Folder::new();
    let made = folder.ok(&["key", "new", "study.key", "-v"]);
    let key = String::from_utf8(folder.read("study.key")).unwrap().lines().nth(1).unwrap().to_owned();
    assert_eq!(key.len(), 32);
    let shown = folder.ok(&["key", "show", "study.key", "-v"]);
    for run in [made, shown] {
        assert!(!run.text().contains(&key) && !run.stderr.contains(&key));
    }
}

#[test]
fn a_key_is_never_overwritten() {
    let folder = Folder::new();
    folder.ok(&["key", "new", "study.key"]);
    let before = folder.read("study.key");
    let error = folder.fails(2, &["key", "new", "study.key"]);
    assert!(error["message"].as_str().unwrap().contains("exists already"));
    assert_eq!(folder.read("study.key"), before);
}

#[test]
fn what_is_no_key_file_is_said_to_be_none() {
    let folder = Folder::new();
    folder.write("a.txt", "ann\n");
    let error = folder.fails(5, &["build", "a.txt", "--key-file", "a.txt", "--out", "a.raw.dps"]);
    assert_eq!((error["argument"].as_str(), error["value"].as_str()), (Some("--key-file"), Some("a.txt")));
    folder.fails(5, &["key", "show", "no.key"]);
}

#[test]
fn the_key_of_a_sample_is_shown_by_its_public_name() {
    let folder = Folder::new();
    let made = folder.ok(&["key", "new", "--subsample", "week.key", "--json"]).json();
    let key = String::from_utf8(folder.read("week.key")).unwrap().lines().nth(1).unwrap().to_owned();
    for args in [&["key", "show", "week.key", "-v"][..], &["key", "show", "week.key", "--subsample"]] {
        let shown = folder.ok(args);
        assert!(shown.text().contains(made["sample_key"].as_str().unwrap()), "{}", shown.text());
        assert!(!shown.text().contains(&key) && !shown.stderr.contains(&key));
    }
    // The name is that in files.
    folder.write("in.txt", "ann\nbob\n");
    folder.ok(&["build", "in.txt", "--subsample-key", "week.key", "--subsample-rate", "0.5", "--out", "a.raw.dps"]);
    let facts = folder.ok(&["inspect", "a.raw.dps", "--json"]).json();
    assert_eq!(facts[0]["sample_key"], folder.ok(&["key", "show", "week.key", "--json"]).json()["sample_key"]);
    folder.ok(&["key", "new", "study.key"]);
    folder.fails(5, &["key", "show", "study.key", "--subsample"]);
}
