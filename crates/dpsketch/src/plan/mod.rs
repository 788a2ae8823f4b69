//! How accurate an answer will be, before any data is touched.

mod error;
mod predict;
mod search;

use dp_noise::{Amount, Epsilon};
pub use error::PlanError;
pub use predict::Prediction;
use serde_json::{Value, json};
use sfm_pcsa::{MAX_RELEASES, PcsaShape};

use crate::user_bound::PrivacyUnit;

/// An answer whose error can be predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PlannedAnswer {
    /// The estimate from one sketch that holds everything.
    One,
    /// The estimate from the sketches of all parties together, by the product statistic.
    Together,
    /// The estimate from the sketches of all parties merged to one, extremal form.
    Merged,
    /// The same in the published, symmetric form.
    MergedSymmetric,
}

impl PlannedAnswer {
    /// The word for it in machine-readable results.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::One => "one",
            Self::Together => "together",
            Self::Merged => "merged",
            Self::MergedSymmetric => "merged_symmetric",
        }
    }
}

/// What is planned, apart from the shape of the sketches.
///
/// # Examples
/// ```
/// use dp_noise::Epsilon;
/// use dpsketch::{PlannedAnswer, Purpose};
/// use sfm_pcsa::PcsaShape;
///
/// let purpose = Purpose::new(1e6, Epsilon::new(1.0)?)?.with_parties(8)?;
/// let plan = purpose.plan(PcsaShape::DEFAULT);
/// let error = |answer| plan.prediction(answer).relative_error();
/// // Sharing costs accuracy; asking the files together costs the least.
/// assert!((error(PlannedAnswer::One) - 0.0274).abs() < 0.0003);
/// assert!((error(PlannedAnswer::Together) - 0.267).abs() < 0.003);
/// assert!(error(PlannedAnswer::Merged) > 2.0 * error(PlannedAnswer::Together));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Purpose {
    distinct: f64,
    epsilon: Epsilon,
    unit: PrivacyUnit,
    parties: u32,
}

impl Purpose {
    /// One party with `distinct` items, released at `epsilon` for each item.
    ///
    /// # Errors
    /// [`PlanError::Distinct`] unless `1 ≤ distinct ≤ 2⁶⁴`.
    pub fn new(distinct: f64, epsilon: Epsilon) -> Result<Self, PlanError> {
        if (1.0..=18_446_744_073_709_551_616.0).contains(&distinct) {
            Ok(Self { distinct, epsilon, unit: PrivacyUnit::Item, parties: 1 })
        } else {
            Err(PlanError::Distinct { found: distinct })
        }
    }

    /// Spreads the items over several parties, each of which releases a sketch of its own at ε.
    ///
    /// # Errors
    /// [`PlanError::Parties`] unless there are 1 to 65,536 of them.
    pub fn with_parties(self, parties: u32) -> Result<Self, PlanError> {
        let most = u32::try_from(MAX_RELEASES).unwrap_or(u32::MAX);
        if (1..=most).contains(&parties) {
            Ok(Self { parties, ..self })
        } else {
            Err(PlanError::Parties { found: parties })
        }
    }

    /// Sets whom ε protects; items of users are released at a share of it.
    ///
    /// # Errors
    /// [`PlanError::ItemEpsilon`] when that share is below the least accepted ε.
    pub fn with_unit(self, unit: PrivacyUnit) -> Result<Self, PlanError> {
        unit.item_epsilon(self.epsilon).map_err(PlanError::ItemEpsilon)?;
        Ok(Self { unit, ..self })
    }

    /// Predicts everything for sketches of this shape.
    #[must_use]
    pub fn plan(self, shape: PcsaShape) -> Plan {
        Plan { purpose: self, shape }
    }

    /// The answer that counts unless another is named: the files together, or the only sketch there is.
    #[must_use]
    pub const fn main_answer(&self) -> PlannedAnswer {
        if self.parties == 1 { PlannedAnswer::One } else { PlannedAnswer::Together }
    }

    /// The level of a single bit.
    pub(super) fn bit_epsilon(&self) -> Epsilon {
        // Checked when the unit was set.
        self.unit.item_epsilon(self.epsilon).unwrap_or(self.epsilon)
    }
}

/// A shape for a [`Purpose`], and what it will achieve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    purpose: Purpose,
    shape: PcsaShape,
}

impl Plan {
    /// Buckets and levels.
    #[must_use]
    pub const fn shape(&self) -> PcsaShape {
        self.shape
    }

    /// The length of the file of one released sketch.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        released_bytes(self.shape, 1)
    }

    /// The length of the file with all parties' sketches merged.
    #[must_use]
    pub fn merged_bytes(&self) -> u64 {
        released_bytes(self.shape, self.purpose.parties)
    }

    /// The count up to which the error stays flat (3 % more there), `buckets · 2^(levels − 1)`. Twice as large at three times that, and
    /// lost at ten times.
    #[must_use]
    pub fn largest_count(&self) -> f64 {
        f64::from(self.shape.buckets()) * f64::from(self.shape.levels() - 1).exp2()
    }

    /// The answers there are: one for a single party, four for several.
    #[must_use]
    pub fn answers(&self) -> &'static [PlannedAnswer] {
        use PlannedAnswer as A;
        if self.purpose.parties == 1 { &[A::One] } else { &[A::One, A::Together, A::Merged, A::MergedSymmetric] }
    }

    /// One object: `kind, distinct, epsilon, epsilon_total, unit, parties, buckets, levels, bytes, merged_bytes, noise_floor,
    /// largest_count, predicted_rse` (of the [main answer](Purpose::main_answer)), `answers` (each with `answer,
    /// predicted_rse, std_error, noise_floor, status`) and `approximations`, which says what the numbers leave out.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let purpose = &self.purpose;
        let main = self.prediction(purpose.main_answer());
        let cost = Amount::from_epsilon(purpose.epsilon);
        let total = Amount::from_units(cost.units().saturating_mul(u128::from(purpose.parties)));
        json!({
            "kind": "sfm",
            "distinct": purpose.distinct,
            "epsilon": purpose.epsilon.get(),
            "epsilon_total": total.nearest_f64(),
            "unit": purpose.unit.to_string(),
            "parties": purpose.parties,
            "buckets": self.shape.buckets(),
            "levels": self.shape.levels(),
            "bytes": self.bytes(),
            "merged_bytes": self.merged_bytes(),
            "noise_floor": finite(main.noise_floor()),
            "largest_count": self.largest_count(),
            "predicted_rse": finite(main.relative_error()),
            "answers": self.answers().iter().map(|answer| self.prediction(*answer).to_json(*answer)).collect::<Vec<_>>(),
            "approximations": APPROXIMATIONS,
        })
    }
}

/// What the predictions leave out.
const APPROXIMATIONS: [&str; 3] = [
    "errors are first-order standard errors at exactly this count: within 3 % of simulation below 12 %, too small beyond",
    "several parties are taken to have disjoint sets of equal size: overlaps make the error of their files together \
     smaller, sets of very different size larger",
    "nothing is known of the data: values that are cleaned differently by two parties count twice",
];

/// Null for what is beyond numbers.
pub(crate) fn finite(value: f64) -> Option<f64> {
    Some(value).filter(|value| value.is_finite())
}

/// Header, shape and hash, releases, history, cells; `docs/src/wire-format.md` has the table.
fn released_bytes(shape: PcsaShape, releases: u32) -> u64 {
    let history = if releases == 1 { 6 } else { 12 };
    let words = (shape.cells() as u64).div_ceil(64);
    32 + 19 + 44 * u64::from(releases) + 8 + history + 8 + 8 * words
}
