use dp_noise::ParameterError;
use f0_sketch::ShapeError;
use thiserror::Error as ThisError;

use crate::error::{Error, ErrorKind};

/// Why there is no plan for an F0 sketch.
#[derive(Clone, Copy, Debug, PartialEq, ThisError)]
#[non_exhaustive]
pub enum F0PlanError {
    /// A count that no sketch is planned for.
    #[error("the number of distinct items is out of range: expected 1 to 2^64, found {found}")]
    Distinct {
        /// The count.
        found: f64,
    },
    /// Too few or too many parties.
    #[error("the number of parties is out of range: expected 1 to 65536, found {found}")]
    Parties {
        /// The number.
        found: u32,
    },
    /// The level of a single item would be too small.
    #[error("the level of one item, epsilon divided by the most items of a user, is too small")]
    ItemEpsilon(#[source] ParameterError),
    /// A relative error that cannot be aimed at.
    #[error("the relative error to aim at is out of range: expected above 0 and below 1, found {found}")]
    Target {
        /// The relative error.
        found: f64,
    },
    /// No number of cells reaches the error.
    #[error("no sketch reaches a relative error of {target}: the best has {best:.4} with {cells} cells a level")]
    OutOfReach {
        /// What was aimed at.
        target: f64,
        /// The least relative error of all shapes that were allowed.
        best: f64,
        /// The cells a level that have it.
        cells: u32,
    },
    /// Even the smallest sketch is too long.
    #[error("no sketch is that short: expected at most {max} bytes, found {found} for the shortest")]
    TooLong {
        /// The most bytes.
        max: u64,
        /// What the shortest sketch has.
        found: u64,
    },
    /// A shape that does not exist.
    #[error("no such shape")]
    Shape(#[from] ShapeError),
}

impl From<F0PlanError> for Error {
    fn from(error: F0PlanError) -> Self {
        use F0PlanError as E;
        let told = Self::new(ErrorKind::Parameter, error.to_string());
        match &error {
            E::Distinct { found } => told.argument("--distinct").value(found.to_string()).allowed("1 to 2^64"),
            E::Parties { found } => told.argument("--parties").value(found.to_string()).allowed("1 to 65536"),
            E::ItemEpsilon(below) => told
                .argument("--max-items")
                .value(below.value().to_string())
                .allowed(format!("epsilon / max-items of at least {}", below.min())),
            E::Target { found } => told
                .argument("--target-rse")
                .value(found.to_string())
                .allowed("above 0 and below 1")
                .hint("0.05 stands for 5 percent"),
            E::OutOfReach { target, best, .. } => {
                let told = told.argument("--target-rse").value(target.to_string());
                if best.is_finite() {
                    told.allowed(format!("{best:.4} or more"))
                        .hint("raise epsilon or --max-bytes, merge fewer parties, or expect a larger error")
                } else {
                    told.hint("raise epsilon, or merge fewer parties: their noise leaves nothing to estimate from")
                }
            }
            E::TooLong { max, found } => told
                .argument("--max-bytes")
                .value(max.to_string())
                .allowed(format!("{found} or more"))
                .hint("allow more bytes, or ask for fewer levels"),
            E::Shape(below) => return Self::from(*below),
        }
        .caused_by(error)
    }
}
