use dp_noise::{Amount, Sampling};
use sfm_pcsa::{ReleaseId, Unit};

use super::LedgerError;
use super::cost::SpendCost;
use super::sample::SampleSpend;
use super::terms::{LedgerTerms, check_text};
use crate::subsampled::SampleRelease;

/// One entry of a ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpendRecord {
    pub(super) label: String,
    pub(super) epsilon: Option<Amount>,
    pub(super) cost: Amount,
    pub(super) unit: Option<Unit>,
    pub(super) sample: Option<SampleSpend>,
    pub(super) release: Option<ReleaseId>,
}

impl SpendRecord {
    /// What the spend was for, in the words of whoever spent. Any text: escape it before it goes to a terminal.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The ε of a pure release, as an exact decimal; `None` for Gaussian noise, which costs ρ.
    #[must_use]
    pub fn epsilon(&self) -> Option<Amount> {
        self.epsilon
    }

    /// What was booked, in the currency of the ledger.
    #[must_use]
    pub fn cost(&self) -> Amount {
        self.cost
    }

    /// Whom the release protects at its ε; `None` where nobody said more than that it is the ledger's unit.
    #[must_use]
    pub fn unit(&self) -> Option<Unit> {
        self.unit
    }

    /// Whether the release is of a secret sample: what it cost depends on what was released under its key before.
    #[must_use]
    pub fn is_of_sample(&self) -> bool {
        self.sample.is_some()
    }

    /// Of which secret sample the release is; `None` where it is of whole data.
    #[must_use]
    pub fn sampling(&self) -> Option<Sampling> {
        self.sample.map(SampleSpend::sampling)
    }

    /// Of a secret sample, ε towards whoever knows its key; `None` where the release is of whole data.
    #[must_use]
    pub fn epsilon_if_key_known(&self) -> Option<f64> {
        self.sample.map(SampleSpend::epsilon_if_key_known)
    }

    /// The release that came of it; `None` when it failed, is not done yet, or was booked by hand.
    #[must_use]
    pub fn release(&self) -> Option<ReleaseId> {
        self.release
    }

    /// `released`, or `spent, not released`. Both count in full.
    #[must_use]
    pub fn status(&self) -> &'static str {
        if self.release.is_some() { "released" } else { "spent, not released" }
    }
}

/// What stands in a ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerRecord {
    pub(super) terms: LedgerTerms,
    pub(super) spends: Vec<SpendRecord>,
}

impl LedgerRecord {
    /// What the ledger covers.
    #[must_use]
    pub fn terms(&self) -> &LedgerTerms {
        &self.terms
    }

    /// All entries, oldest first. The first one has number 1.
    #[must_use]
    pub fn spends(&self) -> &[SpendRecord] {
        &self.spends
    }

    /// The sum of all costs, released or not.
    #[must_use]
    pub fn spent(&self) -> Amount {
        // More than an amount can hold is more than any total.
        let sum = self.spends.iter().try_fold(Amount::ZERO, |sum, spend| sum.checked_add(spend.cost));
        sum.unwrap_or(Amount::from_units(u128::MAX))
    }

    /// What is left; nothing when more was spent than the total, which a total lowered by hand can make so.
    #[must_use]
    pub fn remaining(&self) -> Amount {
        self.terms.total().saturating_sub(self.spent())
    }

    /// A unit of another kind that earlier spends protect: what an item pays and what a user pays add up for nobody but
    /// who is both.
    #[must_use]
    pub fn other_unit(&self, unit: Unit) -> Option<Unit> {
        let mut units = self.spends.iter().filter_map(|spend| spend.unit);
        units.find(|other| (*other == Unit::Item) != (unit == Unit::Item))
    }

    /// Books a release.
    pub(super) fn spend(
        &mut self,
        label: &str,
        cost: impl Into<SpendCost>,
        unit: Option<Unit>,
    ) -> Result<SpendRecord, LedgerError> {
        let cost = cost.into();
        check_text("label", label)?;
        if let Some(unit) = unit {
            self.terms.check_unit(unit)?;
        }
        let requested = cost.in_currency(self.terms.currency())?;
        let (label, epsilon) = (label.to_owned(), cost.epsilon());
        self.book(SpendRecord { label, epsilon, cost: requested, unit, sample: None, release: None })
    }

