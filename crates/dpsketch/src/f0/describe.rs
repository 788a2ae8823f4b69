//! What can be said about an F0 sketch without its cells.

use std::collections::HashMap;

use dp_noise::Amount;
use f0_sketch::{CoinId, F0Shape, Leaf, ModeKind, ReleaseId, WeightRule};
use serde_json::{Value, json};
use sketch_hash::HashId;

use super::any::{AnyF0Sketch, ReleasedF0Sketch};
use super::convert::unit_of;
use super::raw::{RawF0Sketch, RawMode, each_mode};
use super::terms::max_weight;
use super::totals::F0Totals;
use crate::answer::in_words;

/// `kind, state, mode, levels, cells_per_level, cells, max_weight, hash, key`; then `contrast` (of the noise of all releases), the costs
/// and `releases`.
pub(super) fn describe_private(sketch: &ReleasedF0Sketch) -> Value {
    let mut facts = frame("private", sketch.mode(), sketch.shape(), sketch.weight_rule(), sketch.hash_id());
    let totals = F0Totals::of_leaves(sketch.leaves());
    extend(
        &mut facts,
        json!({
            "contrast": sketch.contrast(),
            "epsilon": totals.epsilon.map(Amount::nearest_f64),
            "epsilon_total": totals.epsilon_total.map(Amount::nearest_f64),
            "epsilon_if_seen_alone": sketch.epsilon_if_seen_alone(),
            "unit": in_words(&sketch.units()),
            "sketches": sketch.leaves().len(),
            "releases": releases_json(sketch),
        }),
    );
    facts
}

/// The same of a raw one: no noise and no cost yet, but `times_released` and the names of its secret coins.
pub(super) fn describe_raw(raw: &RawF0Sketch) -> Value {
    let mut facts = frame("raw", raw.mode(), raw.shape(), raw.weight_rule(), raw.hash_id());
    extend(
        &mut facts,
        json!({
            "contrast": null,
            "epsilon": null,
            "epsilon_total": null,
            "epsilon_if_seen_alone": null,
            "unit": raw.unit().to_string(),
            "sketches": 1,
            "times_released": raw.releases(),
            "coins": names(each_mode!(RawMode: &raw.0, raw => raw.coins()).iter().copied()),
        }),
    );
    facts
}

fn frame(state: &str, mode: ModeKind, shape: &F0Shape, rule: WeightRule, hash: HashId) -> Value {
    json!({
        "kind": AnyF0Sketch::KIND,
        "state": state,
        "mode": mode.to_string(),
        "levels": shape.levels(),
        "cells_per_level": shape.cells_per_level(),
        "cells": shape.cells(),
        "max_weight": max_weight(rule),
        "hash": hash.algorithm().to_string(),
        "key": hash.key().to_string(),
    })
}

/// Of each release `id, coins` and what it cost. Releases with a name of coins in common are never put together.
fn releases_json(sketch: &ReleasedF0Sketch) -> Vec<Value> {
    let uses: Vec<(CoinId, ReleaseId)> = match sketch {
        ReleasedF0Sketch::Set(sketch) => sketch.coins().collect(),
        ReleasedF0Sketch::Presampled(sketch) => sketch.coins().collect(),
    };
    let mut coins: HashMap<ReleaseId, Vec<CoinId>> = HashMap::new();
    for (coin, release) in uses {
        coins.entry(release).or_default().push(coin);
    }
    let release = |leaf: &Leaf| {
        let mut facts = release_json(leaf);
        extend(&mut facts, json!({ "coins": names(coins.remove(&leaf.id()).into_iter().flatten()) }));
        facts
    };
    sketch.leaves().iter().map(release).collect()
}

fn names(coins: impl Iterator<Item = CoinId>) -> Vec<String> {
    coins.map(|coin| coin.to_string()).collect()
}

/// `id, epsilon` (as it was paid), `epsilon_spent` (what the noise really spends, rounded up; below ε for the noise of the paper),
/// `flip_probability` and `unit`.
fn release_json(leaf: &Leaf) -> Value {
    json!({
        "id": leaf.id().to_string(),
        "epsilon": leaf.epsilon().get(),
        "epsilon_spent": leaf.realised_level(),
        "flip_probability": leaf.flip_probability(),
        "unit": unit_of(leaf.unit()).to_string(),
    })
}

/// Adds the fields of one object to another.
pub(crate) fn extend(facts: &mut Value, more: Value) {
    if let (Value::Object(facts), Value::Object(more)) = (facts, more) {
        facts.extend(more);
    }
}
