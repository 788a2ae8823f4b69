//! `ledger`: what releases about the same people may cost together, and what they have cost.

use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args, Subcommand};
use dpsketch::dp_noise::{Amount, Delta, Epsilon, Rho, zcdp_to_dp};
use dpsketch::sfm_pcsa::Unit;
use dpsketch::{
    Currency, Error, ErrorKind, Ledger, LedgerRecord, LedgerTerms, MaxItems, PrivacyUnit, parse_epsilon, parse_rho,
    parse_total,
};
use serde_json::{Value, json};

use super::booking::at_fault;
use super::build::max_items;
use crate::console::{Console, Report};
use crate::format::lines;
use crate::paths::paths;

#[derive(Debug, Args)]
pub(crate) struct LedgerVerbArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Make a ledger: one for each data set and unit of privacy.
    ///
    /// Releases with `--ledger` are booked in it before their noise is drawn, and refused when it does not cover them. It
    /// guards against mistakes, not against somebody who copies or edits the file. Beside it stands a file NAME.lock.
    #[command(group = ArgGroup::new("total").required(true))]
    Create {
        /// The file to write; it must not exist yet.
        #[arg(long, value_name = "F", value_parser = paths())]
        ledger: PathBuf,
        /// What all releases together may cost, in epsilon: costs add up.
        #[arg(long, value_name = "E", value_parser = parse_total, allow_hyphen_values = true, group = "total")]
        epsilon: Option<Amount>,
        /// The same in rho of zero-concentrated privacy, of which a release at epsilon costs epsilon² / 2.
        #[arg(long, value_name = "R", value_parser = parse_total, allow_hyphen_values = true, group = "total")]
        rho: Option<Amount>,
        /// Whom the total protects, in your words.
        #[arg(long, value_name = "TEXT", default_value = LedgerTerms::DEFAULT_UNIT)]
        unit: String,
    },
    /// Show what was spent, on what, and what remains.
    Show {
        /// The ledger.
        #[arg(long, value_name = "F", value_parser = paths())]
        ledger: PathBuf,
    },
    /// Book a release that was made elsewhere. It stays there as spent, not released.
    #[command(group = ArgGroup::new("cost").required(true))]
    Spend {
        /// The ledger.
        #[arg(long, value_name = "F", value_parser = paths())]
        ledger: PathBuf,
        /// What the spend is for.
        #[arg(long, value_name = "L")]
        label: String,
        /// The epsilon of the release.
        #[arg(long, value_name = "E", value_parser = parse_epsilon, allow_hyphen_values = true, group = "cost")]
        epsilon: Option<Epsilon>,
        /// The rho of the release, where its noise is Gaussian; for ledgers of rho.
        #[arg(long, value_name = "R", value_parser = parse_rho, allow_hyphen_values = true, group = "cost")]
        rho: Option<Rho>,
        /// The release protects users with at most this many items. If left out, what the ledger protects.
        #[arg(long, value_name = "M", value_parser = max_items, allow_negative_numbers = true)]
        max_items: Option<MaxItems>,
    },
}

pub(crate) fn run(args: &LedgerVerbArgs, console: Console) -> Result<(), Error> {
    let in_file = |error: Error| error.argument_or("--ledger");
    match &args.action {
        Action::Create { ledger, epsilon, rho, unit } => {
            let (currency, total) = match (epsilon, rho) {
                (_, Some(rho)) => (Currency::Rho, *rho),
                (epsilon, None) => (Currency::Epsilon, epsilon.unwrap_or_default()),
            };
            let terms = LedgerTerms::new(currency, total)?.with_unit(unit.as_str());
            let terms = terms.map_err(|error| Error::from(error).argument("--unit").value(unit))?;
            let record = Ledger::create(ledger, terms).and_then(|ledger| ledger.show()).map_err(in_file)?;
            show(ledger, &record, console)
        }
        Action::Show { ledger } => {
            let record = Ledger::open(ledger).and_then(|ledger| ledger.show()).map_err(in_file)?;
            show(ledger, &record, console)
        }
        Action::Spend { ledger: file, label, epsilon, rho, max_items } => {
            let ledger = Ledger::open(file).map_err(in_file)?;
            let user = max_items.map(|max_items| PrivacyUnit::User { max_items });
            let number = book(&ledger, label, (*epsilon, *rho), user)?;
            spent(file, number, &ledger.show().map_err(in_file)?, console)
        }
    }
}

