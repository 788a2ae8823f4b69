//! The text of a ledger file.

use dp_noise::Amount;
use serde::{Deserialize, Serialize};
use sfm_pcsa::ReleaseId;

use super::LedgerError;
use super::record::{LedgerRecord, SpendRecord};
use super::terms::{Currency, LedgerTerms, check_text};
use crate::text_file::{self, Layout, TextFileError};

pub(super) const LAYOUT: Layout = Layout { format: "dpsketch ledger", version: 1, max: 16 << 20 };

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileV1 {
    format: String,
    version: u64,
    currency: String,
    unit: String,
    total: String,
    spends: Vec<SpendV1>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SpendV1 {
    label: String,
    epsilon: String,
    cost: String,
    /// 32 hexadecimal digits; null as long as there is no release.
    #[serde(deserialize_with = "Option::deserialize")]
    release: Option<String>,
}

pub(super) fn write(record: &LedgerRecord) -> Result<Vec<u8>, LedgerError> {
    let spends = record.spends.iter().map(|spend| SpendV1 {
        label: spend.label.clone(),
        epsilon: spend.epsilon.to_string(),
        cost: spend.cost.to_string(),
        release: spend.release.map(|id| id.to_string()),
    });
    let file = FileV1 {
        format: LAYOUT.format.to_owned(),
        version: LAYOUT.version,
        currency: record.terms.currency().as_str().to_owned(),
        unit: record.terms.unit().to_owned(),
        total: record.terms.total().to_string(),
        spends: spends.collect(),
    };
    let mut text = serde_json::to_vec_pretty(&file).map_err(|error| LedgerError::File(text_file::malformed(error)))?;
    text.push(b'\n');
    if text.len() > LAYOUT.max { Err(LedgerError::Full { max: LAYOUT.max }) } else { Ok(text) }
}

pub(super) fn read(text: &[u8]) -> Result<LedgerRecord, TextFileError> {
    let file: FileV1 = text_file::parse(text, &LAYOUT)?;
    let currency = Currency::parse(&file.currency)
        .ok_or_else(|| TextFileError::field("currency", "epsilon or rho", &file.currency))?;
    let total = Amount::parse_total(&file.total)
        .map_err(|_| TextFileError::field("total", "a decimal number such as 0.5, in quotes", &file.total))?;
    let terms = LedgerTerms::new(currency, total)
        .map_err(|_| TextFileError::field("total", "an amount above zero", &file.total))?;
    let terms = terms
        .with_unit(file.unit.as_str())
        .map_err(|error| TextFileError::field("unit", error.to_string(), &file.unit))?;
    let spends =
        (1..).zip(file.spends).map(|(number, spend)| read_spend(currency, number, spend)).collect::<Result<_, _>>()?;
    Ok(LedgerRecord { terms, spends })
}

fn read_spend(currency: Currency, number: usize, spend: SpendV1) -> Result<SpendRecord, TextFileError> {
    let name = |field: &str| format!("{field} of spend {number}");
    check_text("label", &spend.label)
        .map_err(|error| TextFileError::field(name("label"), error.to_string(), &spend.label))?;
    let epsilon = amount(name("epsilon"), &spend.epsilon)?;
    let cost = amount(name("cost"), &spend.cost)?;
    let expected = currency.cost_of_amount(epsilon);
    if cost != expected {
        return Err(TextFileError::field(
            name("cost"),
            format!("{expected}, the cost of epsilon {epsilon}"),
            &spend.cost,
        ));
    }
    let release = match spend.release {
        None => None,
        Some(text) => Some(
            release_id(&text)
                .ok_or_else(|| TextFileError::field(name("release"), "32 hexadecimal digits or null", &text))?,
        ),
    };
    Ok(SpendRecord { label: spend.label, epsilon, cost, release })
}

fn amount(name: impl Into<String>, text: &str) -> Result<Amount, TextFileError> {
    Amount::parse_cost(text).map_err(|_| TextFileError::field(name, "a decimal number such as 0.5, in quotes", text))
}

/// A release from its 32 hexadecimal digits.
pub(crate) fn release_id(text: &str) -> Option<ReleaseId> {
    let digits = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    digits.then(|| u128::from_str_radix(text, 16).ok())?.map(|id| ReleaseId::from_bytes(id.to_be_bytes()))
}
