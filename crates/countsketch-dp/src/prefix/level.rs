//! One released level, and how prefixes are read off it.

use cardinality_estimators::{Confidence, Estimate};
use sketch_hash::KeyedHash;

use crate::answer::signed;
use crate::baseline::PrivateVector;
use crate::combiner::integer;
use crate::interval::QueryOptions;
use crate::leaf::Leaf;
use crate::prefix::stack::prefix_key;
use crate::private::PrivateCountSketch;
use crate::query_estimate::Frequencies;
use crate::theory::DomainError;

/// One level after noise.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum PrivateLevel {
    Plain(PrivateVector),
    Sketch(PrivateCountSketch),
}

impl PrivateLevel {
    /// As a sketch; a plain level is one of one row.
    pub(super) const fn as_sketch(&self) -> &PrivateCountSketch {
        match self {
            Self::Plain(vector) => vector.as_row(),
            Self::Sketch(sketch) => sketch,
        }
    }

    pub(super) fn leaves(&self) -> &[Leaf] {
        self.as_sketch().leaves()
    }

    /// A reader whose intervals all hold at once for so many answers.
    pub(super) fn reader(&self, confidence: Confidence, answers: u64) -> Result<LevelReader<'_>, DomainError> {
        let options = QueryOptions::default().confidence(confidence).simultaneous(answers);
        match self {
            Self::Sketch(sketch) => Ok(LevelReader::Sketch(sketch.frequencies(options)?)),
            Self::Plain(vector) => {
                let step = vector.as_row().granularity().step();
                let half = vector.half_width(options.miss_probability())?;
                let std_error = vector.noise_variance().sqrt() * step;
                Ok(LevelReader::Plain { cells: vector.cells(), step, half, std_error, confidence })
            }
        }
    }
}

/// Reads frequencies of prefixes, in units of weight.
pub(super) enum LevelReader<'a> {
    Plain { cells: &'a [i64], step: f64, half: f64, std_error: f64, confidence: Confidence },
    Sketch(Frequencies<'a>),
}

impl LevelReader<'_> {
    /// The estimates of prefixes.
    pub(super) fn values<H: KeyedHash>(&self, hash: &H, prefixes: &[u64], values: &mut [f64]) {
        match self {
            Self::Sketch(frequencies) => {
                let keys: Vec<u64> = prefixes.iter().map(|&prefix| prefix_key(hash, prefix)).collect();
                frequencies.reader().values(&keys, values);
            }
            Self::Plain { cells, step, .. } => {
                for (value, &prefix) in values.iter_mut().zip(prefixes) {
                    let cell = usize::try_from(prefix).ok().and_then(|place| cells.get(place));
                    *value = cell.map_or(0.0, |&cell| integer(cell) * step);
                }
            }
        }
    }

    /// A half-width that holds for any prefix; `None` where there is none.
    pub(super) fn half_width(&self) -> Option<f64> {
        match self {
            Self::Plain { half, .. } => Some(*half),
            Self::Sketch(frequencies) => frequencies.half_width_for_any(),
        }
    }

    /// The variance of an estimate.
    pub(super) fn variance(&self) -> f64 {
        match self {
            Self::Plain { std_error, .. } => std_error.powi(2),
            Self::Sketch(frequencies) => frequencies.std_error().powi(2),
        }
    }

    /// The answer with a value that is known.
    pub(super) fn answer<H: KeyedHash>(&self, hash: &H, prefix: u64, value: f64) -> Result<Estimate, DomainError> {
        match self {
            Self::Sketch(frequencies) => frequencies.with_interval(prefix_key(hash, prefix), value),
            Self::Plain { half, std_error, confidence, .. } => {
                signed(value, *std_error, (Some(value - half), Some(value + half)), *confidence)
            }
        }
    }
}