/// Books a release; the number of its spend. The permit would be for a release by this program; the one that is booked is made
/// elsewhere.
fn book(
    ledger: &Ledger,
    label: &str,
    cost: (Option<Epsilon>, Option<Rho>),
    user: Option<PrivacyUnit>,
) -> Result<usize, Error> {
    match cost {
        (Some(epsilon), _) => {
            let spend =
                user.map_or_else(|| ledger.spend(label, epsilon), |user| ledger.spend_for(label, epsilon, user));
            spend.map(|spend| spend.number()).map_err(|error| at_fault(error, label, "--epsilon"))
        }
        (None, Some(rho)) => {
            let spend = ledger.spend_rho(label, rho, user.map(Unit::from));
            spend.map(|spend| spend.number()).map_err(|error| at_fault(error, label, "--rho"))
        }
        (None, None) => Err(Error::new(ErrorKind::Parameter, "the cost is missing").argument("--epsilon")),
    }
}

/// All of a ledger. A table has a row for each spend, or one without a spend, and the totals in every row.
fn show(file: &Path, record: &LedgerRecord, console: Console) -> Result<(), Error> {
    let mut whole = with_file(file, record.to_json());
    let statements = at_delta(record);
    // Told to four digits, rounded up.
    let told = statements.iter().map(|(delta, epsilon)| {
        let epsilon = (epsilon * 1e4).ceil() / 1e4;
        format!("all spends together are epsilon {epsilon:.4} at delta {delta:e}")
    });
    let text = record.to_text() + &lines(told);
    let objects = statements.iter().map(|(delta, epsilon)| json!({ "delta": delta, "epsilon": epsilon }));
    whole["epsilon_at_delta"] = if statements.is_empty() { Value::Null } else { objects.collect() };
    let spends = whole["spends"].as_array().cloned().unwrap_or_default();
    let blank = json!({ "number": null, "label": null, "epsilon": null, "cost": null, "unit": null, "sampling_rate": null, "sample_key": null, "epsilon_if_key_known": null, "status": null, "release": null });
    let spends = if spends.is_empty() { vec![blank] } else { spends };
    let rows = spends.into_iter().map(|spend| with_totals(spend, &whole)).collect();
    console.print(&Report { text, json: whole, rows })
}

/// What was spent in a ledger of rho, as epsilon at some deltas; nothing in one of epsilon, and before the first spend.
fn at_delta(record: &LedgerRecord) -> Vec<(f64, f64)> {
    const DELTAS: [f64; 2] = [1e-6, 1e-9];
    let spent = record.spent();
    if record.terms().currency() != Currency::Rho || spent == Amount::ZERO {
        return Vec::new();
    }
    // Not below what was spent.
    let Ok(rho) = Rho::new(spent.nearest_f64().next_up()) else { return Vec::new() };
    let statement = |delta| Some((delta, zcdp_to_dp(rho, Delta::new(delta).ok()?)));
    DELTAS.into_iter().filter_map(statement).collect()
}

/// One spend.
fn spent(file: &Path, number: usize, record: &LedgerRecord, console: Console) -> Result<(), Error> {
    let whole = with_file(file, record.to_json());
    let spend = number.checked_sub(1).map_or(Value::Null, |index| whole["spends"][index].clone());
    let text = format!(
        "booked {} {} as spend {number}; remaining {}\n",
        record.terms().currency(),
        spend["cost"].as_str().unwrap_or_default(),
        record.remaining()
    );
    console.print(&Report::of_one(text, with_totals(spend, &whole)))
}

fn with_file(file: &Path, record: Value) -> Value {
    let mut whole = json!({ "file": file.display().to_string() });
    if let (Some(whole), Value::Object(record)) = (whole.as_object_mut(), record) {
        whole.extend(record);
    }
    whole
}

fn with_totals(mut spend: Value, whole: &Value) -> Value {
    if let (Some(spend), Some(whole)) = (spend.as_object_mut(), whole.as_object()) {
        spend.extend(
            whole.iter().filter(|(name, _)| *name != "spends").map(|(name, value)| (name.clone(), value.clone())),
        );
    }
    spend
}
