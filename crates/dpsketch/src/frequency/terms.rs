//! What is decided before any data: shape, grid, and how much a unit of privacy may add.

use core::fmt;

use countsketch_dp::{ContributionBound, CountSketchShape, Granularity};
use dp_noise::{Neighbouring, SquaredL2Sensitivity};

use crate::error::{Error, ErrorKind};

/// Shape, grid and bound of a frequency sketch. Sketches of equal terms and hash add up.
///
/// # Examples
/// ```
/// use dpsketch::countsketch_dp::{CountSketchShape, Granularity};
/// use dpsketch::{Clipping, CountSketchTerms};
///
/// let shape = CountSketchShape::new(15, 4096)?;
/// let records = CountSketchTerms::records(shape, Granularity::ONE, 1)?;
/// assert_eq!(records.unit(), "one record of weight at most 1");
/// let users = CountSketchTerms::users(shape, Granularity::ONE, 100, 1, Clipping::Auto)?;
/// assert_eq!(users.bound().squared_norm(), Some(1654)); // 15 · 100 · 1.05², rounded up, instead of 15 · 100²
/// # Ok::<(), dpsketch::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountSketchTerms {
    shape: CountSketchShape,
    granularity: Granularity,
    bound: ContributionBound,
}

/// Whether a user's own contribution to the cells is bounded, too, and how far.
///
/// Clipping leaves out some of a user's items, in a fixed order, until the squared norm of what they add is within a
/// bound. Of two items it needs about half of the variance of Gaussian noise, of `m` items an `m`-th.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Clipping {
    /// At [`ContributionBound::clipped_for`], which hardly ever leaves out an item, wherever that lowers Gaussian noise:
    /// from two items a user on, in one row from three. Laplace noise is the same with and without.
    #[default]
    Auto,
    /// Not at all.
    Off,
    /// At this squared norm, in squared grid units.
    At(u128),
}

impl CountSketchTerms {
    /// Any shape, grid and bound; the bound is in grid units.
    #[must_use]
    pub const fn new(shape: CountSketchShape, granularity: Granularity, bound: ContributionBound) -> Self {
        Self { shape, granularity, bound }
    }

    /// One record is the unit, of a weight of at most `max_weight` grid units.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for a weight of 0 or above 2⁶³ − 1.
    pub fn records(shape: CountSketchShape, granularity: Granularity, max_weight: u64) -> Result<Self, Error> {
        Ok(Self { shape, granularity, bound: ContributionBound::entry(max_weight)? })
    }

    /// One user is the unit, with at most `max_items` items of at most `max_weight` grid units each.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] as [`ContributionBound::user_items`] and [`ContributionBound::clipped`] have it.
    pub fn users(
        shape: CountSketchShape,
        granularity: Granularity,
        max_items: u32,
        max_weight: u64,
        clipping: Clipping,
    ) -> Result<Self, Error> {
        let unclipped = ContributionBound::user_items(max_items, max_weight)?;
        let bound = match clipping {
            Clipping::Off => unclipped,
            Clipping::At(squared_norm) => ContributionBound::clipped(max_items, max_weight, squared_norm)?,
            Clipping::Auto => ContributionBound::clipped_for(shape, max_items, max_weight)
                .ok()
                .filter(|clipped| needs_less_noise(*clipped, unclipped, shape))
                .unwrap_or(unclipped),
        };
        Ok(Self { shape, granularity, bound })
    }

    /// Rows and width.
    #[must_use]
    pub const fn shape(&self) -> CountSketchShape {
        self.shape
    }

    /// The unit of weights.
    #[must_use]
    pub const fn granularity(&self) -> Granularity {
        self.granularity
    }

    /// Who is protected, and how much they may add, in grid units.
    #[must_use]
    pub const fn bound(&self) -> ContributionBound {
        self.bound
    }

    /// Whom a release protects, in words.
    #[must_use]
    pub fn unit(&self) -> String {
        unit_in_words(self.bound, self.granularity)
    }
}

impl fmt::Display for CountSketchTerms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} rows x {}, weights on {}, {}",
            self.shape.rows(),
            self.shape.width(),
            self.granularity,
            self.bound
        )
    }
}

