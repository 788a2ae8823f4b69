//! Discrete Laplace noise.

use crate::reference::ReferenceLaplace;
use crate::{NoiseSampler, NoiseSource, SampleError, Scale};

/// Discrete Laplace noise: `P[x] = (1 − q)/(1 + q) · q^|x|` on the integers, `q = e^(−1/t)`.
///
/// With `t = D₁ / ε` ([`Scale::for_epsilon`]) an integer vector of L1 sensitivity `D₁` that gets one independent draw in
/// every coordinate is ε-differentially private.
///
/// # Examples
/// ```
/// # #[cfg(feature = "os-rng")] {
/// use dp_noise::{DiscreteLaplace, Epsilon, L1Sensitivity, NoiseRng, NoiseSampler, NoiseSource, Scale};
/// let law = DiscreteLaplace::new(Scale::for_epsilon(L1Sensitivity::new(1)?, Epsilon::new(0.5)?)?)?;
/// assert!((law.variance() - 7.835_4).abs() < 1e-4);
/// let mut noise = NoiseRng::from_os()?;
/// noise.begin_release()?;
/// let mut draws = [0; 100];
/// law.fill(&mut noise, &mut draws)?;
/// assert!(draws.iter().all(|draw| draw.abs() < 200));
/// # }
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct DiscreteLaplace {
    parameter: Scale,
}

impl DiscreteLaplace {
    /// The law of scale t.
    ///
    /// # Errors
    /// [`SampleError::TooLarge`] when draws of the law do not fit.
    pub fn new(parameter: Scale) -> Result<Self, SampleError> {
        Ok(Self { parameter })
    }

    /// The scale t.
    #[must_use]
    pub fn parameter(&self) -> Scale {
        self.parameter
    }
}

impl NoiseSampler for DiscreteLaplace {
    fn fill<R: NoiseSource + ?Sized>(&self, noise: &mut R, out: &mut [i64]) -> Result<(), SampleError> {
        ReferenceLaplace::new(self.parameter).fill(noise, out)
    }

    fn variance(&self) -> f64 {
        crate::law::laplace_variance(self.parameter)
    }

    fn statistical_distance(&self) -> f64 {
        0.0
    }
}
