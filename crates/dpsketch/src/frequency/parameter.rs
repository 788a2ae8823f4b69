//! Parameters of frequency sketches from text and flags.

use countsketch_dp::Granularity;
use dp_noise::{Delta, Epsilon, Rho, dp_to_zcdp};

use super::level::FrequencyLevel;
use crate::error::{Error, ErrorKind};
use crate::number::parse_real;

/// The privacy loss ρ of zero-concentrated differential privacy from text.
///
/// # Errors
/// [`ErrorKind::Parameter`] when the text is no number or lies outside 2^-40 to 65536; the message names argument, value and
/// range.
///
/// # Examples
/// ```
/// assert_eq!(dpsketch::parse_rho("0.5")?.get(), 0.5);
/// assert_eq!(dpsketch::parse_rho("NaN").unwrap_err().to_json()["argument"], "--rho");
/// # Ok::<(), dpsketch::Error>(())
/// ```
pub fn parse_rho(text: &str) -> Result<Rho, Error> {
    let tell = |error: Error| {
        error
            .argument("--rho")
            .value(text)
            .allowed("2^-40 (about 9.1e-13) to 65536")
            .hint("smaller is more private; from 0.005 to 1 is usual")
    };
    let value = parse_real(text).map_err(tell)?;
    Rho::new(value).map_err(|error| tell(error.into()))
}

/// The δ of (ε, δ)-differential privacy from text.
///
/// # Errors
/// [`ErrorKind::Parameter`] when the text is no number or lies outside 2^-300 to 0.5; the message names argument, value and
/// range.
///
/// # Examples
/// ```
/// assert_eq!(dpsketch::parse_delta("1e-8")?.get(), 1e-8);
/// assert_eq!(dpsketch::parse_delta("0").unwrap_err().to_json()["allowed"], "2^-300 (about 4.9e-91) to 0.5");
/// # Ok::<(), dpsketch::Error>(())
/// ```
pub fn parse_delta(text: &str) -> Result<Delta, Error> {
    let tell = |error: Error| {
        error
            .argument("--delta")
            .value(text)
            .allowed("2^-300 (about 4.9e-91) to 0.5")
            .hint("far below one over the number of people, such as 1e-8; above 0.001 protects little")
    };
    let value = parse_real(text).map_err(tell)?;
    Delta::new(value).map_err(|error| tell(error.into()))
}

/// The grid of weights from text: `1`, a power of two as `2^-7`, or its decimals as `0.25`.
///
/// # Errors
/// [`ErrorKind::Parameter`] for anything that is no power of two from 2^-52 to 1.
///
/// # Examples
/// ```
/// assert_eq!(dpsketch::parse_granularity("2^-7")?.exponent(), 7);
/// assert_eq!(dpsketch::parse_granularity("0.25")?.exponent(), 2);
/// assert!(dpsketch::parse_granularity("0.1").is_err());
/// # Ok::<(), dpsketch::Error>(())
/// ```
pub fn parse_granularity(text: &str) -> Result<Granularity, Error> {
    let none = || {
        Error::new(ErrorKind::Parameter, format!("{text:?} is no granularity of weights"))
            .argument("--granularity")
            .value(text)
            .allowed("a power of two from 2^-52 to 1, such as 1, 0.25 or 2^-7")
    };
    let exponent = match text.strip_prefix("2^-") {
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits.parse().map_err(|_| none())?,
        Some(_) => return Err(none()),
        None => {
            let value = parse_real(text).map_err(|_| none())?;
            let is_step = |exponent: &u8| Granularity::new(*exponent).is_ok_and(|grid| same(grid.step(), value));
            (0..=Granularity::MAX_EXPONENT).find(is_step).ok_or_else(none)?
        }
    };
    Granularity::new(exponent).map_err(|_| none())
}

/// Whether two numbers are the same to the bit; the values are powers of two.
fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits()
}

impl FrequencyLevel {
    /// The ρ that a stack of prefixes is released at for this level: an (ε, δ) goes through zCDP.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for a pure level, as stacks have Gaussian noise, and for a ρ out of range.
    ///
    /// # Examples
    /// ```
    /// use dpsketch::{FrequencyLevel, parse_epsilon, parse_rho};
    /// assert_eq!(FrequencyLevel::Rho(parse_rho("0.5")?).stack_rho()?.get(), 0.5);
    /// assert!(FrequencyLevel::Pure(parse_epsilon("1")?).stack_rho().is_err());
    /// # Ok::<(), dpsketch::Error>(())
    /// ```
    pub fn stack_rho(self) -> Result<Rho, Error> {
        match self {
            Self::Rho(rho) => Ok(rho),
            Self::Approximate { epsilon, delta } => Ok(dp_to_zcdp(epsilon, delta)?),
            Self::Pure(_) => {
                Err(Error::new(ErrorKind::Parameter, "a prefix stack has Gaussian noise, and no pure epsilon")
                    .argument("--pure")
                    .allowed("--rho, or --epsilon with --delta"))
            }
        }
    }

