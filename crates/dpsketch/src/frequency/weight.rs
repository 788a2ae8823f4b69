//! Weights of records as whole numbers of grid units.

use countsketch_dp::Granularity;
use sketch_hash::Item;

/// The longest text of a weight, in bytes.
const MAX_LEN: usize = 1024;
/// Significant digits that fit, times the finest grid, into 128 bits.
const FAST_DIGITS: usize = 22;
/// Digits before the point of any number that may fit into 63 bits.
const WHOLE_DIGITS: i64 = 19;

/// A weight in units of the grid, rounded to the nearest, ties to even.
///
/// Whole numbers, decimals and decimal text such as `12.50`, `-3` or `1e3` are rounded exactly, as the decimal number that
/// is written; floating-point numbers as the value that they hold. `None` for anything that is no finite number, and beyond
/// ±(2⁶³ − 1) units.
///
/// # Examples
/// ```
/// use dpsketch::countsketch_dp::Granularity;
/// use dpsketch::sketch_hash::Item;
/// use dpsketch::weight_units;
///
/// let quarters = Granularity::new(2)?;
/// assert_eq!(weight_units(&Item::from("2.5"), quarters), Some(10));
/// assert_eq!(weight_units(&Item::from("-0.125"), quarters), Some(0), "a tie goes to the even neighbour");
/// assert_eq!(weight_units(&Item::from(7_i64), quarters), Some(28));
/// assert_eq!(weight_units(&Item::from("many"), quarters), None);
/// # Ok::<(), dpsketch::countsketch_dp::ParamError>(())
/// ```
#[must_use]
pub fn weight_units(weight: &Item<'_>, granularity: Granularity) -> Option<i64> {
    match *weight {
        Item::Integer(value) => {
            let units = value.checked_mul(1 << granularity.exponent())?;
            i64::try_from(units).ok().filter(|&units| units != i64::MIN)
        }
        Item::Decimal { unscaled, scale } => {
            let mut digits = [0; 39];
            let digits = to_digits(unscaled.unsigned_abs(), &mut digits);
            signed(unscaled < 0, units_of(digits, -i64::from(scale), granularity)?)
        }
        Item::Float(value) => granularity.units(value),
        Item::Float32(value) => granularity.units(f64::from(value)),
        Item::Text(text) => text_units(text, granularity),
        _ => None,
    }
}

/// Whether a weight that has units is 0 as it is written, not only on the grid.
pub(super) fn is_zero(weight: &Item<'_>) -> bool {
    match *weight {
        Item::Integer(value) => value == 0,
        Item::Decimal { unscaled, .. } => unscaled == 0,
        Item::Float(value) => value == 0.0,
        Item::Float32(value) => value == 0.0,
        Item::Text(text) => {
            let mantissa = text.split_once(['e', 'E']).map_or(text, |(mantissa, _)| mantissa);
            !mantissa.bytes().any(|byte| (b'1'..=b'9').contains(&byte))
        }
        _ => false,
    }
}

/// Sign, digits with at most one point among them, exponent.
fn text_units(text: &str, granularity: Granularity) -> Option<i64> {
    let text = text.trim();
    if text.len() > MAX_LEN {
        return None;
    }
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, small_exponent(exponent)?),
        None => (unsigned, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut buffer = [0; MAX_LEN];
    let digits = buffer.get_mut(..whole.len() + fraction.len())?;
    for (slot, byte) in digits.iter_mut().zip(whole.bytes().chain(fraction.bytes())) {
        *slot = byte.checked_sub(b'0').filter(|digit| *digit < 10)?;
    }
    let shift = i64::try_from(fraction.len()).ok()?;
    if digits.is_empty() { None } else { signed(negative, units_of(digits, exponent - shift, granularity)?) }
}

/// An exponent of at most six digits; more would only be for zeros.
fn small_exponent(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let plain = (1..=6).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok())?
}

/// The decimal digits of a number, each from 0 to 9, the first one first.
fn to_digits(mut value: u128, buffer: &mut [u8; 39]) -> &[u8] {
    let mut start = buffer.len();
    while value > 0 {
        start -= 1;
        buffer[start] = u8::try_from(value % 10).unwrap_or(0);
        value /= 10;
    }
    &buffer[start..]
}

