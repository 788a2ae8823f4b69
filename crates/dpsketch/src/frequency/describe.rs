//! What can be said about a frequency sketch without its counters.

use countsketch_dp::{CountSketchShape, Granularity, Leaf, PrefixLayout, PrivateCountSketch};
use serde_json::{Value, json};
use sketch_hash::HashId;

use super::prefix::{RawPrefixStack, RecordedPrefixStack};
use super::query::extend;
use super::raw::RawCountSketch;
use super::terms::unit_in_words;
use super::totals::{Totals, release_json};

/// `kind, state, rows, width, granularity, hash, key`; then `noise_variance` (of a cell, in squared units of weight),
/// `noise_parameter` (σ² exactly, a fraction in squared grid units, where all noise is Gaussian), the costs and `releases`.
pub(crate) fn describe_private(sketch: &PrivateCountSketch) -> Value {
    let mut facts = frame("private", sketch.shape(), sketch.granularity(), sketch.hash_id());
    let step = sketch.granularity().step();
    extend(
        &mut facts,
        json!({
            "noise_variance": sketch.noise_variance() * step * step,
            "noise_parameter": sketch.noise_parameter().map(|all| format!("{}/{}", all.numerator(), all.denominator())),
        }),
    );
    extend(&mut facts, Totals::of(&[sketch]).to_json());
    let releases: Vec<Value> = sketch.leaves().iter().map(|leaf| release_json(leaf, sketch.granularity())).collect();
    extend(&mut facts, json!({ "releases": releases }));
    facts
}

/// The same of a raw one: no cost yet, but `parts` and `times_released`.
pub(crate) fn describe_raw(raw: &RawCountSketch) -> Value {
    let mut facts = frame("raw", raw.shape(), raw.granularity(), raw.hash_id());
    extend(
        &mut facts,
        json!({
            "rho": null,
            "rho_total": null,
            "epsilon": null,
            "epsilon_total": null,
            "unit": raw.terms().unit(),
            "max_weight": raw.bound().max_weight(),
            "max_items": raw.bound().max_items().filter(|_| raw.bound().is_user()),
            "squared_norm": raw.bound().squared_norm().map(|square| square.to_string()),
            "parts": raw.parts(),
            "sketches": 1,
            "times_released": raw.releases(),
        }),
    );
    facts
}

fn frame(state: &str, shape: CountSketchShape, granularity: Granularity, hash: HashId) -> Value {
    json!({
        "kind": "countsketch",
        "state": state,
        "rows": shape.rows(),
        "width": shape.width(),
        "granularity": granularity.to_string(),
        "hash": hash.algorithm().to_string(),
        "key": hash.key().to_string(),
    })
}

/// `kind, state, key_bits, lengths, plain, rows, width, hash, key`, then of a released stack `rho_total, unit, sketches, releases`
/// (those of every level).
pub(crate) fn describe_prefixes(stack: &RecordedPrefixStack) -> Value {
    let mut facts = stack_frame("private", stack.layout(), stack.hash_id());
    let leaves = |level| stack.leaves(level).iter();
    let units: Vec<String> =
        leaves(0).filter_map(Leaf::guarantee).map(|guarantee| guarantee.bound().to_string()).collect();
    let levels = (0..stack.layout().levels())
        .map(|level| leaves(level).map(|leaf| release_json(leaf, Granularity::ONE)).collect::<Vec<_>>());
    extend(
        &mut facts,
        json!({
            "rho_total": stack.rho_total(),
            "unit": units.first(),
            "sketches": leaves(0).count(),
            "releases": levels.collect::<Vec<_>>(),
        }),
    );
    facts
}

/// The same of a raw one: no cost yet, but `granularity, parts` and `times_released`.
pub(crate) fn describe_raw_prefixes(raw: &RawPrefixStack) -> Value {
    let mut facts = stack_frame("raw", raw.layout(), raw.hash_id());
    extend(
        &mut facts,
        json!({
            "granularity": raw.granularity().to_string(),
            "rho_total": null,
            "unit": unit_in_words(raw.bound(), raw.granularity()),
            "parts": raw.parts(),
            "sketches": 1,
            "times_released": raw.releases(),
        }),
    );
    facts
}

fn stack_frame(state: &str, layout: &PrefixLayout, hash: HashId) -> Value {
    json!({
        "kind": "prefix",
        "state": state,
        "key_bits": layout.key_bits(),
        "lengths": layout.lengths(),
        "plain": (0..layout.levels()).map(|level| layout.is_plain(level)).collect::<Vec<_>>(),
        "rows": layout.shape().rows(),
        "width": layout.shape().width(),
        "hash": hash.algorithm().to_string(),
        "key": hash.key().to_string(),
    })
}
