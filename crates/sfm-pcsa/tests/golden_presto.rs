//! The cases of kind `presto_bytes` of `golden/sfm_golden.json`; the other kinds are in `golden.rs`.
#![expect(clippy::unwrap_used, reason = "in helpers: a test that cannot go on fails")]

use cardinality_estimators::{Confidence, LastLevel};
use serde_json::{Value, json};
use sfm_pcsa::diagnostics::murmur3_x64_128;
use sfm_pcsa::{PcsaShape, PcsaSketch, looks_like_presto};
use sketch_hash::{Item, PrestoHash};
use sketch_testkit::{GoldenCase, GoldenFile, number};

#[test]
fn every_public_case_is_met() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/sfm_golden.json");
    let cases = GoldenFile::read(path).unwrap().cases;
    let cases: Vec<_> = cases.iter().filter(|case| case.kind == "presto_bytes").collect();
    for case in &cases {
        presto_bytes(case);
    }
    assert_eq!(cases.len(), 5);
}

fn field(object: &Value, name: &str) -> f64 {
    number(&object[name]).unwrap_or_else(|| panic!("no number {name} in {object}"))
}

fn small(object: &Value, name: &str) -> u8 {
    u8::try_from(object[name].as_u64().unwrap()).unwrap()
}

/// Without flipping the sketch is raw: built here, written, read back and estimated in both ways.
fn presto_bytes(case: &GoldenCase) {
    let [index_bits, levels] = ["index_bits", "P"].map(|name| small(&case.input, name));
    assert_eq!(field(&case.input, "rr_probability").to_bits(), 0, "noise cannot be reproduced");
    let mut raw = PcsaSketch::new(PcsaShape::from_index_bits(index_bits, levels).unwrap(), PrestoHash);
    for item in case.input["items"].as_array().unwrap() {
        let number = item.as_i64();
        match (case.input["hash"].as_str().unwrap(), number) {
            ("xxh64", Some(number)) => raw.update_item(&Item::from(number)),
            ("xxh64", None) => raw.update(item.as_str().unwrap().as_bytes()),
            ("murmur3_64", _) => {
                let bytes = number
                    .map_or_else(|| item.as_str().unwrap().as_bytes().to_vec(), |number| number.to_le_bytes().to_vec());
                raw.update_hash(murmur3_x64_128(&bytes, 0));
            }
            (other, _) => panic!("unknown hash {other}"),
        }
    }
    let bytes = raw.to_sensitive_presto_bytes().unwrap();
    let read = PcsaSketch::from_sensitive_presto_bytes(&bytes, PrestoHash).unwrap();
    assert_eq!(read, raw);
    assert!(looks_like_presto(&bytes));
    let hex = bytes.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
    let estimate = |last_level| read.estimate_with(last_level, Confidence::P95).value().unwrap();
    case.assert(&json!({
        "hex": hex,
        "ones_per_level": ones_per_level(&bytes[21..], usize::from(index_bits), usize::from(levels)),
        "mle_exact": estimate(LastLevel::Exact),
        "mle_presto_last_level": estimate(LastLevel::Presto),
    }));
}

/// Counted from the bytes: raw sketches show their cells to nobody.
fn ones_per_level(bitmap: &[u8], index_bits: usize, levels: usize) -> Vec<u64> {
    let bit = |i: usize| bitmap.get(i / 8).map_or(0, |byte| u64::from(byte >> (i % 8) & 1));
    (0..levels).map(|level| (level << index_bits..(level + 1) << index_bits).map(bit).sum()).collect()
}
