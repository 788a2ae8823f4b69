//! What releases of secret samples cost that share a key.

use dp_noise::{Amount, Epsilon, SampleRate, Sampling, SubsampleKeyId, loss_under_one_key};
use serde::{Deserialize, Serialize};

use super::LedgerRecord;
use crate::subsampled::SampleRelease;

/// What a ledger notes of a release of a sample, to book the next one under the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SampleSpend {
    sampling: Sampling,
    /// ε₀ of one item.
    level: Amount,
    /// Items of a unit.
    items: u32,
}

/// The same as text.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SampleEntry {
    key: String,
    /// The numerator over 2⁶⁴.
    rate: String,
    level: String,
    items: u32,
}

impl SampleSpend {
    pub(super) fn new(release: &SampleRelease) -> Option<Self> {
        let level = Amount::from_epsilon(Epsilon::new(release.level()).ok()?);
        Some(Self { sampling: release.sampling(), level, items: release.unit().max_items() })
    }

    pub(super) fn to_entry(self) -> SampleEntry {
        SampleEntry {
            key: self.sampling.key.to_string(),
            rate: self.sampling.rate.numerator().to_string(),
            level: self.level.to_string(),
            items: self.items,
        }
    }

    /// `None` for anything that is no such spend.
    pub(super) fn from_entry(entry: &SampleEntry) -> Option<Self> {
        let digits = entry.key.len() == 32 && entry.key.bytes().all(|byte| byte.is_ascii_hexdigit());
        let key = digits.then(|| u128::from_str_radix(&entry.key, 16).ok())??;
        let rate = SampleRate::from_numerator(entry.rate.parse().ok()?)?;
        let level = Amount::parse_cost(&entry.level).ok().filter(|level| level.to_epsilon().is_ok())?;
        let sampling = Sampling { rate, key: SubsampleKeyId::from_bytes(key.to_be_bytes()) };
        (entry.items > 0).then_some(Self { sampling, level, items: entry.items })
    }
}

impl LedgerRecord {
    /// What a release at `epsilon` of a sample costs after those booked already: with it, all releases under its key cost
    /// `M ln E[exp(Σ ε₀)]` together, for the most items `M` of a unit, of which earlier ones have paid their part. The first under a key
    /// costs ε.
    pub(super) fn cost_of_sample(&self, sample: SampleSpend, epsilon: Epsilon) -> Amount {
        let currency = self.terms().currency();
        let before: Vec<_> = self
            .spends
            .iter()
            .filter_map(|spend| Some((spend.sample?, spend.cost)))
            .filter(|(other, _)| other.sampling.key == sample.sampling.key)
            .collect();
        if before.is_empty() {
            return currency.cost(epsilon);
        }
        let all = || before.iter().map(|(sample, _)| *sample).chain([sample]);
        let levels: Vec<_> = all().map(|sample| (sample.sampling.rate, sample.level.nearest_f64())).collect();
        let items = all().map(|sample| sample.items).max().unwrap_or(1);
        let loss = (loss_under_one_key(&levels) * f64::from(items)).next_up();
        let together = Epsilon::new(loss).map_or(Amount::from_units(u128::MAX), Amount::from_epsilon);
        let target =
            if together == Amount::from_units(u128::MAX) { together } else { currency.cost_of_amount(together) };
        let paid = before.iter().try_fold(Amount::ZERO, |sum, (_, cost)| sum.checked_add(*cost));
        // Never less than by itself: the losses of fresh keys add up, and a shared one costs more.
        target.saturating_sub(paid.unwrap_or(Amount::from_units(u128::MAX))).max(currency.cost(epsilon))
    }

    /// Whether a cost that was read is that of the formula, to the digits that all machines agree on.
    pub(super) fn is_cost_of_sample(&self, sample: SampleSpend, epsilon: Amount, found: Amount) -> bool {
        const DIGITS: f64 = 1e-6;
        let expected = epsilon.to_epsilon().ok().map(|epsilon| self.cost_of_sample(sample, epsilon));
        expected.is_some_and(|expected| {
            let (expected, found) = (expected.nearest_f64(), found.nearest_f64());
            (found - expected).abs() <= DIGITS * expected
        })
    }
}

#[cfg(test)]
mod tests {
    use dp_noise::{RandomizedResponse, SubsampleKey};
    use sfm_pcsa::Unit;

    use super::*;
    use crate::ledger::{Currency, LedgerError, LedgerTerms, format};

