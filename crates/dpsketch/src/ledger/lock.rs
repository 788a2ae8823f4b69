//! One process at a time.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::LedgerError;
use crate::error::Error;
use crate::file_lock::{self, is_still_at};

/// The right to change a ledger, until it is dropped.
///
/// The ledger itself is replaced at every change, so a lock on it would go with the file that was replaced. The lock is on
/// a file beside it, `<ledger>.lock`, which is empty, stays, and is never replaced.
#[derive(Debug)]
pub(super) struct LedgerLock {
    file: File,
    path: PathBuf,
}

impl LedgerLock {
    pub(super) fn acquire(ledger: &Path) -> Result<Self, Error> {
        let mut path = ledger.as_os_str().to_owned();
        path.push(".lock");
        let path = PathBuf::from(path);
        let failed = |error| Error::writing(&path.display().to_string(), error);
        let open = || File::options().read(true).write(true).create(true).truncate(false).open(&path);
        let file = file_lock::lock(&path, open).map_err(failed)?.ok_or(LedgerError::Busy)?;
        Ok(Self { file, path })
    }

    /// Whether everybody else would still be kept out by this lock.
    pub(super) fn is_in_place(&self) -> bool {
        is_still_at(&self.file, &self.path)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_lock_whose_file_was_deleted_keeps_nobody_out_and_knows_it() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = folder.path().join("a.ledger");
        let lock = LedgerLock::acquire(&ledger).unwrap();
        assert!(lock.is_in_place());
        std::fs::remove_file(folder.path().join("a.ledger.lock")).unwrap();
        assert!(!lock.is_in_place());
        let other = LedgerLock::acquire(&ledger).unwrap();
        assert!(other.is_in_place() && !lock.is_in_place());
    }
}
