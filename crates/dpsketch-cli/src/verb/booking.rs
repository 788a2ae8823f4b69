//! `--ledger` and `--label`: releases that are paid for before their noise is drawn.

use std::path::{Path, PathBuf};

use clap::Args;
use dpsketch::countsketch_dp::{self, ContributionBound};
use dpsketch::dp_noise::{Amount, Epsilon, Permit, Rho};
use dpsketch::sfm_pcsa::{ReleaseId, Unit};
use dpsketch::{
    Error, ErrorKind, FrequencyLevel, Ledger, LedgerError, Payment, PricedRelease, PrivacyUnit, SampleRelease,
    SpendReceipt,
};

use crate::console::Console;

use crate::paths::{lock_of, paths};

#[derive(Debug, Args)]
#[command(next_help_heading = "Ledger")]
pub(crate) struct LedgerArgs {
    /// Book the release in this ledger, made by `dpsketch ledger create`. The spend is on disk before noise is drawn.
    #[arg(long, value_name = "F", value_parser = paths(), requires = "label")]
    pub(crate) ledger: Option<PathBuf>,
    /// What the ledger says the release is for.
    #[arg(long, value_name = "L", requires = "ledger")]
    pub(crate) label: Option<String>,
}

/// Where releases are booked, if anywhere.
#[derive(Debug)]
pub(crate) struct Books {
    account: Option<Account>,
}

#[derive(Debug)]
struct Account {
    ledger: Ledger,
    label: String,
    receipt: Option<SpendReceipt>,
    console: Console,
}

impl LedgerArgs {
    /// The files that a release is booked in, which no output may replace.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        self.ledger.iter().flat_map(|ledger| [ledger.clone(), lock_of(ledger)]).collect()
    }

    /// As [`open`](Self::open), at a cost that only a ledger asks for.
    pub(crate) fn open_for(
        &self,
        unit: PrivacyUnit,
        console: Console,
        cost: impl FnOnce() -> Result<Epsilon, Error>,
    ) -> Result<Books, Error> {
        let cost = if self.ledger.is_some() { Some(cost()?) } else { None };
        self.open(cost, Some(unit.into()), console)
    }

    /// Opens the ledger and checks that it covers `epsilon` for `unit`, as far as that is known, so that a release it will
    /// refuse fails before any work.
    pub(crate) fn open(&self, epsilon: Option<Epsilon>, unit: Option<Unit>, console: Console) -> Result<Books, Error> {
        let (Some(path), Some(label)) = (&self.ledger, &self.label) else { return Ok(Books { account: None }) };
        let epsilon = epsilon.ok_or_else(|| nothing_to_book(path))?;
        let ledger = Ledger::open(path).map_err(|error| error.argument("--ledger"))?;
        let checked = match unit {
            Some(unit) => ledger.check_for(label, epsilon, unit),
            None => ledger.check(label, epsilon),
        };
        checked.map_err(|error| at_fault(error, label, "--epsilon"))?;
        Ok(Books { account: Some(Account { ledger, label: label.clone(), receipt: None, console }) })
    }

    /// The same for a release of frequencies, at its price.
    pub(crate) fn open_frequencies(&self, priced: Option<&PricedRelease>, console: Console) -> Result<Books, Error> {
        let (Some(path), Some(label)) = (&self.ledger, &self.label) else { return Ok(Books { account: None }) };
        let priced = priced.ok_or_else(|| nothing_to_book(path))?;
        let ledger = Ledger::open(path).map_err(|error| error.argument("--ledger"))?;
        ledger.check_release(label, priced).map_err(|error| at_fault(error, label, flag_of(priced)))?;
        Ok(Books { account: Some(Account { ledger, label: label.clone(), receipt: None, console }) })
    }
}

impl LedgerArgs {
    /// The same for a release of a stack of prefixes, at a rho for whom the bound protects.
    pub(crate) fn open_rho(
        &self,
        rho: Option<Rho>,
        bound: ContributionBound,
        console: Console,
    ) -> Result<Books, Error> {
        let (Some(path), Some(label)) = (&self.ledger, &self.label) else { return Ok(Books { account: None }) };
        let rho = rho.ok_or_else(|| nothing_to_book(path))?;
        let ledger = Ledger::open(path).map_err(|error| error.argument("--ledger"))?;
        ledger.check_rho(label, rho, unit_of(bound)).map_err(|error| at_fault(error, label, "--rho"))?;
        Ok(Books { account: Some(Account { ledger, label: label.clone(), receipt: None, console }) })
    }
}

fn nothing_to_book(ledger: &Path) -> Error {
    Error::new(ErrorKind::Parameter, "a raw sketch costs nothing yet, so there is nothing to book")
        .argument("--ledger")
        .value(ledger.display().to_string())
        .hint("say --epsilon or --rho to release at once, or name the ledger to `dpsketch release`")
}

/// The flag that decides about the cost.
fn flag_of(priced: &PricedRelease) -> &'static str {
    if matches!(priced.level(), FrequencyLevel::Rho(_)) { "--rho" } else { "--epsilon" }
}

/// The unit as a ledger notes it; `None` where it has no word for it.
fn unit_of(bound: ContributionBound) -> Option<Unit> {
    if bound.is_user() { bound.max_items().and_then(Unit::user) } else { Some(Unit::Item) }
}

