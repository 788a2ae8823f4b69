//! How accurate an answer will be, before any data is touched.

mod error;
mod search;

use cardinality_estimators::BitChannel;
use cardinality_estimators::parity::ParityErrors;
use dp_noise::{Amount, Epsilon};
pub use error::F0PlanError;
use f0_sketch::{F0Shape, MAX_RELEASES, ModeKind, NoiseRule};
use serde_json::{Value, json};

use super::any::AnyF0Sketch;
use crate::plan::{PlannedAnswer, Prediction, finite};
use crate::user_bound::PrivacyUnit;

/// What is planned, apart from the shape of the sketches.
///
/// # Examples
/// ```
/// use dp_noise::Epsilon;
/// use dpsketch::f0_sketch::{F0Shape, ModeKind};
/// use dpsketch::{F0Purpose, PlannedAnswer};
///
/// let purpose = F0Purpose::new(1e5, Epsilon::new(1.0)?, ModeKind::Set)?.with_parties(2)?;
/// let plan = purpose.plan(F0Shape::DEFAULT);
/// // 5.5 % from one sketch of everything, 12 % from the XOR of two.
/// assert!((plan.prediction(PlannedAnswer::One).relative_error() - 0.0546).abs() < 1e-3);
/// assert!((plan.prediction(PlannedAnswer::Merged).relative_error() - 0.12).abs() < 5e-3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct F0Purpose {
    distinct: f64,
    /// The largest count that the levels should reach.
    largest: f64,
    epsilon: Epsilon,
    mode: ModeKind,
    noise: NoiseRule,
    unit: PrivacyUnit,
    parties: u32,
}

impl F0Purpose {
    /// One party with `distinct` items, released at `epsilon` for each item with the least noise. Where items have weights,
    /// `distinct` is the sum of the weights over the largest.
    ///
    /// # Errors
    /// [`F0PlanError::Distinct`] unless `1 ≤ distinct ≤ 2⁶⁴`.
    pub fn new(distinct: f64, epsilon: Epsilon, mode: ModeKind) -> Result<Self, F0PlanError> {
        check_count(distinct)?;
        let (noise, unit) = (NoiseRule::Tight, PrivacyUnit::Item);
        Ok(Self { distinct, largest: distinct, epsilon, mode, noise, unit, parties: 1 })
    }

    /// The largest count that the sketch should reach, instead of the planned one.
    ///
    /// # Errors
    /// [`F0PlanError::Distinct`] unless `1 ≤ largest ≤ 2⁶⁴`.
    pub fn with_largest(self, largest: f64) -> Result<Self, F0PlanError> {
        check_count(largest)?;
        Ok(Self { largest: largest.max(self.distinct), ..self })
    }

    /// Spreads the items over several parties, each of which releases a sketch of its own at ε.
    ///
    /// # Errors
    /// [`F0PlanError::Parties`] unless there are 1 to 65,536 of them.
    pub fn with_parties(self, parties: u32) -> Result<Self, F0PlanError> {
        let most = u32::try_from(MAX_RELEASES).unwrap_or(u32::MAX);
        if (1..=most).contains(&parties) {
            Ok(Self { parties, ..self })
        } else {
            Err(F0PlanError::Parties { found: parties })
        }
    }

    /// Sets whom ε protects; items of users are released at a share of it.
    ///
    /// # Errors
    /// [`F0PlanError::ItemEpsilon`] when that share is below the least accepted ε.
    pub fn with_unit(self, unit: PrivacyUnit) -> Result<Self, F0PlanError> {
        unit.item_epsilon(self.epsilon).map_err(F0PlanError::ItemEpsilon)?;
        Ok(Self { unit, ..self })
    }

    /// With another noise than the least.
    #[must_use]
    pub fn with_noise(self, noise: NoiseRule) -> Self {
        Self { noise, ..self }
    }

    /// Predicts everything for sketches of this shape.
    #[must_use]
    pub const fn plan(self, shape: F0Shape) -> F0Plan {
        F0Plan { purpose: self, shape }
    }

