//! Unsigned 256-bit integers: room for the product of two 128-bit ones, and no more than that.

use core::cmp::Ordering;

/// An integer below `2²⁵⁶`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wide {
    high: u128,
    low: u128,
}

impl Ord for Wide {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.high, self.low).cmp(&(other.high, other.low))
    }
}

impl PartialOrd for Wide {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl From<u128> for Wide {
    fn from(low: u128) -> Self {
        Self { high: 0, low }
    }
}

impl Wide {
    /// The product of two integers, exactly.
    pub(crate) fn product(a: u128, b: u128) -> Self {
        const LOW: u128 = u64::MAX as u128;
        let ([a_high, a_low], [b_high, b_low]) = ([a >> 64, a & LOW], [b >> 64, b & LOW]);
        let (bottom, cross, other) = (a_low * b_low, a_low * b_high, a_high * b_low);
        let middle = (bottom >> 64) + (cross & LOW) + (other & LOW);
        let low = (bottom & LOW) | (middle << 64);
        let high = a_high * b_high + (cross >> 64) + (other >> 64) + (middle >> 64);
        Self { high, low }
    }

    /// The integer where it is below `2¹²⁸`.
    pub(crate) fn to_u128(self) -> Option<u128> {
        (self.high == 0).then_some(self.low)
    }

    pub(crate) fn is_zero(self) -> bool {
        self == Self::from(0)
    }

    /// How many binary digits the integer has.
    pub(crate) fn bits(self) -> u32 {
        if self.high == 0 { 128 - self.low.leading_zeros() } else { 256 - self.high.leading_zeros() }
    }

    /// The sum, where it fits.
    pub(crate) fn checked_add(self, other: Self) -> Option<Self> {
        let (low, carry) = self.low.overflowing_add(other.low);
        let high = self.high.checked_add(other.high)?.checked_add(u128::from(carry))?;
        Some(Self { high, low })
    }

    /// The difference, where it is not negative.
    pub(crate) fn checked_sub(self, other: Self) -> Option<Self> {
        let (low, borrow) = self.low.overflowing_sub(other.low);
        let high = self.high.checked_sub(other.high)?.checked_sub(u128::from(borrow))?;
        Some(Self { high, low })
    }

    /// The integer times `2^shift`, where it fits.
    pub(crate) fn checked_shl(self, shift: u32) -> Option<Self> {
        if self.is_zero() {
            return Some(self);
        }
        if self.bits() + shift > 256 {
            return None;
        }
        Some(match shift {
            0 => self,
            1..128 => Self { high: (self.high << shift) | (self.low >> (128 - shift)), low: self.low << shift },
            _ => Self { high: self.low << (shift - 128), low: 0 },
        })
    }

    /// Quotient and remainder by a positive divisor, by long division in binary.
    pub(crate) fn div_rem(self, divisor: u128) -> (Self, u128) {
        let (mut high, mut low, mut rest) = (0_u128, 0_u128, 0_u128);
        for place in (0..self.bits()).rev() {
            let digit = if place >= 128 { self.high >> (place - 128) } else { self.low >> place } & 1;
            // The doubled remainder may have 129 bits; it is below twice the divisor, so one subtraction is enough.
            let over = rest >> 127 == 1;
            rest = (rest << 1) | digit;
            let one = over || rest >= divisor;
            if one {
                rest = rest.wrapping_sub(divisor);
            }
            let bit = u128::from(one);
            if place >= 128 { high |= bit << (place - 128) } else { low |= bit << place }
        }
        (Self { high, low }, rest)
    }

    /// The integer over `2^place` rounded down (the caller knows that it fits), and whether digits were cut off.
    fn split_at(self, place: u32) -> (u128, bool) {
        match place {
            0 => (self.low, false),
            1..128 => ((self.low >> place) | (self.high << (128 - place)), self.low << (128 - place) != 0),
            _ => {
                let over = place - 128;
                (self.high >> over, self.low != 0 || (over > 0 && self.high << (128 - over) != 0))
            }
        }
    }
}

/// A positive number given by its leading digits: `digits · 2^exponent` and possibly a little more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leading {
    /// 64 binary digits, the first of them 1, rounded down.
    pub(crate) digits: u64,
    pub(crate) exponent: i32,
    /// Whether anything was cut off.
    pub(crate) inexact: bool,
}

