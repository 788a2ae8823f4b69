use std::collections::BTreeSet;

use cardinality_estimators::{Confidence, Estimate, LastLevel};
use dp_noise::Amount;
use f0_sketch::ModeKind;
use serde_json::{Value, json};
use sfm_pcsa::{BitmapShape, Leaf, PcsaShape, PrivateBitmap, Unit, union_estimate};

use crate::any::{AnySketch, Family, for_family};
use crate::error::{Error, ErrorKind};
use crate::error_parts::{ErrorParts, error_parts};
use crate::f0::{AnyF0Sketch, F0Totals, F0Whole, estimate_f0};
use crate::merge::{OfOneState, Sort, check_compatible, f0_state, merge_raw, of_one_state, one_sort};

/// The answer to "how many distinct items?", with its error, and what it cost in privacy.
///
/// # Examples
/// ```
/// use dpsketch::{AnySketch, DistinctBuilder, RawSketch, TextRules, estimate, parse_confidence, parse_epsilon};
/// use dpsketch::sfm_pcsa::PcsaShape;
/// use dpsketch::sketch_hash::AnyHash;
///
/// let mut parties = Vec::new();
/// for (party, users) in [("a", 0..30_000), ("b", 20_000..50_000)] {
///     let mut builder = DistinctBuilder::new(PcsaShape::DEFAULT, AnyHash::default(), TextRules::default());
///     let users: Vec<String> = users.map(|user| user.to_string()).collect();
///     builder.push_texts(users.iter().map(String::as_str));
///     let private = RawSketch::try_from(builder)?.release(parse_epsilon("2")?)?;
///     parties.push((party.to_owned(), AnySketch::from(private)));
/// }
/// let answer = estimate(&parties, parse_confidence("0.95")?)?;
/// let json = answer.to_json();
/// assert!((json["estimate"].as_f64().unwrap() - 50_000.0).abs() < 8_000.0);
/// assert_eq!((json["epsilon"].as_f64(), json["epsilon_total"].as_f64()), (Some(2.0), Some(4.0)));
/// assert_eq!(json["sketches"], 2);
/// # Ok::<(), dpsketch::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    kind: &'static str,
    estimate: Estimate,
    epsilon: Option<Amount>,
    epsilon_total: Option<Amount>,
    units: Vec<Unit>,
    sketches: usize,
    parts: Option<ErrorParts>,
    expr: Option<String>,
    f0: Option<F0Facts>,
}

/// What only an answer from F0 sketches has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct F0Facts {
    pub(crate) mode: ModeKind,
    /// What was put together from several sketches.
    pub(crate) of: F0Whole,
    /// The largest weight, where items have weights.
    pub(crate) max_weight: Option<f64>,
}

/// How many distinct items are in the union of the data behind these named sketches.
///
/// F0 sketches of mode `set` are the exception: several of them tell of their **symmetric difference**, which is the union of
/// disjoint sets only ([`Answer::whole`] says so); for the union of two see [`estimate_formula`](crate::estimate_formula).
///
/// One private sketch is estimated by the likelihood of its bits, several by the product statistic, which draws no coins,
/// so that asking twice gives the same answer. Raw sketches are merged first, and the answer has **no** privacy.
///
/// # Errors
/// [`ErrorKind::Incompatible`](crate::ErrorKind::Incompatible) when the sketches cannot be put together.
pub fn estimate(sketches: &[(String, AnySketch)], confidence: Confidence) -> Result<Answer, Error> {
    estimate_with(sketches, LastLevel::Exact, confidence)
}

/// As [`estimate`] with a choice of how likely the last level of a sketch is.
///
/// [`LastLevel::Presto`] gives the number that Presto's `cardinality` would, with an error beside it; see
/// [`SfmSketch::estimate_with`](sfm_pcsa::SfmSketch::estimate_with).
///
/// # Errors
/// As [`estimate`]; [`ErrorKind::Parameter`] for [`LastLevel::Presto`] with several private sketches, which Presto itself
/// can only merge.
pub fn estimate_with(
    sketches: &[(String, AnySketch)],
    last_level: LastLevel,
    confidence: Confidence,
) -> Result<Answer, Error> {
    check_compatible(sketches)?;
    if one_sort(sketches)? == Sort::F0 && last_level == LastLevel::Exact {
        return estimate_f0(&f0_state(sketches)?, confidence);
    }
    if last_level == LastLevel::Exact {
        exact(sketches, confidence)
    } else {
        as_presto(sketches, last_level, confidence)
    }
}

