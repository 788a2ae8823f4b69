//! One process at a time.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::LedgerError;
use crate::error::Error;

/// How long another process may hold the lock. It is held for one small write only.
const PATIENCE: Duration = Duration::from_secs(10);

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
        let start = Instant::now();
        loop {
            let file =
                File::options().read(true).write(true).create(true).truncate(false).open(&path).map_err(failed)?;
            match file.try_lock() {
                // Somebody may have deleted the file while this process waited for it.
                Ok(()) if is_still_at(&file, &path) => return Ok(Self { file, path }),
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(2)),
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
            if start.elapsed() > PATIENCE {
                return Err(LedgerError::Busy.into());
            }
        }
    }

    /// Whether everybody else would still be kept out by this lock.
    pub(super) fn is_in_place(&self) -> bool {
        is_still_at(&self.file, &self.path)
    }
}

/// Whether `path` names the open file.
#[cfg(unix)]
pub(super) fn is_still_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let place = |metadata: io::Result<std::fs::Metadata>| metadata.ok().map(|found| (found.dev(), found.ino()));
    place(file.metadata()).is_some_and(|held| place(path.metadata()) == Some(held))
}

/// An open file cannot be replaced on other systems.
#[cfg(not(unix))]
pub(super) fn is_still_at(_file: &File, path: &Path) -> bool {
    path.exists()
}

/// Waits until the names in the folder of `path` are on the disk.
#[cfg(unix)]
pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match File::open(parent)?.sync_all() {
        // Not every file system can; there the names are written with the files.
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
        done => done,
    }
}

/// Folders cannot be flushed on other systems.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "folders can be flushed, and that can fail, elsewhere")]
pub(super) fn sync_folder(_path: &Path) -> io::Result<()> {
    Ok(())
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
