//! Records to a raw stack.

use core::fmt;

use countsketch_dp::{ContributionBound, Granularity, PrefixLayout, PrefixStack};
use sketch_hash::{AnyHash, HashKey, Item};
use zeroize::Zeroizing;

use super::key::PrefixKeys;
use super::raw::RawPrefixStack;
use crate::builder::clean;
use crate::error::Error;
use crate::frequency::builder::in_units_of_weight;
use crate::frequency::counts::{Excess, FrequencyCounts, vanishes};
use crate::frequency::error::FrequencyError;
use crate::frequency::weight::weight_units;
use crate::text::TextRules;
use crate::user_bound::{MaxItems, SpillSettings, UserCounts, WeightedUserBound};

/// Builds a raw stack of prefixes from records, or from bounded users: frequent keys can be found in its release without a list
/// of candidates.
///
/// The rules are those of [`FrequencyBuilder`](crate::FrequencyBuilder) and of
/// [`UserFrequencyBuilder`](crate::UserFrequencyBuilder): weights on a grid, the same two ways for users, and a failure gives
/// the build up. An item without a key ([`PrefixKeys`]) is left out like a missing one. Users are not clipped in the cells.
///
/// # Privacy
/// One record, or one user with all rows, touches every level; the levels share one budget.
///
/// # Examples
/// ```
/// use dpsketch::countsketch_dp::{ContributionBound, CountSketchShape, Granularity, PrefixLayout};
/// use dpsketch::sketch_hash::{AnyHash, Item};
/// use dpsketch::{PrefixBuilder, PrefixKeys, TextRules};
///
/// let keys = PrefixKeys::text(4)?;
/// let layout = PrefixLayout::new(keys.bits(), 8, CountSketchShape::new(5, 256)?)?;
/// let bound = ContributionBound::UNIT_ENTRY;
/// let rules = TextRules::default();
/// let mut builder = PrefixBuilder::records(layout, keys, bound, Granularity::ONE, AnyHash::default(), rules)?;
/// builder.push_row(None, Some(Item::from("lucy")))?;
/// let (raw, users) = builder.finish()?;
/// assert!(users.is_none() && raw.releases() == 0);
/// # Ok::<(), dpsketch::Error>(())
/// ```
pub struct PrefixBuilder {
    stack: PrefixStack<AnyHash>,
    keys: PrefixKeys,
    rules: TextRules,
    users: Option<WeightedUserBound>,
    excess: Excess,
    counts: FrequencyCounts,
    /// The cleaned user, item and weight; used again from row to row.
    texts: [Zeroizing<String>; 3],
    given_up: bool,
}

/// Layout and hash only: what was counted, and how much, is raw.
impl fmt::Debug for PrefixBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PrefixBuilder")
            .field("layout", self.stack.layout())
            .field("keys", &self.keys)
            .field("hash", &self.stack.hash_id())
            .finish_non_exhaustive()
    }
}

impl PrefixBuilder {
    /// For records as the unit of privacy.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter) for a bound on users, and for a layout of keys of another length.
    pub fn records(
        layout: PrefixLayout,
        keys: PrefixKeys,
        bound: ContributionBound,
        granularity: Granularity,
        hash: AnyHash,
        rules: TextRules,
    ) -> Result<Self, Error> {
        if bound.is_user() {
            return Err(FrequencyError::Unit { expected: "records", found: bound.to_string() }.into());
        }
        Self::new(layout, keys, (bound, granularity), hash, rules, None)
    }

    /// For users as the unit of privacy: rows of each user together, or with `spill` in any order. `key` decides which items of
    /// a user are kept.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter) unless the bound is one on the items of users without clipping, and as
    /// [`records`](Self::records); as [`UserBound::spilling`](crate::UserBound::spilling).
    #[expect(clippy::too_many_arguments, reason = "each is one decision, made before any data")]
    pub fn users(
        layout: PrefixLayout,
        keys: PrefixKeys,
        bound: ContributionBound,
        granularity: Granularity,
        hash: AnyHash,
        rules: TextRules,
        key: HashKey,
        spill: Option<SpillSettings>,
    ) -> Result<Self, Error> {
        let wrong =
            || FrequencyError::Unit { expected: "users with a largest number of items", found: bound.to_string() };
        let items = MaxItems::new(bound.max_items().filter(|_| bound.is_user()).ok_or_else(wrong)?)?;
        let users = match spill {
            None => WeightedUserBound::sorted(items, key),
            Some(settings) => WeightedUserBound::spilling(items, key, settings)?,
        };
        Self::new(layout, keys, (bound, granularity), hash, rules, Some(users))
    }

    fn new(
        layout: PrefixLayout,
        keys: PrefixKeys,
        (bound, granularity): (ContributionBound, Granularity),
        hash: AnyHash,
        rules: TextRules,
        users: Option<WeightedUserBound>,
    ) -> Result<Self, Error> {
        if layout.key_bits() != keys.bits() {
            let found = format!("{} for {keys}", layout.key_bits());
            return Err(Error::new(crate::ErrorKind::Parameter, format!("the layout has keys of {found}"))
                .argument("--key-bits")
                .allowed(keys.bits().to_string()));
        }
        Ok(Self {
            stack: PrefixStack::with_granularity(layout, hash, bound, granularity)?,
            keys,
            rules,
            users,
            excess: Excess::default(),
            counts: FrequencyCounts::default(),
            texts: Default::default(),
            given_up: false,
        })
    }

