use std::fs::{self, File};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{Error, ErrorKind};
use crate::part_file;

/// Who may read a file that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Readers {
    /// Whoever the system's defaults allow: for released sketches.
    Anyone,
    /// Only the owner (mode 0600): for raw sketches and keys.
    OwnerOnly,
}

/// A file that appears whole or not at all.
///
/// The bytes go to a temporary file in the same folder, are flushed to the disk, and take the final name in one step.
/// The temporary file is made by [`OutputFile::create`], so that a missing folder or right shows before any work is done
/// and before any privacy is spent; it disappears if [`OutputFile::commit`] is never reached.
///
/// A device or a pipe as target is written directly. A symbolic link is followed: the file it points to is replaced; a link
/// to nothing is refused. A temporary file that a killed process left is deleted by the next one that writes the same name.
///
/// # Examples
/// ```
/// use dpsketch::{OutputFile, Readers};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("a.dps");
/// let output = OutputFile::create(&path, Readers::Anyone)?;
/// assert!(!path.exists());
/// output.commit(b"bytes")?;
/// assert_eq!(std::fs::read(&path)?, b"bytes");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "nothing is written until `commit`"]
pub struct OutputFile {
    name: String,
    target: Target,
}

#[derive(Debug)]
enum Target {
    Replace { file: NamedTempFile, path: PathBuf, may_exist: bool },
    Direct(File),
}

impl OutputFile {
    /// Gets everything ready for writing `path`, but leaves what stands there untouched.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] when `path` is a folder, ends like one, or is a link to nothing; [`ErrorKind::Refused`] when
    /// it is a terminal and only the owner may read the content; [`ErrorKind::Io`] when its folder is missing or cannot be
    /// written to.
    pub fn create(path: &Path, readers: Readers) -> Result<Self, Error> {
        let name = path.display().to_string();
        let failed = |error| Error::writing(&name, error);
        let target = match fs::metadata(path) {
            Ok(found) if found.is_dir() => return Err(is_a_folder(&name)),
            _ if ends_like_a_folder(path) => return Err(is_a_folder(&name)),
            Ok(found) if found.is_file() => Self::replace(&path.canonicalize().map_err(failed)?, readers, true),
            Ok(_) => match File::options().write(true).open(path) {
                Ok(file) if readers == Readers::OwnerOnly && file.is_terminal() => return Err(is_a_terminal(&name)),
                opened => opened.map(Target::Direct),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if path.symlink_metadata().is_ok() {
                    return Err(leads_nowhere(&name));
                }
                Self::replace(path, readers, true)
            }
            Err(error) => Err(error),
        };
        Ok(Self { target: target.map_err(failed)?, name })
    }

    /// As [`create`](Self::create), for a file that must not exist yet.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] when there is something of that name, and as [`create`](Self::create).
    pub fn create_new(path: &Path, readers: Readers) -> Result<Self, Error> {
        let name = path.display().to_string();
        if path.symlink_metadata().is_ok() {
            return Err(exists(&name));
        }
        if ends_like_a_folder(path) {
            return Err(is_a_folder(&name));
        }
        let target = Self::replace(path, readers, false).map_err(|error| Error::writing(&name, error))?;
        Ok(Self { name, target })
    }

    /// As [`create`](Self::create), for the next version of the open file `old`, which stands at `path`: with its owner,
    /// group and mode.
    pub(crate) fn create_next(path: &Path, old: &File) -> Result<Self, Error> {
        // Nobody else may read it until it has the right group and mode.
        let output = Self::create(path, Readers::OwnerOnly)?;
        if let Target::Replace { file, .. } = &output.target {
            let kept = old.metadata().and_then(|old| keep_readers(file.as_file(), &old));
            kept.map_err(|error| Error::writing(&output.name, error))?;
        }
        Ok(output)
    }

