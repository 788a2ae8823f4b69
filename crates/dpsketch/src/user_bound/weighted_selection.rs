//! Which items of one user are kept, with what weight.

use sketch_hash::HashKey;
use zeroize::Zeroizing;

use super::selection::{Ranks, UserHash};
use super::unit::MaxItems;
use crate::secret;

/// An item with its rank and the sum of its weights so far. Sums of fewer than 2⁶⁴ weights of 64 bits fit.
type Candidate = ((u64, u64), i128);

/// Keeps the items of one user that have the smallest [ranks](Ranks), and adds up their weights.
///
/// The bar that a candidate has to be below only falls, so an item that is kept in the end was below it whenever it
/// came: no part of its weight is lost.
pub(super) struct WeightedSelection {
    ranks: Ranks,
    limit: usize,
    /// The items of the smallest `limit` ranks are among them; twice as many at most.
    candidates: Zeroizing<Vec<Candidate>>,
    bar: Option<(u64, u64)>,
}

impl WeightedSelection {
    pub(super) fn new(max_items: MaxItems, key: HashKey) -> Self {
        Self {
            ranks: Ranks::new(key),
            limit: usize::try_from(max_items.get()).unwrap_or(usize::MAX),
            candidates: Zeroizing::default(),
            bar: None,
        }
    }

    pub(super) fn offer(&mut self, user: UserHash, item: u64, weight: i128) {
        let rank = self.ranks.of(user, item);
        if self.bar.is_some_and(|bar| rank > bar) {
            return;
        }
        secret::push(&mut self.candidates, (rank, weight));
        if self.candidates.len() >= self.limit.saturating_mul(2) {
            self.choose();
        }
    }

    /// Leaves the items of the smallest `limit` ranks, each once, in their order.
    fn choose(&mut self) {
        self.candidates.sort_unstable();
        self.candidates.dedup_by(|next, first| {
            let equal = next.0 == first.0;
            if equal {
                first.1 += next.1;
            }
            equal
        });
        self.candidates.truncate(self.limit);
        self.bar = (self.candidates.len() == self.limit).then(|| self.candidates.last().map(|last| last.0)).flatten();
    }

    /// Moves the kept items and their weights to `items`, whose contents are replaced, and is ready for the next user.
    pub(super) fn take(&mut self, items: &mut Zeroizing<Vec<(u64, i128)>>) {
        self.choose();
        items.clear();
        self.candidates.iter().for_each(|&((_, item), weight)| secret::push(items, (item, weight)));
        self.candidates.clear();
        self.bar = None;
    }
}
