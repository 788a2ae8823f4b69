//! The files that people name on the command line.

use std::path::{Path, PathBuf};

use clap::builder::{OsStringValueParser, TypedValueParser};
use dpsketch::{Error, ErrorKind, check_output};

use crate::input::STDIN;

/// Reads a path of any bytes that the system allows; an empty one is no path.
pub(crate) fn paths() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().try_map(|text| {
        if text.is_empty() {
            return Err(Error::new(ErrorKind::Parameter, "the name of a file is empty")
                .value("")
                .allowed("the name of a file"));
        }
        Ok(PathBuf::from(text))
    })
}

/// Whether standard input is meant, or standard output where something is written.
pub(crate) fn is_std(path: &Path) -> bool {
    path.as_os_str() == STDIN
}

/// The path for messages.
pub(crate) fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// Standard input can be read once only.
pub(crate) fn at_most_one_stdin<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) -> Result<(), Error> {
    if paths.into_iter().filter(|path| is_std(path)).count() <= 1 {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Parameter, "standard input is named twice").value(STDIN).allowed("- at most once"))
}

/// Checks that writing `out` destroys nothing that is read: neither the inputs nor a ledger or its lock.
pub(crate) fn check_out<'a>(out: &'a Path, inputs: impl IntoIterator<Item = &'a Path>) -> Result<(), Error> {
    let inputs = inputs.into_iter().map(|input| of_std(input, "/dev/stdin"));
    check_output(of_std(out, "/dev/stdout"), inputs)
}

/// The file that the shell may have put behind `-`.
fn of_std<'a>(path: &'a Path, device: &'static str) -> &'a Path {
    if is_std(path) { Path::new(device) } else { path }
}

/// The lock that stands beside a ledger.
pub(crate) fn lock_of(ledger: &Path) -> PathBuf {
    let mut name = ledger.as_os_str().to_owned();
    name.push(".lock");
    PathBuf::from(name)
}
