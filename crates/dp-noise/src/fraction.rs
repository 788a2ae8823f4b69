//! Exact positive fractions in the range that noise parameters have.

use core::fmt;

use crate::dyadic::to_f64;
use crate::parameter::power_of_two;
use crate::wide::{Wide, leading_digits};

/// A noise parameter that is no fraction in the accepted range.
///
/// # Examples
/// ```
/// let error = dp_noise::Variance::new(1, 0).unwrap_err();
/// assert_eq!(error.to_string(), "the variance has denominator 0");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum FractionError {
    /// The denominator is zero.
    ZeroDenominator {
        /// What the fraction stands for.
        name: &'static str,
    },
    /// The value is outside the accepted range.
    Range {
        /// What the fraction stands for.
        name: &'static str,
        /// The value that was refused, to the nearest `f64`.
        value: f64,
        /// The least accepted value.
        min: f64,
        /// The largest accepted value.
        max: f64,
    },
}

impl fmt::Display for FractionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ZeroDenominator { name } => write!(f, "the {name} has denominator 0"),
            Self::Range { name, value, min, max } => {
                write!(f, "the {name} must lie in {min:?} ..= {max:?}, found {value:?}")
            }
        }
    }
}

impl core::error::Error for FractionError {}

/// `numerator / denominator` in lowest terms, in [`Fraction::MIN`]` ..= `[`Fraction::MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Fraction {
    pub(crate) numerator: u128,
    pub(crate) denominator: u64,
}

impl Fraction {
    /// The least value, `2⁻¹⁰`.
    pub(crate) const MIN: Self = Self { numerator: 1, denominator: 1 << MIN_PLACES };
    /// The largest value, `2⁸⁰`.
    pub(crate) const MAX: Self = Self { numerator: 1 << MAX_PLACES, denominator: 1 };

    /// Reduces the fraction and checks its range.
    pub(crate) fn new(name: &'static str, numerator: u128, denominator: u64) -> Result<Self, FractionError> {
        if denominator == 0 {
            return Err(FractionError::ZeroDenominator { name });
        }
        if numerator == 0 {
            return Err(Self::range_error(name, 0.0));
        }
        let common = gcd(u128::from(denominator), numerator);
        // A divisor of the denominator is no longer than it.
        let common_short = u64::try_from(common).unwrap_or(1);
        let reduced = Self { numerator: numerator / u128::from(common_short), denominator: denominator / common_short };
        if reduced.is_below(Self::MIN) || Self::MAX.is_below(reduced) {
            return Err(Self::range_error(name, reduced.to_f64()));
        }
        Ok(reduced)
    }

    /// The quotient of two positive integers: exact where the fraction can hold it, rounded **up** to a number of 53
    /// binary digits where not, and raised to [`Self::MIN`] where it is less.
    pub(crate) fn at_least(name: &'static str, numerator: Wide, denominator: u128) -> Result<Self, FractionError> {
        let Some(common) = common_divisor(numerator, denominator) else {
            return Err(FractionError::ZeroDenominator { name });
        };
        let (numerator, denominator) = (numerator.div_rem(common).0, denominator / common);
        let leading = leading_digits(numerator, denominator);
        let nearest = scale_by_power(to_f64(leading.digits | u64::from(leading.inexact)), leading.exponent);
        // 64 digits: the value lies in 2^(exponent + 63) ..< 2^(exponent + 64).
        if leading.exponent + 63 < -MIN_PLACES.cast_signed() {
            return Ok(Self::MIN);
        }
        let highest = leading.exponent + 63;
        let is_power = leading.digits == 1 << 63 && !leading.inexact;
        if highest > MAX_PLACES.cast_signed() || (highest == MAX_PLACES.cast_signed() && !is_power) {
            return Err(Self::range_error(name, nearest));
        }
        if let (Some(numerator), Ok(denominator)) = (numerator.to_u128(), u64::try_from(denominator)) {
            return Self::new(name, numerator, denominator);
        }
        let digits = (leading.digits >> 11) + u64::from(leading.inexact || leading.digits & 0x7ff != 0);
        let exponent = leading.exponent + 11;
        if exponent >= 0 {
            return Self::new(name, u128::from(digits) << exponent, 1);
        }
        // The value is at least 2^-10 and has 53 digits, so exponent >= -62.
        Self::new(name, u128::from(digits), 1_u64.checked_shl(exponent.unsigned_abs()).unwrap_or(0))
    }

