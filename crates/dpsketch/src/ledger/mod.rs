//! The ledger file: what was spent of a privacy budget, and on which releases.

mod cost;
mod error;
mod format;
mod lock;
mod record;
mod sample;
mod terms;
mod told;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use cost::SpendCost;
use dp_noise::{Epsilon, Permit, PrivacyLevel, Rho};
pub use error::LedgerError;
#[cfg(feature = "arrow")]
pub(crate) use format::release_id;
use lock::LedgerLock;
pub use record::{LedgerRecord, SpendRecord};
use sfm_pcsa::{ReleaseId, Unit};
pub use terms::{Currency, LedgerTerms};

use crate::error::{Error, ErrorKind};
use crate::file_lock::{has_other_names, is_still_at, sync_folder};
use crate::output_file::{OutputFile, Readers};
use crate::subsampled::SampleRelease;
use crate::text_file;

/// A file that books what is spent of a privacy budget. One ledger per data set and unit of privacy.
///
/// The file is text (JSON) with exact decimal amounts, made to be read by people. A spend is checked, written and safely on
/// the disk before a permit exists, hence before any noise is drawn, under a lock that one process at a time can hold; a
/// process that is killed leaves the old file or the new one, never half of one. A spend is never taken back: until its
/// release is written down it stands there as `spent, not released`, and counts all the same.
///
/// Merged sketches are booked by the releases they were made from, never by the level of the merge.
///
/// The lock is a file beside the ledger, `<ledger>.lock`; leave it where it is. Over a network file system it protects as
/// far as that system's own locks do.
///
/// # Privacy
/// Costs about the same people add up. The ledger is right only if every release of the data set is booked, at an ε that
/// protects the ledger's unit. It protects against mistakes, not against somebody who edits or copies the file.
///
/// # Examples
/// ```
/// use dp_noise::{Amount, Epsilon};
/// use dpsketch::{Currency, Ledger, LedgerTerms};
/// use sfm_pcsa::{ReleaseId, Unit};
///
/// let folder = tempfile::tempdir()?;
/// let terms = LedgerTerms::new(Currency::Epsilon, Amount::parse_total("1")?)?;
/// let ledger = Ledger::create(&folder.path().join("site.ledger"), terms)?;
///
/// let (permit, receipt) = ledger.spend("visits", Epsilon::new(0.6)?)?.permit();
/// assert!(permit.cost().get() <= 0.6); // to be used up by a release
/// receipt.finish(ReleaseId::from_bytes([7; 16]))?;
///
/// let refused = ledger.spend("visits again", Epsilon::new(0.6)?).unwrap_err();
/// assert_eq!(refused.message(), "the ledger does not cover the cost: requested 0.6, remaining 0.4 (epsilon)");
/// assert_eq!(ledger.show()?.spends()[0].status(), "released");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ledger {
    /// Without links, so that all names of the file lead to one lock.
    path: PathBuf,
}

impl Ledger {
    /// Makes a new ledger with nothing spent.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] when there is a file of that name, [`ErrorKind::Io`] when it cannot be written.
    pub fn create(path: &Path, terms: LedgerTerms) -> Result<Self, Error> {
        let output = OutputFile::create_new(path, Readers::Anyone)?;
        output.commit(&format::write(&LedgerRecord { terms, spends: Vec::new() })?)?;
        sync_folder(path).map_err(|error| Error::writing(&path.display().to_string(), error))?;
        Self::open(path)
    }

