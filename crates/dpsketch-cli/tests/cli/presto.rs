//! Sketches in Presto's bytes: read by content, written by `convert`.

use crate::support::{Folder, text_of};

/// XXH64 sketch of the texts ab, cd, ef in 8 buckets of 16 levels, without noise, as the format's description gives it.
const RAW: [u8; 24] = [7, 3, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0x18, 0, 4];

/// A private sketch of `from..to` under Presto's hash, and its file in Presto's bytes, `NAME.presto`.
fn private(folder: &Folder, name: &str, from: u32, to: u32) {
    let input = folder.write(&format!("{name}.txt"), text_of((from..to).map(|line| line.to_string())));
    let out = format!("{name}.dps");
    folder.ok(&["build", &input, "--hash", "presto", "--epsilon", "4", "--out", &out]);
    folder.ok(&["convert", &out, "--to", "presto", "--out", &format!("{name}.presto")]);
}

#[test]
fn every_verb_reads_prestos_bytes() {
    let folder = Folder::new();
    private(&folder, "a", 0, 20_000);
    private(&folder, "b", 10_000, 30_000);
    let ours = folder.ok(&["estimate", "a.dps", "--json"]).json();
    let theirs = folder.ok(&["estimate", "a.presto", "--json"]).json();
    let [ours, theirs] = [ours, theirs].map(|json| json["estimate"].as_f64().unwrap());
    // The flip probability is written as an f64, rounded by less than one part in 2^52.
    assert!((ours - theirs).abs() < 1e-6 * ours, "{ours} {theirs}");

    let inspected = folder.ok(&["inspect", "a.presto", "--json"]).json();
    assert_eq!((inspected[0]["format"].as_str(), inspected[0]["state"].as_str()), (Some("presto"), Some("private")));
    assert_eq!(inspected[0]["bytes"].as_u64(), Some(folder.read("a.presto").len() as u64));
    assert_eq!(folder.ok(&["verify", "a.presto", "b.presto", "--json"]).json()["ok"], true);

    folder.ok(&["merge", "a.presto", "b.presto", "--out", "m.dps"]);
    let union = folder.ok(&["estimate", "m.dps", "--json"]).json();
    let (value, error) = (union["estimate"].as_f64().unwrap(), union["std_error"].as_f64().unwrap());
    assert!((value - 30_000.0).abs() < 8.0 * error && error < 1_000.0, "{union}");
    folder.fails(3, &["merge", "a.presto", "a.presto", "--out", "twice.dps"]);
}

#[test]
fn extremal_merges_are_thinned_for_export() {
    let folder = Folder::new();
    private(&folder, "a", 0, 20_000);
    private(&folder, "b", 10_000, 30_000);
    folder.ok(&["merge", "a.dps", "b.dps", "--out", "m.dps"]);
    let written = folder.ok(&["convert", "m.dps", "--to", "presto", "--out", "m.presto", "--json"]).json();
    assert_eq!(written["thinned"], true);
    let json = folder.ok(&["estimate", "m.presto", "--json"]).json();
    let (value, error) = (json["estimate"].as_f64().unwrap(), json["std_error"].as_f64().unwrap());
    assert!((value - 30_000.0).abs() < 8.0 * error && error < 1_000.0, "{json}");
}

#[test]
fn sketches_of_another_hash_are_not_exported() {
    let folder = Folder::new();
    folder.private("a", 0, 100, "1");
    let error = folder.fails(3, &["convert", "a.dps", "--to", "presto", "--out", "a.presto"]);
    assert!(error["hint"].as_str().unwrap().contains("--hash presto"), "{error}");
    assert!(!folder.names().contains(&"a.presto".to_owned()));
}

#[test]
fn raw_ones_keep_names_and_modes_of_raw_files() {
    let folder = Folder::new();
    folder.write("x.raw.presto", RAW);
    let run = folder.ok(&["estimate", "x.raw.presto", "--json"]);
    assert!(run.stderr.contains("not private"), "{}", run.stderr);
    assert!(run.json()["epsilon"].is_null());
    folder.fails(2, &["convert", "x.raw.presto", "--to", "dpsketch", "--out", "x.dps"]);
    folder.ok(&["convert", "x.raw.presto", "--to", "dpsketch", "--out", "x.raw.dps"]);
    folder.fails(2, &["convert", "x.raw.dps", "--to", "presto", "--out", "y.presto"]);
    folder.ok(&["convert", "x.raw.dps", "--to", "presto", "--out", "y.raw.presto"]);
    assert_eq!(folder.read("y.raw.presto"), RAW);
    #[cfg(unix)]
    for name in ["x.raw.dps", "y.raw.presto"] {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(folder.path(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    // It cannot count its releases, so it must become a file of ours before.
    folder.fails(4, &["release", "x.raw.presto", "--epsilon", "1", "--out", "z.dps"]);
    assert_eq!(folder.read("x.raw.presto"), RAW);
    folder.ok(&["release", "x.raw.dps", "--epsilon", "1", "--out", "z.dps"]);
}

#[test]
fn the_last_level_is_exact_unless_asked_otherwise() {
    let folder = Folder::new();
    let input = folder.write("a.txt", text_of((0..2_000).map(|line| line.to_string())));
    let shape = ["--buckets", "64", "--levels", "5", "--hash", "presto"];
    folder.ok(&[&["build", &input, "--out", "a.raw.dps"][..], &shape].concat());
    let value = |level: &[&str]| {
        let json = folder.ok(&[&["estimate", "a.raw.dps", "--json"], level].concat()).json();
        json["estimate"].as_f64().unwrap()
    };
    let exact = value(&[]);
    assert_eq!(exact.to_bits(), value(&["--last-level", "exact"]).to_bits());
    // Half the probability for the last level takes its ones for those of more items.
    assert!(value(&["--last-level", "presto"]) > 1.05 * exact);
}

#[test]
fn damaged_bytes_are_refused() {
    let folder = Folder::new();
    folder.write("cut.presto", &RAW[..23]);
    folder.write("long.presto", [&RAW[..], &[0]].concat());
    for name in ["cut.presto", "long.presto"] {
        assert_eq!(folder.fails(5, &["estimate", name])["kind"], "damaged");
    }
}
