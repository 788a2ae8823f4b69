//! How the data is read.

use clap::Args;
use dpsketch::{Error, ErrorKind, TextRules, parse_count, parse_size};

use crate::input::{BLOCK, InputFormat};

#[derive(Debug, Args)]
#[command(next_help_heading = "Data")]
pub(super) struct DataArgs {
    /// The column to count, or several separated by commas to count their combinations. A name with a comma or a quote in
    /// it stands in double quotes, as in a CSV file: '"last, first",age'.
    #[arg(long = "column", value_name = "C[,C2…]", value_parser = column_list)]
    pub(super) columns: Vec<Columns>,
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
    #[arg(long, value_name = "SIZE", default_value = "16MiB", value_parser = max_record, allow_negative_numbers = true)]
    pub(super) max_record: usize,
}

/// The names in one `--column`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Columns(Vec<String>);

impl DataArgs {
    /// All columns to count.
    pub(super) fn column(&self) -> Vec<String> {
        self.columns.iter().flat_map(|columns| columns.0.iter().cloned()).collect()
    }
}

/// Reads names as the fields of a CSV record.
fn column_list(text: &str) -> Result<Columns, Error> {
    let wrong = || {
        Error::new(ErrorKind::Column, "the names of columns are not readable")
            .value(text)
            .allowed("names separated by commas, those with a comma or a quote in them in double quotes")
    };
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    let mut record = csv::StringRecord::new();
    let found = reader.read_record(&mut record).map_err(|_| wrong())?;
    let more = reader.read_record(&mut csv::StringRecord::new()).map_err(|_| wrong())?;
    // The reader takes a quote that is never closed for a closed one.
    if more || !text.matches('"').count().is_multiple_of(2) {
        return Err(wrong());
    }
    if !found {
        return Ok(Columns(vec![String::new()]));
    }
    Ok(Columns(record.iter().map(str::to_owned).collect()))
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

impl TextArgs {
    /// The rules that these flags make.
    pub(crate) fn rules(&self) -> TextRules {
        TextRules { trim: self.trim, lowercase: self.lowercase, null: self.null.clone() }
    }
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
    fn names_of_columns_are_the_fields_of_a_record() {
        for (text, names) in [
            ("a", &["a"][..]),
            ("a,b", &["a", "b"]),
            (r#""last, first",age"#, &["last, first", "age"]),
            (r#"a,"say ""x""""#, &["a", r#"say "x""#]),
            ("a,", &["a", ""]),
            ("", &[""]),
        ] {
            assert_eq!(column_list(text).unwrap().0, names, "{text}");
        }
        for text in ["\"a", "a\nb", "\"a\",\"b"] {
            assert!(column_list(text).is_err(), "{text}");
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
