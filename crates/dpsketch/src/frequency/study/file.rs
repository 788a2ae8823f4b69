//! The text of a study of frequencies.

use countsketch_dp::{ContributionBound, CountSketchShape, Granularity};
use dp_noise::{Delta, Epsilon, Neighbouring, Rho};
use serde::{Deserialize, Serialize};
use sketch_hash::KeyFingerprint;

use super::{FrequencyStudy, relation_in_words};
use crate::frequency::level::FrequencyLevel;
use crate::frequency::terms::CountSketchTerms;
use crate::study::{StudyError, read_hash};
use crate::text::TextRules;
use crate::text_file::{self, Layout, TextFileError};

pub(super) const LAYOUT: Layout = Layout { format: "dpsketch study", version: 1, max: 1 << 16 };

const KIND: &str = "countsketch";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileV1 {
    format: String,
    version: u64,
    kind: String,
    rows: u8,
    width: u32,
    /// e, where weights are whole numbers of 2^-e.
    granularity: u8,
    hash: String,
    /// The fingerprint as 16 hexadecimal digits; null for a hash without a key.
    #[serde(deserialize_with = "Option::deserialize")]
    key: Option<String>,
    /// `record` or `user`.
    unit: String,
    /// In grid units.
    max_weight: u64,
    /// For the unit `user`, else null.
    #[serde(deserialize_with = "Option::deserialize")]
    max_items: Option<u32>,
    /// Where users are clipped, their squared norm as text, else null.
    #[serde(deserialize_with = "Option::deserialize")]
    squared_norm: Option<String>,
    /// `rho`, `approximate` or `pure`.
    level: String,
    /// Numbers as text, so that every program reads the same ones; null where the level has none.
    #[serde(deserialize_with = "Option::deserialize")]
    rho: Option<String>,
    #[serde(deserialize_with = "Option::deserialize")]
    epsilon: Option<String>,
    #[serde(deserialize_with = "Option::deserialize")]
    delta: Option<String>,
    /// `add_remove` or `substitute`.
    relation: String,
    trim: bool,
    lowercase: bool,
    #[serde(deserialize_with = "Option::deserialize")]
    null: Option<String>,
}

pub(super) fn write(study: &FrequencyStudy) -> String {
    let (terms, hash, text) = (study.terms(), study.hash(), study.text());
    let bound = terms.bound();
    let (rho, epsilon, delta) = match study.level() {
        FrequencyLevel::Rho(rho) => (Some(rho.get()), None, None),
        FrequencyLevel::Approximate { epsilon, delta } => (None, Some(epsilon.get()), Some(delta.get())),
        FrequencyLevel::Pure(epsilon) => (None, Some(epsilon.get()), None),
    };
    let as_text = |number: Option<f64>| number.map(|number| number.to_string());
    let file = FileV1 {
        format: LAYOUT.format.to_owned(),
        version: LAYOUT.version,
        kind: KIND.to_owned(),
        rows: terms.shape().rows(),
        width: terms.shape().width(),
        granularity: terms.granularity().exponent(),
        hash: hash.algorithm().to_string(),
        key: (hash.key() != KeyFingerprint::NO_KEY).then(|| hash.key().to_string()),
        unit: if bound.is_user() { "user" } else { "record" }.to_owned(),
        max_weight: bound.max_weight(),
        max_items: bound.max_items().filter(|_| bound.is_user()),
        squared_norm: bound.squared_norm().map(|square| square.to_string()),
        level: study.level().as_str().to_owned(),
        rho: as_text(rho),
        epsilon: as_text(epsilon),
        delta: as_text(delta),
        relation: relation_in_words(study.relation()).to_owned(),
        trim: text.trim,
        lowercase: text.lowercase,
        null: text.null.clone(),
    };
    // Strings, numbers and booleans under fixed names: nothing can fail.
    let mut text = serde_json::to_string_pretty(&file).unwrap_or_default();
    text.push('\n');
    text
}

