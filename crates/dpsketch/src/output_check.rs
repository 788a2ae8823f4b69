//! Outputs that would destroy an input.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use thiserror::Error as ThisError;

use crate::error::{Error, ErrorKind};

/// An output that is one of the inputs, under the same name or another one.
#[derive(Clone, Debug, PartialEq, Eq, ThisError)]
#[error("{out} is also an input, {input}, and would be destroyed")]
#[non_exhaustive]
pub struct OutputIsInput {
    /// The output as it was named.
    pub out: String,
    /// The input as it was named.
    pub input: String,
}

impl From<OutputIsInput> for Error {
    fn from(error: OutputIsInput) -> Self {
        Self::new(ErrorKind::Parameter, error.to_string())
            .argument("--out")
            .value(&error.out)
            .allowed("a file that is not read")
            .hint("choose another name, and move the file when it is done")
            .caused_by(error)
    }
}

/// Checks that writing `out` would replace none of the files that are read, whatever names lead to them.
///
/// Links are followed, and hard links told by device and file number. A file that does not exist yet is compared by
/// its folder and name. Devices and pipes are never the same: nothing in them can be replaced.
///
/// To be called before anything is opened or spent.
///
/// # Errors
/// [`ErrorKind::Parameter`], with [`OutputIsInput`] as source, which names both.
///
/// # Examples
/// ```
/// use dpsketch::check_output;
///
/// let folder = tempfile::tempdir()?;
/// let (input, link) = (folder.path().join("a.csv"), folder.path().join("b.csv"));
/// std::fs::write(&input, "user\nann\n")?;
/// std::fs::hard_link(&input, &link)?;
/// assert!(check_output(&link, [&input]).is_err());
/// assert!(check_output(&folder.path().join("c.csv"), [&input]).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn check_output<P: AsRef<Path>>(out: &Path, inputs: impl IntoIterator<Item = P>) -> Result<(), Error> {
    let Some(place) = Place::of(out) else { return Ok(()) };
    for input in inputs {
        let input = input.as_ref();
        if Place::of(input).as_ref() == Some(&place) {
            let (out, input) = (out.display().to_string(), input.display().to_string());
            return Err(OutputIsInput { out, input }.into());
        }
    }
    Ok(())
}

/// What tells one file from all others.
#[derive(PartialEq, Eq)]
enum Place {
    /// A file that is there.
    File(Identity),
    /// One that is not: its folder without links, and its name.
    Free(PathBuf, OsString),
}

#[cfg(unix)]
type Identity = (u64, u64);
#[cfg(not(unix))]
type Identity = PathBuf;

impl Place {
    /// `None` for what is no file and for what cannot be found.
    fn of(path: &Path) -> Option<Self> {
        if let Ok(found) = fs::metadata(path) {
            return found.is_file().then(|| identity(path, &found)).flatten().map(Self::File);
        }
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some(Self::Free(parent.canonicalize().ok()?, path.file_name()?.to_owned()))
    }
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems look at the file again")]
fn identity(_path: &Path, found: &fs::Metadata) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    Some((found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn identity(path: &Path, _found: &fs::Metadata) -> Option<Identity> {
    path.canonicalize().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_an_input_is_found_out() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["a", "b"] {
            fs::write(at(name), b"data").unwrap();
        }
        fs::create_dir(at("d")).unwrap();
        let mut same = vec![at("a"), at("./a"), at("d/../a")];
        #[cfg(unix)]
        {
            fs::hard_link(at("a"), at("hard")).unwrap();
            std::os::unix::fs::symlink("a", at("soft")).unwrap();
            std::os::unix::fs::symlink(".", at("here")).unwrap();
            same.extend([at("hard"), at("soft"), at("here/a")]);
        }
        for out in same {
            let error = check_output(&out, [at("b"), at("a")]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Parameter);
            for name in [&out, &at("a")] {
                assert!(error.message().contains(&name.display().to_string()), "{error}");
            }
        }
        for out in [at("c"), at("d"), at("no/a")] {
            assert!(check_output(&out, [at("a"), at("b")]).is_ok(), "{}", out.display());
        }
        assert!(check_output(&at("a"), Vec::<PathBuf>::new()).is_ok());
    }

    #[test]
    fn a_file_that_is_not_there_yet_is_compared_by_name() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("d")).unwrap();
        let (out, input) = (folder.path().join("x"), folder.path().join("d/../x"));
        assert!(check_output(&out, [&input]).is_err());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_device_can_be_both() {
        assert!(check_output(Path::new("/dev/null"), ["/dev/null"]).is_ok());
    }
}
