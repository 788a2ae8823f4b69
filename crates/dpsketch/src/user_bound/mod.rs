//! Bounding what one user contributes to a sketch.

mod error;
mod grouping;
mod order;
mod selection;
mod sorter;
mod spill;
mod unit;
mod weighted;
mod weighted_selection;

use core::fmt;
use std::path::PathBuf;

pub use error::UserBoundError;
pub(crate) use grouping::Grouping;
use selection::Selection;
pub(crate) use selection::{Ranks, UserHash};
use sketch_hash::{HashKey, Item};
use sorter::Pair;
pub(crate) use sorter::{Record, Sorter, read_words, write_words};

pub use unit::{MaxItems, PrivacyUnit};
pub use weighted::WeightedUserBound;
use zeroize::Zeroizing;

use crate::error::Error;

/// Where and with how much memory users are sorted whose rows do not stand together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpillSettings {
    /// The folder in which a temporary file is made when the memory is full.
    pub folder: PathBuf,
    /// How many bytes of memory to use, at least 64 KiB. With `m` bytes up to `m² / 100,000` rows are sorted in one
    /// pass over the file; more rows take longer.
    pub memory: usize,
}

impl Default for SpillSettings {
    /// The system's folder for temporary files and 256 MiB, with which one pass is enough for 7·10¹¹ rows.
    fn default() -> Self {
        Self { folder: std::env::temp_dir(), memory: 1 << 28 }
    }
}

/// How many rows and users a bound has seen. The data owner's business only: these numbers are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UserCounts {
    /// All rows, those that were passed over included.
    pub rows: u64,
    /// Users with at least one item.
    pub users: u64,
    /// Distinct items that were kept, each counted once a user.
    pub kept: u64,
}

/// Keeps at most `M` distinct items of each user, so that a sketch of what is kept can protect users instead of items.
///
/// Rows go in as user and item hash, in any order and any number; the hashes of the items to count come out through
/// `keep`. A user with at most `M` distinct items keeps them all. Of a user with more, those `M` are kept whose rank, a
/// keyed hash of user and item, is smallest: the same ones whatever the order of the rows.
///
/// There are two ways of doing it, with the same result. [`sorted`](Self::sorted) needs the rows of a user to stand together
/// and works as they come; a user who comes back after another is refused, never counted twice.
/// [`spilling`](Self::spilling) takes any order and puts what does not fit in memory into a temporary file.
///
/// # Privacy
/// Which items of a user are kept depends on that user's own rows and on the key, on nothing else. So adding or removing
/// **one user with all rows** changes at most `M` items of what is kept, hence at most `M` cells of a distinct-count
/// sketch, and a release of every cell at `ε / M` is ε-differentially private for users (group privacy \[DR14\];
/// [`PrivacyUnit::item_epsilon`]). Without such a bound a user with `k` items is protected by `k` times the level only.
///
/// Users are told apart by 128 bits of their hash. The temporary file is **as sensitive as the raw data**: it holds no
/// value in clear, but whoever knows the key can test from it whether a guessed user has a guessed item. It has no name,
/// only its owner may open it, it is overwritten with zeros at the end, and it vanishes if the process is killed; what
/// was written may still be found by reading the disk itself.
///
/// # Examples
/// ```
/// use dpsketch::{MaxItems, UserBound};
/// use sketch_hash::{HashKey, Item};
///
/// let mut bound = UserBound::sorted(MaxItems::new(2)?, HashKey::DEFAULT);
/// let mut kept = 0;
/// for (user, item) in [("ann", 1), ("ann", 2), ("ann", 3), ("ann", 2), ("bob", 1)] {
///     bound.push(Item::Text(user), item, |items| kept += items.len())?;
/// }
/// let counts = bound.finish(|items| kept += items.len())?;
/// assert_eq!((counts.users, counts.kept, kept), (2, 3, 3)); // two items of ann, one of bob
/// # Ok::<(), dpsketch::Error>(())
/// ```
pub struct UserBound {
    rows: Grouping<Pair>,
    users: Users,
    max_items: MaxItems,
}

