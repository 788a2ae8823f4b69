//! Drawing how many cells of a level read one, without drawing the cells.

use cardinality_estimators::{BitChannel, CellLayout, Confidence, Estimate, ParamError, estimate};
use dp_noise::rand_core::Rng;
use sfm_pcsa::SketchShape;

use super::binomial::{binomial, fair};
use super::placement::geometric;
use crate::number;

/// The exact law of the ones in every group of equally likely cells of one sketch, released or merged.
///
/// It is exact, not an approximation, because of three facts:
///
/// 1. The noisy cell of a release, and that of a merge of any number of releases, is 1 with probability `p` or `q` by the
///    true cell of the union alone, whatever the data sets and whatever the other cells: flips and coins are drawn anew
///    for every cell, and that a merge gives exactly this channel is proved in `sfm-pcsa` by enumeration. So among `m` true
///    cells of a group the ones are binomial, and so are those among the others.
/// 2. Items fall independently: the numbers in the levels of a PCSA sketch are binomial given the levels before, and the
///    number of cells that `k` items hit among equally likely ones is that of a coupon collector, whose waiting times are
///    geometric.
/// 3. The estimate reads the numbers of ones and nothing else.
#[derive(Clone, Debug)]
pub(crate) struct CountLaw {
    layout: CellLayout,
    channel: BitChannel,
    fall: Fall,
}

/// How items fall on groups of equally likely cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fall {
    /// Half of those that are left, level by level; the last level takes the rest.
    Levels { buckets: u64, levels: u8 },
    /// Each throws so many darts at one row.
    Row { cells: u64, darts: u64 },
}

impl CountLaw {
    /// The law for a shape behind a channel; `None` for Liquid Legions, whose cells all differ.
    pub(crate) fn new(shape: SketchShape, channel: BitChannel) -> Option<Result<Self, ParamError>> {
        let fall = match shape {
            SketchShape::Pcsa(shape) => Fall::Levels { buckets: u64::from(shape.buckets()), levels: shape.levels() },
            SketchShape::Linear(shape) => Fall::Row { cells: shape.cells() as u64, darts: 1 },
            SketchShape::Bloom(shape) => Fall::Row { cells: shape.cells() as u64, darts: u64::from(shape.hashes()) },
            _ => return None,
        };
        Some(super::shape::layout(shape).map(|layout| Self { layout, channel, fall }))
    }

    /// The ones in every group of one sketch of `n` distinct items.
    pub(crate) fn draw<R: Rng>(&self, n: u64, random: &mut R) -> Vec<u64> {
        match self.fall {
            Fall::Row { cells, darts } => vec![self.ones(cells, occupied(n * darts, cells, random), random)],
            Fall::Levels { buckets, levels } => {
                let mut left = n;
                let level = |level| {
                    let here = if level + 1 == levels { left } else { fair(left, random) };
                    left -= here;
                    let hit = occupied(here, buckets, random);
                    self.ones(buckets, hit, random)
                };
                (0..levels).map(level).collect()
            }
        }
    }

    /// The estimate from a sketch of `n` distinct items.
    pub(crate) fn estimate<R: Rng>(
        &self,
        n: u64,
        random: &mut R,
        confidence: Confidence,
    ) -> Result<Estimate, ParamError> {
        let ones = self.draw(n, random);
        Ok(estimate(&self.layout.counts(&ones, self.channel)?, confidence))
    }

    fn ones<R: Rng>(&self, cells: u64, hit: u64, random: &mut R) -> u64 {
        binomial(hit, self.channel.p(), random) + binomial(cells - hit, self.channel.q(), random)
    }
}

/// How many of `cells` cells `items` items hit.
fn occupied<R: Rng>(items: u64, cells: u64, random: &mut R) -> u64 {
    let mut thrown = items.min(THROWN * cells);
    let mut hit = if cells.is_power_of_two() { throw(thrown, cells.trailing_zeros(), random) } else { 0 };
    if !cells.is_power_of_two() {
        thrown = 0;
    }
    while hit < cells && thrown < items {
        // The next item to hit an empty cell is the first success of coins with this probability.
        thrown = thrown.saturating_add(geometric(1.0 - number::to_f64(hit) / number::to_f64(cells), random));
        hit += u64::from(thrown <= items);
    }
    hit
}