    /// The answer that counts unless another is named: from the XOR of all parties' sketches, or the only one there is.
    #[must_use]
    pub const fn main_answer(&self) -> PlannedAnswer {
        if self.parties == 1 { PlannedAnswer::One } else { PlannedAnswer::Merged }
    }

    /// The contrast `1 − 2p` of one release: `tanh(ε/2)` in mode `set`, `1 − e^−ε` in mode `presampled`, with the noise of the
    /// paper `ε/(2 + ε)` in both, for the ε of one item.
    fn contrast(&self) -> f64 {
        // Checked when the unit was set.
        let epsilon = self.unit.item_epsilon(self.epsilon).unwrap_or(self.epsilon).get();
        match (self.noise, self.mode) {
            (NoiseRule::Tight, ModeKind::Set) => (epsilon / 2.0).tanh(),
            (NoiseRule::Tight, ModeKind::Presampled) => -(-epsilon).exp_m1(),
            _ => epsilon / (2.0 + epsilon),
        }
    }
}

fn check_count(found: f64) -> Result<(), F0PlanError> {
    if (1.0..=18_446_744_073_709_551_616.0).contains(&found) { Ok(()) } else { Err(F0PlanError::Distinct { found }) }
}

/// A shape for an [`F0Purpose`], and what it will achieve.
#[derive(Clone, Debug, PartialEq)]
pub struct F0Plan {
    purpose: F0Purpose,
    shape: F0Shape,
}

impl F0Plan {
    /// Levels and cells.
    #[must_use]
    pub const fn shape(&self) -> &F0Shape {
        &self.shape
    }

