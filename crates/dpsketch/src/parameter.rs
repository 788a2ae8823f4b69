use cardinality_estimators::Confidence;
use dp_noise::{Amount, Epsilon};
use sfm_pcsa::{ParamError, PcsaShape};

use crate::error::{Error, ErrorKind};
use crate::ledger::LedgerError;
use crate::number::{parse_real, strip_separators};

/// The privacy loss ε from text.
///
/// # Errors
/// [`ErrorKind::Parameter`] when the text is no number or lies outside 2^-30 to 256; the message names argument, value and
/// range.
///
/// # Examples
/// ```
/// assert_eq!(dpsketch::parse_epsilon("0.5")?.get(), 0.5);
/// let error = dpsketch::parse_epsilon("NaN").unwrap_err();
/// assert_eq!(error.to_json()["allowed"], "2^-30 (about 9.3e-10) to 256");
/// # Ok::<(), dpsketch::Error>(())
/// ```
pub fn parse_epsilon(text: &str) -> Result<Epsilon, Error> {
    let tell = |error: Error| {
        error
            .argument("--epsilon")
            .value(text)
            .allowed("2^-30 (about 9.3e-10) to 256")
            .hint("smaller is more private; from 0.1 to 4 is usual, above 10 protects little")
    };
    let value = parse_real(text).map_err(tell)?;
    Epsilon::new(value).map_err(|error| tell(error.into()))
}

/// The total of a ledger from text: exact to 18 decimal places, what is finer rounds down.
///
/// # Errors
/// [`ErrorKind::Parameter`] when the text is no finite decimal number, or not above zero.
///
/// # Examples
/// ```
/// assert_eq!(dpsketch::parse_total("1_0.5")?.to_string(), "10.5");
/// assert!(dpsketch::parse_total("0").is_err());
/// # Ok::<(), dpsketch::Error>(())
/// ```
pub fn parse_total(text: &str) -> Result<Amount, Error> {
    let tell = |error: Error| {
        error
            .value(text)
            .allowed("a decimal number above 0, such as 1 or 0.5")
            .hint("it is what all releases about the same people may cost together")
    };
    let plain = strip_separators(text).unwrap_or_default();
    let total = Amount::parse_total(&plain).map_err(|error| tell(error.into()))?;
    if total > Amount::ZERO { Ok(total) } else { Err(tell(LedgerError::NoTotal.into())) }
}

/// The confidence of an interval from text.
///
/// # Errors
/// [`ErrorKind::Parameter`] when the text is no number, or no level from 10⁻⁶ to 1 − 10⁻¹².
///
/// # Examples
/// ```
/// assert_eq!(dpsketch::parse_confidence("0.99")?.get(), 0.99);
/// assert!(dpsketch::parse_confidence("95").is_err());
/// # Ok::<(), dpsketch::Error>(())
/// ```
pub fn parse_confidence(text: &str) -> Result<Confidence, Error> {
    let tell = |error: Error| {
        error
            .argument("--confidence")
            .value(text)
            .allowed("0.000001 to 0.999999999999")
            .hint("0.95 stands for 95 percent")
    };
    let value = parse_real(text).map_err(tell)?;
    Confidence::new(value).map_err(|error| {
        tell(Error::new(ErrorKind::Parameter, format!("{text} is no level of confidence")).caused_by(error))
    })
}

/// The shape of a distinct-count sketch from any numbers, which the error tells as they were given.
///
/// # Errors
/// [`ErrorKind::Parameter`] as [`PcsaShape::new`] has it.
///
/// # Examples
/// ```
/// assert_eq!(dpsketch::pcsa_shape(4096, 24)?.cells(), 98_304);
/// assert_eq!(dpsketch::pcsa_shape(4096, 300).unwrap_err().to_json()["value"], "300");
/// # Ok::<(), dpsketch::Error>(())
/// ```
pub fn pcsa_shape(buckets: u64, levels: u64) -> Result<PcsaShape, Error> {
    let (small_buckets, small_levels) = (u32::try_from(buckets), u8::try_from(levels));
    // The largest numbers of both types are out of range, too.
    let shape = PcsaShape::new(small_buckets.unwrap_or(u32::MAX), small_levels.unwrap_or(u8::MAX));
    shape.map_err(|error| {
        let (what, found, range) = match &error {
            ParamError::Buckets { .. } => ("buckets", buckets, "a power of two from 2 to 1048576".to_owned()),
            ParamError::Levels { max, .. } => ("levels", levels, format!("1 to {max} with this number of buckets")),
            _ => return error.into(),
        };
        Error::new(ErrorKind::Parameter, format!("{found} {what} are out of range: expected {range}"))
            .argument(format!("--{what}"))
            .value(found.to_string())
            .allowed(range)
            .caused_by(error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_out_of_range_are_told_as_they_were_given() {
        for (buckets, levels, argument, value) in [
            (4096, 300, "--levels", "300"),
            (4096, 255, "--levels", "255"),
            (4096, 53, "--levels", "53"),
            (4096, 1 << 40, "--levels", "1099511627776"),
            (1 << 40, 24, "--buckets", "1099511627776"),
            (4095, 300, "--buckets", "4095"),
        ] {
            let error = pcsa_shape(buckets, levels).unwrap_err();
            let json = error.to_json();
            assert_eq!((json["argument"].as_str(), json["value"].as_str()), (Some(argument), Some(value)), "{json}");
            assert!(error.message().contains(value) && !error.to_text().contains("4294967295"), "{error}");
        }
    }

    #[test]
    fn absurd_epsilons_are_refused_with_argument_value_and_range() {
        for text in ["0", "-1", "NaN", "inf", "-inf", "-0.0", "1e-320", "1e300", "one", "", "256.0000001", "9e-10"] {
            let error = parse_epsilon(text).unwrap_err();
            let json = error.to_json();
            assert_eq!(json["code"], 2, "{text}");
            assert_eq!(json["argument"], "--epsilon", "{text}");
            assert_eq!(json["value"], text);
            assert!(json["allowed"].is_string() && json["hint"].is_string(), "{text}");
        }
    }

    #[test]
    fn absurd_totals_are_refused() {
        for text in ["0", "-1", "NaN", "inf", "-0.0", "1e-19", "one", "", "1e300", "1__0"] {
            let json = parse_total(text).unwrap_err().to_json();
            assert_eq!((json["code"].as_u64(), json["value"].as_str()), (Some(2), Some(text)));
        }
        assert_eq!(parse_total("1000000").map(|total| total.to_string()).unwrap_or_default(), "1000000");
    }

    #[test]
    fn the_ends_of_the_range_are_accepted() {
        for text in ["256", "9.4e-10", "1", "0.1", "1_0"] {
            assert!(parse_epsilon(text).is_ok(), "{text}");
        }
    }
}
