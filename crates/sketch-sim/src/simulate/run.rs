//! Running the trials of one setting.

use cardinality_estimators::BitChannel;
use dp_noise::hazmat::InsecureTestRng;
use sfm_pcsa::{MergeError, ReleaseError, SketchShape, SubsampledMergeError, UnionError};

use super::cells::{CONFIDENCE, answer, merged_channel};
use super::counts::CountLaw;
use super::family::Family;
use super::predict;
use super::sample::Sample;
use super::settings::{Merge, Sampling, Settings};
use super::summary::Summary;
use super::trial::Trial;
use super::trials::in_parallel;
use crate::number;

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
    /// The product refused to put samples together.
    #[error("samples: {0}")]
    Samples(#[from] SubsampledMergeError),
    /// There is no secret sample of such settings.
    #[error("a secret sample needs {0}")]
    NoSample(&'static str),
    /// The estimators refused the shape, or to fit so many sketches at once.
    #[error("estimators: {0}")]
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
    if let Some(sample) = sample(settings)? {
        return sample.simulate(settings, threads);
    }
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
    if let Some(sample) = sample(settings)? {
        return sample.predicted(settings);
    }
    let channel = match settings.shape {
        SketchShape::Pcsa(shape) => merged_channel(shape, settings)?,
        SketchShape::Linear(shape) => merged_channel(shape, settings)?,
        SketchShape::Bloom(shape) => merged_channel(shape, settings)?,
        SketchShape::Legions(shape) => merged_channel(shape, settings)?,
        other => return Err(SimulationError::Shape(other)),
    };
    Ok(predict::predicted_rse(settings, channel)?)
}

/// The secret sample that the settings ask for, if they do.
fn sample(settings: &Settings) -> Result<Option<Sample>, SimulationError> {
    let Sampling::Subsampled(rate) = settings.sampling else { return Ok(None) };
    Sample::of(settings, rate).map(Some).map_err(SimulationError::NoSample)
}

fn simulate_family<S: Family>(
    shape: S,
    settings: &Settings,
    threads: Option<usize>,
) -> Result<Summary, SimulationError> {
    let channel = merged_channel(shape, settings)?;
    let predicted = predict::predicted_rse(settings, channel)?;
    let plan = (settings.trials, settings.seed, threads);
    let truth = number::to_f64(settings.n);
    let trials = match settings.sampling {
        // Of samples there are only those of `sample`.
        Sampling::Cells | Sampling::Subsampled(_) => in_parallel(
            plan,
            || shape.items(),
            |items, noise| Ok(Trial::of(&answer(shape, settings, items, noise)?, truth)),
        ),
        Sampling::Counts => {
            let law = count_law(settings, channel)?;
            let one = |(): &mut (), noise: &mut InsecureTestRng| {
                Ok(Trial::new(&law.estimate(settings.n, noise, CONFIDENCE)?, truth))
            };
            in_parallel(plan, || (), one)
        }
    }?;
    Ok(Summary::new(settings.to_json(), &trials, predicted))
}

fn count_law(settings: &Settings, channel: BitChannel) -> Result<CountLaw, SimulationError> {
    let apart = matches!(settings.merge, Merge::None | Merge::Tally | Merge::Joint);
    if settings.parties > 1 && apart && settings.epsilon.is_some() {
        return Err(SimulationError::NoCounts("a union estimated without a merge"));
    }
    let law = CountLaw::new(settings.shape, channel).ok_or(SimulationError::NoCounts("legions"))?;
    Ok(law?)
}
