use core::fmt;

use dp_noise::{Amount, Epsilon};
use sfm_pcsa::Unit;

use super::LedgerError;

/// The longest label or unit, in bytes.
pub(super) const MAX_TEXT_LEN: usize = 255;

/// What a ledger counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Currency {
    /// The ε of pure differential privacy; costs add up \[DR14\].
    Epsilon,
    /// The ρ of zero-concentrated differential privacy; costs add up \[BS16\].
    Rho,
}

impl Currency {
    /// `epsilon` or `rho`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Epsilon => "epsilon",
            Self::Rho => "rho",
        }
    }

    /// What a release with pure ε costs: ε itself, or `ρ = ε² / 2` \[BS16\], rounded up to 10⁻¹⁸.
    ///
    /// # Examples
    /// ```
    /// use dp_noise::Epsilon;
    /// use dpsketch::Currency;
    ///
    /// let epsilon = Epsilon::new(0.6)?;
    /// assert_eq!(Currency::Epsilon.cost(epsilon).to_string(), "0.6");
    /// assert_eq!(Currency::Rho.cost(epsilon).to_string(), "0.18");
    /// # Ok::<(), dp_noise::ParameterError>(())
    /// ```
    #[must_use]
    pub fn cost(self, epsilon: Epsilon) -> Amount {
        self.cost_of_amount(Amount::from_epsilon(epsilon))
    }

    /// [`cost`](Self::cost) of an exact decimal ε.
    pub(super) fn cost_of_amount(self, epsilon: Amount) -> Amount {
        match self {
            Self::Epsilon => epsilon,
            Self::Rho => half_square(epsilon),
        }
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        [Self::Epsilon, Self::Rho].into_iter().find(|currency| currency.as_str() == text)
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// `ε² / 2`, rounded up; more than an amount can hold becomes the largest amount, which no budget covers.
fn half_square(epsilon: Amount) -> Amount {
    const ONE: u128 = 10_u128.pow(18);
    const ROOT: u128 = 10_u128.pow(9);
    // With ε = (a·10⁹ + b)·10⁻¹⁸ the result is (a²·10¹⁸ + 2ab·10⁹ + b²) / (2·10¹⁸) units. ε is at most 2⁸, so a < 2⁴⁰
    // and everything below fits in 128 bits.
    let (a, b) = (epsilon.units() / ROOT, epsilon.units() % ROOT);
    let units = a.checked_mul(a).and_then(|square| {
        let rest = (square % 2 * ONE).checked_add(2 * ROOT * b * a)?.checked_add(b * b)?;
        (square / 2).checked_add(rest.div_ceil(2 * ONE))
    });
    Amount::from_units(units.unwrap_or(u128::MAX))
}

/// What a ledger covers: a total, in a currency, for each unit of privacy of one data set.
///
/// # Examples
/// ```
/// use dp_noise::Amount;
/// use dpsketch::{Currency, LedgerTerms};
///
/// let terms = LedgerTerms::new(Currency::Epsilon, Amount::parse_total("1")?)?.with_unit("one patient")?;
/// assert_eq!((terms.total().to_string(), terms.unit()), ("1".to_owned(), "one patient"));
/// # Ok::<(), dpsketch::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerTerms {
    currency: Currency,
    total: Amount,
    unit: String,
}

impl LedgerTerms {
    /// The unit unless another is named: an item of a distinct count, or a record of frequencies.
    pub const DEFAULT_UNIT: &str = "one item or record";

    /// A total for [`Self::DEFAULT_UNIT`].
    ///
    /// # Errors
    /// [`LedgerError::NoTotal`] when the total is zero.
    pub fn new(currency: Currency, total: Amount) -> Result<Self, LedgerError> {
        if total == Amount::ZERO {
            return Err(LedgerError::NoTotal);
        }
        Ok(Self { currency, total, unit: Self::DEFAULT_UNIT.to_owned() })
    }

    /// Names who or what the total protects, in any words: `one patient`, `one user with at most 5 items`.
    ///
    /// # Privacy
    /// Every release that is booked has to protect this unit at the ε that is booked. The words are for people; a program
    /// understands those of a [`Unit`] only, see [`check_unit`](Self::check_unit).
    ///
    /// # Errors
    /// [`LedgerError::Text`] when the text is empty or longer than 255 bytes.
    pub fn with_unit(self, unit: impl Into<String>) -> Result<Self, LedgerError> {
        let unit = unit.into();
        check_text("unit", &unit)?;
        Ok(Self { unit, ..self })
    }

