//! Whether sketches of samples go together, by name.

use std::collections::HashMap;

use sfm_pcsa::{MergeError, MergeForm};

use super::answer::merge_samples;
use super::any::AnySubsampled;
use crate::any::AnySketch;
use crate::any_shape::AnyShape;
use crate::error::{Error, ErrorKind};

/// Named sketches of samples, which must all be such and sampled alike.
pub(super) fn named_samples(sketches: &[(String, AnySketch)]) -> Result<Vec<(&str, &AnySubsampled)>, Error> {
    let mut found: Vec<(&str, &AnySubsampled)> = Vec::with_capacity(sketches.len());
    for (name, sketch) in sketches {
        let AnySketch::Subsampled(own) = sketch else { return Err(not_a_sample(name)) };
        if let Some((first_name, first)) = found.first() {
            let alike = first.sampling().check(own.sampling()).map_err(Error::from);
            alike.map_err(|error| misfit(error, name, first_name))?;
        }
        found.push((name, own));
    }
    Ok(found)
}

/// Checks that sketches of samples go together: one sampling, hash, shape and weight rule, and no release twice.
pub(crate) fn check_samples(sketches: &[(String, AnySketch)]) -> Result<(), Error> {
    let samples = named_samples(sketches)?;
    let Some(((first_name, first), others)) = samples.split_first() else { return Ok(()) };
    for (name, own) in others {
        if let Some(fault) = fault_of(first, own) {
            return Err(misfit(fault, name, first_name));
        }
    }
    let mut seen = HashMap::new();
    for (name, release) in samples.iter().flat_map(|(name, own)| own.releases().into_iter().map(move |of| (name, of))) {
        let Some(id) = release.id() else { continue };
        if let Some(other) = seen.insert(id, name) {
            let fault = Error::from(MergeError::RepeatedRelease { id });
            return Err(fault.prefixed(&format!("{other} and {name}")).argument("FILE").value(*name));
        }
    }
    // All but unions of released bitmaps, which take long, are checked by doing it.
    if matches!(first, AnySubsampled::Sfm(_)) {
        return Ok(());
    }
    merge_samples(sketches, MergeForm::Xor).map(drop)
}

/// What keeps two sketches of one sampling apart.
fn fault_of(first: &AnySubsampled, own: &AnySubsampled) -> Option<Error> {
    if first.hash_id() != own.hash_id() {
        return Some(MergeError::Hash { expected: first.hash_id(), found: own.hash_id() }.into());
    }
    match (first.shape(), own.shape()) {
        (AnyShape::Bitmap(expected), AnyShape::Bitmap(found)) if expected != found => {
            return Some(MergeError::Shape { expected, found }.into());
        }
        (AnyShape::F0(expected), AnyShape::F0(found)) if expected != found => {
            return Some(f0_sketch::MergeError::Shape { expected, found }.into());
        }
        _ => {}
    }
    match (first.weight_rule(), own.weight_rule()) {
        (Some(expected), Some(found)) if expected != found => {
            Some(f0_sketch::MergeError::Weights { expected, found }.into())
        }
        _ => None,
    }
}

pub(super) fn not_a_sample(name: &str) -> Error {
    Error::new(ErrorKind::Incompatible, format!("{name} is not a sketch of a sample of the same kind"))
        .argument("FILE")
        .value(name)
        .allowed("sketches of one kind that were sampled with one key")
}

fn misfit(error: Error, name: &str, first: &str) -> Error {
    error.prefixed(&format!("{name} does not fit {first}")).argument("FILE")
}
