//! Exact decimal amounts of privacy budget.

use core::fmt;

use crate::{Epsilon, ParameterError, Rho};

/// Decimal places that an amount keeps.
const PLACES: usize = 18;
const UNITS_PER_ONE: u128 = 10_u128.pow(18);
/// Longest piece of refused text that an error repeats.
const QUOTED: usize = 40;

/// An amount of privacy budget in exact decimal units of `10⁻¹⁸`.
///
/// Binary fractions cannot hold 0.1, so sums of them drift: ten releases at 0.1 would not fit into a budget of 1. Here
/// they do, and the eleventh does not. Text that is finer than a unit rounds in the safe direction: **up** where it is
/// a cost ([`parse_cost`](Self::parse_cost)), **down** where it is a total ([`parse_total`](Self::parse_total)).
///
/// # Examples
/// ```
/// use dp_noise::Amount;
/// let tenth = Amount::parse_cost("0.1")?;
/// let sum = (0..10).try_fold(Amount::ZERO, |sum, _| sum.checked_add(tenth));
/// assert_eq!(sum, Some(Amount::parse_total("1")?));
/// assert_eq!(Amount::parse_cost("1e-19")?.to_string(), "0.000000000000000001");
/// assert_eq!(Amount::parse_total("1e-19")?, Amount::ZERO);
/// # Ok::<(), dp_noise::AmountError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Amount(u128);

/// Text that is not an amount.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AmountError {
    /// Not a finite decimal number such as `0.1`, `2` or `5e-3`.
    NotDecimal {
        /// The refused text, shortened.
        text: String,
    },
    /// A number below zero.
    Negative {
        /// The refused text, shortened.
        text: String,
    },
    /// More than an amount can hold, about `3.4 · 10²⁰`.
    TooLarge {
        /// The refused text, shortened.
        text: String,
    },
}

impl fmt::Display for AmountError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotDecimal { text } => write!(f, "expected a decimal number such as 0.1, found {text:?}"),
            Self::Negative { text } => write!(f, "an amount of privacy budget cannot be negative, found {text:?}"),
            Self::TooLarge { text } => write!(f, "an amount of privacy budget is below 3.4e20, found {text:?}"),
        }
    }
}

impl core::error::Error for AmountError {}

impl Amount {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// An amount of `units` times `10⁻¹⁸`.
    #[must_use]
    pub const fn from_units(units: u128) -> Self {
        Self(units)
    }

    /// The amount in units of `10⁻¹⁸`.
    #[must_use]
    pub const fn units(self) -> u128 {
        self.0
    }

    /// Reads a cost: exact where 18 decimal places suffice, otherwise rounded up.
    ///
    /// # Errors
    /// [`AmountError`] when the text is not a decimal number, is negative or too large.
    pub fn parse_cost(text: &str) -> Result<Self, AmountError> {
        let (units, finer) = parse(text)?;
        units.checked_add(u128::from(finer)).map(Self).ok_or_else(|| AmountError::TooLarge { text: quote(text) })
    }

    /// Reads a total: exact where 18 decimal places suffice, otherwise rounded down.
    ///
    /// # Errors
    /// [`AmountError`] when the text is not a decimal number, is negative or too large.
    pub fn parse_total(text: &str) -> Result<Self, AmountError> {
        parse(text).map(|(units, _)| Self(units))
    }

    /// What a release at `epsilon` costs: the shortest decimal that names this `f64`, rounded up to a unit.
    #[must_use]
    pub fn from_epsilon(epsilon: Epsilon) -> Self {
        Self::shortest_decimal(epsilon.get())
    }

    /// What a release at `rho` costs: the shortest decimal that names this `f64`, rounded up to a unit.
    #[must_use]
    pub fn from_rho(rho: Rho) -> Self {
        Self::shortest_decimal(rho.get())
    }

    fn shortest_decimal(level: f64) -> Self {
        // `Display` of an f64 writes the shortest decimal that reads back as the same number.
        // The fallback cannot be met (levels are far below the largest amount); it would be refused by every budget.
        Self::parse_cost(&level.to_string()).unwrap_or(Self(u128::MAX))
    }

    /// The level a mechanism may use for this amount: the largest `f64` not above it.
    ///
    /// # Errors
    /// [`ParameterError`] when that is no valid [`Epsilon`].
    pub fn to_epsilon(self) -> Result<Epsilon, ParameterError> {
        Epsilon::new(self.f64_below())
    }

    /// The level a mechanism may use for this amount: the largest `f64` not above it.
    ///
    /// # Errors
    /// [`ParameterError`] when that is no valid [`Rho`].
    pub fn to_rho(self) -> Result<Rho, ParameterError> {
        Rho::new(self.f64_below())
    }

