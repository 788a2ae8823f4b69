//! Where the cells of Liquid Legions begin, as integers: equal on every machine.
//!
//! Only integer arithmetic decides; numbers below 1 are `u128` over 2¹²⁸.

use crate::double_double::to_f64;

/// The first 64-bit hash of every cell, and a fast way to find the cell of a hash.
#[derive(Debug)]
pub(crate) struct Boundaries {
    firsts: Vec<u64>,
    /// `e^A − 1` and `cells / A`, for the guess.
    spread: f64,
    scale: f64,
}

impl Boundaries {
    /// `⌈2⁶⁴ (1 − e^(−Ai/m)) / (1 − e^(−A))⌉` for `m ≤ 2²⁰` cells and a decay `1/16 ≤ A ≤ 24`.
    ///
    /// Powers of `e^(−A/m)` are formed one from the other, with an error below 2⁻⁹⁸ in each, so that the quotient is
    /// right to 2⁻⁹⁴: a boundary can differ from the formula's only where that lies within 2⁻³⁰ above an integer.
    pub(crate) fn new(cells: u32, decay: f64) -> Self {
        let step = power_of_e(cells, decay);
        let mut remaining = Vec::with_capacity(cells as usize);
        let mut power = step;
        for _ in 1..cells {
            // 1 − e^(−Ai/m)
            remaining.push(power.wrapping_neg());
            power = high_half(power, step);
        }
        let inverse = inverse(power.wrapping_neg());
        let firsts = core::iter::once(0).chain(remaining.into_iter().map(|passed| scaled_up(passed, inverse)));
        Self { firsts: firsts.collect(), spread: decay.exp_m1(), scale: f64::from(cells) / decay }
    }

    pub(crate) fn into_firsts(self) -> Vec<u64> {
        self.firsts
    }

    /// The last cell whose first hash is not above `hash`.
    ///
    /// A floating-point guess, `x = 1 − ln(1 + w (e^A − 1)) / A` with `w = 1 − hash / 2⁶⁴`, is corrected by the table, so
    /// the result does not depend on how a machine rounds logarithms.
    #[inline]
    pub(crate) fn cell(&self, hash: u64) -> u32 {
        const UNIT: f64 = 1.0 / crate::double_double::TWO_64;
        let last = self.firsts.len() - 1;
        let above = (to_f64(!hash) + 0.5) * UNIT;
        let from_end = self.scale * (above * self.spread).ln_1p();
        let mut cell = last.saturating_sub(whole(from_end).min(last));
        while self.firsts[cell] > hash {
            cell -= 1;
        }
        while cell < last && self.firsts[cell + 1] <= hash {
            cell += 1;
        }
        u32::try_from(cell).unwrap_or(u32::MAX)
    }
}

/// The whole part; 0 for what is below.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates at both ends")]
fn whole(x: f64) -> usize {
    x as usize
}

/// `e^(−A/m)`: the 32nd power of `e^(−y)` with `y = A / (32 m) < 3/8`, from the alternating series.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number below 2^61")]
fn power_of_e(cells: u32, decay: f64) -> u128 {
    /// No decay of 1/16 or more has digits below 2⁻⁵⁶.
    const DIGITS: f64 = 72_057_594_037_927_936.0;
    let y = (u128::from((decay * DIGITS) as u64) << 67) / u128::from(cells);
    // y − y²/2 + y³/6 − …
    let (mut sum, mut term, mut k) = (y, y, 2);
    while term != 0 {
        term = high_half(term, y) / k;
        sum = if k % 2 == 0 { sum - term } else { sum + term };
        k += 1;
    }
    (0..5).fold(sum.wrapping_neg(), |power, _| high_half(power, power))
}

/// The upper 128 bits of a product: the product of two fractions, rounded down.
fn high_half(a: u128, b: u128) -> u128 {
    const LOW: u128 = u64::MAX as u128;
    let (a_high, a_low, b_high, b_low) = (a >> 64, a & LOW, b >> 64, b & LOW);
    let first = a_high * b_low + ((a_low * b_low) >> 64);
    let second = a_low * b_high + (first & LOW);
    a_high * b_high + (first >> 64) + (second >> 64)
}

