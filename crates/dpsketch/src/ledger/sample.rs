//! What releases of secret samples cost that share a key.

use std::collections::HashMap;

use dp_noise::{Amount, Epsilon, SampleRate, Sampling, SubsampleKeyId, loss_under_one_key};
use serde::{Deserialize, Serialize};

use super::{Currency, LedgerRecord};
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

    pub(super) fn sampling(self) -> Sampling {
        self.sampling
    }

    /// ε₀ of a unit: of all of its items.
    pub(super) fn epsilon_if_key_known(self) -> f64 {
        self.level.nearest_f64() * f64::from(self.items)
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
    /// What a release at `epsilon` of a sample costs after those booked already.
    pub(super) fn cost_of_sample(&self, sample: SampleSpend, epsilon: Epsilon) -> Amount {
        let mut earlier = UnderKey::default();
        for spend in &self.spends {
            if let Some(other) = spend.sample.filter(|other| other.sampling.key == sample.sampling.key) {
                earlier.add(other, spend.cost);
            }
        }
        earlier.cost_of(sample, epsilon, self.terms().currency())
    }
}

/// The most rates under one key that a ledger tells apart, which bounds the work for each spend.
const MAX_RATES: usize = 32;

/// What was booked under one key.
#[derive(Default)]
struct UnderKey {
    /// Rates, falling, each with the sum of the levels ε₀ of its releases, rounded up. Of more than [`MAX_RATES`], a release counts
    /// at the next larger rate, and the largest takes the place of the one before it: the loss grows with every rate.
    levels: Vec<(SampleRate, f64)>,
    /// The most items of a unit; 0 before the first release.
    items: u32,
    paid: Amount,
}

impl UnderKey {
    fn add(&mut self, sample: SampleSpend, cost: Amount) {
        add_level(&mut self.levels, sample);
        self.items = self.items.max(sample.items);
        self.paid = self.paid.checked_add(cost).unwrap_or(Amount::from_units(u128::MAX));
    }

    /// With the release, all under the key cost `M ln E[exp(Σ ε₀)]` together, for the most items `M` of a unit, of which earlier ones
    /// have paid their part. The first costs ε.
    fn cost_of(&self, sample: SampleSpend, epsilon: Epsilon, currency: Currency) -> Amount {
        if self.items == 0 {
            return currency.cost(epsilon);
        }
        let mut levels = self.levels.clone();
        add_level(&mut levels, sample);
        let items = self.items.max(sample.items);
        let loss = (loss_under_one_key(&levels) * f64::from(items)).next_up();
        let target = Epsilon::new(loss)
            .map_or(Amount::from_units(u128::MAX), |together| currency.cost_of_amount(Amount::from_epsilon(together)));
        // Never less than by itself: the losses of fresh keys add up, and a shared one costs more.
        target.saturating_sub(self.paid).max(currency.cost(epsilon))
    }
}

fn add_level(levels: &mut Vec<(SampleRate, f64)>, sample: SampleSpend) {
    let (rate, level) = (sample.sampling.rate, sample.level.nearest_f64());
    let place = levels.partition_point(|(other, _)| *other > rate);
    let full = levels.len() >= MAX_RATES;
    match levels.get_mut(place) {
        Some((other, sum)) if *other == rate => *sum = (*sum + level).next_up(),
        Some((largest, sum)) if full && place == 0 => (*largest, *sum) = (rate, (*sum + level).next_up()),
        _ if full => {
            if let Some((_, sum)) = place.checked_sub(1).and_then(|larger| levels.get_mut(larger)) {
                *sum = (*sum + level).next_up();
            }
        }
        _ => levels.insert(place, (rate, level)),
    }
}

/// The samples of a ledger file, spend by spend while it is read: the work for each does not grow with those before it.
#[derive(Default)]
pub(super) struct SamplesRead(HashMap<SubsampleKeyId, UnderKey>);

impl SamplesRead {
    /// Takes in the next spend, if its cost is that of the formula, to the digits that all machines agree on.
    pub(super) fn accepts(&mut self, sample: SampleSpend, epsilon: Amount, found: Amount, currency: Currency) -> bool {
        const DIGITS: f64 = 1e-6;
        let Ok(epsilon) = epsilon.to_epsilon() else { return false };
        let key = self.0.entry(sample.sampling.key).or_default();
        let expected = key.cost_of(sample, epsilon, currency).nearest_f64();
        let fits = (found.nearest_f64() - expected).abs() <= DIGITS * expected;
        key.add(sample, found);
        fits
    }
}

#[cfg(test)]
mod tests;
