//! Results as JSON, lines of JSON and tables.

use serde_json::Value;

use crate::support::Folder;

#[test]
fn every_verb_with_a_result_has_it_in_every_format() {
    let folder = Folder::new();
    let (a, b) = (folder.private("a", 0, 50, "1"), folder.private("b", 0, 50, "1"));
    folder.ok(&["ledger", "create", "--ledger", "s.ledger", "--epsilon", "1"]);
    let runs: [&[&str]; 9] = [
        &["plan", "--distinct", "100", "--epsilon", "1", "--parties", "2"],
        &["ledger", "show", "--ledger", "s.ledger"],
        &["build", "a.txt", "--epsilon", "1", "--out", "x.dps"],
        &["merge", &a, &b, "--out", "m.dps"],
        &["estimate", &a, &b],
        &["inspect", &a, &b],
        &["verify", &a, &b],
        &["key", "show"],
        &["demo"],
    ];
    for args in runs {
        folder.ok(&[args, &["--json"]].concat()).json();
        let lines = folder.ok(&[args, &["--format", "ndjson"]].concat()).text();
        let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(!lines.is_empty() && lines.iter().all(Value::is_object), "{args:?}");
        let table = folder.ok(&[args, &["--csv"]].concat()).text();
        let mut reader = csv::Reader::from_reader(table.as_bytes());
        assert_eq!(reader.records().map(Result::unwrap).count(), lines.len(), "{args:?}: {table}");
        assert!(!folder.ok(args).text().is_empty());
    }
}

#[test]
fn formats_exclude_each_other() {
    let folder = Folder::new();
    for args in [&["demo", "--json", "--csv"][..], &["demo", "--csv", "--format", "json"], &["demo", "--format", "xml"]]
    {
        assert_eq!(folder.run(args).code, 2, "{args:?}");
    }
}
