//! The rounds: estimate all keys, keep the large ones, subtract them, as long as the residual shrinks.

use super::residual::{CELLS_A_FALSE_KEY, ErrorLevel, Residual, STANDARD_ERRORS};
use super::step::Step;
use crate::combiner::count;
use crate::private::PrivateCountSketch;

/// Estimates of all keys, and what is left of the cells without them.
pub(super) struct Peeling<'a> {
    pub(super) residual: Residual<'a>,
    /// Sorted and all different.
    pub(super) keys: Vec<u64>,
    /// What was subtracted for each, in grid units.
    pub(super) subtracted: Vec<f64>,
    /// The share of the residual that was lost to the fit, h.
    pub(super) leverage: f64,
    pub(super) rounds: u32,
    /// Beyond this the size of a residual cell does not count any more; it only falls.
    bound: f64,
}

/// Rounds, at most.
const MAX_ROUNDS: u32 = 40;

/// Residual scales that a cell counts up to in the guard.
const BOUND_SCALES: f64 = 6.0;

/// A round that leaves more than this of the residual is not worth the next one.
const PROGRESS: f64 = 0.9998;

/// Kept keys, at most, as a share of the cells.
const MAX_KEPT: usize = 4;

/// The most that is taken to be lost to the fit.
const MAX_LEVERAGE: f64 = 0.5;

/// Half the width, as a share of the threshold, of the band in which keys at the threshold are counted.
const BAND: f64 = 0.2;

impl<'a> Peeling<'a> {
    pub(super) fn new(sketch: &'a PrivateCountSketch, keys: &[u64]) -> Self {
        let mut keys = keys.to_vec();
        keys.sort_unstable();
        keys.dedup();
        let subtracted = vec![0.0; keys.len()];
        let residual = Residual::new(sketch);
        Self { residual, keys, subtracted, leverage: 0.0, rounds: 0, bound: f64::INFINITY }
    }

    /// All rounds; the law of errors that the last residual shows.
    pub(super) fn run(&mut self) -> ErrorLevel {
        let mut level = self.residual.level(0.0);
        let first = level.std_error;
        while self.rounds < MAX_ROUNDS && self.round(&level) {
            level = self.residual.level(self.leverage);
        }
        if level.std_error <= first {
            return level;
        }
        // Step 4: answers would be worse than without decoding.
        self.residual = Residual::new(self.residual.sketch);
        self.subtracted.fill(0.0);
        (self.leverage, self.rounds) = (0.0, 0);
        self.residual.level(0.0)
    }

    /// One round; whether anything was subtracted.
    fn round(&mut self, level: &ErrorLevel) -> bool {
        let mut changes = self.estimates(level);
        let threshold = self.threshold(level, &changes);
        let leverage = self.leverage_of(&changes, threshold);
        for (change, &subtracted) in changes.iter_mut().zip(&self.subtracted) {
            let kept = if change.abs() > threshold { *change } else { 0.0 };
            *change = kept - subtracted;
        }
        if level.law.scale() > 0.0 {
            self.bound = self.bound.min(BOUND_SCALES * level.law.scale());
        }
        let step = Step::towards(&self.residual, &self.keys, &changes, self.bound);
        let Some(share) = step.accepted(PROGRESS) else { return false };
        step.apply(&mut self.residual, share);
        for (subtracted, change) in self.subtracted.iter_mut().zip(&changes) {
            *subtracted += share * change;
        }
        self.leverage += share * (leverage - self.leverage);
        self.rounds += 1;
        true
    }

    /// All keys' estimates: what was subtracted, and the location of the residual rows.
    pub(super) fn estimates(&self, level: &ErrorLevel) -> Vec<f64> {
        self.each_key(|key, subtracted| subtracted + level.inflation * self.residual.located(&level.law, key))
    }

    /// The same by medians.
    pub(super) fn medians(&self, level: &ErrorLevel) -> Vec<f64> {
        self.each_key(|key, subtracted| subtracted + level.inflation * self.residual.median(key))
    }

    #[cfg(not(feature = "rayon"))]
    fn each_key(&self, answer: impl Fn(u64, f64) -> f64) -> Vec<f64> {
        self.keys.iter().zip(&self.subtracted).map(|(&key, &subtracted)| answer(key, subtracted)).collect()
    }

    /// Key by key, so that the threads do not show in the result.
    #[cfg(feature = "rayon")]
    fn each_key(&self, answer: impl Fn(u64, f64) -> f64 + Sync) -> Vec<f64> {
        use rayon::prelude::*;
        let keys = self.keys.par_iter().zip(&self.subtracted).with_min_len(256);
        keys.map(|(&key, &subtracted)| answer(key, subtracted)).collect()
    }

    /// What chance brings to one key in a hundred cells; less, where so few keys are above it that the chance is not used up,
    /// but at least three standard errors; and more, where more keys are above it than the cells can carry.
    fn threshold(&self, level: &ErrorLevel, estimates: &[f64]) -> f64 {
        let cells = self.residual.cells.len();
        let mut sizes: Vec<f64> = estimates.iter().map(|estimate| estimate.abs()).collect();
        let mut largest = |number: usize| {
            let inside = number < sizes.len();
            if inside { *sizes.select_nth_unstable_by(number, |a, b| b.total_cmp(a)).1 } else { 0.0 }
        };
        let few = largest(cells / CELLS_A_FALSE_KEY);
        let chance = level.reach_of_chance(&self.residual, self.keys.len()).min(few);
        chance.max(STANDARD_ERRORS * level.std_error).max(largest(cells / MAX_KEPT))
    }

    /// The mean derivative of "keep above the threshold", over the keys of a cell: 1 for every kept key, and for the jump at
    /// ±τ the density of estimates there times τ, counted in a band around it.
    fn leverage_of(&self, estimates: &[f64], threshold: f64) -> f64 {
        let magnitudes = || estimates.iter().map(|estimate| estimate.abs());
        let kept = magnitudes().filter(|x| *x > threshold).count();
        let band = magnitudes().filter(|x| (x - threshold).abs() < BAND * threshold).count();
        let share = (count(kept) + count(band) / (2.0 * BAND)) / count(self.residual.cells.len());
        share.min(MAX_LEVERAGE)
    }

    /// How many keys something was subtracted for.
    pub(super) fn kept(&self) -> usize {
        self.subtracted.iter().filter(|x| x.abs() > 0.0).count()
    }
}