    /// Chooses what to do with records that weigh too much.
    #[must_use]
    pub fn with_excess(self, excess: Excess) -> Self {
        Self { excess, ..self }
    }

    /// Rows seen so far; those whose item has no key count as missing a value.
    #[must_use]
    pub const fn counts(&self) -> FrequencyCounts {
        self.counts
    }

    /// Takes one row of weight 1: a user where users are bounded, and an item.
    ///
    /// # Errors
    /// As [`FrequencyBuilder::push_row`](crate::FrequencyBuilder::push_row) and
    /// [`UserFrequencyBuilder::push_row`](crate::UserFrequencyBuilder::push_row).
    pub fn push_row(&mut self, user: Option<Item<'_>>, item: Option<Item<'_>>) -> Result<(), Error> {
        let one = 1_i64 << self.stack.granularity().exponent();
        self.push(user, item, Ok(Some(one)))
    }

    /// Takes one row with a weight, a number or its text.
    ///
    /// # Errors
    /// As [`FrequencyBuilder::push_weighted_row`](crate::FrequencyBuilder::push_weighted_row) and
    /// [`UserFrequencyBuilder::push_weighted_row`](crate::UserFrequencyBuilder::push_weighted_row).
    pub fn push_weighted_row(
        &mut self,
        user: Option<Item<'_>>,
        item: Option<Item<'_>>,
        weight: Option<Item<'_>>,
    ) -> Result<(), Error> {
        let weight = weight.and_then(|weight| clean(&self.rules, weight, &mut self.texts[2]));
        let wrong = FrequencyError::NotANumber { row: self.counts.rows + 1 };
        let units =
            weight.as_ref().map(|weight| weight_units(weight, self.stack.granularity()).ok_or(wrong)).transpose();
        let lost = matches!((&weight, &units), (Some(weight), Ok(Some(units))) if vanishes(weight, *units));
        let nulls = self.counts.nulls;
        self.push(user, item, units)?;
        // Not of a row that is left out for another reason.
        self.counts.zeroed += u64::from(lost && self.counts.nulls == nulls);
        Ok(())
    }

    fn push(
        &mut self,
        user: Option<Item<'_>>,
        item: Option<Item<'_>>,
        units: Result<Option<i64>, FrequencyError>,
    ) -> Result<(), Error> {
        if self.given_up {
            return Err(FrequencyError::GivenUp.into());
        }
        let done = units.map_err(Error::from).and_then(|units| self.add(user, item, units));
        self.given_up = done.is_err();
        done
    }

    fn add(&mut self, user: Option<Item<'_>>, item: Option<Item<'_>>, units: Option<i64>) -> Result<(), Error> {
        self.counts.rows += 1;
        let [user_text, item_text, _] = &mut self.texts;
        let key = item.and_then(|item| clean(&self.rules, item, item_text)).and_then(|item| self.keys.key(&item));
        let user = user.and_then(|user| clean(&self.rules, user, user_text));
        match (&mut self.users, user, key, units) {
            (Some(users), Some(user), Some(key), Some(units)) => {
                let stack = &mut self.stack;
                return users.push(user, key, units, |items| add_user(stack, items));
            }
            (None, _, Some(key), Some(units)) => {
                let limit = (self.stack.bound().max_weight(), self.stack.granularity());
                let units = bounded(units, limit, self.excess, &mut self.counts)?;
                return Ok(self.stack.update(key, units)?);
            }
            (Some(users), ..) => users.skip_rows(1),
            (None, ..) => {}
        }
        self.counts.nulls += 1;
        Ok(())
    }

    /// The raw stack; where users are bounded, what the bound on items came to, too.
    ///
    /// # Errors
    /// As [`push_row`](Self::push_row).
    pub fn finish(mut self) -> Result<(RawPrefixStack, Option<UserCounts>), Error> {
        if self.given_up {
            return Err(FrequencyError::GivenUp.into());
        }
        let users = self.users.map(|users| users.finish(|items| add_user(&mut self.stack, items))).transpose()?;
        Ok((RawPrefixStack::from_sensitive_bytes(&self.stack.to_sensitive_bytes())?, users))
    }
}

/// A weight within the declared maximum.
fn bounded(
    units: i64,
    (max, granularity): (u64, Granularity),
    excess: Excess,
    counts: &mut FrequencyCounts,
) -> Result<i64, FrequencyError> {
    if units.unsigned_abs() <= max {
        return Ok(units);
    }
    if excess == Excess::Refuse {
        return Err(FrequencyError::TooHeavy { row: counts.rows, max: in_units_of_weight(max, granularity.step()) });
    }
    counts.clipped += 1;
    let limit = i64::try_from(max).unwrap_or(i64::MAX);
    Ok(units.clamp(-limit, limit))
}

/// Adds all keys of one user, none twice.
fn add_user(stack: &mut PrefixStack<AnyHash>, items: &[(u64, i128)]) -> Result<(), Error> {
    let most = i128::from(i64::MAX);
    let within = |&(key, weight): &(u64, i128)| (key, i64::try_from(weight.clamp(-most, most)).unwrap_or(i64::MAX));
    let records: Zeroizing<Vec<(u64, i64)>> = Zeroizing::new(items.iter().map(within).collect());
    Ok(stack.add_user(&records)?)
}