/// The leading 64 binary digits of `numerator / denominator`, both positive.
pub(crate) fn leading_digits(numerator: Wide, denominator: u128) -> Leading {
    // Shift the numerator up until the quotient has 64 digits or more, as far as that fits.
    let room = 256 - numerator.bits();
    let wanted = (65 + 128 - denominator.leading_zeros()).saturating_sub(numerator.bits());
    let shift = wanted.min(room);
    let shifted = numerator.checked_shl(shift).unwrap_or(numerator);
    let (quotient, rest) = shifted.div_rem(denominator);
    let excess = quotient.bits().saturating_sub(64);
    let (kept, cut) = quotient.split_at(excess);
    let digits = u64::try_from(kept).unwrap_or(u64::MAX);
    Leading { digits, exponent: excess.cast_signed() - shift.cast_signed(), inexact: cut || rest != 0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn division_undoes_multiplication(a: u128, b in 1..u128::MAX, rest: u128) {
            let rest = rest % b;
            let sum = Wide::product(a, b).checked_add(Wide::from(rest)).unwrap();
            prop_assert_eq!(sum.div_rem(b), (Wide::from(a), rest));
        }

        #[test]
        fn subtraction_undoes_addition(a: u128, b: u128, c: u128) {
            let (x, y) = (Wide::product(a, b >> 1), Wide::from(c));
            prop_assert_eq!(x.checked_add(y).unwrap().checked_sub(y), Some(x));
            prop_assert_eq!(x.checked_sub(x.checked_add(Wide::from(1)).unwrap()), None);
        }

        #[test]
        fn products_are_those_of_the_schoolbook(a: u128, b: u64) {
            let (low, high) = ((a & u128::from(u64::MAX)) * u128::from(b), (a >> 64) * u128::from(b));
            let expected = Wide::from(high).checked_shl(64).unwrap().checked_add(Wide::from(low)).unwrap();
            prop_assert_eq!(Wide::product(a, b.into()), expected);
            prop_assert_eq!(Wide::product(b.into(), a), expected);
        }

        #[test]
        fn shifts_are_products_with_powers(a: u64, shift in 0..190_u32) {
            let factor = (1_u128 << (shift / 2), 1_u128 << (shift - shift / 2));
            let product = Wide::product(u128::from(a), factor.0);
            let shifted = Wide::from(u128::from(a)).checked_shl(shift).unwrap();
            prop_assert_eq!(shifted.div_rem(factor.1), (product, 0));
        }

        #[test]
        fn leading_digits_enclose_the_quotient(n in 1..u128::MAX, m in 1..u128::MAX, d in 1..u128::MAX) {
            let numerator = Wide::product(n, m);
            let leading = leading_digits(numerator, d);
            prop_assert!(leading.digits >> 63 == 1);
            // digits · 2^e · d <= numerator < (digits + 1) · 2^e · d, with equality only if exact
            let bound = |digits: u128| Wide::product(digits, d);
            let scaled = |value: Wide, shift: i32| value.checked_shl(u32::try_from(shift).unwrap_or(0));
            let low = scaled(bound(leading.digits.into()), leading.exponent);
            let target = scaled(numerator, -leading.exponent).unwrap();
            prop_assert_eq!(low == Some(target), !leading.inexact);
            prop_assert!(low.is_some_and(|low| low <= target));
            let high = scaled(bound(u128::from(leading.digits) + 1), leading.exponent);
            prop_assert!(high.is_none_or(|high| target < high));
        }
    }

    #[test]
    fn what_does_not_fit_is_told() {
        let top = Wide { high: 1 << 127, low: 1 };
        assert_eq!((top.bits(), top.checked_shl(1), top.checked_add(top), top.to_u128()), (256, None, None, None));
        assert_eq!(Wide::from(0).checked_shl(1000), Some(Wide::from(0)));
    }
}
