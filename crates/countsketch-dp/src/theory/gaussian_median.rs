//! The law of the median of normal values.

use super::normal::{cdf, density, upper_tail};
use super::quadrature::{panel, panels};
use super::{BinomialTail, DomainError, inner_probability, least_satisfying, non_negative, positive, require};

/// Standard deviations beyond which no median of normals is found (probability below 1e-300).
const FAR: f64 = 38.0;

/// The law of the median of `count` independent `N(0, variance)` values; for an even count the mean of the two middle
/// ones.
///
/// It is what an answer's error looks like when noise dominates: `P[|median| ≤ x] = 2·I_{Φ(x/σ)}(m, m) − 1` with
/// `m = (k+1)/2` \[PT22\]. For even counts the law is an integral over the lower of the two middle values \[DR69\].
///
/// # Examples
/// ```
/// use countsketch_dp::theory::MedianOfGaussians;
/// // At σ² = k the error hardly depends on k: the mean |error| goes from √(2/π) = 0.798 towards 1.
/// let one = MedianOfGaussians::new(1, 1.0)?;
/// let many = MedianOfGaussians::new(31, 31.0)?;
/// assert!((one.mean_abs() - 0.797_884_560_8).abs() < 1e-9);
/// assert!((many.mean_abs() - 0.992_667_798_3).abs() < 1e-9);
/// assert!((many.quantile_abs(0.95)? - 2.440_019_889_2).abs() < 1e-9);
/// # Ok::<(), countsketch_dp::theory::DomainError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct MedianOfGaussians {
    count: u32,
    std_dev: f64,
    /// That the middle value of an odd count, and so half the values, is above something.
    rows_above: BinomialTail,
}

impl MedianOfGaussians {
    /// The law for `count` values.
    ///
    /// # Errors
    /// [`DomainError`] unless `count` is in `1 ..= 2^20` and the variance is finite and above 0.
    pub fn new(count: u32, variance: f64) -> Result<Self, DomainError> {
        require("count", "in 1 ..= 2^20", f64::from(count), (1..=1 << 20).contains(&count))?;
        let rows_above = BinomialTail::new(count, count / 2 + 1);
        Ok(Self { count, std_dev: positive("variance", variance)?.sqrt(), rows_above })
    }

    /// `P[|median| > x]`, with its relative precision however small it is (for even counts, absolute 1e-15).
    ///
    /// # Errors
    /// [`DomainError`] unless `x` is finite and at least 0.
    pub fn tail_abs(self, x: f64) -> Result<f64, DomainError> {
        Ok(self.standard_tail(non_negative("x", x)? / self.std_dev))
    }

    /// `P[|median| ≤ x]`.
    ///
    /// # Errors
    /// [`DomainError`] unless `x` is finite and at least 0.
    pub fn cdf_abs(self, x: f64) -> Result<f64, DomainError> {
        Ok(1.0 - self.tail_abs(x)?)
    }

    /// `P[median ≤ x]`.
    ///
    /// # Errors
    /// [`DomainError`] unless `x` is finite.
    pub fn cdf(self, x: f64) -> Result<f64, DomainError> {
        let half = 0.5 * self.tail_abs(x.abs())?;
        Ok(if x < 0.0 { half } else { 1.0 - half })
    }

    /// The `x` with `P[|median| ≤ x] = probability`.
    ///
    /// # Errors
    /// [`DomainError`] unless the probability is strictly between 0 and 1.
    pub fn quantile_abs(self, probability: f64) -> Result<f64, DomainError> {
        let outside = 1.0 - inner_probability("probability", probability)?;
        Ok(self.upper_quantile(outside))
    }

    /// The least `x` with `P[|median| > x] ≤ outside`.
    pub(crate) fn upper_quantile(self, outside: f64) -> f64 {
        self.std_dev * least_satisfying(0.0, FAR, |x| self.standard_tail(x) <= outside)
    }

    /// `E|median|`.
    #[must_use]
    pub fn mean_abs(self) -> f64 {
        self.std_dev * self.integral(|_| 1.0)
    }

    /// `Var(median)`; towards `π/2 · variance/count` for many values.
    #[must_use]
    pub fn variance(self) -> f64 {
        self.std_dev.powi(2) * self.integral(|x| 2.0 * x)
    }

    /// `∫ weight(x)·P[|median| > x] dx` in standard units.
    fn integral(self, weight: impl Fn(f64) -> f64) -> f64 {
        // The median's spread is near √(π/2k); ten times that and more is integrated, and the rest is below 1e-20.
        let scale = 1.3 / f64::from(self.count).sqrt();
        panels(0.0, (12.0 * scale).min(FAR), 12, |x| weight(x) * self.standard_tail(x))
    }

