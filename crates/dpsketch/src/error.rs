use core::fmt;
use std::error::Error as StdError;
use std::io;
use std::sync::Arc;

use serde_json::{Value, json};

/// What kind of failure an [`Error`] is. Each kind belongs to one exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Reading or writing failed for a reason outside the data: a full disk, a missing right, a folder that cannot be written.
    Io,
    /// The operating system gave no randomness.
    Entropy,
    /// A bug in this project, or in a library it reads foreign files with.
    Internal,
    /// The one who reads the output went away.
    BrokenPipe,
    /// An argument is wrong or out of its range.
    Parameter,
    /// A named column is not in the data, or cannot be hashed.
    Column,
    /// Sketches that cannot be put together.
    Incompatible,
    /// A release that would cost privacy nobody asked to spend.
    Refused,
    /// An input that cannot be opened or read.
    Unreadable,
    /// An input that is damaged, cut short, or not what its name says.
    Damaged,
    /// A check that was asked for found a fault.
    VerifyFailed,
}

impl ErrorKind {
    /// The word for this kind in machine-readable errors.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Io => "io",
            Self::Entropy => "entropy",
            Self::Internal => "internal",
            Self::BrokenPipe => "broken_pipe",
            Self::Parameter => "parameter",
            Self::Column => "column",
            Self::Incompatible => "incompatible",
            Self::Refused => "refused",
            Self::Unreadable => "unreadable",
            Self::Damaged => "damaged",
            Self::VerifyFailed => "verify_failed",
        }
    }

    /// The exit code of a command that ends with this kind of failure.
    ///
    /// | code | meaning |
    /// |---|---|
    /// | 1 | failed while running |
    /// | 2 | wrong usage, or a parameter out of its range |
    /// | 3 | sketches that do not fit together |
    /// | 4 | release refused |
    /// | 5 | input unreadable or damaged |
    /// | 6 | a check failed |
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Io | Self::Entropy | Self::Internal | Self::BrokenPipe => 1,
            Self::Parameter | Self::Column => 2,
            Self::Incompatible => 3,
            Self::Refused => 4,
            Self::Unreadable | Self::Damaged => 5,
            Self::VerifyFailed => 6,
        }
    }
}

/// A failure as a person at a front end sees it: what went wrong, with which argument and value, what is allowed, what to do.
///
/// The library crates have an error type for each operation; this one carries them as its [`source`](StdError::source)
/// and adds what only the front end knows: the name of the argument and the file.
///
/// # Examples
/// ```
/// use dpsketch::{Error, ErrorKind};
///
/// let error = Error::new(ErrorKind::Parameter, "epsilon is not a number")
///     .argument("--epsilon")
///     .value("one")
///     .allowed("a number from 2^-30 to 256")
///     .hint("write it as a decimal, such as 0.5");
/// assert_eq!(error.kind().exit_code(), 2);
/// assert_eq!(error.to_json()["argument"], "--epsilon");
/// ```
#[derive(Clone, Debug)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    kind: ErrorKind,
    message: String,
    argument: Option<String>,
    value: Option<String>,
    allowed: Option<String>,
    hint: Option<String>,
    source: Option<Arc<dyn StdError + Send + Sync>>,
}

