//! The text of a ledger file.

use dp_noise::Amount;
use serde::{Deserialize, Serialize};
use sfm_pcsa::ReleaseId;

use super::record::{LedgerRecord, SpendRecord};
use super::terms::{Currency, LedgerTerms, check_text};
use super::{LedgerError, MAX_LEN};
use crate::expr::shorten;

/// The first field of every ledger.
const FORMAT: &str = "dpsketch ledger";
const VERSION: u64 = 1;
/// Longest piece of a refused field that an error repeats, in characters.
const QUOTED: usize = 40;

/// What every version has.
#[derive(Deserialize)]
struct Title {
    #[serde(default)]
    format: Option<String>,
    #[serde(default)]
    version: Option<u64>,
}

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
        format: FORMAT.to_owned(),
        version: VERSION,
        currency: record.terms.currency().as_str().to_owned(),
        unit: record.terms.unit().to_owned(),
        total: record.terms.total().to_string(),
        spends: spends.collect(),
    };
    let mut text = serde_json::to_vec_pretty(&file).map_err(malformed)?;
    text.push(b'\n');
    if text.len() > MAX_LEN { Err(LedgerError::Full { max: MAX_LEN }) } else { Ok(text) }
}

pub(super) fn read(text: &[u8]) -> Result<LedgerRecord, LedgerError> {
    let title: Title = serde_json::from_slice(text).map_err(malformed)?;
    if (title.format.as_deref(), title.version) != (Some(FORMAT), Some(VERSION)) {
        let found = match (title.format, title.version) {
            (None, _) => "no format".to_owned(),
            (Some(format), None) => shorten(&format, QUOTED),
            (Some(format), Some(version)) => format!("{} {version}", shorten(&format, QUOTED)),
        };
        return Err(LedgerError::Format { expected: format!("{FORMAT} {VERSION}"), found });
    }
    let file: FileV1 = serde_json::from_slice(text).map_err(malformed)?;
    let currency =
        Currency::parse(&file.currency).ok_or_else(|| field("currency", "epsilon or rho", &file.currency))?;
    let total = amount("total", &file.total)?;
    let terms = LedgerTerms::new(currency, total).map_err(|_| field("total", "an amount above zero", &file.total))?;
    let terms = terms.with_unit(file.unit.as_str()).map_err(|error| field("unit", error.to_string(), &file.unit))?;
    let spends =
        (1..).zip(file.spends).map(|(number, spend)| read_spend(currency, number, spend)).collect::<Result<_, _>>()?;
    Ok(LedgerRecord { terms, spends })
}

fn read_spend(currency: Currency, number: usize, spend: SpendV1) -> Result<SpendRecord, LedgerError> {
    let name = |field: &str| format!("{field} of spend {number}");
    check_text("label", &spend.label).map_err(|error| field(name("label"), error.to_string(), &spend.label))?;
    let epsilon = amount(name("epsilon"), &spend.epsilon)?;
    let cost = amount(name("cost"), &spend.cost)?;
    let expected = currency.cost_of_amount(epsilon);
    if cost != expected {
        return Err(field(name("cost"), format!("{expected}, the cost of epsilon {epsilon}"), &spend.cost));
    }
    let release = match spend.release {
        None => None,
        Some(text) => {
            Some(release_id(&text).ok_or_else(|| field(name("release"), "32 hexadecimal digits or null", &text))?)
        }
    };
    Ok(SpendRecord { label: spend.label, epsilon, cost, release })
}

fn amount(name: impl Into<String>, text: &str) -> Result<Amount, LedgerError> {
    Amount::parse_cost(text).map_err(|_| field(name, "a decimal number such as 0.5, in quotes", text))
}

fn release_id(text: &str) -> Option<ReleaseId> {
    let digits = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    digits.then(|| u128::from_str_radix(text, 16).ok())?.map(|id| ReleaseId::from_bytes(id.to_be_bytes()))
}

fn field(name: impl Into<String>, expected: impl Into<String>, found: &str) -> LedgerError {
    LedgerError::Field { field: name.into(), expected: expected.into(), found: shorten(found, QUOTED) }
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn malformed(error: serde_json::Error) -> LedgerError {
    let (line, column) = (error.line(), error.column());
    let told = error.to_string();
    // The place is told in our own words.
    let reason = told.rsplit_once(" at line ").map_or(told.as_str(), |(reason, _)| reason);
    LedgerError::Malformed { line, column, reason: shorten(reason, 3 * QUOTED) }
}
