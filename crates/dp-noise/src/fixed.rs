//! Unsigned fixed-point numbers with stated rounding: the smallest arithmetic that the probabilities need.

use core::cmp::Ordering;

/// Room for the product of two numbers of at most twenty limbs.
const PRODUCT_LIMBS: usize = 40;

/// `N` 64-bit limbs, least significant first; the last limb is the integer part, the others are the fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fixed<const N: usize>([u64; N]);

impl<const N: usize> Fixed<N> {
    pub(crate) const ZERO: Self = Self([0; N]);

    /// The integer `value`.
    pub(crate) const fn from_integer(value: u64) -> Self {
        let mut limbs = [0; N];
        limbs[N - 1] = value;
        Self(limbs)
    }

    /// The least positive number.
    pub(crate) const fn unit() -> Self {
        let mut limbs = [0; N];
        limbs[0] = 1;
        Self(limbs)
    }

    /// `2^-places`, or zero where that is below the least positive number.
    pub(crate) const fn power(places: usize) -> Self {
        let mut limbs = [0; N];
        if let Some(place) = (64 * (N - 1)).checked_sub(places) {
            limbs[place / 64] = 1 << (place % 64);
        }
        Self(limbs)
    }

    /// `2²⁰` times the least positive number: what products rounded up can still fall to.
    pub(crate) const fn small() -> Self {
        let mut limbs = [0; N];
        limbs[0] = 1 << 20;
        Self(limbs)
    }

    /// A finite, nonnegative `f64` below 2⁶⁴, exactly; `None` where it has bits below the last place.
    pub(crate) fn from_f64(value: f64) -> Option<Self> {
        if !(0.0..18_446_744_073_709_551_616.0).contains(&value) {
            return None;
        }
        let bits = value.abs().to_bits(); // −0 is 0
        let stored_exponent = usize::try_from(bits >> 52).ok()?;
        if stored_exponent == 0 {
            return (value == 0.0).then_some(Self::ZERO);
        }
        let mantissa = (bits & ((1 << 52) - 1)) | (1 << 52);
        let zeros = usize::try_from(mantissa.trailing_zeros()).ok()?;
        // value = (mantissa >> zeros) · 2^(stored_exponent − 1075 + zeros); place of its last bit in the limbs:
        let place = (64 * (N - 1) + stored_exponent + zeros).checked_sub(1075)?;
        let wide = u128::from(mantissa >> zeros) << (place % 64);
        let mut limbs = [0; N];
        let [low, high] = halves(wide);
        limbs[place / 64] = low;
        if high != 0 {
            *limbs.get_mut(place / 64 + 1)? = high;
        }
        Some(Self(limbs))
    }

    /// `numerator / denominator` rounded down, and whether it was inexact. The quotient is below 2⁶⁴.
    pub(crate) fn from_ratio(numerator: u128, denominator: u128) -> (Self, bool) {
        let mut limbs = [0; N];
        let mut rest = numerator % denominator;
        [limbs[N - 1], _] = halves(numerator / denominator);
        for limb in limbs[..N - 1].iter_mut().rev() {
            for _ in 0..64 {
                // The doubled remainder may have 129 bits; it is below twice the denominator.
                let over = rest >> 127 == 1;
                rest <<= 1;
                let one = over || rest >= denominator;
                if one {
                    rest = rest.wrapping_sub(denominator);
                }
                *limb = (*limb << 1) | u64::from(one);
            }
        }
        (Self(limbs), rest != 0)
    }

    /// The fraction whose binary digits are `words`, first word first; fewer than `N` of them.
    pub(crate) fn from_fraction(words: &[u64]) -> Self {
        let mut limbs = [0; N];
        for (limb, word) in limbs[..N - 1].iter_mut().rev().zip(words) {
            *limb = *word;
        }
        Self(limbs)
    }