    /// Books a release of a secret sample, at what it costs beside the earlier ones under its key.
    pub(super) fn spend_sample(&mut self, label: &str, release: &SampleRelease) -> Result<SpendRecord, LedgerError> {
        check_text("label", label)?;
        self.terms.check_unit(release.unit())?;
        let sample = SampleSpend::new(release);
        let unbounded = Amount::from_units(u128::MAX);
        let cost = sample.map_or(unbounded, |sample| self.cost_of_sample(sample, release.epsilon()));
        let (epsilon, unit) = (Some(Amount::from_epsilon(release.epsilon())), Some(release.unit()));
        self.book(SpendRecord { label: label.to_owned(), epsilon, cost, unit, sample, release: None })
    }

    fn book(&mut self, spend: SpendRecord) -> Result<SpendRecord, LedgerError> {
        let (requested, remaining, currency) = (spend.cost, self.remaining(), self.terms.currency());
        if requested > remaining {
            return Err(LedgerError::Exceeded { requested, remaining, currency });
        }
        self.spends.push(spend.clone());
        Ok(spend)
    }

    /// Writes the release into entry `number`, which must be as `made`.
    pub(super) fn finish(&mut self, number: usize, made: &SpendRecord, release: ReleaseId) -> Result<(), LedgerError> {
        let spend = number.checked_sub(1).and_then(|index| self.spends.get_mut(index));
        let spend = spend.ok_or(LedgerError::NoSuchSpend { number })?;
        if spend.release.is_some() {
            return Err(LedgerError::Released { number });
        }
        if spend != made {
            return Err(LedgerError::NoSuchSpend { number });
        }
        spend.release = Some(release);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use dp_noise::{Epsilon, Rho};

    use super::*;
    use crate::ledger::Currency;

    fn record(total: &str) -> LedgerRecord {
        let terms = LedgerTerms::new(Currency::Epsilon, Amount::parse_total(total).unwrap()).unwrap();
        LedgerRecord { terms, spends: Vec::new() }
    }

    #[test]
    fn ten_tenths_fit_in_one_and_the_eleventh_does_not() {
        let mut record = record("1");
        let tenth = Epsilon::new(0.1).unwrap();
        for _ in 0..10 {
            record.spend("a", tenth, None).unwrap();
        }
        let refused = LedgerError::Exceeded {
            requested: Amount::parse_cost("0.1").unwrap(),
            remaining: Amount::ZERO,
            currency: Currency::Epsilon,
        };
        assert_eq!(record.spend("a", tenth, None), Err(refused));
        assert_eq!(record.spends().len(), 10);
    }

    #[test]
    fn gaussian_noise_is_booked_in_rho_and_refused_in_epsilon() {
        let (rho, half) = (Rho::new(0.1).unwrap(), Epsilon::new(0.5).unwrap());
        let mut pure = record("1");
        let refused = LedgerError::Gaussian { rho: Amount::parse_cost("0.1").unwrap() };
        assert_eq!(pure.spend("a", rho, None), Err(refused));
        assert!(pure.spends().is_empty());
        let terms = LedgerTerms::new(Currency::Rho, Amount::parse_total("0.3").unwrap()).unwrap();
        let mut zcdp = LedgerRecord { terms, spends: Vec::new() };
        // 0.1, then 0.5² / 2.
        assert_eq!(zcdp.spend("a", rho, None).unwrap().epsilon(), None);
        assert_eq!(zcdp.spend("b", half, None).unwrap().cost().to_string(), "0.125");
        assert_eq!(zcdp.remaining().to_string(), "0.075");
        assert!(matches!(zcdp.spend("c", rho, None), Err(LedgerError::Exceeded { .. })));
    }

    #[test]
    fn a_release_goes_only_to_the_spend_it_was_made_under() {
        let mut record = record("1");
        let made = record.spend("a", Epsilon::new(0.5).unwrap(), None).unwrap();
        let other = SpendRecord { label: "b".into(), ..made.clone() };
        let release = ReleaseId::from_bytes([7; 16]);
        for number in [0, 2, usize::MAX] {
            assert_eq!(record.finish(number, &made, release), Err(LedgerError::NoSuchSpend { number }));
        }
        assert_eq!(record.finish(1, &other, release), Err(LedgerError::NoSuchSpend { number: 1 }));
        record.finish(1, &made, release).unwrap();
        assert_eq!(record.finish(1, &made, release), Err(LedgerError::Released { number: 1 }));
    }

    #[test]
    fn text_for_a_terminal_has_no_control_characters() {
        let mut record = record("1");
        record.spend("\u{1b}[2J\nfake", Epsilon::new(0.5).unwrap(), None).unwrap();
        let text = record.to_text();
        // The totals, the heading and the spend.
        assert_eq!(text.lines().count(), 3);
        assert!(text.chars().all(|character| character == '\n' || !character.is_control()), "{text:?}");
    }
}
