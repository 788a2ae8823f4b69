//! What stands in a ledger, for people and programs.

use core::fmt::Write;

use serde_json::{Value, json};

use super::record::{LedgerRecord, SpendRecord};
use crate::subsampled::rate_json;

impl LedgerRecord {
    /// One object: `currency, unit, total, spent, remaining` and a list `spends` of
    /// `{number, label, epsilon, cost, unit, sampling_rate, sample_key, epsilon_if_key_known, status, release}`. Amounts are text, so
    /// that they stay exact; `epsilon` is null for Gaussian noise, and what is about secret samples where there is none.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let spends = (1_usize..).zip(self.spends()).map(|(number, spend)| {
            json!({
                "number": number,
                "label": spend.label(),
                "epsilon": spend.epsilon().map(|epsilon| epsilon.to_string()),
                "cost": spend.cost().to_string(),
                "unit": spend.unit().map(|unit| unit.to_string()),
                "sampling_rate": spend.sampling().map(|sampling| rate_json(sampling.rate)),
                "sample_key": spend.sampling().map(|sampling| sampling.key.to_string()),
                "epsilon_if_key_known": spend.epsilon_if_key_known(),
                "status": spend.status(),
                "release": spend.release().map(|id| id.to_string()),
            })
        });
        json!({
            "currency": self.terms().currency().as_str(),
            "unit": self.terms().unit(),
            "total": self.terms().total().to_string(),
            "spent": self.spent().to_string(),
            "remaining": self.remaining().to_string(),
            "spends": spends.collect::<Vec<_>>(),
        })
    }

    /// Lines for a terminal: the totals, a heading, then one line a spend, and one more for that of a secret sample. Control
    /// characters of labels are escaped.
    #[must_use]
    pub fn to_text(&self) -> String {
        let (terms, currency) = (self.terms(), self.terms().currency());
        let mut text = format!(
            "{currency} for {:?}: total {}, spent {}, remaining {}\n",
            terms.unit(),
            terms.total(),
            self.spent(),
            self.remaining()
        );
        if self.spends().is_empty() {
            return text;
        }
        let costs: Vec<String> = self.spends().iter().map(|spend| spend.cost().to_string()).collect();
        let width = costs.iter().map(String::len).max().unwrap_or(0).max(8);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:>5}  {:<width$}  {:<19}  label", "spend", "cost", "status");
        for ((number, spend), cost) in (1_usize..).zip(self.spends()).zip(&costs) {
            let _ = writeln!(text, "{number:>5}  {cost:<width$}  {:<19}  {:?}", spend.status(), spend.label());
            if let Some(sample) = of_sample(spend) {
                let _ = writeln!(text, "       {sample}");
            }
        }
        text
    }
}

/// What a release of a secret sample is of, and why it cost what it did.
fn of_sample(spend: &SpendRecord) -> Option<String> {
    let sampling = spend.sampling()?;
    let epsilon = spend.epsilon().map(|epsilon| epsilon.to_string()).unwrap_or_default();
    Some(format!(
        "a sample at rate {} under key {}: epsilon {epsilon} by itself, {:.2} towards whoever has the key; \
         costs what all under the key do together, less what earlier ones paid",
        rate_json(sampling.rate),
        sampling.key,
        spend.epsilon_if_key_known().unwrap_or(f64::INFINITY),
    ))
}
