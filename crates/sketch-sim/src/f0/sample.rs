//! Secret samples of parity sketches: a trial with a key of its own, every item, every coin of the key and every flip.

use cardinality_estimators::Estimate;
use dp_noise::hazmat::InsecureTestRng;
use dp_noise::rand_core::Rng;
use dp_noise::{Epsilon, Permit, SampleRate, SubsampleKey, Subsampler};
use f0_sketch::{F0Shape, MaxWeight, ModeKind, NoiseRule, RawSubsampledF0, SubsampledF0Sketch, WeightRule};
use sketch_hash::DefaultHash;

use super::population::Population;
use super::run::{CONFIDENCE, F0Error};
use super::settings::{Estimator, Settings, Weights};
use crate::simulate::{MAX_ITEMS, hashes};

/// Settings that samples can be drawn of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    levels: u8,
    cells: u32,
    weighted: bool,
    rate: SampleRate,
    epsilon: Epsilon,
    merged: u32,
}

impl Sample {
    /// Or else in words what the settings would have to be.
    pub(super) fn of(settings: &Settings, rate: SampleRate) -> Result<Self, &'static str> {
        let epsilon = settings.epsilon.ok_or("a number for --epsilon beside it")?;
        if settings.mode != ModeKind::Set {
            return Err("--mode set beside it: the coins of presampled are others");
        }
        if settings.noise != NoiseRule::Tight {
            return Err("--noise tight beside it");
        }
        if settings.estimator != Estimator::Mle {
            return Err("--estimator mle beside it");
        }
        if settings.n > MAX_ITEMS {
            return Err("2^32 items at most");
        }
        let Settings { levels, cells, merged, .. } = *settings;
        Ok(Self { levels, cells, weighted: settings.weights != Weights::Unit, rate, epsilon, merged })
    }

    /// The contrast that the product states of a merge. It depends on neither data nor shape, so small empty sketches tell it.
    pub(super) fn contrast(self, seed: u64) -> Result<f64, F0Error> {
        let small = Self { levels: 1, cells: 64, ..self };
        let noise = &mut InsecureTestRng::from_u64(seed);
        let coins = SubsampleKey::draw(noise).sampler(self.rate);
        Ok(self.merge(small.empty(&coins)?, noise)?.sampled().contrast())
    }

    /// The answer of a merge of releases of fresh items, sampled with a fresh key.
    pub(super) fn answer(
        self,
        population: &Population,
        words: &mut [u64],
        noise: &mut InsecureTestRng,
    ) -> Result<Estimate, F0Error> {
        let coins = SubsampleKey::draw(noise).sampler(self.rate);
        let mut raw = self.empty(&coins)?;
        let all = raw.len();
        for (part, sketch) in raw.iter_mut().enumerate() {
            let mut writer = sketch.writer(&coins).map_err(F0Error::refused)?;
            // The sets take turns.
            if self.weighted {
                population.weights().skip(part).step_by(all).try_for_each(|weight| {
                    writer.toggle_hash_weighted([noise.next_u64(), noise.next_u64()], weight).map_err(F0Error::refused)
                })?;
            } else {
                let items = (population.items() + all as u64 - 1 - part as u64) / all as u64;
                hashes(words, 2 * items, noise, |batch| writer.toggle_hashes(batch.as_chunks().0));
            }
        }
        Ok(self.merge(raw, noise)?.estimate(CONFIDENCE))
    }

    fn empty(self, coins: &Subsampler) -> Result<Vec<RawSubsampledF0>, F0Error> {
        let shape = F0Shape::new(self.levels, self.cells).map_err(F0Error::refused)?;
        let rule = if self.weighted {
            WeightRule::Weighted(MaxWeight::new(1.0).map_err(F0Error::refused)?)
        } else {
            WeightRule::Unit
        };
        let one = |_| RawSubsampledF0::new(shape.clone(), rule, DefaultHash::default(), coins.sampling());
        Ok((0..self.merged).map(one).collect())
    }

    fn merge(self, raw: Vec<RawSubsampledF0>, noise: &mut InsecureTestRng) -> Result<SubsampledF0Sketch, F0Error> {
        let release =
            |one: RawSubsampledF0| one.release(Permit::standalone(self.epsilon), noise).map_err(F0Error::refused);
        let releases = raw.into_iter().map(release).collect::<Result<Vec<_>, _>>()?;
        SubsampledF0Sketch::merge_all(&releases.iter().collect::<Vec<_>>()).map_err(F0Error::refused)
    }
}
