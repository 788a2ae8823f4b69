//! The text of a study of F0 sketches.

use dp_noise::Epsilon;
use f0_sketch::{F0Shape, MaxWeight, ModeKind, NoiseRule, WeightRule};
use serde::{Deserialize, Serialize};
use sketch_hash::KeyFingerprint;

use super::{F0Study, noise_word};
use crate::f0::any::AnyF0Sketch;
use crate::f0::terms::F0Terms;
use crate::study::{StudyError, read_hash, read_unit};
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
    /// `set` or `presampled`.
    mode: String,
    levels: u8,
    /// Of each level.
    cells: u32,
    /// Text, so that every program reads the same number; null where every item counts 1.
    #[serde(deserialize_with = "Option::deserialize")]
    max_weight: Option<String>,
    hash: String,
    /// The fingerprint as 16 hexadecimal digits; null for a hash without a key.
    #[serde(deserialize_with = "Option::deserialize")]
    key: Option<String>,
    /// Text, as the largest weight.
    epsilon: String,
    /// `tight` or `paper`.
    noise: String,
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

pub(super) fn write(study: &F0Study) -> String {
    let (shape, hash, unit, text) = (study.terms().shape(), study.hash(), study.unit(), study.text());
    let file = FileV1 {
        format: LAYOUT.format.to_owned(),
        version: LAYOUT.version,
        kind: AnyF0Sketch::KIND.to_owned(),
        mode: study.mode().to_string(),
        levels: shape.levels(),
        // Only regular shapes have a study.
        cells: shape.cells_per_level().unwrap_or_default(),
        max_weight: study.terms().max_weight().map(|max| max.to_string()),
        hash: hash.algorithm().to_string(),
        key: (hash.key() != KeyFingerprint::NO_KEY).then(|| hash.key().to_string()),
        epsilon: study.epsilon().get().to_string(),
        noise: noise_word(study.noise()).to_owned(),
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

pub(super) fn read(text: &[u8]) -> Result<F0Study, StudyError> {
    let file: FileV1 = text_file::parse(text, &LAYOUT)?;
    if file.kind != AnyF0Sketch::KIND {
        return Err(TextFileError::field("kind", AnyF0Sketch::KIND, &file.kind).into());
    }
    let mode = word("mode", &file.mode, [ModeKind::Set, ModeKind::Presampled], |mode| mode.to_string())?;
    let noise = word("noise", &file.noise, [NoiseRule::Tight, NoiseRule::Paper], |noise| noise_word(noise).to_owned())?;
    let shape = F0Shape::new(file.levels, file.cells).map_err(|error| {
        TextFileError::field("levels or cells", error.to_string(), &format!("{} x {}", file.levels, file.cells))
    })?;
    let rule = match &file.max_weight {
        None => WeightRule::Unit,
        Some(text) => WeightRule::Weighted(number("max_weight", "2^-256 to 2^256", text, MaxWeight::new)?),
    };
    let hash = read_hash(&file.hash, file.key.as_deref())?;
    let epsilon = number("epsilon", "2^-30 to 256", &file.epsilon, Epsilon::new)?;
    let unit = read_unit(&file.unit, file.max_items)?;
    let rules = TextRules { trim: file.trim, lowercase: file.lowercase, null: file.null };
    let study = F0Study::new(mode, F0Terms::new(shape, rule), hash, epsilon)?;
    study.with_noise(noise).with_unit(unit)?.with_text(rules)
}

/// One of two words.
fn word<T: Copy>(field: &str, found: &str, known: [T; 2], spell: impl Fn(T) -> String) -> Result<T, TextFileError> {
    let same = known.into_iter().find(|known| spell(*known) == found);
    same.ok_or_else(|| TextFileError::field(field, known.map(&spell).join(" or "), found))
}

fn number<T, E>(field: &str, range: &str, text: &str, new: impl Fn(f64) -> Result<T, E>) -> Result<T, TextFileError> {
    let value = text.parse().ok().and_then(|value| new(value).ok());
    value.ok_or_else(|| TextFileError::field(field, format!("a decimal number from {range}, in quotes"), text))
}
