//! Kind `presto_bytes`: sketches in Presto's format, and their estimates with both models of the last level.

use cardinality_estimators::{BitChannel, Confidence, LastLevel, LevelCounts};
use serde_json::Value;
use sfm_pcsa::diagnostics::murmur3_x64_128;
use sfm_pcsa::{PcsaShape, PcsaSketch};
use sketch_hash::{Item, PrestoHash};

use crate::golden::input::missing;
use crate::golden::{CaseError, Got, Input};

/// Bytes before the bitmap.
const HEADER: usize = 21;

pub(super) fn presto_bytes(input: Input<'_>) -> Result<Got, CaseError> {
    if input.number("rr_probability")? > 0.0 {
        return Err(missing("rr_probability", "0: noise cannot be reproduced"));
    }
    let shape = PcsaShape::from_index_bits(input.integer("index_bits")?, input.integer("P")?);
    let shape = shape.map_err(CaseError::refused)?;
    let mut raw = PcsaSketch::new(shape, PrestoHash);
    let hash = hash_of(input.text("hash")?)?;
    for item in input.list("items")? {
        raw.update_hash(hash(item).ok_or_else(|| missing("items", "a list of 64-bit integers and strings"))?);
    }
    let bytes = raw.to_sensitive_presto_bytes().map_err(CaseError::refused)?;
    let read = PcsaSketch::from_sensitive_presto_bytes(&bytes, PrestoHash).map_err(CaseError::refused)?;
    let ones = ones_per_level(bytes.get(HEADER..).unwrap_or_default(), shape);
    Ok(Got::fields([
        ("hex", Got::Text(bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}")))),
        ("mle_exact", estimate(&read, &ones, LastLevel::Exact)?),
        ("mle_presto_last_level", estimate(&read, &ones, LastLevel::Presto)?),
        ("ones_per_level", Got::integers(ones)),
    ]))
}

/// The estimate, or the end of the range where there is none.
fn estimate(sketch: &PcsaSketch<PrestoHash>, ones: &[u64], last_level: LastLevel) -> Result<Got, CaseError> {
    let counts = LevelCounts::pcsa_with(sketch.shape().buckets(), ones, BitChannel::NOISELESS, last_level);
    let cap = counts.map_err(CaseError::refused)?.n_cap();
    Ok(Got::Number(sketch.estimate_with(last_level, Confidence::P95).value().unwrap_or(cap)))
}

/// The hash of an item by the function of this name.
fn hash_of(name: &str) -> Result<fn(&Value) -> Option<u64>, CaseError> {
    match name {
        "xxh64" => Ok(|item| {
            let item = item.as_i64().map(Item::from).or_else(|| item.as_str().map(Item::Text))?;
            Some(item.hash64(&PrestoHash))
        }),
        "murmur3_64" => Ok(|item| {
            let number = item.as_i64().map(|number| number.to_le_bytes().to_vec());
            let bytes = number.or_else(|| item.as_str().map(|text| text.as_bytes().to_vec()))?;
            Some(murmur3_x64_128(&bytes, 0))
        }),
        _ => Err(missing("hash", "xxh64 or murmur3_64")),
    }
}

/// Counted from the bytes: raw sketches show their cells to nobody.
fn ones_per_level(bitmap: &[u8], shape: PcsaShape) -> Vec<u64> {
    let buckets = shape.buckets() as usize;
    let bit = |place: usize| bitmap.get(place / 8).map_or(0, |byte| u64::from(byte >> (place % 8) & 1));
    (0..usize::from(shape.levels())).map(|level| (level * buckets..(level + 1) * buckets).map(bit).sum()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn integers_and_strings_have_a_hash() {
        let hash = hash_of("xxh64").unwrap();
        // XXH64 with seed 0 of eight zero bytes, and of nothing.
        assert_eq!(hash(&json!(0)), Some(0x34c9_6acd_cadb_1bbb));
        assert_eq!(hash(&json!("")), Some(0xef46_db37_51d8_e999));
        assert_eq!(hash(&json!(null)), None);
        assert!(hash_of("md5").is_err());
    }

    #[test]
    fn noise_is_refused() {
        let json = json!({ "hash": "xxh64", "index_bits": 4, "P": 8, "items": [], "rr_probability": 0.25 });
        assert!(presto_bytes(Input::new(&json)).is_err());
    }
}
