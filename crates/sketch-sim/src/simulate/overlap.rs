//! How the parties' sets overlap, as regions that are thrown once each.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use super::settings::UnknownWord;
use crate::number;

/// How the parties' sets overlap. The size of their union is the same in every case.
///
/// A set that a pattern leaves without a partner, the last of an odd number of [`Pairs`](Self::Pairs) say, stands alone;
/// with fewer items than sets some sets are empty; and of a single set every pattern makes the same: all items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlap {
    /// Each item in one set, the sets as equal in size as can be.
    Disjoint,
    /// Half of the items in every set, each of the rest in one set.
    Half,
    /// Every item in every set.
    Same,
    /// Nine in ten items in every set, each of the rest in one set.
    Share90,
    /// Disjoint sets, of which the first holds three in four items and the others are equal.
    One75,
    /// The first set holds every item; the others are disjoint parts of it, each one in `k`.
    Subset,
    /// Disjoint sets with sizes in proportion to 1, 1/2, 1/3, …
    PowerLaw,
    /// Half of the items in every set, the rest as in [`PowerLaw`](Self::PowerLaw).
    HalfPowerLaw,
    /// Disjoint sets, in turn 15 % larger and 15 % smaller than their mean.
    Sizes15,
    /// Each set holds the one before; sizes in proportion to 1, 2, 3, …
    Nested,
    /// The first two sets are the same, so are the next two, and so on; pairs are disjoint and equal in size.
    Pairs,
    /// Half of the items in every set, the rest as in [`Pairs`](Self::Pairs).
    HalfPairs,
}

/// Every pattern with its word.
const WORDS: [(Overlap, &str); 12] = [
    (Overlap::Disjoint, "disjoint"),
    (Overlap::Half, "half"),
    (Overlap::Same, "same"),
    (Overlap::Share90, "share90"),
    (Overlap::One75, "one75"),
    (Overlap::Subset, "subset"),
    (Overlap::PowerLaw, "powerlaw"),
    (Overlap::HalfPowerLaw, "half-powerlaw"),
    (Overlap::Sizes15, "sizes15"),
    (Overlap::Nested, "nested"),
    (Overlap::Pairs, "pairs"),
    (Overlap::HalfPairs, "half-pairs"),
];

/// Items that lie in the same sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    pub(crate) items: u64,
    pub(crate) members: Members,
}

/// The sets that hold a region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Members {
    /// Sets in a row.
    Row(Range<u32>),
    /// The first set and another.
    FirstAnd(u32),
}

impl Members {
    /// How many sets.
    pub(crate) fn count(&self) -> f64 {
        match self {
            Self::Row(row) => f64::from(row.end - row.start),
            Self::FirstAnd(_) => 2.0,
        }
    }

    /// Whether set `party` holds the region.
    pub(crate) fn holds(&self, party: u32) -> bool {
        match self {
            Self::Row(row) => row.contains(&party),
            Self::FirstAnd(other) => party == 0 || party == *other,
        }
    }
}

impl Overlap {
    /// All of them, in the order of their words in the usage text.
    pub const ALL: [Self; 12] = {
        let mut all = [Self::Disjoint; 12];
        let mut index = 0;
        while index < 12 {
            all[index] = WORDS[index].0;
            index += 1;
        }
        all
    };

    /// The words, for a message.
    pub(crate) fn words() -> String {
        WORDS.map(|(_, word)| word).join(", ")
    }

    /// Items in every set.
    pub(crate) const fn common(self, n: u64) -> u64 {
        match self {
            Self::Half | Self::HalfPowerLaw | Self::HalfPairs => n / 2,
            Self::Same => n,
            Self::Share90 => n - n / 10,
            Self::Disjoint
            | Self::One75
            | Self::Subset
            | Self::PowerLaw
            | Self::Sizes15
            | Self::Nested
            | Self::Pairs => 0,
        }
    }

    /// The regions of `n` items in `parties` sets, first that of the items in every set. Their items add up to `n`.
    pub(crate) fn regions(self, n: u64, parties: u32) -> Vec<Region> {
        let common = self.common(n);
        let parts = self.parts(parties);
        let weights: Vec<f64> = parts.iter().map(|(_, weight)| *weight).collect();
        let rest = split(n - common, &weights);
        let own = parts.into_iter().zip(rest).map(|((members, _), items)| Region { items, members });
        let core = Region { items: common, members: Members::Row(0..parties) };
        std::iter::once(core).chain(own).collect()
    }

    /// Who holds the items that are not in every set, and in which proportion.
    fn parts(self, parties: u32) -> Vec<(Members, f64)> {
        let alone = |party: u32| Members::Row(party..party + 1);
        let each = |weight: &dyn Fn(u32) -> f64| (0..parties).map(|party| (alone(party), weight(party))).collect();
        match self {
            Self::Disjoint | Self::Half | Self::Same | Self::Share90 => each(&|_| 1.0),
            Self::One75 => {
                let others = 0.25 / f64::from((parties - 1).max(1));
                each(&|party| if party == 0 { 0.75 } else { others })
            }
            Self::Subset => {
                (0..parties).map(|party| (if party == 0 { alone(0) } else { Members::FirstAnd(party) }, 1.0)).collect()
            }
            Self::PowerLaw | Self::HalfPowerLaw => each(&|party| 1.0 / f64::from(party + 1)),
            // The last of an odd number has the mean.
            Self::Sizes15 => each(&|party| match (party % 2, party + 1 == parties) {
                (0, true) => 1.0,
                (0, false) => 1.15,
                _ => 0.85,
            }),
            Self::Nested => (0..parties).map(|party| (Members::Row(party..parties), 1.0)).collect(),
            Self::Pairs | Self::HalfPairs => {
                (0..parties).step_by(2).map(|first| (Members::Row(first..(first + 2).min(parties)), 1.0)).collect()
            }
        }
    }
}