/// As Presto's estimator has the last level, which is for one private sketch of its kind, or for raw ones.
fn as_presto(sketches: &[(String, AnySketch)], last_level: LastLevel, confidence: Confidence) -> Result<Answer, Error> {
    match sketches {
        [(_, AnySketch::Sfm(one))] => {
            let estimate = one.estimate_with(last_level, confidence);
            let parts = error_parts(one, leaves(&[one]), &estimate);
            Ok(Answer { parts, ..Answer::of_private(&[one], estimate) })
        }
        [(_, AnySketch::SfmRaw(_)), ..] => {
            let OfOneState::Raw(raws) = of_one_state::<PcsaShape>(sketches)? else { return Err(only_one(0)) };
            let estimate = merge_raw(&raws)?.estimate_with(last_level, confidence);
            Ok(of_raw_with_parts::<PcsaShape>(raws.len(), estimate))
        }
        several => Err(only_one(several.len())),
    }
}

fn exact(sketches: &[(String, AnySketch)], confidence: Confidence) -> Result<Answer, Error> {
    for_family!(sketches, estimate_of(sketches, confidence))
}

fn estimate_of<S: Family>(sketches: &[(String, AnySketch)], confidence: Confidence) -> Result<Answer, Error> {
    match of_one_state::<S>(sketches)? {
        OfOneState::Private(private) => {
            let estimate = match private.as_slice() {
                [one] => one.estimate(confidence),
                several => union_estimate(several, confidence)?,
            };
            let parts = private.first().and_then(|first| error_parts(first, leaves(&private), &estimate));
            Ok(Answer { parts, ..Answer::of_private(&private, estimate) })
        }
        OfOneState::Raw(raws) => Ok(of_raw_with_parts::<S>(raws.len(), merge_raw(&raws)?.estimate(confidence))),
    }
}

fn of_raw_with_parts<S: Family>(sketches: usize, estimate: Estimate) -> Answer {
    let parts = estimate.std_error().map(|hash| ErrorParts { hash, noise: 0.0, merge: 0.0 });
    Answer { parts, ..Answer::of_raw::<S>(sketches, estimate) }
}

fn only_one(found: usize) -> Error {
    Error::new(
        ErrorKind::Parameter,
        format!("Presto's last level is for one private sfm sketch, found {found} sketches"),
    )
    .argument("--last-level")
    .value("presto")
    .allowed("exact")
    .hint("merge the sketches first")
}

fn leaves<'a, S: BitmapShape>(sketches: &'a [&PrivateBitmap<S>]) -> impl Iterator<Item = &'a Leaf> {
    sketches.iter().flat_map(|sketch| sketch.leaves())
}

impl Answer {
    pub(crate) fn of_private<S: Family>(sketches: &[&PrivateBitmap<S>], estimate: Estimate) -> Self {
        let units: Vec<Unit> = leaves(sketches).map(Leaf::unit).collect::<BTreeSet<_>>().into_iter().collect();
        Self {
            kind: S::KIND,
            estimate,
            epsilon: sketches.iter().filter_map(|sketch| largest(sketch)).max(),
            epsilon_total: total(sketches.iter().copied()),
            units,
            sketches: leaves(sketches).count(),
            parts: None,
            expr: None,
            f0: None,
        }
    }

    pub(crate) fn of_raw<S: Family>(sketches: usize, estimate: Estimate) -> Self {
        Self {
            kind: S::KIND,
            estimate,
            epsilon: None,
            epsilon_total: None,
            units: Vec::new(),
            sketches,
            parts: None,
            expr: None,
            f0: None,
        }
    }

    /// From F0 sketches: what their releases cost, or only how many raw ones there were.
    pub(crate) fn of_f0(estimate: Estimate, totals: F0Totals, f0: F0Facts) -> Self {
        Self {
            kind: AnyF0Sketch::KIND,
            estimate,
            epsilon: totals.epsilon,
            epsilon_total: totals.epsilon_total,
            units: totals.units,
            sketches: totals.sketches,
            parts: None,
            expr: None,
            f0: Some(f0),
        }
    }

    pub(crate) fn with_parts(self, parts: Option<ErrorParts>) -> Self {
        Self { parts, ..self }
    }

    pub(crate) fn with_expr(self, expr: String) -> Self {
        Self { expr: Some(expr), ..self }
    }

    /// The estimate itself.
    pub const fn estimate(&self) -> &Estimate {
        &self.estimate
    }

