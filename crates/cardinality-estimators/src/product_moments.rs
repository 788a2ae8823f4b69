//! What the product statistic needs of one group of cells.

use crate::number::to_f64;
use crate::{BitChannel, CellGroup, ParamError};

/// The first two moments of `y = Π (p_i − t_i)/d_i` over a group of equally likely cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProductMoments {
    pub(crate) cells: u64,
    pub(crate) rate: f64,
    pub(crate) mean: f64,
    pub(crate) variance: f64,
}

impl ProductMoments {
    /// Moments computed elsewhere: `variance` is that of a single `y`, not of the mean.
    ///
    /// # Errors
    /// [`ParamError::Cells`] without a cell, [`ParamError::Rate`] outside its range, [`ParamError::Moments`] unless both
    /// moments are finite and the variance is not negative.
    pub fn new(cells: u64, rate: f64, mean: f64, variance: f64) -> Result<Self, ParamError> {
        CellGroup::new(cells, 0, rate)?;
        if cells == 0 {
            return Err(ParamError::Cells { expected: 1, found: 0 });
        }
        if mean.is_finite() && variance.is_finite() && variance >= 0.0 {
            Ok(Self { cells, rate, mean, variance })
        } else {
            Err(ParamError::Moments { mean, variance })
        }
    }

    /// Moments from the values `y` that occur and the number of cells that have each.
    ///
    /// # Errors
    /// As [`Self::new`]; the moments of very many very noisy sketches overflow, and nothing can be learnt from them.
    ///
    /// # Examples
    /// ```
    /// use cardinality_estimators::ProductMoments;
    /// let level = ProductMoments::from_values(0.001, [(1.0, 75), (0.0, 25)])?;
    /// assert_eq!((level.mean(), level.variance()), (0.75, 0.1875));
    /// # Ok::<(), cardinality_estimators::ParamError>(())
    /// ```
    pub fn from_values<I>(rate: f64, values: I) -> Result<Self, ParamError>
    where
        I: IntoIterator<Item = (f64, u64)>,
        I::IntoIter: Clone,
    {
        let values = values.into_iter();
        let overflow = ParamError::Cells { expected: 1, found: 0 };
        let cells = values.clone().try_fold(0_u64, |sum, (_, cells)| sum.checked_add(cells)).ok_or(overflow)?;
        let total = to_f64(cells).max(1.0);
        let average = |f: &dyn Fn(f64) -> f64| {
            values.clone().filter(|&(_, n)| n > 0).map(|(y, n)| f(y) * (to_f64(n) / total)).sum::<f64>()
        };
        let mean = average(&|y| y);
        Self::new(cells, rate, mean, average(&|y| (y - mean) * (y - mean)))
    }

    /// Moments for `m` sketches behind one and the same channel: `cells_with_ones[w]` cells hold `w` ones among the `m`
    /// sketches, `m = len − 1`, and `y = (p/d)^(m−w)·(−(1−p)/d)^w`.
    ///
    /// # Errors
    /// As [`Self::new`]; [`ParamError::Sketches`] unless `1 ≤ m ≤ 65536`.
    pub fn from_classes(rate: f64, channel: BitChannel, cells_with_ones: &[u64]) -> Result<Self, ParamError> {
        let sketches = cells_with_ones.len().saturating_sub(1);
        let m = i32::try_from(sketches).ok().filter(|m| (1..=65_536).contains(m));
        let m = m.ok_or(ParamError::Sketches { found: sketches })?;
        let zero = channel.p() / channel.d();
        let one = -channel.miss() / channel.d();
        let values = (0_i32..).zip(cells_with_ones).map(|(w, &cells)| (zero.powi(m - w) * one.powi(w), cells));
        Self::from_values(rate, values)
    }

    /// The mean of `y`: the estimated share of cells that are empty in the union.
    #[must_use]
    pub const fn mean(&self) -> f64 {
        self.mean
    }

    /// The variance of one `y`.
    #[must_use]
    pub const fn variance(&self) -> f64 {
        self.variance
    }

    /// The number of cells.
    #[must_use]
    pub const fn cells(&self) -> u64 {
        self.cells
    }
}
