//! Studies of frequencies: showing them, and checking sketches against them.

use std::path::Path;

use dpsketch::dp_noise::Neighbouring;
use dpsketch::sketch_hash::HashKey;
use dpsketch::{AnySketch, Error, FrequencyLevel, FrequencySketch, FrequencyStudy, StudyDifference, StudyError};
use serde_json::json;

use crate::console::{Console, Report};
use crate::format::pairs;

/// What the parties agree on.
pub(super) fn show(file: &Path, study: &FrequencyStudy, console: Console) -> Result<(), Error> {
    let (terms, hash, rules) = (study.terms(), study.hash(), study.text());
    let relation = if study.relation() == Neighbouring::AddRemove { "add_remove" } else { "substitute" };
    let (rho, epsilon, delta) = match study.level() {
        FrequencyLevel::Rho(rho) => (Some(rho.get()), None, None),
        FrequencyLevel::Approximate { epsilon, delta } => (None, Some(epsilon.get()), Some(delta.get())),
        FrequencyLevel::Pure(epsilon) => (None, Some(epsilon.get()), None),
        _ => (None, None, None),
    };
    let json = json!({
        "file": file.display().to_string(),
        "kind": "countsketch",
        "shape": terms.shape().to_string(),
        "rows": terms.shape().rows(),
        "width": terms.shape().width(),
        "granularity": terms.granularity().to_string(),
        "hash": hash.algorithm().to_string(),
        "key": hash.key().to_string(),
        "level": study.level().as_str(),
        "rho": rho,
        "epsilon": epsilon,
        "delta": delta,
        "relation": relation,
        "unit": terms.unit(),
        "max_items": terms.bound().max_items().filter(|_| terms.bound().is_user()),
        "trim": rules.trim,
        "lowercase": rules.lowercase,
        "null": rules.null,
    });
    let yes = |set: bool| if set { "yes" } else { "no" }.to_owned();
    let public = if hash.key() == HashKey::DEFAULT.fingerprint() { ", the public one" } else { "" };
    let text = pairs(&[
        ("study", file.display().to_string()),
        ("sketch", format!("countsketch {}, weights on a grid of {}", terms.shape(), terms.granularity())),
        ("hash", format!("{hash}{public}")),
        ("level", format!("{} for {}, {relation}", study.level(), terms.unit())),
        ("trim", yes(rules.trim)),
        ("lowercase", yes(rules.lowercase)),
        ("null", rules.null.as_ref().map_or_else(|| "none".to_owned(), |null| format!("{null:?}"))),
    ]);
    console.print(&Report::of_one(text, json))
}

/// Whether a sketch was made as the study says.
pub(super) fn check(study: &FrequencyStudy, sketch: &AnySketch) -> Result<(), StudyError> {
    match sketch {
        AnySketch::Frequencies(FrequencySketch::Raw(raw)) => study.check_raw(raw),
        AnySketch::Frequencies(FrequencySketch::Private(private)) => study.check_private(private),
        other => {
            let (expected, found) = ("countsketch".to_owned(), other.kind().to_owned());
            Err(StudyError::Differs { differences: vec![StudyDifference { field: "kind", expected, found }] })
        }
    }
}
