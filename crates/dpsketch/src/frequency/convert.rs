//! Errors of `countsketch-dp`, as a front end tells them.

use countsketch_dp::theory::DomainError;
use countsketch_dp::{
    ContributionBound, CountSketchShape, DecodeError, MergeError, ParamError, ReleaseError, UpdateError,
};
use dp_noise::{FractionError, SampleError};

use super::error::FrequencyError;
use crate::convert::{chain, wire_hint};
use crate::error::{Error, ErrorKind};

/// The shape of a frequency sketch from any numbers, which the error tells as they were given.
///
/// # Errors
/// [`ErrorKind::Parameter`] as [`CountSketchShape::new`] has it.
///
/// # Examples
/// ```
/// assert_eq!(dpsketch::count_sketch_shape(5, 65_536)?.cells(), 327_680);
/// assert_eq!(dpsketch::count_sketch_shape(256, 64).unwrap_err().to_json()["value"], "256");
/// # Ok::<(), dpsketch::Error>(())
/// ```
pub fn count_sketch_shape(rows: u64, width: u64) -> Result<CountSketchShape, Error> {
    let found = CountSketchShape::new(u8::try_from(rows).unwrap_or(0), u32::try_from(width).unwrap_or(u32::MAX));
    found.map_err(|error| {
        let told = |what: &str, value: u64, allowed: String| {
            Error::new(ErrorKind::Parameter, format!("{value} {what} are out of range: expected {allowed}"))
                .argument(format!("--{what}"))
                .value(value.to_string())
                .allowed(allowed)
        };
        match error {
            ParamError::Rows { .. } => told("rows", rows, "an odd number from 1 to 255".to_owned()),
            ParamError::Width { max, .. } => told("width", width, format!("2 to {max}")),
            other => return other.into(),
        }
        .caused_by(error)
    })
}

impl From<ParamError> for Error {
    fn from(error: ParamError) -> Self {
        let told = Self::new(ErrorKind::Parameter, error.to_string());
        match error {
            ParamError::Rows { found } => {
                told.argument("--rows").value(found.to_string()).allowed("an odd number from 1 to 255")
            }
            ParamError::Width { max, found } => {
                told.argument("--width").value(found.to_string()).allowed(format!("2 to {max}"))
            }
            ParamError::Cells { max, found } => {
                told.argument("--width").value(found.to_string()).allowed(format!("rows times width of at most {max}"))
            }
            ParamError::Granularity { max, found } => {
                told.argument("--granularity").value(found.to_string()).allowed(format!("2^-e with e from 0 to {max}"))
            }
            ParamError::Bound { what, max, found } => told
                .argument(if what.contains("items") { "--max-items" } else { "--max-weight" })
                .value(found.to_string())
                .allowed(format!("1 to {max} (in units of the granularity)"))
                .hint(format!("{} items are the most of a user", ContributionBound::MAX_ITEMS)),
            _ => told,
        }
        .caused_by(error)
    }
}

impl From<UpdateError> for Error {
    fn from(error: UpdateError) -> Self {
        match error {
            UpdateError::CounterOverflow => FrequencyError::Overflow.into(),
            other => Self::new(ErrorKind::Parameter, chain(&other)).caused_by(other),
        }
    }
}

impl From<MergeError> for Error {
    fn from(error: MergeError) -> Self {
        let told = Self::new(ErrorKind::Incompatible, chain(&error));
        let differ = |told: Self, expected: &dyn ToString, found: &dyn ToString, hint: &str| {
            told.value(found.to_string()).allowed(expected.to_string()).hint(hint)
        };
        match &error {
            MergeError::Hash { expected, found } => {
                differ(told, expected, found, "all parties must build with the same --key-file and --hash")
            }
            MergeError::Shape { expected, found } => {
                differ(told, expected, found, "all parties must build with the same --rows and --width")
            }
            MergeError::Granularity { expected, found } => {
                differ(told, expected, found, "all parties must build with the same --granularity")
            }
            MergeError::Bound { expected, found } => {
                differ(told, expected, found, "release each on its own and merge the private sketches")
            }
            MergeError::RepeatedRelease { .. } => {
                told.hint("name every release once; a merged file already holds the files it was made from")
            }
            MergeError::Overflow => told.hint("the sums of weights are too large for one sketch"),
            _ => told,
        }
        .caused_by(error)
    }
}

impl From<ReleaseError> for Error {
    fn from(error: ReleaseError) -> Self {
        let told = Self::new(ErrorKind::Parameter, format!("this sketch cannot be released: {}", chain(&error)));
        match error {
            ReleaseError::Entropy(error) => return error.into(),
            ReleaseError::TooMuchNoise { .. } | ReleaseError::Noise(_) => {
                told.hint("raise the level, choose a coarser granularity, or bound the weights more tightly")
            }
            ReleaseError::Sensitivity(_) => told.hint("bound items and weights more tightly"),
            ReleaseError::Underpaid { .. } | ReleaseError::UnderpaidEpsilon { .. } | ReleaseError::Terms => {
                return Self::new(ErrorKind::Refused, chain(&error)).caused_by(error);
            }
            _ => told,
        }
        .caused_by(error)
    }
}

impl From<FractionError> for Error {
    fn from(error: FractionError) -> Self {
        ReleaseError::from(error).into()
    }
}

impl From<SampleError> for Error {
    fn from(error: SampleError) -> Self {
        ReleaseError::from(error).into()
    }
}

impl From<DomainError> for Error {
    fn from(error: DomainError) -> Self {
        Self::new(ErrorKind::Parameter, error.to_string())
            .value(error.found.to_string())
            .allowed(error.expected)
            .caused_by(error)
    }
}

impl From<DecodeError> for Error {
    fn from(error: DecodeError) -> Self {
        let told = chain(&error);
        match &error {
            DecodeError::InsecureNoise => Self::new(ErrorKind::Refused, told)
                .hint("release the data again with the shipped program; this file came from a simulation"),
            DecodeError::Wire(wire) => Self::new(ErrorKind::Damaged, told).hint(wire_hint(wire)),
            _ => Self::new(ErrorKind::Damaged, told).hint("the file does not hold a valid sketch: make it again"),
        }
        .caused_by(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_out_of_range_are_told_as_they_were_given() {
        for (rows, width, argument, value) in [
            (4, 64, "--rows", "4"),
            (0, 64, "--rows", "0"),
            (257, 64, "--rows", "257"),
            (5, 1, "--width", "1"),
            (5, 1 << 40, "--width", "1099511627776"),
            (255, 1 << 24, "--width", "4278190080"),
        ] {
            let json = count_sketch_shape(rows, width).unwrap_err().to_json();
            assert_eq!((json["argument"].as_str(), json["value"].as_str()), (Some(argument), Some(value)), "{json}");
            assert!(json["allowed"].is_string(), "{json}");
        }
    }
}
