//! Placing a fixed number of distinct items in a PCSA bitmap, by the exact multinomial law.

use dp_noise::NoiseSource;
use dp_noise::rand_core::Rng;
use sfm_pcsa::PcsaShape;

use super::binomial::{below, fair, unit};
use super::family::hashes;
use crate::number;

/// Up to this many items each is given a random hash; above, items are split among levels first.
const HASHED: u64 = 1 << 21;
/// Hashes handed over at a time.
const BATCH: usize = 1 << 12;

/// Places items in bitmaps of one shape, reusing its memory.
///
/// Distinct items have independent uniform hashes, and a sketch sees nothing else of them, so random words stand for
/// items. For very many items the same law is drawn faster: the number in each level is binomial given the levels
/// before, and the set of occupied buckets of a level is that of a coupon collector, whose waiting times are geometric.
#[derive(Clone, Debug)]
pub struct Placement {
    shape: PcsaShape,
    words: Vec<u64>,
    buckets: Vec<u32>,
}

impl Placement {
    /// For bitmaps of this shape.
    #[must_use]
    pub fn new(shape: PcsaShape) -> Self {
        Self { shape, words: vec![0; BATCH], buckets: (0..shape.buckets()).collect() }
    }

    /// Hands batches of hashes to `add` which set the cells that `n` distinct items would.
    pub fn place<R: NoiseSource>(&mut self, n: u64, random: &mut R, add: impl FnMut(&[u64])) {
        if n <= HASHED { self.by_hashes(n, random, add) } else { self.by_levels(n, random, add) }
    }

    fn by_hashes<R: NoiseSource>(&mut self, n: u64, random: &mut R, add: impl FnMut(&[u64])) {
        hashes(&mut self.words, n, random, add);
    }

    fn by_levels<R: NoiseSource>(&mut self, n: u64, random: &mut R, mut add: impl FnMut(&[u64])) {
        let mut left = n;
        for level in 0..self.shape.levels() {
            let last = level + 1 == self.shape.levels();
            let here = if last { left } else { fair(left, random) };
            left -= here;
            let occupied = self.collect(here, random);
            let bucket_shift = 64 - u32::from(self.shape.index_bits());
            let hash = |&bucket: &u32| (u64::from(bucket) << bucket_shift) | (1 << level);
            self.words.clear();
            self.words.extend(self.buckets[..occupied].iter().map(hash));
            add(&self.words);
            if left == 0 {
                break;
            }
        }
        self.words.resize(BATCH, 0);
    }

    /// Throws `items` into buckets and moves the ones that are hit to the front of the list; returns how many.
    fn collect<R: Rng>(&mut self, items: u64, random: &mut R) -> usize {
        let buckets = self.buckets.len();
        let mut thrown = 0_u64;
        let mut hit = 0;
        while hit < buckets {
            // The next item to hit an empty bucket is the first success of coins with this probability.
            let wait = geometric(1.0 - number::length(hit) / number::length(buckets), random);
            thrown = thrown.saturating_add(wait);
            if thrown > items {
                break;
            }
            let empty = below((buckets - hit) as u64, random);
            let chosen = hit + usize::try_from(empty).unwrap_or(0);
            self.buckets.swap(hit, chosen);
            hit += 1;
        }
        hit
    }
}

/// The number of coins up to and with the first success, by inversion.
pub(super) fn geometric<R: Rng>(success: f64, random: &mut R) -> u64 {
    if success >= 1.0 {
        return 1;
    }
    let failures = (unit(random).ln() / (-success).ln_1p()).floor();
    number::floor_clamped(failures).saturating_add(1)
}

#[cfg(test)]
mod tests {
    use dp_noise::hazmat::InsecureTestRng;
    use sketch_hash::{bucket_top_bits, geometric_level};
    use sketch_testkit::{assert_frequencies, assert_mean};

    use super::*;

    /// Ones in each level after the hashes of one placement.
    fn ones(shape: PcsaShape, hashes: &[u64]) -> Vec<u64> {
        let mut cells = vec![false; shape.cells()];
        for &hash in hashes {
            let bits = u32::from(shape.index_bits());
            let level = usize::from(geometric_level(hash, bits, shape.levels()));
            cells[level * shape.buckets() as usize + bucket_top_bits(hash, bits) as usize] = true;
        }
        cells.chunks(shape.buckets() as usize).map(|level| level.iter().filter(|&&cell| cell).count() as u64).collect()
    }

