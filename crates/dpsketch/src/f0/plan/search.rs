//! The smallest shape that will do.

use f0_sketch::F0Shape;

use super::{F0Plan, F0PlanError, F0Purpose, released_bytes};
use crate::plan::PlannedAnswer;

/// The fewest cells a level that are looked at.
const FEWEST: u32 = 4;
/// Numbers of cells an octave that are looked at first.
const PER_OCTAVE: i32 = 8;

impl F0Purpose {
    /// The levels to use with so many cells each: as many as the largest count needs.
    #[must_use]
    pub fn levels(&self, cells_per_level: u32) -> u8 {
        let largest = whole(self.largest);
        // The only shape there is not has too many cells, which the caller finds out.
        F0Shape::for_distinct(largest, cells_per_level, self.mode).map_or(F0Shape::MAX_LEVELS, |shape| shape.levels())
    }

    /// The shape with the fewest cells whose predicted relative error of `answer` is at most `target`.
    ///
    /// Small counts are not served better by more cells, each of which brings its own noise, so the first number of cells that
    /// will do is searched from below.
    ///
    /// # Errors
    /// [`F0PlanError::Target`] unless `0 < target < 1`; [`F0PlanError::OutOfReach`] when no shape of at most `max_bytes` reaches
    /// it, and [`F0PlanError::TooLong`] when none is that short; [`F0PlanError::Shape`] for levels that no sketch has.
    ///
    /// # Examples
    /// ```
    /// use dp_noise::Epsilon;
    /// use dpsketch::F0Purpose;
    /// use dpsketch::f0_sketch::ModeKind;
    ///
    /// let purpose = F0Purpose::new(1e7, Epsilon::new(1.0)?, ModeKind::Set)?;
    /// let plan = purpose.smallest(0.05, purpose.main_answer(), None, None)?;
    /// let cells = plan.shape().cells_per_level().ok_or("regular")?;
    /// // 4 ln 2 / (0.05² Li₂(tanh² ½)) = 4904 in mid-range; towards the last level, which takes all that is rarer, fewer will do.
    /// assert!((4300..=4904).contains(&cells), "{cells}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn smallest(
        self,
        target: f64,
        answer: PlannedAnswer,
        levels: Option<u8>,
        max_bytes: Option<u64>,
    ) -> Result<F0Plan, F0PlanError> {
        if !(target > 0.0 && target < 1.0) {
            return Err(F0PlanError::Target { found: target });
        }
        let error = |plan: &F0Plan| plan.prediction(answer).relative_error();
        let mut best = (f64::INFINITY, 0);
        let mut failed = FEWEST - 1;
        for (cells, plan) in self.shapes(levels, max_bytes)? {
            let found = error(&plan);
            if found <= target {
                return Ok(self.between(failed, (cells, plan), levels, |plan| error(plan) <= target));
            }
            if found < best.0 {
                best = (found, cells);
            }
            failed = cells;
        }
        Err(F0PlanError::OutOfReach { target, best: best.0, cells: best.1 })
    }

    /// The most accurate shape whose file has at most `max_bytes`.
    ///
    /// # Errors
    /// [`F0PlanError::TooLong`] when there is none, [`F0PlanError::Shape`] for levels that no sketch has.
    pub fn best_within(self, max_bytes: u64, answer: PlannedAnswer, levels: Option<u8>) -> Result<F0Plan, F0PlanError> {
        let error = |plan: &F0Plan| plan.prediction(answer).relative_error();
        let plans = self.shapes(levels, Some(max_bytes))?.into_iter().map(|(_, plan)| plan);
        let best = plans.min_by(|a, b| error(a).total_cmp(&error(b)));
        best.ok_or(F0PlanError::TooLong { max: max_bytes, found: u64::MAX })
    }

    /// The fewest cells that will do, above a number that will not and up to one that does.
    fn between(
        self,
        mut failed: u32,
        (mut cells, mut plan): (u32, F0Plan),
        levels: Option<u8>,
        will_do: impl Fn(&F0Plan) -> bool,
    ) -> F0Plan {
        while cells - failed > 1 {
            let middle = failed + (cells - failed) / 2;
            match self.shape(middle, levels).map(|shape| self.plan(shape)) {
                Ok(better) if will_do(&better) => (cells, plan) = (middle, better),
                _ => failed = middle,
            }
        }
        plan
    }

    fn shape(&self, cells: u32, levels: Option<u8>) -> Result<F0Shape, F0PlanError> {
        Ok(F0Shape::new(levels.unwrap_or_else(|| self.levels(cells)), cells)?)
    }

    /// Shapes with files of at most so many bytes, the smallest first, by their cells a level. There is at least one.
    fn shapes(&self, levels: Option<u8>, max_bytes: Option<u64>) -> Result<Vec<(u32, F0Plan)>, F0PlanError> {
        // Refuses levels that no sketch has.
        let smallest = self.shape(FEWEST, levels)?;
        let cells = (0..).map(grid).take_while(|cells| *cells <= F0Shape::MAX_CELLS);
        let fits = |shape: &F0Shape| max_bytes.is_none_or(|max| released_bytes(shape, self.mode, 1) <= max);
        let shapes = cells.map_while(|cells| Some((cells, self.shape(cells, levels).ok()?)));
        let plans: Vec<_> =
            shapes.filter(|(_, shape)| fits(shape)).map(|(cells, shape)| (cells, self.plan(shape))).collect();
        match max_bytes {
            Some(max) if plans.is_empty() => {
                Err(F0PlanError::TooLong { max, found: released_bytes(&smallest, self.mode, 1) })
            }
            _ => Ok(plans),
        }
    }
}

/// The numbers of cells that are looked at, rising.
fn grid(step: i32) -> u32 {
    let cells = f64::from(FEWEST) * (f64::from(step) / f64::from(PER_OCTAVE)).exp2();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, and saturating beyond u32")]
    let cells = cells.round() as u32;
    cells
}

/// A count as a whole number; the largest one there is beyond it.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at least 1, and saturating beyond u64")]
fn whole(count: f64) -> u64 {
    count.ceil() as u64
}
