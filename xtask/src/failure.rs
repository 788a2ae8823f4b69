//! How a command of the driver fails.

use std::fmt;
use std::process::ExitCode;

/// Why a command did not end well.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line was wrong: exit code 2.
    Usage(String),
    /// A check failed or a program could not be run: exit code 1.
    Failed(String),
    /// A program that was started to do the command's work ended with this code, and has said why.
    Child(u8),
}

impl Failure {
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) => ExitCode::from(2),
            Self::Failed(_) => ExitCode::FAILURE,
            Self::Child(code) => ExitCode::from(*code),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(message) | Self::Failed(message) => formatter.write_str(message),
            Self::Child(code) => write!(formatter, "ended with exit code {code}"),
        }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Failed(error.to_string())
    }
}