    fn standard_tail(self, x: f64) -> f64 {
        if self.count % 2 == 1 {
            return (2.0 * self.rows_above.at(upper_tail(x))).min(1.0);
        }
        (2.0 * self.even_lower_tail(-x)).min(1.0)
    }

    /// `P[(X_(m) + X_(m+1))/2 ≤ x]` for `2m` values and `x ≤ 0`:
    /// `2/B(m,m) · ∫_{−∞}^x Φ(t)^{m−1}·[(1−Φ(t))^m − (1−Φ(2x−t))^m] φ(t) dt` \[DR69\].
    fn even_lower_tail(self, x: f64) -> f64 {
        let m = f64::from(self.count / 2);
        let log_scale = log_even_scale(self.count / 2);
        let integrand = |t: f64| {
            let (below, above) = (cdf(t), upper_tail(t));
            // (1−Φ(t))^m − (1−Φ(2x−t))^m without cancellation: 1−Φ(2x−t) = Φ(t−2x) is the smaller, as t ≤ x.
            let ratio = (m * ((-cdf(2.0 * x - t)).ln_1p() - (-below).ln_1p())).exp_m1();
            let log_front = log_scale + (m - 1.0) * below.ln() + m * above.ln();
            if log_front > -745.0 { -ratio * log_front.exp() * density(t) } else { 0.0 }
        };
        // The two middle values are about 1/m apart and spread over 1/√m: panels double from the one to the other.
        let (mut sum, mut end, mut width) = (0.0, x, m.recip());
        while end > (x - 40.0 / m.sqrt()).max(-FAR) {
            let part = panel(end - width, end, integrand);
            sum += part;
            end -= width;
            // Beyond the layer of width 1/m the integrand only falls.
            if part < 1e-18 * sum && x - end > 8.0 / m {
                break;
            }
            width = (2.0 * width).min(m.sqrt().recip());
        }
        sum
    }
}

/// `ln(2/B(m, m))`, where `1/B(m, m) = m·C(2m, m)/2`.
fn log_even_scale(m: u32) -> f64 {
    let choices: f64 = (1..=m).map(|i| (f64::from(m + i) / f64::from(i)).ln()).sum();
    f64::from(m).ln() + choices
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_values_have_the_law_of_their_mean() {
        // The mean of two N(0, 1) is N(0, 1/2).
        let law = MedianOfGaussians::new(2, 1.0).unwrap();
        for x in [0.0, 0.1, 0.5, 1.0, 2.0, 4.0] {
            let want = 2.0 * upper_tail(x * 2.0_f64.sqrt());
            assert!((law.tail_abs(x).unwrap() - want).abs() < 1e-12, "{x}");
        }
        assert!((law.variance() - 0.5).abs() < 1e-12);
    }

    #[test]
    fn four_values_are_narrower_than_three_and_wider_than_five() {
        // The variance of the median of four normals is 0.2982 (tables of order statistics), of three 0.4487, of five 0.2868.
        let variance = |count| MedianOfGaussians::new(count, 1.0).unwrap().variance();
        assert!((variance(4) - 0.298_2).abs() < 5e-5);
        assert!((variance(3) - 0.448_7).abs() < 5e-5 && (variance(5) - 0.286_8).abs() < 5e-5);
    }

    #[test]
    fn many_values_approach_the_asymptotic_law() {
        for count in [10_000, 10_001, 1 << 20] {
            let law = MedianOfGaussians::new(count, f64::from(count)).unwrap();
            assert!((law.variance() / core::f64::consts::FRAC_PI_2 - 1.0).abs() < 2e-4, "{count} {}", law.variance());
        }
    }

    #[test]
    fn quantiles_undo_the_law() {
        for count in [1, 4, 5, 31] {
            let law = MedianOfGaussians::new(count, 2.0).unwrap();
            for p in [0.01, 0.5, 0.95, 0.999] {
                let x = law.quantile_abs(p).unwrap();
                assert!((law.cdf_abs(x).unwrap() - p).abs() < 1e-12);
                assert!((law.cdf(x).unwrap() - law.cdf(-x).unwrap() - p).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn improper_arguments_are_refused() {
        assert!(MedianOfGaussians::new(0, 1.0).is_err() && MedianOfGaussians::new(3, 0.0).is_err());
        let law = MedianOfGaussians::new(3, 1.0).unwrap();
        assert!(law.quantile_abs(1.0).is_err() && law.cdf(f64::NAN).is_err() && law.tail_abs(-1.0).is_err());
    }
}
