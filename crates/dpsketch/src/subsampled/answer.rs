//! Sketches of samples put together, and what they tell.

use cardinality_estimators::{Confidence, Estimate};
use dp_noise::{Amount, NoiseRng, loss_under_one_key};
use f0_sketch::{ModeKind, RawSubsampledF0, SubsampledF0Sketch};
use sfm_pcsa::{MergeForm, RawSubsampledPcsa, SubsampledSfmSketch, Unit, subsampled_union_estimate};

use super::any::{AnySubsampled, RawKind, RawSubsampled};
use super::check::{check_samples, named_samples, not_a_sample};
use super::describe::rate_json;
use super::release::SampleRelease;
use crate::answer::{Answer, F0Facts, SampleFacts};
use crate::any::AnySketch;
use crate::error::{Error, ErrorKind};
use crate::expr::SetFormula;
use crate::f0::{F0Whole, combination_of, max_weight};
use crate::method::Method;
use crate::raw::RecordedHash;

/// Sketches of samples of one kind and one state.
enum State<'a> {
    Sfm(Vec<&'a SubsampledSfmSketch>),
    F0(Vec<&'a SubsampledF0Sketch>),
    RawSfm(Vec<&'a RawSubsampledPcsa<RecordedHash>>),
    RawF0(Vec<&'a RawSubsampledF0<RecordedHash>>),
}

/// Sorts named sketches, of which one sort and one state was checked.
fn state_of(sketches: &[(String, AnySketch)]) -> Result<State<'_>, Error> {
    use AnySubsampled as S;
    fn all<'a, T>(
        sketches: &'a [(String, AnySketch)],
        pick: impl Fn(&'a AnySubsampled) -> Option<&'a T>,
    ) -> Result<Vec<&'a T>, Error> {
        let samples = named_samples(sketches)?;
        samples.into_iter().map(|(name, own)| pick(own).ok_or_else(|| not_a_sample(name))).collect()
    }
    let first = sketches.first().map(|(_, sketch)| sketch);
    match first {
        Some(AnySketch::Subsampled(S::Sfm(_))) => {
            all(sketches, |any| if let S::Sfm(own) = any { Some(own) } else { None }).map(State::Sfm)
        }
        Some(AnySketch::Subsampled(S::F0(_))) => {
            all(sketches, |any| if let S::F0(own) = any { Some(own) } else { None }).map(State::F0)
        }
        Some(AnySketch::Subsampled(S::Raw(RawSubsampled(RawKind::Sfm(_))))) => {
            all(sketches, |any| if let S::Raw(RawSubsampled(RawKind::Sfm(own))) = any { Some(own) } else { None })
                .map(State::RawSfm)
        }
        Some(AnySketch::Subsampled(S::Raw(RawSubsampled(RawKind::F0(_))))) => {
            all(sketches, |any| if let S::Raw(RawSubsampled(RawKind::F0(own))) = any { Some(own) } else { None })
                .map(State::RawF0)
        }
        _ => Err(Error::new(ErrorKind::Parameter, "no sketch was named").argument("FILE")),
    }
}

fn merged_sfm(raws: &[&RawSubsampledPcsa<RecordedHash>]) -> Result<RawSubsampledPcsa<RecordedHash>, Error> {
    let (first, others) = raws.split_first().ok_or(sfm_pcsa::MergeError::Empty)?;
    let mut union = (*first).clone();
    others.iter().try_for_each(|other| union.merge(other))?;
    Ok(union)
}

fn merged_f0(raws: &[&RawSubsampledF0<RecordedHash>]) -> Result<RawSubsampledF0<RecordedHash>, Error> {
    let (first, others) = raws.split_first().ok_or(f0_sketch::MergeError::Empty)?;
    let mut xor = (*first).clone();
    others.iter().try_for_each(|other| xor.merge(other))?;
    Ok(xor)
}

/// Puts sketches of samples together: of kind `sfm` to the union, of kind `f0` to the symmetric difference.
pub(crate) fn merge_samples(sketches: &[(String, AnySketch)], form: MergeForm) -> Result<AnySubsampled, Error> {
    Ok(match state_of(sketches)? {
        State::Sfm(samples) => {
            AnySubsampled::Sfm(SubsampledSfmSketch::merge_all(&samples, form, &mut NoiseRng::from_os()?)?)
        }
        State::F0(samples) => AnySubsampled::F0(SubsampledF0Sketch::merge_all(&samples)?),
        State::RawSfm(raws) => AnySubsampled::Raw(RawSubsampled(RawKind::Sfm(merged_sfm(&raws)?))),
        State::RawF0(raws) => AnySubsampled::Raw(RawSubsampled(RawKind::F0(merged_f0(&raws)?))),
    })
}

/// The number of distinct items, or the sum of weights, in what the sketches together hold.
pub(crate) fn estimate_samples(sketches: &[(String, AnySketch)], confidence: Confidence) -> Result<Answer, Error> {
    check_samples(sketches)?;
    let (estimate, method) = match state_of(sketches)? {
        State::Sfm(samples) => {
            let method = if samples.len() == 1 { Method::Likelihood } else { Method::Product };
            (subsampled_union_estimate(&samples, confidence)?, Some(method))
        }
        State::F0(samples) => (SubsampledF0Sketch::merge_all(&samples)?.estimate(confidence), None),
        State::RawSfm(raws) => (merged_sfm(&raws)?.estimate(confidence), Some(Method::Likelihood)),
        State::RawF0(raws) => (merged_f0(&raws)?.estimate(confidence), None),
    };
    let answer = told(sketches, estimate, None)?;
    Ok(match method {
        Some(method) => answer.found_by(method),
        None => answer,
    })
}

/// The size of a formula over the sketches, all of which it depends on: the union of those of kind `sfm`, and anything of two of kind `f0`.
pub(crate) fn formula_samples(
    sketches: &[(String, AnySketch)],
    formula: &SetFormula,
    confidence: Confidence,
) -> Result<Answer, Error> {
    match (state_of(sketches)?, combination_of(formula)) {
        (State::Sfm(_) | State::RawSfm(_), _) if formula.is_union() => estimate_samples(sketches, confidence),
        (State::F0(samples), Some(combination)) if samples.len() == 2 => {
            check_samples(sketches)?;
            told(sketches, samples[0].estimate_with(samples[1], combination, confidence)?, Some(F0Whole::Formula))
        }
        _ => Err(Error::new(ErrorKind::Refused, "this formula of sketches of samples has no answer")
            .argument("--expr")
            .allowed("the union of sketches of kind sfm-subsampled, or any formula of two released ones of kind f0-subsampled")
            .hint("build sketches without --subsample-key for other formulas")),
    }
}

/// The similarity is of small shares, to which a sample adds an error that is not accounted for.
pub(crate) fn no_similarity() -> Error {
    Error::new(ErrorKind::Refused, "the similarity of sets is not estimated from sketches of samples")
        .argument("--jaccard")
        .allowed("sketches of all items")
        .hint("build sketches without --subsample-key, or ask for a & b and a | b")
}

/// The answer with what the releases behind it cost, and, of F0 sketches, of what sets it is: `of`, or what their XOR tells.
fn told(sketches: &[(String, AnySketch)], estimate: Estimate, of: Option<F0Whole>) -> Result<Answer, Error> {
    let samples: Vec<&AnySubsampled> = named_samples(sketches)?.into_iter().map(|(_, sample)| sample).collect();
    let first = samples.first().ok_or_else(|| Error::new(ErrorKind::Parameter, "no sketch was named"))?;
    let releases: Vec<SampleRelease> = samples.iter().flat_map(|sample| sample.releases()).collect();
    let mut units: Vec<Unit> = releases.iter().map(SampleRelease::unit).collect();
    units.sort_unstable();
    units.dedup();
    let parts = if first.is_raw() { samples.len() } else { releases.len() };
    let f0 = first.weight_rule().map(|rule| F0Facts {
        mode: ModeKind::Set,
        of: of.unwrap_or(F0Whole::of_xor(ModeKind::Set, parts)),
        max_weight: max_weight(rule),
    });
    let facts = SampleFacts {
        rate: rate_json(first.sampling().rate),
        epsilon: releases.iter().map(|release| Amount::from_epsilon(release.epsilon())).max(),
        epsilon_total: total(&releases, &units),
        epsilon_if_key_known: releases.iter().map(SampleRelease::epsilon_if_key_known).reduce(f64::max),
        units,
        sketches: parts,
        f0,
    };
    Ok(Answer::of_samples(first.kind(), estimate, facts))
}

/// What somebody in all of the releases of one key lost, however much that is; `None` of none, and where some protect items and
/// others users.
fn total(releases: &[SampleRelease], units: &[Unit]) -> Option<Amount> {
    let levels: Vec<_> = releases.iter().map(|release| (release.sampling().rate, release.level())).collect();
    let items = units.iter().map(|unit| unit.max_items()).max().unwrap_or(1);
    match releases {
        [] => None,
        [one] => Some(Amount::from_epsilon(one.epsilon())),
        _ if units.contains(&Unit::Item) && units.len() > 1 => None,
        _ => Some(at_least((loss_under_one_key(&levels) * f64::from(items)).next_up())),
    }
}

/// A loss that may be above every ε that is released at; beyond the largest amount, that.
fn at_least(loss: f64) -> Amount {
    Amount::parse_cost(&loss.to_string()).unwrap_or(Amount::from_units(u128::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_is_told_however_large() {
        assert_eq!(at_least(263.84).nearest_f64().to_bits(), 263.84_f64.to_bits());
        for endless in [1e40, f64::INFINITY] {
            assert_eq!(at_least(endless), Amount::from_units(u128::MAX));
        }
    }
}
