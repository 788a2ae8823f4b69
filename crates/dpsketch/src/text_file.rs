//! Settings kept as text: JSON with a title that says format and version, read strictly.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use thiserror::Error as ThisError;

use crate::error::{Error, ErrorKind};

/// Longest piece of a refused text that an error repeats, in characters.
const QUOTED: usize = 40;

/// Why a text is no file of the expected kind. Shared by ledgers and studies.
#[derive(Clone, Debug, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum TextFileError {
    /// Longer than any such file.
    #[error("expected at most {max} bytes, found more")]
    TooLong {
        /// The longest file.
        max: usize,
    },
    /// Not JSON of the right form: cut short, or with a field that is unknown, missing, repeated or of another type.
    #[error("{reason} at line {line}, column {column}")]
    Malformed {
        /// Where, from 1; 0 when the text is at fault as a whole.
        line: usize,
        /// Where in the line, from 1; 0 before its first character.
        column: usize,
        /// What is wrong there.
        reason: String,
    },
    /// Another format, or another version of it.
    #[error("expected {expected:?}, found {found:?}")]
    Format {
        /// The format and version that are read.
        expected: String,
        /// What the file says it is.
        found: String,
    },
    /// A field whose value is not valid.
    #[error("{field} is invalid: expected {expected}, found {found:?}")]
    Field {
        /// The field, and what it belongs to.
        field: String,
        /// What it should be.
        expected: String,
        /// What it is, shortened.
        found: String,
    },
}

impl TextFileError {
    pub(crate) fn field(field: impl Into<String>, expected: impl Into<String>, found: &str) -> Self {
        Self::Field { field: field.into(), expected: expected.into(), found: shorten(found, QUOTED) }
    }
}

impl From<TextFileError> for Error {
    fn from(error: TextFileError) -> Self {
        Self::new(ErrorKind::Damaged, error.to_string()).caused_by(error)
    }
}

/// What every version of every such file has.
#[derive(Deserialize)]
struct Title {
    #[serde(default)]
    format: Option<String>,
    #[serde(default)]
    version: Option<u64>,
}

/// What one kind of file is called, and how long it may be.
pub(crate) struct Layout {
    /// The field `format`.
    pub(crate) format: &'static str,
    /// The field `version`.
    pub(crate) version: u64,
    /// The longest file, in bytes.
    pub(crate) max: usize,
}

/// Reads the text of a file, or as much of it as shows that it is too long.
pub(crate) fn read(path: &Path, layout: &Layout) -> io::Result<(File, Vec<u8>)> {
    let file = File::open(path)?;
    let mut text = Vec::new();
    (&file).take(layout.max as u64 + 1).read_to_end(&mut text)?;
    Ok((file, text))
}

/// Reads the fields of a file. Unknown and repeated fields are left to `T` to refuse.
pub(crate) fn parse<T: DeserializeOwned>(text: &[u8], layout: &Layout) -> Result<T, TextFileError> {
    let Layout { format, version, max } = *layout;
    if text.len() > max {
        return Err(TextFileError::TooLong { max });
    }
    // A list would be read as the fields in their order.
    if text.trim_ascii_start().first() != Some(&b'{') {
        return Err(TextFileError::Malformed { line: 1, column: 1, reason: "expected '{'".to_owned() });
    }
    let title: Title = serde_json::from_slice(text).map_err(malformed)?;
    if (title.format.as_deref(), title.version) != (Some(format), Some(version)) {
        let found = match (title.format, title.version) {
            (None, _) => "no format".to_owned(),
            (Some(format), None) => shorten(&format, QUOTED),
            (Some(format), Some(version)) => format!("{} {version}", shorten(&format, QUOTED)),
        };
        return Err(TextFileError::Format { expected: format!("{format} {version}"), found });
    }
    serde_json::from_slice(text).map_err(malformed)
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
pub(crate) fn malformed(error: serde_json::Error) -> TextFileError {
    let (line, column) = (error.line(), error.column());
    let told = error.to_string();
    // The place is told in our own words.
    let reason = told.rsplit_once(" at line ").map_or(told.as_str(), |(reason, _)| reason);
    TextFileError::Malformed { line, column, reason: shorten(reason, 3 * QUOTED) }
}

/// At most `limit` characters of `text`, with an ellipsis where some are left out.
pub(crate) fn shorten(text: &str, limit: usize) -> String {
    let mut characters = text.chars();
    let mut short: String = characters.by_ref().take(limit).collect();
    if characters.next().is_some() {
        short.push('…');
    }
    short
}
