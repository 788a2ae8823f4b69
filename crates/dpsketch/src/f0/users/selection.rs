//! Which items of one user are kept, with which weight.

use sketch_hash::HashKey;
use zeroize::{DefaultIsZeroes, Zeroizing};

use crate::f0::members::Member;
use crate::secret;
use crate::user_bound::{MaxItems, Ranks, Record, UserHash};

/// A user, and one of the user's items with its weight.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct UserRow {
    pub(super) user: UserHash,
    pub(super) member: Member,
}

impl DefaultIsZeroes for UserRow {}

impl Record for UserRow {
    const BYTES: usize = 16 + Member::BYTES;

    fn write(self, bytes: &mut [u8]) {
        let (user, member) = bytes.split_at_mut(16);
        crate::user_bound::write_words(user, &self.user);
        self.member.write(member);
    }

    fn read(bytes: &[u8]) -> Self {
        let (user, member) = bytes.split_at(bytes.len().min(16));
        Self { user: crate::user_bound::read_words(user), member: Member::read(member) }
    }

    fn join(&mut self, next: &Self) -> bool {
        self.user == next.user && self.member.join(&next.member)
    }
}

/// An item that is kept if its rank is small.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    rank: u64,
    member: Member,
}

impl DefaultIsZeroes for Candidate {}

/// Keeps the items of one user that have the smallest [ranks](Ranks), as [`UserBound`](crate::UserBound) does, each with the largest of its
/// weights.
pub(super) struct MemberSelection {
    ranks: Ranks,
    limit: usize,
    /// The items of the smallest `limit` ranks are among them; twice as many at most.
    candidates: Zeroizing<Vec<Candidate>>,
    /// Where there are enough: the largest rank of those that are kept. It only falls, so that no weight of an item that is kept in
    /// the end is lost.
    bar: Option<u64>,
}

impl MemberSelection {
    pub(super) fn new(max_items: MaxItems, key: HashKey) -> Self {
        Self {
            ranks: Ranks::new(key),
            limit: usize::try_from(max_items.get()).unwrap_or(usize::MAX),
            candidates: Zeroizing::default(),
            bar: None,
        }
    }

    pub(super) fn offer(&mut self, row: UserRow) {
        let rank = self.ranks.of_wide(row.user, row.member.item());
        if self.bar.is_some_and(|bar| rank > bar) {
            return;
        }
        secret::push(&mut self.candidates, Candidate { rank, member: row.member });
        if self.candidates.len() >= self.limit.saturating_mul(2) {
            self.choose();
        }
    }

    /// Leaves the items of the smallest `limit` ranks, each once, in their order.
    fn choose(&mut self) {
        self.candidates.sort_unstable();
        self.candidates.dedup_by(|next, first| first.member.join(&next.member));
        self.candidates.truncate(self.limit);
        let last = self.candidates.last().map(|last| last.rank);
        self.bar = last.filter(|_| self.candidates.len() == self.limit);
    }

    /// Gives the kept items to `keep`, and is ready for the next user.
    pub(super) fn take<E>(&mut self, mut keep: impl FnMut(Member) -> Result<(), E>) -> Result<(), E> {
        self.choose();
        let done = self.candidates.iter().try_for_each(|candidate| keep(candidate.member));
        self.candidates.clear();
        self.bar = None;
        done
    }
}
