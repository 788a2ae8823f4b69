//! What a sketch was built from: a set, or streams with repetitions.

use core::fmt;

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Set {}
    impl Sealed for super::Presampled {}
}

/// How items enter a sketch, as part of its type: [`Set`] or [`Presampled`].
///
/// The two modes have different noise, different privacy proofs and different meanings of a merge, so that sketches of
/// one never meet those of the other. Sealed.
pub trait Mode: sealed::Sealed + Copy + Eq + fmt::Debug + Send + Sync + 'static {
    /// The mode as a value.
    const KIND: ModeKind;
}

/// Every item is present or absent: `x ∈ {0, 1}^u`, the setting of \[PS21\].
///
/// An insertion and a deletion both toggle the item's cell, the xor of two sketches is the sketch of the symmetric
/// difference, and an item that was inserted twice is gone. The input has to be free of repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Set {}

/// Raw streams with repetitions, of one or many parties: each occurrence toggles its cell with probability 1/2.
///
/// An item seen at least once is then there an odd number of times with probability exactly 1/2, whatever its multiplicity
/// and whoever saw it, so the xor of sketches is that of the union \[PS21\]. Items cannot be deleted, and the symmetric
/// difference is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presampled {}

impl Mode for Set {
    const KIND: ModeKind = ModeKind::Set;
}

impl Mode for Presampled {
    const KIND: ModeKind = ModeKind::Presampled;
}

/// A [`Mode`] as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ModeKind {
    /// See [`Set`].
    Set,
    /// See [`Presampled`].
    Presampled,
}

impl ModeKind {
    /// As bytes state it.
    pub(crate) const fn to_code(self) -> u8 {
        match self {
            Self::Set => 1,
            Self::Presampled => 2,
        }
    }

    pub(crate) const fn from_code(code: u8) -> Option<Self> {
        match code {
            1 => Some(Self::Set),
            2 => Some(Self::Presampled),
            _ => None,
        }
    }
}

impl fmt::Display for ModeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Set => "set",
            Self::Presampled => "presampled",
        })
    }
}
