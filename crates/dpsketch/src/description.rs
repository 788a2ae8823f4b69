use dp_noise::Amount;
use serde_json::{Value, json};

use crate::answer::{in_words, largest, total};
use crate::any::AnySketch;

/// What can be said about a sketch without giving anything of the data away: no counter, no count, no estimate.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    facts: Value,
}

impl Description {
    /// Describes a sketch.
    #[must_use]
    pub fn of(sketch: &AnySketch) -> Self {
        let (shape, hash) = (sketch.shape(), sketch.hash_id());
        let mut facts = json!({
            "kind": sketch.kind(),
            "state": if sketch.is_raw() { "raw" } else { "private" },
            "buckets": shape.buckets(),
            "levels": shape.levels(),
            "hash": hash.algorithm().to_string(),
            "key": hash.key().to_string(),
        });
        let more = match sketch {
            AnySketch::Sfm(sketch) => json!({
                "epsilon": largest(sketch).map(Amount::nearest_f64),
                "epsilon_total": total([sketch]).map(Amount::nearest_f64),
                "epsilon_if_seen_alone": sketch.epsilon_if_seen_alone(),
                "unit": in_words(&sketch.units()),
                "sketches": sketch.leaves().len(),
                "releases": sketch.leaves().iter().map(|leaf| json!({
                    "id": leaf.id().to_string(),
                    "epsilon": leaf.epsilon().get(),
                    "unit": leaf.unit().to_string(),
                })).collect::<Vec<_>>(),
            }),
            AnySketch::SfmRaw(raw) => json!({
                "epsilon": null,
                "epsilon_total": null,
                "epsilon_if_seen_alone": null,
                "unit": raw.unit().to_string(),
                "sketches": 1,
                "times_released": raw.releases(),
            }),
        };
        if let (Value::Object(facts), Value::Object(more)) = (&mut facts, more) {
            facts.extend(more);
        }
        Self { facts }
    }

    /// One object: `kind, state, buckets, levels, hash, key` (the fingerprint), `epsilon, epsilon_total,
    /// epsilon_if_seen_alone, unit` (whom ε protects), `sketches`; `releases` for private sketches, `times_released` for raw ones.
    #[must_use]
    pub fn to_json(&self) -> Value {
        self.facts.clone()
    }
}
