//! Answers for all keys of a dictionary, beside the truth.

use cardinality_estimators::{Confidence, Estimate};
use countsketch_dp::theory::DomainError;
use countsketch_dp::{CountSketchShape, IntervalMethod, PrivateCountSketch, QueryOptions};
use dp_noise::Rho;
use dp_noise::hazmat::InsecureTestRng;
use sketch_hash::Item;

use super::AccuracyError;
use crate::frequency::{
    Data, Estimator, FrequencyError, Population, Settings, hash_from, mean_and_std_error, private_sketch,
};
use crate::number;

pub(super) const CONFIDENCE: Confidence = Confidence::P95;
/// Zipf data, whose keys are all asked for.
const KEYS: u32 = 100_000;
/// The heaviest keys, whose intervals are also looked at apart.
const HEAVY: usize = 500;

/// Rows, width and ρ of a sketch of Zipf data of exponent 1.1, 10⁵ keys and 10⁶ records, asked for all of its keys.
pub(super) fn setting((rows, width, rho): (u8, u32, f64), trials: u32, seed: u64) -> Result<Settings, AccuracyError> {
    Ok(Settings {
        shape: CountSketchShape::new(rows, width).map_err(AccuracyError::parameter)?,
        rho: Rho::new(rho).map_err(AccuracyError::parameter)?,
        level: None,
        data: Data::Zipf { items: KEYS, total: 1_000_000, exponent: 1.1 },
        estimator: Estimator::Law,
        baseline: None,
        queries: KEYS,
        trials,
        seed,
    })
}

/// How queries are answered.
pub(super) fn options() -> QueryOptions {
    QueryOptions::default().interval(IntervalMethod::Bucket).confidence(CONFIDENCE)
}

/// A fresh release with the hashes of all keys, the heaviest first.
pub(super) fn fresh(
    settings: &Settings,
    population: &Population,
    noise: &mut InsecureTestRng,
) -> Result<(PrivateCountSketch, Vec<u64>), FrequencyError> {
    let hash = hash_from(noise);
    let keys = population.queries.iter().map(|&item| Item::from(item).hash64(&hash)).collect();
    Ok((private_sketch(settings.shape, settings.rho, &population.updates, &hash, noise)?, keys))
}

/// What one way of answering says of all keys of one sketch.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Judged {
    /// The mean of `|answer − truth|`.
    pub(super) error: f64,
    /// The share of intervals that hold the truth, of all keys and of the heaviest.
    pub(super) covered: f64,
    pub(super) heavy_covered: f64,
}

impl Judged {
    pub(super) fn new(
        population: &Population,
        answers: impl IntoIterator<Item = Result<Estimate, DomainError>>,
    ) -> Result<Self, FrequencyError> {
        let (mut error, mut covered, mut heavy, mut count) = (0.0, 0.0, 0.0, 0);
        for (&item, answer) in population.queries.iter().zip(answers) {
            let (answer, truth) = (answer?, population.frequency(item));
            error += (answer.value().unwrap_or(0.0) - truth).abs();
            let holds = f64::from(u8::from(answer.covers(truth)));
            covered += holds;
            heavy += if count < HEAVY { holds } else { 0.0 };
            count += 1;
        }
        let all = number::length(count.max(1));
        Ok(Self {
            error: error / all,
            covered: covered / all,
            heavy_covered: heavy / number::length(count.clamp(1, HEAVY)),
        })
    }
}

/// A mean over sketches with its standard error.
pub(super) fn mean(judged: &[Judged], of: impl Fn(&Judged) -> f64) -> (f64, f64) {
    mean_and_std_error(&judged.iter().map(of).collect::<Vec<_>>())
}

/// A share in per cent.
pub(super) fn percent(judged: &[Judged], of: impl Fn(&Judged) -> f64) -> String {
    format!("{:.1} %", 100.0 * mean(judged, of).0)
}

#[cfg(test)]
mod tests {
    use cardinality_estimators::Status;

    use super::*;

    #[test]
    fn answers_are_judged_key_by_key() {
        let mut settings = setting((5, 64, 1.0), 1, 1).unwrap();
        settings.data = Data::Sparse { items: 1000, entries: 1000, value: 10 };
        settings.queries = 1000;
        let population = Population::new(&settings);
        // Every second of the first 900 answers is off by one; the last hundred are, and their intervals begin above the truth.
        let answer = |item: u16| {
            let (value, lower) = if item < 900 { (f64::from(item % 2) + 10.0, 9.5) } else { (11.0, 10.5) };
            Estimate::new(Status::Ok, Some(value), Some(1.0), (Some(lower), Some(11.5)), CONFIDENCE).unwrap()
        };
        let judged = Judged::new(&population, (0..1000).map(|item| Ok(answer(item)))).unwrap();
        assert!((judged.error - 0.55).abs() < 1e-12 && (judged.covered - 0.9).abs() < 1e-12);
        assert!((judged.heavy_covered - 1.0).abs() < 1e-12);
    }
}
