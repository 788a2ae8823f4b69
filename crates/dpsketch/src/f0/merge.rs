//! Putting F0 sketches together.

use std::collections::HashMap;

use f0_sketch::{
    CoinId, F0Shape, F0Sketch, MAX_COINS, MAX_RELEASES, MergeError, Mode, ModeKind, Presampled, PrivateF0Sketch, Set,
    Unit, WeightRule,
};
use sketch_hash::HashId;

use super::any::{AnyF0Sketch, ReleasedF0Sketch};
use super::error::F0Error;
use super::raw::{RawF0Sketch, RawMode};
use crate::error::{Error, ErrorKind};
use crate::raw::RecordedHash;

/// Sketches with their names.
pub(super) type Named<'a, S> = Vec<(&'a str, &'a S)>;

/// F0 sketches of one state and one mode.
pub(crate) enum F0State<'a> {
    Set(Named<'a, PrivateF0Sketch<Set>>),
    Presampled(Named<'a, PrivateF0Sketch<Presampled>>),
    RawSet(Named<'a, F0Sketch<Set, RecordedHash>>),
    RawPresampled(Named<'a, F0Sketch<Presampled, RecordedHash>>),
}

impl<'a> F0State<'a> {
    /// Sorts named sketches, which are all private or all raw.
    pub(crate) fn of(sketches: &[(&'a str, &'a AnyF0Sketch)]) -> Result<Self, Error> {
        fn all<'a, S>(
            sketches: &[(&'a str, &'a AnyF0Sketch)],
            pick: impl Fn(&'a AnyF0Sketch) -> Option<&'a S>,
        ) -> Result<Named<'a, S>, Error> {
            let picked = |&(name, sketch): &(&'a str, &'a AnyF0Sketch)| {
                pick(sketch).map(|own| (name, own)).ok_or_else(|| mixed_modes(sketches, name, sketch.mode()))
            };
            sketches.iter().map(picked).collect()
        }
        use AnyF0Sketch as A;
        use ReleasedF0Sketch as P;
        match sketches.first().ok_or_else(none_named)?.1 {
            A::Private(P::Set(_)) => {
                all(sketches, |any| if let A::Private(P::Set(own)) = any { Some(own) } else { None }).map(Self::Set)
            }
            A::Private(P::Presampled(_)) => {
                all(sketches, |any| if let A::Private(P::Presampled(own)) = any { Some(own) } else { None })
                    .map(Self::Presampled)
            }
            A::Raw(RawF0Sketch(RawMode::Set(_))) => {
                all(sketches, |any| if let A::Raw(RawF0Sketch(RawMode::Set(own))) = any { Some(own) } else { None })
                    .map(Self::RawSet)
            }
            A::Raw(RawF0Sketch(RawMode::Presampled(_))) => {
                all(
                    sketches,
                    |any| {
                        if let A::Raw(RawF0Sketch(RawMode::Presampled(own))) = any { Some(own) } else { None }
                    },
                )
                .map(Self::RawPresampled)
            }
        }
    }
}

impl F0State<'_> {
    /// What they were built of.
    pub(super) const fn mode(&self) -> ModeKind {
        match self {
            Self::Set(_) | Self::RawSet(_) => ModeKind::Set,
            Self::Presampled(_) | Self::RawPresampled(_) => ModeKind::Presampled,
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Set(named) => named.len(),
            Self::Presampled(named) => named.len(),
            Self::RawSet(named) => named.len(),
            Self::RawPresampled(named) => named.len(),
        }
    }

    /// Those at some positions, in the order of these.
    pub(super) fn at(self, positions: &[usize]) -> Self {
        fn pick<'a, S>(named: &Named<'a, S>, positions: &[usize]) -> Named<'a, S> {
            positions.iter().filter_map(|position| named.get(*position).copied()).collect()
        }
        match self {
            Self::Set(named) => Self::Set(pick(&named, positions)),
            Self::Presampled(named) => Self::Presampled(pick(&named, positions)),
            Self::RawSet(named) => Self::RawSet(pick(&named, positions)),
            Self::RawPresampled(named) => Self::RawPresampled(pick(&named, positions)),
        }
    }

    /// Checks that they go together: one hash, shape and weight rule, no release twice, and no secret coins in two of them.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match self {
            Self::Set(private) => check_private(private),
            Self::Presampled(private) => check_private(private),
            Self::RawSet(raws) => check_raw(raws),
            Self::RawPresampled(raws) => {
                check_raw(raws)?;
                check_raw_coins(raws)
            }
        }
    }

    /// Checks that they merge to one sketch, which can record all releases.
    pub(crate) fn check_merge(&self) -> Result<(), Error> {
        self.check()?;
        match self {
            Self::Set(private) => check_number(private),
            Self::Presampled(private) => check_number(private),
            Self::RawSet(_) => Ok(()),
            Self::RawPresampled(raws) => check_coins(raws.iter().map(|(_, raw)| raw.coins().len()).sum()),
        }
    }

    /// The XOR of sketches that fit together: in mode `set` the sketch of the symmetric difference, in mode `presampled` of
    /// the union.
    pub(crate) fn merge(self) -> Result<AnyF0Sketch, Error> {
        self.check_merge()?;
        Ok(match self {
            Self::Set(private) => ReleasedF0Sketch::Set(merge_private(&private)?).into(),
            Self::Presampled(private) => ReleasedF0Sketch::Presampled(merge_private(&private)?).into(),
            Self::RawSet(raws) => RawF0Sketch(RawMode::Set(merge_raw_sets(&raws)?)).into(),
            Self::RawPresampled(raws) => RawF0Sketch(RawMode::Presampled(merge_raw_streams(&raws)?)).into(),
        })
    }
}

