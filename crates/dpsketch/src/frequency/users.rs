//! Records to a raw sketch, one user the unit of privacy.

use core::fmt;

use countsketch_dp::{CountSketch, UserContribution};
use sketch_hash::{AnyHash, HashKey, Item};
use zeroize::Zeroizing;

use super::counts::{FrequencyCounts, vanishes};
use super::error::FrequencyError;
use super::raw::RawCountSketch;
use super::terms::CountSketchTerms;
use super::weight::weight_units;
use crate::builder::clean;
use crate::error::Error;
use crate::row_hasher::RowHasher;
use crate::text::TextRules;
use crate::user_bound::{MaxItems, SpillSettings, UserCounts, WeightedUserBound};

/// Builds a raw frequency sketch of what a bound leaves of each user, so that a release can protect users.
///
/// Rows have a user and a weight beside the values that make the item. All weights of one user for one item are added up;
/// of a user with more items than the bound allows, those of smallest rank are kept ([`WeightedUserBound`]); each of them is
/// brought into the bound on weights; and where the terms clip, the last items are left out until the user's own cells are
/// within the squared norm ([`UserContribution`]). What is kept of a user depends on that user's rows and the key alone.
///
/// A row without user, item or weight is left out: nothing bounds how many of them belong to one person. The text rules
/// apply to users, too, so that two spellings of one user do not get two shares. As with
/// [`FrequencyBuilder`](crate::FrequencyBuilder) a failure gives the whole build up.
///
/// # Privacy
/// What is built says in its file whom it bounds, and is released for adding or removing **one user with all rows**. Several
/// raw sketches of the same users add up to a bound of several parts. Row counts are exact and not private.
///
/// # Examples
/// ```
/// use dpsketch::countsketch_dp::{CountSketchShape, Granularity};
/// use dpsketch::sketch_hash::{AnyHash, HashKey, Item};
/// use dpsketch::{Clipping, CountSketchTerms, TextRules, UserFrequencyBuilder};
///
/// let shape = CountSketchShape::new(5, 256)?;
/// let terms = CountSketchTerms::users(shape, Granularity::ONE, 2, 1, Clipping::Auto)?;
/// let mut builder = UserFrequencyBuilder::sorted(terms, AnyHash::default(), TextRules::default(), HashKey::DEFAULT)?;
/// for (user, query) in [("ann", "flu"), ("ann", "tax"), ("ann", "sea"), ("bob", "flu")] {
///     builder.push_row(Some(Item::from(user)), [Some(Item::from(query))])?;
/// }
/// let (raw, users) = builder.finish()?;
/// assert_eq!((users.users, users.kept), (2, 3)); // two items of ann, one of bob
/// assert!(raw.bound().is_user());
/// # Ok::<(), dpsketch::Error>(())
/// ```
pub struct UserFrequencyBuilder {
    sketch: CountSketch<AnyHash>,
    rows: RowHasher,
    bound: WeightedUserBound,
    counts: FrequencyCounts,
    /// The cleaned user and weight; used again from row to row.
    user: Zeroizing<String>,
    weight_text: Zeroizing<String>,
    given_up: bool,
}

/// Terms and hash only: what was counted, and how much, is raw.
impl fmt::Debug for UserFrequencyBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UserFrequencyBuilder")
            .field("terms", &self.terms())
            .field("hash", &self.sketch.hash_id())
            .finish_non_exhaustive()
    }
}

impl UserFrequencyBuilder {
    /// For input in which the rows of each user stand together; see [`UserBound::sorted`](crate::UserBound::sorted). `key`
    /// decides which items of a user are kept.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter), with [`FrequencyError::Unit`] as source, for terms that bound
    /// no number of items of a user.
    pub fn sorted(terms: CountSketchTerms, hash: AnyHash, rules: TextRules, key: HashKey) -> Result<Self, Error> {
        Ok(Self::new(terms, hash, rules, WeightedUserBound::sorted(max_items(&terms)?, key)))
    }

    /// For input in any order; see [`UserBound::spilling`](crate::UserBound::spilling).
    ///
    /// # Errors
    /// As [`sorted`](Self::sorted), and as [`UserBound::spilling`](crate::UserBound::spilling).
    pub fn spilling(
        terms: CountSketchTerms,
        hash: AnyHash,
        rules: TextRules,
        key: HashKey,
        settings: SpillSettings,
    ) -> Result<Self, Error> {
        Ok(Self::new(terms, hash, rules, WeightedUserBound::spilling(max_items(&terms)?, key, settings)?))
    }

    fn new(terms: CountSketchTerms, hash: AnyHash, rules: TextRules, bound: WeightedUserBound) -> Self {
        let sketch = CountSketch::with_granularity(terms.shape(), hash.clone(), terms.bound(), terms.granularity());
        Self {
            sketch,
            rows: RowHasher::new(hash, rules),
            bound,
            counts: FrequencyCounts::default(),
            user: Zeroizing::default(),
            weight_text: Zeroizing::default(),
            given_up: false,
        }
    }

