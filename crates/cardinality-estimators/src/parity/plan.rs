//! Sizing a sketch before any data.

use core::f64::consts::{E, LN_2};

use crate::ParamError;
use crate::asymptotic::dilogarithm;
use crate::parity::{ParityErrors, ParityLayout, ParityModel, parity_asymptotic_rse};

/// What a sketch is to achieve.
///
/// # Examples
/// ```
/// use cardinality_estimators::parity::{ParityModel, PlanRequest};
/// let request =
///     PlanRequest { model: ParityModel::Set, epsilon: 1.0, merges: 1, target_rse: 0.05, n_min: 1e3, n_max: 1e7 };
/// let plan = request.plan()?;
/// assert_eq!((plan.cells_per_level(), plan.levels()), (4904, 13));
/// # Ok::<(), cardinality_estimators::ParamError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlanRequest {
    /// What a cell holds.
    pub model: ParityModel,
    /// The privacy of one release.
    pub epsilon: f64,
    /// How many released sketches are merged before the estimate.
    pub merges: u32,
    /// The relative standard error wanted in mid-range.
    pub target_rse: f64,
    /// The smallest count of interest.
    pub n_min: f64,
    /// The largest count to be told from a larger one.
    pub n_max: f64,
}

impl PlanRequest {
    /// The contrast of one release: `tanh(ε/2)` for sets, `1 − e^−ε` with pre-sampling.
    #[must_use]
    pub fn contrast_of_one(&self) -> f64 {
        match self.model {
            ParityModel::Set => (self.epsilon / 2.0).tanh(),
            ParityModel::Presampled => -(-self.epsilon).exp_m1(),
        }
    }

    /// The sketch that achieves it.
    ///
    /// ```text
    /// c = (contrast of one)^merges
    /// m = ⌈4·ln 2 / (rse²·Li₂(c²))⌉ cells a level
    /// L = the smallest with f·n_max·2^-(L-1) ≤ m        (f = 2 for sets, 1 with pre-sampling)
    /// ```
    ///
    /// # Errors
    /// [`ParamError::Plan`] unless `epsilon` and `n_max` are positive and finite, `merges ≥ 1`, `0 < target_rse < 1`, and
    /// `0 ≤ n_min ≤ n_max`, or when the sketch would need more than 2^32 − 1 cells a level or more than 64 levels.
    pub fn plan(&self) -> Result<ParityPlan, ParamError> {
        self.check()?;
        let contrast = self.contrast_of_one().powf(f64::from(self.merges));
        let needed = (4.0 * LN_2 / (self.target_rse.powi(2) * dilogarithm(contrast * contrast))).ceil();
        let cells_per_level =
            whole(needed).ok_or(ParamError::Plan { what: "the number of cells a level", found: needed })?;
        // The least that every number of levels can have.
        let cells_per_level = cells_per_level.max(3);
        let reach = self.model.items_per_hit() * self.n_max / f64::from(cells_per_level);
        let levels = (1..=64_u8)
            .find(|&levels| reach * 0.5_f64.powi(i32::from(levels) - 1) <= 1.0)
            .ok_or(ParamError::Plan { what: "the largest count", found: self.n_max })?;
        let layout = ParityLayout::regular(levels, cells_per_level)?;
        let errors = ParityErrors::new(&layout, self.model, contrast)?;
        Ok(ParityPlan { request: *self, contrast, cells_per_level, levels, errors })
    }

    fn check(&self) -> Result<(), ParamError> {
        let positive = |x: f64| x > 0.0 && x.is_finite();
        let refuse = |what, found| Err(ParamError::Plan { what, found });
        if !positive(self.epsilon) {
            return refuse("epsilon", self.epsilon);
        }
        if self.merges == 0 {
            return refuse("the number of merged sketches", 0.0);
        }
        if !(self.target_rse > 0.0 && self.target_rse < 1.0) {
            return refuse("the target error", self.target_rse);
        }
        if !positive(self.n_max) {
            return refuse("the largest count", self.n_max);
        }
        if !(0.0..=self.n_max).contains(&self.n_min) {
            return refuse("the smallest count", self.n_min);
        }
        Ok(())
    }
}

/// A whole number of cells, if `u32` holds it.
fn whole(cells: f64) -> Option<u32> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and within range by the check")]
    (cells >= 1.0 && cells <= f64::from(u32::MAX)).then_some(cells as u32)
}

/// A sketch that meets a [`PlanRequest`], and what to expect of it.
#[derive(Clone, Debug)]
pub struct ParityPlan {
    request: PlanRequest,
    contrast: f64,
    cells_per_level: u32,
    levels: u8,
    errors: ParityErrors,
}

impl ParityPlan {
    /// What was asked for.
    #[must_use]
    pub const fn request(&self) -> &PlanRequest {
        &self.request
    }

