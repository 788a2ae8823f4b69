//! Sizing a sketch before any data.

use cardinality_estimators::ParamError;
use cardinality_estimators::parity::{ParityErrors, ParityPlan, PlanRequest};
use dp_noise::Epsilon;

use crate::error::ShapeError;
use crate::mode::ModeKind;
use crate::shape::F0Shape;
use crate::unit::Unit;

/// What a sketch is to achieve.
///
/// # Examples
/// ```
/// use f0_sketch::dp_noise::Epsilon;
/// use f0_sketch::{F0Plan, ModeKind, Unit};
/// let plan = F0Plan {
///     mode: ModeKind::Set,
///     epsilon: Epsilon::new(1.0)?,
///     unit: Unit::Item,
///     merges: 1,
///     target_rse: 0.05,
///     n_min: 1e3,
///     n_max: 1e7,
/// };
/// let planned = plan.solve()?;
/// assert_eq!(planned.shape().to_string(), "13 x 4904");
/// assert!(planned.rse(1e6) < 0.051);
/// assert!((planned.floor() - 116.0).abs() < 1.0, "counts below this drown in noise");
/// assert!(planned.paper_cells_per_level() > 100.0 * 4904.0, "by the guarantee of the paper");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct F0Plan {
    /// Sets or streams.
    pub mode: ModeKind,
    /// What one release costs.
    pub epsilon: Epsilon,
    /// Whom it protects. A user with many items needs the noise of a share of ε for each.
    pub unit: Unit,
    /// How many releases are merged before the estimate.
    pub merges: u32,
    /// The relative standard error wanted where counts are many a cell.
    pub target_rse: f64,
    /// The smallest count of interest; with weights, sum of the weights over the largest.
    pub n_min: f64,
    /// The largest count of interest, likewise.
    pub n_max: f64,
}

/// A plan that cannot be met.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A number outside its range, or a target that no sketch reaches.
    #[error("plan")]
    Request(#[from] ParamError),
    /// The sketch would be larger than any may be.
    #[error("shape")]
    Shape(#[from] ShapeError),
}

impl F0Plan {
    /// The smallest regular shape that achieves it.
    ///
    /// # Errors
    /// [`PlanError::Request`] for numbers outside their ranges, see
    /// [`PlanRequest::plan`]; [`PlanError::Shape`] when the shape would have more than 2²⁶ cells.
    pub fn solve(&self) -> Result<PlannedF0, PlanError> {
        let request = PlanRequest {
            model: self.mode.model(),
            epsilon: self.epsilon.get() / f64::from(self.unit.max_items()),
            merges: self.merges,
            target_rse: self.target_rse,
            n_min: self.n_min,
            n_max: self.n_max,
        };
        let plan = request.plan()?;
        let shape = F0Shape::new(plan.levels(), plan.cells_per_level())?;
        Ok(PlannedF0 { shape, plan })
    }
}

/// The shape that meets an [`F0Plan`], and what to expect of it.
#[derive(Clone, Debug)]
pub struct PlannedF0 {
    shape: F0Shape,
    plan: ParityPlan,
}

impl PlannedF0 {
    /// The shape.
    #[must_use]
    pub const fn shape(&self) -> &F0Shape {
        &self.shape
    }

    /// The contrast to expect after all merges.
    #[must_use]
    pub const fn contrast(&self) -> f64 {
        self.plan.contrast()
    }

    /// The relative error to expect of a count of `n`, infinite where nothing can be said of it.
    #[must_use]
    pub fn rse(&self, n: f64) -> f64 {
        self.plan.errors().expected_rse(n)
    }

    /// The standard error of small counts, in items: what is below it drowns in noise.
    #[must_use]
    pub fn floor(&self) -> f64 {
        self.plan.floor()
    }

    /// Whether the smallest count of interest would be better served by fewer cells: it is below a quarter of an item a
    /// cell, where the error is the [floor](Self::floor), which grows with the cells.
    #[must_use]
    pub fn is_coarse_at_min(&self) -> bool {
        self.plan.is_coarse_at_min()
    }

    /// The cells a level that the guarantee of \[PS21\] asks for at the same relative error: half-width of the certified
    /// interval at failure probability `2^−levels`, noise `1/(2 + ε)`. The paper leaves the constant open; this one is
    /// \[resolved\].
    #[must_use]
    pub fn paper_cells_per_level(&self) -> f64 {
        self.plan.cells_per_level_of_paper()
    }

    /// Every error the shape can have.
    #[must_use]
    pub const fn errors(&self) -> &ParityErrors {
        self.plan.errors()
    }
}
