//! Running the trials of one setting.

use std::error::Error;

use cardinality_estimators::Confidence;

use super::model::Model;
use super::sample::Sample;
use super::settings::Settings;
use crate::simulate::{BATCH, Summary, Trial, repeat};

/// The confidence of the intervals whose coverage is counted.
pub(crate) const CONFIDENCE: Confidence = Confidence::P95;

/// Why a setting could not be simulated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum F0Error {
    /// The product refused the setting.
    #[error("refused: {0}")]
    Refused(#[source] Box<dyn Error + Send + Sync>),
    /// The estimators refused the setting.
    #[error("estimate: {0}")]
    Estimator(#[from] cardinality_estimators::ParamError),
    /// There is no secret sample of such settings.
    #[error("a secret sample needs {0}")]
    NoSample(&'static str),
    /// Worker threads could not be started.
    #[error("threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

impl F0Error {
    pub(crate) fn refused(error: impl Error + Send + Sync + 'static) -> Self {
        Self::Refused(Box::new(error))
    }
}

/// Runs every trial of a setting and sums them up, relative to the total weight of the items.
///
/// Every trial has its own stretch of the generator's sequence, so results do not depend on the number of threads.
///
/// # Errors
/// [`F0Error`] when the product refuses the setting, say a merge that would leave no signal.
///
/// # Examples
/// ```
/// use sketch_sim::f0::{Settings, simulate};
/// let words = "--levels 16 --cells 1024 --epsilon 4 --n 20000 --merged 2 --trials 200 --seed 7";
/// let (settings, _, _) = Settings::parse(words.split(' ').map(str::to_owned))?;
/// let summary = simulate(&settings, Some(1))?;
/// assert!((summary.rrmse() / summary.predicted_rse() - 1.0).abs() < 0.25);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn simulate(settings: &Settings, threads: Option<usize>) -> Result<Summary, F0Error> {
    let model = Model::new(settings)?;
    let truth = model.population.total();
    let plan = (settings.trials, settings.seed, threads);
    let sample = settings.rate.map(|rate| Sample::of(settings, rate)).transpose().map_err(F0Error::NoSample)?;
    let trials = repeat(
        plan,
        || vec![0; BATCH],
        |words, random| {
            let answer = match &sample {
                Some(sample) => sample.answer(&model.population, words, random)?,
                None => settings.estimator.answer(&model.draw(random)?, CONFIDENCE)?,
            };
            Ok::<_, F0Error>(Trial::new(&answer, truth))
        },
    )?;
    Ok(Summary::new(settings.to_json(), &trials, model.predicted_rse()?))
}

/// The relative standard error to expect of a setting, without any data: `√(1/J(W) − Σw²)/W` for a total weight `W`.
///
/// # Errors
/// [`F0Error`] when the product refuses the setting.
pub fn predicted(settings: &Settings) -> Result<f64, F0Error> {
    Model::new(settings)?.predicted_rse()
}

#[cfg(test)]
mod tests;