    /// Opens a ledger, and checks that it is one.
    ///
    /// # Errors
    /// [`ErrorKind::Unreadable`] when the file cannot be read; [`ErrorKind::Damaged`], with [`LedgerError`] as source, when it
    /// is no ledger.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let path = path.canonicalize().map_err(|error| {
            let is_missing = error.kind() == io::ErrorKind::NotFound;
            let error = Error::reading(&path.display().to_string(), error);
            if is_missing { error.hint("check the path; `dpsketch ledger create` makes a new ledger") } else { error }
        })?;
        let ledger = Self { path };
        ledger.show()?;
        Ok(ledger)
    }

    /// What stands in the file now. Needs no lock: the file is always whole.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn show(&self) -> Result<LedgerRecord, Error> {
        self.read().map(|(_, record)| record)
    }

    /// Checks that [`spend`](Self::spend) would be accepted now, and books nothing: to find out before long work.
    ///
    /// Another process may spend meanwhile, so the spend itself can still be refused.
    ///
    /// # Errors
    /// As [`spend`](Self::spend).
    ///
    /// # Examples
    /// ```
    /// # use dp_noise::{Amount, Epsilon};
    /// # use dpsketch::{Currency, Ledger, LedgerTerms};
    /// let folder = tempfile::tempdir()?;
    /// let terms = LedgerTerms::new(Currency::Epsilon, Amount::parse_total("1")?)?;
    /// let ledger = Ledger::create(&folder.path().join("site.ledger"), terms)?;
    /// assert!(ledger.check("visits", Epsilon::new(1.0)?).is_ok());
    /// assert!(ledger.check("visits", Epsilon::new(1.1)?).is_err());
    /// assert!(ledger.show()?.spends().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn check(&self, label: &str, epsilon: Epsilon) -> Result<(), Error> {
        self.check_with(label, epsilon, None)
    }

    /// As [`check`](Self::check), for [`spend_for`](Self::spend_for).
    ///
    /// # Errors
    /// As [`spend_for`](Self::spend_for).
    pub fn check_for(&self, label: &str, epsilon: Epsilon, unit: impl Into<Unit>) -> Result<(), Error> {
        self.check_with(label, epsilon, Some(unit.into()))
    }

    /// As [`check`](Self::check), for [`spend_rho`](Self::spend_rho).
    ///
    /// # Errors
    /// As [`spend_rho`](Self::spend_rho).
    pub fn check_rho(&self, label: &str, rho: Rho, unit: Option<Unit>) -> Result<(), Error> {
        self.check_with(label, rho, unit)
    }

    pub(crate) fn check_with(&self, label: &str, cost: impl Into<SpendCost>, unit: Option<Unit>) -> Result<(), Error> {
        let mut record = self.show()?;
        record.spend(label, cost, unit).map(drop).map_err(|error| self.about(error))
    }

    /// Books a release at `epsilon` that `label` describes. When this returns, the spend is on the disk.
    ///
    /// A ledger of ρ books ε² / 2, see [`Currency::cost`].
    ///
    /// # Privacy
    /// The cost is spent whether or not the permit is ever used.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`], with [`LedgerError::Exceeded`] as source, when the cost is more than what is left;
    /// [`ErrorKind::Parameter`] when the label is empty or longer than 255 bytes; [`ErrorKind::Io`] when the file cannot be
    /// locked or written; and as [`open`](Self::open). No permit exists then, but if the disk failed late the spend may stand in the file.
    pub fn spend(&self, label: &str, epsilon: Epsilon) -> Result<Spend, Error> {
        self.spend_with(label, epsilon, None)
    }

    /// As [`spend`](Self::spend), with the unit that the release protects, which the ledger then records.
    ///
    /// # Privacy
    /// As [`spend`](Self::spend).
    ///
    /// # Errors
    /// As [`spend`](Self::spend); [`ErrorKind::Refused`], with [`LedgerError::Unit`] as source, when the release would not
    /// protect the [unit of the ledger](LedgerTerms::check_unit).
    ///
    /// # Examples
    /// ```
    /// # use dp_noise::{Amount, Epsilon};
    /// # use dpsketch::{Currency, Ledger, LedgerTerms, MaxItems, PrivacyUnit};
    /// let folder = tempfile::tempdir()?;
    /// let user = PrivacyUnit::User { max_items: MaxItems::new(5)? };
    /// let terms = LedgerTerms::new(Currency::Epsilon, Amount::parse_total("1")?)?.with_unit(user.to_string())?;
    /// let ledger = Ledger::create(&folder.path().join("site.ledger"), terms)?;
    /// assert!(ledger.spend_for("pages", Epsilon::new(0.5)?, PrivacyUnit::Item).is_err());
    /// let spend = ledger.spend_for("pages", Epsilon::new(0.5)?, user)?;
    /// assert_eq!(spend.record().unit(), Some(user.into()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn spend_for(&self, label: &str, epsilon: Epsilon, unit: impl Into<Unit>) -> Result<Spend, Error> {
        self.spend_with(label, epsilon, Some(unit.into()))
    }

    /// Books a release with Gaussian noise, which costs ρ, in a ledger of ρ. `unit` as for [`spend_for`](Self::spend_for), where one of
    /// those words fits.
    ///
    /// # Privacy
    /// As [`spend`](Self::spend). `rho` has to be that of the variance really drawn.
    ///
    /// # Errors
    /// As [`spend_for`](Self::spend_for); [`ErrorKind::Refused`], with [`LedgerError::Gaussian`] as source, in a ledger of ε: Gaussian
    /// noise has no pure ε.
    ///
    /// # Examples
    /// ```
    /// # use dp_noise::{Amount, Epsilon, Rho};
    /// # use dpsketch::{Currency, Ledger, LedgerTerms};
    /// let folder = tempfile::tempdir()?;
    /// let terms = LedgerTerms::new(Currency::Rho, Amount::parse_total("0.5")?)?;
    /// let ledger = Ledger::create(&folder.path().join("site.ledger"), terms)?;
    /// let (permit, receipt) = ledger.spend_rho("queries", Rho::new(0.1)?, None)?.permit();
    /// assert_eq!(permit.stated().get(), 0.1);
    /// # drop(receipt);
    /// let pure = ledger.spend("visits", Epsilon::new(0.6)?)?; // 0.6² / 2
    /// assert_eq!(pure.record().cost().to_string(), "0.18");
    /// assert_eq!(ledger.show()?.remaining().to_string(), "0.22");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn spend_rho(&self, label: &str, rho: Rho, unit: Option<Unit>) -> Result<Spend<Rho>, Error> {
        self.spend_with(label, rho, unit)
    }

    pub(crate) fn spend_with<C: PrivacyLevel + Into<SpendCost>>(
        &self,
        label: &str,
        level: C,
        unit: Option<Unit>,
    ) -> Result<Spend<C>, Error> {
        let (number, record) = self.change(|record| {
            let made = record.spend(label, level, unit)?;
            Ok((record.spends.len(), made))
        })?;
        Ok(Spend { level, receipt: SpendReceipt { ledger: self.clone(), number, record } })
    }

    /// Books a release of a secret sample, which costs its ε if it is the first under its key, and more after others: all releases under
    /// one key cost `ln(1 + γ(e^(Σ ε₀) − 1))` together ([`loss_under_one_key`](dp_noise::loss_under_one_key)), for users times their
    /// most items, and this one pays what the earlier ones have not.
    ///
    /// # Privacy
    /// As [`spend`](Self::spend). Holds towards whoever does not know the key of the sample.
    ///
    /// # Errors
    /// As [`spend_for`](Self::spend_for).
    pub fn spend_sample(&self, label: &str, release: &SampleRelease) -> Result<Spend, Error> {
        let (number, record) = self.change(|record| {
            let made = record.spend_sample(label, release)?;
            Ok((record.spends.len(), made))
        })?;
        Ok(Spend { level: release.epsilon(), receipt: SpendReceipt { ledger: self.clone(), number, record } })
    }

    /// As [`check`](Self::check), for [`spend_sample`](Self::spend_sample).
    ///
    /// # Errors
    /// As [`spend_sample`](Self::spend_sample).
    pub fn check_sample(&self, label: &str, release: &SampleRelease) -> Result<(), Error> {
        let mut record = self.show()?;
        record.spend_sample(label, release).map(drop).map_err(|error| self.about(error))
    }

    /// Reads, changes and replaces the file under the lock.
    fn change<T>(&self, change: impl FnOnce(&mut LedgerRecord) -> Result<T, LedgerError>) -> Result<T, Error> {
        let lock = LedgerLock::acquire(&self.path)?;
        let (file, mut record) = self.read()?;
        let metadata = file.metadata().map_err(|error| Error::reading(&self.name(), error))?;
        if has_other_names(&metadata) {
            return Err(Error::new(ErrorKind::Refused, format!("{} has a second name: a hard link", self.name()))
                .value(self.name())
                .hint("remove the other names: a spend is written under one of them only"));
        }
        let changed = change(&mut record).map_err(|error| self.about(error))?;
        let output = OutputFile::create_next(&self.path, &file)?;
        let text = format::write(&record).map_err(|error| self.about(error))?;
        if !lock.is_in_place() || !is_still_at(&file, &self.path) {
            return Err(self.about(LedgerError::Moved));
        }
        output.commit(&text)?;
        sync_folder(&self.path).map_err(|error| Error::writing(&self.name(), error))?;
        Ok(changed)
    }

    fn read(&self) -> Result<(File, LedgerRecord), Error> {
        let failed = |error| Error::reading(&self.name(), error);
        // Opening a pipe would wait for a writer.
        if !fs::metadata(&self.path).map_err(failed)?.is_file() {
            return Err(Error::new(ErrorKind::Damaged, format!("{} is not a regular file", self.name()))
                .value(self.name())
                .hint("name a file made by `dpsketch ledger create`"));
        }
        let (file, text) = text_file::read(&self.path, &format::LAYOUT).map_err(failed)?;
        let record = format::read(&text).map_err(|error| self.about(LedgerError::File(error)))?;
        Ok((file, record))
    }

    fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// The error, told with the name of the file where the file is at fault.
    fn about(&self, error: LedgerError) -> Error {
        let error = Error::from(error);
        if error.kind() == ErrorKind::Damaged { error.prefixed(&self.name()).value(self.name()) } else { error }
    }
}