/// Whether Gaussian noise for the first bound is smaller.
fn needs_less_noise(first: ContributionBound, second: ContributionBound, shape: CountSketchShape) -> bool {
    let square =
        |bound: ContributionBound| bound.squared_l2(shape, 1, Neighbouring::AddRemove).map(SquaredL2Sensitivity::get);
    match (square(first), square(second)) {
        (Ok(first), Ok(second)) => first < second,
        (Ok(_), Err(_)) => true,
        _ => false,
    }
}

/// A bound in words; with a grid of its own, what its numbers are units of.
pub(crate) fn unit_in_words(bound: ContributionBound, granularity: Granularity) -> String {
    if granularity == Granularity::ONE { bound.to_string() } else { format!("{bound}, in units of {granularity}") }
}

/// The largest weight, given in units of weight, in grid units: the largest whole number of them that is not above it.
///
/// # Errors
/// [`ErrorKind::Parameter`] unless that is 1 to 2⁶³ − 1 units.
///
/// # Examples
/// ```
/// use dpsketch::countsketch_dp::Granularity;
/// assert_eq!(dpsketch::max_weight_units(2.6, Granularity::new(2)?)?, 10);
/// assert!(dpsketch::max_weight_units(0.2, Granularity::new(2)?).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn max_weight_units(weight: f64, granularity: Granularity) -> Result<u64, Error> {
    granularity.units_within(weight).ok_or_else(|| {
        Error::new(ErrorKind::Parameter, format!("the largest weight is not on the grid of {granularity}"))
            .argument("--max-weight")
            .value(weight.to_string())
            .allowed(format!("{} to {:e}", granularity.step(), granularity.step() * 9.2e18))
            .hint("a finer granularity allows smaller weights")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn users(rows: u8, items: u32, weight: u64) -> ContributionBound {
        let shape = CountSketchShape::new(rows, 1024).unwrap();
        CountSketchTerms::users(shape, Granularity::ONE, items, weight, Clipping::Auto).unwrap().bound()
    }

    #[test]
    fn clipping_is_chosen_exactly_where_it_lowers_the_noise() {
        for rows in [1_u8, 3, 5, 15] {
            for items in 1..=20_u32 {
                for weight in [1_u64, 7] {
                    let (k, m, c) = (u128::from(rows), u128::from(items), u128::from(weight));
                    let clipped = (k * m * c * c * 441).div_ceil(400).max((k * m + 2) * c * c);
                    let expected = (items > 1 && clipped < k * m * m * c * c).then_some(clipped);
                    assert_eq!(users(rows, items, weight).squared_norm(), expected, "{rows} {items} {weight}");
                }
            }
        }
        // So large that squared norms are not exact any more: unclipped.
        assert_eq!(users(3, 4, 1 << 60).squared_norm(), None);
    }

    #[test]
    fn words_name_the_grid() {
        let (shape, grid) = (CountSketchShape::new(3, 64).unwrap(), Granularity::new(8).unwrap());
        let terms = CountSketchTerms::users(shape, grid, 1, 640, Clipping::Off).unwrap();
        assert_eq!(terms.unit(), "one user with at most 1 items of weight at most 640, in units of 2^-8");
        assert_eq!(
            terms.to_string(),
            "3 rows x 64, weights on 2^-8, one user with at most 1 items of weight at most 640"
        );
    }

    #[test]
    fn absurd_bounds_are_refused_with_their_range() {
        let shape = CountSketchShape::new(3, 64).unwrap();
        assert!(CountSketchTerms::records(shape, Granularity::ONE, 0).is_err());
        assert!(CountSketchTerms::users(shape, Granularity::ONE, 0, 1, Clipping::Auto).is_err());
        assert!(CountSketchTerms::users(shape, Granularity::ONE, 1, 1, Clipping::At(0)).is_err());
        for weight in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e19] {
            assert_eq!(max_weight_units(weight, Granularity::ONE).unwrap_err().kind(), ErrorKind::Parameter);
        }
    }
}
