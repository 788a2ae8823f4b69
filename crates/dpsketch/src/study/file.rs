//! The text of a study file.

use dp_noise::Epsilon;
use serde::{Deserialize, Serialize};
use sfm_pcsa::PcsaShape;
use sketch_hash::{HashAlgorithm, HashId, KeyFingerprint};

use super::{Study, StudyError, StudyShape};
use crate::text::TextRules;
use crate::text_file::{self, Layout, TextFileError};
use crate::user_bound::PrivacyUnit;

pub(super) const LAYOUT: Layout = Layout { format: "dpsketch study", version: 1, max: 1 << 16 };

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileV1 {
    format: String,
    version: u64,
    kind: String,
    buckets: u32,
    levels: u8,
    hash: String,
    /// The fingerprint as 16 hexadecimal digits; null for a hash without a key.
    #[serde(deserialize_with = "Option::deserialize")]
    key: Option<String>,
    /// Text, so that every program reads the same number.
    epsilon: String,
    /// `item` or `user`.
    unit: String,
    /// For the unit `user`, else null.
    #[serde(deserialize_with = "Option::deserialize")]
    max_items: Option<u32>,
    trim: bool,
    lowercase: bool,
    #[serde(deserialize_with = "Option::deserialize")]
    null: Option<String>,
}

pub(super) fn write(study: &Study) -> String {
    let StudyShape::Sfm(shape) = study.shape();
    let (hash, unit, text) = (study.hash(), study.unit(), study.text());
    let file = FileV1 {
        format: LAYOUT.format.to_owned(),
        version: LAYOUT.version,
        kind: study.shape().kind().to_owned(),
        buckets: shape.buckets(),
        levels: shape.levels(),
        hash: hash.algorithm().to_string(),
        key: (hash.key() != KeyFingerprint::NO_KEY).then(|| hash.key().to_string()),
        epsilon: study.epsilon().get().to_string(),
        unit: if unit == PrivacyUnit::Item { "item" } else { "user" }.to_owned(),
        max_items: (unit != PrivacyUnit::Item).then(|| unit.max_items()),
        trim: text.trim,
        lowercase: text.lowercase,
        null: text.null.clone(),
    };
    // Strings, numbers and booleans under fixed names: nothing can fail.
    let mut text = serde_json::to_string_pretty(&file).unwrap_or_default();
    text.push('\n');
    text
}

pub(super) fn read(text: &[u8]) -> Result<Study, StudyError> {
    let file: FileV1 = text_file::parse(text, &LAYOUT)?;
    if file.kind != "sfm" {
        return Err(TextFileError::field("kind", "sfm", &file.kind).into());
    }
    let shape = PcsaShape::new(file.buckets, file.levels).map_err(|error| {
        TextFileError::field("buckets or levels", error.to_string(), &format!("{} x {}", file.buckets, file.levels))
    })?;
    let hash = read_hash(&file.hash, file.key.as_deref())?;
    let level = file.epsilon.parse().ok().and_then(|value| Epsilon::new(value).ok());
    let level = level.ok_or_else(|| {
        TextFileError::field("epsilon", "a decimal number from 2^-30 to 256, in quotes", &file.epsilon)
    })?;
    let unit = read_unit(&file.unit, file.max_items)?;
    let rules = TextRules { trim: file.trim, lowercase: file.lowercase, null: file.null };
    Study::new(shape.into(), hash, level).with_unit(unit)?.with_text(rules)
}

pub(crate) fn read_hash(name: &str, key: Option<&str>) -> Result<HashId, TextFileError> {
    let known = [HashAlgorithm::SipHash13, HashAlgorithm::Xxh64Seed0];
    let algorithm = known.into_iter().find(|algorithm| algorithm.to_string() == name);
    let algorithm = algorithm
        .ok_or_else(|| TextFileError::field("hash", known.map(|known| known.to_string()).join(" or "), name))?;
    let wrong = |expected: &str| TextFileError::field("key", expected, key.unwrap_or("null"));
    let fingerprint = match (algorithm, key) {
        (HashAlgorithm::Xxh64Seed0, None) => KeyFingerprint::NO_KEY,
        (HashAlgorithm::Xxh64Seed0, Some(_)) => return Err(wrong("null: this hash has no key")),
        (_, key) => key.and_then(read_fingerprint).ok_or_else(|| wrong("a fingerprint of 16 hexadecimal digits"))?,
    };
    Ok(HashId::new(algorithm, fingerprint))
}

/// Lower case only: a fingerprint has one spelling. Zero stands for no key.
fn read_fingerprint(text: &str) -> Option<KeyFingerprint> {
    let value = u64::from_str_radix(text, 16).ok().filter(|value| *value != 0)?;
    Some(KeyFingerprint::from_u64(value)).filter(|key| key.to_string() == text)
}

pub(crate) fn read_unit(unit: &str, max_items: Option<u32>) -> Result<PrivacyUnit, TextFileError> {
    let found = max_items.map_or("null".to_owned(), |found| found.to_string());
    match (unit, max_items) {
        ("item", None) => Ok(PrivacyUnit::Item),
        ("item", Some(_)) => Err(TextFileError::field("max_items", "null where the unit is item", &found)),
        ("user", Some(1..)) => PrivacyUnit::from_max_items(max_items.unwrap_or_default())
            .map_err(|error| TextFileError::field("max_items", error.to_string(), &found)),
        ("user", _) => Err(TextFileError::field("max_items", "a number from 1 where the unit is user", &found)),
        _ => Err(TextFileError::field("unit", "item or user", unit)),
    }
}
