//! Discrete Laplace noise.

use std::sync::Arc;

use crate::digit::DigitSplit;
use crate::table::{Family, Law, Table, table_for};
use crate::wide::Wide;
use crate::{NoiseSampler, NoiseSource, SampleError, Scale};

/// Up to this scale one table serves.
const WIDEST: u128 = 1024;
/// Beyond, a table of at most this scale for the leading digits: small enough to stay in the first cache.
const LEADING: u128 = 128;
/// The largest scale of which draws fit: beyond `2⁶³` in magnitude they have probability `e⁻²⁰⁴⁸`.
const MAX_SCALE: u128 = 1 << 52;

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
    engine: Engine,
}

#[derive(Clone, Debug)]
enum Engine {
    Table(Arc<Table>),
    Digits(DigitSplit),
}

/// Refuses scales of which draws do not fit.
pub(crate) fn check_scale(scale: Scale) -> Result<(), SampleError> {
    if scale.numerator() > MAX_SCALE * u128::from(scale.denominator()) {
        return Err(SampleError::TooLarge { name: "scale", value: scale.to_f64(), max: 4_503_599_627_370_496.0 });
    }
    Ok(())
}

impl DiscreteLaplace {
    /// The law of scale t. Computes its table, in about ten microseconds for each unit of `t` up to 1024, or finds it
    /// among the last ones that were used.
    ///
    /// # Errors
    /// [`SampleError::TooLarge`] for a scale above `2⁵²`, whose draws would not fit.
    pub fn new(parameter: Scale) -> Result<Self, SampleError> {
        let (n, d) = (parameter.numerator(), u128::from(parameter.denominator()));
        if n > d * MAX_SCALE {
            return Err(SampleError::TooLarge {
                name: "scale",
                value: parameter.to_f64(),
                max: 4_503_599_627_370_496.0,
            });
        }
        let engine = if n <= d * WIDEST {
            Engine::Table(table_for(Law { family: Family::LaplaceMagnitude, numerator: d, denominator: n })?)
        } else {
            let mut shift = 1;
            // t <= 2^shift 128, in integers
            while Wide::from(n) > Wide::product(d << shift, LEADING) {
                shift += 1;
            }
            Engine::Digits(DigitSplit::laplace(d << shift, n, shift)?)
        };
        Ok(Self { parameter, engine })
    }

    /// The scale t.
    #[must_use]
    pub fn parameter(&self) -> Scale {
        self.parameter
    }
}

impl NoiseSampler for DiscreteLaplace {
    fn fill<R: NoiseSource + ?Sized>(&self, noise: &mut R, out: &mut [i64]) -> Result<(), SampleError> {
        match &self.engine {
            Engine::Table(table) => table.fill_signed(noise, out),
            Engine::Digits(split) => split.fill(noise, out),
        }
    }

    fn variance(&self) -> f64 {
        crate::law::laplace_variance(self.parameter)
    }

    /// 0: the sampler is exact.
    fn statistical_distance(&self) -> f64 {
        0.0
    }
}
