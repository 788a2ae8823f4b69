//! Answers about all data together.

use cardinality_estimators::tally::{TallyEstimate, estimate_union};
use cardinality_estimators::{Confidence, Estimate, LastLevel, ParamError};
use sfm_pcsa::{BitmapShape, Leaf, PcsaShape, PrivateBitmap, UnionError, tally_counts, union_estimate};

use crate::answer::Answer;
use crate::any::{AnySketch, Family, for_family};
use crate::error::{Error, ErrorKind};
use crate::error_parts::{ErrorParts, error_parts};
use crate::f0::estimate_f0;
use crate::joint::Joint;
use crate::merge::{OfOneState, Sort, check_compatible, f0_state, merge_raw, of_one_state, one_sort};
use crate::method::Method;
use crate::subsampled::estimate_samples;
use crate::tally::{has_tally, tally_of_all};

/// Sketches whose union is answered by the joint likelihood; of more, the tally is as accurate or better.
const JOINT_UNION: usize = 3;

/// What is said of releases that could be a thinned tally, and are answered by the product statistic.
const THIN: &str = "noise levels differ too much for a tally of the releases; of many files `dpsketch merge --tally --thin` may answer better";

/// How many distinct items are in the union of the data behind these named sketches.
///
/// F0 sketches of mode `set` are the exception: several of them tell of their **symmetric difference**, which is the union of
/// disjoint sets only ([`Answer::whole`] says so); for the union of two see [`estimate_formula`](crate::estimate_formula).
///
/// One private sketch is estimated by the likelihood of its bits, two or three by the joint likelihood of all regions of
/// their sets, more by the [tally](crate::tally()) of them: how many hold a one, cell by cell. More than three
/// sketches of more than two noise levels are answered by the product statistic, and [`Answer::note`] tells when a thinned tally may do
/// better. [`Answer::method`] says which it was. None
/// of these draws coins, so that asking twice gives the same answer. Raw sketches are merged first, and the answer has
/// **no** privacy.
///
/// # Errors
/// [`ErrorKind::Incompatible`](crate::ErrorKind::Incompatible) when the sketches cannot be put together, such as a tally and
/// a merged sketch, and for a tally of more than two noise levels.
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
    if one_sort(sketches)? == Sort::Samples && last_level == LastLevel::Exact {
        return estimate_samples(sketches, confidence);
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
            Ok(of_private(&[one], estimate, Method::Likelihood))
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
    if has_tally(sketches) {
        return of_tally(sketches, confidence);
    }
    for_family!(sketches, estimate_of(sketches, confidence))
}

fn estimate_of<S: Family>(sketches: &[(String, AnySketch)], confidence: Confidence) -> Result<Answer, Error> {
    match of_one_state::<S>(sketches)? {
        OfOneState::Private(private) => {
            let (estimate, method) = union_of(&private, confidence)?;
            Ok(of_private(&private, estimate, method))
        }
        OfOneState::Raw(raws) => Ok(of_raw_with_parts::<S>(raws.len(), merge_raw(&raws)?.estimate(confidence))),
    }
}

fn union_of<S: Family>(sketches: &[&PrivateBitmap<S>], confidence: Confidence) -> Result<(Estimate, Method), Error> {
    if let [one] = sketches {
        return Ok((one.estimate(confidence), Method::Likelihood));
    }
    if sketches.len() <= JOINT_UNION {
        let joint = Joint::of(sketches)?;
        return Ok((joint.union(confidence), joint.method()));
    }
    match tally_counts(sketches) {
        Ok((counts, sizes)) => {
            let found = estimate_union(&counts, sizes.as_ref(), confidence)?;
            Ok((found.estimate(), of_estimate(&found, counts.sketches())))
        }
        // Too many noise levels to be counted together.
        Err(UnionError::Estimate(ParamError::Classes { .. } | ParamError::States { .. })) => {
            Ok((union_estimate(sketches, confidence)?, Method::Product))
        }
        Err(error) => Err(error.into()),
    }
}

/// Of tallies, with single releases among them.
fn of_tally(sketches: &[(String, AnySketch)], confidence: Confidence) -> Result<Answer, Error> {
    let tally = tally_of_all(sketches)?;
    let found = tally.estimate(confidence)?;
    let releases: Vec<&Leaf> = tally.releases().collect();
    let method = of_estimate(&found, releases.len());
    Ok(Answer::of_releases(PcsaShape::KIND, &releases, found.estimate()).found_by(method))
}

fn of_estimate(found: &TallyEstimate, sketches: usize) -> Method {
    Method::Tally { sketches, law: found.method(), shared_weight: found.shared_weight() }
}

fn of_private<S: Family>(sketches: &[&PrivateBitmap<S>], estimate: Estimate, method: Method) -> Answer {
    let leaves = leaves_of(sketches);
    // The error of an answer from all sketches at once may be less than that of one of them, which then is no part of it.
    let parts = match (sketches, method) {
        ([first, ..], Method::Likelihood | Method::Product) => error_parts(first, leaves.iter().copied(), &estimate),
        _ => None,
    };
    let single = S::KIND == PcsaShape::KIND && leaves.len() == sketches.len();
    let note = (method == Method::Product && single).then_some(THIN);
    Answer::of_releases(S::KIND, &leaves, estimate).found_by(method).with_parts(parts).with_note(note)
}

fn of_raw_with_parts<S: Family>(sketches: usize, estimate: Estimate) -> Answer {
    let parts = estimate.std_error().map(|hash| ErrorParts { hash, noise: 0.0, merge: 0.0 });
    Answer::of_raw(S::KIND, sketches, estimate).found_by(Method::Likelihood).with_parts(parts)
}

fn only_one(found: usize) -> Error {
    Error::new(
        ErrorKind::Parameter,
        format!("Presto's last level is for one private sfm sketch, found {found} of any kind"),
    )
    .argument("--last-level")
    .value("presto")
    .allowed("exact")
    .hint("merge the sketches first")
}

/// The releases in some sketches.
pub(crate) fn leaves_of<'a, S: BitmapShape>(sketches: &[&'a PrivateBitmap<S>]) -> Vec<&'a Leaf> {
    sketches.iter().flat_map(|sketch| sketch.leaves()).collect()
}
