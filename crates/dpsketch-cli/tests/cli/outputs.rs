//! Outputs never destroy what is read, and one that cannot be written shows before anything is spent.

use std::fs;

use crate::support::Folder;

/// Runs `args`, whose output is another name of `input`, and expects both to be named and nothing to change.
fn refused(folder: &Folder, args: &[&str], out: &str, input: &str) {
    let (names, before) = (folder.names(), folder.read(input));
    let error = folder.fails(2, &[args, &["--out", out]].concat());
    assert_eq!((error["argument"].as_str(), error["value"].as_str()), (Some("--out"), Some(out)), "{error}");
    assert!(error["message"].as_str().unwrap_or_default().contains(input), "{error}");
    assert_eq!(folder.names(), names);
    assert_eq!(folder.read(input), before, "{args:?}");
}

#[cfg(unix)]
#[test]
fn an_output_that_is_an_input_is_refused_by_every_verb() {
    let folder = Folder::new();
    let raw = folder.raw("a", &["ann"]);
    let (one, two) = (folder.private("one", 0, 10, "1"), folder.private("two", 5, 20, "1"));
    folder.write("g.csv", "g,u\nx,1\ny,2\n");
    folder.write("list.txt", "x\ny\n");
    let groups = ["build", "g.csv", "--column", "u", "--group-by", "g", "--groups", "list.txt", "--epsilon", "1"];
    folder.ok(&[&groups[..], &["--out", "g.parquet"]].concat());
    folder.ok(&["key", "new", "k.key"]);
    folder.ok(&["ledger", "create", "--ledger", "l.ledger", "--epsilon", "9"]);
    folder.ok(&["ledger", "spend", "--ledger", "l.ledger", "--label", "x", "--epsilon", "1"]);
    folder.ok(&["study", "new", "--epsilon", "1", "--out", "s.study"]);

    let hard = |input: &str, name: &str| {
        fs::hard_link(folder.path(input), folder.path(name)).unwrap();
    };
    let soft = |input: &str, name: &str| std::os::unix::fs::symlink(input, folder.path(name)).unwrap();
    hard("a.txt", "hard.raw.dps");
    soft("a.txt", "soft.raw.dps");
    hard("k.key", "key.dps");
    soft("s.study", "study.dps");
    soft("l.ledger", "books.dps");
    hard("l.ledger.lock", "lock.dps");
    soft(&raw, "raw.dps");
    hard(&one, "one.presto");
    soft("list.txt", "list.parquet");
    soft("g.parquet", "g.csv.parquet");

    refused(&folder, &["build", "a.txt"], "hard.raw.dps", "a.txt");
    refused(&folder, &["build", "g.csv", "a.txt"], "soft.raw.dps", "a.txt");
    refused(&folder, &["build", "a.txt", "--epsilon", "1", "--key-file", "k.key"], "key.dps", "k.key");
    refused(&folder, &["build", "a.txt", "--study", "s.study"], "study.dps", "s.study");
    let booked = ["build", "a.txt", "--epsilon", "1", "--ledger", "l.ledger", "--label", "x"];
    refused(&folder, &booked, "books.dps", "l.ledger");
    refused(&folder, &booked, "lock.dps", "l.ledger.lock");
    refused(&folder, &groups, "list.parquet", "list.txt");
    refused(&folder, &["release", &raw, "--epsilon", "1"], "raw.dps", &raw);
    refused(&folder, &["merge", &one, &two], &two, &two);
    refused(&folder, &["convert", &one, "--to", "presto"], "one.presto", &one);
    refused(&folder, &["convert", &one, "--to", "dpsketch"], &one, &one);
    refused(&folder, &["estimate", "g.parquet"], "g.csv.parquet", "g.parquet");
    assert_eq!(folder.ok(&["inspect", &raw, "--json"]).json()[0]["times_released"], 0);
}

#[cfg(target_os = "linux")]
#[test]
fn the_file_behind_standard_input_is_an_input() {
    let folder = Folder::new();
    folder.write("a.raw.dps", "ann\n");
    let run = crate::support::program(&folder.path(""))
        .args(["build", "-", "--out", "a.raw.dps"])
        .stdin(fs::File::open(folder.path("a.raw.dps")).unwrap())
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(2));
    assert_eq!(folder.read("a.raw.dps"), b"ann\n");
}

#[test]
fn an_output_that_cannot_be_written_costs_nothing() {
    let folder = Folder::new();
    let raw = folder.raw("a", &["ann"]);
    folder.ok(&["ledger", "create", "--ledger", "l.ledger", "--epsilon", "9"]);
    fs::create_dir(folder.path("d.dps")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("nowhere.dps", folder.path("link.dps")).unwrap();
    let books = folder.read("l.ledger");
    let mut outs = vec!["nonexistent/", "nonexistent.dps/", "d.dps", "d.dps/", ".."];
    if cfg!(unix) {
        outs.push("link.dps");
    }
    for out in outs {
        for args in [&["build", "a.txt"][..], &["release", &raw]] {
            let paid = ["--epsilon", "1", "--ledger", "l.ledger", "--label", "x", "--out", out];
            let error = folder.fails(2, &[args, &paid].concat());
            assert_eq!(error["argument"], "--out", "{error}");
            assert_eq!(folder.read("l.ledger"), books, "{out}");
        }
    }
    assert_eq!(folder.ok(&["inspect", &raw, "--json"]).json()[0]["times_released"], 0);
    #[cfg(unix)]
    assert!(folder.path("link.dps").is_symlink());
}

#[test]
fn names_of_the_greatest_length_work() {
    let folder = Folder::new();
    folder.write("a.txt", "ann\n");
    let (raw, private) = (format!("{}.raw.dps", "x".repeat(247)), format!("{}.dps", "y".repeat(251)));
    folder.ok(&["build", "a.txt", "--out", &raw]);
    folder.ok(&["release", &raw, "--epsilon", "1", "--out", &private]);
    assert_eq!(folder.names(), ["a.txt".to_owned(), raw, private]);
}

#[cfg(target_os = "linux")]
#[test]
fn names_need_not_be_text() {
    use std::ffi::{OsStr, OsString};
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new();
    let name = |ending: &str| OsString::from(OsStr::from_bytes(&[b"\xff\xe9", ending.as_bytes()].concat()));
    fs::write(folder.path("").join(name(".csv")), "user\nann\nbob\n").unwrap();
    let ok = |args: &[&OsStr]| {
        let run = crate::support::program(&folder.path("")).args(args).output().unwrap();
        assert!(run.status.success(), "{args:?}: {}", String::from_utf8_lossy(&run.stderr));
        run.stdout
    };
    let text = OsStr::new;
    ok(&[text("build"), &name(".csv"), text("--column"), text("user"), text("--out"), &name(".raw.dps")]);
    ok(&[text("release"), &name(".raw.dps"), text("--epsilon"), text("9"), text("--out"), &name(".dps")]);
    ok(&[text("merge"), &name(".dps"), text("--out"), &name("2.dps")]);
    for verb in ["estimate", "inspect", "verify"] {
        ok(&[text(verb), &name(".dps")]);
    }
    let mut named = OsString::from("a=");
    named.push(name(".dps"));
    ok(&[text("estimate"), text("--name"), &named, text("--expr"), text("a")]);
}
