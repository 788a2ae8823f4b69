use dp_noise::{Amount, Epsilon, Rho};

use super::{Currency, LedgerError};

/// What a release costs by its own law of noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SpendCost {
    /// A release with pure ε.
    Epsilon(Epsilon),
    /// A Gaussian release.
    Rho(Rho),
}

impl From<Epsilon> for SpendCost {
    fn from(epsilon: Epsilon) -> Self {
        Self::Epsilon(epsilon)
    }
}

impl From<Rho> for SpendCost {
    fn from(rho: Rho) -> Self {
        Self::Rho(rho)
    }
}

impl SpendCost {
    /// The ε of the release, if it is pure.
    pub(super) fn epsilon(self) -> Option<Amount> {
        match self {
            Self::Epsilon(epsilon) => Some(Amount::from_epsilon(epsilon)),
            Self::Rho(_) => None,
        }
    }

    /// What it costs in a currency.
    pub(super) fn in_currency(self, currency: Currency) -> Result<Amount, LedgerError> {
        match (self, currency) {
            (Self::Epsilon(epsilon), currency) => Ok(currency.cost(epsilon)),
            (Self::Rho(rho), Currency::Rho) => Ok(Amount::from_rho(rho)),
            (Self::Rho(rho), Currency::Epsilon) => Err(LedgerError::Gaussian { rho: Amount::from_rho(rho) }),
        }
    }
}
