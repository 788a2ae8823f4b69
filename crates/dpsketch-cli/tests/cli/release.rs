//! `release`: once, unless told otherwise.

use std::process::Stdio;

use crate::support::{Folder, Run, program};

#[test]
fn a_raw_sketch_is_released_once() {
    let folder = Folder::new();
    let raw = folder.raw("a", &["ann"]);
    folder.ok(&["release", &raw, "--epsilon", "1", "--out", "a.dps"]);
    let before = folder.read(&raw);
    let error = folder.fails(4, &["release", &raw, "--epsilon", "1", "--out", "b.dps"]);
    assert_eq!(error["kind"], "refused");
    assert!(error["hint"].as_str().unwrap().contains("--again"));
    assert_eq!(folder.read(&raw), before, "a refused release changes nothing");
    assert_eq!(folder.names(), ["a.dps", "a.raw.dps", "a.txt"]);
}

#[test]
fn again_releases_again_and_counts() {
    let folder = Folder::new();
    let raw = folder.raw("a", &["ann"]);
    folder.ok(&["release", &raw, "--epsilon", "1", "--out", "a.dps"]);
    folder.ok(&["release", &raw, "--epsilon", "1", "--again", "--out", "b.dps"]);
    let json = folder.ok(&["inspect", &raw, "--json"]).json();
    assert_eq!(json[0]["times_released"], 2);
    assert_ne!(folder.read("a.dps"), folder.read("b.dps"));
}

#[cfg(unix)]
#[test]
fn a_raw_file_stays_private_to_its_owner() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let raw = folder.raw("a", &["ann"]);
    folder.ok(&["release", &raw, "--epsilon", "1", "--out", "a.dps"]);
    let mode = |name: &str| std::fs::metadata(folder.path(name)).unwrap().permissions().mode();
    assert_eq!(mode(&raw) & 0o777, 0o600);
    assert_ne!(mode("a.dps") & 0o777, 0o600, "a private sketch may be read by whom the umask allows");
}

#[test]
fn of_many_releases_at_the_same_time_one_succeeds() {
    let folder = Folder::new();
    let raw = folder.raw("a", &["ann"]);
    let children: Vec<_> = (0..8)
        .map(|number| {
            let out = format!("{number}.dps");
            let args = ["release", raw.as_str(), "--epsilon", "1", "--out", out.as_str()];
            let mut command = program(&folder.path(""));
            command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let codes: Vec<i32> = children.into_iter().map(|child| Run::of(child.wait_with_output().unwrap()).code).collect();
    assert_eq!(codes.iter().filter(|code| **code == 0).count(), 1, "{codes:?}");
    assert!(codes.iter().all(|code| [0, 4].contains(code)), "{codes:?}");
    assert_eq!(folder.ok(&["inspect", &raw, "--json"]).json()[0]["times_released"], 1);
}

#[test]
fn a_private_sketch_is_not_released_again() {
    let folder = Folder::new();
    let file = folder.private("a", 0, 5, "1");
    let error = folder.fails(4, &["release", &file, "--epsilon", "1", "--out", "b.dps"]);
    assert!(error["message"].as_str().unwrap().contains("released already"));
}

#[test]
fn an_output_that_cannot_be_written_costs_nothing() {
    let folder = Folder::new();
    let raw = folder.raw("a", &["ann"]);
    folder.fails(1, &["release", &raw, "--epsilon", "1", "--out", "no/such/folder/a.dps"]);
    assert_eq!(folder.ok(&["inspect", &raw, "--json"]).json()[0]["times_released"], 0);
    folder.ok(&["release", &raw, "--epsilon", "1", "--out", "a.dps"]);
}
