//! Norms and inner products.

use cardinality_estimators::{Confidence, Estimate};
use countsketch_dp::{PrivateCountSketch, QueryError};
use serde_json::{Value, json};

use super::query::{estimate_json, extend};
use super::totals::Totals;
use crate::error::{Error, ErrorKind};

/// The second moment of one private sketch, or the inner product of two, with its error and what it cost in privacy.
///
/// The second moment is `F₂ = Σ x²` over all items, which says how skewed frequencies are; the inner product is `Σ x·y`, the size
/// of a join.
///
/// # Examples
/// ```
/// use dpsketch::cardinality_estimators::Confidence;
/// use dpsketch::countsketch_dp::dp_noise::{Neighbouring, Rho};
/// use dpsketch::countsketch_dp::{CountSketchShape, Granularity};
/// use dpsketch::sketch_hash::AnyHash;
/// use dpsketch::{CountSketchTerms, FrequencyBuilder, FrequencyLevel, Moment, TextRules};
///
/// let terms = CountSketchTerms::records(CountSketchShape::new(9, 1024)?, Granularity::ONE, 1)?;
/// let mut builder = FrequencyBuilder::new(terms, AnyHash::default(), TextRules::default())?;
/// builder.push_texts(std::iter::repeat_n("flu", 3000).chain(std::iter::repeat_n("tax", 4000)))?;
/// let private = builder.finish()?.release(FrequencyLevel::Rho(Rho::new(1.0)?), Neighbouring::AddRemove)?;
/// let moment = Moment::of(&[&private], Confidence::P95)?;
/// assert!((moment.estimate().value().unwrap() / 25e6 - 1.0).abs() < 0.1);
/// assert!((moment.norm().unwrap().value().unwrap() - 5000.0).abs() < 250.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    quantity: &'static str,
    estimate: Estimate,
    norm: Option<Estimate>,
    totals: Totals,
}

impl Moment {
    /// For one sketch its second moment and norm, for two their inner product.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for another number of sketches; [`ErrorKind::Incompatible`] for two of other hash, shape or
    /// grid, or with a release in common.
    pub fn of(sketches: &[&PrivateCountSketch], confidence: Confidence) -> Result<Self, Error> {
        let (quantity, estimate, norm) = match sketches {
            [one] => ("second_moment", one.second_moment(confidence)?, Some(one.norm(confidence)?)),
            [one, other] => ("inner_product", one.inner_product(other, confidence)?, None),
            others => {
                let told = format!("one frequency sketch has a norm and two an inner product, found {}", others.len());
                return Err(Error::new(ErrorKind::Parameter, told)
                    .argument("FILE")
                    .allowed("one or two files")
                    .hint("merge sketches first; ask for items with `dpsketch query`"));
            }
        };
        Ok(Self { quantity, estimate, norm, totals: Totals::of(sketches) })
    }

    /// `second_moment` or `inner_product`.
    #[must_use]
    pub const fn quantity(&self) -> &'static str {
        self.quantity
    }

    /// The value with its error, in squared units of weight.
    pub const fn estimate(&self) -> &Estimate {
        &self.estimate
    }

    /// The Euclidean norm `√F₂`, in units of weight, of one sketch.
    #[must_use]
    pub const fn norm(&self) -> Option<&Estimate> {
        self.norm.as_ref()
    }

    /// What somebody in all of the data paid in zCDP; `None` where releases protect different units.
    #[must_use]
    pub const fn rho_total(&self) -> Option<f64> {
        self.totals.rho_total
    }

    /// One object: `kind, quantity, estimate, std_error, lower, upper, confidence, status, norm` (the same six of the root, or
    /// null), `rho, rho_total, epsilon, epsilon_total, epsilon_at_delta, unit, sketches`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut object = json!({ "kind": "countsketch", "quantity": self.quantity });
        extend(&mut object, estimate_json(&self.estimate));
        extend(&mut object, json!({ "norm": self.norm.as_ref().map(estimate_json) }));
        extend(&mut object, self.totals.to_json());
        object
    }
}

impl From<QueryError> for Error {
    fn from(error: QueryError) -> Self {
        match error {
            QueryError::Domain(error) => error.into(),
            QueryError::Incompatible(error) => error.into(),
            QueryError::Hash { .. } => Self::new(ErrorKind::Incompatible, error.to_string())
                .argument("--key-file")
                .hint("ask with the same --key-file and --hash that the sketch was built with")
                .caused_by(error),
            other => Self::new(ErrorKind::Parameter, other.to_string()).caused_by(other),
        }
    }
}
