//! Neighbouring data sets, their releases, and the laws that those state.

use countsketch_dp::{
    ContributionBound, CountSketch, CountSketchShape, Exposure, NoiseLaw, PrivateCountSketch, ReleaseError, RowHashes,
    UserContribution,
};
use dp_noise::hazmat::InsecureTestRng;
use dp_noise::{Epsilon, Neighbouring, Permit, Rho, Scale, Variance};
use sketch_hash::{DefaultHash, Item, KeyedHash};

use super::bound::Share;
use super::{CHUNK, Plan};
use crate::frequency::FrequencyError;
use crate::number;
use crate::simulate::repeat;

/// Two neighbouring data sets: what one person brings to either.
pub(super) struct Pair {
    pub(super) name: &'static str,
    rows: u8,
    width: u32,
    bound: Bound,
    relation: Neighbouring,
    without: &'static [(u64, i64)],
    with: &'static [(u64, i64)],
}

enum Bound {
    Record,
    UserTotal(u64),
    Clipped { items: u32, weight: u64, squared_norm: u128 },
}

/// Small sketches, in which everything that a person changes can be seen at once. Two buckets and one row let items 0 and
/// 1 of the default key share a cell or not; the pairs of users bring enough of them to reach their bound.
pub(super) const PAIRS: &[Pair] = &[
    Pair {
        name: "one record more, 1 x 2",
        rows: 1,
        width: 2,
        bound: Bound::Record,
        relation: Neighbouring::AddRemove,
        without: &[],
        with: &[(7, 1)],
    },
    Pair {
        name: "one record more, 3 x 4",
        rows: 3,
        width: 4,
        bound: Bound::Record,
        relation: Neighbouring::AddRemove,
        without: &[],
        with: &[(7, 1)],
    },
    Pair {
        name: "one record another, 1 x 2",
        rows: 1,
        width: 2,
        bound: Bound::Record,
        relation: Neighbouring::Substitute,
        without: &[(7, -1)],
        with: &[(7, 1)],
    },
    Pair {
        name: "one user of total 3 more, 1 x 2",
        rows: 1,
        width: 2,
        bound: Bound::UserTotal(3),
        relation: Neighbouring::AddRemove,
        without: &[],
        with: &[(5, 3)],
    },
    Pair {
        name: "one user of total 3 another, 3 x 4",
        rows: 3,
        width: 4,
        bound: Bound::UserTotal(3),
        relation: Neighbouring::Substitute,
        without: &[(5, -3)],
        with: &[(5, 3)],
    },
    Pair {
        name: "one clipped user more, 3 x 4",
        rows: 3,
        width: 4,
        bound: Bound::Clipped { items: 2, weight: 2, squared_norm: 12 },
        relation: Neighbouring::AddRemove,
        without: &[],
        with: &[(5, 2)],
    },
];

/// A pair with its raw sketches and their cells.
pub(super) struct Prepared {
    relation: Neighbouring,
    exposure: Exposure,
    raw: [CountSketch; 2],
    cells: [Vec<i64>; 2],
}

/// The law of a release with the cells of both data sets.
pub(super) struct Law<'a> {
    noise: NoiseLaw,
    cells: &'a [Vec<i64>; 2],
}

impl Pair {
    pub(super) fn prepare(&self) -> Result<Prepared, FrequencyError> {
        let shape = CountSketchShape::new(self.rows, self.width).map_err(FrequencyError::refused)?;
        let bound = match self.bound {
            Bound::Record => ContributionBound::entry(1),
            Bound::UserTotal(total) => ContributionBound::user_total(total),
            Bound::Clipped { items, weight, squared_norm } => ContributionBound::clipped(items, weight, squared_norm),
        };
        let bound = bound.map_err(FrequencyError::refused)?;
        let raw = |records: &[(u64, i64)]| {
            let mut sketch = CountSketch::new(shape, DefaultHash::default(), bound);
            if bound.is_user() {
                let mut user = UserContribution::new(DefaultHash::default());
                for &(item, weight) in records {
                    user.add_u64(item, weight);
                }
                sketch.add_user(user).map_err(FrequencyError::refused)?;
            } else {
                for &(item, weight) in records {
                    sketch.update_u64(item, weight).map_err(FrequencyError::refused)?;
                }
            }
            Ok::<_, FrequencyError>(sketch)
        };
        Ok(Prepared {
            relation: self.relation,
            exposure: Exposure::new(shape, bound, 1, self.relation),
            raw: [raw(self.with)?, raw(self.without)?],
            cells: [cells(shape, self.with), cells(shape, self.without)],
        })
    }
}

/// What a sketch of these records holds, by its public hashes.
fn cells(shape: CountSketchShape, records: &[(u64, i64)]) -> Vec<i64> {
    let (hash, mut cells) = (DefaultHash::default(), vec![0; shape.cells()]);
    let rows = RowHashes::new(shape, hash.id());
    for (row, cells) in cells.chunks_exact_mut(shape.cells() / rows.len()).enumerate() {
        for &(item, weight) in records {
            let (bucket, sign) = rows.bucket_and_sign(row, Item::from(item).hash64(&hash));
            cells[bucket] += sign * weight;
        }
    }
    cells
}

