//! What is left of a sketch without the estimates so far, and the law of errors read off it.

use crate::combiner::{count, integer};
use crate::interval::allowed_above;
use crate::interval_resample::{DRAWS, Resampled};
use crate::law::{QueryLaw, median};
use crate::private::PrivateCountSketch;
use crate::row_hash::place;
use crate::theory::{DomainError, allowed_row_miss};

/// Cells minus the sketch of the estimates, in grid units, row after row.
pub(super) struct Residual<'a> {
    pub(super) sketch: &'a PrivateCountSketch,
    pub(super) cells: Vec<f64>,
    /// A cell that is no larger is rounding, and 0; no error is smaller.
    rounding: f64,
}

/// Rounding of sums, as a share of the largest cell: 2⁻⁴⁰, some thousand times that of one `f64`.
const ROUNDING: f64 = 1.0 / 1_099_511_627_776.0;

/// How many standard errors an estimate must be from 0.
pub(super) const STANDARD_ERRORS: f64 = 3.0;

/// Draws that a round takes its standard error and its threshold from, one less than a power of two.
const ROUND_DRAWS: usize = (1 << 12) - 1;

/// The law of the errors of estimates made from a residual.
pub(super) struct ErrorLevel {
    pub(super) law: QueryLaw,
    /// What the residual, and all that is read off it, is multiplied by: 1/(1 − h).
    pub(super) inflation: f64,
    /// In grid units.
    pub(super) std_error: f64,
    drawn: Resampled,
}

impl<'a> Residual<'a> {
    pub(super) fn new(sketch: &'a PrivateCountSketch) -> Self {
        let cells: Vec<f64> = sketch.all_cells().iter().map(|&cell| integer(cell)).collect();
        let largest = cells.iter().fold(0.0_f64, |largest, cell| largest.max(cell.abs()));
        Self { sketch, cells, rounding: ROUNDING * largest }
    }

    /// Takes a share of a change off the cells.
    pub(super) fn subtract(&mut self, change: &[f64], share: f64) {
        for (cell, change) in self.cells.iter_mut().zip(change) {
            let left = *cell - share * change;
            *cell = if left.abs() > self.rounding { left } else { 0.0 };
        }
    }

    pub(super) fn width(&self) -> usize {
        self.cells.len() / usize::from(self.sketch.shape().rows())
    }

    pub(super) fn magnitudes(&self) -> Vec<f64> {
        self.cells.iter().map(|cell| cell.abs()).collect()
    }

    /// The signed residual cells of a key.
    fn rows_of<'r>(&self, key: u64, room: &'r mut [f64; 255]) -> &'r [f64] {
        let (rows, width) = (self.sketch.rows(), self.width() as u64);
        let mut filled = 0;
        for ((slot, row), cells) in room.iter_mut().zip(0..rows.len()).zip(self.cells.chunks_exact(self.width())) {
            let (bucket, sign) = place(rows.row(row).hash(key), width);
            let cell = cells.get(bucket).copied().unwrap_or(0.0);
            *slot = if sign < 0 { -cell } else { cell };
            filled += 1;
        }
        room.get(..filled).unwrap_or_default()
    }

    /// The likeliest location of a key's rows under a law.
    pub(super) fn located(&self, law: &QueryLaw, key: u64) -> f64 {
        let (mut rows, mut room) = ([0.0; 255], [0.0; 255]);
        let rows = self.rows_of(key, &mut rows);
        room.get_mut(..rows.len()).map_or(0.0, |room| law.locate_in(rows, room))
    }

    /// The median of a key's rows.
    pub(super) fn median(&self, key: u64) -> f64 {
        let (mut rows, mut room) = ([0.0; 255], [0.0; 255]);
        let rows = self.rows_of(key, &mut rows);
        room.get_mut(..rows.len()).map_or(0.0, |room| median(rows, room))
    }

    /// The law of errors of the next estimates, when `leverage` of the residual was lost to the fit.
    pub(super) fn level(&self, leverage: f64) -> ErrorLevel {
        let magnitudes = self.magnitudes();
        let law = QueryLaw::of(magnitudes.clone());
        let rows = usize::from(self.sketch.shape().rows());
        let drawn = Resampled::of_law(&law, &magnitudes, rows, ROUND_DRAWS);
        let inflation = (1.0 - leverage).recip();
        let std_error = (inflation * drawn.std_error()).max(self.rounding);
        ErrorLevel { law, inflation, std_error, drawn }
    }

    /// Half the interval of a location that misses with probability at most `beta`; `None` where draws cannot tell.
    pub(super) fn half_width(&self, level: &ErrorLevel, beta: f64) -> Option<f64> {
        let rows = usize::from(self.sketch.shape().rows());
        let drawn = Resampled::of_law(&level.law, &self.magnitudes(), rows, DRAWS);
        Some((level.inflation * drawn.half_width(beta)?).max(self.rounding))
    }

    /// The same for a median: the least `g` with `2·P[Bin(k, q(g)) ≥ (k+1)/2] ≤ β`; `None` where there are too few cells.
    pub(super) fn median_half_width(&self, inflation: f64, beta: f64) -> Result<Option<f64>, DomainError> {
        let rows = u32::from(self.sketch.shape().rows());
        let miss = 2.0 * allowed_row_miss(rows, beta, rows / 2 + 1)?;
        let mut magnitudes = self.magnitudes();
        let Some(above) = allowed_above(miss, magnitudes.len()).filter(|above| *above < magnitudes.len()) else {
            return Ok(None);
        };
        let half = *magnitudes.select_nth_unstable_by(above, |a, b| b.total_cmp(a)).1;
        Ok(Some((inflation * half).max(self.rounding)))
    }
}

/// Cells to one key that chance alone may bring over the threshold.
pub(super) const CELLS_A_FALSE_KEY: usize = 100;

impl ErrorLevel {
    /// The absolute estimate, in grid units, that chance alone brings to one key in a hundred cells, of so many keys.
    pub(super) fn reach_of_chance(&self, residual: &Residual<'_>, keys: usize) -> f64 {
        let by_chance = count(residual.cells.len()) / (count(CELLS_A_FALSE_KEY) * count(keys.max(1)));
        if by_chance >= 1.0 {
            return 0.0;
        }
        let drawn = self.drawn.half_width(by_chance).map(|half| half * self.inflation);
        let reach = drawn.or_else(|| residual.median_half_width(self.inflation, by_chance).ok().flatten());
        // Chance that is rarer than the cells can show: beyond all of them.
        reach.unwrap_or_else(|| self.inflation * residual.magnitudes().into_iter().fold(0.0, f64::max))
    }

    /// The absolute estimate, in grid units, from which on a key of so many is taken to be there.
    pub(super) fn threshold(&self, residual: &Residual<'_>, keys: usize) -> f64 {
        self.reach_of_chance(residual, keys).max(STANDARD_ERRORS * self.std_error)
    }
}