    fn replace(path: &Path, readers: Readers, may_exist: bool) -> io::Result<Target> {
        let (Some(file_name), Some(parent)) = (path.file_name(), path.parent()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let folder = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        let file = part_file::create(folder, file_name, permissions(readers))?;
        Ok(Target::Replace { file, path: path.to_owned(), may_exist })
    }

    /// Writes `bytes`, flushes them to the disk, and gives the file its name.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] when the disk is full or the folder changed meanwhile, [`ErrorKind::BrokenPipe`] when the target is
    /// a pipe nobody reads. Nothing is left under the final name then, or what was there before.
    pub fn commit(self, bytes: &[u8]) -> Result<(), Error> {
        let name = self.name.clone();
        self.commit_with(|file| file.write_all(bytes).map_err(|error| Error::writing(&name, error)))
    }

    /// As [`commit`](Self::commit), for content that `fill` writes piece by piece.
    ///
    /// # Errors
    /// As [`commit`](Self::commit), and whatever `fill` fails with.
    pub fn commit_with(self, fill: impl FnOnce(&mut File) -> Result<(), Error>) -> Result<(), Error> {
        let name = self.name;
        let written = match self.target {
            Target::Replace { mut file, path, may_exist } => {
                fill(file.as_file_mut())?;
                persist(file, &path, may_exist)
            }
            Target::Direct(mut device) => {
                fill(&mut device)?;
                device.flush()
            }
        };
        written.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => exists(&name),
            _ => Error::writing(&name, error),
        })
    }
}

fn persist(file: NamedTempFile, path: &Path, may_exist: bool) -> io::Result<()> {
    file.as_file().sync_all()?;
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let named = if may_exist { file.persist(path) } else { file.persist_noclobber(path) };
    named.map_err(|error| error.error)?;
    // The new name is durable only once the folder is; not every system lets a folder be opened, and the bytes are safe already.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems have no modes")]
fn permissions(readers: Readers) -> Option<fs::Permissions> {
    use std::os::unix::fs::PermissionsExt;
    // The process's umask still applies.
    Some(fs::Permissions::from_mode(match readers {
        Readers::Anyone => 0o666,
        Readers::OwnerOnly => 0o600,
    }))
}

#[cfg(not(unix))]
fn permissions(_readers: Readers) -> Option<fs::Permissions> {
    None
}

/// Gives `new` the owner, group and mode of another file. Where the group cannot be kept, its rights are not given to
/// another one.
#[cfg(unix)]
fn keep_readers(new: &File, old: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let made = new.metadata()?;
    if made.uid() != old.uid() {
        // Only a privileged process can; for any other one the file is its own now.
        let _ = fchown(new, Some(old.uid()), None);
    }
    let has_group = made.gid() == old.gid() || fchown(new, None, Some(old.gid())).is_ok();
    let kept = if has_group { 0o777 } else { 0o707 };
    new.set_permissions(fs::Permissions::from_mode(old.mode() & kept))
}

#[cfg(not(unix))]
fn keep_readers(_new: &File, _old: &fs::Metadata) -> io::Result<()> {
    Ok(())
}

/// Whether the path says that a folder is meant: `x/` or `x/.`.
fn ends_like_a_folder(path: &Path) -> bool {
    let text = path.as_os_str().as_encoded_bytes();
    let text = text.strip_suffix(b".").filter(|rest| rest.is_empty() || is_separated(rest)).unwrap_or(text);
    is_separated(text) || path.file_name().is_none()
}

fn is_separated(text: &[u8]) -> bool {
    text.last().is_some_and(|last| std::path::is_separator(char::from(*last)))
}

fn leads_nowhere(name: &str) -> Error {
    Error::new(ErrorKind::Parameter, format!("{name} is a symbolic link to a file that does not exist"))
        .value(name)
        .allowed("the name of a file, or a link to one that exists")
        .hint("name the file that the link should lead to, or remove the link")
}

fn exists(name: &str) -> Error {
    Error::new(ErrorKind::Parameter, format!("{name} exists already"))
        .value(name)
        .allowed("the name of a file that does not exist yet")
        .hint("choose another name, or move the old file away")
}

fn is_a_terminal(name: &str) -> Error {
    Error::new(ErrorKind::Refused, format!("{name} is a terminal, and this output is secret"))
        .value(name)
        .hint("name a file")
}

fn is_a_folder(name: &str) -> Error {
    Error::new(ErrorKind::Parameter, format!("{name} is a folder"))
        .value(name)
        .allowed("the name of a file")
        .hint("add a file name to the path")
}

#[cfg(test)]
mod tests;
