//! Studies of sets and streams: showing them, and checking sketches against them.

use std::path::Path;

use dpsketch::dp_noise::Amount;
use dpsketch::f0_sketch::NoiseRule;
use dpsketch::sketch_hash::HashKey;
use dpsketch::{AnySketch, Error, F0Study, PrivacyUnit, StudyDifference, StudyError};
use serde_json::json;

use crate::console::{Console, Report};
use crate::format::pairs;

/// What the parties agree on.
pub(super) fn show(file: &Path, study: &F0Study, console: Console) -> Result<(), Error> {
    let (terms, hash, rules) = (study.terms(), study.hash(), study.text());
    let noise = if study.noise() == NoiseRule::Paper { "paper" } else { "tight" };
    let json = json!({
        "file": file.display().to_string(),
        "kind": "f0",
        "mode": study.mode().to_string(),
        "shape": terms.shape().to_string(),
        "levels": terms.shape().levels(),
        "cells_per_level": terms.shape().cells_per_level(),
        "max_weight": terms.max_weight(),
        "hash": hash.algorithm().to_string(),
        "key": hash.key().to_string(),
        "epsilon": study.epsilon().get(),
        "noise": noise,
        "unit": study.unit().to_string(),
        "max_items": (study.unit() != PrivacyUnit::Item).then(|| study.unit().max_items()),
        "trim": rules.trim,
        "lowercase": rules.lowercase,
        "null": rules.null,
    });
    let yes = |set: bool| if set { "yes" } else { "no" }.to_owned();
    let public = if hash.key() == HashKey::DEFAULT.fingerprint() { ", the public one" } else { "" };
    let text = pairs(&[
        ("study", file.display().to_string()),
        ("sketch", format!("f0 of mode {}, {terms}", study.mode())),
        ("hash", format!("{hash}{public}")),
        ("epsilon", format!("{} for {}, {noise} noise", Amount::from_epsilon(study.epsilon()), study.unit())),
        ("trim", yes(rules.trim)),
        ("lowercase", yes(rules.lowercase)),
        ("null", rules.null.as_ref().map_or_else(|| "none".to_owned(), |null| format!("{null:?}"))),
    ]);
    console.print(&Report::of_one(text, json))
}

/// Whether a sketch was made as the study says.
pub(super) fn check(study: &F0Study, sketch: &AnySketch) -> Result<(), StudyError> {
    if let AnySketch::F0(sketch) = sketch {
        return study.check_sketch(sketch);
    }
    let (expected, found) = ("f0".to_owned(), sketch.kind().to_owned());
    Err(StudyError::Differs { differences: vec![StudyDifference { field: "kind", expected, found }] })
}
