//! Discrete Gaussian noise.

use std::sync::Arc;

use crate::digit::DigitSplit;
use crate::table::{Family, Law, Table, table_for};
use crate::wide::Wide;
use crate::{NoiseSampler, NoiseSource, SampleError, Variance};

/// Up to this σ one table serves; beyond, a table for the leading digits.
const WIDEST: u128 = 512;

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
    engine: Engine,
}

#[derive(Clone, Debug)]
enum Engine {
    Table(Arc<Table>),
    Digits(DigitSplit),
}

/// The law of `|X|`.
pub(crate) fn magnitude_law(parameter: Variance) -> Law {
    Law {
        family: Family::GaussianMagnitude,
        numerator: u128::from(parameter.denominator()),
        denominator: parameter.numerator(),
    }
}

impl DiscreteGaussian {
    /// The law of parameter σ². Computes its table, in about a microsecond for each unit of σ, or finds it among the
    /// last ones that were used.
    ///
    /// # Errors
    /// [`SampleError`] when the table could not be computed to the digits it needs, which no parameter is known to
    /// cause.
    pub fn new(parameter: Variance) -> Result<Self, SampleError> {
        let (n, d) = (parameter.numerator(), u128::from(parameter.denominator()));
        let mut shift = 0;
        // σ² <= 4^shift 512², in integers; at most 2^80 = 4^31 512².
        while Wide::from(n) > Wide::product(d << (2 * shift), WIDEST.pow(2)) {
            shift += 1;
        }
        let engine = if shift == 0 {
            Engine::Table(table_for(magnitude_law(parameter))?)
        } else {
            Engine::Digits(DigitSplit::gaussian(d << (2 * shift), n, shift)?)
        };
        Ok(Self { parameter, engine })
    }

    /// The parameter σ².
    #[must_use]
    pub fn parameter(&self) -> Variance {
        self.parameter
    }
}

impl NoiseSampler for DiscreteGaussian {
    fn fill<R: NoiseSource + ?Sized>(&self, noise: &mut R, out: &mut [i64]) -> Result<(), SampleError> {
        match &self.engine {
            Engine::Table(table) => table.fill_signed(noise, out),
            Engine::Digits(split) => split.fill(noise, out),
        }
    }

    fn variance(&self) -> f64 {
        crate::law::gaussian_variance(self.parameter)
    }

    /// 0: the sampler is exact.
    fn statistical_distance(&self) -> f64 {
        0.0
    }
}
