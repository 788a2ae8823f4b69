//! Running the trials of one setting.

use cardinality_estimators::{BitChannel, Confidence, Estimate, Status};
use dp_noise::hazmat::InsecureTestRng;
use dp_noise::{Epsilon, Permit};
use rayon::prelude::*;
use sfm_pcsa::{MergeError, MergeForm, PcsaSketch, ReleaseError, SfmSketch, UnionError, union_estimate};
use sketch_hash::DefaultHash;

use super::placement::Placement;
use super::predict;
use super::settings::{Merge, Overlap, Settings};
use super::summary::Summary;
use crate::number;

/// The confidence of the intervals whose coverage is counted.
const CONFIDENCE: Confidence = Confidence::P95;

/// Why a setting could not be simulated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SimulationError {
    /// The product refused to release.
    #[error("release: {0}")]
    Release(#[from] ReleaseError),
    /// The product refused to merge.
    #[error("merge: {0}")]
    Merge(#[from] MergeError),
    /// The product refused to estimate a union.
    #[error("union: {0}")]
    Union(#[from] UnionError),
    /// The estimators refused the shape.
    #[error("prediction: {0}")]
    Estimator(#[from] cardinality_estimators::ParamError),
    /// Worker threads could not be started.
    #[error("threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

/// What one trial gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Trial {
    /// `estimate/n − 1`, and −1 without an estimate.
    pub(super) error: f64,
    pub(super) status: Status,
    pub(super) covered: bool,
}

/// Runs every trial of a setting and sums them up.
///
/// Trial `t` draws from the generator of the seed after `t` jumps, so results do not depend on the number of threads.
///
/// # Errors
/// [`SimulationError`] when the product refuses the setting, say a merge that would leave no signal.
///
/// # Examples
/// ```
/// use sketch_sim::simulate::{Settings, simulate};
/// let words = "--buckets 256 --levels 16 --epsilon 4 --n 5000 --trials 100 --seed 7";
/// let (settings, _, _) = Settings::parse(words.split(' ').map(str::to_owned))?;
/// let summary = simulate(&settings, Some(1))?;
/// assert!((summary.rrmse() / summary.predicted_rse() - 1.0).abs() < 0.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn simulate(settings: &Settings, threads: Option<usize>) -> Result<Summary, SimulationError> {
    let mut next = InsecureTestRng::from_u64(settings.seed);
    let predicted = predict::predicted_rse(settings, merged_channel(settings, &mut next.clone())?)?;
    let generators: Vec<InsecureTestRng> = (0..settings.trials)
        .map(|_| {
            next.jump();
            next.clone()
        })
        .collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build()?;
    let trials: Result<Vec<Trial>, SimulationError> = pool.install(|| {
        generators
            .into_par_iter()
            .map_init(|| Placement::new(settings.shape), |placement, mut noise| trial(settings, placement, &mut noise))
            .collect()
    });
    Ok(Summary::new(settings, &trials?, predicted))
}

fn trial(
    settings: &Settings,
    placement: &mut Placement,
    noise: &mut InsecureTestRng,
) -> Result<Trial, SimulationError> {
    let raw = build(settings, placement, noise);
    let answer = match settings.epsilon {
        None => merge_raw(raw)?.estimate(CONFIDENCE),
        Some(epsilon) => estimate(settings, &release(settings, epsilon, raw, noise)?, noise)?,
    };
    let n = number::to_f64(settings.n);
    Ok(Trial {
        error: answer.value().map_or(-1.0, |value| value / n - 1.0),
        status: answer.status(),
        covered: answer.status() != Status::NotConverged && answer.covers(n),
    })
}

/// The parties' raw sketches, with fresh items.
fn build(settings: &Settings, placement: &mut Placement, noise: &mut InsecureTestRng) -> Vec<PcsaSketch> {
    let mut common = PcsaSketch::new(settings.shape, DefaultHash::default());
    placement.place(settings.split(0).0, noise, |hashes| common.update_hashes(hashes));
    if settings.overlap == Overlap::Same {
        return vec![common; settings.parties as usize];
    }
    (0..settings.parties)
        .map(|party| {
            let mut sketch = common.clone();
            placement.place(settings.split(party).1, noise, |hashes| sketch.update_hashes(hashes));
            sketch
        })
        .collect()
}

fn release(
    settings: &Settings,
    epsilon: Epsilon,
    raw: Vec<PcsaSketch>,
    noise: &mut InsecureTestRng,
) -> Result<Vec<SfmSketch>, ReleaseError> {
    raw.into_iter()
        .map(|sketch| match settings.merge {
            Merge::Xor => sketch.release_xor_family(Permit::standalone(epsilon), noise),
            Merge::Extremal | Merge::Symmetric | Merge::None => sketch.release(Permit::standalone(epsilon), noise),
        })
        .collect()
}

fn estimate(
    settings: &Settings,
    releases: &[SfmSketch],
    noise: &mut InsecureTestRng,
) -> Result<Estimate, SimulationError> {
    let all: Vec<&SfmSketch> = releases.iter().collect();
    match merge_form(settings.merge) {
        Some(form) => Ok(SfmSketch::merge_all(&all, form, noise)?.estimate(CONFIDENCE)),
        None => match all.as_slice() {
            [only] => Ok(only.estimate(CONFIDENCE)),
            several => Ok(union_estimate(several, CONFIDENCE)?),
        },
    }
}

const fn merge_form(merge: Merge) -> Option<MergeForm> {
    match merge {
        Merge::Extremal => Some(MergeForm::Extremal),
        Merge::Symmetric => Some(MergeForm::Symmetric),
        Merge::Xor => Some(MergeForm::Xor),
        Merge::None => None,
    }
}

/// The union of raw sketches.
fn merge_raw(raw: Vec<PcsaSketch>) -> Result<PcsaSketch, MergeError> {
    let mut sketches = raw.into_iter();
    let mut union = sketches.next().ok_or(MergeError::Empty)?;
    for sketch in sketches {
        union.merge(&sketch)?;
    }
    Ok(union)
}

/// The channel of what is estimated from: of the merge, or of one release where nothing is merged. It does not depend
/// on the data, so empty sketches tell it.
fn merged_channel(settings: &Settings, noise: &mut InsecureTestRng) -> Result<BitChannel, SimulationError> {
    let Some(epsilon) = settings.epsilon else { return Ok(BitChannel::NOISELESS) };
    let empty = PcsaSketch::new(settings.shape, DefaultHash::default());
    let raw = vec![empty; settings.parties as usize];
    let releases = release(settings, epsilon, raw, noise)?;
    let all: Vec<&SfmSketch> = releases.iter().collect();
    match merge_form(settings.merge) {
        Some(form) => Ok(SfmSketch::merge_all(&all, form, noise)?.channel()),
        None => Ok(releases.first().map_or(BitChannel::NOISELESS, SfmSketch::channel)),
    }
}
