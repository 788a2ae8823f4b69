//! The central Count-Mean sketch: the mean of an item's cells without the average load.

use cardinality_estimators::{Confidence, Estimate};

use crate::answer::signed;
use crate::baseline::PrivateUnsignedSketch;
use crate::combiner::integer;
use crate::query_error::QueryError;
use crate::theory::{DomainError, count_mean_central, count_mean_variance, non_negative, require};

/// The total weight `N` of a data set: public, or a release of its own. Never the true total of private data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TotalWeight {
    value: f64,
    variance: f64,
}

impl TotalWeight {
    /// A total that is public, in units of weight.
    ///
    /// # Errors
    /// [`DomainError`] when it is negative or not finite.
    pub fn public(value: f64) -> Result<Self, DomainError> {
        Ok(Self { value: non_negative("total", value)?, variance: 0.0 })
    }

    /// A total that was released with noise of this variance.
    ///
    /// # Errors
    /// [`DomainError`] when a number is not finite or the variance is negative.
    pub fn released(value: f64, variance: f64) -> Result<Self, DomainError> {
        require("total", "finite", value, value.is_finite())?;
        Ok(Self { value, variance: non_negative("variance of the total", variance)? })
    }

    /// The total, in units of weight.
    #[must_use]
    pub const fn value(self) -> f64 {
        self.value
    }

    /// The variance of its noise.
    #[must_use]
    pub const fn variance(self) -> f64 {
        self.variance
    }

    /// Larger by so much, and not below 0.
    pub(crate) fn shifted(self, by: f64) -> Self {
        Self { value: (self.value + by).max(0.0), variance: self.variance }
    }
}

impl PrivateUnsignedSketch {
    /// The frequency of an item, named by its 64-bit hash: `b/(b−1)·(mean of its cells − N/b)`, unbiased. In units of weight.
    ///
    /// The variance is `(b/(b−1))²·((‖x‖²·(1/b)(1−1/b) + s²)/k + Var N/b²)`, with `‖x‖²` estimated from the cells: the whole
    /// norm, so a collision with a heavy item spoils the answer where the median of a CountSketch does not care. Errors are
    /// far from normal then, so the interval is Chebyshev's, `± se/√β`.
    ///
    /// # Errors
    /// [`QueryError::Domain`] when a number leaves the range of `f64`.
    pub fn count_mean(&self, key: u64, total: TotalWeight, confidence: Confidence) -> Result<Estimate, QueryError> {
        let (rows, width) = (u32::from(self.shape().rows()), self.shape().width());
        let value = count_mean_central(width, total.value, &self.row_values(key))?;
        let noise = self.noise_variance() * self.step().powi(2);
        let cells = count_mean_variance(rows, width, self.squared_norm(total), noise)?;
        let b = f64::from(width);
        let std_error = (cells + total.variance / (b - 1.0).powi(2)).sqrt();
        let reach = std_error / (1.0 - confidence.get()).sqrt();
        Ok(signed(value, std_error, (Some(value - reach), Some(value + reach)), confidence)?)
    }

    /// `‖x‖²` from the cells, at least 0: a row's `Σ M²` is `‖x‖²(1−1/b) + N²/b + b·s²` in expectation.
    fn squared_norm(&self, total: TotalWeight) -> f64 {
        let (k, b) = (f64::from(self.shape().rows()), f64::from(self.shape().width()));
        let row = |cells: &[i64]| cells.iter().map(|&cell| integer(cell).powi(2)).sum::<f64>();
        let squares = self.rows().map(row).sum::<f64>() / k - b * self.noise_variance();
        let load = (total.value.powi(2) - total.variance) / b;
        ((squares * self.step().powi(2) - load) / (1.0 - b.recip())).max(0.0)
    }
}
