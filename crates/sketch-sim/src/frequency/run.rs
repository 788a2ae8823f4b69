//! Running the releases of one setting.

use std::error::Error;

use cardinality_estimators::{Confidence, Estimate};
use countsketch_dp::theory::DomainError;
use countsketch_dp::{
    ContributionBound, CountSketch, CountSketchShape, DecodeOptions, DenseVector, IntervalMethod, PrivateCountSketch,
    PrivateUnsignedSketch, QueryOptions, TotalWeight, UnsignedSketch,
};
use dp_noise::hazmat::InsecureTestRng;
use dp_noise::rand_core::Rng;
use dp_noise::{Permit, Rho};
use sketch_hash::{DefaultHash, HashKey, Item};

use super::Answers;
use super::data::{Population, records_together};
use super::estimator::{Baseline, Estimator};
use super::settings::Settings;
use super::summary::Summary;
use crate::number;
use crate::simulate::repeat;

/// The confidence of the intervals whose coverage is counted.
const CONFIDENCE: Confidence = Confidence::P95;

/// Why a setting could not be simulated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FrequencyError {
    /// The product refused the setting.
    #[error("refused: {0}")]
    Refused(#[source] Box<dyn Error + Send + Sync>),
    /// Worker threads could not be started.
    #[error("threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

impl From<DomainError> for FrequencyError {
    fn from(error: DomainError) -> Self {
        Self::refused(error)
    }
}

impl FrequencyError {
    pub(crate) fn refused(error: impl Error + Send + Sync + 'static) -> Self {
        Self::Refused(Box::new(error))
    }
}

/// Runs every release of a setting and sums them up.
///
/// Every release has a hash key of its own and its own stretch of the generator's sequence, so results do not depend on
/// the number of threads.
///
/// # Errors
/// [`FrequencyError`] when the product refuses the setting.
///
/// # Examples
/// ```
/// use sketch_sim::frequency::{Settings, simulate};
/// let words = "--rows 5 --width 4096 --rho 0.5 --vector sparse --t 3 --d 1000 --queries 500 --trials 4";
/// let (settings, _, _) = Settings::parse(words.split(' ').map(str::to_owned))?;
/// let summary = simulate(&settings, Some(1))?;
/// // The median of five normals of variance 5: a mean error of 0.94, whatever their number.
/// assert!((summary.mean_abs_error() - 0.94).abs() < 0.15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn simulate(settings: &Settings, threads: Option<usize>) -> Result<Summary, FrequencyError> {
    let population = Population::new(settings);
    let plan = (settings.trials, settings.seed, threads);
    let trials = repeat(plan, || (), |(), noise| answers(settings, &population, noise))?;
    Ok(Summary::new(settings, &trials))
}

/// The sizes of all errors, release by release.
pub(crate) fn absolute_errors(settings: &Settings, threads: Option<usize>) -> Result<Vec<f64>, FrequencyError> {
    let population = Population::new(settings);
    let plan = (settings.trials, settings.seed, threads);
    let trials = repeat(plan, || (), |(), noise| answers(settings, &population, noise))?;
    Ok(trials.iter().flat_map(|trial| &trial.errors).map(|error| error.abs()).collect())
}

fn answers(
    settings: &Settings,
    population: &Population,
    noise: &mut InsecureTestRng,
) -> Result<Answers, FrequencyError> {
    let hash = hash_from(noise);
    let keys: Vec<u64> = population.queries.iter().map(|&item| Item::from(item).hash64(&hash)).collect();
    let estimates = match settings.baseline {
        None => {
            let sketch = private_sketch(settings.shape, settings.rho, &population.updates, &hash, noise)?;
            by_sketch(settings, &sketch, &hash, &keys)?
        }
        Some(Baseline::Gaussian) => by_vector(settings, population, noise)?,
        Some(baseline) => {
            let sketch = unsigned_sketch(settings, population, &hash, noise)?;
            let total = TotalWeight::public(population.total()).map_err(FrequencyError::refused)?;
            let answer = |&key: &u64| match baseline {
                Baseline::CountMin => sketch.count_min(key, total, CONFIDENCE),
                Baseline::CountMean | Baseline::Gaussian => sketch.count_mean(key, total, CONFIDENCE),
            };
            keys.iter().map(answer).collect::<Result<_, _>>().map_err(FrequencyError::refused)?
        }
    };
    Ok(Answers::new(population, &estimates))
}

