//! Records to a raw sketch, one record the unit of privacy.

use core::fmt;

use countsketch_dp::CountSketch;
use sketch_hash::{AnyHash, Domain, Item, KeyedHash};
use zeroize::{Zeroize, Zeroizing};

use super::counts::{Excess, FrequencyCounts};
use super::error::FrequencyError;
use super::raw::RawCountSketch;
use super::terms::CountSketchTerms;
use super::weight::weight_units;
use crate::builder::clean;
use crate::error::Error;
use crate::row_hasher::RowHasher;
use crate::text::TextRules;

/// Records that are added in one go.
const BATCH: usize = 256;

/// Builds a raw frequency sketch from records as they come, each of which is a unit of privacy.
///
/// A record has an item, of one or several values hashed as [`DistinctBuilder`](crate::DistinctBuilder) hashes them, and a
/// weight: 1, or a number that is rounded to the grid ([`weight_units`]) and then held against the declared maximum.
/// Records with a missing value or weight are left out and counted. Several builders can work on parts of the data;
/// [`absorb`](Self::absorb) puts them together, and the result is the same to the byte as that of one.
///
/// A failure gives the whole build up: every later call fails, too. Going on without one record would let it decide
/// whether others are counted.
///
/// # Privacy
/// What is built can be released for **one record**. Somebody with many records is protected by that many times the level;
/// for users as the unit see [`UserFrequencyBuilder`](crate::UserFrequencyBuilder). Row counts are exact and not private.
///
/// # Examples
/// ```
/// use dpsketch::countsketch_dp::{CountSketchShape, Granularity};
/// use dpsketch::sketch_hash::{AnyHash, Item};
/// use dpsketch::{CountSketchTerms, Excess, FrequencyBuilder, TextRules};
///
/// let terms = CountSketchTerms::records(CountSketchShape::new(5, 256)?, Granularity::ONE, 10)?;
/// let mut builder = FrequencyBuilder::new(terms, AnyHash::default(), TextRules::default())?.with_excess(Excess::Clip);
/// builder.push_texts(["apples", "pears", "apples"])?;
/// builder.push_weighted_row([Some(Item::from("apples"))], Some(Item::from("12")))?;
/// builder.push_weighted_row([Some(Item::from("apples"))], None)?;
/// let counts = builder.counts();
/// assert_eq!((counts.rows, counts.nulls, counts.clipped), (5, 1, 1));
/// let raw = builder.finish()?;
/// assert_eq!(raw.releases(), 0);
/// # Ok::<(), dpsketch::Error>(())
/// ```
pub struct FrequencyBuilder {
    sketch: CountSketch<AnyHash>,
    rows: RowHasher,
    excess: Excess,
    counts: FrequencyCounts,
    keys: Zeroizing<Vec<u64>>,
    weights: Zeroizing<Vec<i64>>,
    /// The cleaned weight; used again from row to row.
    weight_text: Zeroizing<String>,
    given_up: bool,
}

/// Terms and hash only: what was counted, and how much, is raw.
impl fmt::Debug for FrequencyBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrequencyBuilder")
            .field("terms", &self.terms())
            .field("hash", &self.sketch.hash_id())
            .finish_non_exhaustive()
    }
}

impl FrequencyBuilder {
    /// An empty sketch to be filled. `rules` apply to text only.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter), with [`FrequencyError::Unit`] as source, for terms that bound users.
    pub fn new(terms: CountSketchTerms, hash: AnyHash, rules: TextRules) -> Result<Self, Error> {
        if terms.bound().is_user() {
            return Err(FrequencyError::Unit { expected: "records", found: terms.unit() }.into());
        }
        let sketch = CountSketch::with_granularity(terms.shape(), hash.clone(), terms.bound(), terms.granularity());
        Ok(Self {
            sketch,
            rows: RowHasher::new(hash, rules),
            excess: Excess::default(),
            counts: FrequencyCounts::default(),
            keys: Zeroizing::new(Vec::with_capacity(BATCH)),
            weights: Zeroizing::new(Vec::with_capacity(BATCH)),
            weight_text: Zeroizing::default(),
            given_up: false,
        })
    }