    fn range_error(name: &'static str, value: f64) -> FractionError {
        FractionError::Range { name, value, min: power_of_two(-10), max: power_of_two(80) }
    }

    /// Whether the value is less than the other's, exactly.
    pub(crate) fn is_below(self, other: Self) -> bool {
        Wide::product(self.numerator, u128::from(other.denominator))
            < Wide::product(other.numerator, u128::from(self.denominator))
    }

    /// The nearest `f64`.
    pub(crate) fn to_f64(self) -> f64 {
        let leading = leading_digits(Wide::from(self.numerator), u128::from(self.denominator));
        // The sticky last digit keeps the conversion of 64 digits to 53 from seeing a tie that is none.
        scale_by_power(to_f64(leading.digits | u64::from(leading.inexact)), leading.exponent)
    }

    /// The sum of two values, rounded up where it does not fit.
    pub(crate) fn plus(self, name: &'static str, other: Self) -> Result<Self, FractionError> {
        let [own, others] = [
            Wide::product(self.numerator, u128::from(other.denominator)),
            Wide::product(other.numerator, u128::from(self.denominator)),
        ];
        let denominator = u128::from(self.denominator) * u128::from(other.denominator);
        // Each product is below 2^192.
        let sum = own.checked_add(others).ok_or_else(|| Self::range_error(name, f64::INFINITY))?;
        Self::at_least(name, sum, denominator)
    }
}

impl Fraction {
    /// The difference of two values, rounded up where it does not fit.
    pub(crate) fn minus(self, name: &'static str, other: Self) -> Result<Self, FractionError> {
        let [own, others] = [
            Wide::product(self.numerator, u128::from(other.denominator)),
            Wide::product(other.numerator, u128::from(self.denominator)),
        ];
        let denominator = u128::from(self.denominator) * u128::from(other.denominator);
        let difference =
            own.checked_sub(others).ok_or_else(|| Self::range_error(name, self.to_f64() - other.to_f64()))?;
        if difference.is_zero() {
            return Err(Self::range_error(name, 0.0));
        }
        Self::at_least(name, difference, denominator)
    }
}

const MIN_PLACES: u32 = 10;
const MAX_PLACES: u32 = 80;

/// A bound of `numerator · 2^shift / denominator`, not below it, as an `f64`.
///
/// `None` for a zero denominator or a numerator of zero.
pub(crate) fn quotient_up(numerator: Wide, denominator: u128, shift: i32) -> Option<f64> {
    common_divisor(numerator, denominator)?;
    let leading = leading_digits(numerator, denominator);
    let digits = (leading.digits >> 11) + u64::from(leading.inexact || leading.digits & 0x7ff != 0);
    Some(scale_by_power(to_f64(digits), leading.exponent + 11 + shift))
}

/// The largest `f64` not above `numerator · 2^shift / denominator`; `None` for a zero denominator or numerator.
pub(crate) fn quotient_down(numerator: Wide, denominator: u128, shift: i32) -> Option<f64> {
    common_divisor(numerator, denominator)?;
    let leading = leading_digits(numerator, denominator);
    Some(scale_by_power(to_f64(leading.digits >> 11), leading.exponent + 11 + shift))
}

/// `value · 2^exponent` for results that are normal numbers.
fn scale_by_power(value: f64, exponent: i32) -> f64 {
    value * power_of_two(i64::from(exponent))
}

/// A positive finite `f64` as `digits · 2^exponent` with odd digits.
pub(crate) fn odd_digits(value: f64) -> (u64, i32) {
    let bits = value.to_bits();
    let stored = i32::try_from((bits >> 52) & 0x7ff).unwrap_or(0);
    let fraction = bits & ((1 << 52) - 1);
    let (digits, exponent) = if stored == 0 { (fraction, -1074) } else { (fraction | (1 << 52), stored - 1075) };
    let zeros = digits.trailing_zeros() % 64;
    (digits >> zeros, exponent + zeros.cast_signed())
}

/// The greatest common divisor of two positive integers; `None` when one is zero.
fn common_divisor(numerator: Wide, denominator: u128) -> Option<u128> {
    if numerator.is_zero() || denominator == 0 {
        return None;
    }
    Some(gcd(denominator, numerator.div_rem(denominator).1))
}

/// Euclid's algorithm.
fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests;
