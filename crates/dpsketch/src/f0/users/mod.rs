//! Rows to a raw sketch, one user the unit of privacy.

mod selection;

use core::fmt;

use dp_noise::NoiseRng;
use f0_sketch::{F0Sketch, ModeKind, Presampled, Set};
use selection::{MemberSelection, UserRow};
use sketch_hash::{AnyHash, HashKey, Item, KeyedHash};
use zeroize::Zeroizing;

use super::convert::f0_unit;
use super::counts::{F0Counts, WeightConflict};
use super::error::F0Error;
use super::members::{Member, Members};
use super::raw::RawF0Sketch;
use super::rows::{observe, toggle, weight_of};
use super::terms::F0Terms;
use crate::builder::clean;
use crate::error::Error;
use crate::row_hasher::RowHasher;
use crate::text::TextRules;
use crate::user_bound::{Grouping, MaxItems, PrivacyUnit, SpillSettings, UserCounts, UserHash};

/// Builds a raw F0 sketch of what a bound leaves of each user, so that a release can protect users.
///
/// Rows have a user beside the values that make the item. Of a user with more than `M` distinct items those `M` of smallest rank are
/// kept, a keyed hash of user and item, as [`UserBound`](crate::UserBound) does it. In mode `set` what is kept of all users is then
/// de-duplicated, so that the sketch is of the set of items that anybody kept; in mode `presampled` each of them is an occurrence
/// with a coin of its own. A row without user, item or weight is left out: nothing bounds how many of them belong to one
/// person. The text rules apply to users, too.
///
/// An item has one weight, the largest that anybody kept for it where they differ
/// ([`with_conflict`](Self::with_conflict)).
///
/// # Privacy
/// Which items of a user are kept depends on that user's own rows and the key alone. So one user with all rows changes `M` cells at most,
/// and what is built is released for **one user** with that `M`, at `ε / M` a cell. It says so in its file, and merges with no other
/// raw sketch. Row counts are exact and not private; for the temporary file see [`UserBound`](crate::UserBound).
///
/// # Examples
/// ```
/// use dpsketch::f0_sketch::{F0Shape, ModeKind};
/// use dpsketch::sketch_hash::{AnyHash, HashKey, Item};
/// use dpsketch::{F0Terms, F0UserBuilder, MaxItems, SpillSettings, TextRules, parse_epsilon};
///
/// let (terms, two) = (F0Terms::unit(F0Shape::DEFAULT), MaxItems::new(2)?);
/// let (hash, rules, spill) = (AnyHash::default(), TextRules::default(), SpillSettings::default());
/// let mut builder = F0UserBuilder::sorted(ModeKind::Set, terms, hash, rules, two, HashKey::DEFAULT, spill)?;
/// for (user, page) in [("ann", 1_u32), ("ann", 2), ("ann", 3), ("bob", 1)] {
///     builder.push_row(Some(Item::from(user)), [Some(Item::from(page))], None)?;
/// }
/// let (raw, users, counts) = builder.finish()?;
/// assert_eq!((users.users, users.kept, counts.rows), (2, 3, 4));
/// let private = raw.release(parse_epsilon("1")?)?;
/// assert_eq!(private.units()[0].to_string(), "one user with at most 2 items");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct F0UserBuilder {
    kept: Kept,
    terms: F0Terms,
    rows: RowHasher,
    groups: Grouping<UserRow>,
    users: Users,
    conflict: WeightConflict,
    counts: F0Counts,
    /// The cleaned user and weight; used again from row to row.
    texts: [Zeroizing<String>; 2],
    given_up: bool,
}

/// Where kept items go.
enum Kept {
    Set { sketch: F0Sketch<Set, AnyHash>, members: Members },
    Presampled { sketch: F0Sketch<Presampled, AnyHash>, coins: NoiseRng },
}

