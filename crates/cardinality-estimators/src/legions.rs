//! Liquid Legions: cells whose probability falls geometrically.
//!
//! A cell at position `x` of `0 ..= 1` is hit with density `A·e^(−Ax)/(1 − e^(−A))`, so of `m` cells cell `i` has
//! `ρ_i = e^(−Ai/m)·(1 − e^(−A/m))/(1 − e^(−A))`, and every cell has a rate of its own. \[KWS+20\]
//!
//! Neighbouring cells are grouped and share their mean rate. Let a group span a factor `e^w` of rates. Its expected
//! share of empty cells is then too low by a factor `1 + x²·w²/24` at most, `x = rate·n`, which moves the root of its
//! score by a share of at most `x·w²/24` of `n`. The estimate is a mean of these roots weighted by information, and the
//! mean of `x` under that weight is below 2 for every channel (1.46 without noise, less with symmetric noise), so
//! grouping moves the estimate by less than `w²/12`. The relative error is at least `√(6A/(π²m))`, that of a sketch
//! without noise. Hence with `w = 0.3·(A/m)^(1/4)` the bias is below a hundredth of a standard error. What is lost by not
//! knowing which cell of a group holds a one is a share of the order of `w²/12` of the information.

use core::ops::Range;

use crate::ParamError;
use crate::level::{CellGroup, rate_of};
use crate::number::to_f64;

/// The spread of rates in a group is never made smaller than this factor, `e^(1/512)`: a bound on the number of groups.
const LEAST_WIDTH: f64 = 1.0 / 512.0;

/// A shape: how many cells, and how fast their probability falls.
pub(crate) struct Legions {
    cells: u64,
    decay: f64,
}

impl Legions {
    pub(crate) fn new(cells: u64, decay: f64) -> Result<Self, ParamError> {
        if cells < 2 {
            return Err(ParamError::Cells { expected: 2, found: cells });
        }
        if (2.0_f64.powi(-20)..=64.0).contains(&decay) {
            Ok(Self { cells, decay })
        } else {
            Err(ParamError::Decay { found: decay })
        }
    }

    /// The probability that an item falls in one of the cells.
    fn mass(&self, cells: &Range<u64>) -> f64 {
        let step = |count: u64| self.decay * (to_f64(count) / to_f64(self.cells));
        (-step(cells.start)).exp() * ((-step(cells.end - cells.start)).exp_m1() / (-self.decay).exp_m1())
    }

    fn last(&self) -> f64 {
        self.mass(&(self.cells - 1..self.cells))
    }

    /// The largest count worth searching for, as for PCSA.
    pub(crate) fn n_cap(&self) -> f64 {
        (to_f64(self.cells).ln() + 5.0) / self.last()
    }

    /// Groups of neighbouring cells, in the order of the cells.
    pub(crate) fn groups(&self) -> Result<Vec<CellGroup>, ParamError> {
        let a_cell = self.decay / to_f64(self.cells);
        let width = (0.3 * a_cell.sqrt().sqrt()).max(LEAST_WIDTH);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "positive, and saturates at the top"
        )]
        let length = ((width / a_cell).floor() as u64).clamp(1, self.cells);
        let starts = (0..self.cells.div_ceil(length)).map(|group| group * length);
        starts.map(|start| self.group(start..start.saturating_add(length).min(self.cells))).collect()
    }

    fn group(&self, cells: Range<u64>) -> Result<CellGroup, ParamError> {
        let count = cells.end - cells.start;
        let mean = self.mass(&cells) / to_f64(count);
        // Only the first cell of a few can be likelier than not; what it leaves to the others is then the exact number.
        let rate = if mean > 0.5 { -self.mass(&(cells.end..self.cells)).ln() } else { rate_of(mean) };
        CellGroup::new(count, 0, rate)
    }
}

/// The probability `e^(−Ai/m)·(1 − e^(−A/m))/(1 − e^(−A))` that an item falls in cell `i` of a Liquid Legions sketch of
/// `m` cells with decay `A`; [`CellLayout::legions`](crate::CellLayout::legions) says more.
///
/// # Errors
/// [`ParamError::Cells`] with fewer than two cells, [`ParamError::Decay`] unless `2^-20 ≤ decay ≤ 64`,
/// [`ParamError::Index`] for a cell that is not there.
///
/// # Examples
/// ```
/// use cardinality_estimators::legions_probability;
/// // Half of all items fall in the first 5.8 % of the cells, a tenth in the last four fifths.
/// let sum = |cells: std::ops::Range<u64>| cells.map(|i| legions_probability(1000, 12.0, i)).sum::<Result<f64, _>>();
/// assert!((sum(0..58)? - 0.5).abs() < 0.002);
/// assert!((sum(192..1000)? - 0.1).abs() < 0.001);
/// # Ok::<(), cardinality_estimators::ParamError>(())
/// ```
pub fn legions_probability(cells: u64, decay: f64, index: u64) -> Result<f64, ParamError> {
    let legions = Legions::new(cells, decay)?;
    if index < cells { Ok(legions.mass(&(index..index + 1))) } else { Err(ParamError::Index { index, cells }) }
}
