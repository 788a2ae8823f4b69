//! Rows to a raw sketch.

use core::fmt;

use std::sync::Arc;

use dp_noise::{NoiseRng, Subsampler};
use f0_sketch::{F0Sketch, ModeKind, Presampled, RawSubsampledF0, Set};
use sketch_hash::{AnyHash, HashId, Item, KeyedHash};
use zeroize::Zeroizing;

use super::counts::{F0Counts, WeightConflict};
use super::error::F0Error;
use super::members::Members;
use super::raw::RawF0Sketch;
use super::rows::toggle;
use super::terms::F0Terms;
use crate::error::{Error, ErrorKind};
use crate::row_hasher::RowHasher;
use crate::subsampled::RawSubsampled;
use crate::text::TextRules;
use crate::user_bound::SpillSettings;

/// Builds a raw F0 sketch from rows as they come.
///
/// An XOR sketch delivers parities, so a row that comes twice would cancel. There are three ways of reading rows, each of
/// which does something about it:
///
/// | builder | mode | a row | repeats |
/// |---|---|---|---|
/// | [`set`](Self::set) | `set` | says that its item is in the set | are found and count once, over all of the input |
/// | [`operations`](Self::operations) | `set` | inserts or deletes its item | toggle: an item has to be absent when it is inserted, and there when it is deleted |
/// | [`presampled`](Self::presampled) | `presampled` | is an occurrence of its item | each is kept by a secret fair coin of its own, so that they are free |
///
/// A row has an item, of one or several values hashed as [`DistinctBuilder`](crate::DistinctBuilder) hashes them (in 128 bits);
/// where the [terms](F0Terms) have weights, a weight; and where rows are operations, one of those. Rows with a missing value
/// or weight are left out and counted; a missing or unknown operation is refused. Weights above the largest are clipped to
/// it and counted. Several builders can work on parts of the data; [`absorb`](Self::absorb) puts them together.
///
/// An item has **one** weight. Where rows are de-duplicated, different ones are refused at the end, or the largest counts
/// ([`with_conflict`](Self::with_conflict)); occurrences of different weight in mode `presampled` count with the largest, too. A delete has
/// to have the weight of its insert, else the difference of both stays.
///
/// A failure gives the whole build up: every later call fails, too.
///
/// # Privacy
/// What is built can be released for **one item** with all of its rows and weights: level and cell of an item do not depend
/// on its weight, so that rows of one item, whatever they are, change one cell. Row counts are exact and not private.
/// The temporary file of a de-duplication is as sensitive as the raw data; see [`UserBound`](crate::UserBound).
///
/// # Examples
/// ```
/// use dpsketch::f0_sketch::F0Shape;
/// use dpsketch::sketch_hash::{AnyHash, Item};
/// use dpsketch::{F0Builder, F0Terms, SpillSettings, TextRules};
///
/// let terms = F0Terms::unit(F0Shape::new(8, 64)?);
/// let (hash, rules) = (AnyHash::default(), TextRules::default());
/// let mut set = F0Builder::set(terms.clone(), hash.clone(), rules.clone(), SpillSettings::default())?;
/// set.push_texts(["ann", "bob", "ann"])?;
/// let (set, counts) = set.finish()?;
/// assert_eq!((counts.rows, counts.items), (3, Some(2)));
///
/// let mut changes = F0Builder::operations(terms, hash, rules);
/// for (operation, name) in [("+", "ann"), ("+", "eve"), ("-", "eve"), ("+", "bob")] {
///     changes.push_row_with([Some(Item::from(name))], None, Some(Item::from(operation)))?;
/// }
/// assert_eq!(changes.finish()?.0, set, "the same set");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct F0Builder {
    pub(super) input: Input,
    pub(super) terms: F0Terms,
    pub(super) rows: RowHasher,
    conflict: WeightConflict,
    /// Which items are kept, where not all are.
    pub(super) coins: Option<Arc<Subsampler>>,
    pub(super) counts: F0Counts,
    /// The cleaned weight; used again from row to row.
    pub(super) weight_text: Zeroizing<String>,
    pub(super) given_up: bool,
}

/// How rows are read.
pub(super) enum Input {
    Set { sketch: F0Sketch<Set, AnyHash>, members: Members },
    Operations(F0Sketch<Set, AnyHash>),
    Presampled { sketch: F0Sketch<Presampled, AnyHash>, coins: NoiseRng },
}

/// What was built.
enum Built {
    Set(F0Sketch<Set, AnyHash>),
    Presampled(F0Sketch<Presampled, AnyHash>),
}

/// Terms, mode and hash only: what was counted, and how much, is raw.
impl fmt::Debug for F0Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("F0Builder")
            .field("mode", &self.mode())
            .field("terms", &self.terms)
            .field("hash", &self.hash_id())
            .finish_non_exhaustive()
    }
}

impl F0Builder {
    /// For rows that are members of a set, in any order and any number. `settings` say where and with how much memory they
    /// are de-duplicated; a row takes 24 bytes.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] when the memory is less than 64 KiB or more than there is.
    pub fn set(terms: F0Terms, hash: AnyHash, rules: TextRules, settings: SpillSettings) -> Result<Self, Error> {
        let sketch = F0Sketch::new(terms.shape().clone(), terms.rule(), hash.clone());
        let members = Members::new(settings)?;
        Ok(Self::new(Input::Set { sketch, members }, terms, hash, rules))
    }

