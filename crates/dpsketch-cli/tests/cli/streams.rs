//! Pipes that close, disks that are full, outputs that cannot be.

use std::process::Stdio;

use crate::support::{Folder, Run, program};

/// Runs the program with a standard output that nobody reads, from before it starts.
fn with_closed_stdout(folder: &Folder, args: &[&str]) -> Run {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let child =
        program(&folder.path("")).args(args).stdout(writer).stderr(Stdio::piped()).spawn().expect("the program starts");
    Run::of(child.wait_with_output().expect("the program ends"))
}

#[test]
fn a_closed_pipe_is_a_quiet_end() {
    let folder = Folder::new();
    let file = folder.private("a", 0, 50, "1");
    for args in [&["estimate", &file][..], &["inspect", &file, "--json"], &["man"], &["completions", "bash"], &["demo"]]
    {
        let run = with_closed_stdout(&folder, args);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{args:?}");
    }
}

#[test]
fn a_release_that_nobody_takes_is_a_failure() {
    let folder = Folder::new();
    let raw = folder.raw("a", &["ann"]);
    for args in
        [&["build", "a.txt", "--epsilon", "1", "--out", "-"][..], &["release", &raw, "--epsilon", "1", "--out", "-"]]
    {
        let run = with_closed_stdout(&folder, args);
        assert_eq!(run.code, 1, "{args:?}");
        assert!(run.stderr.contains("standard output"), "{}", run.stderr);
    }
    assert!(folder.fails(4, &["release", &raw, "--epsilon", "1", "--out", "b.dps"])["hint"].is_string());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_a_clear_error() {
    let folder = Folder::new();
    let raw = folder.raw("a", &["ann"]);
    let error = folder.fails(1, &["build", "a.txt", "--epsilon", "1", "--out", "/dev/full"]);
    assert_eq!(error["kind"], "io");
    assert!(error["message"].as_str().unwrap().contains("/dev/full"));
    assert!(error["hint"].as_str().unwrap().contains("space"));
    let error = folder.fails(1, &["release", &raw, "--epsilon", "1", "--out", "/dev/full"]);
    assert!(error["hint"].as_str().unwrap().contains("--again"), "{error}");
    assert!(!std::fs::metadata("/dev/full").unwrap().is_file(), "the device is still there");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_output_is_a_clear_error() {
    let folder = Folder::new();
    let file = folder.private("a", 0, 50, "1");
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let child =
        program(&folder.path("")).args(["estimate", &file]).stdout(full).stderr(Stdio::piped()).spawn().unwrap();
    let run = Run::of(child.wait_with_output().unwrap());
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("cannot write standard output"), "{}", run.stderr);
}

#[cfg(unix)]
#[test]
fn a_read_only_folder_is_a_clear_error_and_stays_as_it_was() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let raw = folder.raw("a", &["ann"]);
    let locked = folder.path("locked");
    std::fs::create_dir(&locked).unwrap();
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o555)).unwrap();
    if std::fs::write(locked.join("probe"), "").is_ok() {
        // The superuser writes where it likes; there is a folder where nobody can.
        let error = folder.fails(1, &["build", "a.txt", "--epsilon", "1", "--out", "/proc/a.dps"]);
        assert_eq!(error["argument"], "--out");
        return;
    }
    let error = folder.fails(1, &["build", "a.txt", "--epsilon", "1", "--out", "locked/a.dps"]);
    assert_eq!((error["argument"].as_str(), error["kind"].as_str()), (Some("--out"), Some("io")));
    assert!(error["hint"].as_str().unwrap().contains("folder"));
    std::fs::copy(folder.path(&raw), folder.path("b.raw.dps")).unwrap();
    assert_eq!(std::fs::read_dir(&locked).unwrap().count(), 0);
}

#[test]
fn a_folder_is_no_file() {
    let folder = Folder::new();
    let raw = folder.raw("a", &["ann"]);
    std::fs::create_dir(folder.path("sub.dps")).unwrap();
    let error = folder.fails(2, &["build", "a.txt", "--epsilon", "1", "--out", "sub.dps"]);
    assert_eq!(error["argument"], "--out");
    for args in [
        &["build", "sub.dps", "--out", "x.raw.dps"][..],
        &["estimate", "sub.dps"],
        &["release", "sub.dps", "--epsilon", "1", "--out", "x.dps"],
        &["build", "a.txt", "--key-file", "sub.dps", "--out", "x.raw.dps"],
    ] {
        let error = folder.fails(5, args);
        assert!(error["hint"].is_string(), "{error}");
    }
    assert!(folder.path(&raw).exists());
    assert!(!folder.path("x.raw.dps").exists() && !folder.path("x.dps").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_report_that_is_lost_does_not_hide_that_the_file_is_there() {
    let folder = Folder::new();
    let (a, b) = (folder.private("a", 0, 50, "1"), folder.private("b", 0, 50, "1"));
    for args in [
        &["build", "a.txt", "--epsilon", "1", "--out", "x.dps"][..],
        &["merge", &a, &b, "--out", "x.dps"],
        &["convert", &a, "--to", "dpsketch", "--out", "x.dps"],
    ] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let run = Run::of(program(&folder.path("")).args(args).stdout(full).output().unwrap());
        assert_eq!(run.code, 1, "{args:?}");
        assert!(run.stderr.contains("x.dps is written and whole"), "{}", run.stderr);
        folder.ok(&["verify", "x.dps"]);
        std::fs::remove_file(folder.path("x.dps")).unwrap();
    }
}

#[test]
fn with_json_standard_error_is_json_line_by_line() {
    let folder = Folder::new();
    folder.write("a.csv", "g,user\nx,ann\n");
    for (code, args) in [
        (0, &["build", "a.csv", "--column", "user", "--out", "x.raw.dps", "-v"][..]),
        (0, &["inspect", "x.raw.dps"]),
        (0, &["build", "a.csv", "--column", "user", "--group-by", "g", "--epsilon", "11", "--out", "g.parquet"]),
        (5, &["estimate", "x.raw.dps", "no.dps"]),
        (2, &["build", "--nonsense"]),
    ] {
        for format in [&["--json"][..], &["--format", "ndjson"]] {
            let run = folder.run(&[args, format].concat());
            assert_eq!(run.code, code, "{args:?}: {}", run.stderr);
            assert!(!run.stderr.is_empty(), "{args:?}");
            for line in run.stderr.lines() {
                let told: serde_json::Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{args:?}: {line}"));
                assert!(told["kind"].is_string() && told["message"].is_string(), "{line}");
            }
        }
    }
}
