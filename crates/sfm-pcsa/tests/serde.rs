//! Serde on private sketches and tallies goes through the checks of its bytes.
#![cfg(feature = "serde")]

mod support;

use serde_json::Value;
use sfm_pcsa::{SfmSketch, SfmTally};
use support::{noise, raw, released, shape};

fn golden(name: &str) -> SfmSketch {
    let path = format!("{}/tests/golden/{name}.bin", env!("CARGO_MANIFEST_DIR"));
    SfmSketch::from_bytes(&std::fs::read(path).expect("a golden file")).expect("a sketch")
}

#[test]
fn sketches_round_trip_through_json() {
    for name in ["private-single", "private-tree", "private-xor", "private-many"] {
        let sketch = golden(name);
        let text = serde_json::to_string(&sketch).expect("JSON");
        let read: SfmSketch = serde_json::from_str(&text).expect("a sketch");
        assert_eq!(read, sketch);
        assert_eq!(read.to_bytes(), sketch.to_bytes());
    }
}

#[test]
fn forged_fields_are_refused() {
    let good = serde_json::to_value(golden("private-pair")).expect("JSON");
    let refused = |change: &dyn Fn(&mut Value)| {
        let mut bad = good.clone();
        change(&mut bad);
        serde_json::from_value::<SfmSketch>(bad).is_err()
    };
    assert!(!refused(&|_| ()));
    assert!(refused(&|value| value["version"] = 2.into()));
    assert!(refused(&|value| value["insecure_noise"] = true.into()));
    assert!(refused(&|value| value["body"]["shape"]["levels"] = 4.into()));
    assert!(refused(&|value| value["body"]["leaves"][0]["epsilon"] = 0.5.into()));
    assert!(refused(&|value| value["body"]["leaves"][0]["max_items"] = 2.into()));
    assert!(refused(&|value| value["body"]["leaves"][1]["id"] = value["body"]["leaves"][0]["id"].clone()));
    assert!(refused(&|value| value["body"]["steps"][1]["count"] = 3.into()));
    assert!(refused(&|value| value["body"]["hash_algorithm"] = 0.into()));
}

#[test]
fn tallies_round_trip_and_are_checked() {
    let tally = |name: &str| {
        let path = format!("{}/tests/golden/{name}.bin", env!("CARGO_MANIFEST_DIR"));
        SfmTally::from_bytes(&std::fs::read(path).expect("a golden file")).expect("a tally")
    };
    for name in ["tally-single", "tally-mixed", "tally-thinned", "tally-elsewhere"] {
        let tally = tally(name);
        let text = serde_json::to_string(&tally).expect("JSON");
        assert_eq!(serde_json::from_str::<SfmTally>(&text).expect("a tally"), tally);
    }
    let good = serde_json::to_value(tally("tally-pair")).expect("JSON");
    let refused = |change: &dyn Fn(&mut Value)| {
        let mut bad = good.clone();
        change(&mut bad);
        serde_json::from_value::<SfmTally>(bad).is_err()
    };
    assert!(!refused(&|_| ()));
    assert!(refused(&|value| value["version"] = 2.into()));
    assert!(refused(&|value| value["insecure_noise"] = true.into()));
    assert!(refused(&|value| value["body"]["releases"][0]["class"] = 1.into()));
    assert!(refused(&|value| value["body"]["ones"][0] = 0.into()));
}

#[test]
fn insecure_noise_is_refused_by_name() {
    let sketch = released(raw(shape(64, 4), 0..10), 1.0, &mut noise(1));
    let text = serde_json::to_string(&sketch).expect("JSON");
    let error = serde_json::from_str::<SfmSketch>(&text).expect_err("insecure noise");
    assert!(error.to_string().contains("insecure"), "{error}");
}
