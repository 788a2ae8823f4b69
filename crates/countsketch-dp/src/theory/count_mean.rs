//! The Count-Mean sketch, central and local.

use super::{DomainError, inner_probability, non_negative, positive, require};

/// The central estimate from the row values `M[i][h_i]`: `b/(b−1)·(mean M − N/b)`, with `total = N` (public, or a
/// release of its own).
///
/// Unbiased for 2-wise independent hashing.
///
/// # Errors
/// [`DomainError`] when there are no rows, or `width` is below 2, or a number is not finite.
///
/// # Examples
/// ```
/// let estimate = countsketch_dp::theory::count_mean_central(4, 10.0, &[5.0, 3.0, 4.0])?;
/// assert!((estimate - 2.0).abs() < 1e-12);
/// # Ok::<(), countsketch_dp::theory::DomainError>(())
/// ```
pub fn count_mean_central(width: u32, total: f64, row_values: &[f64]) -> Result<f64, DomainError> {
    let b = width_at_least_two(width)?;
    require("total", "finite", total, total.is_finite())?;
    let (sum, rows) = row_values.iter().fold((0.0, 0.0), |(sum, rows), value| (sum + value, rows + 1.0));
    let mean = sum / positive("rows", rows)?;
    require("row values", "finite", mean, mean.is_finite())?;
    Ok(b / (b - 1.0) * (mean - total / b))
}

/// The part of the central estimate's variance that noise makes: `(b/(b−1))²·s²/k`.
///
/// # Errors
/// [`DomainError`] when `rows` is 0, `width` is below 2, or the variance is negative or infinite.
pub fn count_mean_noise_variance(rows: u32, width: u32, noise_variance: f64) -> Result<f64, DomainError> {
    count_mean_variance(rows, width, 0.0, noise_variance)
}

/// The variance of the central estimate: `(b/(b−1))²·(‖x‖²·(1/b)(1−1/b) + s²)/k`, the norm without the item itself.
///
/// The whole norm counts, not that of a tail: one collision with a heavy item spoils the mean.
///
/// # Errors
/// [`DomainError`] when `rows` is 0, `width` is below 2, or a variance is negative or infinite.
pub fn count_mean_variance(rows: u32, width: u32, f2: f64, noise_variance: f64) -> Result<f64, DomainError> {
    let b = width_at_least_two(width)?;
    let (f2, s2) = (non_negative("f2", f2)?, non_negative("noise_variance", noise_variance)?);
    let k = positive("rows", f64::from(rows))?;
    Ok((b / (b - 1.0)).powi(2) * (f2 * (1.0 - 1.0 / b) / b + s2) / k)
}

fn width_at_least_two(width: u32) -> Result<f64, DomainError> {
    require("width", "at least 2", f64::from(width), width >= 2)
}

/// The constants of the local Count-Mean sketch at one `epsilon` \[Apple17\].
///
/// A client sends a row and a vector of ±1 entries, each flipped with probability `1/(1+e^{ε/2})`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CountMeanLocal {
    flip_probability: f64,
}

impl CountMeanLocal {
    /// The constants for a stated `epsilon`, with the ideal flip probability.
    ///
    /// # Errors
    /// [`DomainError`] unless `epsilon` is finite and above 0.
    ///
    /// # Examples
    /// ```
    /// let local = countsketch_dp::theory::CountMeanLocal::new(4.0)?;
    /// assert!((local.scale() - 1.0 / 1.0_f64.tanh()).abs() < 1e-12);
    /// # Ok::<(), countsketch_dp::theory::DomainError>(())
    /// ```
    pub fn new(epsilon: f64) -> Result<Self, DomainError> {
        let half = 0.5 * positive("epsilon", epsilon)?;
        Self::from_flip_probability((-half).exp() / (1.0 + (-half).exp()))
    }

    /// The constants for the probability that was really used.
    ///
    /// # Errors
    /// [`DomainError`] unless the probability lies strictly between 0 and ½ (at ½ nothing is left of a report).
    pub fn from_flip_probability(probability: f64) -> Result<Self, DomainError> {
        inner_probability("flip probability", probability)?;
        require("flip probability", "below 1/2", probability, probability < 0.5)?;
        Ok(Self { flip_probability: probability })
    }

    /// The probability that an entry is flipped.
    #[must_use]
    pub fn flip_probability(self) -> f64 {
        self.flip_probability
    }

    /// `c = (e^{ε/2}+1)/(e^{ε/2}−1) = 1/(1−2·flip)`, which undoes the shrinking of ±1 entries.
    #[must_use]
    pub fn scale(self) -> f64 {
        (1.0 - 2.0 * self.flip_probability).recip()
    }

    /// `(c²−1)/4`, the variance of what one report adds to `M[l][h_l]/k`.
    #[must_use]
    pub fn report_variance(self) -> f64 {
        let c = self.scale();
        0.25 * (c - 1.0) * (c + 1.0)
    }

    /// The estimate from integers: over the rows, the sum of the ±1 entries in the queried buckets, and the number of
    /// reports.
    ///
    /// A report of row `j` adds `k·(c/2·v + 1/2)` to that row, so that
    /// `m/(m−1)·(Σ M[l][h_l]/k − n/m) = m/(m−1)·(c·sum/2 + n/2 − n/m)`.
    ///
    /// # Errors
    /// [`DomainError`] when `width` is below 2.
    pub fn estimate(self, width: u32, reports: f64, entry_sum: f64) -> Result<f64, DomainError> {
        let m = width_at_least_two(width)?;
        Ok(m / (m - 1.0) * (0.5 * self.scale() * entry_sum + reports * (0.5 - 1.0 / m)))
    }
}
