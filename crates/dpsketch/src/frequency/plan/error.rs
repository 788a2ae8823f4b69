use thiserror::Error as ThisError;

use crate::error::{Error, ErrorKind};

/// Why there is no plan for frequencies.
#[derive(Clone, Copy, Debug, PartialEq, ThisError)]
#[non_exhaustive]
pub enum FrequencyPlanError {
    /// Too few or too many parties.
    #[error("the number of parties is out of range: expected 1 to 65536, found {found}")]
    Parties {
        /// The number.
        found: u32,
    },
    /// An error that cannot be aimed at.
    #[error("the error to aim at must be above 0, found {found}")]
    Target {
        /// The half-width, in units of weight.
        found: f64,
    },
    /// No shape reaches the error.
    #[error("no sketch reaches an error of {target}: the best has {least:.1}")]
    OutOfReach {
        /// What was aimed at.
        target: f64,
        /// The least half-width of all shapes that were allowed.
        least: f64,
    },
    /// Even the smallest sketch is too long.
    #[error("no sketch is that short: expected at most {max} bytes, found {found} for the shortest")]
    TooLong {
        /// The most bytes.
        max: u64,
        /// What the shortest sketch has.
        found: u64,
    },
    /// A level without a law of noise.
    #[error("no noise for this level")]
    Level,
}

impl From<FrequencyPlanError> for Error {
    fn from(error: FrequencyPlanError) -> Self {
        use FrequencyPlanError as E;
        let told = Self::new(ErrorKind::Parameter, error.to_string());
        match error {
            E::Parties { found } => told.argument("--parties").value(found.to_string()).allowed("1 to 65536"),
            E::Target { found } => told.argument("--target-error").value(found.to_string()).allowed("above 0"),
            E::OutOfReach { target, least } => told
                .argument("--target-error")
                .value(target.to_string())
                .allowed(format!("{least:.1} or more"))
                .hint("raise the level or --max-bytes, or expect a larger error"),
            E::TooLong { max, found } => told
                .argument("--max-bytes")
                .value(max.to_string())
                .allowed(format!("{found} or more"))
                .hint("allow more bytes"),
            E::Level => told,
        }
        .caused_by(error)
    }
}