/// Items a cell that are thrown one by one; after them few cells are empty, and the next hits of those are drawn.
const THROWN: u64 = 4;

/// How many of `2^bits` cells `items` items hit, one by one.
fn throw<R: Rng>(items: u64, bits: u32, random: &mut R) -> u64 {
    let mut cells = vec![0_u64; 1_usize << bits.saturating_sub(6)];
    let (mask, in_a_word) = ((1_u64 << bits) - 1, u64::from(64 / bits.max(1)));
    let mut left = items;
    while left > 0 {
        let mut word = random.next_u64();
        for _ in 0..left.min(in_a_word) {
            let cell = word & mask;
            word >>= bits;
            if let Some(cells) = usize::try_from(cell >> 6).ok().and_then(|index| cells.get_mut(index)) {
                *cells |= 1 << (cell & 63);
            }
        }
        left -= left.min(in_a_word);
    }
    cells.iter().map(|word| u64::from(word.count_ones())).sum()
}

#[cfg(test)]
mod tests {
    use dp_noise::hazmat::InsecureTestRng;
    use sfm_pcsa::PcsaShape;
    use sketch_testkit::{assert_frequencies, assert_mean};

    use super::*;

    #[test]
    fn occupied_cells_have_the_enumerated_law() {
        // Of the 4^3 ways three items fall on four cells, 4 hit one cell, 36 two and 24 three.
        let mut random = InsecureTestRng::from_u64(1);
        let mut counts = vec![0_u64; 3];
        for _ in 0..40_000 {
            let hit = occupied(3, 4, &mut random);
            counts[usize::try_from(hit).unwrap() - 1] += 1;
        }
        assert_frequencies(&counts, &[4.0 / 64.0, 36.0 / 64.0, 24.0 / 64.0]);
        // The same for three cells, which are no power of two: 3, 18 and 6 of 27.
        let mut counts = vec![0_u64; 3];
        for _ in 0..40_000 {
            let hit = occupied(3, 3, &mut random);
            counts[usize::try_from(hit).unwrap() - 1] += 1;
        }
        assert_frequencies(&counts, &[3.0 / 27.0, 18.0 / 27.0, 6.0 / 27.0]);
        assert_eq!(occupied(0, 4, &mut random), 0);
        assert_eq!(occupied(1 << 40, 4, &mut random), 4);
    }

    #[test]
    fn few_cells_stay_empty_with_the_right_probability() {
        // One of two cells is missed by ten items, eight of which are thrown one by one, with probability 2^-9.
        let mut random = InsecureTestRng::from_u64(3);
        let mut counts = vec![0_u64; 2];
        for _ in 0..100_000 {
            let hit = occupied(10, 2, &mut random);
            counts[usize::try_from(hit).unwrap() - 1] += 1;
        }
        assert_frequencies(&counts, &[0.5_f64.powi(9), 1.0 - 0.5_f64.powi(9)]);
    }

    #[test]
    fn ones_of_every_level_have_the_exact_mean() {
        let shape = PcsaShape::new(64, 6).unwrap();
        let channel = BitChannel::new(0.8, 0.3).unwrap();
        let law = CountLaw::new(shape.into(), channel).unwrap().unwrap();
        let mut random = InsecureTestRng::from_u64(2);
        let runs: Vec<Vec<u64>> = (0..4000).map(|_| law.draw(100, &mut random)).collect();
        for (level, exponent) in [1, 2, 3, 4, 5, 5].into_iter().enumerate() {
            let empty = (100.0 * (-(0.5_f64.powi(exponent) / 64.0)).ln_1p()).exp();
            let mean = 64.0 * (0.3 + 0.5 * (1.0 - empty));
            let samples: Vec<f64> = runs.iter().map(|ones| number::to_f64(ones[level])).collect();
            // Cells are negatively dependent, so the binomial variance is an upper bound.
            assert_mean(&samples, mean, (mean * (1.0 - mean / 64.0)).sqrt());
        }
    }
}