    /// The length of the file of one released sketch.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        released_bytes(&self.shape, self.purpose.mode, 1)
    }

    /// The length of the file with all parties' sketches merged.
    #[must_use]
    pub fn merged_bytes(&self) -> u64 {
        released_bytes(&self.shape, self.purpose.mode, self.purpose.parties)
    }

    /// The count at which the last level has one item a cell, in mode `set` half of one: up to about it the error stays flat.
    #[must_use]
    pub fn largest_count(&self) -> f64 {
        let last = self.shape.tables().map(|table| f64::from(table.cells) / share(table.share)).fold(0.0, f64::max);
        last / self.purpose.mode.model().items_per_hit()
    }

    /// The answers there are: one for a single party, two for several.
    #[must_use]
    pub fn answers(&self) -> &'static [PlannedAnswer] {
        if self.purpose.parties == 1 { &[PlannedAnswer::One] } else { &[PlannedAnswer::One, PlannedAnswer::Merged] }
    }

    /// Predicts an answer: to first order, `√(1/J − n)` for the expected information `J` of the cells behind the noise of
    /// one release, or of all of them. What is estimated from files together is their XOR, the same as of the merged file.
    #[must_use]
    pub fn prediction(&self, answer: PlannedAnswer) -> Prediction {
        let purpose = &self.purpose;
        let releases = if answer == PlannedAnswer::One { 1 } else { purpose.parties };
        let contrast = purpose.contrast().powf(f64::from(releases));
        // A merge of less contrast is refused.
        let errors_of = |shape: &F0Shape| {
            let errors = ParityErrors::new(&shape.layout(), purpose.mode.model(), contrast).ok();
            errors.filter(|_| contrast >= BitChannel::MIN_KEEP)
        };
        let Some(errors) = errors_of(&self.shape) else {
            return Prediction::new(f64::INFINITY, f64::INFINITY, purpose.distinct, false);
        };
        let error = errors.rse(purpose.distinct);
        // What drowns in noise here is seen with more levels: it is not the noise that is in the way.
        let relieved =
            |shape: F0Shape| errors_of(&shape).is_some_and(|errors| errors.rse(purpose.distinct) < error / 2.0);
        let crowded = error > 0.5 && self.with_more_levels().is_some_and(relieved);
        let saturated = crowded || purpose.distinct >= errors.n_cap();
        Prediction::new(error, errors.at_zero(), purpose.distinct, saturated)
    }

    /// The levels that the planned count needs with as many cells each, if they are more than the shape has.
    #[must_use]
    pub fn more_levels(&self) -> Option<u8> {
        self.with_more_levels().map(|shape| shape.levels())
    }

    fn with_more_levels(&self) -> Option<F0Shape> {
        let cells = self.shape.cells_per_level()?;
        let needed = self.purpose.levels(cells);
        if needed > self.shape.levels() { F0Shape::new(needed, cells).ok() } else { None }
    }

    /// The cells a level that the guarantee of \[PS21\] asks for at the relative error `beta`, with failure probability
    /// `2^−levels` and flip probability `1/(2 + ε)`: `2e² ln(2L/δ)/(c² β²)`. The constant is ours; the paper leaves it open.
    #[must_use]
    pub fn cells_of_paper(&self, beta: f64) -> f64 {
        let levels = f64::from(self.shape.levels());
        let contrast = self.purpose.with_noise(NoiseRule::Paper).contrast().powf(f64::from(self.purpose.parties));
        let log = (2.0 * levels).ln() + levels * core::f64::consts::LN_2;
        2.0 * core::f64::consts::E.powi(2) * log / (contrast * beta).powi(2)
    }

    /// One object: `kind, mode, distinct, epsilon, epsilon_total, unit, parties, noise` (`tight` or `paper`), `contrast` (of one
    /// release), `levels, more_levels` (that the count needs, else null), `cells_per_level, bytes, merged_bytes, noise_floor, largest_count, predicted_rse` (of the
    /// [main answer](F0Purpose::main_answer)), `cells_of_paper` (for an interval of that half-width), `answers` (each with
    /// `answer, predicted_rse, std_error, noise_floor, status`) and `approximations`, which says what the numbers leave out.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let purpose = &self.purpose;
        let main = self.prediction(purpose.main_answer());
        let cost = Amount::from_epsilon(purpose.epsilon);
        let total = Amount::from_units(cost.units().saturating_mul(u128::from(purpose.parties)));
        json!({
            "kind": AnyF0Sketch::KIND,
            "mode": purpose.mode.to_string(),
            "distinct": purpose.distinct,
            "epsilon": purpose.epsilon.get(),
            "epsilon_total": total.nearest_f64(),
            "unit": purpose.unit.to_string(),
            "parties": purpose.parties,
            "noise": if purpose.noise == NoiseRule::Paper { "paper" } else { "tight" },
            "contrast": purpose.contrast(),
            "levels": self.shape.levels(),
            "more_levels": self.more_levels(),
            "cells_per_level": self.shape.cells_per_level(),
            "bytes": self.bytes(),
            "merged_bytes": self.merged_bytes(),
            "noise_floor": finite(main.noise_floor()),
            "largest_count": self.largest_count(),
            "predicted_rse": finite(main.relative_error()),
            "cells_of_paper": finite(self.cells_of_paper(main.relative_error()).ceil()),
            "answers": self.answers().iter().map(|answer| self.prediction(*answer).to_json(*answer)).collect::<Vec<_>>(),
            "approximations": APPROXIMATIONS,
        })
    }
}

/// What the predictions leave out.
const APPROXIMATIONS: [&str; 3] = [
    "errors are first-order standard errors at exactly this count: within 15 % of simulation below 30 %, too small beyond",
    "several parties are taken to have disjoint sets; in mode set what two of them share is not in the answer at all",
    "with weights, errors are those of equal weights at the largest one: lighter items add the error of sampling them",
];

/// A share of all items as a number.
#[expect(clippy::cast_precision_loss, reason = "a power of two for regular levels, and only shown")]
fn share(share: u64) -> f64 {
    share as f64 / F0Shape::WHOLE as f64
}

/// Header, frame, tables, releases, names of coins, cells; `docs/src/wire-format.md` has the table.
fn released_bytes(shape: &F0Shape, mode: ModeKind, releases: u32) -> u64 {
    let words = (shape.cells() as u64).div_ceil(64);
    // A stream names its coins.
    let coins = if mode == ModeKind::Presampled { 20 } else { 0 };
    32 + 26 + 12 * u64::from(shape.levels()) + 8 + (37 + coins) * u64::from(releases) + 8 + 8 + 8 * words
}

#[cfg(test)]
mod tests;