/// The XOR of raw sets, which fit together.
pub(super) fn merge_raw_sets(
    raws: &[(&str, &F0Sketch<Set, RecordedHash>)],
) -> Result<F0Sketch<Set, RecordedHash>, Error> {
    let ((_, first), others) = raws.split_first().ok_or_else(none_named)?;
    let mut merged = (*first).clone();
    others.iter().try_for_each(|(_, other)| merged.merge(other))?;
    Ok(merged)
}

/// The XOR of raw streams, which fit together. The inputs stay in their files, so that copies of them are used up.
pub(super) fn merge_raw_streams(
    raws: &[(&str, &F0Sketch<Presampled, RecordedHash>)],
) -> Result<F0Sketch<Presampled, RecordedHash>, Error> {
    let ((_, first), others) = raws.split_first().ok_or_else(none_named)?;
    let mut merged = copy_of(first)?;
    for (_, other) in others {
        merged.merge(&mut copy_of(other)?)?;
    }
    Ok(merged)
}

/// A copy to be consumed by a merge.
fn copy_of(raw: &F0Sketch<Presampled, RecordedHash>) -> Result<F0Sketch<Presampled, RecordedHash>, Error> {
    Ok(F0Sketch::from_sensitive_bytes(&raw.to_sensitive_bytes(), RecordedHash::new(raw.hash_id()))?)
}

pub(super) fn merge_private<M: Mode>(sketches: &[(&str, &PrivateF0Sketch<M>)]) -> Result<PrivateF0Sketch<M>, Error> {
    let sketches: Vec<&PrivateF0Sketch<M>> = sketches.iter().map(|(_, sketch)| *sketch).collect();
    Ok(PrivateF0Sketch::merge_all(&sketches)?)
}

/// Refuses raw streams with secret coins in common, copies and sums that one of them is in: equal coins cancel in the XOR, and the
/// union would miss whatever the two share. In mode `set` that is the right answer about the difference.
fn check_raw_coins(raws: &Named<'_, F0Sketch<Presampled, RecordedHash>>) -> Result<(), Error> {
    let mut seen: HashMap<CoinId, &str> = HashMap::new();
    for (name, raw) in raws {
        if let Some(first) = raw.coins().iter().find_map(|coin| seen.get(coin)) {
            return Err(F0Error::Copied { first: (*first).to_owned(), second: (*name).to_owned() }.into());
        }
        seen.extend(raw.coins().iter().map(|&coin| (coin, *name)));
    }
    Ok(())
}

