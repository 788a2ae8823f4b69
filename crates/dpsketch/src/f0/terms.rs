//! What is decided before any data: shape and weights.

use core::fmt;

use f0_sketch::{F0Shape, MaxWeight, ShapeError, WeightRule};

use crate::error::{Error, ErrorKind};
use crate::number::parse_real;

/// Shape and weight rule of an F0 sketch. Sketches of equal terms, hash and mode can be put together.
///
/// # Examples
/// ```
/// use dpsketch::f0_sketch::F0Shape;
/// use dpsketch::{F0Terms, parse_max_weight};
///
/// let terms = F0Terms::unit(F0Shape::DEFAULT);
/// assert_eq!(terms.max_weight(), None);
/// let revenue = F0Terms::weighted(F0Shape::DEFAULT, parse_max_weight("100")?);
/// assert_eq!(revenue.max_weight(), Some(100.0));
/// # Ok::<(), dpsketch::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct F0Terms {
    shape: F0Shape,
    rule: WeightRule,
}

impl F0Terms {
    /// Any shape and weight rule.
    #[must_use]
    pub const fn new(shape: F0Shape, rule: WeightRule) -> Self {
        Self { shape, rule }
    }

    /// Every item counts as one.
    #[must_use]
    pub const fn unit(shape: F0Shape) -> Self {
        Self::new(shape, WeightRule::Unit)
    }

    /// Items have weights from 0 to `max_weight`, which is public and decided before the data is seen.
    #[must_use]
    pub const fn weighted(shape: F0Shape, max_weight: MaxWeight) -> Self {
        Self::new(shape, WeightRule::Weighted(max_weight))
    }

    /// Levels and cells.
    #[must_use]
    pub const fn shape(&self) -> &F0Shape {
        &self.shape
    }

    /// Whether items have weights, and up to which one.
    #[must_use]
    pub const fn rule(&self) -> WeightRule {
        self.rule
    }

    /// The largest weight, where items have weights.
    #[must_use]
    pub fn max_weight(&self) -> Option<f64> {
        max_weight(self.rule)
    }
}

impl fmt::Display for F0Terms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.max_weight() {
            None => self.shape.fmt(f),
            Some(max) => write!(f, "{}, weights up to {max}", self.shape),
        }
    }
}

pub(crate) fn max_weight(rule: WeightRule) -> Option<f64> {
    match rule {
        WeightRule::Unit => None,
        WeightRule::Weighted(max) => Some(max.get()),
    }
}

/// The shape of an F0 sketch from any numbers, which the error tells as they were given.
///
/// # Errors
/// [`ErrorKind::Parameter`] as [`F0Shape::new`] has it.
///
/// # Examples
/// ```
/// assert_eq!(dpsketch::f0_shape(24, 4096)?.cells(), 98_304);
/// assert_eq!(dpsketch::f0_shape(300, 4096).unwrap_err().to_json()["value"], "300");
/// # Ok::<(), dpsketch::Error>(())
/// ```
pub fn f0_shape(levels: u64, cells_per_level: u64) -> Result<F0Shape, Error> {
    let cells = u32::try_from(cells_per_level).unwrap_or(u32::MAX);
    F0Shape::new(u8::try_from(levels).unwrap_or(u8::MAX), cells).map_err(|error| {
        let told = |what: &str, value: u64, allowed: String| {
            Error::new(ErrorKind::Parameter, format!("{value} {what} are out of range: expected {allowed}"))
                .argument(format!("--{what}"))
                .value(value.to_string())
                .allowed(allowed)
        };
        match error {
            ShapeError::Levels { .. } => told("levels", levels, format!("1 to {}", F0Shape::MAX_LEVELS)),
            ShapeError::FewCells { least, .. } => told("cells", cells_per_level, format!("{least} or more")),
            ShapeError::ManyCells { .. } => {
                let most = u64::from(F0Shape::MAX_CELLS) / levels.max(1);
                told("cells", cells_per_level, format!("at most {most} with this number of levels"))
            }
            other => return other.into(),
        }
        .caused_by(error)
    })
}

/// The largest weight from text.
///
/// # Errors
/// [`ErrorKind::Parameter`] when the text is no number above 0.
///
/// # Examples
/// ```
/// assert_eq!(dpsketch::parse_max_weight("1_000")?.get(), 1000.0);
/// assert_eq!(dpsketch::parse_max_weight("0").unwrap_err().to_json()["argument"], "--max-weight");
/// # Ok::<(), dpsketch::Error>(())
/// ```
pub fn parse_max_weight(text: &str) -> Result<MaxWeight, Error> {
    let tell = |error: Error| {
        error.argument("--max-weight").value(text).allowed("a number above 0").hint(
            "the largest weight that any item may have; it sets the unit of the answer and must not depend on the data",
        )
    };
    let value = parse_real(text).map_err(tell)?;
    MaxWeight::new(value).map_err(|error| {
        tell(Error::new(ErrorKind::Parameter, format!("{text} is no largest weight")).caused_by(error))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_out_of_range_are_told_as_they_were_given() {
        for (levels, cells, argument, value) in [
            (0, 64, "--levels", "0"),
            (65, 64, "--levels", "65"),
            (300, 64, "--levels", "300"),
            (1, 2, "--cells", "2"),
            (24, 1, "--cells", "1"),
            (24, 1 << 40, "--cells", "1099511627776"),
            (64, 1 << 26, "--cells", "67108864"),
        ] {
            let json = f0_shape(levels, cells).unwrap_err().to_json();
            assert_eq!((json["argument"].as_str(), json["value"].as_str()), (Some(argument), Some(value)), "{json}");
            assert!(json["allowed"].is_string(), "{json}");
        }
        assert_eq!(f0_shape(64, 1 << 20).map(|shape| shape.cells()).ok(), Some(1 << 26));
    }

    #[test]
    fn a_largest_weight_is_a_number_above_zero() {
        for text in ["0", "-1", "NaN", "inf", "1e999", "1e100", "", "one"] {
            let json = parse_max_weight(text).unwrap_err().to_json();
            assert_eq!(
                (json["argument"].as_str(), json["value"].as_str()),
                (Some("--max-weight"), Some(text)),
                "{json}"
            );
        }
        assert_eq!(parse_max_weight("1e3").map(MaxWeight::get).ok(), Some(1000.0));
    }
}