    /// Shape, grid and bound.
    #[must_use]
    pub const fn terms(&self) -> CountSketchTerms {
        CountSketchTerms::new(self.sketch.shape(), self.sketch.granularity(), self.sketch.bound())
    }

    /// Rows seen so far. None counts as clipped: bounds hold for users, not for rows.
    #[must_use]
    pub const fn counts(&self) -> FrequencyCounts {
        self.counts
    }

    /// Takes one row of weight 1.
    ///
    /// # Errors
    /// As [`UserBound::push`](crate::UserBound::push), and [`ErrorKind::Refused`](crate::ErrorKind::Refused) with
    /// [`FrequencyError`] as source when a counter would overflow or the build was given up.
    pub fn push_row<'a>(
        &mut self,
        user: Option<Item<'_>>,
        values: impl IntoIterator<Item = Option<Item<'a>>, IntoIter: ExactSizeIterator>,
    ) -> Result<(), Error> {
        let one = 1_i64 << self.sketch.granularity().exponent();
        let item = self.rows.hash(values);
        self.push(user, item, Some(one))
    }

    /// Takes one row with a weight, a number or its text.
    ///
    /// # Errors
    /// As [`push_row`](Self::push_row), and [`ErrorKind::Damaged`](crate::ErrorKind::Damaged) with
    /// [`FrequencyError::NotANumber`] as source for any other weight.
    pub fn push_weighted_row<'a>(
        &mut self,
        user: Option<Item<'_>>,
        values: impl IntoIterator<Item = Option<Item<'a>>, IntoIter: ExactSizeIterator>,
        weight: Option<Item<'_>>,
    ) -> Result<(), Error> {
        let item = self.rows.hash(values);
        let weight = weight.and_then(|weight| clean(self.rows.rules(), weight, &mut self.weight_text));
        let units = weight.as_ref().map(|weight| weight_units(weight, self.sketch.granularity()));
        let lost = matches!((&weight, units), (Some(weight), Some(Some(units))) if vanishes(weight, units));
        if units == Some(None) {
            self.given_up = true;
            return Err(FrequencyError::NotANumber { row: self.counts.rows + 1 }.into());
        }
        let nulls = self.counts.nulls;
        self.push(user, item, units.flatten())?;
        // Not of a row that is left out for another reason.
        self.counts.zeroed += u64::from(lost && self.counts.nulls == nulls);
        Ok(())
    }

    fn push(&mut self, user: Option<Item<'_>>, item: Option<u64>, weight: Option<i64>) -> Result<(), Error> {
        if self.given_up {
            return Err(FrequencyError::GivenUp.into());
        }
        self.counts.rows += 1;
        let user = user.and_then(|user| clean(self.rows.rules(), user, &mut self.user));
        if let (Some(user), Some(item), Some(weight)) = (user, item, weight) {
            let sketch = &mut self.sketch;
            let done = self.bound.push(user, item, weight, |items| add_user(sketch, items));
            self.given_up = done.is_err();
            return done;
        }
        self.counts.nulls += 1;
        self.bound.skip_rows(1);
        Ok(())
    }

    /// The raw sketch, and what the bound on items came to.
    ///
    /// # Errors
    /// As [`UserBound::finish`](crate::UserBound::finish) and [`push_row`](Self::push_row).
    pub fn finish(mut self) -> Result<(RawCountSketch, UserCounts), Error> {
        if self.given_up {
            return Err(FrequencyError::GivenUp.into());
        }
        let users = self.bound.finish(|items| add_user(&mut self.sketch, items))?;
        Ok((RawCountSketch::try_from(&self.sketch)?, users))
    }
}

/// Adds all items of one user, none twice.
fn add_user(sketch: &mut CountSketch<AnyHash>, items: &[(u64, i128)]) -> Result<(), Error> {
    let mut user = UserContribution::new(sketch.hash().clone());
    for &(item, weight) in items {
        // Weights beyond 63 bits are beyond every bound, too.
        let weight = weight.clamp(-i128::from(i64::MAX), i128::from(i64::MAX));
        user.add_hash(item, i64::try_from(weight).unwrap_or(i64::MAX));
    }
    Ok(sketch.add_user(user)?)
}

fn max_items(terms: &CountSketchTerms) -> Result<MaxItems, Error> {
    let wrong = || FrequencyError::Unit { expected: "users with a largest number of items", found: terms.unit() };
    let items = terms.bound().max_items().filter(|_| terms.bound().is_user()).ok_or_else(wrong)?;
    Ok(MaxItems::new(items)?)
}

#[cfg(test)]
mod tests;
