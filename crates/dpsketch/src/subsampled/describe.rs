//! What can be said about a sketch of a sample without its cells.

use dp_noise::{Amount, SampleRate, Sampling};
use f0_sketch::{ModeKind, SubsampledF0Sketch};
use serde_json::{Value, json};
use sfm_pcsa::SubsampledSfmSketch;

use super::any::{AnySubsampled, RawKind, RawSubsampled};
use super::release::SampleRelease;
use crate::answer::in_words;
use crate::f0::{extend, max_weight};

/// `kind, state`, the shape, `hash, key, sampling_rate, sample_key` (the name of the key), `epsilon, epsilon_total` (of somebody in all of
/// the data sets, under one key), `epsilon_if_key_known, epsilon_if_seen_alone` (null), `unit, sketches, releases`.
pub(super) fn describe_sfm(sketch: &SubsampledSfmSketch) -> Value {
    let any = AnySubsampled::Sfm(sketch.clone());
    let mut facts = frame(&any, "private");
    extend(&mut facts, costs(&any, sketch.epsilon(), sketch.epsilon_total(), sketch.epsilon_if_key_known()));
    facts
}

/// The same of an F0 sketch, with `mode` and `max_weight`.
pub(super) fn describe_f0(sketch: &SubsampledF0Sketch) -> Value {
    let any = AnySubsampled::F0(sketch.clone());
    let mut facts = frame(&any, "private");
    extend(&mut facts, costs(&any, sketch.epsilon(), sketch.epsilon_total(), sketch.epsilon_if_key_known()));
    facts
}

/// The same of a raw one: no noise and no cost yet, but `times_released`.
pub(super) fn describe_raw(raw: &RawSubsampled) -> Value {
    let mut facts = frame(&AnySubsampled::Raw(raw.clone()), "raw");
    extend(
        &mut facts,
        json!({
            "epsilon": null,
            "epsilon_total": null,
            "epsilon_if_key_known": null,
            "epsilon_if_seen_alone": null,
            "unit": raw.unit().to_string(),
            "sketches": 1,
            "times_released": raw.releases(),
        }),
    );
    facts
}

/// A rate to 15 digits: the last one that was asked for, and not what rounding to 64 bits made of it.
pub(crate) fn rate_json(rate: SampleRate) -> f64 {
    format!("{:.14e}", rate.get()).parse().unwrap_or(rate.get())
}

fn frame(sketch: &AnySubsampled, state: &str) -> Value {
    let (hash, Sampling { rate, key }) = (sketch.hash_id(), sketch.sampling());
    let mut facts = json!({ "kind": sketch.kind(), "state": state });
    if sketch.weight_rule().is_some() {
        extend(&mut facts, json!({ "mode": ModeKind::Set.to_string() }));
    }
    extend(&mut facts, shape(sketch));
    if let Some(rule) = sketch.weight_rule() {
        extend(&mut facts, json!({ "max_weight": max_weight(rule) }));
    }
    extend(
        &mut facts,
        json!({
            "hash": hash.algorithm().to_string(),
            "key": hash.key().to_string(),
            "sampling_rate": rate_json(rate),
            "sample_key": key.to_string(),
        }),
    );
    facts
}

fn shape(sketch: &AnySubsampled) -> Value {
    let of_sfm = |shape: sfm_pcsa::PcsaShape| json!({ "buckets": shape.buckets(), "levels": shape.levels() });
    let of_f0 = |shape: &f0_sketch::F0Shape| json!({ "levels": shape.levels(), "cells_per_level": shape.cells_per_level(), "cells": shape.cells() });
    match sketch {
        AnySubsampled::Sfm(sketch) => of_sfm(sketch.shape()),
        AnySubsampled::Raw(RawSubsampled(RawKind::Sfm(raw))) => of_sfm(raw.shape()),
        AnySubsampled::F0(sketch) => of_f0(sketch.shape()),
        AnySubsampled::Raw(RawSubsampled(RawKind::F0(raw))) => of_f0(raw.shape()),
    }
}

fn costs(sketch: &AnySubsampled, epsilon: f64, total: Option<f64>, if_key_known: f64) -> Value {
    let releases = sketch.releases();
    json!({
        "epsilon": epsilon,
        "epsilon_total": total,
        "epsilon_if_key_known": if_key_known,
        "epsilon_if_seen_alone": null,
        "unit": in_words(&sketch.units()),
        "sketches": releases.len(),
        "releases": releases.iter().map(release_json).collect::<Vec<_>>(),
    })
}

/// `id, epsilon` (while the key is secret and if nothing else is released under it), `epsilon_if_key_known, unit`.
fn release_json(release: &SampleRelease) -> Value {
    json!({
        "id": release.id().map(|id| id.to_string()),
        "epsilon": Amount::from_epsilon(release.epsilon()).nearest_f64(),
        "epsilon_if_key_known": release.epsilon_if_key_known(),
        "unit": release.unit().to_string(),
    })
}
