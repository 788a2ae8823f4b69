//! A setting made ready: the law of its counts, its truth, and the product's estimators of it.

use cardinality_estimators::parity::{
    IntervalIntersection, ItemWeights, ParityCounts, ParityErrors, ParityLayout, ParityModel, Radius, parity_estimate,
};
use cardinality_estimators::{Confidence, Estimate};
use dp_noise::hazmat::InsecureTestRng;
use dp_noise::rand_core::Rng;
use dp_noise::{Epsilon, Permit, SampleRate};
use f0_sketch::{F0Shape, F0Sketch, Mode, ModeKind, Presampled, PrivateF0Sketch, Set, Unit, WeightRule};
use sketch_hash::DefaultHash;

use super::law::ParityLaw;
use super::population::Population;
use super::run::F0Error;
use super::sample::Sample;
use super::settings::{Estimator, Settings, Weights};

/// A setting whose counts can be drawn and estimated from.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    law: ParityLaw,
    pub(crate) population: Population,
    layout: ParityLayout,
    parity: ParityModel,
    weights: ItemWeights,
    contrast: f64,
    /// The share of the items that is kept.
    share: f64,
}

impl Model {
    pub(crate) fn new(settings: &Settings) -> Result<Self, F0Error> {
        let contrast = match (settings.rate, settings.mode) {
            (Some(rate), _) => Sample::of(settings, rate).map_err(F0Error::NoSample)?.contrast(settings.seed)?,
            (None, ModeKind::Set) => contrast::<Set>(settings)?,
            (None, ModeKind::Presampled) => contrast::<Presampled>(settings)?,
        };
        let presampled = settings.mode == ModeKind::Presampled;
        let law = ParityLaw {
            levels: settings.levels,
            cells: u64::from(settings.cells),
            presampled,
            flips: (1.0 - contrast) / 2.0,
        };
        Ok(Self {
            law,
            population: Population::new(settings.weights, settings.n).map_err(F0Error::refused)?,
            layout: ParityLayout::regular(settings.levels, settings.cells)?,
            parity: if presampled { ParityModel::Presampled } else { ParityModel::Set },
            weights: if settings.weights == Weights::Unit { ItemWeights::Unit } else { ItemWeights::Weighted },
            contrast,
            share: settings.rate.map_or(1.0, SampleRate::get),
        })
    }

    /// The contrast of the noise in the merge.
    pub(crate) const fn contrast(&self) -> f64 {
        self.contrast
    }

    /// The errors to expect.
    pub(crate) fn errors(&self) -> Result<ParityErrors, F0Error> {
        Ok(ParityErrors::new(&self.layout, self.parity, self.contrast)?)
    }

    /// The relative standard error to expect, `√(1/J(W) − Σw²)/W` for a total weight `W`, bent as the product expects it of
    /// the error of a count of `W`: it is not the same at all counts that the noise may take the answer to. The bend is
    /// 0.2 % of an error of 5 %, and 10 % of one of a third. Of a secret sample at the rate γ it is that of `γW`, by the root of the
    /// sum of squares with that of the sample, `√(Σw²(1−γ)/γ)/W`.
    pub(crate) fn predicted_rse(&self) -> Result<f64, F0Error> {
        let (total, squares) = (self.share * self.population.total(), self.share * self.population.squares());
        let errors = self.errors()?;
        let straight = errors.std_error_weighted(total, squares) / total;
        let bend = errors.expected_rse(total) / errors.rse(total);
        let kept = if bend.is_finite() { straight * bend } else { straight };
        Ok(kept.hypot((squares * (1.0 - self.share)).sqrt() / total))
    }

    /// The counts of one sketch.
    pub(crate) fn draw<R: Rng>(&self, random: &mut R) -> Result<ParityCounts, F0Error> {
        self.counts(&self.law.draw(self.population.keep(random), random))
    }

    /// These counts as the estimators read them.
    pub(super) fn counts(&self, ones: &[u64]) -> Result<ParityCounts, F0Error> {
        Ok(ParityCounts::new(&self.layout, self.parity, self.weights, ones, self.contrast)?)
    }
}

impl Estimator {
    /// The answer from counts.
    pub(crate) fn answer(self, counts: &ParityCounts, confidence: Confidence) -> Result<Estimate, F0Error> {
        match self {
            Self::Mle => Ok(parity_estimate(counts, confidence)),
            Self::Interval => {
                let levels = u8::try_from(counts.tables().len()).unwrap_or(u8::MAX);
                Ok(IntervalIntersection::new(counts, Radius::of_paper(levels))?.estimate())
            }
        }
    }
}

/// The contrast that the product states of a merge. It depends on neither data nor shape, so small empty sketches tell it.
fn contrast<M: Mode>(settings: &Settings) -> Result<f64, F0Error> {
    let Some(epsilon) = settings.epsilon else { return Ok(1.0) };
    let noise = &mut InsecureTestRng::from_u64(settings.seed);
    let shape = F0Shape::new(1, 64).map_err(F0Error::refused)?;
    let one = || F0Sketch::<M>::new(shape.clone(), WeightRule::Unit, DefaultHash::default());
    let release = |_| released(one(), settings, epsilon, noise);
    let releases = (0..settings.merged).map(release).collect::<Result<Vec<_>, F0Error>>()?;
    let all: Vec<&PrivateF0Sketch<M>> = releases.iter().collect();
    Ok(PrivateF0Sketch::merge_all(&all).map_err(F0Error::refused)?.contrast())
}

/// A release of one sketch of a setting.
pub(super) fn released<M: Mode>(
    sketch: F0Sketch<M>,
    settings: &Settings,
    epsilon: Epsilon,
    noise: &mut InsecureTestRng,
) -> Result<PrivateF0Sketch<M>, F0Error> {
    sketch.release_with(settings.noise, Unit::Item, Permit::standalone(epsilon), noise).map_err(F0Error::refused)
}
