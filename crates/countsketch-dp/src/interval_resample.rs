//! Intervals for estimators other than the median: rows drawn from the pool of cells and combined.

use sketch_hash::{HashKey, SeedStream};

use crate::combiner::{Combiner, count};
use crate::interval_pool::BucketPool;
use crate::law::QueryLaw;

/// Draws, one less than a power of two: the error of an answer is one more of the same law, and takes each of
/// 2^14 ranks among them with the same probability.
pub(crate) const DRAWS: usize = (1 << 14) - 1;

/// Combined rows drawn from the cells with random signs, by a public sequence that is the same for every sketch.
#[derive(Clone, Debug)]
pub(crate) struct Resampled {
    /// Absolute values, largest first.
    descending: Box<[f64]>,
}

impl Resampled {
    pub(crate) fn new(pool: &BucketPool, rows: u32, combiner: Combiner) -> Self {
        let mut row = vec![0_i64; usize::try_from(rows).unwrap_or(usize::MAX)];
        let cells = pool.cells();
        Self::draw(DRAWS, |words| {
            for value in &mut row {
                let (cell, sign) = words.signed_cell(cells);
                *value = sign * i64::try_from(cell).unwrap_or(i64::MAX);
            }
            combiner.combine(&mut row)
        })
    }

    /// So many draws of rows of these absolute values, located by their law.
    pub(crate) fn of_law(law: &QueryLaw, magnitudes: &[f64], rows: usize, draws: usize) -> Self {
        let (mut row, mut room) = (vec![0.0; rows], vec![0.0; rows]);
        Self::draw(draws, |words| {
            for value in &mut row {
                let (cell, sign) = words.signed_cell(magnitudes);
                *value = if sign < 0 { -cell } else { cell };
            }
            law.locate_in(&row, &mut room)
        })
    }

    fn draw(draws: usize, mut one: impl FnMut(&mut Words) -> f64) -> Self {
        let mut words = Words::new();
        let mut errors: Vec<f64> = (0..draws).map(|_| one(&mut words).abs()).collect();
        errors.sort_unstable_by(|a, b| b.total_cmp(a));
        Self { descending: errors.into() }
    }

    /// The root mean square, as the law is symmetric around 0.
    pub(crate) fn std_error(&self) -> f64 {
        (self.descending.iter().map(|value| value * value).sum::<f64>() / count(self.descending.len().max(1))).sqrt()
    }

    /// The least half-width that one more draw exceeds with probability at most `beta`; `None` when `beta` is too small to
    /// be seen in so few draws.
    pub(crate) fn half_width(&self, beta: f64) -> Option<f64> {
        // Of one rank more than there are draws, all equally likely, `above + 1` are outside.
        let ranks = beta * count(self.descending.len() + 1);
        let above = (0..self.descending.len()).take_while(|&above| count(above + 1) <= ranks).last()?;
        self.descending.get(above).copied()
    }
}

/// A public sequence of words, `SplitMix64` \[SLF14\] started at a word of the seed stream. Not a source of noise.
struct Words(u64);

impl Words {
    fn new() -> Self {
        Self(SeedStream::new(HashKey::DEFAULT, "countsketch-dp resampled rows", 0).next_word())
    }

    fn next_word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A cell and a sign; the sign is the lowest bit, the cell comes from the highest.
    fn signed_cell<T: Copy + Default>(&mut self, cells: &[T]) -> (T, i64) {
        let word = self.next_word();
        let bucket = sketch_hash::bucket_multiply_shift_64(word, cells.len() as u64);
        let cell = usize::try_from(bucket).ok().and_then(|bucket| cells.get(bucket));
        (cell.copied().unwrap_or_default(), sketch_hash::sign_low_bit(word))
    }
}
