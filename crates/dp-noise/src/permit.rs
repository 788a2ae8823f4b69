//! The right to one release.

use crate::{Amount, PrivacyLevel};

/// The right to make **one** release at a given cost.
///
/// A permit comes from [`Budget::spend`](crate::Budget::spend), which has booked the cost already, or from
/// [`Permit::standalone`], where the caller keeps the books. It cannot be cloned and a release consumes it, so one
/// payment cannot be used twice. A release that fails after taking the permit is not refunded.
///
/// Three numbers describe it. [`amount`](Self::amount) is the exact decimal in the ledger; [`cost`](Self::cost) is the
/// level that the mechanism may use, the largest `f64` not above it; [`stated`](Self::stated) is the level as given,
/// to be written into records (0.1 stays 0.1 there, while the cost of a booked 0.1 is the `f64` just below, because the
/// nearest one exceeds it). Always `cost() <= stated()`.
///
/// A permit is for one currency: pure differential privacy (`Permit<Epsilon>`) or zCDP (`Permit<Rho>`), and a mechanism
/// asks for the one that its proof speaks of.
///
/// # Examples
/// ```
/// use dp_noise::{Epsilon, Permit};
/// let permit = Permit::standalone(Epsilon::new(0.1)?);
/// assert_eq!(permit.amount().to_string(), "0.1");
/// assert_eq!(permit.stated().get(), 0.1);
/// assert_eq!(permit.cost().get(), 0.1_f64.next_down());
/// # Ok::<(), dp_noise::ParameterError>(())
/// ```
#[derive(Debug, PartialEq)]
#[must_use = "a permit that is dropped is budget spent for nothing"]
pub struct Permit<C: PrivacyLevel> {
    cost: C,
    stated: C,
    amount: Amount,
}

impl<C: PrivacyLevel> Permit<C> {
    /// A permit without a ledger: the caller adds up what is spent.
    ///
    /// # Privacy
    /// Releases about the same people add up: the caller is responsible for the sum of all permits made this way.
    ///
    /// # Examples
    /// ```
    /// use dp_noise::{Permit, Rho};
    /// let permit: Permit<Rho> = Permit::standalone(Rho::new(0.25)?);
    /// assert_eq!((permit.cost().get(), permit.amount().to_string().as_str()), (0.25, "0.25"));
    /// # Ok::<(), dp_noise::ParameterError>(())
    /// ```
    pub fn standalone(level: C) -> Self {
        Self::booked(level, level.to_amount())
    }

    /// A permit for `stated` booked as `amount`, which was computed from it.
    pub(crate) fn booked(stated: C, amount: Amount) -> Self {
        // Rounding up to a unit can lift the amount above the request: use the lower of the two. An amount just below
        // the least level cannot arise, but if it did the request itself would be the answer.
        let cost = match C::from_amount(amount) {
            Ok(level) if level < stated => level,
            _ => stated,
        };
        Self { cost, stated, amount }
    }

    /// The level that the mechanism may use.
    #[must_use]
    pub fn cost(&self) -> C {
        self.cost
    }

    /// The level as given, for records and display; never below [`cost`](Self::cost).
    #[must_use]
    pub fn stated(&self) -> C {
        self.stated
    }

    /// The exact decimal amount that was booked.
    #[must_use]
    pub fn amount(&self) -> Amount {
        self.amount
    }
}
