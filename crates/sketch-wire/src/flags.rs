//! The flag byte.

use core::{fmt, ops::BitOr};

/// What a reader must know about the content before it looks at the body.
///
/// A set of bits, joined with `|`. [`encode`](crate::encode) and [`decode`](crate::decode) accept exactly the sets
/// with one of [`PRIVATE`](Self::PRIVATE) and [`RAW`](Self::RAW), in agreement with the family.
///
/// # Examples
/// ```
/// use sketch_wire::Flags;
///
/// let flags = Flags::PRIVATE | Flags::INSECURE_NOISE;
/// assert!(flags.contains(Flags::PRIVATE) && !flags.contains(Flags::RAW));
/// assert_eq!(flags.bits(), 0b101);
/// assert_eq!(flags.to_string(), "private, insecure_noise");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Flags(u8);

impl Flags {
    /// Bit 0: noised state, safe to publish within the privacy that its body states.
    pub const PRIVATE: Self = Self(1);
    /// Bit 1: state before noise, which must not leave its owner.
    pub const RAW: Self = Self(2);
    /// Bit 2: some noise came from a predictable generator, so the content has **no** privacy.
    pub const INSECURE_NOISE: Self = Self(4);

    const ALL: u8 = Self::PRIVATE.0 | Self::RAW.0 | Self::INSECURE_NOISE.0;

    /// The set with these bits; `None` when a bit has no meaning.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Option<Self> {
        if bits & !Self::ALL == 0 { Some(Self(bits)) } else { None }
    }

    /// The byte in the header.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// True when every flag of `other` is set here.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for Flags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl fmt::Display for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [(Self::PRIVATE, "private"), (Self::RAW, "raw"), (Self::INSECURE_NOISE, "insecure_noise")];
        let mut separator = "";
        for (_, name) in names.iter().filter(|(flag, _)| self.contains(*flag)) {
            write!(f, "{separator}{name}")?;
            separator = ", ";
        }
        if separator.is_empty() { f.write_str("none") } else { Ok(()) }
    }
}
