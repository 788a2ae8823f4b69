//! What every sampler of integer noise offers.

use core::fmt;

use crate::NoiseSource;

/// A law of integer noise that can be drawn in bulk.
///
/// No floating-point number decides a draw. A release draws **all** its noise with one call of [`fill`](Self::fill), into
/// a buffer, and only then adds it to the data: the work depends on the length, the law and the random bits, never on
/// what the noise is added to.
///
/// # Examples
/// ```
/// # #[cfg(feature = "os-rng")] {
/// use dp_noise::{DiscreteGaussian, NoiseRng, NoiseSampler, NoiseSource, Variance};
/// let law = DiscreteGaussian::new(Variance::new(100, 1)?)?;
/// let mut noise = NoiseRng::from_os()?;
/// noise.begin_release()?;
/// let mut draws = [0; 1000];
/// law.fill(&mut noise, &mut draws)?;
/// assert!(draws.iter().all(|draw| draw.abs() < 400)); // 40 standard deviations
/// assert!(law.statistical_distance() < 1e-60);
/// # }
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub trait NoiseSampler {
    /// Fills `out` with independent draws.
    ///
    /// # Errors
    /// [`SampleError`]; what `out` holds then is not to be released.
    fn fill<R: NoiseSource + ?Sized>(&self, noise: &mut R, out: &mut [i64]) -> Result<(), SampleError>;

    /// The variance of the law that is drawn, to the accuracy of `f64`. Estimators use this, not the parameter.
    fn variance(&self) -> f64;

    /// How far, in total variation and for each draw, what is drawn may be from the law: an upper bound, 0 when exact.
    ///
    /// `n` draws at distance `d` add `n d (1 + e^ε)` to the δ of an (ε, δ) statement; see
    /// [`delta_beside_distance`](crate::delta_beside_distance).
    fn statistical_distance(&self) -> f64;
}

/// Why no noise could be drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum SampleError {
    /// The parameter is too large for this sampler: its draws, or the integers on the way to them, would not fit.
    TooLarge {
        /// What the parameter is.
        name: &'static str,
        /// Its value, to the nearest `f64`.
        value: f64,
        /// The largest that this sampler takes.
        max: f64,
    },
    /// Noise divided among no parties at all.
    NoShares,
    /// An exact integer on the way to a draw did not fit; the draw is given up rather than wrapped.
    Overflow,
    /// A table could not be computed to the digits it needs. No parameter is known to cause this.
    Precision,
    /// A rejection loop, or a comparison digit by digit, went on for so long that the generator must be broken.
    Rounds {
        /// How many proposals were refused, or words compared.
        rounds: u32,
    },
}

impl fmt::Display for SampleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { name, value, max } => {
                write!(f, "the {name} must be at most {max:?} for this sampler, found {value:?}")
            }
            Self::NoShares => f.write_str("noise must have at least one share, found 0"),
            Self::Overflow => f.write_str("an exact integer of the sampler does not fit into 128 bits"),
            Self::Precision => f.write_str("a table of noise could not be computed to the digits it needs"),
            Self::Rounds { rounds } => write!(f, "{rounds} attempts in a row decided nothing: the generator is broken"),
        }
    }
}

impl core::error::Error for SampleError {}