/// Refuses releases of the same secret coins, such as of a day and of the week with that day.
fn check_private_coins<M: Mode>(sketches: &Named<'_, PrivateF0Sketch<M>>) -> Result<(), Error> {
    let mut seen = HashMap::new();
    for (name, (coin, second)) in sketches.iter().flat_map(|(name, sketch)| sketch.coins().map(move |of| (name, of))) {
        if let Some((other, first)) = seen.insert(coin, (name, second)) {
            let fault = Error::from(MergeError::SharedCoins { coin, first, second });
            return Err(fault.prefixed(&format!("{other} and {name}")).argument("FILE").value(*name));
        }
    }
    Ok(())
}

/// Checks that private sketches can be put together: one hash, shape and weight rule, and no release twice.
fn check_private<M: Mode>(sketches: &Named<'_, PrivateF0Sketch<M>>) -> Result<(), Error> {
    check_alike(sketches, |sketch| (sketch.hash_id(), sketch.shape(), sketch.weight_rule()))?;
    let mut seen = HashMap::new();
    for (name, leaf) in sketches.iter().flat_map(|(name, sketch)| sketch.leaves().iter().map(move |leaf| (name, leaf)))
    {
        if let Some(other) = seen.insert(leaf.id(), name) {
            let fault = Error::from(MergeError::RepeatedRelease { id: leaf.id() });
            return Err(fault.prefixed(&format!("{other} and {name}")).argument("FILE"));
        }
    }
    check_private_coins(sketches)
}

/// Checks that raw sketches can be put together.
fn check_raw<M: Mode>(raws: &Named<'_, F0Sketch<M, RecordedHash>>) -> Result<(), Error> {
    check_alike(raws, |raw| (raw.hash_id(), raw.shape(), raw.weight_rule()))?;
    let Some(((first_name, first), others)) = raws.split_first() else { return Ok(()) };
    for (name, raw) in others {
        if (first.unit(), raw.unit()) != (Unit::Item, Unit::Item) {
            return Err(misfit(MergeError::Unit { first: first.unit(), second: raw.unit() }, name, first_name));
        }
    }
    Ok(())
}

fn check_alike<'a, S>(
    sketches: &Named<'a, S>,
    frame: impl Fn(&'a S) -> (HashId, &'a F0Shape, WeightRule),
) -> Result<(), Error> {
    let Some(((first_name, first), others)) = sketches.split_first() else { return Ok(()) };
    let (hash, shape, rule) = frame(first);
    for (name, sketch) in others {
        let found = frame(sketch);
        let fault = if hash != found.0 {
            MergeError::Hash { expected: hash, found: found.0 }
        } else if shape != found.1 {
            MergeError::Shape { expected: shape.clone(), found: found.1.clone() }
        } else if rule != found.2 {
            MergeError::Weights { expected: rule, found: found.2 }
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
fn check_number<M: Mode>(sketches: &Named<'_, PrivateF0Sketch<M>>) -> Result<(), Error> {
    let found = sketches.iter().map(|(_, sketch)| sketch.leaves().len()).sum();
    if found > MAX_RELEASES {
        return Err(Error::from(MergeError::TooManyReleases { max: MAX_RELEASES, found }).argument("FILE"));
    }
    check_coins(sketches.iter().map(|(_, sketch)| sketch.coins().len()).sum())
}

/// Checks that one sketch can record so many coins.
fn check_coins(found: usize) -> Result<(), Error> {
    if found <= MAX_COINS {
        return Ok(());
    }
    Err(Error::from(MergeError::TooManyCoins { max: MAX_COINS, found }).argument("FILE"))
}

/// Sketches of both modes.
fn mixed_modes(sketches: &[(&str, &AnyF0Sketch)], name: &str, found: ModeKind) -> Error {
    let (first, expected) = sketches.first().map_or(("", found), |(name, sketch)| (*name, sketch.mode()));
    Error::new(ErrorKind::Incompatible, format!("{first} is of mode {expected} and {name} of mode {found}"))
        .argument("FILE")
        .value(name)
        .allowed(format!("sketches of mode {expected}"))
        .hint("all parties must build with the same --mode")
}

/// A sketch of another kind where an F0 sketch was wanted.
pub(crate) fn not_f0(name: &str, kind: &str) -> Error {
    Error::new(ErrorKind::Incompatible, format!("{name} is a sketch of kind {kind}, not of kind f0"))
        .argument("FILE")
        .value(name)
        .allowed("sketches of kind f0")
}

fn none_named() -> Error {
    Error::new(ErrorKind::Parameter, "no sketch was named").argument("FILE")
}
