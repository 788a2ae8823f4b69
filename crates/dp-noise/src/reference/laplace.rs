//! Discrete Laplace noise from uniform integers.

use crate::law;
use crate::{NoiseSampler, NoiseSource, SampleError, Scale};

use super::MAX_ROUNDS;
use super::coin::{bernoulli_exp_reference, uniform_below};

/// Discrete Laplace noise `P[x] ∝ e^(−|x|/t)` from uniform integers only \[CKS20, Algorithm 2\].
///
/// Exact, and some thirty times slower than [`DiscreteLaplace`](crate::DiscreteLaplace), which is tested against it.
///
/// # Examples
/// ```
/// # #[cfg(feature = "os-rng")] {
/// use dp_noise::{NoiseRng, NoiseSampler, ReferenceLaplace, Scale};
/// let mut draws = [0; 100];
/// ReferenceLaplace::new(Scale::new(1, 2)?).fill(&mut NoiseRng::from_os()?, &mut draws)?;
/// assert!(draws.iter().all(|draw| draw.abs() < 100));
/// # }
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReferenceLaplace {
    scale: Scale,
}

impl ReferenceLaplace {
    /// The sampler of scale t.
    #[must_use]
    pub const fn new(scale: Scale) -> Self {
        Self { scale }
    }

    /// One draw; only magnitudes below `2⁶³` are accepted.
    fn draw<R: NoiseSource + ?Sized>(&self, noise: &mut R) -> Result<i64, SampleError> {
        // t = n/d
        let (n, d) = (self.scale.numerator(), u128::from(self.scale.denominator()));
        for _ in 0..MAX_ROUNDS {
            let u = uniform_below(n, noise)?;
            if !bernoulli_exp_reference(u, n, noise)? {
                continue;
            }
            // The number of coins of e^-1 that come up true before the first false one.
            let mut v = 0_u128;
            while bernoulli_exp_reference(1, 1, noise)? {
                v += 1;
            }
            let magnitude = n.checked_mul(v).and_then(|whole| whole.checked_add(u)).ok_or(SampleError::Overflow)? / d;
            let negative = uniform_below(2, noise)? == 1;
            if negative && magnitude == 0 {
                continue; // otherwise 0 would have twice its mass
            }
            let magnitude = i64::try_from(magnitude).map_err(|_| SampleError::Overflow)?;
            return Ok(if negative { -magnitude } else { magnitude });
        }
        Err(SampleError::Rounds { rounds: MAX_ROUNDS })
    }
}

impl NoiseSampler for ReferenceLaplace {
    fn fill<R: NoiseSource + ?Sized>(&self, noise: &mut R, out: &mut [i64]) -> Result<(), SampleError> {
        for place in out {
            *place = self.draw(noise)?;
        }
        Ok(())
    }

    fn variance(&self) -> f64 {
        law::laplace_variance(self.scale)
    }

    fn statistical_distance(&self) -> f64 {
        0.0
    }
}
