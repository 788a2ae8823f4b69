//! Discrete Gaussian noise from uniform integers.

use zeroize::Zeroizing;

use crate::law;
use crate::{NoiseSampler, NoiseSource, SampleError, Scale, Variance};

use super::coin::bernoulli_exp_reference;
use super::{MAX_ROUNDS, ReferenceLaplace};

/// Discrete Gaussian noise `P[x] ∝ exp(−x²/(2σ²))` from uniform integers only \[CKS20, Algorithm 3\].
///
/// Exact, and some forty times slower than [`DiscreteGaussian`](crate::DiscreteGaussian), which is tested against it.
///
/// # Examples
/// ```
/// # #[cfg(feature = "os-rng")] {
/// use dp_noise::{NoiseRng, NoiseSampler, ReferenceGaussian, Variance};
/// let mut draws = [0; 100];
/// ReferenceGaussian::new(Variance::new(4, 1)?).fill(&mut NoiseRng::from_os()?, &mut draws)?;
/// assert!(draws.iter().all(|draw| draw.abs() < 80));
/// # }
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReferenceGaussian {
    variance: Variance,
}

impl ReferenceGaussian {
    /// The sampler of parameter σ².
    #[must_use]
    pub const fn new(variance: Variance) -> Self {
        Self { variance }
    }

    fn draw<R: NoiseSource + ?Sized>(
        &self,
        t: u64,
        proposals: &ReferenceLaplace,
        noise: &mut R,
    ) -> Result<i64, SampleError> {
        // σ² = a/b. Accept Y with exp(−(|Y| − σ²/t)²/(2σ²)) = exp(−(|Y| t b − a)² / (2 a b t²)).
        let (a, b, t) = (self.variance.numerator(), u128::from(self.variance.denominator()), u128::from(t));
        let product =
            |factors: &[u128]| factors.iter().try_fold(1_u128, |product, &factor| product.checked_mul(factor));
        let denominator = product(&[2, a, b, t, t]).ok_or(SampleError::Overflow)?;
        let mut candidate = Zeroizing::new([0]);
        for _ in 0..MAX_ROUNDS {
            proposals.fill(noise, candidate.as_mut_slice())?;
            let magnitude = u128::from(candidate[0].unsigned_abs());
            let distance = product(&[magnitude, t, b]).ok_or(SampleError::Overflow)?.abs_diff(a);
            let numerator = distance.checked_mul(distance).ok_or(SampleError::Overflow)?;
            if bernoulli_exp_reference(numerator, denominator, noise)? {
                return Ok(candidate[0]);
            }
        }
        Err(SampleError::Rounds { rounds: MAX_ROUNDS })
    }
}

impl NoiseSampler for ReferenceGaussian {
    /// # Errors
    /// [`SampleError::Overflow`] too when σ² or its denominator is so large that the acceptance ratio does not fit into
    /// 128 bits; σ² below `2⁴⁰` with a denominator below `2²⁰` always fits.
    fn fill<R: NoiseSource + ?Sized>(&self, noise: &mut R, out: &mut [i64]) -> Result<(), SampleError> {
        // t = ⌊σ⌋ + 1, by the integer root of ⌊σ²⌋; no float.
        let whole = self.variance.numerator() / u128::from(self.variance.denominator());
        let t = u64::try_from(whole.isqrt()).map_err(|_| SampleError::Overflow)? + 1;
        let scale = Scale::new(u128::from(t), 1).map_err(|_| SampleError::Overflow)?;
        let proposals = ReferenceLaplace::new(scale);
        for place in out {
            *place = self.draw(t, &proposals, noise)?;
        }
        Ok(())
    }

    fn variance(&self) -> f64 {
        law::gaussian_variance(self.variance)
    }

    fn statistical_distance(&self) -> f64 {
        0.0
    }
}
