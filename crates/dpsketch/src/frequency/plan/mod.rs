//! How accurate frequencies will be, before any data is touched.

mod error;
mod search;

use cardinality_estimators::Confidence;
use countsketch_dp::theory::{MedianOfGaussians, TailNorms, half_width};
use countsketch_dp::{CountSketchShape, Exposure, Granularity, MAX_RELEASES, NoiseLaw};
use dp_noise::{Neighbouring, Rho};
pub use error::FrequencyPlanError;
use serde_json::{Value, json};

use super::level::{Calibration, FrequencyLevel};
use super::terms::{Clipping, CountSketchTerms};
use crate::error::Error;

/// Who is protected and how much they may add, before there is a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlannedUnit {
    /// One record of at most `max_weight` grid units.
    Record {
        /// The declared maximum.
        max_weight: u64,
    },
    /// One user.
    User {
        /// The most items of a user.
        max_items: u32,
        /// The largest weight of each, in grid units.
        max_weight: u64,
        /// Whether the user's own cells are bounded, too.
        clipping: Clipping,
    },
}

impl PlannedUnit {
    /// The terms of a sketch of this shape.
    ///
    /// # Errors
    /// As [`CountSketchTerms::records`] and [`CountSketchTerms::users`].
    pub fn terms(self, shape: CountSketchShape, granularity: Granularity) -> Result<CountSketchTerms, Error> {
        match self {
            Self::Record { max_weight } => CountSketchTerms::records(shape, granularity, max_weight),
            Self::User { max_items, max_weight, clipping } => {
                CountSketchTerms::users(shape, granularity, max_items, max_weight, clipping)
            }
        }
    }
}

/// What is planned, apart from the shape of the sketches.
///
/// # Examples
/// ```
/// use dpsketch::cardinality_estimators::Confidence;
/// use dpsketch::countsketch_dp::dp_noise::Rho;
/// use dpsketch::countsketch_dp::theory::TailNorms;
/// use dpsketch::{FrequencyLevel, FrequencyPurpose, PlannedUnit};
///
/// let norms = TailNorms::of_total(1e6)?;
/// let level = FrequencyLevel::Rho(Rho::new(0.1)?);
/// let purpose = FrequencyPurpose::new(norms, PlannedUnit::Record { max_weight: 1 }, level);
/// let plan = purpose.smallest(500.0, Confidence::P95, None)?;
/// assert!(plan.half_width() <= 500.0 && plan.typical_half_width() < plan.half_width());
/// # Ok::<(), dpsketch::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FrequencyPurpose {
    norms: TailNorms,
    unit: PlannedUnit,
    level: FrequencyLevel,
    relation: Neighbouring,
    granularity: Granularity,
    parties: u32,
}

impl FrequencyPurpose {
    /// One party with data of these norms, in squared units of weight, released at a level.
    #[must_use]
    pub const fn new(norms: TailNorms, unit: PlannedUnit, level: FrequencyLevel) -> Self {
        let (relation, granularity) = (Neighbouring::AddRemove, Granularity::ONE);
        Self { norms, unit, level, relation, granularity, parties: 1 }
    }

    /// With another relation of neighbours.
    #[must_use]
    pub fn with_relation(self, relation: Neighbouring) -> Self {
        Self { relation, ..self }
    }

    /// For weights on a grid; maxima are in grid units.
    #[must_use]
    pub fn with_granularity(self, granularity: Granularity) -> Self {
        Self { granularity, ..self }
    }

    /// Spreads the data over several parties, each of which releases a sketch of its own; their sketches are added up.
    ///
    /// # Errors
    /// [`FrequencyPlanError::Parties`] unless there are 1 to 65,536 of them.
    pub fn with_parties(self, parties: u32) -> Result<Self, FrequencyPlanError> {
        let most = u32::try_from(MAX_RELEASES).unwrap_or(u32::MAX);
        if (1..=most).contains(&parties) {
            Ok(Self { parties, ..self })
        } else {
            Err(FrequencyPlanError::Parties { found: parties })
        }
    }

    /// Predicts the error of the sum of all parties' sketches of this shape.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter) where no such release is possible.
    pub fn plan(&self, shape: CountSketchShape, confidence: Confidence) -> Result<FrequencyPlan, Error> {
        let (terms, variance) = self.noise(shape)?;
        let (rows, width) = (u32::from(shape.rows()), shape.width());
        let beta = 1.0 - confidence.get();
        let proved = half_width(rows, width, &self.norms, variance, beta)?;
        let heavy = usize::try_from(width / 2).unwrap_or(usize::MAX);
        let collisions = self.norms.tail_squared(heavy) / f64::from(width);
        let typical = MedianOfGaussians::new(rows, collisions + variance)?.quantile_abs(confidence.get())?;
        Ok(FrequencyPlan {
            purpose: self.clone(),
            terms,
            confidence,
            noise_variance: variance,
            half_width: proved.unwrap_or(f64::INFINITY),
            typical_half_width: typical,
        })
    }

