//! Discrete Gaussian noise.

use crate::reference::ReferenceGaussian;
use crate::{NoiseSampler, NoiseSource, SampleError, Variance};

/// Discrete Gaussian noise: `P[x] ∝ exp(−x² / (2σ²))` on the integers \[CKS20\].
///
/// With `σ² = D₂² / (2ρ)` ([`Variance::for_rho`]) an integer vector of squared sensitivity `D₂²` that gets one
/// independent draw in every coordinate is ρ-zCDP \[CKS20, Theorem 4\].
///
/// # Examples
/// ```
/// # #[cfg(feature = "os-rng")] {
/// use dp_noise::{DiscreteGaussian, NoiseRng, NoiseSampler, NoiseSource, Rho, SquaredL2Sensitivity, Variance};
/// let variance = Variance::for_rho(SquaredL2Sensitivity::new(1)?, Rho::new(0.125)?)?;
/// let law = DiscreteGaussian::new(variance)?;
/// assert_eq!(law.variance(), 4.0);
/// let mut noise = NoiseRng::from_os()?;
/// noise.begin_release()?;
/// let mut draws = [0; 100];
/// law.fill(&mut noise, &mut draws)?;
/// assert!(draws.iter().all(|draw| draw.abs() < 80));
/// # }
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct DiscreteGaussian {
    parameter: Variance,
}

impl DiscreteGaussian {
    /// The law of parameter σ².
    ///
    /// # Errors
    /// [`SampleError::TooLarge`] when draws of the law do not fit.
    pub fn new(parameter: Variance) -> Result<Self, SampleError> {
        Ok(Self { parameter })
    }

    /// The parameter σ².
    #[must_use]
    pub fn parameter(&self) -> Variance {
        self.parameter
    }
}

impl NoiseSampler for DiscreteGaussian {
    fn fill<R: NoiseSource + ?Sized>(&self, noise: &mut R, out: &mut [i64]) -> Result<(), SampleError> {
        ReferenceGaussian::new(self.parameter).fill(noise, out)
    }

    fn variance(&self) -> f64 {
        crate::law::gaussian_variance(self.parameter)
    }

    fn statistical_distance(&self) -> f64 {
        0.0
    }
}
