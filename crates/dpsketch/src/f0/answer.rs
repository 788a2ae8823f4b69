//! Answers from F0 sketches.

use cardinality_estimators::parity::{ParityErrors, SetCombination};
use cardinality_estimators::{Confidence, Estimate};
use f0_sketch::{F0Sketch, Mode, ModeKind, PrivateF0Sketch, SketchPair, WeightRule};

use super::merge::{F0State, Named, merge_private, merge_raw_sets, merge_raw_streams};
use super::terms::max_weight;
use super::totals::F0Totals;
use crate::answer::{Answer, F0Facts};
use crate::error::{Error, ErrorKind};
use crate::error_parts::ErrorParts;
use crate::expr::SetFormula;
use crate::raw::RecordedHash;
use crate::set_answer::{nothing, raw_refused};

/// Of what sets an answer from F0 sketches is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum F0Whole {
    /// The set behind the only release, or in the only raw file.
    One,
    /// What is in an odd number of the sets behind several releases of mode `set`, merged or not; of two, in one and not in the
    /// other.
    SymmetricDifference,
    /// What is in any of the data sets behind several releases of mode `presampled`, merged or not.
    Union,
    /// A set formula of its own, or a similarity.
    Formula,
}

impl F0Whole {
    /// The word for it in machine-readable results.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::One => "one",
            Self::SymmetricDifference => "symmetric_difference",
            Self::Union => "union",
            Self::Formula => "formula",
        }
    }

    /// What the XOR of so many releases or raw sketches tells about.
    pub(crate) const fn of_xor(mode: ModeKind, parts: usize) -> Self {
        match mode {
            _ if parts == 1 => Self::One,
            ModeKind::Set => Self::SymmetricDifference,
            ModeKind::Presampled => Self::Union,
        }
    }
}

/// The size, or the sum of weights, of what the XOR of the sketches holds.
pub(crate) fn estimate_f0(sketches: &F0State<'_>, confidence: Confidence) -> Result<Answer, Error> {
    let of = F0Whole::of_xor(sketches.mode(), sketches.len());
    match sketches {
        F0State::Set(private) => xor_of(private, confidence),
        F0State::Presampled(private) => xor_of(private, confidence),
        F0State::RawSet(raws) => Ok(of_raw(&merge_raw_sets(raws)?, raws.len(), of, confidence)),
        F0State::RawPresampled(raws) => Ok(of_raw(&merge_raw_streams(raws)?, raws.len(), of, confidence)),
    }
}

/// The XOR of all sketches, which is the only one where there is one.
fn xor_of<M: Mode>(private: &Named<'_, PrivateF0Sketch<M>>, confidence: Confidence) -> Result<Answer, Error> {
    let sketch = merge_private(private)?;
    // A merged file is the XOR of what was merged.
    let of = F0Whole::of_xor(M::KIND, sketch.leaves().len());
    let estimate = sketch.estimate(confidence);
    let parts = parts_of(&sketch, &estimate);
    Ok(told(private, of, estimate).with_parts(parts))
}

/// The parts of a standard error: as predicted for this value without noise, and with the noisiest release alone.
fn parts_of<M: Mode>(sketch: &PrivateF0Sketch<M>, estimate: &Estimate) -> Option<ErrorParts> {
    let (value, std_error) = (estimate.value().filter(|value| *value > 0.0)?, estimate.std_error()?);
    let rule = sketch.weight_rule();
    let (layout, total) = (sketch.shape().layout(), value / rule.scale());
    // Of weights the squares are not known; 0 is what the estimate takes them for.
    let squares = if rule == WeightRule::Unit { total } else { 0.0 };
    let predicted = |contrast: f64| {
        let errors = ParityErrors::new(&layout, M::KIND.model(), contrast).ok()?;
        Some(errors.std_error_weighted(total, squares) * rule.scale())
    };
    let noisiest = sketch.leaves().iter().map(|leaf| 1.0 - 2.0 * leaf.flip_probability()).fold(1.0, f64::min);
    Some(ErrorParts::split(std_error, predicted(1.0)?, predicted(noisiest)?))
}

fn of_raw<M: Mode>(raw: &F0Sketch<M, RecordedHash>, sketches: usize, of: F0Whole, confidence: Confidence) -> Answer {
    let estimate = raw.estimate(confidence);
    let parts = estimate.std_error().map(|hash| ErrorParts { hash, noise: 0.0, merge: 0.0 });
    let answer = Answer::of_f0(estimate, F0Totals::of_raw(sketches), facts(M::KIND, of, raw.weight_rule()));
    answer.with_parts(parts)
}

/// The answer with what the releases behind it cost.
fn told<M: Mode>(private: &Named<'_, PrivateF0Sketch<M>>, of: F0Whole, estimate: Estimate) -> Answer {
    let totals = F0Totals::of_leaves(private.iter().flat_map(|(_, sketch)| sketch.leaves()));
    let rule = private.first().map_or(WeightRule::Unit, |(_, sketch)| sketch.weight_rule());
    Answer::of_f0(estimate, totals, facts(M::KIND, of, rule))
}

fn facts(mode: ModeKind, of: F0Whole, rule: WeightRule) -> F0Facts {
    F0Facts { mode, of, max_weight: max_weight(rule) }
}