impl Prepared {
    /// The law of a Gaussian release at ρ, and what the product says that it costs.
    pub(super) fn gaussian(&self, rho: f64) -> Result<(Law<'_>, Rho), FrequencyError> {
        let terms = self.exposure.gaussian(level(rho)?).map_err(FrequencyError::refused)?;
        Ok((Law { noise: NoiseLaw::Gaussian { variance: terms.variance() }, cells: &self.cells }, terms.rho()))
    }

    pub(super) fn laplace(&self, epsilon: f64) -> Result<Law<'_>, FrequencyError> {
        let epsilon = Epsilon::new(epsilon).map_err(FrequencyError::refused)?;
        let scale = self.exposure.laplace(epsilon).map_err(FrequencyError::refused)?;
        Ok(Law { noise: NoiseLaw::Laplace { scale }, cells: &self.cells })
    }

    pub(super) fn release_gaussian(
        &self,
        raw: CountSketch,
        rho: f64,
        noise: &mut InsecureTestRng,
    ) -> Result<PrivateCountSketch, FrequencyError> {
        released(raw.release_with(self.relation, Permit::standalone(level(rho)?), noise))
    }

    pub(super) fn release_laplace(
        &self,
        raw: CountSketch,
        epsilon: f64,
        noise: &mut InsecureTestRng,
    ) -> Result<PrivateCountSketch, FrequencyError> {
        let epsilon = Epsilon::new(epsilon).map_err(FrequencyError::refused)?;
        released(raw.release_laplace_with(self.relation, Permit::standalone(epsilon), noise))
    }

    /// How often the event happens with the person's data, and without or with the other data.
    pub(super) fn count(
        &self,
        plan: &Plan,
        event: impl Fn(&[i64]) -> bool + Send + Sync,
        release: impl Fn(CountSketch, &mut InsecureTestRng) -> Result<PrivateCountSketch, FrequencyError> + Send + Sync,
    ) -> Result<[Share; 2], FrequencyError> {
        let chunks = plan.trials.div_ceil(CHUNK);
        let one = |raw: &CountSketch, seed: u64| -> Result<Share, FrequencyError> {
            let counts = repeat(
                (chunks, seed, plan.threads),
                || (),
                |(), noise| {
                    let mut hits = 0_u64;
                    for _ in 0..CHUNK {
                        hits += u64::from(event(release(raw.clone(), noise)?.all_cells()));
                    }
                    Ok::<_, FrequencyError>(hits)
                },
            )?;
            Ok(Share { hits: counts.iter().sum(), of: u64::from(chunks) * u64::from(CHUNK) })
        };
        // Seeds far apart from those of the other data sets.
        let seed = plan.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Ok([one(&self.raw[0], seed)?, one(&self.raw[1], seed ^ (1 << 63))?])
    }

    /// The number of rows where the data sets differ in one cell of each, by 1.
    pub(super) fn moves_each_row_by_one(&self) -> Option<u32> {
        let rows = u32::from(self.exposure.shape().rows());
        let moved: Vec<u64> = self.differences().filter(|difference| *difference != 0).collect();
        (moved.len() == rows as usize && moved.iter().all(|difference| *difference == 1)).then_some(rows)
    }

    fn differences(&self) -> impl Iterator<Item = u64> {
        let [with, without] = &self.cells;
        with.iter().zip(without).map(|(a, b)| a.abs_diff(*b))
    }
}

fn level(rho: f64) -> Result<Rho, FrequencyError> {
    Rho::new(rho).map_err(FrequencyError::refused)
}

fn released(outcome: Result<PrivateCountSketch, ReleaseError>) -> Result<PrivateCountSketch, FrequencyError> {
    outcome.map_err(FrequencyError::refused)
}

impl Law<'_> {
    /// `ln` of how much likelier an output is with the person's data.
    pub(super) fn log_ratio(&self, output: &[i64]) -> f64 {
        let [with, without] = self.cells;
        let distance = |cells: &[i64], power: i32| -> f64 {
            output.iter().zip(cells).map(|(out, cell)| number::to_f64(out.abs_diff(*cell)).powi(power)).sum()
        };
        match self.noise {
            NoiseLaw::Gaussian { variance } => (distance(without, 2) - distance(with, 2)) / (2.0 * variance.to_f64()),
            NoiseLaw::Laplace { scale } => (distance(without, 1) - distance(with, 1)) / scale.to_f64(),
            _ => f64::NAN,
        }
    }

    /// Of Laplace noise: the L1 distance of the data over the scale.
    pub(super) fn largest_log_ratio(&self) -> f64 {
        let scale = match self.noise {
            NoiseLaw::Laplace { scale } => Scale::to_f64(scale),
            _ => f64::NAN,
        };
        let [with, without] = self.cells;
        with.iter().zip(without).map(|(a, b)| number::to_f64(a.abs_diff(*b))).sum::<f64>() / scale
    }

    /// Of Gaussian noise: its variance parameter.
    pub(super) fn variance(&self) -> Variance {
        match self.noise {
            NoiseLaw::Gaussian { variance } => variance,
            _ => Variance::MIN,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_reaches_the_sensitivity_that_its_noise_is_for() {
        for pair in PAIRS {
            let prepared = pair.prepare().unwrap();
            let squares: u128 = prepared.differences().map(|difference| u128::from(difference).pow(2)).sum();
            assert_eq!(squares, prepared.exposure.squared_l2().unwrap().get(), "{}", pair.name);
        }
    }
}
