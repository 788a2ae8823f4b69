//! From a target error to a shape, and from a shape to its error.

use cardinality_estimators::Confidence;
use dp_noise::{Neighbouring, Rho};

use crate::bound::ContributionBound;
use crate::error::{ParamError, ReleaseError};
use crate::exposure::Exposure;
use crate::granularity::Granularity;
use crate::shape::CountSketchShape;
use crate::theory::{
    DomainError, MedianOfGaussians, TailNorms, half_width_on_grid, non_negative, positive, required_row_probability,
    row_probability_of_tail,
};

/// What is known before there is a sketch: the budget, the bound on contributions and how large the data may be.
///
/// # Examples
/// ```
/// use countsketch_dp::theory::TailNorms;
/// use countsketch_dp::{ContributionBound, Planner};
/// use countsketch_dp::cardinality_estimators::Confidence;
/// use countsketch_dp::dp_noise::Rho;
/// // A million records, and nothing is known of how they spread over items.
/// let norms = TailNorms::of_total(1e6)?;
/// let planner = Planner::new(norms, ContributionBound::UNIT_ENTRY, Rho::new(0.1)?);
/// let plan = planner.shape_for(500.0, Confidence::P95)?;
/// assert!(plan.half_width <= 500.0);
/// let same = planner.predict(plan.shape, Confidence::P95)?;
/// assert_eq!(same, plan);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Planner {
    norms: TailNorms,
    bound: ContributionBound,
    rho: Rho,
    relation: Neighbouring,
    granularity: Granularity,
}

/// A shape with the error to expect, in units of weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Rows and width.
    pub shape: CountSketchShape,
    /// The proved half-width of an interval at the confidence asked for.
    pub half_width: f64,
    /// The same if errors were normal, with the variance of collisions and noise together: about what will be seen unless
    /// heavy items dominate, and often a third of the proved one.
    pub typical_half_width: f64,
    /// The variance of the noise in a cell.
    pub noise_variance: f64,
}

/// A plan that cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A number outside the range of a formula.
    #[error(transparent)]
    Domain(#[from] DomainError),
    /// No noise for this bound and level.
    #[error("no noise for this bound and level")]
    Noise(#[from] ReleaseError),
    /// A shape that no sketch has.
    #[error("invalid shape")]
    Shape(#[from] ParamError),
    /// No sketch reaches the target under this budget.
    #[error("no sketch reaches an error of {target} under this budget, the least that was found is {least}")]
    Unreachable {
        /// The half-width asked for.
        target: f64,
        /// The smallest half-width of the shapes that were tried.
        least: f64,
    },
}

/// Rows that are tried; between the larger ones the error hardly differs.
const ROWS: [u8; 20] = [1, 3, 5, 7, 9, 11, 13, 15, 19, 23, 31, 39, 47, 63, 79, 95, 127, 159, 207, 255];

impl Planner {
    /// For data of these norms (in squared units of weight), of records or users so bounded, released at `rho`.
    #[must_use]
    pub const fn new(norms: TailNorms, bound: ContributionBound, rho: Rho) -> Self {
        Self { norms, bound, rho, relation: Neighbouring::AddRemove, granularity: Granularity::ONE }
    }

    /// With another relation of neighbours.
    #[must_use]
    pub fn relation(self, relation: Neighbouring) -> Self {
        Self { relation, ..self }
    }

    /// For weights on a grid; the bound is in grid units, norms and errors stay in units of weight.
    #[must_use]
    pub fn granularity(self, granularity: Granularity) -> Self {
        Self { granularity, ..self }
    }

    /// What error a shape has: half-widths that are whole numbers of grid units, as frequencies are.
    ///
    /// The noise is the one that a release would use, rounded up as there.
    ///
    /// # Errors
    /// [`PlanError`] where no such release is possible.
    pub fn predict(&self, shape: CountSketchShape, confidence: Confidence) -> Result<Plan, PlanError> {
        let (rows, width) = (u32::from(shape.rows()), shape.width());
        let s2 = self.noise_variance(shape)?;
        let beta = 1.0 - confidence.get();
        let step = self.granularity.step();
        let needed = required_row_probability(rows, beta)?;
        let bound = half_width_on_grid(needed, width, &self.norms, s2, step)?.unwrap_or(f64::INFINITY);
        let collisions = self.norms.tail_squared(usize::try_from(width / 2).unwrap_or(usize::MAX)) / f64::from(width);
        let typical = MedianOfGaussians::new(rows, positive("variance of a row", collisions + s2)?)?;
        Ok(Plan {
            shape,
            half_width: non_negative("half-width", bound)?,
            typical_half_width: (typical.upper_quantile(beta) / step).ceil() * step,
            noise_variance: s2,
        })
    }

    /// The smallest sketch whose proved half-width is at most `target`, in units of weight.
    ///
    /// Widths are powers of two. Of equally large sketches the one with fewer rows is chosen.
    ///
    /// # Errors
    /// [`PlanError::Unreachable`] when more width and more rows do not help, because the noise alone is larger;
    /// [`PlanError`] for a target that is not finite and above 0, or where no release is possible.
    pub fn shape_for(&self, target: f64, confidence: Confidence) -> Result<Plan, PlanError> {
        positive("target error", target)?;
        let mut best: Option<CountSketchShape> = None;
        for rows in ROWS {
            if let Some(shape) = self.narrowest(rows, target, confidence)?
                && best.is_none_or(|best| shape.cells() < best.cells())
            {
                best = Some(shape);
            }
        }
        match best {
            Some(shape) => self.predict(shape, confidence),
            None => Err(PlanError::Unreachable { target, least: self.least(confidence)? }),
        }
    }

    /// The narrowest power of two that reaches the target with so many rows.
    fn narrowest(&self, rows: u8, target: f64, confidence: Confidence) -> Result<Option<CountSketchShape>, PlanError> {
        let needed = required_row_probability(u32::from(rows), 1.0 - confidence.get())?;
        // Half-widths are whole numbers of grid units.
        let step = self.granularity.step();
        let target = (target / step).floor() * step;
        if target <= 0.0 {
            return Ok(None);
        }
        let (mut low, mut high) = (1, widest(rows) + 1);
        while low < high {
            let middle = u32::midpoint(low, high);
            let shape = CountSketchShape::new(rows, 1 << middle)?;
            let p = row_probability_of_tail(target, &self.norms, shape.width(), self.noise_variance(shape)?)?;
            if p >= needed { high = middle } else { low = middle + 1 }
        }
        Ok(if low > widest(rows) { None } else { Some(CountSketchShape::new(rows, 1 << low)?) })
    }

    fn least(&self, confidence: Confidence) -> Result<f64, PlanError> {
        let mut least = f64::INFINITY;
        for rows in ROWS {
            let shape = CountSketchShape::new(rows, 1 << widest(rows))?;
            least = least.min(self.predict(shape, confidence)?.half_width);
        }
        Ok(least)
    }

    /// In squared units of weight.
    fn noise_variance(&self, shape: CountSketchShape) -> Result<f64, PlanError> {
        let terms = Exposure::new(shape, self.bound, 1, self.relation).gaussian(self.rho)?;
        Ok(terms.variance().to_f64() * self.granularity.step().powi(2))
    }
}

/// The logarithm of the widest power of two that so many rows may have.
fn widest(rows: u8) -> u32 {
    let cells = u32::try_from(CountSketchShape::MAX_CELLS).unwrap_or(u32::MAX);
    (cells / u32::from(rows)).min(CountSketchShape::MAX_WIDTH).ilog2()
}