    /// For rows that insert and delete items. Nothing but the sketch is kept.
    #[must_use]
    pub fn operations(terms: F0Terms, hash: AnyHash, rules: TextRules) -> Self {
        let sketch = F0Sketch::new(terms.shape().clone(), terms.rule(), hash.clone());
        Self::new(Input::Operations(sketch), terms, hash, rules)
    }

    /// For rows that are occurrences. The coins come from the operating system and are not kept.
    ///
    /// # Errors
    /// [`ErrorKind::Entropy`] when the operating system gives no randomness.
    pub fn presampled(terms: F0Terms, hash: AnyHash, rules: TextRules) -> Result<Self, Error> {
        let mut sketch = F0Sketch::new(terms.shape().clone(), terms.rule(), hash.clone());
        let mut coins = NoiseRng::from_os()?;
        // Before any row, so that nothing tells whether there was one.
        sketch.rename_coins(&mut coins)?;
        Ok(Self::new(Input::Presampled { sketch, coins }, terms, hash, rules))
    }

    fn new(input: Input, terms: F0Terms, hash: AnyHash, rules: TextRules) -> Self {
        Self {
            input,
            terms,
            rows: RowHasher::new(hash, rules),
            conflict: WeightConflict::default(),
            coins: None,
            counts: F0Counts::default(),
            weight_text: Zeroizing::default(),
            given_up: false,
        }
    }

    /// Chooses what to do with an item of different weights while a set is de-duplicated.
    #[must_use]
    pub fn with_conflict(self, conflict: WeightConflict) -> Self {
        Self { conflict, ..self }
    }

