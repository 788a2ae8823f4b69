//! Which items of one user are kept.

use std::collections::BTreeSet;

use sketch_hash::{DefaultHash, Domain, HashKey, KeyedHash};

use super::unit::MaxItems;

/// The 128-bit hash of a user.
pub(super) type UserHash = [u64; 2];

/// Keeps the items of one user that have the smallest ranks.
///
/// The rank of an item is a keyed hash of user and item. It depends on nothing but the user's own rows, so that another
/// user's rows never decide; the order and the number of the rows do not matter; and because it depends on the user, no
/// item is preferred for all users at once, which would make the distinct count of what is kept too small.
pub(super) struct Selection {
    hash: DefaultHash,
    limit: usize,
    /// Rank and item, the smallest `limit` of those offered.
    chosen: BTreeSet<(u64, u64)>,
}

impl Selection {
    pub(super) fn new(max_items: MaxItems, key: HashKey) -> Self {
        Self {
            hash: DefaultHash::new(key.derive("dpsketch user bound rank", 0)),
            limit: usize::try_from(max_items.get()).unwrap_or(usize::MAX),
            chosen: BTreeSet::new(),
        }
    }

    pub(super) fn offer(&mut self, user: UserHash, item: u64) {
        let mut bytes = [0; 24];
        for (chunk, word) in bytes.chunks_exact_mut(8).zip([user[0], user[1], item]) {
            chunk.copy_from_slice(&word.to_le_bytes());
        }
        // An equal rank of two items has probability 2^-64; the item decides then.
        let candidate = (self.hash.hash64(Domain::Row, &bytes), item);
        if self.chosen.len() < self.limit {
            self.chosen.insert(candidate);
        } else if self.chosen.last().is_some_and(|last| candidate < *last) && self.chosen.insert(candidate) {
            self.chosen.pop_last();
        }
    }

    /// Moves the kept items to `items`, whose contents are replaced, and is ready for the next user.
    pub(super) fn take(&mut self, items: &mut Vec<u64>) {
        items.clear();
        items.extend(self.chosen.iter().map(|(_, item)| *item));
        self.chosen.clear();
    }
}
