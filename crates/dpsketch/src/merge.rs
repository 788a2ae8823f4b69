//! Putting sketches of any kind together.

use std::collections::HashMap;

use dp_noise::{DisjointParts, NoiseRng};
use sfm_pcsa::{BitmapShape, MAX_RELEASES, MergeForm, PrivateBitmap};

use crate::any::{AnySketch, Family, for_family};
use crate::any_shape::AnyShape;
use crate::error::{Error, ErrorKind};
use crate::f0::{F0State, not_f0};
use crate::frequency::{FrequencyState, not_frequencies};
use crate::raw::RecordedSketch;
use crate::subsampled::{check_samples, merge_samples};
use crate::tally::{has_tally, tally_of_all};

/// Sketches that are put together in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    /// Bitmaps of any family.
    Bitmaps,
    /// Counters.
    Frequencies,
    /// Parities.
    F0,
    /// Secret samples.
    Samples,
}

impl Sort {
    pub(crate) const fn of(sketch: &AnySketch) -> Self {
        match sketch {
            AnySketch::Frequencies(_) => Self::Frequencies,
            AnySketch::F0(_) => Self::F0,
            AnySketch::Subsampled(_) => Self::Samples,
            _ => Self::Bitmaps,
        }
    }
}

/// The one sort of named sketches; that of bitmaps for none.
pub(crate) fn one_sort(sketches: &[(String, AnySketch)]) -> Result<Sort, Error> {
    let Some(((first_name, first), others)) = sketches.split_first() else { return Ok(Sort::Bitmaps) };
    let own = Sort::of(first);
    // Bitmaps of different families are told apart by their shapes.
    let strange = |other: &AnySketch| own != Sort::of(other) || (own != Sort::Bitmaps && other.kind() != first.kind());
    match others.iter().find(|(_, other)| strange(other)) {
        None => Ok(own),
        Some((name, other)) => Err(Error::new(
            ErrorKind::Incompatible,
            format!("{first_name} is a sketch of kind {} and {name} one of kind {}", first.kind(), other.kind()),
        )
        .argument("FILE")
        .value(name)
        .allowed(format!("sketches of kind {}", first.kind()))),
    }
}

/// Frequency sketches with their names, of one state.
fn frequency_state(sketches: &[(String, AnySketch)]) -> Result<FrequencyState<'_>, Error> {
    check_one_state(sketches)?;
    let mut frequencies = Vec::with_capacity(sketches.len());
    for (name, sketch) in sketches {
        match sketch {
            AnySketch::Frequencies(sketch) => frequencies.push((name.as_str(), sketch)),
            other => return Err(not_frequencies(name, other.kind())),
        }
    }
    // Of one kind, which was checked, and one state.
    FrequencyState::of(&frequencies).ok_or_else(|| not_frequencies("a file", "another"))
}

/// F0 sketches with their names, of one state and mode.
pub(crate) fn f0_state(sketches: &[(String, AnySketch)]) -> Result<F0State<'_>, Error> {
    check_one_state(sketches)?;
    let mut named = Vec::with_capacity(sketches.len());
    for (name, sketch) in sketches {
        match sketch {
            AnySketch::F0(sketch) => named.push((name.as_str(), sketch)),
            other => return Err(not_f0(name, other.kind())),
        }
    }
    F0State::of(&named)
}

/// Sketches of one family and one state: all private or all raw.
pub(crate) enum OfOneState<'a, S: BitmapShape> {
    Private(Vec<&'a PrivateBitmap<S>>),
    Raw(Vec<&'a RecordedSketch<S>>),
}

/// Sorts named sketches of one family, which was checked, by their state.
pub(crate) fn of_one_state<S: Family>(sketches: &[(String, AnySketch)]) -> Result<OfOneState<'_, S>, Error> {
    check_one_state(sketches)?;
    let private: Vec<_> = sketches.iter().filter_map(|(_, sketch)| S::private(sketch)).collect();
    let raws: Vec<_> = sketches.iter().filter_map(|(_, sketch)| S::raw(sketch)).collect();
    if let Some((name, _)) = sketches.iter().find(|(_, sketch)| matches!(sketch, AnySketch::SfmTally(_))) {
        return Err(is_tally(name));
    }
    match (private.is_empty(), raws.is_empty()) {
        (true, true) => Err(Error::new(ErrorKind::Parameter, "no sketch was named").argument("FILE")),
        (false, _) => Ok(OfOneState::Private(private)),
        _ => Ok(OfOneState::Raw(raws)),
    }
}