/// The user at hand, and what all of them came to.
struct Users {
    current: Option<UserHash>,
    selection: Selection,
    /// Used again from user to user.
    items: Zeroizing<Vec<u64>>,
    count: u64,
    kept: u64,
}

impl UserBound {
    /// For input in which the rows of each user stand together, such as input sorted by user.
    ///
    /// Up to 2²⁰ users may come in any order. More have to be sorted: by value, by the bytes of the text, or by its
    /// length first, rising or falling. The memory does not grow with the input.
    #[must_use]
    pub fn sorted(max_items: MaxItems, key: HashKey) -> Self {
        Self::with_rows(Grouping::sorted(key), max_items, key)
    }

    /// For input in any order. Nothing comes out before [`finish`](Self::finish).
    ///
    /// # Errors
    /// [`UserBoundError::Memory`] as source when the memory is less than 64 KiB or more than there is. The temporary file is made
    /// only when it is needed.
    pub fn spilling(max_items: MaxItems, key: HashKey, settings: SpillSettings) -> Result<Self, Error> {
        Ok(Self::with_rows(Grouping::spilling(key, settings)?, max_items, key))
    }

    fn with_rows(rows: Grouping<Pair>, max_items: MaxItems, key: HashKey) -> Self {
        Self { rows, users: Users::new(max_items, key), max_items }
    }

    /// The unit of privacy that what is kept can be released for.
    #[must_use]
    pub fn unit(&self) -> PrivacyUnit {
        PrivacyUnit::User { max_items: self.max_items }
    }

    /// Takes one row: a user, and the hash of an item under the hash of the sketch. Items that are finished go to `keep`.
    ///
    /// # Errors
    /// With [`UserBoundError`] as source when a user comes back in input that should be sorted;
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) when the disk is full. What was kept is worthless then, and every later call fails too.
    pub fn push(&mut self, user: Item<'_>, item: u64, keep: impl FnMut(&[u64])) -> Result<(), Error> {
        let users = &mut self.users;
        self.rows.push(
            user,
            |user| Pair { user, item },
            |pair| {
                users.push(pair.user, pair.item, keep);
                Ok(())
            },
        )
    }

    /// Passes over rows that have no user or no item, so that errors name the right row.
    pub fn skip_rows(&mut self, rows: u64) {
        self.rows.skip(rows);
    }

    /// Gives all that is left to `keep`.
    ///
    /// # Errors
    /// As [`push`](Self::push), or [`UserBoundError::RefusedBefore`] as source when a row was refused; also when the temporary file
    /// could not be wiped.
    pub fn finish(self, mut keep: impl FnMut(&[u64])) -> Result<UserCounts, Error> {
        let mut users = self.users;
        let rows = self.rows.finish(|pair| {
            users.push(pair.user, pair.item, &mut keep);
            Ok(())
        })?;
        users.flush(&mut keep);
        Ok(UserCounts { rows, users: users.count, kept: users.kept })
    }
}

/// How far it has come; no user and no item.
impl fmt::Debug for UserBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rows.describe(f.debug_struct("UserBound")).finish_non_exhaustive()
    }
}

impl Users {
    fn new(max_items: MaxItems, key: HashKey) -> Self {
        Self {
            current: None,
            selection: Selection::new(max_items, key),
            items: Zeroizing::default(),
            count: 0,
            kept: 0,
        }
    }

    fn push(&mut self, user: UserHash, item: u64, keep: impl FnMut(&[u64])) {
        if self.current != Some(user) {
            self.flush(keep);
            self.current = Some(user);
            self.count += 1;
        }
        self.selection.offer(user, item);
    }

    fn flush(&mut self, mut keep: impl FnMut(&[u64])) {
        self.selection.take(&mut self.items);
        if !self.items.is_empty() {
            self.kept += self.items.len() as u64;
            keep(&self.items);
        }
    }
}