/// Whole parts of `n` in these proportions. Equal parts differ by one at most, the larger ones first.
fn split(n: u64, weights: &[f64]) -> Vec<u64> {
    let count = weights.len() as u64;
    if weights.iter().all(|weight| weight.to_bits() == weights[0].to_bits()) {
        return (0..count).map(|part| n / count + u64::from(part < n % count)).collect();
    }
    let total: f64 = weights.iter().sum();
    let (mut below, mut given) = (0.0, 0);
    let mut next = |weight: &f64| {
        below += weight;
        let upto = number::floor_clamped((number::to_f64(n) * (below / total)).round()).clamp(given, n);
        let part = upto - given;
        given = upto;
        part
    };
    let mut parts: Vec<u64> = weights.iter().map(&mut next).collect();
    // A sum of floats may miss the end by a rounding.
    let missing = n - parts.iter().sum::<u64>();
    if let Some(last) = parts.last_mut() {
        *last += missing;
    }
    parts
}

impl FromStr for Overlap {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        WORDS.into_iter().find(|(_, known)| *known == word).map(|(overlap, _)| overlap).ok_or(UnknownWord)
    }
}

impl fmt::Display for Overlap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(WORDS.into_iter().find(|(known, _)| known == self).map_or("another", |(_, word)| word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sizes of the sets.
    fn sizes(overlap: Overlap, n: u64, parties: u32) -> Vec<u64> {
        let regions = overlap.regions(n, parties);
        let held = |party| regions.iter().filter(|region| region.members.holds(party)).map(|region| region.items).sum();
        (0..parties).map(held).collect()
    }

    #[test]
    fn every_pattern_has_the_union_that_was_asked_for() {
        for overlap in Overlap::ALL {
            for (n, parties) in
                [(1, 1), (1, 3), (1000, 3), (1001, 7), (5, 8), (999, 32), (1_000_003, 1024), (1 << 60, 31)]
            {
                let regions = overlap.regions(n, parties);
                assert_eq!(regions.iter().map(|region| region.items).sum::<u64>(), n, "{overlap}, {parties} sets");
                let held = |region: &Region| (0..parties).any(|party| region.members.holds(party));
                assert!(regions.iter().all(held), "{overlap}, {parties} sets");
            }
            assert_eq!(sizes(overlap, 77, 1), [77], "{overlap}");
            assert_eq!(overlap.to_string().parse(), Ok(overlap));
        }
    }

    #[test]
    fn sets_have_the_sizes_of_their_pattern() {
        assert_eq!(sizes(Overlap::Disjoint, 10, 4), [3, 3, 2, 2]);
        assert_eq!(sizes(Overlap::Half, 10, 4), [7, 6, 6, 6]);
        assert_eq!(sizes(Overlap::Same, 10, 2), [10, 10]);
        assert_eq!(sizes(Overlap::Share90, 1000, 4), [925; 4]);
        assert_eq!(sizes(Overlap::One75, 1000, 6), [750, 50, 50, 50, 50, 50]);
        assert_eq!(sizes(Overlap::Subset, 1000, 2), [1000, 500]);
        assert_eq!(sizes(Overlap::Subset, 1000, 5), [1000, 200, 200, 200, 200]);
        assert_eq!(sizes(Overlap::PowerLaw, 1100, 3), [600, 300, 200]);
        assert_eq!(sizes(Overlap::HalfPowerLaw, 2200, 3), [1700, 1400, 1300]);
        assert_eq!(sizes(Overlap::Sizes15, 400, 4), [115, 85, 115, 85]);
        assert_eq!(sizes(Overlap::Sizes15, 300, 3), [115, 85, 100]);
        assert_eq!(sizes(Overlap::Nested, 400, 4), [100, 200, 300, 400]);
        assert_eq!(sizes(Overlap::Pairs, 300, 5), [100; 5]);
        assert_eq!(sizes(Overlap::HalfPairs, 600, 5), [400; 5]);
    }

    #[test]
    fn pairs_are_the_same_two_by_two_and_chains_hold_each_other() {
        let pairs = Overlap::Pairs.regions(300, 5);
        assert_eq!(pairs.len(), 4);
        assert!(pairs[1].members.holds(0) && pairs[1].members.holds(1) && !pairs[1].members.holds(2));
        let chain = Overlap::Nested.regions(400, 4);
        for (ring, region) in (0..).zip(&chain[1..]) {
            assert!((0..4).all(|set| region.members.holds(set) == (set >= ring)));
        }
    }
}
