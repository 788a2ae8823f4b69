//! Bounding how many items of one user are kept, where items have weights.

use core::fmt;

use sketch_hash::{HashKey, Item};
use zeroize::{DefaultIsZeroes, Zeroizing};

use super::grouping::Grouping;
use super::selection::UserHash;
use super::sorter::{Record, read_words, write_words};
use super::unit::MaxItems;
use super::weighted_selection::WeightedSelection;
use super::{SpillSettings, UserCounts};
use crate::error::Error;

/// Keeps at most `M` distinct items of each user with the sums of their weights, as [`UserBound`](crate::UserBound) does
/// without weights: the same items, in the same two ways, with the same rules for memory and temporary files.
///
/// All that is kept of a user comes out in one call, once. How far weights are limited is not decided here: sums are
/// exact, in 128 bits. An item whose weights cancel out takes a place like any other.
///
/// # Privacy
/// As [`UserBound`](crate::UserBound). The temporary file holds weights in clear.
///
/// # Examples
/// ```
/// use dpsketch::{MaxItems, WeightedUserBound};
/// use sketch_hash::{HashKey, Item};
///
/// let mut bound = WeightedUserBound::sorted(MaxItems::new(2)?, HashKey::DEFAULT);
/// let mut kept = Vec::new();
/// let mut keep = |items: &[(u64, i128)]| {
///     kept.push(items.iter().map(|(_, weight)| weight).sum::<i128>());
///     Ok(())
/// };
/// for (user, item, weight) in [("ann", 1, 5), ("ann", 2, 5), ("ann", 3, 5), ("bob", 1, 4), ("bob", 1, -1)] {
///     bound.push(Item::Text(user), item, weight, &mut keep)?;
/// }
/// let counts = bound.finish(&mut keep)?;
/// assert_eq!((counts.users, counts.kept), (2, 3));
/// assert_eq!(kept, [10, 3]); // two items of ann
/// # Ok::<(), dpsketch::Error>(())
/// ```
pub struct WeightedUserBound {
    rows: Grouping<WeightedPair>,
    users: Users,
    max_items: MaxItems,
}

/// The user at hand, and what all of them came to.
struct Users {
    current: Option<UserHash>,
    selection: WeightedSelection,
    /// Used again from user to user.
    items: Zeroizing<Vec<(u64, i128)>>,
    count: u64,
    kept: u64,
}

impl WeightedUserBound {
    /// For input in which the rows of each user stand together; see [`UserBound::sorted`](crate::UserBound::sorted).
    #[must_use]
    pub fn sorted(max_items: MaxItems, key: HashKey) -> Self {
        Self { rows: Grouping::sorted(key), users: Users::new(max_items, key), max_items }
    }

    /// For input in any order; see [`UserBound::spilling`](crate::UserBound::spilling). A row takes 40 bytes.
    ///
    /// # Errors
    /// As [`UserBound::spilling`](crate::UserBound::spilling).
    pub fn spilling(max_items: MaxItems, key: HashKey, settings: SpillSettings) -> Result<Self, Error> {
        Ok(Self { rows: Grouping::spilling(key, settings)?, users: Users::new(max_items, key), max_items })
    }

    /// The most items of a user.
    #[must_use]
    pub const fn max_items(&self) -> MaxItems {
        self.max_items
    }

    /// Takes one row: a user, the hash of an item, and a weight. Users that are finished go to `keep`.
    ///
    /// # Errors
    /// As [`UserBound::push`](crate::UserBound::push), and whatever `keep` fails with.
    pub fn push(
        &mut self,
        user: Item<'_>,
        item: u64,
        weight: i64,
        keep: impl FnMut(&[(u64, i128)]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let users = &mut self.users;
        let record = |user| WeightedPair { user, item, weight: weight.into() };
        self.rows.push(user, record, |pair| users.push(&pair, keep))
    }

    /// Passes over rows that have no user or no item, so that errors name the right row.
    pub fn skip_rows(&mut self, rows: u64) {
        self.rows.skip(rows);
    }

    /// Rows seen so far, those that were passed over included.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows.rows()
    }