    /// The largest `f64` not above the amount.
    fn f64_below(self) -> f64 {
        let nearest = self.nearest_f64();
        if is_at_most(nearest, self.0) { nearest } else { nearest.next_down() }
    }

    /// The nearest `f64`, for display; it may be above the amount.
    #[must_use]
    pub fn nearest_f64(self) -> f64 {
        // Reading decimal text as f64 is correctly rounded. What `Display` writes is decimal text, so nothing fails.
        self.to_string().parse().unwrap_or(f64::NAN)
    }

    /// The sum, or `None` when it is more than an amount can hold.
    #[must_use]
    pub const fn checked_add(self, other: Self) -> Option<Self> {
        match self.0.checked_add(other.0) {
            Some(sum) => Some(Self(sum)),
            None => None,
        }
    }

    /// The difference, or zero when `other` is larger.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl From<Epsilon> for Amount {
    fn from(epsilon: Epsilon) -> Self {
        Self::from_epsilon(epsilon)
    }
}

impl From<Rho> for Amount {
    fn from(rho: Rho) -> Self {
        Self::from_rho(rho)
    }
}

/// Exact, without trailing zeros.
impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, fraction) = (self.0 / UNITS_PER_ONE, self.0 % UNITS_PER_ONE);
        if fraction == 0 {
            return f.pad_integral(true, "", &whole.to_string());
        }
        let places = format!("{fraction:0PLACES$}");
        f.pad_integral(true, "", &format!("{whole}.{}", places.trim_end_matches('0')))
    }
}

/// Whether a positive finite `value` is at most `units · 10⁻¹⁸`, decided in integers.
fn is_at_most(value: f64, units: u128) -> bool {
    let bits = value.to_bits();
    let stored_exponent = (bits >> 52) & 0x7ff;
    if stored_exponent == 0 {
        return true; // zero (or subnormal, which no amount of at least one unit is near)
    }
    let mantissa = u128::from((bits & ((1 << 52) - 1)) | (1 << 52));
    // value = mantissa · 2^(stored_exponent − 1075); mantissa · 10¹⁸ < 2¹¹³.
    let scaled = mantissa * UNITS_PER_ONE;
    match u32::try_from(stored_exponent).unwrap_or(u32::MAX).checked_sub(1075) {
        None => {
            let shift = 1075 - stored_exponent;
            let fits = 1_u128.checked_shl(u32::try_from(shift).unwrap_or(u32::MAX)).map(|d| scaled.div_ceil(d));
            fits.unwrap_or(1) <= units
        }
        Some(shift) => shift <= scaled.leading_zeros() && scaled << shift <= units,
    }
}

fn quote(text: &str) -> String {
    if text.chars().count() <= QUOTED {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(QUOTED).collect();
    short.push('…');
    short
}

/// Whole units, and whether a nonzero digit finer than a unit was dropped.
fn parse(text: &str) -> Result<(u128, bool), AmountError> {
    let not_decimal = || AmountError::NotDecimal { text: quote(text) };
    let too_large = || AmountError::TooLarge { text: quote(text) };
    let (negative, unsigned) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let (number, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, parse_exponent(exponent).ok_or_else(not_decimal)?),
        None => (unsigned, 0),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = || whole.bytes().chain(fraction.bytes());
    if (whole.is_empty() && fraction.is_empty()) || !digits().all(|b| b.is_ascii_digit()) {
        return Err(not_decimal());
    }
    if negative {
        let zero = digits().all(|b| b == b'0');
        return Err(if zero { not_decimal() } else { AmountError::Negative { text: quote(text) } });
    }

    // Power of ten, in units, of the first digit and, after the loop, of the position after the last one.
    let whole_digits = i64::try_from(whole.len()).map_err(|_| too_large())?;
    let mut place = whole_digits.saturating_add(exponent).saturating_add(18);
    let (mut units, mut finer) = (0_u128, false);
    for digit in digits().map(|b| b - b'0') {
        place = place.saturating_sub(1);
        if place >= 0 {
            units = units.checked_mul(10).and_then(|u| u.checked_add(u128::from(digit))).ok_or_else(too_large)?;
        } else {
            finer |= digit != 0;
        }
    }
    if units != 0 && place > 0 {
        let scale = u32::try_from(place).ok().and_then(|p| 10_u128.checked_pow(p)).ok_or_else(too_large)?;
        units = units.checked_mul(scale).ok_or_else(too_large)?;
    }
    Ok((units, finer))
}

/// A signed decimal exponent; huge ones saturate, which changes no result.
fn parse_exponent(text: &str) -> Option<i64> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'-' => (-1, &text[1..]),
        b'+' => (1, &text[1..]),
        _ => (1, text),
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let size = digits.bytes().fold(0_i64, |n, b| n.saturating_mul(10).saturating_add(i64::from(b - b'0')));
    Some(sign * size)
}
