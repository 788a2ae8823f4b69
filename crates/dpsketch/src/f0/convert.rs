//! Errors and units of f0-sketch, as a front end tells them.

use f0_sketch::{DecodeError, F0Shape, MergeError, ReleaseError, ShapeError, WeightError};
use sfm_pcsa::Unit;

use crate::convert::{chain, wire_hint};
use crate::error::{Error, ErrorKind};

/// A unit in the words of the other kinds.
pub(crate) fn unit_of(unit: f0_sketch::Unit) -> Unit {
    match unit {
        f0_sketch::Unit::Item => Unit::Item,
        f0_sketch::Unit::User { max_items } => Unit::User { max_items },
    }
}

/// A unit in the words of F0 sketches.
pub(super) fn f0_unit(unit: Unit) -> f0_sketch::Unit {
    match unit {
        Unit::Item => f0_sketch::Unit::Item,
        Unit::User { max_items } => f0_sketch::Unit::User { max_items },
    }
}

impl From<ShapeError> for Error {
    fn from(error: ShapeError) -> Self {
        let told = Self::new(ErrorKind::Parameter, error.to_string());
        match error {
            ShapeError::Levels { found } => {
                told.argument("--levels").value(found.to_string()).allowed(format!("1 to {}", F0Shape::MAX_LEVELS))
            }
            ShapeError::FewCells { least, found, .. } => {
                told.argument("--cells").value(found.to_string()).allowed(format!("{least} or more"))
            }
            ShapeError::ManyCells { found } => told
                .argument("--cells")
                .value(found.to_string())
                .allowed(format!("levels times cells of at most {}", F0Shape::MAX_CELLS)),
            _ => told,
        }
        .caused_by(error)
    }
}

impl From<WeightError> for Error {
    fn from(error: WeightError) -> Self {
        let told = Self::new(ErrorKind::Parameter, error.to_string());
        match error {
            WeightError::Max { found } => {
                told.argument("--max-weight").value(found.to_string()).allowed("2^-256 to 2^256")
            }
            _ => told.argument("--weight"),
        }
        .caused_by(error)
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
                differ(told, expected, found, "all parties must build with the same --levels and --cells")
            }
            MergeError::Weights { expected, found } => differ(
                told,
                expected,
                found,
                "all parties must build with the same --max-weight, or all without weights",
            ),
            MergeError::Unit { first, second } => {
                differ(told, first, second, "release each on its own and merge the private sketches")
            }
            MergeError::RepeatedRelease { .. } => {
                told.hint("name every release once; a merged file already holds the files it was made from")
            }
            MergeError::SharedCoins { .. } => told
                .allowed("releases of raw sketches that have no coins in common")
                .hint("leave one of the two out: a release of a week holds its days, and a second release holds the first"),
            MergeError::NoSignal => told.hint("merge fewer releases, or make them at a larger epsilon"),
            _ => told,
        }
        .caused_by(error)
    }
}

impl From<ReleaseError> for Error {
    fn from(error: ReleaseError) -> Self {
        match error {
            ReleaseError::Entropy(error) => error.into(),
            other => Self::new(ErrorKind::Parameter, format!("this sketch cannot be released: {}", chain(&other)))
                .argument("--epsilon")
                .caused_by(other),
        }
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