    /// The level that some flags ask for: ρ alone, ε with δ, or ε of pure differential privacy. `None` where none is given.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`], naming the flag that is missing or one too many.
    ///
    /// # Examples
    /// ```
    /// use dpsketch::{FrequencyLevel, parse_delta, parse_epsilon};
    ///
    /// let (epsilon, delta) = (parse_epsilon("1")?, parse_delta("1e-6")?);
    /// let level = FrequencyLevel::from_flags(Some(epsilon), Some(delta), None, false)?;
    /// assert_eq!(level, Some(FrequencyLevel::Approximate { epsilon, delta }));
    /// let error = FrequencyLevel::from_flags(Some(epsilon), Some(delta), None, true).unwrap_err();
    /// assert_eq!(error.to_json()["argument"], "--delta");
    /// # Ok::<(), dpsketch::Error>(())
    /// ```
    pub fn from_flags(
        epsilon: Option<Epsilon>,
        delta: Option<Delta>,
        rho: Option<Rho>,
        pure: bool,
    ) -> Result<Option<Self>, Error> {
        let wrong = |argument: &str, message: &str, allowed: &str| {
            Err(Error::new(ErrorKind::Parameter, message).argument(argument).allowed(allowed).hint(
                "say --rho R, or --epsilon E --delta D, or --epsilon E --pure: the three laws of noise have different costs",
            ))
        };
        match (rho, epsilon, delta, pure) {
            (Some(rho), None, None, false) => Ok(Some(Self::Rho(rho))),
            (Some(_), Some(_), ..) => {
                wrong("--epsilon", "--rho says it all: there is no --epsilon beside it", "--rho alone")
            }
            (Some(_), _, Some(_), _) => {
                wrong("--delta", "--rho says it all: there is no --delta beside it", "--rho alone")
            }
            (Some(_), _, _, true) => {
                wrong("--pure", "--rho is for Gaussian noise, and --pure for Laplace", "one of the two")
            }
            (None, Some(_), Some(_), true) => {
                wrong("--delta", "with --pure there is no delta", "--epsilon and --pure alone")
            }
            (None, Some(epsilon), Some(delta), false) => Ok(Some(Self::Approximate { epsilon, delta })),
            (None, Some(epsilon), None, true) => Ok(Some(Self::Pure(epsilon))),
            (None, Some(_), None, false) => {
                wrong("--epsilon", "--epsilon alone does not say which noise", "--epsilon with --delta or --pure")
            }
            (None, None, Some(_), _) => wrong("--delta", "--delta needs --epsilon", "--delta together with --epsilon"),
            (None, None, None, true) => wrong("--pure", "--pure needs --epsilon", "--pure together with --epsilon"),
            (None, None, None, false) => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absurd_levels_are_refused_with_argument_value_and_range() {
        for text in ["0", "-1", "NaN", "inf", "-0.0", "1e-320", "1e300", "one", "", "65537"] {
            let json = parse_rho(text).unwrap_err().to_json();
            assert_eq!((&json["code"], &json["argument"], &json["value"]), (&2.into(), &"--rho".into(), &text.into()));
            assert!(json["allowed"].is_string());
        }
        for text in ["0", "1", "2", "-1e-9", "NaN", "0.50001", "1e-100", "one", ""] {
            let json = parse_delta(text).unwrap_err().to_json();
            assert_eq!(
                (&json["code"], &json["argument"], &json["value"]),
                (&2.into(), &"--delta".into(), &text.into())
            );
            assert!(json["allowed"].is_string());
        }
        for text in ["0.5", "1e-90", "1e-8"] {
            assert!(parse_delta(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn a_granularity_is_a_power_of_two() {
        for (text, exponent) in [("1", 0), ("1.0", 0), ("2^-0", 0), ("0.5", 1), ("0.0078125", 7), ("2^-52", 52)] {
            assert_eq!(parse_granularity(text).map(Granularity::exponent).ok(), Some(exponent), "{text}");
        }
        for text in ["0", "2", "-1", "0.3", "2^-53", "2^-", "2^-+1", "2^1", "NaN", "inf", "one", "", "2^-300"] {
            assert_eq!(parse_granularity(text).unwrap_err().to_json()["argument"], "--granularity", "{text}");
        }
    }

    #[test]
    fn flags_that_say_too_much_or_too_little_are_named() {
        let (epsilon, delta, rho) = (Epsilon::new(1.0).ok(), Delta::new(1e-6).ok(), Rho::new(0.1).ok());
        for (epsilon, delta, rho, pure, argument) in [
            (epsilon, None, None, false, "--epsilon"),
            (epsilon, None, rho, false, "--epsilon"),
            (None, delta, rho, false, "--delta"),
            (None, delta, None, false, "--delta"),
            (epsilon, delta, None, true, "--delta"),
            (None, None, rho, true, "--pure"),
            (None, None, None, true, "--pure"),
        ] {
            let json = FrequencyLevel::from_flags(epsilon, delta, rho, pure).unwrap_err().to_json();
            assert_eq!((&json["argument"], &json["code"]), (&argument.into(), &2.into()), "{json}");
        }
        assert_eq!(FrequencyLevel::from_flags(None, None, None, false).unwrap(), None);
        let pure = FrequencyLevel::from_flags(epsilon, None, None, true).unwrap();
        assert_eq!(pure.map(FrequencyLevel::as_str), Some("pure"));
    }
}