    /// Terms, and the variance of the noise in a cell of the sum, in squared units of weight.
    fn noise(&self, shape: CountSketchShape) -> Result<(CountSketchTerms, f64), Error> {
        let terms = self.unit.terms(shape, self.granularity)?;
        let exposure = Exposure::new(shape, terms.bound(), 1, self.relation);
        let law = match self.level {
            FrequencyLevel::Pure(epsilon) => NoiseLaw::Laplace { scale: exposure.laplace(epsilon)? },
            level => match level.price(exposure)?.gaussian() {
                Some(gaussian) => NoiseLaw::Gaussian { variance: gaussian.variance() },
                None => return Err(FrequencyPlanError::Level.into()),
            },
        };
        Ok((terms, f64::from(self.parties) * law.variance() * self.granularity.step().powi(2)))
    }
}

/// A shape for a [`FrequencyPurpose`], and what it will achieve.
#[derive(Clone, Debug, PartialEq)]
pub struct FrequencyPlan {
    purpose: FrequencyPurpose,
    terms: CountSketchTerms,
    confidence: Confidence,
    noise_variance: f64,
    half_width: f64,
    typical_half_width: f64,
}

impl FrequencyPlan {
    /// Shape, grid and bound of every party's sketch.
    #[must_use]
    pub const fn terms(&self) -> CountSketchTerms {
        self.terms
    }

    /// Rows and width.
    #[must_use]
    pub const fn shape(&self) -> CountSketchShape {
        self.terms.shape()
    }

    /// The variance of the noise in a cell, in squared units of weight.
    #[must_use]
    pub const fn noise_variance(&self) -> f64 {
        self.noise_variance
    }

    /// The proved half-width of an interval for one item, in units of weight; infinite where nothing can be promised.
    #[must_use]
    pub const fn half_width(&self) -> f64 {
        self.half_width
    }

    /// The same if errors were normal, collisions and noise together: about what will be seen unless heavy items dominate.
    #[must_use]
    pub const fn typical_half_width(&self) -> f64 {
        self.typical_half_width
    }

    /// The length of the file of one released sketch.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        released_bytes(self.shape(), 1)
    }

    /// The length of the file with all parties' sketches added up.
    #[must_use]
    pub const fn merged_bytes(&self) -> u64 {
        released_bytes(self.shape(), self.purpose.parties)
    }

    /// One object: `kind, rows, width, granularity, bytes, merged_bytes, level, calibration` (by which way noise for ε and δ is
    /// found), `rho` (what a ledger books), `epsilon, delta` (as asked for), `rho_total` (of somebody with all parties), `unit, parties, norm` (at most, as given), `noise_variance,
    /// noise_std_error, half_width, typical_half_width, confidence` and `approximations`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let purpose = &self.purpose;
        let exposure = Exposure::new(self.shape(), self.terms.bound(), 1, purpose.relation);
        let priced = purpose.level.price(exposure).ok();
        let rho = priced.and_then(|priced| priced.gaussian()).map(|terms| terms.rho());
        let (epsilon, delta) = match purpose.level {
            FrequencyLevel::Rho(_) => (None, None),
            FrequencyLevel::Approximate { epsilon, delta } => (Some(epsilon.get()), Some(delta.get())),
            FrequencyLevel::Pure(epsilon) => (Some(epsilon.get()), None),
        };
        json!({
            "kind": "countsketch",
            "rows": self.shape().rows(),
            "width": self.shape().width(),
            "granularity": purpose.granularity.to_string(),
            "bytes": self.bytes(),
            "merged_bytes": self.merged_bytes(),
            "level": purpose.level.as_str(),
            "calibration": priced.and_then(|priced| priced.calibration()).map(Calibration::as_str),
            "rho": rho.map(Rho::get),
            "rho_total": rho.map(|rho| rho.get() * f64::from(purpose.parties)),
            "epsilon": epsilon,
            "delta": delta,
            "unit": self.terms.unit(),
            "parties": purpose.parties,
            "norm": finite(purpose.norms.squared().sqrt()),
            "noise_variance": self.noise_variance,
            "noise_std_error": self.noise_variance.sqrt(),
            "half_width": finite(self.half_width),
            "typical_half_width": finite(self.typical_half_width),
            "confidence": self.confidence.get(),
            "approximations": APPROXIMATIONS,
        })
    }
}

/// What the predictions leave out.
const APPROXIMATIONS: [&str; 3] = [
    "half_width is proved for Gaussian noise and fully random hashing, for any data of this norm, and often three times what \
     is seen",
    "typical_half_width takes errors for normal: too small where a few heavy items make up most of the norm",
    "Laplace noise is taken for normal of the same variance in both",
];

/// Null for what is beyond numbers.
fn finite(value: f64) -> Option<f64> {
    Some(value).filter(|value| value.is_finite())
}

/// Header, frame, releases, history, cells; `docs/src/wire-format.md` has the table.
const fn released_bytes(shape: CountSketchShape, releases: u32) -> u64 {
    let steps = if releases == 1 { 1 } else { 2 };
    32 + 15 + 8 + 99 * releases as u64 + 8 + 5 * steps + 8 + 8 * shape.cells() as u64
}

#[cfg(test)]
mod tests;
