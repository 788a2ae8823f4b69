//! The law of the minimum of normal values: what noise alone does to a Count-Min answer.

use super::normal::upper_tail;
use super::quadrature::panels;
use super::{DomainError, positive, require};

/// The minimum of `count` independent `N(0, variance)` values.
///
/// # Examples
/// ```
/// use countsketch_dp::theory::MinimumOfGaussians;
/// let fifteen = MinimumOfGaussians::new(15, 1.0)?;
/// assert!((fifteen.mean() + 1.7359).abs() < 1e-4); // −1.74 σ
/// # Ok::<(), countsketch_dp::theory::DomainError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MinimumOfGaussians {
    count: u32,
    std_dev: f64,
}

impl MinimumOfGaussians {
    /// The law for `count` values.
    ///
    /// # Errors
    /// [`DomainError`] unless `count` is in `1 ..= 2^20` and the variance is finite and above 0.
    pub fn new(count: u32, variance: f64) -> Result<Self, DomainError> {
        require("count", "in 1 ..= 2^20", f64::from(count), (1..=1 << 20).contains(&count))?;
        Ok(Self { count, std_dev: positive("variance", variance)?.sqrt() })
    }

    /// `E[min] = −σ·∫_0^∞ (1 − Φ(x)^k − Φ(−x)^k) dx`, never above 0: the bias that noise gives a Count-Min answer.
    #[must_use]
    pub fn mean(self) -> f64 {
        if self.count == 1 {
            return 0.0;
        }
        -self.std_dev * self.integral(|above, below| above - below)
    }

    /// `Var[min]`.
    #[must_use]
    pub fn variance(self) -> f64 {
        let standard_mean = self.mean() / self.std_dev;
        let square = panels(0.0, 20.0, 60, |x| {
            let (above, below) = self.sides(x);
            2.0 * x * (above + below)
        });
        self.std_dev.powi(2) * (square - standard_mean.powi(2))
    }

    fn integral(self, combine: impl Fn(f64, f64) -> f64) -> f64 {
        panels(0.0, 20.0, 60, |x| {
            let (above, below) = self.sides(x);
            combine(above, below)
        })
    }

    /// `P[max > x]` and `P[max < −x]` in standard units; the minimum is minus the maximum in law.
    fn sides(self, x: f64) -> (f64, f64) {
        let (tail, count) = (upper_tail(x), f64::from(self.count));
        (-(count * (-tail).ln_1p()).exp_m1(), tail.powf(count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_counts_have_closed_forms() {
        // E max of two is 1/√π and of three 3/(2√π); the variances are 1 − 1/π and 1 + √3/(2π) − 9/(4π).
        let pi = core::f64::consts::PI;
        let of = |count| MinimumOfGaussians::new(count, 4.0).unwrap();
        assert!((of(2).mean() + 2.0 / pi.sqrt()).abs() < 1e-13);
        assert!((of(3).mean() + 3.0 / pi.sqrt()).abs() < 1e-13);
        assert!((of(1).variance() - 4.0).abs() < 1e-12);
        assert!((of(2).variance() - 4.0 * (1.0 - 1.0 / pi)).abs() < 1e-12);
        assert!((of(3).variance() - 4.0 * (1.0 + 3.0_f64.sqrt() / (2.0 * pi) - 9.0 / (4.0 * pi))).abs() < 1e-12);
    }
}