    /// `P[one item hits a given cell]` of each level.
    fn rates(shape: PcsaShape) -> Vec<f64> {
        let levels = i32::from(shape.levels());
        (1..=levels).map(|level| 0.5_f64.powi(level.min(levels - 1)) / f64::from(shape.buckets())).collect()
    }

    /// Mean and variance of the ones in a level after `n` items: pairs of cells are not independent.
    fn exact_moments(buckets: f64, rho: f64, n: f64) -> (f64, f64) {
        let (empty, both) = ((n * (-rho).ln_1p()).exp(), (n * (-2.0 * rho).ln_1p()).exp());
        let variance = buckets * empty * (1.0 - empty) + buckets * (buckets - 1.0) * (both - empty * empty);
        (buckets * (1.0 - empty), variance)
    }

    type Place = fn(&mut Placement, u64, &mut InsecureTestRng, &mut dyn FnMut(&[u64]));
    const BOTH: [Place; 2] = [
        |placement, n, random, add| placement.by_hashes(n, random, add),
        |placement, n, random, add| placement.by_levels(n, random, add),
    ];

    #[test]
    fn both_ways_have_the_exact_means_of_every_level() {
        let shape = PcsaShape::new(64, 8).unwrap();
        let n = 700;
        for place in BOTH {
            let mut placement = Placement::new(shape);
            let mut random = InsecureTestRng::from_u64(5);
            let runs: Vec<Vec<u64>> = (0..4000)
                .map(|_| {
                    let mut hashes = Vec::new();
                    place(&mut placement, n, &mut random, &mut |batch| hashes.extend_from_slice(batch));
                    ones(shape, &hashes)
                })
                .collect();
            for (level, rho) in rates(shape).into_iter().enumerate() {
                let (mean, variance) = exact_moments(64.0, rho, number::to_f64(n));
                let samples: Vec<f64> = runs.iter().map(|run| number::to_f64(run[level])).collect();
                assert_mean(&samples, mean, variance.sqrt().max(1e-3));
                let spread: Vec<f64> = samples.iter().map(|ones| (ones - mean).powi(2)).collect();
                // The fourth central moment of near-normal counts is 3σ⁴ + σ², so this is their spread with room.
                assert_mean(&spread, variance, (2.0 * variance * variance + variance).sqrt().max(1e-3));
            }
        }
    }

    #[test]
    fn one_item_sets_one_cell_of_the_right_level() {
        let shape = PcsaShape::new(4, 4).unwrap();
        for place in BOTH {
            let mut placement = Placement::new(shape);
            let mut random = InsecureTestRng::from_u64(9);
            let mut counts = vec![0_u64; 4];
            for _ in 0..20_000 {
                let mut hashes = Vec::new();
                place(&mut placement, 1, &mut random, &mut |batch| hashes.extend_from_slice(batch));
                let found = ones(shape, &hashes);
                assert_eq!(found.iter().sum::<u64>(), 1);
                found.iter().zip(&mut counts).for_each(|(ones, count)| *count += ones);
            }
            assert_frequencies(&counts, &[0.5, 0.25, 0.125, 0.125]);
        }
    }

    #[test]
    fn buckets_are_hit_alike() {
        let shape = PcsaShape::new(8, 2).unwrap();
        let mut placement = Placement::new(shape);
        let mut random = InsecureTestRng::from_u64(3);
        let mut counts = vec![0_u64; 8];
        for _ in 0..20_000 {
            placement.by_levels(1, &mut random, |batch| {
                for hash in batch {
                    counts[bucket_top_bits(*hash, 3) as usize] += 1;
                }
            });
        }
        assert_frequencies(&counts, &[0.125; 8]);
    }

    #[test]
    fn a_vast_number_of_items_fills_every_cell_in_no_time() {
        let shape = PcsaShape::new(256, 16).unwrap();
        let mut hashes = Vec::new();
        Placement::new(shape)
            .place(1 << 60, &mut InsecureTestRng::from_u64(1), |batch| hashes.extend_from_slice(batch));
        assert_eq!(ones(shape, &hashes), [256; 16]);
    }
}
