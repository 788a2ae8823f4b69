//! The members of a set, each once.

use f0_sketch::Weight;
use zeroize::DefaultIsZeroes;

use crate::error::Error;
use crate::user_bound::{Record, Sorter, SpillSettings, UserBoundError, read_words, write_words};

/// The 128-bit hash of an item.
pub(super) type ItemHash = [u64; 2];

/// Marks an item that came with different weights; weights themselves need 33 bits.
const CONFLICT: u64 = 1 << 63;

/// Collects items with their weights, and gives each of them back once, however often it came. What does not fit in memory
/// goes to a temporary file.
pub(super) struct Members(Sorter<Member>);

/// How many items there were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MemberCounts {
    /// Distinct items.
    pub(super) items: u64,
    /// Those that came with different weights.
    pub(super) conflicts: u64,
}

impl Members {
    pub(super) fn new(settings: SpillSettings) -> Result<Self, UserBoundError> {
        Sorter::new(settings.memory, settings.folder).map(Self)
    }

    /// Takes an item with its weight.
    pub(super) fn push(&mut self, item: ItemHash, weight: Weight) -> Result<(), Error> {
        self.0.push(Member::new(item, weight))
    }

    /// Takes an item that may have come with different weights.
    pub(super) fn push_member(&mut self, member: Member) -> Result<(), Error> {
        self.0.push(member)
    }

    /// Takes over what another one has seen.
    pub(super) fn absorb(&mut self, other: Self) -> Result<(), Error> {
        let mut done = Ok(());
        other.0.finish(|member| {
            if done.is_ok() {
                done = self.0.push(member);
            }
        })?;
        done
    }

    /// Visits every item once, with the largest of its weights.
    pub(super) fn finish(
        self,
        mut visit: impl FnMut(ItemHash, Weight) -> Result<(), Error>,
    ) -> Result<MemberCounts, Error> {
        let mut counts = MemberCounts::default();
        let mut done = Ok(());
        self.0.finish(|member| {
            counts.items += 1;
            counts.conflicts += u64::from(member.is_conflict());
            if done.is_ok() {
                done = visit(member.item, member.weight());
            }
        })?;
        done.map(|()| counts)
    }
}

/// An item, and the largest weight it came with.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Member {
    item: ItemHash,
    /// The threshold, with a mark where it is the largest of several.
    weight: u64,
}

impl Member {
    pub(super) const fn new(item: ItemHash, weight: Weight) -> Self {
        Self { item, weight: weight.threshold() }
    }

    pub(super) const fn item(self) -> ItemHash {
        self.item
    }

    pub(super) fn weight(self) -> Weight {
        // Only thresholds of weights are marked.
        Weight::from_threshold(self.weight & !CONFLICT).unwrap_or(Weight::ONE)
    }

    /// Whether the item came with different weights.
    pub(super) const fn is_conflict(self) -> bool {
        self.weight & CONFLICT != 0
    }
}

impl DefaultIsZeroes for Member {}

impl Record for Member {
    const BYTES: usize = 24;

    fn write(self, bytes: &mut [u8]) {
        write_words(bytes, &[self.item[0], self.item[1], self.weight]);
    }

    fn read(bytes: &[u8]) -> Self {
        let [first, second, weight] = read_words(bytes);
        Self { item: [first, second], weight }
    }

    fn join(&mut self, next: &Self) -> bool {
        let equal = self.item == next.item;
        if equal {
            let (own, other) = (self.weight & !CONFLICT, next.weight & !CONFLICT);
            let marked = (self.weight | next.weight) & CONFLICT;
            self.weight = own.max(other) | marked | if own == other { 0 } else { CONFLICT };
        }
        equal
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn members(folder: &std::path::Path) -> Members {
        Members::new(SpillSettings { folder: folder.to_owned(), memory: 1 << 16 }).unwrap()
    }

    #[test]
    fn every_item_comes_back_once_with_its_largest_weight_however_often_the_disk_was_used() {
        let folder = tempfile::tempdir().unwrap();
        let mut parts = [members(folder.path()), members(folder.path())];
        let mut expected: BTreeMap<ItemHash, Vec<u64>> = BTreeMap::new();
        for row in 0..60_000_u64 {
            let item = [row * 7 % 9_000, 5];
            // Items below 1000 come with two weights, in different parts and at different times.
            let weight = if item[0] < 1_000 { 1 + row / 9_000 % 2 } else { 1 << 32 };
            parts[usize::from(row % 3 == 0)].push(item, Weight::from_threshold(weight).unwrap()).unwrap();
            expected.entry(item).or_default().push(weight);
        }
        let [mut first, second] = parts;
        first.absorb(second).unwrap();
        let mut found = Vec::new();
        let visit = |item, weight: Weight| {
            found.push((item, weight.threshold()));
            Ok(())
        };
        let counts = first.finish(visit).unwrap();
        let largest: Vec<_> = expected.iter().map(|(item, weights)| (*item, *weights.iter().max().unwrap())).collect();
        assert!(found == largest);
        assert_eq!(counts, MemberCounts { items: 9_000, conflicts: 1_000 });
    }

    #[test]
    fn records_come_back_from_their_bytes() {
        let member = Member { item: [1, u64::MAX], weight: CONFLICT | 1 << 32 };
        let mut bytes = [0; Member::BYTES];
        member.write(&mut bytes);
        assert!(Member::read(&bytes) == member);
        assert!(core::mem::size_of::<Member>() <= Member::BYTES);
    }

    #[test]
    fn too_little_memory_is_refused() {
        let settings = SpillSettings { folder: std::env::temp_dir(), memory: 100 };
        assert!(matches!(Members::new(settings), Err(UserBoundError::Memory { .. })));
    }
}
