//! Arithmetic on unevaluated sums of two `f64`, about 106 bits.
//!
//! Channels multiply and divide probabilities whose numerators have 64 bits, and a merge turns the result into a 64-bit
//! threshold again. Plain `f64` would lose the last eleven bits on the way. Only the basic operations are needed, so they
//! are written out here (error-free transformations of Dekker and Knuth), without fused multiply-add: results are the
//! same on every platform.

use core::ops::{Add, Div, Mul, Neg, Sub};

/// `hi + lo` with `|lo| ≤ ulp(hi)/2`. Relative error of one operation is below 2⁻¹⁰⁰.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(crate) struct DoubleDouble {
    hi: f64,
    lo: f64,
}

/// `2⁻⁶⁴`.
const UNIT: f64 = 1.0 / TWO_64;
/// `2⁶⁴`.
pub(crate) const TWO_64: f64 = 18_446_744_073_709_551_616.0;

impl DoubleDouble {
    pub(crate) const ZERO: Self = Self { hi: 0.0, lo: 0.0 };
    pub(crate) const ONE: Self = Self { hi: 1.0, lo: 0.0 };
    pub(crate) const HALF: Self = Self { hi: 0.5, lo: 0.0 };
    pub(crate) const TWO: Self = Self { hi: 2.0, lo: 0.0 };

    pub(crate) const fn from_f64(value: f64) -> Self {
        Self { hi: value, lo: 0.0 }
    }

    /// `numerator / 2⁶⁴`, exactly.
    pub(crate) fn from_numerator(numerator: u64) -> Self {
        let high = to_f64(numerator >> 32) * 4_294_967_296.0;
        let low = to_f64(numerator & 0xffff_ffff);
        let sum = Self::two_sum(high, low);
        Self { hi: sum.hi * UNIT, lo: sum.lo * UNIT }
    }

    pub(crate) const fn to_f64(self) -> f64 {
        self.hi
    }

    /// The part that [`Self::to_f64`] leaves out.
    pub(crate) const fn tail(self) -> f64 {
        self.lo
    }

    pub(crate) const fn is_finite(self) -> bool {
        self.hi.is_finite() && self.lo.is_finite()
    }

    pub(crate) fn abs(self) -> Self {
        if self.hi < 0.0 { -self } else { self }
    }

    pub(crate) fn max(self, other: Self) -> Self {
        if other > self { other } else { self }
    }

    pub(crate) fn min(self, other: Self) -> Self {
        if other < self { other } else { self }
    }

    /// Multiplies by a power of two, exactly.
    pub(crate) fn scale(self, power_of_two: f64) -> Self {
        Self { hi: self.hi * power_of_two, lo: self.lo * power_of_two }
    }

    /// `self` to a whole power, by repeated squaring.
    pub(crate) fn powi(self, mut exponent: u32) -> Self {
        let (mut base, mut result) = (self, Self::ONE);
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = result * base;
            }
            base = base * base;
            exponent >>= 1;
        }
        result
    }

    /// `a + b` without error (Knuth).
    fn two_sum(a: f64, b: f64) -> Self {
        let hi = a + b;
        let b_part = hi - a;
        let lo = (a - (hi - b_part)) + (b - b_part);
        Self { hi, lo }
    }

    /// `a + b` without error when `|a| ≥ |b|` (Dekker).
    fn quick_two_sum(a: f64, b: f64) -> Self {
        let hi = a + b;
        Self { hi, lo: b - (hi - a) }
    }

    /// `a · b` without error (Dekker, with Veltkamp's splitting).
    fn two_prod(a: f64, b: f64) -> Self {
        let hi = a * b;
        let (a_high, a_low) = split(a);
        let (b_high, b_low) = split(b);
        let lo = ((a_high * b_high - hi) + a_high * b_low + a_low * b_high) + a_low * b_low;
        Self { hi, lo }
    }
}

/// Splits `a` in two halves of 26 bits.
fn split(a: f64) -> (f64, f64) {
    let scaled = 134_217_729.0 * a;
    let high = scaled - (scaled - a);
    (high, a - high)
}

/// An integer below 2⁵³ as `f64`; the one place of this crate that converts counts.
#[expect(clippy::cast_precision_loss, reason = "callers pass integers below 2^53")]
pub(crate) const fn to_f64(value: u64) -> f64 {
    value as f64
}

impl Add for DoubleDouble {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let high = Self::two_sum(self.hi, other.hi);
        let low = Self::two_sum(self.lo, other.lo);
        let mid = Self::quick_two_sum(high.hi, high.lo + low.hi);
        Self::quick_two_sum(mid.hi, mid.lo + low.lo)
    }
}

impl Neg for DoubleDouble {
    type Output = Self;
    fn neg(self) -> Self {
        Self { hi: -self.hi, lo: -self.lo }
    }
}

impl Sub for DoubleDouble {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for DoubleDouble {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let product = Self::two_prod(self.hi, other.hi);
        Self::quick_two_sum(product.hi, product.lo + (self.hi * other.lo + self.lo * other.hi))
    }
}

impl Div for DoubleDouble {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let first = self.hi / other.hi;
        let rest = self - other * Self::from_f64(first);
        let second = rest.hi / other.hi;
        let rest = rest - other * Self::from_f64(second);
        let third = rest.hi / other.hi;
        Self::quick_two_sum(first, second) + Self::from_f64(third)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `|got − want| ≤ bound`, where the wanted value is given as its two parts.
    fn close(got: DoubleDouble, hi: f64, lo: f64, relative: f64) {
        let error = (got - DoubleDouble { hi, lo }).abs().to_f64();
        assert!(error <= relative * hi.abs(), "{got:?} is {error:e} away from {hi} + {lo}");
    }

    #[test]
    fn numerators_of_sixty_four_bits_are_exact() {
        let largest = DoubleDouble::from_numerator(u64::MAX);
        assert_eq!(largest + DoubleDouble::from_numerator(1), DoubleDouble::ONE);
        assert_eq!(DoubleDouble::from_numerator(1 << 63), DoubleDouble::HALF);
    }

    #[test]
    fn division_undoes_multiplication() {
        let third = DoubleDouble::ONE / DoubleDouble::from_f64(3.0);
        close(third * DoubleDouble::from_f64(3.0), 1.0, 0.0, 1e-31);
        // 1/3 in binary: hi = 0x3FD5555555555555, the rest is hi · 2^-54.
        close(third, 1.0 / 3.0, (1.0 / 3.0) * 2f64.powi(-54), 1e-31);
    }
}