    /// Gives all that is left to `keep`.
    ///
    /// # Errors
    /// As [`UserBound::finish`](crate::UserBound::finish), and whatever `keep` fails with.
    pub fn finish(self, mut keep: impl FnMut(&[(u64, i128)]) -> Result<(), Error>) -> Result<UserCounts, Error> {
        let mut users = self.users;
        let rows = self.rows.finish(|pair| users.push(&pair, &mut keep))?;
        users.flush(&mut keep)?;
        Ok(UserCounts { rows, users: users.count, kept: users.kept })
    }
}

/// How far it has come; no user and no item.
impl fmt::Debug for WeightedUserBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rows.describe(f.debug_struct("WeightedUserBound")).finish_non_exhaustive()
    }
}

impl Users {
    fn new(max_items: MaxItems, key: HashKey) -> Self {
        let selection = WeightedSelection::new(max_items, key);
        Self { current: None, selection, items: Zeroizing::default(), count: 0, kept: 0 }
    }

    fn push(
        &mut self,
        pair: &WeightedPair,
        keep: impl FnMut(&[(u64, i128)]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if self.current != Some(pair.user) {
            self.flush(keep)?;
            self.current = Some(pair.user);
            self.count += 1;
        }
        self.selection.offer(pair.user, pair.item, pair.weight);
        Ok(())
    }

    fn flush(&mut self, mut keep: impl FnMut(&[(u64, i128)]) -> Result<(), Error>) -> Result<(), Error> {
        self.selection.take(&mut self.items);
        if self.items.is_empty() {
            return Ok(());
        }
        self.kept += self.items.len() as u64;
        keep(&self.items)
    }
}

/// A user, one of the user's items, and its weight. Sums of fewer than 2⁶⁴ weights of 64 bits fit.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct WeightedPair {
    user: UserHash,
    item: u64,
    weight: i128,
}

impl DefaultIsZeroes for WeightedPair {}

impl Record for WeightedPair {
    const BYTES: usize = 40;

    fn write(self, bytes: &mut [u8]) {
        let (words, weight) = bytes.split_at_mut(24);
        write_words(words, &[self.user[0], self.user[1], self.item]);
        weight.copy_from_slice(&self.weight.to_le_bytes());
    }

    fn read(bytes: &[u8]) -> Self {
        let [first, second, item] = read_words(bytes);
        let weight = bytes.get(24..40).and_then(|bytes| bytes.try_into().ok()).map_or(0, i128::from_le_bytes);
        Self { user: [first, second], item, weight }
    }

    fn join(&mut self, next: &Self) -> bool {
        let equal = (self.user, self.item) == (next.user, next.item);
        if equal {
            self.weight += next.weight;
        }
        equal
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::sorter::{MIN_MEMORY, Sorter};
    use super::*;

    #[test]
    fn records_come_back_from_their_bytes() {
        let pair = WeightedPair { user: [1, u64::MAX], item: 7, weight: -(1 << 100) };
        let mut bytes = [0; 40];
        pair.write(&mut bytes);
        assert!(WeightedPair::read(&bytes) == pair);
    }

    #[test]
    fn sums_are_those_of_a_map_however_often_the_disk_was_used() {
        let folder = tempfile::tempdir().unwrap();
        let mut sorter = Sorter::new(MIN_MEMORY, folder.path().to_owned()).unwrap();
        let mut sums = BTreeMap::new();
        for row in 0..100_000_u64 {
            let (user, item) = ([row * 7 % 2000, 5], row % 3);
            let weight = i64::MIN + i64::try_from(row).unwrap();
            sorter.push(WeightedPair { user, item, weight: weight.into() }).unwrap();
            *sums.entry((user, item)).or_insert(0_i128) += i128::from(weight);
        }
        let mut found = Vec::new();
        sorter.finish(|pair| found.push(((pair.user, pair.item), pair.weight))).unwrap();
        assert!(found == sums.into_iter().collect::<Vec<_>>());
    }
}
