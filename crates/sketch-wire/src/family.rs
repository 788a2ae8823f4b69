//! The registry of families: which kind of sketch a file holds.

use core::fmt;

/// Whether files of a family hold data that must not leave its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// Noised state, safe to publish.
    Private,
    /// State before noise.
    Raw,
    /// Example bytes: either.
    Either,
}

/// The kind of sketch that a body describes, one byte of the header.
///
/// Numbers are assigned once, here, and never reused. Raw and private state of one sketch are two families, so that
/// bytes of one are never taken for the other.
///
/// # Examples
/// ```
/// use sketch_wire::Family;
///
/// assert_eq!(Family::from_number(1), Some(Family::SFM_PRIVATE));
/// assert_eq!(Family::SFM_PRIVATE.name(), "sfm-private");
/// assert!(Family::PCSA_RAW.is_raw());
/// assert_eq!(Family::from_number(0), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Family(u8);

/// Number, name and content of every family, by rising number.
const REGISTRY: [(Family, &str, Content); 20] = [
    (Family::SFM_PRIVATE, "sfm-private", Content::Private),
    (Family::PCSA_RAW, "pcsa-raw", Content::Raw),
    (Family::LINEAR_PRIVATE, "linear-private", Content::Private),
    (Family::LINEAR_RAW, "linear-raw", Content::Raw),
    (Family::BLOOM_PRIVATE, "bloom-private", Content::Private),
    (Family::BLOOM_RAW, "bloom-raw", Content::Raw),
    (Family::LEGIONS_PRIVATE, "legions-private", Content::Private),
    (Family::LEGIONS_RAW, "legions-raw", Content::Raw),
    (Family::COUNTSKETCH_PRIVATE, "countsketch-private", Content::Private),
    (Family::COUNTSKETCH_RAW, "countsketch-raw", Content::Raw),
    (Family::PREFIX_PRIVATE, "prefix-private", Content::Private),
    (Family::PREFIX_RAW, "prefix-raw", Content::Raw),
    (Family::F0_PRIVATE, "f0-private", Content::Private),
    (Family::F0_RAW, "f0-raw", Content::Raw),
    (Family::SFM_TALLY, "sfm-tally", Content::Private),
    (Family::SFM_SUBSAMPLED, "sfm-subsampled", Content::Private),
    (Family::SFM_SUBSAMPLED_RAW, "sfm-subsampled-raw", Content::Raw),
    (Family::F0_SUBSAMPLED, "f0-subsampled", Content::Private),
    (Family::F0_SUBSAMPLED_RAW, "f0-subsampled-raw", Content::Raw),
    (Family::EXAMPLE, "example", Content::Either),
];

impl Family {
    /// A released Sketch-Flip-Merge sketch.
    pub const SFM_PRIVATE: Self = Self(1);
    /// A PCSA bitmap before noise.
    pub const PCSA_RAW: Self = Self(2);
    /// A released linear counting sketch.
    pub const LINEAR_PRIVATE: Self = Self(3);
    /// A linear counting bitmap before noise.
    pub const LINEAR_RAW: Self = Self(4);
    /// A released Bloom filter.
    pub const BLOOM_PRIVATE: Self = Self(5);
    /// A Bloom filter before noise.
    pub const BLOOM_RAW: Self = Self(6);
    /// A released Liquid Legions sketch.
    pub const LEGIONS_PRIVATE: Self = Self(7);
    /// A Liquid Legions bitmap before noise.
    pub const LEGIONS_RAW: Self = Self(8);
    /// A released CountSketch.
    pub const COUNTSKETCH_PRIVATE: Self = Self(9);
    /// A CountSketch before noise.
    pub const COUNTSKETCH_RAW: Self = Self(10);
    /// A released stack of prefix sketches.
    pub const PREFIX_PRIVATE: Self = Self(11);
    /// A stack of prefix sketches before noise.
    pub const PREFIX_RAW: Self = Self(12);
    /// A released GF(2) sketch of distinct counts or sums.
    pub const F0_PRIVATE: Self = Self(13);
    /// A GF(2) sketch before noise.
    pub const F0_RAW: Self = Self(14);
    /// Released Sketch-Flip-Merge sketches, counted cell by cell.
    pub const SFM_TALLY: Self = Self(15);
    /// A released Sketch-Flip-Merge sketch of a secret sample of the items.
    pub const SFM_SUBSAMPLED: Self = Self(16);
    /// A PCSA bitmap of a secret sample of the items before noise.
    pub const SFM_SUBSAMPLED_RAW: Self = Self(17);
    /// A released GF(2) sketch of a secret sample of the items.
    pub const F0_SUBSAMPLED: Self = Self(18);
    /// A GF(2) sketch of a secret sample of the items before noise.
    pub const F0_SUBSAMPLED_RAW: Self = Self(19);
    /// Bodies of documentation and tests. No sketch ever uses it.
    pub const EXAMPLE: Self = Self(255);

    /// The family with this number, if there is one.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        Self(number).entry().map(|entry| entry.0)
    }

    /// The byte that stands for this family in a header.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }

    /// The name in error messages and listings.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.entry().map_or("unknown", |entry| entry.1)
    }

    /// True when files of this family hold state before noise.
    #[must_use]
    pub fn is_raw(self) -> bool {
        self.entry().is_some_and(|entry| entry.2 == Content::Raw)
    }

    /// True when files of this family hold noised state only.
    #[must_use]
    pub fn is_private(self) -> bool {
        self.entry().is_some_and(|entry| entry.2 == Content::Private)
    }

    fn entry(self) -> Option<&'static (Self, &'static str, Content)> {
        const { &REGISTRY }.iter().find(|entry| entry.0 == self)
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (family {})", self.name(), self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_rise_and_names_differ() {
        for pair in REGISTRY.windows(2) {
            assert!(pair[0].0 < pair[1].0);
            assert_ne!(pair[0].1, pair[1].1);
        }
    }

    #[test]
    fn every_registered_number_finds_its_family_and_no_other_does() {
        for number in 0..=u8::MAX {
            let registered = REGISTRY.iter().any(|entry| entry.0.number() == number);
            assert_eq!(Family::from_number(number).is_some(), registered);
        }
    }

    #[test]
    fn no_family_is_both_raw_and_private() {
        assert!(REGISTRY.iter().all(|(family, _, _)| !(family.is_raw() && family.is_private())));
    }
}
