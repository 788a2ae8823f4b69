//! How much the sets' own sizes differ.

use crate::ParamError;
use crate::number::to_f64;

/// The spread of the sketches' own sizes, beside what their noise alone would make of equal ones.
///
/// Sets of very different sizes are not exchangeable, and a tally alone may fail to show it: the sizes do. From `k`
/// estimates `n_i` with variances `v_i`: the mean `n̄`, the sample variance `s²` and the mean variance `v̄`, which `s²`
/// estimates with a standard error of `v̄·√(2/(k − 1))` if the sets are equally large.
///
/// # Examples
/// ```
/// use cardinality_estimators::tally::SizeSpread;
/// let sizes = SizeSpread::new(&[(1000.0, 400.0), (1500.0, 400.0), (1250.0, 400.0)])?;
/// assert_eq!((sizes.mean(), sizes.variance()), (1250.0, 62_500.0));
/// // Far more than noise: sizes vary by about a fifth.
/// assert!(sizes.size_z() > 100.0 && (sizes.size_cv2().sqrt() - 0.2).abs() < 0.01);
/// # Ok::<(), cardinality_estimators::ParamError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SizeSpread {
    sketches: usize,
    mean: f64,
    variance: f64,
    mean_variance: f64,
}

impl SizeSpread {
    /// From every sketch's own size and the variance of that estimate.
    ///
    /// # Errors
    /// [`ParamError::Sketches`] with fewer than two; [`ParamError::Moments`] for numbers that are negative, infinite or NaN.
    pub fn new(sizes: &[(f64, f64)]) -> Result<Self, ParamError> {
        if sizes.len() < 2 {
            return Err(ParamError::Sketches { found: sizes.len() });
        }
        let valid = |x: f64| (0.0..1e100).contains(&x);
        if let Some(&(mean, variance)) = sizes.iter().find(|&&(size, variance)| !(valid(size) && valid(variance))) {
            return Err(ParamError::Moments { mean, variance });
        }
        let number = to_f64(sizes.len() as u64);
        let mean = sizes.iter().map(|(size, _)| size).sum::<f64>() / number;
        let variance = sizes.iter().map(|(size, _)| (size - mean) * (size - mean)).sum::<f64>() / (number - 1.0);
        let mean_variance = sizes.iter().map(|(_, variance)| variance).sum::<f64>() / number;
        Ok(Self { sketches: sizes.len(), mean, variance, mean_variance })
    }

    /// How many sizes there are.
    #[must_use]
    pub const fn sketches(&self) -> usize {
        self.sketches
    }

    /// The mean size `n̄`.
    #[must_use]
    pub const fn mean(&self) -> f64 {
        self.mean
    }

    /// The sample variance `s²` of the sizes.
    #[must_use]
    pub const fn variance(&self) -> f64 {
        self.variance
    }

    /// The mean variance `v̄` that noise gives a size.
    #[must_use]
    pub const fn mean_variance(&self) -> f64 {
        self.mean_variance
    }

    /// `v̄·√(2/(k − 1))`, the standard error of `s²` of equally large sets.
    fn error(&self) -> f64 {
        self.mean_variance * (2.0 / to_f64(self.sketches.saturating_sub(1) as u64)).sqrt()
    }

    /// The squared coefficient of variation that noise does not explain, less one standard error:
    /// `max(0, s² − v̄ − v̄·√(2/(k−1)))/n̄²`.
    #[must_use]
    pub fn size_cv2(&self) -> f64 {
        let excess = (self.variance - self.mean_variance - self.error()).max(0.0);
        if excess > 0.0 { excess / (self.mean * self.mean) } else { 0.0 }
    }

    /// The spread in standard errors above what noise explains, `(s² − v̄)/(v̄·√(2/(k−1)))`; infinite for different sizes
    /// without noise.
    #[must_use]
    pub fn size_z(&self) -> f64 {
        let (excess, error) = (self.variance - self.mean_variance, self.error());
        if excess == 0.0 { 0.0 } else { excess / error }
    }
}
