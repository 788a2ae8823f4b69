//! Frequency releases in a ledger.

use countsketch_dp::{ContributionBound, PrivacyCost, ReleaseId};
use sfm_pcsa::Unit;

use super::level::PricedRelease;
use super::release::Payment;
use crate::error::{Error, ErrorKind};
use crate::ledger::{Ledger, SpendReceipt, SpendRecord};

/// A spend for a frequency release that is on the disk, and the right to that release.
#[derive(Debug)]
#[must_use = "a spend that is dropped is budget spent for nothing"]
pub struct FrequencySpend {
    payment: Payment,
    receipt: SpendReceipt,
}

impl FrequencySpend {
    /// The payment for one release, and the receipt by which the release is written down afterwards.
    #[must_use = "a payment that is dropped is budget spent for nothing"]
    pub fn payment(self) -> (Payment, SpendReceipt) {
        (self.payment, self.receipt)
    }

    /// What was booked.
    #[must_use]
    pub const fn record(&self) -> &SpendRecord {
        self.receipt.record()
    }
}

impl Ledger {
    /// Books a frequency release at its price: ρ of the variance really drawn for Gaussian noise, which needs a ledger of ρ, and
    /// ε for Laplace noise, which a ledger of ρ books at ε²/2, rounded up.
    ///
    /// # Privacy
    /// As [`spend`](Self::spend).
    ///
    /// # Errors
    /// As [`spend_for`](Self::spend_for) and [`spend_rho`](Self::spend_rho).
    ///
    /// # Examples
    /// See [`release_frequency_file_paid`](crate::release_frequency_file_paid).
    pub fn spend_release(&self, label: &str, priced: &PricedRelease) -> Result<FrequencySpend, Error> {
        let unit = unit_of(priced);
        match priced.cost() {
            PrivacyCost::Rho(rho) => {
                let (permit, receipt) = self.spend_rho(label, rho, unit)?.permit();
                Ok(FrequencySpend { payment: Payment::Rho(permit), receipt })
            }
            PrivacyCost::Epsilon(epsilon) => {
                let (permit, receipt) = self.spend_with(label, epsilon, unit)?.permit();
                Ok(FrequencySpend { payment: Payment::Epsilon(permit), receipt })
            }
            _ => Err(Error::new(ErrorKind::Internal, "a release costs rho or epsilon")),
        }
    }

    /// Checks that [`spend_release`](Self::spend_release) would be accepted now, and books nothing.
    ///
    /// # Errors
    /// As [`spend_release`](Self::spend_release).
    pub fn check_release(&self, label: &str, priced: &PricedRelease) -> Result<(), Error> {
        let unit = unit_of(priced);
        match priced.cost() {
            PrivacyCost::Rho(rho) => self.check_rho(label, rho, unit),
            PrivacyCost::Epsilon(epsilon) => self.check_with(label, epsilon, unit),
            _ => Err(Error::new(ErrorKind::Internal, "a release costs rho or epsilon")),
        }
    }
}

impl SpendReceipt {
    /// As [`finish`](Self::finish), for a frequency release.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub fn finish_frequencies(&self, release: ReleaseId) -> Result<(), Error> {
        self.finish(sfm_pcsa::ReleaseId::from_bytes(release.to_bytes()))
    }
}

/// The unit as a ledger knows it: a record protects no more than an item does, and of a user only the number of items is
/// told. `None` where only the total weight of a user is bounded.
fn unit_of(priced: &PricedRelease) -> Option<Unit> {
    let bound: ContributionBound = priced.exposure().bound();
    if bound.is_user() { bound.max_items().and_then(Unit::user) } else { Some(Unit::Item) }
}

#[cfg(test)]
mod tests {
    use countsketch_dp::{CountSketchShape, Granularity};
    use dp_noise::{Amount, Delta, Epsilon, Neighbouring, Rho};
    use sketch_hash::AnyHash;

    use super::*;
    use crate::frequency::{Clipping, CountSketchTerms, FrequencyBuilder, FrequencyLevel, RawCountSketch};
    use crate::ledger::{Currency, LedgerTerms};
    use crate::text::TextRules;

