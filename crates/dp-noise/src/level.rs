//! The two currencies that privacy is paid in.

use crate::{Amount, Epsilon, ParameterError, Rho};

mod sealed {
    /// Closes [`PrivacyLevel`](super::PrivacyLevel) to other crates.
    pub trait Sealed {}
    impl Sealed for crate::Epsilon {}
    impl Sealed for crate::Rho {}
}

/// A privacy loss that a [`Permit`](crate::Permit) can grant: [`Epsilon`] (pure differential privacy) or [`Rho`] (zCDP).
///
/// Sealed: the loss of a mechanism in either currency follows from a proof, so no other type may stand for one.
pub trait PrivacyLevel: Copy + PartialOrd + sealed::Sealed {
    /// What a ledger books for this level: its shortest decimal, rounded up to a unit.
    fn to_amount(self) -> Amount;

    /// The level a mechanism may use for an amount: the largest `f64` not above it.
    ///
    /// # Errors
    /// [`ParameterError`] when that is no valid level.
    fn from_amount(amount: Amount) -> Result<Self, ParameterError>;
}

impl PrivacyLevel for Epsilon {
    fn to_amount(self) -> Amount {
        Amount::from_epsilon(self)
    }

    fn from_amount(amount: Amount) -> Result<Self, ParameterError> {
        amount.to_epsilon()
    }
}

impl PrivacyLevel for Rho {
    fn to_amount(self) -> Amount {
        Amount::from_rho(self)
    }

    fn from_amount(amount: Amount) -> Result<Self, ParameterError> {
        amount.to_rho()
    }
}