impl Kept {
    fn keep(&mut self, member: Member) -> Result<(), Error> {
        match self {
            Self::Set { members, .. } => members.push_member(member),
            Self::Presampled { sketch, coins } => observe(sketch, member.item(), member.weight(), coins),
        }
    }
}

/// The user at hand, and what all of them came to.
struct Users {
    current: Option<UserHash>,
    selection: MemberSelection,
    count: u64,
    kept: u64,
    conflicts: u64,
}

impl Users {
    fn push(&mut self, row: UserRow, into: &mut Kept) -> Result<(), Error> {
        if self.current != Some(row.user) {
            self.flush(into)?;
            self.current = Some(row.user);
            self.count += 1;
        }
        self.selection.offer(row);
        Ok(())
    }

    fn flush(&mut self, into: &mut Kept) -> Result<(), Error> {
        let (kept, conflicts) = (&mut self.kept, &mut self.conflicts);
        self.selection.take(|member| {
            *kept += 1;
            *conflicts += u64::from(member.is_conflict());
            into.keep(member)
        })
    }
}

/// Terms and hash only: what was counted, and how much, is raw.
impl fmt::Debug for F0UserBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("F0UserBuilder")
            .field("terms", &self.terms)
            .field("hash", &self.rows.hash_function().id())
            .finish_non_exhaustive()
    }
}

impl F0UserBuilder {
    /// For input in which the rows of each user stand together; see [`UserBound::sorted`](crate::UserBound::sorted). `key`
    /// decides which items of a user are kept, `settings` are for the de-duplication of mode `set`.
    ///
    /// # Errors
    /// As [`F0Builder::set`](crate::F0Builder::set) and [`F0Builder::presampled`](crate::F0Builder::presampled).
    pub fn sorted(
        mode: ModeKind,
        terms: F0Terms,
        hash: AnyHash,
        rules: TextRules,
        max_items: MaxItems,
        key: HashKey,
        settings: SpillSettings,
    ) -> Result<Self, Error> {
        Self::new(mode, terms, (hash, rules), max_items, key, Grouping::sorted(key), settings)
    }

    /// For input in any order; see [`UserBound::spilling`](crate::UserBound::spilling). A row takes 40 bytes; in mode `set` half of
    /// the memory is for the de-duplication.
    ///
    /// # Errors
    /// As [`sorted`](Self::sorted).
    pub fn spilling(
        mode: ModeKind,
        terms: F0Terms,
        hash: AnyHash,
        rules: TextRules,
        max_items: MaxItems,
        key: HashKey,
        settings: SpillSettings,
    ) -> Result<Self, Error> {
        let parts = if mode == ModeKind::Set { 2 } else { 1 };
        let share = SpillSettings { memory: settings.memory / parts, ..settings };
        let groups = Grouping::spilling(key, share.clone())?;
        Self::new(mode, terms, (hash, rules), max_items, key, groups, share)
    }

    fn new(
        mode: ModeKind,
        terms: F0Terms,
        (hash, rules): (AnyHash, TextRules),
        max_items: MaxItems,
        key: HashKey,
        groups: Grouping<UserRow>,
        settings: SpillSettings,
    ) -> Result<Self, Error> {
        let unit = f0_unit(PrivacyUnit::User { max_items }.into());
        let (shape, rule) = (terms.shape().clone(), terms.rule());
        let kept = match mode {
            ModeKind::Set => Kept::Set {
                sketch: F0Sketch::new(shape, rule, hash.clone()).with_unit(unit)?,
                members: Members::new(settings)?,
            },
            ModeKind::Presampled => {
                let mut sketch = F0Sketch::new(shape, rule, hash.clone()).with_unit(unit)?;
                let mut coins = NoiseRng::from_os()?;
                sketch.rename_coins(&mut coins)?;
                Kept::Presampled { sketch, coins }
            }
        };
        let selection = MemberSelection::new(max_items, key);
        Ok(Self {
            kept,
            terms,
            rows: RowHasher::new(hash, rules),
            groups,
            users: Users { current: None, selection, count: 0, kept: 0, conflicts: 0 },
            conflict: WeightConflict::default(),
            counts: F0Counts::default(),
            texts: Default::default(),
            given_up: false,
        })
    }