    /// `1 / self` rounded down, for a number of at least 1. Within one unit, so add one for an upper bound.
    pub(crate) fn reciprocal(&self) -> Self {
        debug_assert!(self.0[N - 1] >= 1);
        let mut limbs = [0; N];
        // Long division of 1: the remainder stays below the divisor.
        let mut rest = Self::from_integer(1);
        if rest == *self {
            return rest;
        }
        for limb in limbs[..N - 1].iter_mut().rev() {
            for _ in 0..64 {
                rest = rest.plus(&rest);
                let one = rest >= *self;
                if one {
                    rest = rest.minus(self);
                }
                *limb = (*limb << 1) | u64::from(one);
            }
        }
        Self(limbs)
    }

    /// `2^places · self`, rounded up to an integer; the number is below `2^(63 − places)`, `64 <= places < 128`.
    pub(crate) fn scaled_up(&self, places: u32) -> u64 {
        let wide = (u128::from(self.0[N - 2]) << 64) | u128::from(self.0[N - 3]);
        let [digits, _] = halves(wide >> (128 - places));
        digits + 1
    }

    /// The first 64 binary digits after the point; all ones for numbers of 1 and more.
    pub(crate) fn first_word(&self) -> u64 {
        if self.0[N - 1] == 0 { self.0[N - 2] } else { u64::MAX }
    }

    /// The first 128 binary digits after the point, in two words.
    pub(crate) fn first_words(&self) -> [u64; 2] {
        [self.0[N - 2], self.0[N - 3]]
    }

    /// The first 192 binary digits after the point, in three words.
    pub(crate) fn first_three_words(&self) -> [u64; 3] {
        [self.0[N - 2], self.0[N - 3], self.0[N - 4]]
    }

    /// The limbs, least significant first.
    #[cfg(test)]
    pub(crate) fn limbs(&self) -> &[u64; N] {
        &self.0
    }

    /// The sum. Callers keep values far below 2⁶⁴.
    pub(crate) fn plus(mut self, other: &Self) -> Self {
        let mut carry = false;
        for (a, b) in self.0.iter_mut().zip(other.0) {
            let (sum, over) = a.overflowing_add(b);
            let (sum, over_carry) = sum.overflowing_add(u64::from(carry));
            (*a, carry) = (sum, over | over_carry);
        }
        debug_assert!(!carry, "fixed-point sum overflowed");
        self
    }

    /// The difference, or zero when `other` is larger.
    pub(crate) fn minus(mut self, other: &Self) -> Self {
        let mut borrow = false;
        for (a, b) in self.0.iter_mut().zip(other.0) {
            let (difference, under) = a.overflowing_sub(b);
            let (difference, under_borrow) = difference.overflowing_sub(u64::from(borrow));
            (*a, borrow) = (difference, under | under_borrow);
        }
        if borrow { Self::ZERO } else { self }
    }

    /// Half the number rounded down, and whether a bit was lost.
    pub(crate) fn halved(mut self) -> (Self, bool) {
        let lost = self.0[0] & 1 == 1;
        let mut carry = 0;
        for limb in self.0.iter_mut().rev() {
            (*limb, carry) = ((*limb >> 1) | (carry << 63), *limb & 1);
        }
        (self, lost)
    }

    /// The product rounded down, and whether it was inexact.
    pub(crate) fn times(&self, other: &Self) -> (Self, bool) {
        debug_assert!(2 * N <= PRODUCT_LIMBS);
        let mut product = [0_u64; PRODUCT_LIMBS];
        for (i, &a) in self.0.iter().enumerate() {
            let mut carry = 0;
            for (j, &b) in other.0.iter().enumerate() {
                [product[i + j], carry] =
                    halves(u128::from(a) * u128::from(b) + u128::from(product[i + j]) + u128::from(carry));
            }
            product[i + N] = carry;
        }
        debug_assert!(product[2 * N - 1] == 0, "fixed-point product overflowed");
        let mut limbs = [0; N];
        limbs.copy_from_slice(&product[N - 1..2 * N - 1]);
        (Self(limbs), product[..N - 1].iter().any(|&limb| limb != 0))
    }

