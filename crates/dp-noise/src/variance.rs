//! The variance parameter σ² of Gaussian noise.

use crate::fraction::{Fraction, FractionError, odd_digits, quotient_up};
use crate::wide::Wide;
use crate::{ParameterError, Rho, SquaredL2Sensitivity};

const NAME: &str = "variance";

/// The parameter σ² of Gaussian noise on the integers, an exact fraction in `2⁻¹⁰ ..= 2⁸⁰`.
///
/// The law is `P[x] ∝ exp(−x² / (2 σ²))`; σ itself is never formed. The variance of that law is a little below σ² where
/// σ² is small ([`NoiseSampler::variance`](crate::NoiseSampler::variance)).
///
/// # Examples
/// ```
/// use dp_noise::{Rho, SquaredL2Sensitivity, Variance};
/// let half = Variance::new(2, 4)?;
/// assert_eq!((half.numerator(), half.denominator()), (1, 2));
/// assert!(Variance::new(1, 1025).is_err());
///
/// // Adding independent noises adds their variances.
/// assert_eq!(half.checked_add(Variance::new(1, 3)?)?, Variance::new(5, 6)?);
/// assert_eq!(half.rho_cost(SquaredL2Sensitivity::new(1)?)?, Rho::new(1.0)?);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Variance(Fraction);

impl Variance {
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

    /// The variance that makes Gaussian noise ρ-zCDP: `D₂² / (2 ρ)` \[CKS20, Theorem 4\].
    ///
    /// Exact where a fraction of 128 over 64 bits can hold it (an `f64` is a dyadic rational), otherwise rounded **up**
    /// to 53 binary digits. What is below the least value is raised to it.
    ///
    /// # Errors
    /// [`FractionError::Range`] when more noise is needed than [`Self::MAX`].
    pub fn for_rho(sensitivity: SquaredL2Sensitivity, rho: Rho) -> Result<Self, FractionError> {
        let (digits, exponent) = odd_digits(rho.get());
        let shift = exponent + 1; // 2ρ = digits · 2^shift, with −91 <= shift <= 17
        let numerator = Wide::from(sensitivity.get()).checked_shl(shift.min(0).unsigned_abs());
        let denominator = u128::from(digits) << shift.max(0).unsigned_abs();
        // 2^128 · 2^91 fits into 256 bits.
        let numerator = numerator.ok_or_else(|| Self::too_large(f64::INFINITY))?;
        Fraction::at_least(NAME, numerator, denominator).map(Self)
    }

    /// What Gaussian noise of this variance costs in zCDP: `D₂² / (2 σ²)`, rounded up.
    ///
    /// # Errors
    /// [`ParameterError`] when that is no valid [`Rho`]: above [`Rho::MAX`] there is hardly any privacy. Costs below
    /// [`Rho::MIN`] are stated as that.
    pub fn rho_cost(self, sensitivity: SquaredL2Sensitivity) -> Result<Rho, ParameterError> {
        let numerator = Wide::product(sensitivity.get(), u128::from(self.0.denominator));
        let cost = quotient_up(numerator, self.0.numerator, -1).unwrap_or(f64::INFINITY);
        Rho::new(cost.max(Rho::MIN))
    }

    /// The variance of the sum of two independent noises, rounded up where the fraction does not fit.
    ///
    /// # Errors
    /// [`FractionError::Range`] when the sum is above [`Self::MAX`].
    pub fn checked_add(self, other: Self) -> Result<Self, FractionError> {
        self.0.plus(NAME, other.0).map(Self)
    }

    /// The variance that is missing from `other` to `self`, exact or rounded up where the fraction does not fit; a
    /// difference below the least variance is raised to it.
    ///
    /// # Errors
    /// [`FractionError::Range`] unless `other` is less than `self`.
    pub fn checked_sub(self, other: Self) -> Result<Self, FractionError> {
        self.0.minus(NAME, other.0).map(Self)
    }

    /// The variance of the noise times `factor`: `factor² σ²`, rounded up where the fraction does not fit.
    ///
    /// # Errors
    /// [`FractionError::Range`] when the product is above [`Self::MAX`], or `factor` is 0.
    pub fn times_square(self, factor: i64) -> Result<Self, FractionError> {
        if factor == 0 {
            return Err(Self::too_large(0.0));
        }
        let square = u128::from(factor.unsigned_abs()).pow(2);
        // 2^128 · 2^126 fits into 256 bits.
        Fraction::at_least(NAME, Wide::product(self.0.numerator, square), u128::from(self.0.denominator)).map(Self)
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

    fn too_large(value: f64) -> FractionError {
        FractionError::Range { name: NAME, value, min: Self::MIN.to_f64(), max: Self::MAX.to_f64() }
    }
}
