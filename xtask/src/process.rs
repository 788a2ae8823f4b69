//! Starting other programs and writing to the terminal.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::failure::Failure;

/// The workspace's root folder.
pub(crate) fn root() -> PathBuf {
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR")
        .filter(|folder| Path::new(folder).ends_with("xtask"))
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    manifest.parent().map(Path::to_path_buf).unwrap_or(manifest)
}

/// The cargo that started this driver.
pub(crate) fn cargo_program() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// A cargo command run in the workspace's root.
pub(crate) fn cargo<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(cargo_program());
    command.args(arguments).current_dir(root()).stdin(Stdio::null());
    command
}

/// Runs a command with our own output streams and fails unless it exits with 0.
pub(crate) fn run(command: &mut Command) -> Result<(), Failure> {
    let status =
        command.status().map_err(|error| Failure::Failed(format!("cannot start {}: {error}", show(command))))?;
    if status.success() { Ok(()) } else { Err(Failure::Failed(format!("{} failed ({status})", show(command)))) }
}

/// Runs a command that does this command's whole work: its exit code becomes ours.
pub(crate) fn hand_over(command: &mut Command) -> Result<(), Failure> {
    let status =
        command.status().map_err(|error| Failure::Failed(format!("cannot start {}: {error}", show(command))))?;
    match status.code() {
        Some(0) => Ok(()),
        Some(code) => Err(Failure::Child(u8::try_from(code).unwrap_or(1))),
        None => Err(Failure::Failed(format!("{} was stopped ({status})", show(command)))),
    }
}

/// Runs a command and returns what it wrote to its standard output.
pub(crate) fn output(command: &mut Command) -> Result<String, Failure> {
    let result = command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| Failure::Failed(format!("cannot start {}: {error}", show(command))))?;
    if !result.status.success() {
        return Err(Failure::Failed(format!("{} failed ({})", show(command), result.status)));
    }
    String::from_utf8(result.stdout).map_err(|_| Failure::Failed(format!("{} wrote no text", show(command))))
}

/// Whether a command can be started and exits with 0; its output is thrown away.
pub(crate) fn works(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

fn show(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let arguments = command.get_args().map(|argument| argument.to_string_lossy().into_owned());
    let words: Vec<String> = std::iter::once(program).chain(arguments).collect();
    format!("`{}`", words.join(" "))
}

/// Writes a line to standard output; a closed pipe is no error.
pub(crate) fn say(text: &str) -> Result<(), Failure> {
    match writeln!(std::io::stdout().lock(), "{text}") {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Reads a text file, naming it in the error.
pub(crate) fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|error| Failure::Failed(format!("cannot read {}: {error}", path.display())))
}

/// Writes a text file, naming it in the error.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|error| Failure::Failed(format!("cannot write {}: {error}", path.display())))
}
