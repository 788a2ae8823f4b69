//! `merge --tally`: released sketches kept together.

use crate::support::Folder;

/// Four private sketches of 5,000 items, of which neighbours share 2,500, as `s0.dps` to `s3.dps`.
fn sites() -> (Folder, Vec<String>) {
    let folder = Folder::new();
    let files =
        (0..4).map(|site| folder.private(&format!("s{site}"), 2_500 * site, 2_500 * site + 5_000, "4")).collect();
    (folder, files)
}

#[test]
fn a_tally_answers_as_its_files_do_whatever_the_order() {
    let (folder, files) = sites();
    let [a, b, c, d] = [0, 1, 2, 3].map(|site| files[site].as_str());
    folder.ok(&["merge", "--tally", a, b, c, d, "--out", "all.tally.dps"]);
    folder.ok(&["merge", "--tally", d, b, "--out", "part.tally.dps"]);
    folder.ok(&["merge", "--tally", c, "part.tally.dps", a, "--out", "again.tally.dps"]);
    assert_eq!(folder.read("all.tally.dps"), folder.read("again.tally.dps"));
    let tallied = folder.ok(&["estimate", "all.tally.dps", "--json"]).json();
    let together = folder.ok(&["estimate", a, b, c, d, "--json"]).json();
    assert_eq!(tallied, together);
    assert_eq!(
        folder.ok(&["estimate", c, "part.tally.dps", a, "--json"]).json(),
        together,
        "single files and tallies mix"
    );
    let (value, error) = (tallied["estimate"].as_f64().unwrap(), tallied["std_error"].as_f64().unwrap());
    // Eight standard errors: missed once in 10^15 runs.
    assert!((value - 12_500.0).abs() < 8.0 * error && error < 500.0, "{tallied}");
    assert_eq!((tallied["epsilon"].as_f64(), tallied["epsilon_total"].as_f64()), (Some(4.0), Some(16.0)));
    assert_eq!((&tallied["method"]["name"], &tallied["method"]["sketches"]), (&"tally".into(), &4.into()));
    let text = folder.ok(&["estimate", "all.tally.dps"]).text();
    assert!(text.contains("tally of 4 sketches (") && text.contains("16 for somebody in all of them"), "{text}");
}

#[test]
fn what_a_tally_holds_is_shown_and_verified() {
    let (folder, files) = sites();
    folder.private("x", 0, 5_000, "2");
    let report = folder.ok(&["merge", "--tally", &files[0], &files[1], "x.dps", "--out", "t.dps", "--json"]).json();
    assert_eq!((&report["kind"], &report["sketches"]), (&"sfm-tally".into(), &3.into()));
    let json = folder.ok(&["inspect", "t.dps", "--json"]).json();
    let facts = &json[0];
    assert_eq!((facts["epsilon"].as_f64(), facts["epsilon_total"].as_f64()), (Some(4.0), Some(10.0)));
    assert_eq!(
        (facts["releases"].as_array().map(Vec::len), facts["classes"].as_array().map(Vec::len)),
        (Some(3), Some(2))
    );
    let text = folder.ok(&["inspect", "t.dps"]).text();
    assert!(text.contains("noise level") && text.contains("2 releases"), "{text}");
    let text = folder.ok(&["verify", "t.dps", &files[2]]).text();
    for word in
        ["tally of sfm sketches", "10 for somebody in all of them", "3 releases of 2 noise levels", "together: ok"]
    {
        assert!(text.contains(word), "{word}: {text}");
    }
    folder.fails(6, &["verify", "t.dps", &files[0]]);
    let whole = folder.read("t.dps");
    for damaged in [whole[..whole.len() - 1].to_vec(), [&whole[..60], b"x", &whole[61..]].concat()] {
        folder.write("d.dps", damaged);
        folder.fails(5, &["estimate", "d.dps"]);
    }
}

