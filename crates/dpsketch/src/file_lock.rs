//! One process at a time, for files that are replaced at every change.

use std::fs::{File, Metadata, TryLockError};
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// How long another process may hold a lock. It is held for one small write only.
const PATIENCE: Duration = Duration::from_secs(10);

/// Opens a file and locks it; `None` when another process holds it for too long.
///
/// The lock is on the very file that `path` names once it is held: who waited for a file that was replaced or deleted
/// meanwhile looks again.
pub(crate) fn lock(path: &Path, open: impl Fn() -> io::Result<File>) -> io::Result<Option<File>> {
    lock_within(PATIENCE, path, open)
}

fn lock_within(patience: Duration, path: &Path, open: impl Fn() -> io::Result<File>) -> io::Result<Option<File>> {
    let start = Instant::now();
    loop {
        let file = open()?;
        match file.try_lock() {
            Ok(()) if is_still_at(&file, path) => return Ok(Some(file)),
            Ok(()) | Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(error),
        }
        if start.elapsed() > patience {
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// Whether `path` names the open file.
#[cfg(unix)]
pub(crate) fn is_still_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let place = |metadata: io::Result<Metadata>| metadata.ok().map(|found| (found.dev(), found.ino()));
    place(file.metadata()).is_some_and(|held| place(path.metadata()) == Some(held))
}

/// An open file cannot be replaced on other systems.
#[cfg(not(unix))]
pub(crate) fn is_still_at(_file: &File, path: &Path) -> bool {
    path.exists()
}

/// Whether the file has other names. Replacing it under one of them would leave the others behind, with the old content.
#[cfg(unix)]
pub(crate) fn has_other_names(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    metadata.nlink() > 1
}

/// Not told on other systems.
#[cfg(not(unix))]
pub(crate) fn has_other_names(_metadata: &Metadata) -> bool {
    false
}

/// Waits until the names in the folder of `path` are on the disk.
#[cfg(unix)]
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
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
pub(crate) fn sync_folder(_path: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_is_held_is_given_up_at_the_deadline() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.lock");
        let open = || File::options().read(true).write(true).create(true).truncate(false).open(&path);
        let held = lock_within(Duration::ZERO, &path, open).unwrap();
        assert!(held.is_some());
        assert!(lock_within(Duration::ZERO, &path, open).unwrap().is_none());
        drop(held);
        assert!(lock_within(Duration::ZERO, &path, open).unwrap().is_some());
    }

    #[cfg(unix)]
    #[test]
    fn names_are_flushed_with_their_folder() {
        let folder = tempfile::tempdir().unwrap();
        assert!(sync_folder(&folder.path().join("a")).is_ok());
        assert!(sync_folder(Path::new("a")).is_ok(), "the folder at hand");
        let gone = sync_folder(&folder.path().join("no/a")).unwrap_err();
        assert_eq!(gone.kind(), io::ErrorKind::NotFound);
    }

    #[cfg(unix)]
    #[test]
    fn another_name_of_a_file_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let (first, second) = (folder.path().join("a"), folder.path().join("b"));
        std::fs::write(&first, b"x").unwrap();
        assert!(!has_other_names(&first.metadata().unwrap()));
        std::fs::hard_link(&first, &second).unwrap();
        assert!(has_other_names(&first.metadata().unwrap()));
    }
}
