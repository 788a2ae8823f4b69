//! One trial with every item, flip and coin: build, release, merge or not, estimate.

use cardinality_estimators::tally::estimate_union;
use cardinality_estimators::{BitChannel, Confidence, venn};
use dp_noise::hazmat::InsecureTestRng;
use dp_noise::{Epsilon, Permit};
use sfm_pcsa::{
    MergeError, MergeForm, PrivateBitmap, RawBitmap, ReleaseError, pattern_counts, tally_counts, union_estimate,
};
use sketch_hash::DefaultHash;

use super::family::Family;
use super::overlap::Members;
use super::run::SimulationError;
use super::settings::{Merge, Settings};
use super::trial::{Answer, Method};

/// The confidence of the intervals whose coverage is counted.
pub(super) const CONFIDENCE: Confidence = Confidence::P95;

/// The answer to fresh items and fresh noise.
pub(super) fn answer<S: Family>(
    shape: S,
    settings: &Settings,
    items: &mut S::Items,
    noise: &mut InsecureTestRng,
) -> Result<Answer, SimulationError> {
    let raw = build(shape, settings, items, noise)?;
    match settings.epsilon {
        None => Ok(merge_raw(raw)?.estimate(CONFIDENCE).into()),
        Some(epsilon) => estimate(settings, &release(settings, epsilon, raw, noise)?, noise),
    }
}

/// The parties' raw sketches, with fresh items. Items that several sets hold are thrown once.
pub(crate) fn build<S: Family>(
    shape: S,
    settings: &Settings,
    items: &mut S::Items,
    noise: &mut InsecureTestRng,
) -> Result<Vec<RawBitmap<S>>, MergeError> {
    let throw = |sketch: &mut RawBitmap<S>, n| {
        S::draw(items, n, noise, |hashes| sketch.update_hashes(hashes));
        Ok(())
    };
    build_by(&RawBitmap::new(shape, DefaultHash::default()), settings, throw, RawBitmap::merge)
}

/// The same for sketches of any kind: `throw` puts so many fresh items into one, `merge` all of a second one's.
pub(super) fn build_by<T: Clone, E>(
    empty: &T,
    settings: &Settings,
    mut throw: impl FnMut(&mut T, u64) -> Result<(), E>,
    merge: impl Fn(&mut T, &T) -> Result<(), E>,
) -> Result<Vec<T>, E> {
    let mut sketches = vec![empty.clone(); settings.parties as usize];
    for region in settings.overlap.regions(settings.n, settings.parties) {
        let members = (0..).zip(&mut sketches).filter(|(party, _)| region.members.holds(*party));
        if let Members::Row(row) = &region.members
            && row.len() == 1
        {
            for (_, sketch) in members {
                throw(sketch, region.items)?;
            }
        } else if region.items > 0 {
            let mut part = empty.clone();
            throw(&mut part, region.items)?;
            for (_, sketch) in members {
                merge(sketch, &part)?;
            }
        }
    }
    Ok(sketches)
}

pub(crate) fn release<S: Family>(
    settings: &Settings,
    epsilon: Epsilon,
    raw: Vec<RawBitmap<S>>,
    noise: &mut InsecureTestRng,
) -> Result<Vec<PrivateBitmap<S>>, ReleaseError> {
    raw.into_iter()
        .map(|sketch| match settings.merge {
            Merge::Xor => sketch.release_xor_family(Permit::standalone(epsilon), noise),
            Merge::Extremal | Merge::Symmetric | Merge::None | Merge::Tally | Merge::Joint => {
                sketch.release(Permit::standalone(epsilon), noise)
            }
        })
        .collect()
}

fn estimate<S: Family>(
    settings: &Settings,
    releases: &[PrivateBitmap<S>],
    noise: &mut InsecureTestRng,
) -> Result<Answer, SimulationError> {
    let all: Vec<&PrivateBitmap<S>> = releases.iter().collect();
    match (settings.merge, all.as_slice()) {
        (Merge::Tally, all) => {
            let (counts, sizes) = tally_counts(all)?;
            let union = estimate_union(&counts, sizes.as_ref(), CONFIDENCE)?;
            let method = Method { name: union.method().as_str(), weight: Some(union.shared_weight()) };
            Ok(Answer { estimate: union.estimate(), method: Some(method) })
        }
        (Merge::Joint, all) => {
            let union = venn::fit(&pattern_counts(all)?)?.union(CONFIDENCE);
            Ok(Answer { estimate: union, method: Some(Method { name: "joint", weight: None }) })
        }
        (Merge::None, [only]) => Ok(only.estimate(CONFIDENCE).into()),
        (Merge::None, several) => Ok(union_estimate(several, CONFIDENCE)?.into()),
        (Merge::Extremal, all) => merged(all, MergeForm::Extremal, noise),
        (Merge::Symmetric, all) => merged(all, MergeForm::Symmetric, noise),
        (Merge::Xor, all) => merged(all, MergeForm::Xor, noise),
    }
}

fn merged<S: Family>(
    all: &[&PrivateBitmap<S>],
    form: MergeForm,
    noise: &mut InsecureTestRng,
) -> Result<Answer, SimulationError> {
    Ok(PrivateBitmap::merge_all(all, form, noise)?.estimate(CONFIDENCE).into())
}

/// The union of raw sketches.
fn merge_raw<S: Family>(raw: Vec<RawBitmap<S>>) -> Result<RawBitmap<S>, MergeError> {
    let mut sketches = raw.into_iter();
    let mut union = sketches.next().ok_or(MergeError::Empty)?;
    for sketch in sketches {
        union.merge(&sketch)?;
    }
    Ok(union)
}

/// The channel of what is estimated from: of the merge, or of one release where nothing is merged. It does not depend
/// on the data, so empty sketches tell it.
pub(super) fn merged_channel<S: Family>(shape: S, settings: &Settings) -> Result<BitChannel, SimulationError> {
    let Some(epsilon) = settings.epsilon else { return Ok(BitChannel::NOISELESS) };
    let noise = &mut InsecureTestRng::from_u64(settings.seed);
    let raw = vec![RawBitmap::new(shape, DefaultHash::default()); settings.parties as usize];
    let releases = release(settings, epsilon, raw, noise)?;
    let all: Vec<&PrivateBitmap<S>> = releases.iter().collect();
    let form = match settings.merge {
        Merge::Extremal => MergeForm::Extremal,
        Merge::Symmetric => MergeForm::Symmetric,
        Merge::Xor => MergeForm::Xor,
        Merge::None | Merge::Tally | Merge::Joint => {
            return Ok(releases.first().map_or(BitChannel::NOISELESS, PrivateBitmap::channel));
        }
    };
    Ok(PrivateBitmap::merge_all(&all, form, noise)?.channel())
}