    /// Keeps the items of a secret sample only, in mode `set`; to be said before the first row. It ends with
    /// [`finish_sample`](Self::finish_sample).
    ///
    /// # Privacy
    /// See [`SubsampleKey`](dp_noise::SubsampleKey): who must not have the key, and what several sketches under it cost.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] in mode `presampled`, whose coins are others, and after the first row.
    ///
    /// # Examples
    /// ```
    /// use std::sync::Arc;
    ///
    /// use dpsketch::dp_noise::{SampleRate, SubsampleKey};
    /// use dpsketch::f0_sketch::F0Shape;
    /// use dpsketch::sketch_hash::AnyHash;
    /// use dpsketch::{F0Builder, F0Terms, SpillSettings, TextRules};
    ///
    /// let coins = Arc::new(SubsampleKey::from_bytes([7; 32]).sampler(SampleRate::new(0.1)?)); // a secret key in earnest
    /// let (terms, hash) = (F0Terms::unit(F0Shape::DEFAULT), AnyHash::default());
    /// let builder = F0Builder::set(terms, hash, TextRules::default(), SpillSettings::default())?;
    /// let mut builder = builder.with_sample(coins)?;
    /// builder.push_texts(["ann", "bob", "ann"])?;
    /// let (raw, counts) = builder.finish_sample()?;
    /// assert_eq!((counts.items, raw.sampling().rate.get()), (Some(2), 0.1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_sample(self, coins: Arc<Subsampler>) -> Result<Self, Error> {
        if self.mode() == ModeKind::Presampled || self.counts.rows > 0 {
            return Err(F0Error::Input {
                expected: "a sample of a set, from the first row on",
                found: "a stream with coins of its own, or rows",
            }
            .into());
        }
        Ok(Self { coins: Some(coins), ..self })
    }

    /// Shape and weight rule.
    #[must_use]
    pub const fn terms(&self) -> &F0Terms {
        &self.terms
    }

    /// Whether items are held as a set, or by pre-sampling.
    #[must_use]
    pub const fn mode(&self) -> ModeKind {
        match self.input {
            Input::Set { .. } | Input::Operations(_) => ModeKind::Set,
            Input::Presampled { .. } => ModeKind::Presampled,
        }
    }

    /// Which hash function and key items go through.
    #[must_use]
    pub fn hash_id(&self) -> HashId {
        self.rows.hash_function().id()
    }

    /// Rows seen so far.
    #[must_use]
    pub const fn counts(&self) -> F0Counts {
        self.counts
    }

    /// Takes texts as items, one a row.
    ///
    /// # Errors
    /// As [`push_row`](Self::push_row).
    pub fn push_texts<'a>(&mut self, texts: impl IntoIterator<Item = &'a str>) -> Result<(), Error> {
        texts.into_iter().try_for_each(|text| self.push_row([Some(Item::Text(text))]))
    }

    /// Takes one row without weight and operation: the value itself if there is one column, else all of them together.
    ///
    /// # Errors
    /// As [`push_row_with`](Self::push_row_with).
    pub fn push_row<'a>(
        &mut self,
        values: impl IntoIterator<Item = Option<Item<'a>>, IntoIter: ExactSizeIterator>,
    ) -> Result<(), Error> {
        let item = self.rows.hash128(values);
        self.push(item, None, None)
    }

    /// Takes one row: values, a weight where the terms have weights, and an operation where rows are operations. `None` stands for a
    /// missing weight.
    ///
    /// # Errors
    /// [`ErrorKind::Damaged`] with [`F0Error::NotAWeight`] or [`F0Error::NotAnOperation`] as source;
    /// [`ErrorKind::Parameter`] for a weight or an operation that the builder does not take; [`ErrorKind::Io`] when the disk is
    /// full; and [`ErrorKind::Refused`] with [`F0Error::GivenUp`] after any of them.
    pub fn push_row_with<'a>(
        &mut self,
        values: impl IntoIterator<Item = Option<Item<'a>>, IntoIter: ExactSizeIterator>,
        weight: Option<Item<'_>>,
        operation: Option<Item<'_>>,
    ) -> Result<(), Error> {
        let item = self.rows.hash128(values);
        self.push(item, weight, operation)
    }

    /// Passes over rows that have no value.
    ///
    /// # Errors
    /// [`F0Error::GivenUp`] as source once the build was given up.
    pub fn push_nulls(&mut self, rows: u64) -> Result<(), Error> {
        self.check()?;
        self.counts.rows += rows;
        self.counts.nulls += rows;
        Ok(())
    }

    /// Takes over everything another builder has seen. A set stays de-duplicated over both.
    ///
    /// # Errors
    /// [`ErrorKind::Incompatible`] when terms, hashes or ways of reading differ; otherwise as
    /// [`push_row_with`](Self::push_row_with), also when the other build was given up.
    pub fn absorb(&mut self, other: Self) -> Result<(), Error> {
        self.check()?;
        other.check()?;
        match (&self.coins, &other.coins) {
            (None, None) => {}
            (Some(own), Some(others)) => own.sampling().check(others.sampling())?,
            _ => return Err(Error::new(ErrorKind::Incompatible, "one builder keeps all items, the other a sample")),
        }
        match (&mut self.input, other.input) {
            (Input::Set { sketch, members }, Input::Set { sketch: empty, members: more }) => {
                // Both are empty until the end: this compares terms and hashes.
                sketch.merge(&empty)?;
                let done = members.absorb(more);
                self.given_up = done.is_err();
                done?;
            }
            (Input::Operations(sketch), Input::Operations(more)) => sketch.merge(&more)?,
            (Input::Presampled { sketch, .. }, Input::Presampled { sketch: mut more, .. }) => {
                sketch.merge(&mut more)?;
            }
            _ => return Err(Error::new(ErrorKind::Incompatible, "the builders read their rows in different ways")),
        }
        self.counts = self.counts.plus(other.counts);
        Ok(())
    }

    /// The raw sketch, and what its rows came to.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] with [`F0Error::Conflict`] as source for items of different weights, unless
    /// [`WeightConflict::Largest`] was chosen; [`ErrorKind::Parameter`] for a [sample](Self::with_sample); otherwise as
    /// [`push_row_with`](Self::push_row_with).
    pub fn finish(self) -> Result<(RawF0Sketch, F0Counts), Error> {
        if self.coins.is_some() {
            return Err(F0Error::Input { expected: "finish_sample for a sample", found: "finish" }.into());
        }
        let (built, counts) = self.end()?;
        let raw = match built {
            Built::Set(sketch) => RawF0Sketch::of_set(&sketch)?,
            Built::Presampled(sketch) => RawF0Sketch::of_stream(&sketch)?,
        };
        Ok((raw, counts))
    }

    /// The raw sketch of a [sample](Self::with_sample), and what its rows came to; the counts are of all items.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] where all items were kept; otherwise as [`finish`](Self::finish).
    pub fn finish_sample(self) -> Result<(RawSubsampled, F0Counts), Error> {
        let sampling = self.coins.as_ref().map(|coins| coins.sampling());
        if let (Some(sampling), (Built::Set(sketch), counts)) = (sampling, self.end()?)
            && let Some(raw) = RawSubsampledF0::from_sample(sketch, sampling)
        {
            return Ok((RawSubsampled::of_f0(&raw)?, counts));
        }
        Err(F0Error::Input { expected: "finish for all items", found: "finish_sample" }.into())
    }

    fn end(mut self) -> Result<(Built, F0Counts), Error> {
        self.check()?;
        let coins = self.coins.as_deref();
        let built = match self.input {
            Input::Set { mut sketch, members } => {
                let found = members.finish(|item, weight| toggle(&mut sketch, item, weight, coins))?;
                self.counts.items = Some(found.items);
                self.counts.conflicts = found.conflicts;
                if found.conflicts > 0 && self.conflict == WeightConflict::Refuse {
                    return Err(F0Error::Conflict { items: found.conflicts }.into());
                }
                Built::Set(sketch)
            }
            Input::Operations(sketch) => Built::Set(sketch),
            Input::Presampled { mut sketch, mut coins } => {
                // The parts of several threads are gone: what is left has one name, however many there were.
                sketch.rename_coins(&mut coins)?;
                Built::Presampled(sketch)
            }
        };
        Ok((built, self.counts))
    }
}