/// `1 / (32 x)` for a fraction `x > 1/32`, by long division.
fn inverse(x: u128) -> u128 {
    let (mut rest, mut quotient) = (1_u128 << 123, 0);
    for _ in 0..128 {
        let carry = rest >> 127 == 1;
        rest <<= 1;
        quotient <<= 1;
        if carry || rest >= x {
            rest = rest.wrapping_sub(x);
            quotient |= 1;
        }
    }
    quotient
}

/// `2⁶⁴ · passed / x`, rounded up, where `inverse = 1 / (32 x)` and `passed < x`.
#[expect(clippy::cast_possible_truncation, reason = "the quotient is below 2^64")]
fn scaled_up(passed: u128, inverse: u128) -> u64 {
    const FRACTION: u32 = 59;
    let product = high_half(passed, inverse);
    let fraction = product & ((1 << FRACTION) - 1);
    ((product >> FRACTION) + u128::from(fraction != 0)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_fractions_are_right_to_the_last_bit() {
        // (1 − 2⁻¹²⁸)² = 1 − 2⁻¹²⁷ + 2⁻²⁵⁶.
        assert_eq!(high_half(u128::MAX, u128::MAX), u128::MAX - 1);
        assert_eq!(high_half(1 << 127, 1 << 127), 1 << 126);
        // Splitting a factor: a·b = a·(b mod 2⁶⁴) + a·⌊b / 2⁶⁴⌋·2⁶⁴, with all parts small enough for u128.
        let (a, b) = (0x0123_4567_89ab_cdef_u128, 0xfedc_ba98_7654_3210_0f1e_2d3c_4b5a_6978_u128);
        let low = (a * (b & u128::from(u64::MAX))) >> 64;
        assert_eq!(high_half(a, b), (a * (b >> 64) + low) >> 64);
    }

    #[test]
    fn inverses_are_inverse() {
        for x in [1 << 127, u128::MAX, 1 << 124, 0x9876_5432_1098_7654_3210_9876_5432_1098] {
            // 32 x · 1/(32 x) is 1 less what was rounded away, at most x of 2²⁵⁶.
            let product = high_half(x, inverse(x));
            assert!((1_u128 << 123) - product <= 1, "{x:x}");
        }
    }

    #[test]
    fn every_hash_lies_in_the_cell_that_begins_before_it() {
        for (cells, decay) in [(2, 24.0), (2, 0.0625), (7, 1.0), (1000, 12.0), (5000, 10.0), (1 << 16, 24.0)] {
            let boundaries = Boundaries::new(cells, decay);
            assert!(boundaries.firsts.windows(2).all(|pair| pair[0] < pair[1]), "{cells} {decay}");
            assert_eq!((boundaries.cell(0), boundaries.cell(u64::MAX)), (0, cells - 1));
            for (cell, &first) in (0..).zip(&boundaries.firsts).skip(1).step_by(17) {
                assert_eq!((boundaries.cell(first - 1), boundaries.cell(first)), (cell - 1, cell), "{cells} {decay}");
            }
        }
    }

    #[test]
    fn boundaries_follow_the_formula() {
        for (cells, decay) in [(2, 0.0625), (100, 3.7), (1000, 12.0), (1 << 20, 24.0)] {
            let boundaries = Boundaries::new(cells, decay);
            for (cell, &first) in (0..cells).zip(&boundaries.firsts) {
                let formula = (-decay * f64::from(cell) / f64::from(cells)).exp_m1() / (-decay).exp_m1();
                // Roundings of the formula: of the exponent, which is at most the decay, and a few more.
                let tolerance = (decay + 4.0) * f64::EPSILON;
                let found = to_f64(first) / crate::double_double::TWO_64;
                assert!((found - formula).abs() <= tolerance, "{cells} {decay} {cell}: {found} {formula}");
            }
        }
    }
}
