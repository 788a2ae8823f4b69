//! Sketches of samples put together, and what they tell.

use cardinality_estimators::{Confidence, Estimate};
use dp_noise::{Amount, Epsilon, NoiseRng, loss_under_one_key};
use f0_sketch::{RawSubsampledF0, SubsampledF0Sketch};
use sfm_pcsa::{MergeForm, RawSubsampledPcsa, SubsampledSfmSketch, Unit, subsampled_union_estimate};

use super::any::{AnySubsampled, RawKind, RawSubsampled};
use crate::answer::{Answer, SampleFacts};
use crate::any::AnySketch;
use crate::error::{Error, ErrorKind};
use crate::expr::SetFormula;
use crate::f0::combination_of;
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
        let mut found: Vec<&'a T> = Vec::with_capacity(sketches.len());
        let mut first: Option<(&str, &AnySubsampled)> = None;
        for (name, sketch) in sketches {
            let AnySketch::Subsampled(own) = sketch else { return Err(not_a_sample(name)) };
            found.push(pick(own).ok_or_else(|| not_a_sample(name))?);
            let (first_name, first) = *first.get_or_insert((name, own));
            let alike = first.sampling().check(own.sampling()).map_err(Error::from);
            alike.map_err(|error| error.prefixed(&format!("{name} does not fit {first_name}")).argument("FILE"))?;
        }
        Ok(found)
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

fn not_a_sample(name: &str) -> Error {
    Error::new(ErrorKind::Incompatible, format!("{name} is not a sketch of a sample of the same kind"))
        .argument("FILE")
        .value(name)
        .allowed("sketches of one kind that were sampled with one key")
}

/// Checks that sketches of samples go together: by putting them together.
pub(crate) fn check_samples(sketches: &[(String, AnySketch)]) -> Result<(), Error> {
    match state_of(sketches)? {
        State::Sfm(samples) => Ok(subsampled_union_estimate(&samples, Confidence::P95).map(drop)?),
        State::F0(samples) => Ok(SubsampledF0Sketch::merge_all(&samples).map(drop)?),
        State::RawSfm(raws) => merged_sfm(&raws).map(drop),
        State::RawF0(raws) => merged_f0(&raws).map(drop),
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

/// The number of distinct items in what the sketches together hold.
pub(crate) fn estimate_samples(sketches: &[(String, AnySketch)], confidence: Confidence) -> Result<Answer, Error> {
    let estimate = match state_of(sketches)? {
        State::Sfm(samples) => subsampled_union_estimate(&samples, confidence)?,
        State::F0(samples) => SubsampledF0Sketch::merge_all(&samples)?.estimate(confidence),
        State::RawSfm(raws) => merged_sfm(&raws)?.estimate(confidence),
        State::RawF0(raws) => merged_f0(&raws)?.estimate(confidence),
    };
    told(sketches, estimate)
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
            told(sketches, samples[0].estimate_with(samples[1], combination, confidence)?)
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

/// The answer with what the releases behind it cost.
fn told(sketches: &[(String, AnySketch)], estimate: Estimate) -> Result<Answer, Error> {
    let samples = sketches.iter().filter_map(|(_, sketch)| match sketch {
        AnySketch::Subsampled(sample) => Some(sample),
        _ => None,
    });
    let samples: Vec<&AnySubsampled> = samples.collect();
    let first = samples.first().ok_or_else(|| Error::new(ErrorKind::Parameter, "no sketch was named"))?;
    let releases: Vec<_> = samples.iter().flat_map(|sample| sample.releases()).collect();
    let mut units: Vec<Unit> = releases.iter().map(|release| release.unit()).collect();
    units.sort_unstable();
    units.dedup();
    let mixed = units.contains(&Unit::Item) && units.len() > 1;
    let items = units.iter().map(|unit| unit.max_items()).max().unwrap_or(1);
    let levels: Vec<_> = releases.iter().map(|release| (release.sampling().rate, release.level())).collect();
    let total = match releases.as_slice() {
        [] => None,
        [one] => Some(Amount::from_epsilon(one.epsilon())),
        _ if mixed => None,
        _ => Epsilon::new((loss_under_one_key(&levels) * f64::from(items)).next_up()).ok().map(Amount::from_epsilon),
    };
    let facts = SampleFacts {
        rate: first.sampling().rate.get(),
        epsilon: releases.iter().map(|release| Amount::from_epsilon(release.epsilon())).max(),
        epsilon_total: total,
        epsilon_if_key_known: releases.iter().map(|release| release.epsilon_if_key_known()).reduce(f64::max),
        units,
        sketches: if first.is_raw() { samples.len() } else { releases.len() },
    };
    Ok(Answer::of_samples(first.kind(), estimate, facts))
}