    /// The quotient by a small integer rounded down, and whether it was inexact.
    pub(crate) fn divided_by(mut self, divisor: u64) -> (Self, bool) {
        let mut rest = 0;
        for limb in self.0.iter_mut().rev() {
            let wide = (u128::from(rest) << 64) | u128::from(*limb);
            [*limb, _] = halves(wide / u128::from(divisor));
            [rest, _] = halves(wide % u128::from(divisor));
        }
        (self, rest != 0)
    }

    /// Whether `factor · self <= bound`, exactly.
    pub(crate) fn scaled_is_at_most(&self, factor: u64, bound: u64) -> bool {
        let (mut carry, mut fraction) = (0, 0);
        for &limb in &self.0[..N - 1] {
            let low;
            [low, carry] = halves(u128::from(limb) * u128::from(factor) + u128::from(carry));
            fraction |= low;
        }
        let whole = u128::from(self.0[N - 1]) * u128::from(factor) + u128::from(carry);
        whole < u128::from(bound) || (whole == u128::from(bound) && fraction == 0)
    }
}

impl<const N: usize> Ord for Fixed<N> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.iter().rev().cmp(other.0.iter().rev())
    }
}

impl<const N: usize> PartialOrd for Fixed<N> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Low and high 64 bits.
#[expect(clippy::cast_possible_truncation, reason = "taking the two halves of a word is the point")]
const fn halves(wide: u128) -> [u64; 2] {
    [wide as u64, (wide >> 64) as u64]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// With two limbs a number is a `u128` in units of 2⁻⁶⁴, and plain integers are the reference.
    fn fixed(units: u128) -> Fixed<2> {
        Fixed(halves(units))
    }

    fn units(value: &Fixed<2>) -> u128 {
        u128::from(value.0[0]) | (u128::from(value.0[1]) << 64)
    }

    proptest! {
        #[test]
        fn arithmetic_agrees_with_integers(a in 0..1_u128 << 96, b in 0..1_u128 << 95, n in 1..u64::MAX) {
            prop_assert_eq!(units(&fixed(a).plus(&fixed(b))), a + b);
            prop_assert_eq!(units(&fixed(a).minus(&fixed(b))), a.saturating_sub(b));
            prop_assert_eq!(fixed(a).cmp(&fixed(b)), a.cmp(&b));
            let (half, lost) = fixed(a).halved();
            prop_assert_eq!((units(&half), lost), (a / 2, a % 2 == 1));
            let (quotient, inexact) = fixed(a).divided_by(n);
            prop_assert_eq!((units(&quotient), inexact), (a / u128::from(n), a % u128::from(n) != 0));
        }

        #[test]
        fn products_agree_with_integers(a in 0..1_u128 << 64, b in 0..1_u128 << 64) {
            let (product, inexact) = fixed(a).times(&fixed(b));
            prop_assert_eq!((units(&product), inexact), ((a * b) >> 64, (a * b) << 64 != 0));
        }

        #[test]
        fn products_of_large_numbers_agree_with_long_multiplication(a in 0..1_u128 << 95, b in 0..1_u128 << 95) {
            let [al, ah] = halves(a).map(u128::from);
            let [bl, bh] = halves(b).map(u128::from);
            // (ah + al/2⁶⁴)(bh + bl/2⁶⁴) in units of 2⁻⁶⁴
            let expected = ((ah * bh) << 64) + ah * bl + al * bh + ((al * bl) >> 64);
            prop_assert_eq!(units(&fixed(a).times(&fixed(b)).0), expected);
        }

        #[test]
        fn scaled_comparison_agrees_with_integers(a in 0..1_u128 << 64, factor: u64, slack in -2..3_i64) {
            let product = a * u128::from(factor);
            let near = u64::try_from(product >> 64).unwrap().saturating_add_signed(slack);
            prop_assert_eq!(fixed(a).scaled_is_at_most(factor, near), product <= u128::from(near) << 64);
        }

        #[test]
        fn floats_convert_exactly_or_not_at_all(mantissa in 0..1_u64 << 53, exponent in -130..70_i32) {
            let value = crate::dyadic::to_f64(mantissa) * 2.0_f64.powi(exponent);
            let expected = (value < 2.0_f64.powi(64)).then(|| {
                let shift = exponent + 64;
                let wide = u128::from(mantissa);
                if shift >= 0 { Some(wide << shift) } else {
                    let kept = wide.checked_shr(shift.unsigned_abs()).unwrap_or(0);
                    (kept.checked_shl(shift.unsigned_abs()).unwrap_or(0) == wide).then_some(kept)
                }
            });
            prop_assert_eq!(Fixed::<2>::from_f64(value).map(|f| units(&f)), expected.flatten());
        }
    }

    proptest! {
        #[test]
        fn quotients_of_integers_are_rounded_down(n: u64, d in 1_u128.., small in 1_u64..) {
            let (quotient, inexact) = Fixed::<2>::from_ratio(n.into(), small.into());
            let wide = u128::from(n) << 64;
            prop_assert_eq!(units(&quotient), wide / u128::from(small));
            prop_assert_eq!(inexact, wide % u128::from(small) != 0);
            // Divisors of up to 128 bits, where the remainder has no room: q d <= n 2^128 < (q + 1) d.
            let quotient = Fixed::<3>::from_ratio(n.into(), d).0;
            let [low, middle, high] = quotient.0;
            prop_assert_eq!(u128::from(high), u128::from(n) / d);
            let digits = u128::from(low) | (u128::from(middle) << 64);
            let product = crate::wide::Wide::product(digits, d);
            let target = crate::wide::Wide::product(u128::from(n) % d, 1 << 127).checked_shl(1).unwrap();
            prop_assert!(product <= target);
            prop_assert!(target < product.checked_add(crate::wide::Wide::from(d)).unwrap());
        }

        #[test]
        fn reciprocals_are_rounded_down(x in 1_u128 << 64..1 << 96) {
            // floor(2^128 / x)
            let expected = (u128::MAX - x + 1) / x + 1;
            prop_assert_eq!(units(&fixed(x).reciprocal()), expected);
        }

        #[test]
        fn scaling_is_rounded_up(x in 0..1_u128 << 120, places in 64..70_u32) {
            let value = Fixed::<3>([halves(x)[0], halves(x)[1] >> 7, 0]);
            let digits = u128::from(value.0[0]) | (u128::from(value.0[1]) << 64);
            prop_assert_eq!(u128::from(value.scaled_up(places)), (digits >> (128 - places)) + 1);
        }
    }

    #[test]
    fn powers_and_fractions_have_their_digits() {
        assert_eq!(Fixed::<3>::power(0), Fixed::from_integer(1));
        assert_eq!(Fixed::<3>::power(128), Fixed::unit());
        assert_eq!(Fixed::<3>::power(129), Fixed::ZERO);
        assert_eq!(Fixed::<3>::from_fraction(&[1 << 63]), Fixed::power(1));
        assert_eq!(Fixed::<3>::from_fraction(&[0, 1]), Fixed::unit());
        assert_eq!(Fixed::<3>::from_integer(1).first_word(), u64::MAX);
        assert_eq!(Fixed::<3>::power(64).first_word(), 1);
        assert_eq!(Fixed::<3>::from_integer(1).reciprocal(), Fixed::from_integer(1));
    }

    #[test]
    fn values_that_are_no_fixed_point_numbers_are_refused() {
        for value in [-1.0, f64::NAN, f64::INFINITY, 2.0_f64.powi(64), 2.0_f64.powi(-65), f64::MIN_POSITIVE / 2.0] {
            assert_eq!(Fixed::<2>::from_f64(value), None, "{value}");
        }
        assert_eq!(Fixed::<2>::from_f64(-0.0), Some(Fixed::ZERO));
    }
}
