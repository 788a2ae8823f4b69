//! The smallest shape that will do.

use cardinality_estimators::Confidence;
use countsketch_dp::CountSketchShape;
use countsketch_dp::theory::{required_row_probability, row_probability_of_tail};

use super::{FrequencyPlan, FrequencyPlanError, FrequencyPurpose, released_bytes};
use crate::error::Error;

/// Rows that are tried; between the larger ones the error hardly differs.
const ROWS: [u8; 12] = [1, 3, 5, 7, 9, 11, 15, 19, 23, 31, 47, 63];

impl FrequencyPurpose {
    /// The smallest sketch whose proved half-width is at most `target`, in units of weight, and whose file has at most
    /// `max_bytes`. Widths are powers of two; of equally large sketches the one with fewer rows is chosen.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter), with [`FrequencyPlanError`] as source, when no shape does, and where no release is possible.
    pub fn smallest(
        &self,
        target: f64,
        confidence: Confidence,
        max_bytes: Option<u64>,
    ) -> Result<FrequencyPlan, Error> {
        if !(target > 0.0 && target.is_finite()) {
            return Err(FrequencyPlanError::Target { found: target }.into());
        }
        let mut best: Option<CountSketchShape> = None;
        for (rows, widest) in allowed(max_bytes)? {
            if let Some(shape) = self.narrowest(rows, widest, target, confidence)?
                && best.is_none_or(|best| shape.cells() < best.cells())
            {
                best = Some(shape);
            }
        }
        if let Some(shape) = best {
            return self.plan(shape, confidence);
        }
        let least = self.best(max_bytes, confidence)?.half_width();
        Err(FrequencyPlanError::OutOfReach { target, least }.into())
    }

    /// The most accurate shape whose file has at most `max_bytes`.
    ///
    /// # Errors
    /// As [`smallest`](Self::smallest).
    pub fn best_within(&self, max_bytes: u64, confidence: Confidence) -> Result<FrequencyPlan, Error> {
        self.best(Some(max_bytes), confidence)
    }

    fn best(&self, max_bytes: Option<u64>, confidence: Confidence) -> Result<FrequencyPlan, Error> {
        let mut best: Option<FrequencyPlan> = None;
        for (rows, widest) in allowed(max_bytes)? {
            let plan = self.plan(CountSketchShape::new(rows, 1 << widest)?, confidence)?;
            // Where nothing can be promised, what is typical decides.
            let error = |plan: &FrequencyPlan| (plan.half_width(), plan.typical_half_width());
            let better = best.as_ref().is_none_or(|best| error(&plan) < error(best));
            best = if better { Some(plan) } else { best };
        }
        best.ok_or_else(|| too_long(max_bytes.unwrap_or(0)).into())
    }

    /// The narrowest power of two that reaches the target with so many rows.
    fn narrowest(
        &self,
        rows: u8,
        widest: u32,
        target: f64,
        confidence: Confidence,
    ) -> Result<Option<CountSketchShape>, Error> {
        let needed = required_row_probability(u32::from(rows), 1.0 - confidence.get())?;
        let (mut low, mut high) = (1, widest + 1);
        while low < high {
            let middle = u32::midpoint(low, high);
            let shape = CountSketchShape::new(rows, 1 << middle)?;
            let (_, variance) = self.noise(shape)?;
            let reached = row_probability_of_tail(target, &self.norms, shape.width(), variance)? >= needed;
            (low, high) = if reached { (low, middle) } else { (middle + 1, high) };
        }
        if low > widest { Ok(None) } else { Ok(Some(CountSketchShape::new(rows, 1 << low)?)) }
    }
}

/// Numbers of rows, each with the logarithm of the widest sketch that is short enough. There is at least one.
fn allowed(max_bytes: Option<u64>) -> Result<Vec<(u8, u32)>, FrequencyPlanError> {
    let most = CountSketchShape::MAX_WIDTH.ilog2();
    let fits = |rows: u8, log: &u32| {
        let shape = CountSketchShape::new(rows, 1 << log).ok();
        shape.is_some_and(|shape| max_bytes.is_none_or(|max| released_bytes(shape, 1) <= max))
    };
    let widest = |rows: u8| (1..=most).rev().find(|log| fits(rows, log)).map(|log| (rows, log));
    let allowed: Vec<(u8, u32)> = ROWS.into_iter().filter_map(widest).collect();
    if allowed.is_empty() { Err(too_long(max_bytes.unwrap_or(0))) } else { Ok(allowed) }
}

fn too_long(max: u64) -> FrequencyPlanError {
    let found = CountSketchShape::new(1, 2).map_or(u64::MAX, |shape| released_bytes(shape, 1));
    FrequencyPlanError::TooLong { max, found }
}
