//! The golden-file runner on tallies and regions.

mod support;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sketch_sim::golden::run;

use support::wrong;

fn beyond_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../cardinality-estimators/tests/golden/beyond_golden.json")
}

#[test]
fn every_case_of_tallies_and_regions_passes() {
    let report = run(&[beyond_file()], &[]);
    assert!(report.is_clean(), "{report}");
    assert_eq!(report.passed(), 125, "{report}");
}

/// Every field of the first case of each kind, nested ones too; remarks are left out.
#[test]
fn a_wrong_value_of_any_kind_of_tallies_and_regions_fails() {
    let text = std::fs::read_to_string(beyond_file()).expect("the file is there");
    let mut file: Value = serde_json::from_str(&text).expect("the file is JSON");
    let all = file["cases"].as_array().expect("a list of cases").clone();
    let mut kinds: Vec<&str> = all.iter().filter_map(|case| case["kind"].as_str()).collect();
    kinds.dedup();
    assert_eq!(kinds.len(), 5);
    for kind in kinds {
        let case = all.iter().find(|case| case["kind"] == kind).expect("there is one");
        for pointer in pointers(&case["expect"]) {
            let mut changed = case.clone();
            let value = changed["expect"].pointer_mut(&pointer).expect("the field is there");
            *value = wrong(value);
            (file["cases"], file["count"]) = (json!([changed]), json!(1));
            let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("wrong_beyond.json");
            std::fs::write(&path, file.to_string()).expect("the test folder can be written");
            let report = run(&[path], &[]);
            assert_eq!((report.passed(), report.failed()), (0, 1), "{kind}, {pointer}: {report}");
        }
    }
}

/// Where the fields of an expectation stand that are compared.
fn pointers(expect: &Value) -> Vec<String> {
    let fields = expect.as_object().into_iter().flatten();
    fields
        .filter(|(name, _)| *name != "multiplicities_indicative")
        .flat_map(|(name, value)| match value {
            Value::Object(_) => pointers(value).into_iter().map(|inner| format!("/{name}{inner}")).collect(),
            _ => vec![format!("/{name}")],
        })
        .collect()
}