/// The size, or the sum of weights, of a formula over the sketches at the positions `used`, which are those that it depends on.
pub(crate) fn formula_f0(
    sketches: F0State<'_>,
    formula: &SetFormula,
    used: &[usize],
    confidence: Confidence,
) -> Result<Answer, Error> {
    let sketches = sketches.at(used);
    if formula.is_empty() {
        let estimate = nothing(confidence)?;
        return Ok(match &sketches {
            F0State::Set(private) => told(private, F0Whole::Formula, estimate),
            F0State::Presampled(private) => told(private, F0Whole::Formula, estimate),
            F0State::RawSet(raws) => empty_raw(raws, estimate),
            F0State::RawPresampled(raws) => empty_raw(raws, estimate),
        });
    }
    let answered_by_xor = match sketches.mode() {
        ModeKind::Set => is_symmetric_difference(formula),
        ModeKind::Presampled => is_union(formula),
    };
    if answered_by_xor && used.len() != 2 {
        return estimate_f0(&sketches, confidence);
    }
    let Some(combination) = combination_of(formula) else { return Err(too_many(sketches.mode(), used.len())) };
    match &sketches {
        F0State::Set(private) => pair_of(private, combination, confidence),
        F0State::Presampled(private) => pair_of(private, combination, confidence),
        F0State::RawSet(_) | F0State::RawPresampled(_) if answered_by_xor => estimate_f0(&sketches, confidence),
        F0State::RawSet(_) => Err(raw_refused("any formula but a symmetric difference")),
        F0State::RawPresampled(_) => Err(raw_refused("any formula but a union")),
    }
}

fn empty_raw<M: Mode>(raws: &Named<'_, F0Sketch<M, RecordedHash>>, estimate: Estimate) -> Answer {
    let rule = raws.first().map_or(WeightRule::Unit, |(_, raw)| raw.weight_rule());
    Answer::of_f0(estimate, F0Totals::of_raw(raws.len()), facts(M::KIND, F0Whole::Formula, rule))
}

/// By the joint likelihood of two sketches.
fn pair_of<M: Mode>(
    private: &Named<'_, PrivateF0Sketch<M>>,
    combination: SetCombination,
    confidence: Confidence,
) -> Result<Answer, Error> {
    let [(_, first), (_, second)] = private.as_slice() else { return Err(too_many(M::KIND, private.len())) };
    let estimate = SketchPair::new(first, second)?.estimate(combination, confidence);
    Ok(told(private, F0Whole::Formula, estimate))
}

/// The Jaccard similarity of two private sketches; with weights, the share of the weight of both in that of either.
pub(crate) fn jaccard_f0(sketches: &F0State<'_>, confidence: Confidence) -> Result<Answer, Error> {
    fn of_pair<M: Mode>(private: &Named<'_, PrivateF0Sketch<M>>, confidence: Confidence) -> Result<Answer, Error> {
        let [(_, first), (_, second)] = private.as_slice() else { return Err(too_many(M::KIND, private.len())) };
        let estimate = SketchPair::new(first, second)?.jaccard(confidence);
        Ok(told(private, F0Whole::Formula, estimate))
    }
    match sketches {
        F0State::Set(private) => of_pair(private, confidence),
        F0State::Presampled(private) => of_pair(private, confidence),
        F0State::RawSet(_) | F0State::RawPresampled(_) => Err(raw_refused("the similarity")),
    }
}

/// Whether the formula is what lies in an odd number of its sets.
fn is_symmetric_difference(formula: &SetFormula) -> bool {
    regions(formula).all(|region| formula.contains(region) == (region.count_ones() % 2 == 1))
}

/// Whether the formula is what lies in any of its sets.
fn is_union(formula: &SetFormula) -> bool {
    regions(formula).all(|region| formula.contains(region))
}

/// The regions that the sets of a formula make, all but the outside.
fn regions(formula: &SetFormula) -> core::ops::Range<u32> {
    1..1 << formula.names().len()
}

/// A formula that depends on both of two sets, or on one.
pub(crate) fn combination_of(formula: &SetFormula) -> Option<SetCombination> {
    if formula.names().len() != 2 {
        return None;
    }
    // Bit 0 stands for the first set.
    Some(match [1, 2, 3].map(|region| formula.contains(region)) {
        [true, true, true] => SetCombination::Union,
        [false, false, true] => SetCombination::Intersection,
        [true, false, false] => SetCombination::OnlyFirst,
        [false, true, false] => SetCombination::OnlySecond,
        [true, true, false] => SetCombination::SymmetricDifference,
        // The others depend on one set, or on none.
        _ => return None,
    })
}

fn too_many(mode: ModeKind, found: usize) -> Error {
    let (allowed, hint) = match mode {
        ModeKind::Set => (
            "any formula of two sets, or the symmetric difference of all, such as 'a ^ b ^ c'",
            "the XOR of sketches tells of nothing else: ask for pairs, or build sketches of kind sfm",
        ),
        ModeKind::Presampled => (
            "any formula of two sets, or the union of all, such as 'a | b | c'",
            "the XOR of sketches tells of nothing else: ask for pairs, or build sketches of kind sfm",
        ),
    };
    Error::new(ErrorKind::Refused, format!("this formula of {found} F0 sketches of mode {mode} has no answer"))
        .argument("--expr")
        .value(format!("{found} sets"))
        .allowed(allowed)
        .hint(hint)
}