    /// Checks that a release which protects `unit` protects the ledger's unit as well.
    ///
    /// Where the ledger's words are those of a [`Unit`], a program can tell: what protects a user protects each item,
    /// but not the other way round; the bound on a user's items is kept by each release itself. Other words say
    /// nothing to a program.
    ///
    /// # Errors
    /// [`LedgerError::Unit`] for items in a ledger of users.
    ///
    /// # Examples
    /// ```
    /// # use dp_noise::Amount;
    /// # use dpsketch::{Currency, LedgerTerms};
    /// use sfm_pcsa::Unit;
    ///
    /// let terms = LedgerTerms::new(Currency::Epsilon, Amount::parse_total("1")?)?;
    /// let user = Unit::user(5).ok_or("at least one item")?;
    /// let of_users = terms.clone().with_unit(user.to_string())?;
    /// assert!(terms.check_unit(user).is_ok() && of_users.check_unit(user).is_ok());
    /// assert!(of_users.check_unit(Unit::Item).is_err());
    /// assert!(terms.with_unit("one patient")?.check_unit(Unit::Item).is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn check_unit(&self, unit: Unit) -> Result<(), LedgerError> {
        let of_users = unit_of_words(&self.unit).is_some_and(|own| own != Unit::Item);
        if of_users && unit == Unit::Item {
            return Err(LedgerError::Unit { expected: self.unit.clone(), found: unit });
        }
        Ok(())
    }

    /// What is counted.
    #[must_use]
    pub fn currency(&self) -> Currency {
        self.currency
    }

    /// The most that may be spent.
    #[must_use]
    pub fn total(&self) -> Amount {
        self.total
    }

    /// Who or what the total protects.
    #[must_use]
    pub fn unit(&self) -> &str {
        &self.unit
    }
}

/// The unit whose words these are, if they are any's.
pub(super) fn unit_of_words(words: &str) -> Option<Unit> {
    let items = |words: &str| {
        let number = words.strip_prefix("one user with at most ")?.split_once(' ')?.0;
        Unit::user(number.parse().ok()?)
    };
    let unit = items(words).unwrap_or(Unit::Item);
    (unit.to_string() == words).then_some(unit)
}

pub(super) fn check_text(what: &'static str, text: &str) -> Result<(), LedgerError> {
    if (1..=MAX_TEXT_LEN).contains(&text.len()) { Ok(()) } else { Err(LedgerError::Text { what, found: text.len() }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rho_is_half_the_square_rounded_up() {
        // Computed with Python's fractions: ceil(units² / (2·10¹⁸)).
        for (epsilon, rho) in [
            ("256", "32768"),
            ("255.999999999999999999", "32767.999999999999999745"),
            ("1.1", "0.605"),
            ("0.333333333333333333", "0.055555555555555556"),
            ("0.000000000000000001", "0.000000000000000001"),
            ("0.000000001", "0.000000000000000001"),
            ("0.000000002", "0.000000000000000002"),
            ("0.000000002000000001", "0.000000000000000003"),
            ("3.000000000000000001", "4.500000000000000004"),
            ("123.456789012345678901", "7620.789376619418375219"),
        ] {
            let epsilon = Amount::parse_cost(epsilon).unwrap();
            assert_eq!(Currency::Rho.cost_of_amount(epsilon).to_string(), rho);
        }
    }

    #[test]
    fn units_are_known_by_their_words() {
        for unit in [Some(Unit::Item), Unit::user(1), Unit::user(5), Unit::user(u32::MAX)] {
            assert_eq!(unit_of_words(&unit.unwrap().to_string()), unit);
        }
        for words in ["", "one user", "one user with at most 0 items", "one user with at most 1 items", "One item"] {
            assert_eq!(unit_of_words(words), None, "{words}");
        }
    }

    #[test]
    fn absurd_amounts_cost_more_than_any_budget() {
        let cost = Currency::Rho.cost_of_amount(Amount::from_units(u128::MAX));
        assert_eq!(cost, Amount::from_units(u128::MAX));
    }
}
