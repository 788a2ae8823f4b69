//! Unsigned fixed-point numbers with stated rounding: the smallest arithmetic that the probabilities need.

use core::cmp::Ordering;

/// Room for the product of two numbers of at most eight limbs.
const PRODUCT_LIMBS: usize = 16;

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