impl Books {
    /// Pays for many releases at once, at a cost that only a ledger asks for.
    pub(crate) fn pay_for(
        &mut self,
        unit: PrivacyUnit,
        cost: impl FnOnce() -> Result<Epsilon, Error>,
    ) -> Result<(), Error> {
        if self.account.is_some() {
            // The permit is for the sum of releases that are permitted one by one.
            drop(self.pay(cost()?, unit.into())?);
        }
        Ok(())
    }

    /// The permit for a release that protects `unit`. With a ledger, the spend is on its disk when this returns.
    pub(crate) fn pay(&mut self, epsilon: Epsilon, unit: Unit) -> Result<Permit<Epsilon>, Error> {
        let Some(account) = &mut self.account else { return Ok(Permit::standalone(epsilon)) };
        account.warn_about_unit(unit)?;
        let spend = account.ledger.spend_for(&account.label, epsilon, unit);
        let spend = spend.map_err(|error| at_fault(error, &account.label, "--epsilon"))?;
        let (permit, receipt) = spend.permit();
        account.receipt = Some(receipt);
        Ok(permit)
    }

    /// The permit for a release of a secret sample, which costs more beside others under its key. With a ledger, the spend is on its
    /// disk when this returns.
    pub(crate) fn pay_sample(&mut self, release: &SampleRelease) -> Result<Permit<Epsilon>, Error> {
        let Some(account) = &mut self.account else { return Ok(Permit::standalone(release.epsilon())) };
        account.warn_about_unit(release.unit())?;
        let spend = account.ledger.spend_sample(&account.label, release);
        let (permit, receipt) = spend.map_err(|error| at_fault(error, &account.label, "--epsilon"))?.permit();
        let cost = receipt.record().cost();
        if cost.units() > Amount::from_epsilon(release.epsilon()).units() {
            account.console.note(&format!(
                "the ledger books {cost}: releases under one sample key cost more than the sum of their epsilons"
            ));
        }
        account.receipt = Some(receipt);
        Ok(permit)
    }

    /// The payment for a release of frequencies. With a ledger, the spend is on its disk when this returns.
    pub(crate) fn pay_frequencies(&mut self, priced: &PricedRelease) -> Result<Payment, Error> {
        let Some(account) = &mut self.account else { return Payment::standalone(priced.cost()) };
        if let Some(unit) = unit_of(priced.exposure().bound()) {
            account.warn_about_unit(unit)?;
        }
        let spend = account.ledger.spend_release(&account.label, priced);
        let spend = spend.map_err(|error| at_fault(error, &account.label, flag_of(priced)))?;
        let (payment, receipt) = spend.payment();
        account.receipt = Some(receipt);
        Ok(payment)
    }

    /// The permit for a release at rho. With a ledger, the spend is on its disk when this returns.
    pub(crate) fn pay_rho(&mut self, rho: Rho, bound: ContributionBound) -> Result<Permit<Rho>, Error> {
        let Some(account) = &mut self.account else { return Ok(Permit::standalone(rho)) };
        let unit = unit_of(bound);
        if let Some(unit) = unit {
            account.warn_about_unit(unit)?;
        }
        let spend = account.ledger.spend_rho(&account.label, rho, unit);
        let (permit, receipt) = spend.map_err(|error| at_fault(error, &account.label, "--rho"))?.permit();
        account.receipt = Some(receipt);
        Ok(permit)
    }

    /// Says of a failure after the payment that the ledger keeps it.
    pub(crate) fn explain(&self, error: Error, hint: Option<String>) -> Error {
        let paid = self.account.as_ref().is_some_and(|account| account.receipt.is_some());
        let ledger = paid.then(|| "the ledger keeps the spend as spent, not released".to_owned());
        match [hint, ledger].into_iter().flatten().collect::<Vec<_>>() {
            hints if hints.is_empty() => error,
            hints => error.hint(hints.join("; ")),
        }
    }

    /// Writes down the release that came of the payment, once its file is safely written.
    pub(crate) fn finish(self, release: Option<ReleaseId>) -> Result<(), Error> {
        self.note(release, SpendReceipt::finish)
    }

    /// The same for a release of frequencies.
    pub(crate) fn finish_frequencies(self, release: Option<countsketch_dp::ReleaseId>) -> Result<(), Error> {
        self.note(release, SpendReceipt::finish_frequencies)
    }

    fn note<I>(self, release: Option<I>, finish: fn(&SpendReceipt, I) -> Result<(), Error>) -> Result<(), Error> {
        let receipt = self.account.and_then(|account| account.receipt);
        let (Some(receipt), Some(release)) = (receipt, release) else { return Ok(()) };
        finish(&receipt, release).map_err(|error| {
            error.prefixed("the release is written, but the ledger could not note its name").argument("--ledger")
        })
    }
}

impl Account {
    fn warn_about_unit(&self, unit: Unit) -> Result<(), Error> {
        if let Some(other) = self.ledger.show()?.other_unit(unit) {
            self.console.warn(&format!(
                "the ledger has releases for {other}, and this one is for {unit}: their costs add up only if both \
                 protect whom the ledger is for"
            ));
        }
        Ok(())
    }
}

/// What a ledger refused, with the argument at fault: the cost, which `cost` names, the label, or else the ledger.
pub(crate) fn at_fault(error: Error, label: &str, cost: &str) -> Error {
    let source = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<LedgerError>());
    match source {
        Some(LedgerError::Text { .. }) => error.argument("--label").value(label),
        Some(LedgerError::Exceeded { .. }) => error.argument(cost),
        _ => error.argument_or("--ledger"),
    }
}
