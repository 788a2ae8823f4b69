//! `merge`: what fits together, and what does not.

use crate::support::{Folder, expected_texts};

#[test]
fn raw_sketches_merge_exactly_and_stay_as_they_were() {
    let folder = Folder::new();
    let (a, b) = (folder.raw("a", &["ann", "bob"]), folder.raw("b", &["bob", "eve"]));
    let before = [folder.read(&a), folder.read(&b)];
    folder.ok(&["merge", &a, &b, "--out", "ab.raw.dps"]);
    assert_eq!(folder.read("ab.raw.dps"), expected_texts(&["ann", "bob", "eve"]));
    assert_eq!([folder.read(&a), folder.read(&b)], before);
}

#[test]
fn an_empty_raw_sketch_merges_like_any_other() {
    let folder = Folder::new();
    let (a, empty) = (folder.raw("a", &["ann"]), folder.raw("empty", &[]));
    for order in [[&a, &empty], [&empty, &a]] {
        folder.ok(&["merge", order[0], order[1], "--out", "m.raw.dps"]);
        assert_eq!(folder.read("m.raw.dps"), folder.read(&a));
    }
}

#[test]
fn sketches_of_different_keys_do_not_merge_even_when_empty() {
    let folder = Folder::new();
    let a = folder.raw("a", &["ann"]);
    let key = folder.ok(&["key", "new", "k.key", "--json"]).json();
    folder.write("b.txt", "");
    folder.ok(&["build", "b.txt", "--key-file", "k.key", "--out", "b.raw.dps"]);
    let error = folder.fails(3, &["merge", &a, "b.raw.dps", "--out", "m.raw.dps"]);
    let message = error["message"].as_str().unwrap();
    assert_eq!(error["kind"], "incompatible");
    let public = folder.ok(&["key", "show", "--json"]).json();
    for key in [&key, &public] {
        assert!(message.contains(key["fingerprint"].as_str().unwrap()), "{message}");
    }
    assert!(message.contains("b.raw.dps does not fit a.raw.dps"), "{message}");
    folder.fails(3, &["estimate", &a, "b.raw.dps"]);
    assert!(!folder.path("m.raw.dps").exists());
}

#[test]
fn sketches_of_different_shapes_do_not_merge() {
    let folder = Folder::new();
    let a = folder.private("a", 0, 5, "1");
    folder.ok(&["build", "a.txt", "--buckets", "1024", "--epsilon", "1", "--out", "b.dps"]);
    let error = folder.fails(3, &["merge", &a, "b.dps", "--out", "m.dps"]);
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("4096 x 24") && message.contains("1024 x 24"), "{message}");
}

#[test]
fn raw_and_private_sketches_do_not_mix() {
    let folder = Folder::new();
    let (raw, private) = (folder.raw("r", &["ann"]), folder.private("p", 0, 5, "1"));
    for verb in [&["merge", &raw, &private, "--out", "m.dps"][..], &["estimate", &raw, &private][..]] {
        let error = folder.fails(3, verb);
        assert!(error["message"].as_str().unwrap().contains("r.raw.dps is raw and p.dps is private"));
    }
}

#[test]
fn a_release_is_used_once() {
    let folder = Folder::new();
    let (a, b) = (folder.private("a", 0, 50, "1"), folder.private("b", 0, 50, "1"));
    folder.ok(&["merge", &a, &b, "--out", "m.dps"]);
    for args in [["merge", &a, &a], ["merge", "m.dps", &b], ["estimate", &a, &a], ["estimate", &a, "m.dps"]] {
        let out: &[&str] = if args[0] == "merge" { &["--out", "x.dps"] } else { &[] };
        let error = folder.fails(3, &[&args, out].concat());
        assert!(error["message"].as_str().unwrap().contains("can be used only once"), "{error}");
    }
}

#[test]
fn the_kind_of_the_result_decides_its_name() {
    let folder = Folder::new();
    let (a, b) = (folder.private("a", 0, 50, "1"), folder.private("b", 0, 50, "1"));
    let error = folder.fails(2, &["merge", &a, &b, "--out", "m.raw.dps"]);
    assert_eq!(error["argument"], "--out");
    assert!(error["hint"].as_str().unwrap().contains("m.dps"));
}

#[test]
fn the_symmetric_form_is_there_and_xor_needs_its_own_releases() {
    let folder = Folder::new();
    let (a, b) = (folder.private("a", 0, 50, "1"), folder.private("b", 0, 50, "1"));
    folder.ok(&["merge", &a, &b, "--form", "symmetric", "--out", "s.dps"]);
    let error = folder.fails(3, &["merge", &a, &b, "--form", "xor", "--out", "x.dps"]);
    assert!(error["hint"].as_str().unwrap().contains("--form"));
}