fn check_one_state(sketches: &[(String, AnySketch)]) -> Result<(), Error> {
    let named = |raw: bool| sketches.iter().find(|(_, sketch)| sketch.is_raw() == raw).map(|(name, _)| name);
    if let (Some(raw), Some(private)) = (named(true), named(false)) {
        return Err(Error::new(ErrorKind::Incompatible, format!("{raw} is raw and {private} is private"))
            .argument("FILE")
            .value(raw)
            .allowed("all private, or all raw")
            .hint("release the raw sketch first, with its own epsilon: mixed as they are, the private one would expose it"));
    }
    if sketches.is_empty() {
        return Err(Error::new(ErrorKind::Parameter, "no sketch was named").argument("FILE"));
    }
    Ok(())
}

/// Checks that named sketches can be put together: one state, one hash and key, one
/// family and shape, no release twice.
///
/// # Errors
/// [`ErrorKind::Incompatible`], which names the two sketches that do not fit and what differs.
pub fn check_compatible(sketches: &[(String, AnySketch)]) -> Result<(), Error> {
    check_one_state(sketches)?;
    match one_sort(sketches)? {
        Sort::Frequencies => return frequency_state(sketches)?.check(),
        Sort::F0 => return f0_state(sketches)?.check(),
        Sort::Samples => return check_samples(sketches),
        Sort::Bitmaps => {}
    }
    let Some(((first_name, first), others)) = sketches.split_first() else { return Ok(()) };
    for (name, sketch) in others {
        let fault = if first.hash_id() != sketch.hash_id() {
            sfm_pcsa::MergeError::Hash { expected: first.hash_id(), found: sketch.hash_id() }
        } else if let (AnyShape::Bitmap(expected), AnyShape::Bitmap(found)) = (first.shape(), sketch.shape())
            && expected != found
        {
            sfm_pcsa::MergeError::Shape { expected, found }
        } else {
            continue;
        };
        return Err(Error::from(fault).prefixed(&format!("{name} does not fit {first_name}")).argument("FILE"));
    }
    check_no_release_twice(sketches)
}

fn check_no_release_twice(sketches: &[(String, AnySketch)]) -> Result<(), Error> {
    let mut seen = HashMap::new();
    for (name, sketch) in sketches {
        for leaf in sketch.releases() {
            if let Some(other) = seen.insert(leaf.id(), name) {
                let fault = sfm_pcsa::MergeError::RepeatedRelease { id: leaf.id() };
                return Err(Error::from(fault).prefixed(&format!("{other} and {name}")).argument("FILE"));
            }
        }
    }
    Ok(())
}

/// Checks that named sketches can be merged to one: what [`check_compatible`] checks, and that one sketch can record
/// all their releases. Where there are tallies among them, that one [`tally`](crate::tally()) can hold all of them.
///
/// # Errors
/// As [`check_compatible`]; also [`ErrorKind::Incompatible`] for more than [`MAX_RELEASES`] releases, and for raw frequencies
/// that are there twice ([`FrequencyError::Copied`](crate::FrequencyError::Copied)), as for raw pre-sampled F0 sketches
/// ([`F0Error::Copied`](crate::F0Error::Copied)).
pub fn check_mergeable(sketches: &[(String, AnySketch)]) -> Result<(), Error> {
    check_compatible(sketches)?;
    match one_sort(sketches)? {
        Sort::Frequencies => return frequency_state(sketches)?.check_sum(),
        Sort::F0 => return f0_state(sketches)?.check_merge(),
        Sort::Samples => return Ok(()),
        Sort::Bitmaps => {}
    }
    if has_tally(sketches) {
        return tally_of_all(sketches).map(drop);
    }
    let found = sketches.iter().map(|(_, sketch)| sketch.leaves().len()).sum();
    if found > MAX_RELEASES {
        let fault = sfm_pcsa::MergeError::TooManyReleases { max: MAX_RELEASES, found };
        return Err(Error::from(fault).argument("FILE"));
    }
    Ok(())
}