/// The answers of one sketch for these keys.
fn by_sketch(
    settings: &Settings,
    sketch: &PrivateCountSketch,
    hash: &DefaultHash,
    keys: &[u64],
) -> Result<Vec<Estimate>, FrequencyError> {
    let options = QueryOptions::default().interval(IntervalMethod::Bucket).confidence(CONFIDENCE);
    let answers = match settings.estimator {
        Estimator::Rows(combiner) => sketch.frequencies(options.combiner(combiner))?.estimate_all(keys),
        Estimator::Law => sketch.law_frequencies(options)?.estimate_all(keys),
        Estimator::Decode(threshold) => {
            let candidates: Vec<u64> =
                (0..u64::from(settings.data.items())).map(|item| Item::from(item).hash64(hash)).collect();
            let decoded = sketch.decode(&candidates, DecodeOptions::from(threshold).confidence(CONFIDENCE))?;
            let answers = keys.iter().filter_map(|&key| decoded.estimate(key).transpose());
            answers.collect::<Result<Vec<Estimate>, _>>()
        }
    };
    Ok(answers?)
}

impl Answers {
    /// The answers to a population's queries, in order.
    pub(crate) fn new(population: &Population, estimates: &[Estimate]) -> Self {
        let mut answers = Self::default();
        let mut widths = Vec::new();
        for (&item, estimate) in population.queries.iter().zip(estimates) {
            let truth = population.frequency(item);
            answers.errors.push(estimate.value().unwrap_or(0.0) - truth);
            answers.covered += u32::from(estimate.covers(truth));
            widths.extend(estimate.lower().zip(estimate.upper()).map(|(lower, upper)| 0.5 * (upper - lower)));
        }
        answers.half_width = (!widths.is_empty()).then(|| widths.iter().sum::<f64>() / number::length(widths.len()));
        answers
    }
}

/// A fresh public key.
pub(crate) fn hash_from(noise: &mut InsecureTestRng) -> DefaultHash {
    let mut key = [0; 16];
    let (low, high) = key.split_at_mut(8);
    low.copy_from_slice(&noise.next_u64().to_le_bytes());
    high.copy_from_slice(&noise.next_u64().to_le_bytes());
    DefaultHash::new(HashKey::from_bytes(key))
}

/// The bound on updates that stand for several records of weight 1, and the level that gives the noise of those.
fn bound_and_permit(rho: Rho) -> Result<(ContributionBound, Permit<Rho>), FrequencyError> {
    let together = records_together(rho.get());
    let bound = ContributionBound::entry(together).map_err(FrequencyError::refused)?;
    let level = Rho::new(rho.get() * number::to_f64(together * together)).map_err(FrequencyError::refused)?;
    Ok((bound, Permit::standalone(level)))
}

/// A release of updates with the noise of records of weight 1, `σ² = k/(2ρ)`.
pub(crate) fn private_sketch(
    shape: CountSketchShape,
    rho: Rho,
    updates: &[(u64, i64)],
    hash: &DefaultHash,
    noise: &mut InsecureTestRng,
) -> Result<PrivateCountSketch, FrequencyError> {
    let (bound, permit) = bound_and_permit(rho)?;
    let (keys, weights): (Vec<u64>, Vec<i64>) =
        updates.iter().map(|&(item, weight)| (Item::from(item).hash64(hash), weight)).unzip();
    let mut raw = CountSketch::new(shape, hash.clone(), bound);
    raw.update_weighted_hashes(&keys, &weights).map_err(FrequencyError::refused)?;
    raw.release(permit, noise).map_err(FrequencyError::refused)
}

fn unsigned_sketch(
    settings: &Settings,
    population: &Population,
    hash: &DefaultHash,
    noise: &mut InsecureTestRng,
) -> Result<PrivateUnsignedSketch, FrequencyError> {
    let (bound, permit) = bound_and_permit(settings.rho)?;
    let mut raw = UnsignedSketch::new(settings.shape, hash.clone(), bound).map_err(FrequencyError::refused)?;
    for &(item, weight) in &population.updates {
        raw.update_u64(item, weight).map_err(FrequencyError::refused)?;
    }
    raw.release(permit, noise).map_err(FrequencyError::refused)
}

fn by_vector(
    settings: &Settings,
    population: &Population,
    noise: &mut InsecureTestRng,
) -> Result<Vec<Estimate>, FrequencyError> {
    let (bound, permit) = bound_and_permit(settings.rho)?;
    let mut raw = DenseVector::new(settings.data.items(), bound).map_err(FrequencyError::refused)?;
    for &(item, weight) in &population.updates {
        raw.update(item, weight).map_err(FrequencyError::refused)?;
    }
    let private = raw.release(permit, noise).map_err(FrequencyError::refused)?;
    let answers = population.queries.iter().map(|&item| private.estimate(item, CONFIDENCE));
    answers.collect::<Result<_, _>>().map_err(FrequencyError::refused)
}