fn signed(negative: bool, units: u64) -> Option<i64> {
    let units = i64::try_from(units).ok()?;
    Some(if negative { -units } else { units })
}

/// `digits · 10^exponent` in grid units.
fn units_of(digits: &[u8], exponent: i64, granularity: Granularity) -> Option<u64> {
    let leading = digits.iter().take_while(|digit| **digit == 0).count();
    let trailing = digits[leading..].iter().rev().take_while(|digit| **digit == 0).count();
    let significant = &digits[leading..digits.len() - trailing];
    let exponent = exponent + i64::try_from(trailing).ok()?;
    let whole = i64::try_from(significant.len()).ok()? + exponent;
    if significant.is_empty() || whole < -WHOLE_DIGITS {
        // Below 10^-19 is below half of the finest grid.
        return Some(0);
    }
    match significant.len() {
        _ if whole > WHOLE_DIGITS => None,
        ..=FAST_DIGITS => fast(significant, exponent, granularity),
        _ => exact(significant, whole, granularity),
    }
}

/// For few digits: one division. All numbers fit, see the constants.
fn fast(digits: &[u8], exponent: i64, granularity: Granularity) -> Option<u64> {
    let value = digits.iter().fold(0_u128, |value, digit| 10 * value + u128::from(*digit));
    let places = u32::try_from(exponent.unsigned_abs()).ok()?;
    if exponent >= 0 {
        return u64::try_from(
            value.checked_mul(10_u128.checked_pow(places)?)?.checked_mul(1 << granularity.exponent())?,
        )
        .ok();
    }
    // With 39 places and more the units are below 1/2.
    let Some(divisor) = 10_u128.checked_pow(places) else { return Some(0) };
    let units = value.checked_mul(1 << granularity.exponent())?;
    let (quotient, rest) = (units / divisor, units % divisor);
    let up = rest > divisor - rest || (rest == divisor - rest && quotient % 2 == 1);
    u64::try_from(quotient + u128::from(up)).ok()
}