/// Puts named sketches together: private bitmaps by composing their noise in one of two forms, raw ones by their OR,
/// frequencies by their sum and F0 sketches by their XOR, which have no forms.
///
/// The XOR of F0 sketches of mode `set` is the sketch of the symmetric difference, that of mode `presampled` of the union.
///
/// # Errors
/// As [`check_mergeable`]; [`ErrorKind::Incompatible`] for tallies; [`ErrorKind::Entropy`] when there is no randomness for the
/// coins of the merge.
///
/// # Privacy
/// Merging private sketches costs nothing more, and every input keeps the ε of its own releases. The result of raw
/// sketches is raw; its count of releases is their sum. Where records are protected, each record must be in one of the raw
/// frequency sketches only: a whole copy is refused, and no program can tell more.
/// A merge of raw pre-sampled F0 sketches has the coins of its inputs. Release either the inputs or the merge: releases of both look
/// at the same coins and cost more than the sum of their ε ([`presampled_cost`](f0_sketch::presampled_cost)).
pub fn merge(sketches: &[(String, AnySketch)], form: MergeForm) -> Result<AnySketch, Error> {
    check_mergeable(sketches)?;
    match one_sort(sketches)? {
        Sort::Frequencies => return sum(sketches, None),
        Sort::F0 => return f0_state(sketches)?.merge().map(AnySketch::from),
        Sort::Samples => return merge_samples(sketches, form).map(AnySketch::from),
        Sort::Bitmaps => {}
    }
    for_family!(sketches, merge_of(sketches, form))
}

fn is_tally(name: &str) -> Error {
    Error::new(ErrorKind::Incompatible, format!("{name} is a tally, which is not merged to one sketch"))
        .argument("FILE")
        .value(name)
        .allowed("sketches of single releases, and merged ones")
        .hint("say --tally for one tally of all files, or merge the files that the tally was made of")
}

fn merge_of<S: Family>(sketches: &[(String, AnySketch)], form: MergeForm) -> Result<AnySketch, Error>
where
    AnySketch: From<PrivateBitmap<S>> + From<RecordedSketch<S>>,
{
    match of_one_state::<S>(sketches)? {
        OfOneState::Private(private) => {
            let mut noise = NoiseRng::from_os()?;
            Ok(PrivateBitmap::merge_all(&private, form, &mut noise)?.into())
        }
        OfOneState::Raw(raws) => merge_raw(&raws).map(AnySketch::from),
    }
}

/// Adds up named frequency sketches of data sets that have no unit of privacy in common.
///
/// # Errors
/// As [`merge`]; [`ErrorKind::Incompatible`] for bitmaps, whose releases are booked one by one however they are merged.
///
/// # Privacy
/// The sum states the largest cost instead of their sum, and raw sketches keep their bound. Sound only under the assumption
/// that the caller names; no program can check it.
pub fn merge_disjoint(sketches: &[(String, AnySketch)], assumption: DisjointParts) -> Result<AnySketch, Error> {
    frequency_state(sketches)?;
    check_mergeable(sketches)?;
    sum(sketches, Some(assumption))
}

fn sum(sketches: &[(String, AnySketch)], disjoint: Option<DisjointParts>) -> Result<AnySketch, Error> {
    frequency_state(sketches)?.sum(disjoint).map(AnySketch::from)
}

/// The union of raw sketches, of which there is at least one.
pub(crate) fn merge_raw<S: BitmapShape>(raws: &[&RecordedSketch<S>]) -> Result<RecordedSketch<S>, Error> {
    let (first, others) = raws.split_first().ok_or(sfm_pcsa::MergeError::Empty)?;
    let mut union = (*first).clone();
    others.iter().try_for_each(|other| union.merge(other))?;
    Ok(union)
}
