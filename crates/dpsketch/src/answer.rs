use std::collections::BTreeSet;

use cardinality_estimators::Estimate;
use dp_noise::Amount;
use f0_sketch::ModeKind;
use serde_json::{Value, json};
use sfm_pcsa::{Leaf, Unit};

use crate::error_parts::ErrorParts;
use crate::f0::{AnyF0Sketch, F0Totals, F0Whole};
use crate::method::Method;

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
    method: Option<Method>,
    parts: Option<ErrorParts>,
    note: Option<&'static str>,
    expr: Option<String>,
    f0: Option<F0Facts>,
    sample: Option<(f64, Option<f64>)>,
}

/// What an answer from sketches of samples cost.
pub(crate) struct SampleFacts {
    pub(crate) rate: f64,
    pub(crate) epsilon: Option<Amount>,
    /// Of somebody in all of the data sets, whose samples share one key.
    pub(crate) epsilon_total: Option<Amount>,
    pub(crate) epsilon_if_key_known: Option<f64>,
    pub(crate) units: Vec<Unit>,
    pub(crate) sketches: usize,
    pub(crate) f0: Option<F0Facts>,
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

impl Answer {
    /// From these releases of bitmaps of one family.
    pub(crate) fn of_releases(kind: &'static str, releases: &[&Leaf], estimate: Estimate) -> Self {
        let units: BTreeSet<Unit> = releases.iter().map(|leaf| leaf.unit()).collect();
        Self {
            epsilon: largest(releases),
            epsilon_total: total(releases),
            units: units.into_iter().collect(),
            ..Self::without_facts(kind, releases.len(), estimate)
        }
    }

    /// From raw bitmaps of one family, which cost nothing and protect nobody.
    pub(crate) fn of_raw(kind: &'static str, sketches: usize, estimate: Estimate) -> Self {
        Self::without_facts(kind, sketches, estimate)
    }

    /// From F0 sketches: what their releases cost, or only how many raw ones there were.
    pub(crate) fn of_f0(estimate: Estimate, totals: F0Totals, f0: F0Facts) -> Self {
        Self {
            epsilon: totals.epsilon,
            epsilon_total: totals.epsilon_total,
            units: totals.units,
            f0: Some(f0),
            ..Self::without_facts(AnyF0Sketch::KIND, totals.sketches, estimate)
        }
    }

    fn without_facts(kind: &'static str, sketches: usize, estimate: Estimate) -> Self {
        Self {
            kind,
            estimate,
            epsilon: None,
            epsilon_total: None,
            units: Vec::new(),
            sketches,
            method: None,
            parts: None,
            note: None,
            expr: None,
            f0: None,
            sample: None,
        }
    }

    /// From sketches of secret samples.
    pub(crate) fn of_samples(kind: &'static str, estimate: Estimate, facts: SampleFacts) -> Self {
        Self {
            epsilon: facts.epsilon,
            epsilon_total: facts.epsilon_total,
            units: facts.units,
            f0: facts.f0,
            sample: Some((facts.rate, facts.epsilon_if_key_known)),
            ..Self::without_facts(kind, facts.sketches, estimate)
        }
    }

    pub(crate) fn found_by(self, method: Method) -> Self {
        Self { method: Some(method), ..self }
    }

    pub(crate) fn with_parts(self, parts: Option<ErrorParts>) -> Self {
        Self { parts, ..self }
    }

    pub(crate) fn with_note(self, note: Option<&'static str>) -> Self {
        Self { note, ..self }
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

    /// How the answer was found. `None` for F0 sketches, of samples or not, and for a formula that is empty whatever the sets are.
    #[must_use]
    pub const fn method(&self) -> Option<Method> {
        self.method
    }

    /// The parts of the standard error, where there is one; `None` where several sketches are answered at once, by a joint
    /// likelihood or a tally, which may know more of the union than one sketch without noise would.
    #[must_use]
    pub const fn error_parts(&self) -> Option<ErrorParts> {
        self.parts
    }

    /// A word of advice where another way may answer better, such as for many releases of more noise levels than a tally counts.
    #[must_use]
    pub const fn note(&self) -> Option<&'static str> {
        self.note
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

    /// The rate of the secret sample behind the answer, if it is from one.
    #[must_use]
    pub fn sampling_rate(&self) -> Option<f64> {
        self.sample.map(|(rate, _)| rate)
    }

    /// Of a secret sample, the largest ε₀ among the releases: what one data set pays towards whoever knows the key of the sample.
    #[must_use]
    pub fn epsilon_if_key_known(&self) -> Option<f64> {
        self.sample.and_then(|(_, epsilon)| epsilon)
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
    /// method` ([`Method::to_json`]), `error_parts`, `note` where there is one, and `expr` where a set formula was asked for. Whatever else does not exist is null. Of F0 sketches also `mode`,
    /// `of` ([`whole`](Self::whole)) and `max_weight`; where that is a number, the estimate is a sum of weights. Of secret samples also
    /// `sampling_rate` and `epsilon_if_key_known`.
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
            "method": self.method.map(Method::to_json),
            "error_parts": self.parts.map(|parts| json!({
                "hash": parts.hash,
                "noise": parts.noise,
                "merge": parts.merge,
            })),
        });
        if let Some(note) = self.note {
            object["note"] = json!(note);
        }
        if let Some(expr) = &self.expr {
            object["expr"] = json!(expr);
        }
        if let Some((rate, epsilon_if_key_known)) = self.sample {
            object["sampling_rate"] = json!(rate);
            object["epsilon_if_key_known"] = json!(epsilon_if_key_known);
        }
        if let Some(f0) = &self.f0 {
            object["mode"] = json!(f0.mode.to_string());
            object["of"] = json!(f0.of.as_str());
            object["max_weight"] = json!(f0.max_weight);
        }
        object
    }
}

/// The largest ε among releases.
pub(crate) fn largest(releases: &[&Leaf]) -> Option<Amount> {
    releases.iter().map(|leaf| Amount::from_epsilon(leaf.epsilon())).max()
}

/// The sum of ε over all releases as an exact decimal; `None` when some protect items and others users: what an item pays
/// and what a user pays do not add up.
pub(crate) fn total(releases: &[&Leaf]) -> Option<Amount> {
    let mut sum = Amount::ZERO;
    let (mut items, mut users) = (false, false);
    for leaf in releases {
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