    /// Cells a level.
    #[must_use]
    pub const fn cells_per_level(&self) -> u32 {
        self.cells_per_level
    }

    /// Levels.
    #[must_use]
    pub const fn levels(&self) -> u8 {
        self.levels
    }

    /// The contrast after all merges.
    #[must_use]
    pub const fn contrast(&self) -> f64 {
        self.contrast
    }

    /// The flip probability after all merges, `(1 − c)/2`.
    #[must_use]
    pub fn flip_probability(&self) -> f64 {
        (1.0 - self.contrast) / 2.0
    }

    /// The errors to expect at any count.
    #[must_use]
    pub const fn errors(&self) -> &ParityErrors {
        &self.errors
    }

    /// The standard error of small counts, in items: what is below it drowns in noise.
    #[must_use]
    pub fn floor(&self) -> f64 {
        self.errors.at_zero()
    }

    /// Whether fewer cells would serve the smallest count of interest better: below a quarter of an item a cell the
    /// error is the floor, which grows with the cells.
    #[must_use]
    pub fn is_coarse_at_min(&self) -> bool {
        self.request.n_min < f64::from(self.cells_per_level) / 4.0
    }

    /// The cells a level that the guarantee of \[PS21\] asks for at the same relative error `β`, with failure probability
    /// `2^-L` and the flip probability `1/(2 + ε)`: `2e²·ln(2L/δ)/(c²·β²)`.
    ///
    /// The paper leaves its constant open; this one makes the certified half-width `β` where a level is most telling.
    #[must_use]
    pub fn cells_per_level_of_paper(&self) -> f64 {
        let levels = f64::from(self.levels);
        let epsilon = self.request.epsilon;
        // The flip probability is the same with pre-sampling, where it spends less.
        let one = epsilon / (2.0 + epsilon);
        let contrast = one.powf(f64::from(self.request.merges));
        let log = (2.0 * levels).ln() + levels * LN_2;
        2.0 * E * E * log / (contrast * self.request.target_rse).powi(2)
    }

    /// All cells of the sketch: its size in bits.
    #[must_use]
    pub fn cells(&self) -> u64 {
        u64::from(self.levels) * u64::from(self.cells_per_level)
    }

    /// The error of the finished sketch in mid-range, at most the target.
    #[must_use]
    pub fn mid_range_rse(&self) -> f64 {
        parity_asymptotic_rse(u64::from(self.cells_per_level), self.contrast)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: PlanRequest =
        PlanRequest { model: ParityModel::Set, epsilon: 1.0, merges: 1, target_rse: 0.1, n_min: 100.0, n_max: 1e7 };

    #[test]
    fn a_plan_meets_its_target_and_the_paper_needs_far_more() {
        let plan = REQUEST.plan().expect("a plan");
        assert!(plan.mid_range_rse() <= 0.1 && plan.mid_range_rse() > 0.099);
        assert!((plan.errors().rse(1e5) - 0.1).abs() < 0.002);
        assert!(plan.is_coarse_at_min());
        // 2e²·ln(2L·2^L)/(c²β²) with c = 1/3.
        let levels = f64::from(plan.levels());
        let paper = 2.0 * E * E * ((2.0 * levels).ln() + levels * LN_2) / (0.1_f64 / 3.0).powi(2);
        assert!((plan.cells_per_level_of_paper() / paper - 1.0).abs() < 1e-12);
        assert!(paper > 100.0 * f64::from(plan.cells_per_level()));
    }

    #[test]
    fn coins_amplify_and_the_union_needs_one_level_less() {
        let plan = PlanRequest { model: ParityModel::Presampled, ..REQUEST }.plan().expect("a plan");
        assert!(plan.cells_per_level() < REQUEST.plan().expect("a plan").cells_per_level());
        assert!((plan.contrast() - (1.0 - (-1.0_f64).exp())).abs() < 1e-15);
    }

    #[test]
    fn plans_without_sense_are_refused() {
        for request in [
            PlanRequest { epsilon: 0.0, ..REQUEST },
            PlanRequest { epsilon: f64::NAN, ..REQUEST },
            PlanRequest { merges: 0, ..REQUEST },
            PlanRequest { target_rse: 1.0, ..REQUEST },
            PlanRequest { n_max: f64::INFINITY, ..REQUEST },
            PlanRequest { n_min: 1e8, ..REQUEST },
            PlanRequest { n_min: -1.0, ..REQUEST },
            PlanRequest { merges: 5000, ..REQUEST },
            PlanRequest { n_max: 1e200, ..REQUEST },
        ] {
            assert!(matches!(request.plan(), Err(ParamError::Plan { .. })), "{request:?}");
        }
    }
}
