//! Which items of one user are kept.

use sketch_hash::{DefaultHash, Domain, HashKey, KeyedHash};
use zeroize::Zeroizing;

use super::sorter::write_words;
use super::unit::MaxItems;
use crate::secret;

/// The 128-bit hash of a user.
pub(crate) type UserHash = [u64; 2];

/// The rank of a user's items, a keyed hash of user and item.
///
/// It depends on nothing but the user's own rows, so that another user's rows never decide; the order and the number of the
/// rows do not matter; and because it depends on the user, no item is preferred for all users at once, which would make the
/// distinct count of what is kept too small and the frequency of an unlucky item zero.
pub(crate) struct Ranks(DefaultHash);

impl Ranks {
    pub(crate) fn new(key: HashKey) -> Self {
        Self(DefaultHash::new(key.derive("dpsketch user bound rank", 0)))
    }

    /// The rank of an item of 128 bits.
    pub(crate) fn of_wide(&self, user: UserHash, item: [u64; 2]) -> u64 {
        let mut bytes = Zeroizing::new([0; 32]);
        write_words(bytes.as_mut_slice(), &[user[0], user[1], item[0], item[1]]);
        self.0.hash64(Domain::Row, bytes.as_slice())
    }

    /// Rank and item. An equal rank of two items has probability 2^-64; the item decides then.
    pub(crate) fn of(&self, user: UserHash, item: u64) -> (u64, u64) {
        let mut bytes = Zeroizing::new([0; 24]);
        write_words(bytes.as_mut_slice(), &[user[0], user[1], item]);
        (self.0.hash64(Domain::Row, bytes.as_slice()), item)
    }
}

/// Keeps the items of one user that have the smallest [ranks](Ranks).
pub(super) struct Selection {
    ranks: Ranks,
    limit: usize,
    /// Rank and item of those offered, the smallest `limit` of them among all; twice as many at most.
    candidates: Zeroizing<Vec<(u64, u64)>>,
    /// Where there are enough: what a candidate has to be below.
    bar: Option<(u64, u64)>,
}

impl Selection {
    pub(super) fn new(max_items: MaxItems, key: HashKey) -> Self {
        Self {
            ranks: Ranks::new(key),
            limit: usize::try_from(max_items.get()).unwrap_or(usize::MAX),
            candidates: Zeroizing::default(),
            bar: None,
        }
    }

    pub(super) fn offer(&mut self, user: UserHash, item: u64) {
        let candidate = self.ranks.of(user, item);
        if self.bar.is_some_and(|bar| candidate >= bar) {
            return;
        }
        secret::push(&mut self.candidates, candidate);
        if self.candidates.len() >= self.limit.saturating_mul(2) {
            self.choose();
        }
    }

    /// Leaves the smallest `limit` candidates, each once, in their order.
    fn choose(&mut self) {
        self.candidates.sort_unstable();
        self.candidates.dedup();
        self.candidates.truncate(self.limit);
        self.bar = (self.candidates.len() == self.limit).then(|| self.candidates.last().copied()).flatten();
    }

    /// Moves the kept items to `items`, whose contents are replaced, and is ready for the next user.
    pub(super) fn take(&mut self, items: &mut Zeroizing<Vec<u64>>) {
        self.choose();
        items.clear();
        self.candidates.iter().for_each(|(_, item)| secret::push(items, *item));
        self.candidates.clear();
        self.bar = None;
    }
}
