use cardinality_estimators::Confidence;
use dp_noise::Epsilon;

use crate::error::{Error, ErrorKind};
use crate::number::parse_real;

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

/// The confidence of an interval from text.
///
/// # Errors
/// [`ErrorKind::Parameter`] when the text is no number, or no usable level between 0 and 1.
///
/// # Examples
/// ```
/// assert_eq!(dpsketch::parse_confidence("0.99")?.get(), 0.99);
/// assert!(dpsketch::parse_confidence("95").is_err());
/// # Ok::<(), dpsketch::Error>(())
/// ```
pub fn parse_confidence(text: &str) -> Result<Confidence, Error> {
    let tell = |error: Error| {
        error.argument("--confidence").value(text).allowed("above 0 and below 1").hint("0.95 stands for 95 percent")
    };
    let value = parse_real(text).map_err(tell)?;
    Confidence::new(value).map_err(|error| {
        tell(Error::new(ErrorKind::Parameter, format!("{text} is no level of confidence")).caused_by(error))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn the_ends_of_the_range_are_accepted() {
        for text in ["256", "9.4e-10", "1", "0.1", "1_0"] {
            assert!(parse_epsilon(text).is_ok(), "{text}");
        }
    }
}
