//! `verify` and `inspect`.

use crate::support::Folder;

#[test]
fn whole_files_that_fit_together_pass() {
    let folder = Folder::new();
    let (a, b) = (folder.private("a", 0, 50, "1"), folder.private("b", 0, 50, "1"));
    let json = folder.ok(&["verify", &a, &b, "--json"]).json();
    assert_eq!((json["ok"].as_bool(), json["compatible"].as_bool()), (Some(true), Some(true)));
    assert_eq!(json["files"].as_array().map(Vec::len), Some(2));
    assert!(folder.ok(&["verify", &a, &b]).text().contains("together: ok"));
}

#[test]
fn every_flipped_bit_and_every_cut_is_found() {
    let folder = Folder::new();
    let a = folder.private("a", 0, 50, "1");
    let whole = folder.read(&a);
    let mut damaged = vec![("cut", whole[..whole.len() - 1].to_vec()), ("grown", [whole.as_slice(), b"x"].concat())];
    for at in [0, 4, 5, 7, 9, 20, 25, 40, whole.len() - 1] {
        let mut bytes = whole.clone();
        bytes[at] ^= 4;
        damaged.push(("flipped", bytes));
    }
    damaged.push(("empty", Vec::new()));
    for (what, bytes) in damaged {
        folder.write("d.dps", bytes);
        let error = folder.fails(6, &["verify", "d.dps", &a]);
        assert_eq!(error["kind"], "verify_failed", "{what}");
        folder.fails(5, &["estimate", "d.dps"]);
        folder.fails(5, &["inspect", "d.dps"]);
        folder.fails(5, &["merge", "d.dps", &a, "--out", "m.dps"]);
    }
    assert!(!folder.path("m.dps").exists());
}

#[test]
fn files_that_do_not_fit_together_fail() {
    let folder = Folder::new();
    let (a, raw) = (folder.private("a", 0, 50, "1"), folder.raw("r", &["ann"]));
    let run = folder.run(&["verify", &a, &raw, "--json"]);
    assert_eq!(run.code, 6);
    assert_eq!(run.json()["compatible"], false);
    folder.fails(6, &["verify", &a, &a]);
}

#[test]
fn a_missing_file_is_unreadable() {
    let folder = Folder::new();
    folder.fails(5, &["verify", "no.dps"]);
}

#[test]
fn inspect_tells_state_and_never_counters() {
    let folder = Folder::new();
    let (a, raw) = (folder.private("a", 0, 50, "0.5"), folder.raw("r", &["ann"]));
    let run = folder.ok(&["inspect", &a, &raw, "--json"]);
    let json = run.json();
    assert_eq!((json[0]["state"].as_str(), json[1]["state"].as_str()), (Some("private"), Some("raw")));
    assert_eq!(json[0]["epsilon"], 0.5);
    assert_eq!(json[0]["releases"].as_array().map(Vec::len), Some(1));
    assert_eq!((json[1]["epsilon"].is_null(), json[1]["times_released"].as_u64()), (true, Some(0)));
    assert_eq!((json[0]["buckets"].as_u64(), json[0]["levels"].as_u64()), (Some(4096), Some(24)));
    assert!(json[0]["bytes"].as_u64() > Some(12_288));
    assert!(run.stderr.contains("r.raw.dps is raw"));
    let text = folder.ok(&["inspect", &a, &raw]).text();
    assert!(text.contains("state") && !text.contains("estimate"), "{text}");
}

#[test]
fn sums_of_epsilon_are_exact_decimals() {
    let folder = Folder::new();
    let files = ["0.1", "0.2", "0.8"].map(|epsilon| folder.private(&format!("e{epsilon}"), 0, 50, epsilon));
    let [a, b, c] = &files;
    let run = folder.ok(&["merge", a, b, c, "--out", "m.dps", "--json"]);
    assert!(run.text().contains("\"epsilon_total\": 1.1,"), "{}", run.text());
    let run = folder.ok(&["inspect", "m.dps", "--json"]);
    assert!(run.text().contains("\"epsilon_total\": 1.1,"), "{}", run.text());
    assert!(run.text().contains("\"epsilon\": 0.8,"), "{}", run.text());
    assert!(folder.ok(&["inspect", "m.dps"]).text().contains("epsilon_total          1.1\n"));
}
