//! Temporary files beside their target: locked while they are in use, and cleared away when their process was killed.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;

use tempfile::NamedTempFile;

use crate::file_lock::is_still_at;

/// What follows the random part of the name.
const SUFFIX: &str = ".part";
/// Random characters in the name.
const RANDOM: usize = 6;
/// Bytes of the target's name that the temporary name repeats, so that it is not too long where the target's is not.
const REPEATED: usize = 64;
/// How often another process may take a new file for an abandoned one.
const ATTEMPTS: usize = 16;

/// A new file in `folder` for content that will be called `name`. Files that killed processes left there for such a name
/// are deleted.
pub(crate) fn create(folder: &Path, name: &OsStr, permissions: Option<fs::Permissions>) -> io::Result<NamedTempFile> {
    let prefix = prefix(name);
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(SUFFIX).rand_bytes(RANDOM);
    if let Some(permissions) = permissions {
        builder.permissions(permissions);
    }
    for _ in 0..ATTEMPTS {
        let file = builder.tempfile_in(folder)?;
        match file.as_file().try_lock() {
            Ok(()) if is_still_at(file.as_file(), file.path()) => {
                clear_abandoned(folder, &prefix);
                return Ok(file);
            }
            // Somebody is clearing it away.
            Ok(()) | Err(TryLockError::WouldBlock) => {}
            // Where nothing can be locked, nothing is cleared away.
            Err(TryLockError::Error(_)) => return Ok(file),
        }
    }
    Err(io::ErrorKind::ResourceBusy.into())
}

/// `.NAME.`, of a long name its beginning.
fn prefix(name: &OsStr) -> OsString {
    let mut prefix = OsString::from(".");
    if name.len() <= REPEATED {
        prefix.push(name);
    } else {
        let text = name.to_string_lossy();
        let end = (0..=REPEATED).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        prefix.push(&text[..end]);
    }
    prefix.push(".");
    prefix
}

/// Deletes the files that nobody has locked any more. One that cannot be deleted stays.
fn clear_abandoned(folder: &Path, prefix: &OsStr) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        // Opening anything but a file could wait for ever.
        if has_pattern(&entry.file_name(), prefix) && entry.file_type().is_ok_and(|found| found.is_file()) {
            let _ = remove_if_abandoned(&entry.path());
        }
    }
}

fn has_pattern(name: &OsStr, prefix: &OsStr) -> bool {
    let rest = name.as_encoded_bytes().strip_prefix(prefix.as_encoded_bytes());
    let random = rest.and_then(|rest| rest.strip_suffix(SUFFIX.as_bytes()));
    random.is_some_and(|random| random.len() == RANDOM && random.iter().all(u8::is_ascii_alphanumeric))
}

fn remove_if_abandoned(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    match file.try_lock() {
        Ok(()) if is_still_at(&file, path) => fs::remove_file(path),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        fs::read_dir(folder).unwrap().flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn what_a_killed_process_left_is_cleared_away_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let other_things = [".a.dps.part", ".a.dps.abc.part", ".b.dps.abcdef.part", ".a.dps.abc-ef.part", "a.dps"];
        for name in [".a.dps.abcdef.part", ".a.dps.ABCDE0.part"].iter().chain(&other_things) {
            fs::write(folder.path().join(name), b"left").unwrap();
        }
        let in_use = create(folder.path(), OsStr::new("a.dps"), None).unwrap();
        let second = create(folder.path(), OsStr::new("a.dps"), None).unwrap();
        assert!(in_use.path().exists() && second.path().exists());
        drop((in_use, second));
        let mut left = names(folder.path());
        left.sort();
        let mut expected = other_things.map(str::to_owned).to_vec();
        expected.sort();
        assert_eq!(left, expected);
    }

    #[test]
    fn a_temporary_name_fits_wherever_the_name_of_the_target_does() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["x".repeat(255), "é".repeat(127), format!("{}é", "x".repeat(63)), "a".to_owned()] {
            let file = create(folder.path(), OsStr::new(&name), None).unwrap();
            let length = file.path().file_name().unwrap().len();
            assert!(length <= name.len().max(REPEATED) + 2 + RANDOM + SUFFIX.len() && length <= 255, "{name}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_or_a_pipe_with_such_a_name_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(".a.abcdef.part")).unwrap();
        std::os::unix::fs::symlink("nowhere", folder.path().join(".a.abcdeg.part")).unwrap();
        drop(create(folder.path(), OsStr::new("a"), None).unwrap());
        assert_eq!(names(folder.path()).len(), 2);
    }
}