    /// A release at ε = 1 of a sample at rate γ.
    fn release(key: u8, gamma: f64, unit: Unit) -> SampleRelease {
        let rate = SampleRate::new(gamma).unwrap();
        let sampling = Sampling { rate, key: SubsampleKey::from_bytes([key; 32]).id() };
        let epsilon = Epsilon::new(1.0).unwrap();
        let noise = rate.noise_for(epsilon, unit.max_items()).unwrap();
        SampleRelease::new(epsilon, unit, sampling, noise.of_cell().get())
    }

    fn record(currency: Currency, total: &str) -> LedgerRecord {
        let terms = LedgerTerms::new(currency, Amount::parse_total(total).unwrap()).unwrap();
        LedgerRecord { terms, spends: Vec::new() }
    }

    /// `ln(1 + γ(e^(k ε₀) − 1))` from the definition.
    fn together(gamma: f64, count: f64) -> f64 {
        let inner = (1.0 + 1_f64.exp_m1() / gamma).ln();
        (1.0 + gamma * ((count * inner).exp() - 1.0)).ln()
    }

    #[test]
    fn releases_under_one_key_cost_the_formula_together_and_fresh_keys_their_sum() {
        let mut book = record(Currency::Epsilon, "20");
        for count in 1..=3 {
            book.spend_sample("shared", &release(1, 0.1, Unit::Item)).unwrap();
            assert!((book.spent().nearest_f64() - together(0.1, f64::from(count))).abs() < 1e-6, "{count}");
        }
        assert_eq!(book.spends[0].cost().to_string(), "1");
        let before = book.spent().nearest_f64();
        book.spend_sample("fresh", &release(2, 0.1, Unit::Item)).unwrap();
        assert!((book.spent().nearest_f64() - before - 1.0).abs() < 1e-12);
        let mut rho = record(Currency::Rho, "20");
        for _ in 0..2 {
            rho.spend_sample("shared", &release(1, 0.1, Unit::Item)).unwrap();
        }
        assert!((rho.spent().nearest_f64() - together(0.1, 2.0).powi(2) / 2.0).abs() < 1e-5);
    }

    #[test]
    fn users_pay_for_the_most_items_of_one() {
        let mut book = record(Currency::Epsilon, "100");
        let user = Unit::user(2).unwrap();
        for _ in 0..2 {
            book.spend_sample("shared", &release(1, 0.1, user)).unwrap();
        }
        let inner = (1.0 + 0.5_f64.exp_m1() / 0.1).ln();
        let expected = 2.0 * (1.0 + 0.1 * ((2.0 * inner).exp() - 1.0)).ln();
        assert!((book.spent().nearest_f64() - expected).abs() < 1e-6, "{}", book.spent());
    }

    #[test]
    fn a_budget_that_does_not_cover_the_shared_cost_refuses_and_books_nothing() {
        let mut book = record(Currency::Epsilon, "2.5");
        book.spend_sample("a", &release(1, 0.1, Unit::Item)).unwrap();
        let refused = book.spend_sample("b", &release(1, 0.1, Unit::Item));
        assert!(matches!(refused, Err(LedgerError::Exceeded { .. })));
        assert_eq!(book.spends().len(), 1);
        // 256 and more is more than any ledger covers.
        let mut many = record(Currency::Epsilon, "1000");
        let strong = SampleRelease::new(
            Epsilon::new(100.0).unwrap(),
            Unit::Item,
            release(1, 0.1, Unit::Item).sampling(),
            RandomizedResponse::symmetric(Epsilon::new(250.0).unwrap()).epsilon_upper().get(),
        );
        let spends: Vec<_> = (0..8).map(|_| many.spend_sample("c", &strong).is_ok()).collect();
        assert!(spends[0] && !spends[7], "{spends:?}");
    }

    #[test]
    fn files_keep_samples_and_their_costs() {
        let mut book = record(Currency::Epsilon, "20");
        book.spend("whole", Epsilon::new(0.5).unwrap(), None).unwrap();
        for _ in 0..2 {
            book.spend_sample("shared", &release(1, 0.1, Unit::Item)).unwrap();
        }
        let text = format::write(&book).unwrap();
        assert_eq!(format::read(&text).unwrap(), book);
        let text = String::from_utf8(text).unwrap();
        let cost = book.spends[2].cost().to_string();
        assert_eq!(text.matches(&cost).count(), 1);
        for forged in [text.replace(&cost, "1"), text.replace("\"items\": 1", "\"items\": 0"), text.replace("\"key\": \"", "\"key\": \"x")] {
            assert!(format::read(forged.as_bytes()).is_err(), "{forged}");
        }
    }
}