/// A spend that is on the disk, and the right to the release it pays for.
#[derive(Debug)]
#[must_use = "a spend that is dropped is budget spent for nothing"]
pub struct Spend<C: PrivacyLevel = Epsilon> {
    level: C,
    receipt: SpendReceipt,
}

impl<C: PrivacyLevel> Spend<C> {
    /// The permit for one release, and the receipt by which the release is written down afterwards.
    #[must_use = "a permit that is dropped is budget spent for nothing"]
    pub fn permit(self) -> (Permit<C>, SpendReceipt) {
        // The books are kept here, and the cost is booked.
        (Permit::standalone(self.level), self.receipt)
    }

    /// The number of the spend in the ledger, from 1.
    #[must_use]
    pub fn number(&self) -> usize {
        self.receipt.number
    }

    /// What was booked.
    #[must_use]
    pub fn record(&self) -> &SpendRecord {
        &self.receipt.record
    }
}

/// The proof that a release was paid for.
#[derive(Debug)]
#[must_use = "the ledger says `spent, not released` until `finish`"]
pub struct SpendReceipt {
    ledger: Ledger,
    number: usize,
    record: SpendRecord,
}

impl SpendReceipt {
    /// What was booked.
    #[must_use]
    pub const fn record(&self) -> &SpendRecord {
        &self.record
    }

