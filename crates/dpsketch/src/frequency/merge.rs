//! Putting frequency sketches together.

use std::collections::HashMap;

use countsketch_dp::{MAX_RELEASES, MergeError, PrivateCountSketch};
use dp_noise::DisjointParts;

use super::any::FrequencySketch;
use super::error::FrequencyError;
use super::prefix::{RawPrefixStack, RecordedPrefixStack};
use super::raw::RawCountSketch;
use crate::error::{Error, ErrorKind};

/// Sketches with their names, all of one state.
type Named<'a, S> = [(&'a str, &'a S)];

/// Frequency sketches of one state: all private or all raw.
pub(crate) enum FrequencyState<'a> {
    Private(Vec<(&'a str, &'a PrivateCountSketch)>),
    Raw(Vec<(&'a str, &'a RawCountSketch)>),
    Prefixes(Vec<(&'a str, &'a RecordedPrefixStack)>),
    RawPrefixes(Vec<(&'a str, &'a RawPrefixStack)>),
}

impl<'a> FrequencyState<'a> {
    /// Sorts named sketches, which are all private or all raw; `None` where kinds are mixed.
    pub(crate) fn of(sketches: &[(&'a str, &'a FrequencySketch)]) -> Option<Self> {
        fn all<'a, S>(
            sketches: &[(&'a str, &'a FrequencySketch)],
            pick: impl Fn(&'a FrequencySketch) -> Option<&'a S>,
        ) -> Option<Vec<(&'a str, &'a S)>> {
            sketches.iter().map(|(name, sketch)| Some((*name, pick(sketch)?))).collect()
        }
        use FrequencySketch as F;
        match sketches.first()?.1 {
            F::Private(_) => {
                all(sketches, |any| if let F::Private(own) = any { Some(own) } else { None }).map(Self::Private)
            }
            F::Raw(_) => all(sketches, |any| if let F::Raw(own) = any { Some(own) } else { None }).map(Self::Raw),
            F::Prefixes(_) => {
                all(sketches, |any| if let F::Prefixes(own) = any { Some(own) } else { None }).map(Self::Prefixes)
            }
            F::RawPrefixes(_) => {
                all(sketches, |any| if let F::RawPrefixes(own) = any { Some(own) } else { None }).map(Self::RawPrefixes)
            }
        }
    }

    /// The sum of sketches that fit together. Costs of private ones add up unless nobody is in two of them.
    pub(crate) fn sum(self, disjoint: Option<DisjointParts>) -> Result<FrequencySketch, Error> {
        self.check_copies()?;
        match self {
            Self::Private(private) => sum_private(&private, disjoint).map(FrequencySketch::from),
            Self::Raw(raws) => sum_raw(&raws, disjoint).map(FrequencySketch::from),
            Self::Prefixes(stacks) => sum_prefixes(&stacks, disjoint).map(FrequencySketch::from),
            Self::RawPrefixes(raws) => sum_raw_prefixes(&raws).map(FrequencySketch::from),
        }
    }
}

impl FrequencyState<'_> {
    /// Checks that they go together.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match self {
            Self::Private(private) => check_private(private),
            Self::Raw(raws) => check_raw(raws),
            // Summed on the way: the levels have their own hashes and releases.
            Self::Prefixes(stacks) => sum_prefixes(stacks, None).map(drop),
            Self::RawPrefixes(raws) => sum_raw_prefixes(raws).map(drop),
        }
    }

    /// Checks that they add up to one sketch: it can record all releases, and no raw one is a copy of another.
    pub(crate) fn check_sum(&self) -> Result<(), Error> {
        match self {
            Self::Private(private) => check_number(private),
            Self::Prefixes(_) => Ok(()),
            Self::Raw(_) | Self::RawPrefixes(_) => self.check_copies(),
        }
    }

    /// Refuses raw data that is there twice: a record in both would move the sum twice as far as its noise allows.
    fn check_copies(&self) -> Result<(), Error> {
        match self {
            Self::Raw(raws) => check_copies(raws, RawCountSketch::same_counts),
            Self::RawPrefixes(raws) => check_copies(raws, RawPrefixStack::same_counts),
            Self::Private(_) | Self::Prefixes(_) => Ok(()),
        }
    }
}

fn check_copies<S>(raws: &Named<'_, S>, same: impl Fn(&S, &S) -> bool) -> Result<(), Error> {
    for (place, (name, raw)) in raws.iter().enumerate() {
        if let Some((first, _)) = raws[..place].iter().find(|(_, other)| same(raw, other)) {
            return Err(FrequencyError::Copied { first: (*first).to_owned(), second: (*name).to_owned() }.into());
        }
    }
    Ok(())
}

/// A sketch of another kind where one of frequencies was wanted.
pub(crate) fn not_frequencies(name: &str, kind: &str) -> Error {
    Error::new(ErrorKind::Incompatible, format!("{name} is a sketch of kind {kind}, not of frequencies"))
        .argument("FILE")
        .value(name)
        .allowed("sketches of kind countsketch")
}

