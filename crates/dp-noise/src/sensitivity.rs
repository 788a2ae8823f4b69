//! How far one unit of privacy can move what is released.

use core::fmt;

/// When two data sets count as neighbours.
///
/// A guarantee protects what distinguishes neighbours, so every record of a release names the relation.
///
/// # Examples
/// ```
/// use dp_noise::{L1Sensitivity, Neighbouring, SquaredL2Sensitivity};
/// let l1 = L1Sensitivity::new(5)?;
/// assert_eq!(l1.under(Neighbouring::Substitute)?.get(), 10);
/// let l2 = SquaredL2Sensitivity::new(5)?;
/// assert_eq!(l2.under(Neighbouring::Substitute)?.get(), 20);
/// # Ok::<(), dp_noise::SensitivityError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Neighbouring {
    /// One unit is added or removed with everything it contributed.
    AddRemove,
    /// One unit is replaced by another: a removal and an addition, so every norm doubles.
    Substitute,
}

impl Neighbouring {
    /// By what factor a norm for [`AddRemove`](Self::AddRemove) grows: 1 or 2.
    #[must_use]
    pub const fn norm_factor(self) -> u32 {
        match self {
            Self::AddRemove => 1,
            Self::Substitute => 2,
        }
    }
}

/// A sensitivity that is zero or too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SensitivityError {
    /// A sensitivity of zero: nothing depends on the data, so there is nothing to protect.
    Zero {
        /// Which norm.
        name: &'static str,
    },
    /// A sensitivity that 128 bits cannot hold.
    TooLarge {
        /// Which norm.
        name: &'static str,
        /// The value before it was multiplied.
        value: u128,
    },
}

impl fmt::Display for SensitivityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zero { name } => write!(f, "the {name} must be at least 1, found 0"),
            Self::TooLarge { name, value } => {
                write!(f, "the {name} is too large: substitution enlarges {value} beyond 128 bits")
            }
        }
    }
}

impl core::error::Error for SensitivityError {}

const L1: &str = "L1 sensitivity";
const L2: &str = "squared L2 sensitivity";

/// The largest L1 distance between the integer vectors of neighbouring data sets.
///
/// It sets the scale of Laplace noise. A type of its own, so that it cannot be mistaken for the L2 norm.
///
/// # Examples
/// ```
/// use dp_noise::{Epsilon, L1Sensitivity, Scale};
/// // Five rows, each moved by one: scale 5 / 0.5.
/// let scale = Scale::for_epsilon(L1Sensitivity::new(5)?, Epsilon::new(0.5)?)?;
/// assert_eq!(scale.to_f64(), 10.0);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct L1Sensitivity(u128);

impl L1Sensitivity {
    /// Checks that the value is positive.
    ///
    /// # Errors
    /// [`SensitivityError::Zero`] for 0.
    pub const fn new(value: u128) -> Result<Self, SensitivityError> {
        if value == 0 { Err(SensitivityError::Zero { name: L1 }) } else { Ok(Self(value)) }
    }

    /// The value.
    #[must_use]
    pub const fn get(self) -> u128 {
        self.0
    }

    /// The sensitivity under a relation, given that `self` is the one under [`Neighbouring::AddRemove`].
    ///
    /// # Errors
    /// [`SensitivityError::TooLarge`] where the doubled norm does not fit.
    pub fn under(self, relation: Neighbouring) -> Result<Self, SensitivityError> {
        let factor = u128::from(relation.norm_factor());
        self.0.checked_mul(factor).map(Self).ok_or(SensitivityError::TooLarge { name: L1, value: self.0 })
    }
}

/// The square of the largest L2 distance between the integer vectors of neighbouring data sets.
///
/// It sets the variance of Gaussian noise. Kept squared it is an integer, and no root is ever rounded.
///
/// # Examples
/// ```
/// use dp_noise::{Rho, SquaredL2Sensitivity, Variance};
/// // Five rows, each moved by one: variance 5 / (2 · 0.5).
/// let variance = Variance::for_rho(SquaredL2Sensitivity::new(5)?, Rho::new(0.5)?)?;
/// assert_eq!(variance.to_f64(), 5.0);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SquaredL2Sensitivity(u128);

impl SquaredL2Sensitivity {
    /// Checks that the value is positive.
    ///
    /// # Errors
    /// [`SensitivityError::Zero`] for 0.
    pub const fn new(value: u128) -> Result<Self, SensitivityError> {
        if value == 0 { Err(SensitivityError::Zero { name: L2 }) } else { Ok(Self(value)) }
    }

    /// The value.
    #[must_use]
    pub const fn get(self) -> u128 {
        self.0
    }

    /// The sensitivity under a relation, given that `self` is the one under [`Neighbouring::AddRemove`]: the square of
    /// a doubled norm is four times as large.
    ///
    /// # Errors
    /// [`SensitivityError::TooLarge`] where the square does not fit.
    pub fn under(self, relation: Neighbouring) -> Result<Self, SensitivityError> {
        let factor = u128::from(relation.norm_factor()).pow(2);
        self.0.checked_mul(factor).map(Self).ok_or(SensitivityError::TooLarge { name: L2, value: self.0 })
    }
}