    /// Writes down which release came of the spend. Call it when the release is safely written.
    ///
    /// A failure leaves the spend as `spent, not released`; it may be tried again.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`], with [`LedgerError::NoSuchSpend`] or [`LedgerError::Released`] as source, when the ledger
    /// does not hold this spend or holds a release for it; and as [`Ledger::spend`].
    pub fn finish(&self, release: ReleaseId) -> Result<(), Error> {
        self.ledger.change(|record| record.finish(self.number, &self.record, release))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use dp_noise::Amount;

    use super::*;

    #[test]
    fn nothing_is_written_once_ledger_or_lock_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.ledger");
        let terms = LedgerTerms::new(Currency::Epsilon, Amount::parse_total("1").unwrap()).unwrap();
        let ledger = Ledger::create(&path, terms).unwrap();
        let other = folder.path().join("other");
        for gone in [folder.path().join("a.ledger.lock"), path] {
            let moved = ledger.change(|record| {
                fs::rename(&gone, &other).unwrap();
                record.spend("lost", Epsilon::new(0.5).unwrap(), None)
            });
            assert_eq!(moved.unwrap_err().to_string(), LedgerError::Moved.to_string());
            let left = fs::read(&other).unwrap();
            assert!(left.is_empty() || format::read(&left).unwrap().spends().is_empty());
        }
        let names: Vec<_> = fs::read_dir(folder.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
        assert!(!names.iter().any(|name| name == "a.ledger"), "{names:?}");
    }
}