    /// Chooses what to do with records that weigh too much.
    #[must_use]
    pub fn with_excess(self, excess: Excess) -> Self {
        Self { excess, ..self }
    }

    /// Shape, grid and bound.
    #[must_use]
    pub const fn terms(&self) -> CountSketchTerms {
        CountSketchTerms::new(self.sketch.shape(), self.sketch.granularity(), self.sketch.bound())
    }

    /// Rows seen so far.
    #[must_use]
    pub const fn counts(&self) -> FrequencyCounts {
        self.counts
    }

    /// Counts texts as items of weight 1, one a row.
    ///
    /// # Errors
    /// As [`push_row`](Self::push_row).
    pub fn push_texts<'a>(&mut self, texts: impl IntoIterator<Item = &'a str>) -> Result<(), Error> {
        if self.rows.rules().is_identity() {
            return self.push_slices(texts.into_iter().map(str::as_bytes));
        }
        texts.into_iter().try_for_each(|text| self.push_row([Some(Item::Text(text))]))
    }

    /// Counts byte strings as items of weight 1, one a row. Text rules do not apply.
    ///
    /// # Errors
    /// As [`push_row`](Self::push_row).
    pub fn push_slices<'a>(&mut self, slices: impl IntoIterator<Item = &'a [u8]>) -> Result<(), Error> {
        let mut slices = slices.into_iter();
        let mut batch: Vec<&[u8]> = Vec::with_capacity(BATCH);
        let mut hashes = Zeroizing::new([0; BATCH]);
        loop {
            batch.clear();
            batch.extend(slices.by_ref().take(BATCH));
            let hashes = &mut hashes[..batch.len()];
            self.rows.hash_function().hash64_slices(Domain::Bytes, &batch, hashes);
            self.push_hashes(hashes)?;
            if hashes.len() < BATCH {
                return Ok(());
            }
        }
    }

    /// Counts one row of weight 1: the value itself if there is one column, else all of them together.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`](crate::ErrorKind::Refused), with [`FrequencyError`] as source: [`TooHeavy`](FrequencyError::TooHeavy) where 1 is more than
    /// the declared maximum, [`Overflow`](FrequencyError::Overflow) where a counter would overflow, and
    /// [`GivenUp`](FrequencyError::GivenUp) after any of them.
    pub fn push_row<'a>(
        &mut self,
        values: impl IntoIterator<Item = Option<Item<'a>>, IntoIter: ExactSizeIterator>,
    ) -> Result<(), Error> {
        match self.rows.hash(values) {
            Some(hash) => self.push_hashes(&[hash]),
            None => self.push_nulls(1),
        }
    }

    /// Adds a weight, a number or its text, to the item of one row.
    ///
    /// # Errors
    /// As [`push_row`](Self::push_row), and [`ErrorKind::Damaged`](crate::ErrorKind::Damaged) with
    /// [`FrequencyError::NotANumber`] as source for any other weight.
    pub fn push_weighted_row<'a>(
        &mut self,
        values: impl IntoIterator<Item = Option<Item<'a>>, IntoIter: ExactSizeIterator>,
        weight: Option<Item<'_>>,
    ) -> Result<(), Error> {
        let hash = self.rows.hash(values);
        self.push_weighted(hash, weight)
    }

    /// Passes over rows that have no value.
    ///
    /// # Errors
    /// As [`push_row`](Self::push_row) once the build was given up.
    pub fn push_nulls(&mut self, rows: u64) -> Result<(), Error> {
        self.check()?;
        self.counts.rows += rows;
        self.counts.nulls += rows;
        Ok(())
    }

    /// Takes over everything another builder has seen.
    ///
    /// # Errors
    /// [`ErrorKind::Incompatible`](crate::ErrorKind::Incompatible) when terms or hashes differ; otherwise as
    /// [`push_row`](Self::push_row), also when the other build was given up.
    pub fn absorb(&mut self, mut other: Self) -> Result<(), Error> {
        self.flush()?;
        other.flush()?;
        match self.sketch.merge(&other.sketch) {
            Err(countsketch_dp::MergeError::Overflow) => Err(self.give_up(FrequencyError::Overflow)),
            done => {
                done?;
                self.counts.rows += other.counts.rows;
                self.counts.nulls += other.counts.nulls;
                self.counts.clipped += other.counts.clipped;
                self.counts.zeroed += other.counts.zeroed;
                Ok(())
            }
        }
    }

    /// The raw sketch.
    ///
    /// # Errors
    /// As [`push_row`](Self::push_row).
    pub fn finish(mut self) -> Result<RawCountSketch, Error> {
        self.flush()?;
        RawCountSketch::try_from(&self.sketch)
    }

    #[cfg(feature = "arrow")]
    pub(crate) fn hash(&self) -> &AnyHash {
        self.rows.hash_function()
    }

    #[cfg(feature = "arrow")]
    pub(crate) fn rules(&self) -> &TextRules {
        self.rows.rules()
    }

    /// Counts items of weight 1 by their hashes.
    pub(crate) fn push_hashes(&mut self, hashes: &[u64]) -> Result<(), Error> {
        // 2^52 grid units at most.
        let one = 1_i64 << self.sketch.granularity().exponent();
        hashes.iter().try_for_each(|hash| self.push_units(*hash, one))
    }

    /// Adds a weight, both unless missing.
    pub(crate) fn push_weighted(&mut self, hash: Option<u64>, weight: Option<Item<'_>>) -> Result<(), Error> {
        self.check()?;
        let weight = weight.and_then(|weight| clean(self.rows.rules(), weight, &mut self.weight_text));
        let units = weight.as_ref().map(|weight| weight_units(weight, self.sketch.granularity()));
        if let (Some(weight), Some(Some(units)), Some(_)) = (&weight, units, hash) {
            self.counts.note_rounding(weight, units);
        }
        match (hash, units) {
            (_, Some(None)) => Err(self.give_up(FrequencyError::NotANumber { row: self.counts.rows + 1 })),
            (Some(hash), Some(Some(units))) => self.push_units(hash, units),
            _ => self.push_nulls(1),
        }
    }

    /// Adds a weight in grid units.
    fn push_units(&mut self, hash: u64, units: i64) -> Result<(), Error> {
        self.check()?;
        let max = self.sketch.bound().max_weight();
        let heavy = units.unsigned_abs() > max;
        if heavy && self.excess == Excess::Refuse {
            let max = in_units_of_weight(max, self.sketch.granularity().step());
            return Err(self.give_up(FrequencyError::TooHeavy { row: self.counts.rows + 1, max }));
        }
        // A bound on records is at most 2^63 - 1.
        let limit = i64::try_from(max).unwrap_or(i64::MAX);
        self.counts.rows += 1;
        self.counts.clipped += u64::from(heavy);
        self.keys.push(hash);
        self.weights.push(units.clamp(-limit, limit));
        if self.keys.len() == BATCH { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.check()?;
        let done = self.sketch.update_weighted_hashes(&self.keys, &self.weights);
        // Wiped and emptied; their room stays.
        self.keys.zeroize();
        self.weights.zeroize();
        self.given_up = done.is_err();
        done.map_err(Error::from)
    }

    fn give_up(&mut self, error: FrequencyError) -> Error {
        self.given_up = true;
        error.into()
    }

    fn check(&self) -> Result<(), FrequencyError> {
        if self.given_up { Err(FrequencyError::GivenUp) } else { Ok(()) }
    }
}

/// A whole number of grid units, for a message.
#[expect(clippy::cast_precision_loss, reason = "shown only")]
pub(super) fn in_units_of_weight(units: u64, step: f64) -> f64 {
    units as f64 * step
}

#[cfg(test)]
mod tests;