/// For any number of digits, of which `whole` stand before the point: doubles the digits after it bit by bit.
fn exact(digits: &[u8], whole: i64, granularity: Granularity) -> Option<u64> {
    let zeros = usize::try_from(-whole).unwrap_or(0);
    let (before, after) = digits.split_at(usize::try_from(whole).unwrap_or(0).min(digits.len()));
    let mut units = before.iter().fold(0_u128, |value, digit| 10 * value + u128::from(*digit));
    let mut fraction = zeroize::Zeroizing::new(vec![0; zeros]);
    fraction.extend_from_slice(after);
    for _ in 0..granularity.exponent() {
        let mut carry = 0;
        for digit in fraction.iter_mut().rev() {
            let doubled = 2 * *digit + carry;
            (*digit, carry) = (doubled % 10, doubled / 10);
        }
        units = 2 * units + u128::from(carry);
    }
    let first = fraction.first().copied().unwrap_or(0);
    let rest = fraction.iter().skip(1).any(|digit| *digit > 0);
    let up = first > 5 || (first == 5 && (rest || units % 2 == 1));
    u64::try_from(units + u128::from(up)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(text: &str, exponent: u8) -> Option<i64> {
        weight_units(&Item::Text(text), Granularity::new(exponent).unwrap())
    }

    #[test]
    fn whole_weights_are_exact_and_nothing_else_is_a_number() {
        for (text, value) in [
            ("0", 0),
            ("-0", 0),
            ("12", 12),
            (" 12 ", 12),
            ("+12", 12),
            ("1e3", 1000),
            ("2.5e1", 25),
            ("9223372036854775807", i64::MAX),
            ("-9223372036854775807", -i64::MAX),
            (".5", 0),
            ("1.5", 2),
            ("2.5", 2),
            ("-3.5", -4),
            ("5.", 5),
            ("0e999999", 0),
            ("1e-999999", 0),
        ] {
            assert_eq!(units(text, 0), Some(value), "{text}");
        }
        let bad = [
            "",
            "-",
            ".",
            "1e",
            "e1",
            "1 2",
            "0x1",
            "NaN",
            "inf",
            "1,5",
            "--1",
            "1e1e1",
            "9223372036854775808",
            "1e19",
        ];
        for text in bad.into_iter().chain(["1e9999999", "1e+-1", "-9223372036854775808"]) {
            assert_eq!(units(text, 0), None, "{text}");
        }
    }

    #[test]
    fn decimals_are_rounded_as_they_are_written() {
        // Python: round(Fraction(text) * 2**e), which rounds ties to even.
        for (text, exponent, value) in [
            ("0.1", 8, 26),
            ("2.7", 10, 2765),
            ("0.3", 52, 1_351_079_888_211_149),
            ("0.001953125", 8, 0),
            ("0.005859375", 8, 2),
            ("0.00195312500000000000000000000000000000000001", 8, 1),
            ("123456789.987654321", 20, 129_453_827_018_095),
            ("-2047.99999999999999999999999999999999999999", 52, -9_223_372_036_854_775_807),
        ] {
            let found = units(text, exponent);
            if text.starts_with("-2047") {
                // Rounds to 2048 * 2^52 = 2^63, one beyond the range.
                assert_eq!(found, None, "{text}");
            } else {
                assert_eq!(found, Some(value), "{text} 2^-{exponent}");
            }
        }
    }

    #[test]
    fn one_division_and_digit_by_digit_agree() {
        let mut state = 1_u64;
        for _ in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let mut places = state.to_be_bytes().into_iter().cycle();
            let mut next = |end: u8| places.next().unwrap() % end;
            let (length, exponent) = (1 + usize::from(next(19)), -i64::from(next(30)));
            let grid = Granularity::new(next(53)).unwrap();
            let digits: Vec<u8> = (0..length).map(|place| (next(10) + u8::try_from(place).unwrap()) % 10).collect();
            let leading = digits.iter().take_while(|digit| **digit == 0).count();
            let significant = &digits[leading..];
            let whole = i64::try_from(significant.len()).unwrap() + exponent;
            if significant.is_empty() || !(-WHOLE_DIGITS..=WHOLE_DIGITS).contains(&whole) {
                continue;
            }
            assert_eq!(
                fast(significant, exponent, grid),
                exact(significant, whole, grid),
                "{digits:?}e{exponent} {grid}"
            );
        }
    }

    #[test]
    fn what_is_rounded_to_zero_is_told_from_zero() {
        for zero in [
            Item::Integer(0),
            Item::Decimal { unscaled: 0, scale: 9 },
            Item::Float(-0.0),
            Item::Float32(0.0),
            Item::Text(" -0.00e7 "),
        ] {
            assert!(is_zero(&zero), "{zero:?}");
        }
        for small in
            [Item::Decimal { unscaled: 3, scale: 1 }, Item::Float(1e-300), Item::Text("0.3"), Item::Text("1e-99")]
        {
            assert_eq!(weight_units(&small, Granularity::ONE), Some(0), "{small:?}");
            assert!(!is_zero(&small), "{small:?}");
        }
    }

    #[test]
    fn every_numeric_type_has_units() {
        let grid = Granularity::new(1).unwrap();
        assert_eq!(weight_units(&Item::Integer(-3), grid), Some(-6));
        assert_eq!(weight_units(&Item::Integer(i128::MAX), grid), None);
        assert_eq!(weight_units(&Item::Integer(1 << 62), grid), None);
        assert_eq!(weight_units(&Item::Decimal { unscaled: -125, scale: 2 }, grid), Some(-2));
        assert_eq!(weight_units(&Item::Decimal { unscaled: 3, scale: -2 }, grid), Some(600));
        assert_eq!(weight_units(&Item::Decimal { unscaled: i128::MIN, scale: 38 }, grid), Some(-3));
        assert_eq!(weight_units(&Item::Float(1.25), grid), Some(2));
        assert_eq!(weight_units(&Item::Float32(0.75), grid), Some(2));
        assert_eq!(weight_units(&Item::Float(f64::NAN), grid), None);
        assert_eq!(weight_units(&Item::Boolean(true), grid), None);
    }
}