#[test]
fn what_cannot_be_tallied_is_refused_and_nothing_is_written() {
    let (folder, files) = sites();
    folder.ok(&["merge", "--tally", &files[0], &files[1], "--out", "t.dps"]);
    folder.ok(&["merge", &files[2], &files[3], "--out", "m.dps"]);
    folder.raw("r", &["ann"]);
    let before = folder.names();
    for inputs in [[files[0].as_str(), "t.dps"], ["m.dps", &files[0]], ["m.dps", "t.dps"]] {
        let error = folder.fails(3, &[&["merge", "--tally"], &inputs[..], &["--out", "x.dps"]].concat());
        assert_eq!(error["kind"], "incompatible", "{error}");
    }
    let raw = folder.fails(3, &["merge", "--tally", "r.raw.dps", "--out", "x.dps"]);
    assert!(raw["hint"].as_str().unwrap().contains("release"), "{raw}");
    let plain = folder.fails(3, &["merge", "t.dps", &files[2], "--out", "x.dps"]);
    assert!(plain["hint"].as_str().unwrap().contains("--tally"), "{plain}");
    folder.fails(3, &["estimate", "t.dps", &files[0]]);
    folder.fails(3, &["estimate", "t.dps", "m.dps"]);
    // An output never replaces an input, and the noise of a tally has no form.
    assert_eq!(folder.fails(2, &["merge", "--tally", "t.dps", &files[2], "--out", "t.dps"])["argument"], "--out");
    for flag in [&["--form", "xor"][..], &["--disjoint"]] {
        folder.fails(2, &[&["merge", "--tally", &files[0], "--out", "x.dps"], flag].concat());
    }
    folder.fails(2, &["merge", "--thin", &files[0], &files[1], "--out", "x.dps"]);
    assert_eq!(folder.names(), before);
}

#[test]
fn three_noise_levels_are_thinned_where_asked() {
    let folder = Folder::new();
    let files = ["1", "2", "4"].map(|level| folder.private(&format!("e{level}"), 0, 20_000, level));
    let [a, b, c] = &files;
    let run = folder.ok(&["merge", "--tally", a, b, c, "--out", "t.dps"]);
    assert!(run.stderr.contains("3 noise levels") && run.stderr.contains("--thin"), "{}", run.stderr);
    let error = folder.fails(3, &["estimate", "t.dps"]);
    assert!(error["hint"].as_str().unwrap().contains("--thin"), "{error}");
    let run = folder.ok(&["merge", "--tally", "--thin", "t.dps", "--out", "one.dps"]);
    assert!(!run.stderr.contains("noise levels"), "{}", run.stderr);
    let json = folder.ok(&["estimate", "one.dps", "--json"]).json();
    let (value, error) = (json["estimate"].as_f64().unwrap(), json["std_error"].as_f64().unwrap());
    assert!((value - 20_000.0).abs() < 8.0 * error && error < 2_500.0, "{json}");
    assert_eq!((json["epsilon"].as_f64(), json["epsilon_total"].as_f64()), (Some(4.0), Some(7.0)));
}

#[test]
fn help_says_what_a_tally_is() {
    let folder = Folder::new();
    let help = folder.ok(&["merge", "--help"]).text();
    assert!(help.contains("--tally") && help.contains("--thin") && help.contains("instead of merging"), "{help}");
    let help = folder.ok(&["estimate", "--help"]).text();
    assert!(help.contains("--regions") && help.contains("merge --tally"), "{help}");
}

#[test]
fn files_of_many_noise_levels_are_told_of_thinned_tallies() {
    let folder = Folder::new();
    for (name, epsilon) in [("a", "1"), ("b", "2"), ("c", "3"), ("d", "4")] {
        folder.private(name, 0, 5_000, epsilon);
    }
    let files = ["estimate", "a.dps", "b.dps", "c.dps", "d.dps"];
    let text = folder.ok(&files).text();
    assert!(text.contains("product statistic") && text.contains("merge --tally --thin"), "{text}");
    let json = folder.ok(&[&files[..], &["--json"]].concat()).json();
    assert!(json["note"].as_str().unwrap().contains("noise levels differ too much for a tally"), "{json}");
    assert!(folder.ok(&["estimate", "a.dps", "b.dps", "--json"]).json().get("note").is_none());
    // The advice can be followed.
    folder.ok(&["merge", "--tally", "--thin", "a.dps", "b.dps", "c.dps", "d.dps", "--out", "all.tally.dps"]);
    assert_eq!(folder.ok(&["estimate", "all.tally.dps", "--json"]).json()["method"]["name"], "tally");
    // Of noise alone.
    for (name, epsilon) in [("a", "0.01"), ("b", "0.02"), ("c", "0.03"), ("d", "0.04")] {
        folder.private(name, 0, 100, epsilon);
    }
    let text = folder.ok(&files).text();
    assert!(!text.contains("more buckets") && text.contains("merge --tally --thin"), "{text}");
}