impl Error {
    /// A failure of `kind`, told in one line of lower case without a full stop.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: message.into(),
            argument: None,
            value: None,
            allowed: None,
            hint: None,
            source: None,
        }))
    }

    /// Names the argument at fault, as the person wrote it.
    #[must_use]
    pub fn argument(mut self, argument: impl Into<String>) -> Self {
        self.0.argument = Some(argument.into());
        self
    }

    /// Names the argument at fault unless one is named already.
    #[must_use]
    pub fn argument_or(mut self, argument: &str) -> Self {
        self.0.argument.get_or_insert_with(|| argument.to_owned());
        self
    }

    /// The value that was given or found. Never a data item.
    #[must_use]
    pub fn value(mut self, value: impl Into<String>) -> Self {
        self.0.value = Some(value.into());
        self
    }

    /// The values that would have been accepted.
    #[must_use]
    pub fn allowed(mut self, allowed: impl Into<String>) -> Self {
        self.0.allowed = Some(allowed.into());
        self
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Says first in the message where the failure happened.
    #[must_use]
    pub fn prefixed(mut self, place: &str) -> Self {
        self.0.message = format!("{place}: {}", self.0.message);
        self
    }

    /// The error below this one.
    #[must_use]
    pub fn caused_by(mut self, source: impl StdError + Send + Sync + 'static) -> Self {
        self.0.source = Some(Arc::new(source));
        self
    }

    /// A failed read of `name`: [`ErrorKind::Unreadable`], or [`ErrorKind::Damaged`] where the content was the reason.
    #[must_use]
    pub fn reading(name: &str, error: io::Error) -> Self {
        let (kind, hint) = match error.kind() {
            io::ErrorKind::UnexpectedEof => (ErrorKind::Damaged, "the file is cut short: copy or download it again"),
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
                (ErrorKind::Damaged, "the content is damaged: copy or download the file again")
            }
            io::ErrorKind::NotFound => (ErrorKind::Unreadable, "check the path"),
            io::ErrorKind::PermissionDenied => (ErrorKind::Unreadable, "ask for the right to read it"),
            io::ErrorKind::IsADirectory => (ErrorKind::Unreadable, "name the files inside the folder"),
            _ => (ErrorKind::Unreadable, "check that the file can be read"),
        };
        Self::new(kind, format!("cannot read {name}: {error}")).value(name).hint(hint).caused_by(error)
    }

    /// A failed write of `name`.
    #[must_use]
    pub fn writing(name: &str, error: io::Error) -> Self {
        let (kind, hint) = match error.kind() {
            io::ErrorKind::BrokenPipe => (ErrorKind::BrokenPipe, "the reader of the output went away"),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                (ErrorKind::Io, "free some space, or write to another disk; nothing was left half-written")
            }
            io::ErrorKind::NotFound => (ErrorKind::Io, "make the folder first"),
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                (ErrorKind::Io, "choose a folder that you may write to")
            }
            _ => (ErrorKind::Io, "check that the place can be written to"),
        };
        Self::new(kind, format!("cannot write {name}: {error}")).value(name).hint(hint).caused_by(error)
    }

    /// The kind of failure.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The message alone, without argument, range and hint.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// One object: `code` (the exit code), `kind`, `argument`, `value`, `allowed`, `hint` and `message`; what is unknown is null.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let inner = &self.0;
        json!({
            "code": inner.kind.exit_code(),
            "kind": inner.kind.as_str(),
            "argument": inner.argument,
            "value": inner.value,
            "allowed": inner.allowed,
            "hint": inner.hint,
            "message": inner.message,
        })
    }

    /// A few lines for a terminal: the message, then one indented line for each of argument, allowed range and hint.
    #[must_use]
    pub fn to_text(&self) -> String {
        let inner = &self.0;
        let value = inner.value.as_ref().map(|value| format!(" (given: {value})")).unwrap_or_default();
        let lines = [
            Some(inner.message.clone()),
            inner.argument.as_ref().map(|argument| format!("  argument: {argument}{value}")),
            inner.allowed.as_ref().map(|allowed| format!("  allowed: {allowed}")),
            inner.hint.as_ref().map(|hint| format!("  hint: {hint}")),
        ];
        lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_has_every_field_even_when_unknown() {
        let json = Error::new(ErrorKind::Refused, "already released").to_json();
        assert_eq!(json["code"], 4);
        assert_eq!(json["kind"], "refused");
        for field in ["argument", "value", "allowed", "hint"] {
            assert!(json.get(field).is_some_and(Value::is_null), "{field}");
        }
    }

    #[test]
    fn text_names_argument_value_range_and_fix() {
        let text =
            Error::new(ErrorKind::Parameter, "m").argument("--x").value("7").allowed("1 to 6").hint("h").to_text();
        assert_eq!(text, "m\n  argument: --x (given: 7)\n  allowed: 1 to 6\n  hint: h");
    }

    #[test]
    fn a_cut_file_is_damaged_and_a_full_disk_is_not() {
        let cut = Error::reading("a.gz", io::ErrorKind::UnexpectedEof.into());
        assert_eq!((cut.kind(), cut.kind().exit_code()), (ErrorKind::Damaged, 5));
        let full = Error::writing("a.dps", io::ErrorKind::StorageFull.into());
        assert_eq!((full.kind(), full.kind().exit_code()), (ErrorKind::Io, 1));
    }
}
