use crate::error::{Error, ErrorKind};

/// Reads a whole number as people write it: `4096`, `1_000_000`, `1e6`, `2.5e3`.
///
/// # Errors
/// [`ErrorKind::Parameter`] when the text is not a number, not a whole one, negative, or 2^64 and more.
///
/// # Examples
/// ```
/// assert_eq!(dpsketch::parse_count("1e6")?, 1_000_000);
/// assert_eq!(dpsketch::parse_count("1_000_000")?, 1_000_000);
/// assert!(dpsketch::parse_count("1.5").is_err());
/// # Ok::<(), dpsketch::Error>(())
/// ```
pub fn parse_count(text: &str) -> Result<u64, Error> {
    let bad = |why: &str| {
        Error::new(ErrorKind::Parameter, format!("{text:?} is {why}"))
            .value(text)
            .allowed("a whole number from 0 to 2^64 - 1, such as 4096, 1_000_000 or 1e6")
    };
    let plain = strip_separators(text).ok_or_else(|| bad("not a number"))?;
    let (mantissa, exponent) = match plain.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<u32>().map_err(|_| bad("not a whole number"))?),
        None => (plain.as_str(), 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let digits = format!("{whole}{fraction}");
    if whole.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(bad("not a whole number"));
    }
    let shift = u32::try_from(fraction.len()).ok().and_then(|length| exponent.checked_sub(length));
    let shift = shift.ok_or_else(|| bad("not a whole number"))?;
    let digits: u64 = digits.parse().map_err(|_| bad("too large"))?;
    if digits == 0 {
        return Ok(0);
    }
    10u64.checked_pow(shift).and_then(|power| digits.checked_mul(power)).ok_or_else(|| bad("too large"))
}

/// Reads a number of bytes: a count as [`parse_count`] reads it, then nothing, `B`, `kB`, `MB`, `GB` (powers of 1000) or
/// `KiB`, `MiB`, `GiB` (powers of 1024).
///
/// # Errors
/// [`ErrorKind::Parameter`] when the text is none of these or does not fit in 64 bits.
///
/// # Examples
/// ```
/// assert_eq!(dpsketch::parse_size("64KiB")?, 65_536);
/// assert_eq!(dpsketch::parse_size("1e6")?, 1_000_000);
/// # Ok::<(), dpsketch::Error>(())
/// ```
pub fn parse_size(text: &str) -> Result<u64, Error> {
    const UNITS: [(&str, u64); 8] = [
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("kB", 1_000),
        ("KB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("B", 1),
    ];
    let bad = || {
        Error::new(ErrorKind::Parameter, format!("{text:?} is not a size"))
            .value(text)
            .allowed("a number of bytes, such as 65536, 64KiB or 16MiB")
    };
    let (number, unit) = UNITS
        .iter()
        .find_map(|(name, unit)| text.strip_suffix(name).map(|number| (number, *unit)))
        .unwrap_or((text, 1));
    parse_count(number.trim_end()).ok().and_then(|count| count.checked_mul(unit)).ok_or_else(bad)
}

/// Reads a real number as people write it: `0.5`, `1e-3`, `1_000.5`. `NaN` and the infinities are read too: the range of
/// the parameter decides about them.
///
/// # Errors
/// [`ErrorKind::Parameter`] when the text is not a number.
///
/// # Examples
/// ```
/// assert_eq!(dpsketch::parse_real("1e-1")?.to_bits(), 0.1f64.to_bits());
/// assert!(dpsketch::parse_real("one").is_err());
/// # Ok::<(), dpsketch::Error>(())
/// ```
pub fn parse_real(text: &str) -> Result<f64, Error> {
    strip_separators(text).and_then(|plain| plain.parse().ok()).ok_or_else(|| {
        Error::new(ErrorKind::Parameter, format!("{text:?} is not a number"))
            .value(text)
            .hint("write it as a decimal, such as 0.5")
    })
}

/// Removes underscores that stand between two digits; any other underscore makes it no number.
pub(crate) fn strip_separators(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let digit = |index: Option<usize>| index.and_then(|index| bytes.get(index)).is_some_and(u8::is_ascii_digit);
    let stray = bytes
        .iter()
        .enumerate()
        .any(|(index, byte)| *byte == b'_' && !(digit(index.checked_sub(1)) && digit(index.checked_add(1))));
    (!stray && !bytes.is_empty()).then(|| text.replace('_', ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_as_people_write_them() {
        for (text, value) in [
            ("0", 0),
            ("4096", 4096),
            ("1_000_000", 1_000_000),
            ("1e6", 1_000_000),
            ("1E6", 1_000_000),
            ("2.5e3", 2_500),
            ("1.0", 1),
            ("0e99", 0),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(parse_count(text).ok(), Some(value), "{text}");
        }
    }

    #[test]
    fn what_is_no_count_is_refused() {
        for text in [
            "",
            "-1",
            "+1",
            "1.5",
            "1e-1",
            "1e",
            "e6",
            "1__0",
            "_1",
            "1_",
            "nan",
            "inf",
            "0x10",
            "1e20",
            "1 000",
            ".5",
            "1.25e1",
            "18446744073709551616",
            "1e4294967296",
        ] {
            assert!(parse_count(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_take_binary_and_decimal_units() {
        for (text, value) in [("10", 10), ("10B", 10), ("64KiB", 65_536), ("1 MiB", 1 << 20), ("2GB", 2_000_000_000)] {
            assert_eq!(parse_size(text).ok(), Some(value), "{text}");
        }
        for text in ["", "KiB", "-1KiB", "1XiB", "1e19GiB"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn reals_leave_the_range_to_the_parameter() {
        assert!(parse_real("NaN").is_ok_and(f64::is_nan));
        assert_eq!(parse_real("1_0.5").ok(), Some(10.5));
        for text in ["", "one", "1,5", "_1", "1_"] {
            assert!(parse_real(text).is_err(), "{text}");
        }
    }
}