pub(super) fn read(text: &[u8]) -> Result<FrequencyStudy, StudyError> {
    let file: FileV1 = text_file::parse(text, &LAYOUT)?;
    if file.kind != KIND {
        return Err(TextFileError::field("kind", KIND, &file.kind).into());
    }
    let terms = read_terms(&file)?;
    let hash = read_hash(&file.hash, file.key.as_deref())?;
    let level = read_level(&file)?;
    let relation = [Neighbouring::AddRemove, Neighbouring::Substitute]
        .into_iter()
        .find(|relation| relation_in_words(*relation) == file.relation)
        .ok_or_else(|| TextFileError::field("relation", "add_remove or substitute", &file.relation))?;
    let rules = TextRules { trim: file.trim, lowercase: file.lowercase, null: file.null };
    FrequencyStudy::new(terms, hash, level).with_relation(relation).with_text(rules)
}

fn read_terms(file: &FileV1) -> Result<CountSketchTerms, TextFileError> {
    let shape = CountSketchShape::new(file.rows, file.width).map_err(|error| {
        TextFileError::field("rows or width", error.to_string(), &format!("{} x {}", file.rows, file.width))
    })?;
    let granularity = Granularity::new(file.granularity)
        .map_err(|error| TextFileError::field("granularity", error.to_string(), &file.granularity.to_string()))?;
    Ok(CountSketchTerms::new(shape, granularity, read_bound(file)?))
}

fn read_bound(file: &FileV1) -> Result<ContributionBound, TextFileError> {
    let squared_norm = match &file.squared_norm {
        None => None,
        Some(text) => {
            let square: Option<u128> = text.parse().ok().filter(|square: &u128| square.to_string() == *text);
            Some(
                square
                    .ok_or_else(|| TextFileError::field("squared_norm", "a whole number in quotes, or null", text))?,
            )
        }
    };
    let weight = file.max_weight;
    let bound = match (file.unit.as_str(), file.max_items, squared_norm) {
        ("record", None, None) => ContributionBound::entry(weight),
        ("user", Some(items), None) => ContributionBound::user_items(items, weight),
        ("user", Some(items), Some(square)) => ContributionBound::clipped(items, weight, square),
        ("record" | "user", ..) => {
            let expected = "for a user max_items, for a record neither that nor squared_norm";
            return Err(TextFileError::field("max_items or squared_norm", expected, "something else"));
        }
        _ => return Err(TextFileError::field("unit", "record or user", &file.unit)),
    };
    bound.map_err(|error| {
        TextFileError::field("max_weight, max_items or squared_norm", error.to_string(), &weight.to_string())
    })
}

fn read_level(file: &FileV1) -> Result<FrequencyLevel, TextFileError> {
    let numbers = (file.rho.as_deref(), file.epsilon.as_deref(), file.delta.as_deref());
    Ok(match (file.level.as_str(), numbers) {
        ("rho", (Some(rho), None, None)) => FrequencyLevel::Rho(number("rho", rho, Rho::new)?),
        ("approximate", (None, Some(epsilon), Some(delta))) => FrequencyLevel::Approximate {
            epsilon: number("epsilon", epsilon, Epsilon::new)?,
            delta: number("delta", delta, Delta::new)?,
        },
        ("pure", (None, Some(epsilon), None)) => FrequencyLevel::Pure(number("epsilon", epsilon, Epsilon::new)?),
        ("rho" | "approximate" | "pure", _) => {
            let expected = "rho for rho, epsilon and delta for approximate, epsilon for pure, and null for the others";
            return Err(TextFileError::field("rho, epsilon or delta", expected, "something else"));
        }
        _ => return Err(TextFileError::field("level", "rho, approximate or pure", &file.level)),
    })
}

fn number<T, E>(field: &str, text: &str, new: impl Fn(f64) -> Result<T, E>) -> Result<T, TextFileError> {
    let value = text.parse().ok().and_then(|value| new(value).ok());
    value.ok_or_else(|| TextFileError::field(field, "a decimal number in its range, in quotes", text))
}
