//! Probabilities that 64 random bits can realise exactly.

use core::fmt;

/// A probability `numerator / 2⁶⁴`, below 1.
///
/// Noise of this type is exact: the event happens when a uniform 64-bit word is less than the numerator, so the
/// probability that a proof speaks of is the one drawn. Probability 1 has no such numerator; where it can occur it is
/// written as an `Option` or an own variant.
///
/// # Examples
/// ```
/// use dp_noise::DyadicProbability;
/// let p = DyadicProbability::from_numerator(3 << 62);
/// assert_eq!(p.to_f64(), 0.75);
/// assert_eq!(p.complement().map(|q| q.to_f64()), Some(0.25));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DyadicProbability(u64);

impl DyadicProbability {
    /// The impossible event.
    pub const ZERO: Self = Self(0);

    /// The probability `numerator / 2⁶⁴`.
    #[must_use]
    pub const fn from_numerator(numerator: u64) -> Self {
        Self(numerator)
    }

    /// Exactly one half.
    #[must_use]
    pub const fn half() -> Self {
        Self(1 << 63)
    }

    /// The numerator over `2⁶⁴`.
    #[must_use]
    pub const fn numerator(self) -> u64 {
        self.0
    }

    /// The probability of the opposite event; `None` for probability 0, whose opposite is certain.
    #[must_use]
    pub const fn complement(self) -> Option<Self> {
        if self.0 == 0 { None } else { Some(Self(self.0.wrapping_neg())) }
    }

    /// The nearest `f64`. It may be 1 for numerators within `2¹⁰` of `2⁶⁴`; decide nothing about noise by it.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        to_f64(self.0) / TWO_POW_64
    }

    /// How many leading binary digits are enough to write the probability (64 less its trailing zeros).
    pub(crate) const fn significant_digits(self) -> u32 {
        64 - if self.0 == 0 { 64 } else { self.0.trailing_zeros() }
    }
}

impl fmt::Debug for DyadicProbability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DyadicProbability({} / 2^64)", self.0)
    }
}

const TWO_POW_64: f64 = 18_446_744_073_709_551_616.0;

/// The nearest `f64` of an integer.
#[expect(clippy::cast_precision_loss, reason = "the one place where rounding an integer to the nearest f64 is meant")]
pub(crate) fn to_f64(value: u64) -> f64 {
    value as f64
}
