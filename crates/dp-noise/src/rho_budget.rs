//! Ledger arithmetic of zero-concentrated differential privacy.

use core::fmt;

use crate::calibration::{MARGIN, least_epsilon};
use crate::distance::{DistanceError, allowed, rest};
use crate::dyadic::to_f64;
use crate::wide::Wide;
use crate::{Amount, BudgetError, Delta, DisjointParts, Epsilon, ParameterError, Permit, PrivacyLevel, Rho};

/// A budget of ρ (zCDP) for one data set and one unit of privacy.
///
/// Costs of releases about the same people add up, in exact decimals as in [`Budget`](crate::Budget). Gaussian releases
/// cost the ρ of the variance actually used ([`Variance::rho_cost`](crate::Variance::rho_cost)); a pure ε-differentially
/// private release costs `ε²/2`, rounded up to a unit of `10⁻¹⁸`. Nothing is refunded, and the budget cannot be cloned.
///
/// # Examples
/// ```
/// use dp_noise::{Amount, Delta, Epsilon, Rho, RhoBudget};
/// let mut budget = RhoBudget::new(Amount::parse_total("0.5")?);
/// let gaussian = budget.spend(Rho::new(0.1)?)?;
/// assert_eq!(gaussian.amount().to_string(), "0.1");
/// let laplace = budget.spend_pure(Epsilon::new(0.2)?)?; // 0.2²/2
/// assert_eq!((laplace.stated().get(), budget.spent().to_string().as_str()), (0.2, "0.12"));
/// let epsilon = budget.statement(Delta::new(1e-6)?)?;
/// assert!((epsilon - 2.365_754_529).abs() < 1e-8);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Debug, PartialEq)]
pub struct RhoBudget {
    total: Amount,
    spent: Amount,
    distance: f64,
}

/// Why no (ε, δ) statement can be made.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum StatementError {
    /// What was spent is above [`Rho::MAX`].
    Rho(ParameterError),
    /// Inexact sampling takes too much of δ.
    Distance(DistanceError),
}

impl fmt::Display for StatementError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rho(_) => f.write_str("too much was spent to state a level"),
            Self::Distance(_) => f.write_str("the samplers are not exact enough for this delta"),
        }
    }
}

impl core::error::Error for StatementError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Rho(error) => Some(error),
            Self::Distance(error) => Some(error),
        }
    }
}

impl RhoBudget {
    /// An unspent budget.
    #[must_use]
    pub const fn new(total: Amount) -> Self {
        Self::resume(total, Amount::ZERO, 0.0)
    }

    /// A budget as a ledger left it: total, spent, and the [`distance`](Self::distance) recorded. More spent than the
    /// total is possible (a total that was lowered): nothing remains.
    #[must_use]
    pub const fn resume(total: Amount, spent: Amount, distance: f64) -> Self {
        Self { total, spent, distance }
    }

    /// The whole budget.
    #[must_use]
    pub const fn total(&self) -> Amount {
        self.total
    }

    /// What has been spent.
    #[must_use]
    pub const fn spent(&self) -> Amount {
        self.spent
    }

    /// What is left.
    #[must_use]
    pub const fn remaining(&self) -> Amount {
        self.total.saturating_sub(self.spent)
    }

    /// The total-variation distance of all draws so far from their laws; 0 when every sampler was exact.
    #[must_use]
    pub const fn distance(&self) -> f64 {
        self.distance
    }

    /// Books a cost and hands out the right to one release.
    ///
    /// # Privacy
    /// The cost is spent when this returns, whether or not the permit is ever used.
    ///
    /// # Errors
    /// [`BudgetError::Exceeded`] when the cost is more than what is left; nothing is booked then.
    pub fn spend(&mut self, rho: Rho) -> Result<Permit<Rho>, BudgetError> {
        let amount = rho.to_amount();
        self.book(amount)?;
        Ok(Permit::booked(rho, amount))
    }

