//! The scale t of Laplace noise.

use crate::fraction::{Fraction, FractionError, odd_digits, quotient_up};
use crate::wide::Wide;
use crate::{Epsilon, L1Sensitivity, ParameterError};

const NAME: &str = "scale";

/// The scale t of Laplace noise on the integers, an exact fraction in `2⁻¹⁰ ..= 2⁸⁰`.
///
/// The law is `P[x] ∝ exp(−|x| / t)`; its variance is `2q / (1 − q)²` with `q = e^(−1/t)`, close to `2 t²`.
///
/// # Examples
/// ```
/// use dp_noise::{Epsilon, L1Sensitivity, Scale};
/// let scale = Scale::for_epsilon(L1Sensitivity::new(3)?, Epsilon::new(0.75)?)?;
/// assert_eq!(scale, Scale::new(4, 1)?);
/// assert_eq!(scale.epsilon_cost(L1Sensitivity::new(3)?)?, Epsilon::new(0.75)?);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scale(Fraction);

impl Scale {
    /// The least value, `2⁻¹⁰`.
    pub const MIN: Self = Self(Fraction::MIN);
    /// The largest value, `2⁸⁰`.
    pub const MAX: Self = Self(Fraction::MAX);

    /// The fraction `numerator / denominator`, reduced to lowest terms.
    ///
    /// # Errors
    /// [`FractionError`] for a zero denominator or a value outside `2⁻¹⁰ ..= 2⁸⁰`.
    pub fn new(numerator: u128, denominator: u64) -> Result<Self, FractionError> {
        Fraction::new(NAME, numerator, denominator).map(Self)
    }

    /// The scale that makes Laplace noise ε-differentially private: `D₁ / ε`.
    ///
    /// Exact where a fraction of 128 over 64 bits can hold it, otherwise rounded **up** to 53 binary digits. What is
    /// below the least value is raised to it.
    ///
    /// # Errors
    /// [`FractionError::Range`] when more noise is needed than [`Self::MAX`].
    pub fn for_epsilon(sensitivity: L1Sensitivity, epsilon: Epsilon) -> Result<Self, FractionError> {
        let (digits, exponent) = odd_digits(epsilon.get()); // −82 <= exponent <= 8
        let numerator = Wide::from(sensitivity.get()).checked_shl(exponent.min(0).unsigned_abs());
        let denominator = u128::from(digits) << exponent.max(0).unsigned_abs();
        // 2^128 · 2^82 fits into 256 bits.
        let numerator = numerator.ok_or(FractionError::Range {
            name: NAME,
            value: f64::INFINITY,
            min: Self::MIN.to_f64(),
            max: Self::MAX.to_f64(),
        })?;
        Fraction::at_least(NAME, numerator, denominator).map(Self)
    }

    /// What Laplace noise of this scale costs in pure differential privacy: `D₁ / t`, rounded up.
    ///
    /// # Errors
    /// [`ParameterError`] when that is above [`Epsilon::MAX`]. Costs below [`Epsilon::MIN`] are stated as that.
    pub fn epsilon_cost(self, sensitivity: L1Sensitivity) -> Result<Epsilon, ParameterError> {
        let numerator = Wide::product(sensitivity.get(), u128::from(self.0.denominator));
        let cost = quotient_up(numerator, self.0.numerator, 0).unwrap_or(f64::INFINITY);
        Epsilon::new(cost.max(Epsilon::MIN))
    }

    /// The numerator in lowest terms.
    #[must_use]
    pub const fn numerator(self) -> u128 {
        self.0.numerator
    }

    /// The denominator in lowest terms.
    #[must_use]
    pub const fn denominator(self) -> u64 {
        self.0.denominator
    }

    /// The nearest `f64`.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        self.0.to_f64()
    }

    /// Whether this is less than `other`, exactly.
    #[must_use]
    pub fn is_below(self, other: Self) -> bool {
        self.0.is_below(other.0)
    }
}
