//! What verbs that write a sketch say about it.

use std::path::Path;

use dpsketch::countsketch_dp::PrivateCountSketch;
use dpsketch::dp_noise::{Amount, Delta, Epsilon, Rho, zcdp_to_dp};
use dpsketch::f0_sketch::WeightRule;
use dpsketch::{
    AnyF0Sketch, AnySketch, AnySubsampled, Calibration, Description, Error, FrequencyLevel, FrequencySketch,
    PricedRelease,
};
use serde_json::{Value, json};

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
    if let AnySketch::Frequencies(FrequencySketch::Private(private)) = sketch {
        return frequencies_in_words(private, &Description::of(sketch).to_json());
    }
    if let AnySketch::Frequencies(FrequencySketch::Prefixes(stack)) = sketch {
        let releases = counted(stack.leaves(0).len() as u64, "release");
        let rho = stack.rho_total().map(|rho| format!(", rho {rho} for somebody in all of it")).unwrap_or_default();
        return format!("private prefix sketch, {}{rho}, {releases}", sketch.shape());
    }
    if let AnySketch::F0(f0) = sketch {
        return f0_in_words(f0);
    }
    if let AnySketch::Subsampled(sample) = sketch {
        return sample_in_words(sample, &Description::of(sketch).to_json()["sampling_rate"]);
    }
    let shape = sketch.shape();
    if sketch.is_raw() {
        return format!("raw {} sketch, {shape}, not private", sketch.kind());
    }
    let releases = sketch.releases();
    let costs = releases.iter().map(|leaf| Amount::from_epsilon(leaf.epsilon()));
    let largest = costs.max().unwrap_or(Amount::ZERO);
    let releases = counted(releases.len() as u64, "release");
    if let AnySketch::SfmTally(tally) = sketch {
        let levels = counted(tally.classes().len() as u64, "noise level");
        let total = Description::of(sketch).to_json()["epsilon_total"].as_f64();
        let total = total.map(|total| format!(", {total} for somebody in all of them")).unwrap_or_default();
        return format!("tally of sfm sketches, {shape}, epsilon {largest}{total}, {releases} of {levels}");
    }
    format!("private {} sketch, {shape}, epsilon {largest}, {releases}", sketch.kind())
}

/// A sketch of a secret sample, with both levels of its releases.
fn sample_in_words(sample: &AnySubsampled, rate: &Value) -> String {
    let weights = sample.weight_rule().map(weights_in_words).unwrap_or_default();
    let what = format!("{} sketch, {}{weights}, rate {rate}", sample.kind(), sample.shape());
    if sample.is_raw() {
        return format!("raw {what}, not private");
    }
    let releases = sample.releases();
    let largest = releases.iter().map(|release| Amount::from_epsilon(release.epsilon())).max().unwrap_or(Amount::ZERO);
    let inner = releases.iter().map(dpsketch::SampleRelease::epsilon_if_key_known).fold(0.0, f64::max);
    let releases = counted(releases.len() as u64, "release");
    format!("private {what}, epsilon {largest} ({inner:.2} for whoever has the sample key), {releases}")
}

/// Says what the protection of a release of a secret sample rests on.
pub(crate) fn tell_sample(sample: &AnySubsampled, console: Console) {
    for release in sample.releases() {
        console.note(&format!(
            "epsilon {} holds as long as the sample key is secret, for good, and if nothing else is released under it, by anybody: \
             several releases of one key cost more than the sum of their epsilons, and a ledger sees its own only. Whoever gets \
             the key faces {:.2}: delete it once no further sketch under it is due",
            Amount::from_epsilon(release.epsilon()),
            release.epsilon_if_key_known()
        ));
    }
}

fn weights_in_words(rule: WeightRule) -> String {
    match rule {
        WeightRule::Unit => String::new(),
        WeightRule::Weighted(max) => format!(", weights up to {}", max.get()),
    }
}

/// An f0 sketch, with its mode and, of several releases, what they cost together.
fn f0_in_words(sketch: &AnyF0Sketch) -> String {
    let shape = sketch.shape();
    let rule = weights_in_words(sketch.weight_rule());
    let what = format!("f0 sketch of mode {}, {shape}{rule}", sketch.mode());
    let AnyF0Sketch::Private(private) = sketch else { return format!("raw {what}, not private") };
    let costs = || private.leaves().iter().map(|leaf| Amount::from_epsilon(leaf.epsilon()));
    let largest = costs().max().unwrap_or(Amount::ZERO);
    let releases = private.leaves().len() as u64;
    format!("private {what}, epsilon {largest}, {}", counted(releases, "release"))
}

/// A released frequency sketch, with what it cost and, of several releases, what they cost together.
fn frequencies_in_words(private: &PrivateCountSketch, facts: &Value) -> String {
    let releases = private.leaves().len() as u64;
    let names = if facts["epsilon"].is_null() { ["rho", "rho_total"] } else { ["epsilon", "epsilon_total"] };
    let [cost, total] = names.map(|name| facts[name].as_f64());
    let cost = cost.map_or_else(|| "noise of several parties".to_owned(), |cost| format!("{} {cost}", names[0]));
    let total = match total {
        Some(total) if releases > 1 => format!(", {total} for somebody in all of them"),
        _ => String::new(),
    };
    format!("private countsketch sketch, {}, {cost}{total}, {}", private.shape(), counted(releases, "release"))
}

/// Says how much noise a level of epsilon and delta takes, and by which way that was found. The file keeps the noise only.
pub(crate) fn tell_noise(priced: &PricedRelease, console: Console) {
    let way = match priced.calibration() {
        Some(Calibration::Exact) => "the exact delta of all rows together",
        Some(Calibration::Zcdp) => "a rho of zero-concentrated privacy, which is a little more noise than needed",
        _ => return,
    };
    let Some(terms) = priced.gaussian() else { return };
    let (variance, rho) = (terms.variance().to_f64(), Amount::from_rho(terms.rho()));
    console.note(&format!(
        "{} takes noise of variance {variance:.4} in a cell, in squared units of the grid, and costs rho {rho}; found through {way}",
        priced.level()
    ));
}

/// Warns about levels that protect little.
pub(crate) fn warn_about_level(level: Option<FrequencyLevel>, console: Console) {
    match level {
        Some(FrequencyLevel::Approximate { epsilon, delta }) => {
            warn_about_epsilon(Some(epsilon), console);
            if delta.get() > Delta::WARN_ABOVE {
                console.warn(&format!(
                    "delta {:e} protects little: above {} some people's data may be given away as it is",
                    delta.get(),
                    Delta::WARN_ABOVE
                ));
            }
        }
        Some(FrequencyLevel::Pure(epsilon)) => warn_about_epsilon(Some(epsilon), console),
        Some(FrequencyLevel::Rho(rho)) => warn_about_rho(rho, console),
        _ => {}
    }
}

/// A rho is as large as the epsilon that it stands for at a usual delta.
fn warn_about_rho(rho: Rho, console: Console) {
    const USUAL_DELTA: f64 = 1e-6;
    let epsilon = Delta::new(USUAL_DELTA).map(|delta| zcdp_to_dp(rho, delta));
    if let Some(epsilon) = epsilon.ok().filter(|epsilon| *epsilon > Epsilon::WARN_ABOVE) {
        console.warn(&format!(
            "rho {} protects little: it stands for epsilon {epsilon:.1} at delta {USUAL_DELTA:e}",
            rho.get()
        ));
    }
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
