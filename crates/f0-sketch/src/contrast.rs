//! The contrast of noise that came together: `Π (1 − 2p)`.

/// A product of contrasts, `mantissa · 2^exponent`. Each factor `1 − 2p` costs a relative `2⁻¹²⁶ / (1 − 2p)` at most, hence
/// 65,536 of them 2⁻¹⁰⁰ unless some are within 2⁻¹¹ of no contrast at all.
///
/// In integers, so that every platform finds the same number, whatever its `f64` functions do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Contrast {
    /// At least 2¹²⁷.
    mantissa: u128,
    exponent: i32,
}

const HALF: u64 = 1 << 63;

impl Contrast {
    /// The contrast without noise.
    pub(crate) const ONE: Self = Self { mantissa: 1 << 127, exponent: -127 };

    /// The contrast after one more flip with probability `p / 2⁶⁴ < 1/2`, rounded down.
    pub(crate) fn flipped(self, p: u64) -> Self {
        // 1 − 2p, times 2^63.
        let factor = u128::from(HALF.saturating_sub(p).max(1));
        let (low, high) = (self.mantissa & u128::from(u64::MAX), self.mantissa >> 64);
        // The product without its lowest 64 bits; at least 2^(127 − 64) · factor.
        let product = high * factor + ((low * factor) >> 64);
        let zeros = product.leading_zeros();
        let shift = i32::try_from(zeros).unwrap_or(0);
        Self { mantissa: product << zeros, exponent: self.exponent + 64 - 63 - shift }
    }

    /// The nearest `f64`, but 0 below 2⁻¹⁰⁰⁰.
    pub(crate) fn to_f64(self) -> f64 {
        let exponent = self.exponent + 127;
        if exponent < -1000 {
            return 0.0;
        }
        // Two steps: 2^(exponent − 127) alone could be below the smallest number.
        mantissa_to_f64(self.mantissa) * 2.0_f64.powi(-127) * 2.0_f64.powi(exponent)
    }

    /// `(1 − c)/2`: from the difference in integers, which keeps its digits where there is little noise.
    pub(crate) fn flip_probability(self) -> f64 {
        let whole = 1 << 127;
        mantissa_to_f64(whole - self.scaled().min(whole)) * 2.0_f64.powi(-128)
    }

    /// `2⁶⁴ (1 − c)/2`, rounded up: the least flip probability that leaves no more contrast.
    pub(crate) fn flip_numerator_up(self) -> u64 {
        // 2^127 (1 − c) over 2^64, which is 2^63 (1 − c).
        let up = ((1_u128 << 127) - self.scaled().min(1 << 127)).div_ceil(1 << 64);
        u64::try_from(up).unwrap_or(HALF)
    }

    /// `2¹²⁷ c`, rounded down.
    fn scaled(self) -> u128 {
        let shift = u32::try_from(-(self.exponent + 127)).unwrap_or(0);
        self.mantissa.checked_shr(shift).unwrap_or(0)
    }
}

/// The nearest `f64`.
#[expect(clippy::cast_precision_loss, reason = "rounding to the nearest f64 is meant")]
const fn mantissa_to_f64(mantissa: u128) -> f64 {
    mantissa as f64
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "dyadic contrasts are exact")]
mod tests {
    use super::*;

    fn product(flips: &[f64]) -> Contrast {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a probability, scaled to 2^64")]
        let numerator = |p: &f64| (p * 2.0_f64.powi(64)) as u64;
        flips.iter().fold(Contrast::ONE, |contrast, p| contrast.flipped(numerator(p)))
    }

    #[test]
    fn contrasts_of_dyadic_flips_are_exact() {
        assert_eq!(Contrast::ONE.to_f64(), 1.0);
        assert_eq!(product(&[0.25; 3]).to_f64(), 0.125);
        assert_eq!(product(&[0.125, 0.375]).to_f64(), 0.75 * 0.25);
        assert_eq!(product(&[0.25; 3]).flip_numerator_up(), 7 << 60, "p = 7/16");
    }

    #[test]
    fn many_flips_keep_their_digits() {
        // c = (1 − 2^-20)^65536 = exp(65536 · ln(1 − 2^-20)).
        let found = product(&vec![2.0_f64.powi(-21); 65_536]).to_f64();
        let expected = (65_536.0 * (-2.0_f64.powi(-20)).ln_1p()).exp();
        assert!((found / expected - 1.0).abs() < 1e-15, "{found} {expected}");
        assert_eq!(product(&vec![0.49; 65_536]).to_f64(), 0.0, "far below any signal");
        assert!((product(&[0.375; 400]).to_f64().log2() + 800.0).abs() < 1e-9);
        assert_eq!(product(&[0.25; 950]).to_f64(), 2.0_f64.powi(-950));
    }

    #[test]
    fn no_order_changes_a_product_by_more_than_its_last_bits() {
        let flips = [0.1, 0.2, 0.3, 0.4, 0.45, 0.01];
        let reversed: Vec<f64> = flips.iter().rev().copied().collect();
        let (a, b) = (product(&flips), product(&reversed));
        assert!(a.exponent == b.exponent && a.mantissa.abs_diff(b.mantissa) < 1 << 6);
    }
}