    fn ledger(folder: &std::path::Path, currency: Currency, unit: &str) -> Ledger {
        let terms = LedgerTerms::new(currency, Amount::parse_total("1").unwrap()).unwrap();
        Ledger::create(&folder.join(currency.as_str()), terms.with_unit(unit).unwrap()).unwrap()
    }

    fn shape() -> CountSketchShape {
        CountSketchShape::new(5, 64).unwrap()
    }

    fn raw() -> RawCountSketch {
        let terms = CountSketchTerms::records(shape(), Granularity::ONE, 1).unwrap();
        FrequencyBuilder::new(terms, AnyHash::default(), TextRules::default()).unwrap().finish().unwrap()
    }

    fn priced(level: FrequencyLevel) -> PricedRelease {
        level.price(raw().exposure(Neighbouring::AddRemove)).unwrap()
    }

    #[test]
    fn every_level_is_paid_in_a_ledger_of_rho_and_pure_ones_in_one_of_epsilon() {
        let folder = tempfile::tempdir().unwrap();
        let (epsilon, delta) = (Epsilon::new(0.5).unwrap(), Delta::new(1e-6).unwrap());
        let zcdp = ledger(folder.path(), Currency::Rho, "one record");
        let pure = ledger(folder.path(), Currency::Epsilon, "one record");
        let levels = [
            FrequencyLevel::Rho(Rho::new(0.1).unwrap()),
            FrequencyLevel::Approximate { epsilon, delta },
            FrequencyLevel::Pure(epsilon),
        ];
        for level in levels {
            let priced = priced(level);
            zcdp.check_release("a", &priced).unwrap();
            let spend = zcdp.spend_release("a", &priced).unwrap();
            assert_eq!(spend.record().epsilon().is_some(), matches!(level, FrequencyLevel::Pure(_)));
            let (payment, receipt) = spend.payment();
            let private = raw().release_paid(&priced, payment).unwrap();
            receipt.finish_frequencies(private.leaves()[0].id()).unwrap();
            let is_pure = matches!(level, FrequencyLevel::Pure(_));
            assert_eq!(pure.spend_release("a", &priced).is_ok(), is_pure);
        }
        let record = zcdp.show().unwrap();
        let costs: Vec<String> = record.spends().iter().map(|spend| spend.cost().to_string()).collect();
        // rho as given, that of the exact calibration between, epsilon² / 2.
        assert_eq!((costs[0].as_str(), costs[2].as_str()), ("0.1", "0.125"));
        assert!(costs[1].starts_with("0.00"), "{}", costs[1]);
        assert!(record.spends().iter().all(|spend| spend.status() == "released"));
        let spent = pure.show().unwrap();
        assert_eq!((spent.spends().len(), spent.spent().to_string().as_str()), (1, "0.5"));
    }

    #[test]
    fn a_gaussian_release_is_refused_by_a_ledger_of_epsilon_and_told_what_would_work() {
        let folder = tempfile::tempdir().unwrap();
        let pure = ledger(folder.path(), Currency::Epsilon, "one record");
        let error = pure.spend_release("a", &priced(FrequencyLevel::Rho(Rho::new(0.1).unwrap()))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused);
        let hint = error.to_json()["hint"].to_string();
        assert!(hint.contains("--pure") && hint.contains("--rho"), "{hint}");
        assert!(pure.show().unwrap().spends().is_empty());
    }

    #[test]
    fn records_are_refused_by_a_ledger_of_users() {
        let folder = tempfile::tempdir().unwrap();
        let of_users = ledger(folder.path(), Currency::Rho, "one user with at most 2 items");
        let level = FrequencyLevel::Rho(Rho::new(0.1).unwrap());
        assert!(of_users.spend_release("a", &priced(level)).is_err());
        let terms = CountSketchTerms::users(shape(), Granularity::ONE, 2, 1, Clipping::Auto).unwrap();
        let exposure = countsketch_dp::Exposure::new(shape(), terms.bound(), 1, Neighbouring::AddRemove);
        let spend = of_users.spend_release("a", &level.price(exposure).unwrap()).unwrap();
        assert_eq!(spend.record().unit(), Unit::user(2));
    }
}
