use std::collections::BTreeSet;

use dp_noise::Amount;
use serde_json::{Value, json};
use sfm_pcsa::{Leaf, SfmTally, SketchShape, Unit};

use crate::answer::{in_words, largest, total};
use crate::any::{AnySketch, with_sketch};
use crate::any_shape::AnyShape;

/// What can be said about a sketch without giving anything of the data away: no counter, no count, no estimate.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    facts: Value,
}

impl Description {
    /// Describes a sketch.
    #[must_use]
    pub fn of(sketch: &AnySketch) -> Self {
        if let AnySketch::Frequencies(frequencies) = sketch {
            return Self { facts: frequencies.describe() };
        }
        if let AnySketch::F0(f0) = sketch {
            return Self { facts: f0.describe() };
        }
        if let AnySketch::Subsampled(sample) = sketch {
            return Self { facts: sample.describe() };
        }
        let hash = sketch.hash_id();
        let mut facts = json!({
            "kind": sketch.kind(),
            "state": if sketch.is_raw() { "raw" } else { "private" },
        });
        let shape = match sketch.shape() {
            AnyShape::Bitmap(SketchShape::Pcsa(shape)) => {
                json!({ "buckets": shape.buckets(), "levels": shape.levels() })
            }
            AnyShape::Bitmap(SketchShape::Linear(shape)) => json!({ "cells": shape.cells() }),
            AnyShape::Bitmap(SketchShape::Bloom(shape)) => json!({ "cells": shape.cells(), "hashes": shape.hashes() }),
            AnyShape::Bitmap(SketchShape::Legions(shape)) => json!({ "cells": shape.cells(), "decay": shape.decay() }),
            _ => json!({}),
        };
        let made = json!({ "hash": hash.algorithm().to_string(), "key": hash.key().to_string() });
        let more = with_sketch!(
            sketch,
            sketch => of_releases(&sketch.leaves().iter().collect::<Vec<_>>(), sketch.epsilon_if_seen_alone()),
            raw => json!({
                "epsilon": null,
                "epsilon_total": null,
                "epsilon_if_seen_alone": null,
                "unit": raw.unit().to_string(),
                "sketches": 1,
                "times_released": raw.releases(),
            }),
            tally => of_tally(tally),
            _sample => json!({}),
            _frequencies => json!({}),
            _f0 => json!({}),
        );
        for part in [shape, made, more] {
            if let (Value::Object(facts), Value::Object(part)) = (&mut facts, part) {
                facts.extend(part);
            }
        }
        Self { facts }
    }

    /// One object: `kind, state`, the shape (`buckets, levels`; `cells` and, as the kind has it, `hashes` or `decay`), `hash, key` (the fingerprint), `epsilon, epsilon_total,
    /// epsilon_if_seen_alone, unit` (whom ε protects), `sketches`; `releases` for private sketches, `times_released` for raw ones.
    ///
    /// Of a tally also `thinned`, and `classes` of equal noise, each with the number of its `sketches` and the probabilities `p`
    /// and `q` that a one and a zero are read as a one.
    ///
    /// For frequencies: `kind, state, rows, width, granularity, hash, key, rho, rho_total, epsilon, epsilon_total, unit,
    /// sketches`; for private ones `noise_variance` (of a cell, in squared units of weight), `noise_parameter` (σ² as an exact
    /// fraction, in squared grid units, where all noise is Gaussian), `epsilon_at_delta` and `releases`; for raw ones
    /// `max_weight, max_items, squared_norm, parts, times_released`.
    ///
    /// For F0 sketches: `kind, state, mode, levels, cells_per_level, cells, max_weight, hash, key`, then `contrast, epsilon,
    /// epsilon_total, epsilon_if_seen_alone, unit, sketches, releases` (each with `id, epsilon, epsilon_spent,
    /// flip_probability, unit`), or `times_released` of a raw one.
    #[must_use]
    pub fn to_json(&self) -> Value {
        self.facts.clone()
    }
}

/// What the releases in a bitmap cost, and which they are.
fn of_releases(releases: &[&Leaf], if_seen_alone: Option<f64>) -> Value {
    let units: Vec<Unit> = releases.iter().map(|leaf| leaf.unit()).collect::<BTreeSet<_>>().into_iter().collect();
    json!({
        "epsilon": largest(releases).map(Amount::nearest_f64),
        "epsilon_total": total(releases).map(Amount::nearest_f64),
        "epsilon_if_seen_alone": if_seen_alone,
        "unit": in_words(&units),
        "sketches": releases.len(),
        "releases": releases.iter().map(|leaf| json!({
            "id": leaf.id().to_string(),
            "epsilon": leaf.epsilon().get(),
            "unit": leaf.unit().to_string(),
        })).collect::<Vec<_>>(),
    })
}

/// The same of a tally, and its noise levels.
fn of_tally(tally: &SfmTally) -> Value {
    let mut facts = of_releases(&tally.releases().collect::<Vec<_>>(), None);
    let classes = tally
        .classes()
        .into_iter()
        .map(|class| json!({ "sketches": class.sketches, "p": class.channel.p(), "q": class.channel.q() }));
    facts["thinned"] = json!(tally.is_thinned());
    facts["classes"] = classes.collect();
    facts
}