    /// Books a pure ε-differentially private release at `ε²/2`, computed from the exact decimal of ε and rounded up to a
    /// unit. The permit is for ε and names its amount; what this ledger booked is the ρ.
    ///
    /// # Privacy
    /// As for [`spend`](Self::spend). Mechanisms with a better bound of their own state it and use that.
    ///
    /// # Errors
    /// [`BudgetError::Exceeded`] when the cost is more than what is left; nothing is booked then.
    pub fn spend_pure(&mut self, epsilon: Epsilon) -> Result<Permit<Epsilon>, BudgetError> {
        let decimal = epsilon.to_amount();
        self.book(half_square(decimal))?;
        Ok(Permit::booked(epsilon, decimal))
    }

    /// Records that `draws` draws were made at distance `each` from their law
    /// ([`NoiseSampler::statistical_distance`](crate::NoiseSampler::statistical_distance)), rounded up.
    pub fn record_distance(&mut self, draws: u64, each: f64) {
        if draws > 0 && each != 0.0 {
            // A distance that is no number counts as the largest one.
            let added = to_f64(draws) * each * (1.0 + MARGIN);
            let added = if added >= 0.0 { added } else { f64::INFINITY };
            self.distance = ((self.distance + added) * (1.0 + f64::EPSILON)).max(f64::MIN_POSITIVE);
        }
    }

    /// Books `amount` once and gives each of `parts` budgets that total (parallel composition).
    ///
    /// The parts begin without a distance; a ledger that states the whole records the largest of theirs.
    ///
    /// # Privacy
    /// Sound only under the assumption that the caller names in `assumption`; no program can check it.
    ///
    /// # Errors
    /// [`BudgetError::Exceeded`] when `amount` is more than what is left; nothing is booked then.
    pub fn split_disjoint(
        &mut self,
        amount: Amount,
        parts: u32,
        assumption: DisjointParts,
    ) -> Result<impl ExactSizeIterator<Item = Self> + use<>, BudgetError> {
        let DisjointParts::EachUnitInOnePart = assumption;
        self.book(amount)?;
        Ok((0..parts).map(move |_| Self::new(amount)))
    }

    /// The ε of the (ε, δ) guarantee that everything booked so far gives, rounded up; 0 when nothing was spent.
    ///
    /// The ρ spent is converted as by [`zcdp_to_dp`](crate::zcdp_to_dp), and what inexact sampling adds is part of δ.
    ///
    /// # Errors
    /// [`StatementError`] when more than [`Rho::MAX`] was spent, or when inexact sampling takes more than `δ/2²⁰`.
    pub fn statement(&self, delta: Delta) -> Result<f64, StatementError> {
        let target = if self.distance == 0.0 { delta.get() } else { rest(delta.get()) };
        let epsilon = if self.spent == Amount::ZERO {
            0.0
        } else {
            let nearest = self.spent.nearest_f64();
            // Not below what was spent.
            let level = Rho::new(nearest.next_up().max(Rho::MIN)).map_err(StatementError::Rho)?;
            least_epsilon(level, target)
        };
        allowed(self.distance, epsilon, delta.get()).map_err(StatementError::Distance)?;
        Ok(epsilon)
    }

    fn book(&mut self, amount: Amount) -> Result<(), BudgetError> {
        match self.spent.checked_add(amount) {
            Some(spent) if spent <= self.total => {
                self.spent = spent;
                Ok(())
            }
            _ => Err(BudgetError::Exceeded { requested: amount, remaining: self.remaining() }),
        }
    }
}

/// `amount² / 2`, rounded up to a unit.
fn half_square(amount: Amount) -> Amount {
    // In units of 10^-18: units² / (2 · 10^18).
    let divisor = 2 * 10_u128.pow(18);
    let (whole, rest) = Wide::product(amount.units(), amount.units()).div_rem(divisor);
    // Beyond 128 bits, which no ε reaches, the cost is more than any budget.
    let units = whole.to_u128().and_then(|whole| whole.checked_add(u128::from(rest != 0)));
    Amount::from_units(units.unwrap_or(u128::MAX))
}
