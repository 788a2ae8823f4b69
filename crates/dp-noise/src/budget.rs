//! Ledger arithmetic of pure differential privacy.

use core::fmt;

use crate::{Amount, Epsilon, ParameterError, Permit};

/// A budget of pure ε for one data set and one unit of privacy.
///
/// Costs of releases about the same people add up (sequential composition), and the budget refuses what no longer
/// fits. All book-keeping is in exact decimals ([`Amount`]); there is no rounding drift. Spending happens before noise
/// is drawn, and nothing is refunded. The budget cannot be cloned; `&mut` makes it safe between threads, and a shared
/// ledger is the caller's mutex.
///
/// # Examples
/// ```
/// use dp_noise::{Amount, Budget, Epsilon};
/// let mut budget = Budget::new(Amount::parse_total("1")?);
/// let tenth = Epsilon::new(0.1)?;
/// for _ in 0..10 {
///     let permit = budget.spend(tenth)?;
///     assert!(permit.cost() <= tenth);
/// }
/// let refused = budget.spend(tenth).unwrap_err();
/// assert_eq!(refused.to_string(), "the budget does not cover the cost: requested 0.1, remaining 0");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct Budget {
    total: Amount,
    spent: Amount,
}

/// Why a budget did not grant a permit.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum BudgetError {
    /// The cost is more than what is left.
    Exceeded {
        /// What was asked for.
        requested: Amount,
        /// What is left.
        remaining: Amount,
    },
    /// The cost is not a valid ε.
    Cost(ParameterError),
}

impl fmt::Display for BudgetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exceeded { requested, remaining } => {
                write!(f, "the budget does not cover the cost: requested {requested}, remaining {remaining}")
            }
            Self::Cost(_) => f.write_str("the cost is not a valid epsilon"),
        }
    }
}

impl core::error::Error for BudgetError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Exceeded { .. } => None,
            Self::Cost(error) => Some(error),
        }
    }
}

/// A cost to be booked: an [`Epsilon`] or an exact [`Amount`].
///
/// Made by `From`, so that [`Budget::spend`] takes either.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    amount: Amount,
    stated: Option<Epsilon>,
}

impl From<Epsilon> for Cost {
    fn from(epsilon: Epsilon) -> Self {
        Self { amount: Amount::from_epsilon(epsilon), stated: Some(epsilon) }
    }
}

impl From<Amount> for Cost {
    fn from(amount: Amount) -> Self {
        Self { amount, stated: None }
    }
}

/// The assumption behind parallel composition, named where it is made.
///
/// The parts of a split budget may each be spent in full only under it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DisjointParts {
    /// Each unit of privacy (a person, say) lies in one part only, and which part it is does not depend on a private
    /// value that neighbouring data sets may differ in.
    ///
    /// Disjoint items or disjoint keys are not enough: a person with two items may be in two parts. Nor is a split by a
    /// private attribute that a change of the person's data would alter.
    EachUnitInOnePart,
}

impl DisjointParts {
    /// The assumption in words, for a ledger's record.
    #[must_use]
    pub fn statement(self) -> &'static str {
        match self {
            Self::EachUnitInOnePart => {
                "each unit of privacy lies in one part only, and its part does not depend on a private value"
            }
        }
    }
}

impl Budget {
    /// An unspent budget.
    #[must_use]
    pub const fn new(total: Amount) -> Self {
        Self { total, spent: Amount::ZERO }
    }

    /// A budget as a ledger left it. More spent than the total is possible (a total that was lowered): nothing remains.
    #[must_use]
    pub const fn resume(total: Amount, spent: Amount) -> Self {
        Self { total, spent }
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

    /// Books a cost and hands out the right to one release.
    ///
    /// # Privacy
    /// The cost is spent when this returns, whether or not the permit is ever used.
    ///
    /// # Errors
    /// [`BudgetError::Exceeded`] when the cost is more than what is left, [`BudgetError::Cost`] when an amount is not
    /// a valid ε. Nothing is booked then.
    pub fn spend(&mut self, cost: impl Into<Cost>) -> Result<Permit<Epsilon>, BudgetError> {
        let Cost { amount, stated } = cost.into();
        let stated = match stated {
            Some(epsilon) => epsilon,
            None => nearest_epsilon(amount).map_err(BudgetError::Cost)?,
        };
        self.book(amount)?;
        Ok(Permit::booked(stated, amount))
    }

    /// Books `amount` once and gives each of `parts` budgets that total (parallel composition).
    ///
    /// A person is in one part, so spending every part in full costs that person `amount`, not `parts` times as much.
    /// The parts are made one by one as the iterator is advanced.
    ///
    /// # Privacy
    /// Sound only under the assumption that the caller names in `assumption`; no program can check it.
    ///
    /// # Errors
    /// [`BudgetError::Exceeded`] when `amount` is more than what is left; nothing is booked then.
    ///
    /// # Examples
    /// ```
    /// use dp_noise::{Amount, Budget, DisjointParts};
    /// let mut whole = Budget::new(Amount::parse_total("1")?);
    /// let half = Amount::parse_cost("0.5")?;
    /// let parts: Vec<Budget> = whole.split_disjoint(half, 3, DisjointParts::EachUnitInOnePart)?.collect();
    /// assert!(parts.iter().all(|part| part.remaining() == half));
    /// assert_eq!(whole.remaining(), half);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
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

/// The level that a record states for an exact amount: the nearest `f64`, or the one below where that is out of range.
fn nearest_epsilon(amount: Amount) -> Result<Epsilon, ParameterError> {
    let below = amount.to_epsilon()?;
    Ok(Epsilon::new(amount.nearest_f64()).unwrap_or(below))
}
