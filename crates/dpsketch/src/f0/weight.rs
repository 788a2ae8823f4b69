//! Weights of items as real numbers.

use sketch_hash::Item;

/// The longest text of a weight, in bytes.
const MAX_LEN: usize = 1024;

/// A weight as a number of at least 0.
///
/// Whole numbers, decimals and decimal text such as `12.50` or `1e3` give the double nearest to the number that is written, so
/// that one weight is one number whatever its type; floating-point numbers are taken as they are. What is finite but beyond doubles is the
/// largest of them. `None` for anything that is no number, and below 0.
pub(super) fn weight_value(weight: &Item<'_>) -> Option<f64> {
    let value = match *weight {
        Item::Integer(value) => decimal(value, 0)?,
        Item::Decimal { unscaled, scale } => decimal(unscaled, scale)?,
        Item::Float(value) => value,
        Item::Float32(value) => f64::from(value),
        Item::Text(text) => text_value(text)?,
        _ => return None,
    };
    // A negative zero is no weight below 0, and becomes a plain one.
    (value.is_finite() && value >= 0.0).then(|| value.abs())
}

/// `unscaled · 10^-scale`, rounded once.
fn decimal(unscaled: i128, scale: i8) -> Option<f64> {
    match i32::try_from(unscaled) {
        Ok(small) if scale == 0 => Some(f64::from(small)),
        _ => text_value(&format!("{unscaled}e{}", -i16::from(scale))),
    }
}

/// Digits with at most one point among them, a sign before, an exponent after: not all that Rust reads as a number.
fn text_value(text: &str) -> Option<f64> {
    let text = text.trim();
    if text.len() > MAX_LEN {
        return None;
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
    let plain = digits(whole) && digits(fraction) && digits(exponent);
    if !plain || whole.len() + fraction.len() == 0 || exponent.is_empty() {
        return None;
    }
    text.parse::<f64>().ok().map(|value| value.clamp(f64::MIN, f64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_the_same_in_every_type() {
        for item in [
            Item::Text("0.3"),
            Item::Text("3e-1"),
            Item::Text(" +.30 "),
            Item::Decimal { unscaled: 3, scale: 1 },
            Item::Decimal { unscaled: 300, scale: 3 },
            Item::Float(0.3),
        ] {
            assert_eq!(weight_value(&item).map(f64::to_bits), Some(0.3_f64.to_bits()), "{item:?}");
        }
        for (item, value) in [
            (Item::Integer(7), 7.0),
            (Item::Integer(1 << 60), 60_f64.exp2()),
            (Item::Decimal { unscaled: 7, scale: -2 }, 700.0),
            (Item::Float32(0.5), 0.5),
            (Item::Text("0"), 0.0),
            (Item::Text("5."), 5.0),
            (Item::Text("1e999"), f64::MAX),
            (Item::Text("1e-999"), 0.0),
        ] {
            assert_eq!(weight_value(&item), Some(value), "{item:?}");
        }
        assert!(weight_value(&Item::Text("-0")).is_some_and(|zero| zero.to_bits() == 0));
    }

    #[test]
    fn nothing_below_zero_and_nothing_else_is_a_weight() {
        let bad =
            ["", "-", ".", "1e", "e1", "1 2", "0x1", "NaN", "inf", "infinity", "1,5", "--1", "1e1e1", "1e+-1", "many"];
        for text in bad.into_iter().chain(["-1", "-0.001", "1_000"]) {
            assert_eq!(weight_value(&Item::Text(text)), None, "{text}");
        }
        assert_eq!(weight_value(&Item::Text(&"1".repeat(2000))), None);
        for item in [
            Item::Integer(-1),
            Item::Decimal { unscaled: -1, scale: 30 },
            Item::Float(f64::NAN),
            Item::Float(f64::INFINITY),
            Item::Float(-1e-300),
            Item::Boolean(true),
        ] {
            assert_eq!(weight_value(&item), None, "{item:?}");
        }
    }
}
