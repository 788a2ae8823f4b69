//! The text of a ledger file.

use dp_noise::Amount;
use serde::{Deserialize, Deserializer, Serialize};
use sfm_pcsa::{ReleaseId, Unit};

use super::LedgerError;
use super::record::{LedgerRecord, SpendRecord};
use super::sample::{SampleEntry, SampleSpend, SamplesRead};
use super::terms::{Currency, LedgerTerms, check_text, unit_of_words};
use crate::text_file::{self, Layout, TextFileError};

/// The version that is written.
pub(super) const LAYOUT: Layout = Layout { format: "dpsketch ledger", version: 2, max: 16 << 20 };
/// The one before, whose spends have no unit. A ledger becomes one of the new version by its next spend.
const FIRST: Layout = Layout { version: 1, ..LAYOUT };

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: String,
    version: u64,
    currency: String,
    unit: String,
    total: String,
    spends: Vec<Entry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    label: String,
    /// Null where noise is Gaussian. Not in the first version.
    #[serde(deserialize_with = "Option::deserialize")]
    epsilon: Option<String>,
    cost: String,
    /// The words of a unit, or null. Not in the first version.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    unit: Option<UnitWords>,
    /// Of a secret sample only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sample: Option<SampleEntry>,
    /// 32 hexadecimal digits; null as long as there is no release.
    #[serde(deserialize_with = "Option::deserialize")]
    release: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct UnitWords(Option<String>);

/// A field that is there, null or not.
fn present<'de, D: Deserializer<'de>>(value: D) -> Result<Option<UnitWords>, D::Error> {
    UnitWords::deserialize(value).map(Some)
}

pub(super) fn write(record: &LedgerRecord) -> Result<Vec<u8>, LedgerError> {
    let spends = record.spends.iter().map(|spend| Entry {
        label: spend.label.clone(),
        epsilon: spend.epsilon.map(|epsilon| epsilon.to_string()),
        cost: spend.cost.to_string(),
        unit: Some(UnitWords(spend.unit.map(|unit| unit.to_string()))),
        sample: spend.sample.map(SampleSpend::to_entry),
        release: spend.release.map(|id| id.to_string()),
    });
    let file = File {
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
    let file = match text_file::parse(text, &LAYOUT) {
        Err(other @ TextFileError::Format { .. }) => match text_file::parse(text, &FIRST) {
            Err(TextFileError::Format { .. }) => Err(other),
            first => first,
        },
        read => read,
    };
    let file: File = file?;
    let has_units = file.version == LAYOUT.version;
    let currency = Currency::parse(&file.currency)
        .ok_or_else(|| TextFileError::field("currency", "epsilon or rho", &file.currency))?;
    let total = Amount::parse_total(&file.total)
        .map_err(|_| TextFileError::field("total", "a decimal number such as 0.5, in quotes", &file.total))?;
    let terms = LedgerTerms::new(currency, total)
        .map_err(|_| TextFileError::field("total", "an amount above zero", &file.total))?;
    let terms = terms
        .with_unit(file.unit.as_str())
        .map_err(|error| TextFileError::field("unit", error.to_string(), &file.unit))?;
    let mut samples = SamplesRead::default();
    let spends =
        (1..).zip(file.spends).map(|(number, spend)| read_spend(&mut samples, currency, has_units, number, spend));
    let spends = spends.collect::<Result<_, _>>()?;
    Ok(LedgerRecord { terms, spends })
}

/// A spend, behind those before it, of which `samples` knows the samples.
fn read_spend(
    samples: &mut SamplesRead,
    currency: Currency,
    has_units: bool,
    number: usize,
    spend: Entry,
) -> Result<SpendRecord, TextFileError> {
    let name = |field: &str| format!("{field} of spend {number}");
    check_text("label", &spend.label)
        .map_err(|error| TextFileError::field(name("label"), error.to_string(), &spend.label))?;
    let cost = amount(name("cost"), &spend.cost)?;
    let epsilon = match &spend.epsilon {
        Some(text) => Some(amount(name("epsilon"), text)?),
        None if currency == Currency::Rho && has_units && spend.sample.is_none() => None,
        None => return Err(TextFileError::field(name("epsilon"), "a decimal number such as 0.5, in quotes", "null")),
    };
    let sample = match &spend.sample {
        None => None,
        Some(entry) => Some(SampleSpend::from_entry(entry).ok_or_else(|| {
            TextFileError::field(name("sample"), "key, rate, level and items of a secret sample", "another")
        })?),
    };
    if let (Some(sample), Some(epsilon)) = (sample, epsilon)
        && !samples.accepts(sample, epsilon, cost, currency)
    {
        let expected = "the cost of this sample beside those under its key before";
        return Err(TextFileError::field(name("cost"), expected, &spend.cost));
    }
    if let (Some(epsilon), None) = (epsilon, sample)
        && cost != currency.cost_of_amount(epsilon)
    {
        let expected = format!("{}, the cost of epsilon {epsilon}", currency.cost_of_amount(epsilon));
        return Err(TextFileError::field(name("cost"), expected, &spend.cost));
    }
    let unit = read_unit(has_units, spend.unit)
        .map_err(|(expected, found)| TextFileError::field(name("unit"), expected, &found))?;
    let release = match spend.release {
        None => None,
        Some(text) => Some(
            release_id(&text)
                .ok_or_else(|| TextFileError::field(name("release"), "32 hexadecimal digits or null", &text))?,
        ),
    };
    Ok(SpendRecord { label: spend.label, epsilon, cost, unit, sample, release })
}

/// The unit of a spend, or what was expected and found.
fn read_unit(has_units: bool, unit: Option<UnitWords>) -> Result<Option<Unit>, (&'static str, String)> {
    match unit {
        Some(_) if !has_units => Err(("no unit in version 1", "a unit".to_owned())),
        None if has_units => Err(("the words of a unit, or null", "nothing".to_owned())),
        None | Some(UnitWords(None)) => Ok(None),
        Some(UnitWords(Some(words))) => unit_of_words(&words).map(Some).ok_or(("the words of a unit, or null", words)),
    }
}

fn amount(name: impl Into<String>, text: &str) -> Result<Amount, TextFileError> {
    Amount::parse_cost(text).map_err(|_| TextFileError::field(name, "a decimal number such as 0.5, in quotes", text))
}

/// A release from its 32 hexadecimal digits.
pub(crate) fn release_id(text: &str) -> Option<ReleaseId> {
    let digits = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    digits.then(|| u128::from_str_radix(text, 16).ok())?.map(|id| ReleaseId::from_bytes(id.to_be_bytes()))
}