    /// The largest ε of a single release: what one data set paid at most. `None` for raw sketches.
    #[must_use]
    pub const fn epsilon(&self) -> Option<Amount> {
        self.epsilon
    }

    /// The sum of ε over all releases: what somebody paid who is in every data set. `None` for raw sketches, and when some
    /// releases protect items and others users.
    #[must_use]
    pub const fn epsilon_total(&self) -> Option<Amount> {
        self.epsilon_total
    }

    /// Whom ε protects: each unit among the releases once, the smallest first. Empty for raw sketches.
    #[must_use]
    pub fn units(&self) -> &[Unit] {
        &self.units
    }

    /// Releases behind the answer, those inside of merged sketches counted one by one; for raw sketches, the sketches.
    #[must_use]
    pub const fn sketches(&self) -> usize {
        self.sketches
    }

    /// The parts of the standard error, where there is one.
    #[must_use]
    pub const fn error_parts(&self) -> Option<ErrorParts> {
        self.parts
    }

    /// Of what sets of F0 sketches it is the answer; `None` for other kinds.
    #[must_use]
    pub fn whole(&self) -> Option<F0Whole> {
        self.f0.map(|f0| f0.of)
    }

    /// The largest weight of items of F0 sketches with weights, whose answers are sums of weights; `None` for counts.
    #[must_use]
    pub fn max_weight(&self) -> Option<f64> {
        self.f0?.max_weight
    }

    /// The set formula that was asked for, if one was.
    #[must_use]
    pub fn expr(&self) -> Option<&str> {
        self.expr.as_deref()
    }

    /// Whether the standard error is larger than the value, so that the answer tells little more than its upper end.
    #[must_use]
    pub fn error_exceeds_value(&self) -> bool {
        matches!((self.estimate.std_error(), self.estimate.value()), (Some(error), Some(value)) if error > value)
    }

    /// One object: `kind, estimate, std_error, lower, upper, confidence, status, epsilon, epsilon_total, unit, sketches,
    /// error_parts`, and `expr` where a set formula was asked for. Whatever does not exist is null. Of F0 sketches also `mode`,
    /// `of` ([`whole`](Self::whole)) and `max_weight`; where that is a number, the estimate is a sum of weights.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let estimate = &self.estimate;
        let mut object = json!({
            "kind": self.kind,
            "estimate": estimate.value(),
            "std_error": estimate.std_error(),
            "lower": estimate.lower(),
            "upper": estimate.upper(),
            "confidence": estimate.confidence().get(),
            "status": estimate.status().as_str(),
            "epsilon": self.epsilon.map(Amount::nearest_f64),
            "epsilon_total": self.epsilon_total.map(Amount::nearest_f64),
            "unit": in_words(&self.units),
            "sketches": self.sketches,
            "error_parts": self.parts.map(|parts| json!({
                "hash": parts.hash,
                "noise": parts.noise,
                "merge": parts.merge,
            })),
        });
        if let Some(expr) = &self.expr {
            object["expr"] = json!(expr);
        }
        if let Some(f0) = &self.f0 {
            object["mode"] = json!(f0.mode.to_string());
            object["of"] = json!(f0.of.as_str());
            object["max_weight"] = json!(f0.max_weight);
        }
        object
    }
}

/// The largest ε among the releases of a sketch.
pub(crate) fn largest<S: BitmapShape>(sketch: &PrivateBitmap<S>) -> Option<Amount> {
    sketch.leaves().iter().map(|leaf| Amount::from_epsilon(leaf.epsilon())).max()
}

/// The sum of ε over all releases as an exact decimal; `None` when some protect items and others users: what an item pays
/// and what a user pays do not add up.
pub(crate) fn total<'a, S: BitmapShape + 'a>(
    sketches: impl IntoIterator<Item = &'a PrivateBitmap<S>>,
) -> Option<Amount> {
    let mut sum = Amount::ZERO;
    let (mut items, mut users) = (false, false);
    for leaf in sketches.into_iter().flat_map(PrivateBitmap::leaves) {
        sum = sum.checked_add(Amount::from_epsilon(leaf.epsilon()))?;
        *(if leaf.unit() == Unit::Item { &mut items } else { &mut users }) = true;
    }
    (!(items && users)).then_some(sum)
}

/// Units as one text; `None` where there is none.
pub(crate) fn in_words(units: &[Unit]) -> Option<String> {
    let words: Vec<String> = units.iter().map(ToString::to_string).collect();
    (!words.is_empty()).then(|| words.join("; "))
}
