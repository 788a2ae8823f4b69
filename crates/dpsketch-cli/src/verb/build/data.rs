//! How the data is read.

use clap::Args;
use dpsketch::{Error, ErrorKind, parse_count, parse_size};

use crate::input::{BLOCK, InputFormat};

#[derive(Debug, Args)]
#[command(next_help_heading = "Data")]
pub(super) struct DataArgs {
    /// The column to count, or several separated by commas to count their combinations.
    #[arg(long, value_name = "C[,C2…]", value_delimiter = ',')]
    pub(super) column: Vec<String>,
    /// The format of the inputs; auto goes by content and extension.
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "auto")]
    pub(super) input_format: InputFormat,
    /// The byte between CSV fields; \t or tab for a tabulator. A comma, or a tabulator in .tsv files, if left out.
    #[arg(long, value_name = "C", value_parser = delimiter, allow_hyphen_values = true)]
    pub(super) delimiter: Option<u8>,
    /// CSV files have no header line; columns are numbered from 1.
    #[arg(long)]
    pub(super) no_header: bool,
    /// The longest line or record of text that is accepted.
    #[arg(long, value_name = "SIZE", default_value = "16MiB", value_parser = max_record)]
    pub(super) max_record: usize,
}

/// How text is cleaned before it is hashed. Parties whose sketches are to be merged must agree on it.
#[derive(Debug, Args)]
#[command(next_help_heading = "Text")]
pub(crate) struct TextArgs {
    /// Text that stands for a missing value. None if left out: an empty text is a value.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) null: Option<String>,
    /// Drop white space at both ends of text.
    #[arg(long)]
    pub(crate) trim: bool,
    /// Turn text to lower case.
    #[arg(long)]
    pub(crate) lowercase: bool,
}

/// More threads than that help nobody.
pub(super) const MAX_THREADS: usize = 256;

pub(super) fn threads(text: &str) -> Result<usize, Error> {
    let range = format!("1 to {MAX_THREADS}");
    let value = parse_count(text).map_err(|error| error.allowed(&range))?;
    usize::try_from(value).ok().filter(|threads| (1..=MAX_THREADS).contains(threads)).ok_or_else(|| {
        Error::new(ErrorKind::Parameter, format!("{text} threads are out of range")).value(text).allowed(&range)
    })
}

fn max_record(text: &str) -> Result<usize, Error> {
    const RANGE: &str = "256KiB to 1GiB";
    let value = parse_size(text).map_err(|error| error.allowed(RANGE))?;
    usize::try_from(value)
        .ok()
        .filter(|size| (BLOCK..=1 << 30).contains(size))
        .ok_or_else(|| Error::new(ErrorKind::Parameter, format!("{text} is out of range")).value(text).allowed(RANGE))
}

fn delimiter(text: &str) -> Result<u8, Error> {
    match text.as_bytes() {
        b"\\t" | b"tab" => Ok(b'\t'),
        &[byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\n' | b'\r') => Ok(byte),
        _ => Err(Error::new(ErrorKind::Parameter, format!("{text:?} is no delimiter"))
            .value(text)
            .allowed(r"one ASCII character that is no quote and no line end, or \t or tab")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_are_one_ascii_character_or_a_tabulator() {
        for (text, byte) in [(";", b';'), ("|", b'|'), ("\\t", b'\t'), ("tab", b'\t'), ("\t", b'\t')] {
            assert_eq!(delimiter(text).ok(), Some(byte));
        }
        for text in ["", ",,", "\"", "\n", "é"] {
            assert!(delimiter(text).is_err(), "{text}");
        }
    }

    #[test]
    fn threads_have_a_range() {
        assert_eq!(threads("1").ok(), Some(1));
        for text in ["0", "257", "-1", "1e9", "x"] {
            assert!(threads(text).is_err(), "{text}");
        }
    }
}
