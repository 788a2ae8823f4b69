//! What verbs that write a sketch say about it.

use std::path::Path;

use dpsketch::dp_noise::{Amount, Epsilon};
use dpsketch::{AnySketch, Description, Error};
use serde_json::json;

use crate::console::{Console, Report, only_the_report};
use crate::format::counted;

/// Tells on standard output what was written, unless the sketch itself went there.
pub(crate) fn report_written(
    out: &Path,
    sketch: &AnySketch,
    stdout_is_free: bool,
    console: Console,
) -> Result<(), Error> {
    if sketch.is_raw() {
        console.warn(&format!(
            "{} is raw: keep it as safe as the data, and publish only what `dpsketch release` makes",
            out.display()
        ));
    }
    if !stdout_is_free || console.is_quiet_text() {
        return Ok(());
    }
    let facts = Description::of(sketch).to_json();
    let bytes = sketch.to_bytes().len();
    let text = format!("wrote {}: {} ({} bytes)\n", out.display(), in_words(sketch), bytes);
    let mut object = json!({ "file": out.display().to_string(), "bytes": bytes });
    if let (Some(object), Some(facts)) = (object.as_object_mut(), facts.as_object()) {
        object.extend(
            facts.iter().filter(|(name, _)| *name != "releases").map(|(name, value)| (name.clone(), value.clone())),
        );
    }
    console.print(&Report::of_one(text, object)).map_err(|error| only_the_report(error, &out.display().to_string()))
}

/// A sketch in a few words.
pub(crate) fn in_words(sketch: &AnySketch) -> String {
    let shape = sketch.shape();
    if sketch.is_raw() {
        return format!("raw {} sketch, {shape}, not private", sketch.kind());
    }
    let releases = sketch.leaves().len() as u64;
    let costs = sketch.leaves().iter().map(|leaf| Amount::from_epsilon(leaf.epsilon()));
    let largest = costs.max().unwrap_or(Amount::ZERO);
    format!("private {} sketch, {shape}, epsilon {largest}, {}", sketch.kind(), counted(releases, "release"))
}

/// Large epsilons are allowed, and seldom meant.
pub(crate) fn warn_about_epsilon(epsilon: Option<Epsilon>, console: Console) {
    if let Some(epsilon) = epsilon.map(Epsilon::get).filter(|epsilon| *epsilon > Epsilon::WARN_ABOVE) {
        console.warn(&format!(
            "epsilon {epsilon} protects little: above {} the guarantee says next to nothing",
            Epsilon::WARN_ABOVE
        ));
    }
}