/// Checks that private sketches can be compared: one hash, shape and grid, and no release twice.
fn check_private(sketches: &Named<'_, PrivateCountSketch>) -> Result<(), Error> {
    let frame = |sketch: &PrivateCountSketch| (sketch.hash_id(), sketch.shape(), sketch.granularity());
    let Some(((first_name, first), others)) = sketches.split_first() else { return Ok(()) };
    for (name, sketch) in others {
        let ((hash, shape, grid), found) = (frame(first), frame(sketch));
        let fault = if hash != found.0 {
            MergeError::Hash { expected: hash, found: found.0 }
        } else if shape != found.1 {
            MergeError::Shape { expected: shape, found: found.1 }
        } else if grid != found.2 {
            MergeError::Granularity { expected: grid, found: found.2 }
        } else {
            continue;
        };
        return Err(misfit(fault, name, first_name));
    }
    let mut seen = HashMap::new();
    for (name, leaf) in sketches.iter().flat_map(|(name, sketch)| sketch.leaves().iter().map(move |leaf| (name, leaf)))
    {
        if let Some(other) = seen.insert(leaf.id(), name) {
            let fault = Error::from(MergeError::RepeatedRelease { id: leaf.id() });
            return Err(fault.prefixed(&format!("{other} and {name}")).argument("FILE"));
        }
    }
    Ok(())
}

/// Checks that raw sketches add up: one hash, shape, grid and bound.
fn check_raw(sketches: &Named<'_, RawCountSketch>) -> Result<(), Error> {
    let Some(((first_name, first), others)) = sketches.split_first() else { return Ok(()) };
    for (name, raw) in others {
        let fault = if first.hash_id() != raw.hash_id() {
            MergeError::Hash { expected: first.hash_id(), found: raw.hash_id() }
        } else if first.shape() != raw.shape() {
            MergeError::Shape { expected: first.shape(), found: raw.shape() }
        } else if first.granularity() != raw.granularity() {
            MergeError::Granularity { expected: first.granularity(), found: raw.granularity() }
        } else if first.bound() != raw.bound() {
            MergeError::Bound { expected: first.bound(), found: raw.bound() }
        } else {
            continue;
        };
        return Err(misfit(fault, name, first_name));
    }
    Ok(())
}

fn misfit(fault: MergeError, name: &str, first: &str) -> Error {
    Error::from(fault).prefixed(&format!("{name} does not fit {first}")).argument("FILE")
}

/// Checks that one sketch can record all releases.
fn check_number(sketches: &Named<'_, PrivateCountSketch>) -> Result<(), Error> {
    let found = sketches.iter().map(|(_, sketch)| sketch.leaves().len()).sum();
    if found <= MAX_RELEASES {
        return Ok(());
    }
    Err(Error::from(MergeError::TooManyReleases { max: MAX_RELEASES, found }).argument("FILE"))
}

/// The sum of private sketches, which fit together. Costs add up unless nobody is in two of them.
fn sum_private(
    sketches: &Named<'_, PrivateCountSketch>,
    disjoint: Option<DisjointParts>,
) -> Result<PrivateCountSketch, Error> {
    let sketches: Vec<&PrivateCountSketch> = sketches.iter().map(|(_, sketch)| *sketch).collect();
    Ok(match disjoint {
        None => PrivateCountSketch::sum(&sketches)?,
        Some(assumption) => PrivateCountSketch::sum_disjoint(&sketches, assumption)?,
    })
}

/// The sum of raw sketches, which fit together.
fn sum_raw(sketches: &Named<'_, RawCountSketch>, disjoint: Option<DisjointParts>) -> Result<RawCountSketch, Error> {
    let ((_, first), others) = sketches.split_first().ok_or_else(none_named)?;
    let mut sum = (*first).clone();
    for (_, other) in others {
        match disjoint {
            None => sum.merge(other)?,
            Some(assumption) => sum.merge_disjoint(other, assumption)?,
        }
    }
    Ok(sum)
}

/// The sum of released stacks; an error names the one that does not fit the first.
fn sum_prefixes(
    stacks: &Named<'_, RecordedPrefixStack>,
    disjoint: Option<DisjointParts>,
) -> Result<RecordedPrefixStack, Error> {
    let ((first_name, first), others) = stacks.split_first().ok_or_else(none_named)?;
    let mut sum = (*first).clone();
    for (name, other) in others {
        let told = |error: Error| error.prefixed(&format!("{name} does not fit {first_name}")).argument("FILE");
        sum = sum.merge(other, disjoint).map_err(told)?;
    }
    Ok(sum)
}

/// The sum of raw stacks; an error names the one that does not fit the first.
fn sum_raw_prefixes(raws: &Named<'_, RawPrefixStack>) -> Result<RawPrefixStack, Error> {
    let ((first_name, first), others) = raws.split_first().ok_or_else(none_named)?;
    let mut sum = (*first).clone();
    for (name, other) in others {
        let told = |error: Error| error.prefixed(&format!("{name} does not fit {first_name}")).argument("FILE");
        sum.merge(other).map_err(told)?;
    }
    Ok(sum)
}

fn none_named() -> Error {
    Error::new(ErrorKind::Parameter, "no sketch was named").argument("FILE")
}
