//! Running the trials of one setting.

use cardinality_estimators::{BitChannel, Confidence, Estimate, Status};
use dp_noise::hazmat::InsecureTestRng;
use dp_noise::{Epsilon, Permit};
use sfm_pcsa::{
    MergeError, MergeForm, PrivateBitmap, RawBitmap, ReleaseError, SketchShape, UnionError, union_estimate,
};
use sketch_hash::DefaultHash;

use super::counts::CountLaw;
use super::family::Family;
use super::predict;
use super::settings::{Merge, Overlap, Sampling, Settings};
use super::summary::Summary;
use super::trials::in_parallel;
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
    /// The law of counts says nothing about this setting.
    #[error("counts cannot be drawn for {0}: its cells have to be")]
    NoCounts(&'static str),
    /// A shape that the simulator does not know.
    #[error("the simulator does not know {0}")]
    Shape(SketchShape),
    /// Worker threads could not be started.
    #[error("threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

/// What one trial gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Trial {
    /// `estimate/n − 1`, and −1 without an estimate.
    pub(crate) error: f64,
    pub(crate) status: Status,
    pub(crate) covered: bool,
}

impl Trial {
    /// What an answer says of the truth.
    pub(crate) fn new(answer: &Estimate, truth: f64) -> Self {
        Self {
            error: answer.value().map_or(-1.0, |value| value / truth - 1.0),
            status: answer.status(),
            covered: answer.status() != Status::NotConverged && answer.covers(truth),
        }
    }
}

/// Runs every trial of a setting and sums them up.
///
/// Every trial has its own stretch of the generator's sequence, so results do not depend on the number of threads.
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
    match settings.shape {
        SketchShape::Pcsa(shape) => simulate_family(shape, settings, threads),
        SketchShape::Linear(shape) => simulate_family(shape, settings, threads),
        SketchShape::Bloom(shape) => simulate_family(shape, settings, threads),
        SketchShape::Legions(shape) => simulate_family(shape, settings, threads),
        other => Err(SimulationError::Shape(other)),
    }
}

/// The relative standard error to expect of a setting, without any data.
///
/// # Errors
/// [`SimulationError`] when the product refuses the setting.
pub fn predicted(settings: &Settings) -> Result<f64, SimulationError> {
    let channel = match settings.shape {
        SketchShape::Pcsa(shape) => merged_channel(shape, settings)?,
        SketchShape::Linear(shape) => merged_channel(shape, settings)?,
        SketchShape::Bloom(shape) => merged_channel(shape, settings)?,
        SketchShape::Legions(shape) => merged_channel(shape, settings)?,
        other => return Err(SimulationError::Shape(other)),
    };
    Ok(predict::predicted_rse(settings, channel)?)
}

fn simulate_family<S: Family>(
    shape: S,
    settings: &Settings,
    threads: Option<usize>,
) -> Result<Summary, SimulationError> {
    let channel = merged_channel(shape, settings)?;
    let predicted = predict::predicted_rse(settings, channel)?;
    let plan = (settings.trials, settings.seed, threads);
    let trials = match settings.sampling {
        Sampling::Cells => in_parallel(
            plan,
            || shape.items(),
            |items, noise| Ok(outcome(settings, &by_cells(shape, settings, items, noise)?)),
        ),
        Sampling::Counts => {
            let law = count_law(settings, channel)?;
            let one = |(): &mut (), noise: &mut InsecureTestRng| {
                Ok(outcome(settings, &law.estimate(settings.n, noise, CONFIDENCE)?))
            };
            in_parallel(plan, || (), one)
        }
    }?;
    Ok(Summary::new(settings.to_json(), &trials, predicted))
}

fn count_law(settings: &Settings, channel: BitChannel) -> Result<CountLaw, SimulationError> {
    if settings.parties > 1 && settings.merge == Merge::None && settings.epsilon.is_some() {
        return Err(SimulationError::NoCounts("a union estimated without a merge"));
    }
    let law = CountLaw::new(settings.shape, channel).ok_or(SimulationError::NoCounts("legions"))?;
    Ok(law?)
}

fn outcome(settings: &Settings, answer: &Estimate) -> Trial {
    Trial::new(answer, number::to_f64(settings.n))
}

fn by_cells<S: Family>(
    shape: S,
    settings: &Settings,
    items: &mut S::Items,
    noise: &mut InsecureTestRng,
) -> Result<Estimate, SimulationError> {
    let raw = build(shape, settings, items, noise);
    match settings.epsilon {
        None => Ok(merge_raw(raw)?.estimate(CONFIDENCE)),
        Some(epsilon) => estimate(settings, &release(settings, epsilon, raw, noise)?, noise),
    }
}

/// The parties' raw sketches, with fresh items.
fn build<S: Family>(
    shape: S,
    settings: &Settings,
    items: &mut S::Items,
    noise: &mut InsecureTestRng,
) -> Vec<RawBitmap<S>> {
    let mut common = RawBitmap::new(shape, DefaultHash::default());
    S::draw(items, settings.split(0).0, noise, |hashes| common.update_hashes(hashes));
    if settings.overlap == Overlap::Same {
        return vec![common; settings.parties as usize];
    }
    (0..settings.parties)
        .map(|party| {
            let mut sketch = common.clone();
            S::draw(items, settings.split(party).1, noise, |hashes| sketch.update_hashes(hashes));
            sketch
        })
        .collect()
}

fn release<S: Family>(
    settings: &Settings,
    epsilon: Epsilon,
    raw: Vec<RawBitmap<S>>,
    noise: &mut InsecureTestRng,
) -> Result<Vec<PrivateBitmap<S>>, ReleaseError> {
    raw.into_iter()
        .map(|sketch| match settings.merge {
            Merge::Xor => sketch.release_xor_family(Permit::standalone(epsilon), noise),
            Merge::Extremal | Merge::Symmetric | Merge::None => sketch.release(Permit::standalone(epsilon), noise),
        })
        .collect()
}

fn estimate<S: Family>(
    settings: &Settings,
    releases: &[PrivateBitmap<S>],
    noise: &mut InsecureTestRng,
) -> Result<Estimate, SimulationError> {
    let all: Vec<&PrivateBitmap<S>> = releases.iter().collect();
    match merge_form(settings.merge) {
        Some(form) => Ok(PrivateBitmap::merge_all(&all, form, noise)?.estimate(CONFIDENCE)),
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
fn merged_channel<S: Family>(shape: S, settings: &Settings) -> Result<BitChannel, SimulationError> {
    let Some(epsilon) = settings.epsilon else { return Ok(BitChannel::NOISELESS) };
    let noise = &mut InsecureTestRng::from_u64(settings.seed);
    let raw = vec![RawBitmap::new(shape, DefaultHash::default()); settings.parties as usize];
    let releases = release(settings, epsilon, raw, noise)?;
    let all: Vec<&PrivateBitmap<S>> = releases.iter().collect();
    match merge_form(settings.merge) {
        Some(form) => Ok(PrivateBitmap::merge_all(&all, form, noise)?.channel()),
        None => Ok(releases.first().map_or(BitChannel::NOISELESS, PrivateBitmap::channel)),
    }
}