    /// Chooses what to do with an item of different weights.
    #[must_use]
    pub fn with_conflict(self, conflict: WeightConflict) -> Self {
        Self { conflict, ..self }
    }

    /// Shape and weight rule.
    #[must_use]
    pub const fn terms(&self) -> &F0Terms {
        &self.terms
    }

    /// Rows seen so far; those without a user count as missing a value.
    #[must_use]
    pub const fn counts(&self) -> F0Counts {
        self.counts
    }

    /// Takes one row: a user, values, and a weight where the terms have weights.
    ///
    /// # Errors
    /// As [`UserBound::push`](crate::UserBound::push) and [`F0Builder::push_row_with`](crate::F0Builder::push_row_with).
    pub fn push_row<'a>(
        &mut self,
        user: Option<Item<'_>>,
        values: impl IntoIterator<Item = Option<Item<'a>>, IntoIter: ExactSizeIterator>,
        weight: Option<Item<'_>>,
    ) -> Result<(), Error> {
        if self.given_up {
            return Err(F0Error::GivenUp.into());
        }
        let row = self.counts.rows + 1;
        let item = self.rows.hash128(values);
        let [user_text, weight_text] = &mut self.texts;
        let weight = weight.and_then(|weight| clean(self.rows.rules(), weight, weight_text));
        let user = user.and_then(|user| clean(self.rows.rules(), user, user_text));
        let done = weight_of(self.terms.rule(), weight, row).map_err(Error::from).and_then(|weight| {
            self.counts.rows += 1;
            let (Some(user), Some(item), Some((weight, clipped))) = (user, item, weight) else {
                self.counts.nulls += 1;
                self.groups.skip(1);
                return Ok(());
            };
            self.counts.clipped += u64::from(clipped);
            self.counts.inserts += 1;
            let (users, kept) = (&mut self.users, &mut self.kept);
            let record = |user| UserRow { user, member: Member::new(item, weight) };
            self.groups.push(user, record, |row| users.push(row, kept))
        });
        self.given_up = done.is_err();
        done
    }

    /// The raw sketch, what the bound came to, and what the rows did.
    ///
    /// # Errors
    /// As [`UserBound::finish`](crate::UserBound::finish) and [`F0Builder::finish`](crate::F0Builder::finish); in mode `presampled`, too,
    /// [`F0Error::Conflict`] counts the items of which one user has rows of different weight.
    pub fn finish(mut self) -> Result<(RawF0Sketch, UserCounts, F0Counts), Error> {
        if self.given_up {
            return Err(F0Error::GivenUp.into());
        }
        let (users, kept) = (&mut self.users, &mut self.kept);
        let rows = self.groups.finish(|row| users.push(row, kept))?;
        users.flush(kept)?;
        let counted = UserCounts { rows, users: users.count, kept: users.kept };
        self.counts.conflicts = users.conflicts;
        let raw = match self.kept {
            Kept::Set { mut sketch, members } => {
                let found = members.finish(|item, weight| toggle(&mut sketch, item, weight, None))?;
                self.counts.items = Some(found.items);
                self.counts.conflicts = found.conflicts;
                RawF0Sketch::of_set(&sketch)?
            }
            Kept::Presampled { sketch, .. } => RawF0Sketch::of_stream(&sketch)?,
        };
        let conflicts = self.counts.conflicts;
        if conflicts > 0 && self.conflict == WeightConflict::Refuse {
            return Err(F0Error::Conflict { items: conflicts }.into());
        }
        Ok((raw, counted, self.counts))
    }
}

#[cfg(test)]
mod tests;
