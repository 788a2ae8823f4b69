//! Which format an input has.

use clap::ValueEnum;

use super::source::{Source, unpacked_extension};

/// What `--input-format` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputFormat {
    /// By the first bytes and the file's extension.
    Auto,
    /// Every line is a value.
    Lines,
    /// Values separated by a delimiter, with a header line unless --no-header.
    Csv,
    /// One JSON object a line.
    Ndjson,
    /// Parquet.
    Parquet,
    /// Arrow IPC, as a file (Feather) or a stream.
    Arrow,
}

/// A format that was asked for or recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Lines,
    Csv { delimiter: u8 },
    Ndjson,
    Parquet,
    ArrowFile,
    ArrowStream,
}

impl Format {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Lines => "lines",
            Self::Csv { delimiter: b'\t' } => "tab-separated CSV",
            Self::Csv { .. } => "CSV",
            Self::Ndjson => "NDJSON",
            Self::Parquet => "Parquet",
            Self::ArrowFile => "an Arrow file",
            Self::ArrowStream => "an Arrow stream",
        }
    }

    /// Whether it is text, which has to be UTF-8.
    pub(crate) fn is_text(self) -> bool {
        matches!(self, Self::Lines | Self::Csv { .. } | Self::Ndjson)
    }

    /// Formats whose first bytes are unmistakable.
    fn of_magic(head: &[u8]) -> Option<Self> {
        match head {
            [b'P', b'A', b'R', b'1', ..] => Some(Self::Parquet),
            [b'A', b'R', b'R', b'O', b'W', b'1', ..] => Some(Self::ArrowFile),
            [0xff, 0xff, 0xff, 0xff, ..] => Some(Self::ArrowStream),
            _ => None,
        }
    }

    fn of_extension(extension: &str) -> Option<Self> {
        Some(match extension {
            "csv" => Self::Csv { delimiter: b',' },
            "tsv" | "tab" => Self::Csv { delimiter: b'\t' },
            "ndjson" | "jsonl" | "json" => Self::Ndjson,
            "parquet" | "pq" => Self::Parquet,
            "arrow" | "feather" | "ipc" => Self::ArrowFile,
            "arrows" => Self::ArrowStream,
            "txt" | "lines" | "list" | "log" => Self::Lines,
            _ => return None,
        })
    }
}

/// What the command line says about the format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hints {
    pub(crate) format: InputFormat,
    pub(crate) delimiter: Option<u8>,
    /// Whether columns were named, a delimiter given or a header ruled out: then plain text is CSV.
    pub(crate) tabular: bool,
}

/// The format of a source: as asked for, or by its first bytes, then its extension, then the look of its text.
pub(crate) fn detect(source: &Source, hints: Hints) -> Format {
    let csv = |default| Format::Csv { delimiter: hints.delimiter.unwrap_or(default) };
    let magic = Format::of_magic(&source.head);
    match hints.format {
        InputFormat::Lines => return Format::Lines,
        InputFormat::Csv => {
            let tabs = extension(source).is_some_and(|extension| matches!(extension.as_str(), "tsv" | "tab"));
            return csv(if tabs { b'\t' } else { b',' });
        }
        InputFormat::Ndjson => return Format::Ndjson,
        InputFormat::Parquet => return Format::Parquet,
        InputFormat::Arrow if magic == Some(Format::ArrowFile) => return Format::ArrowFile,
        InputFormat::Arrow => return Format::ArrowStream,
        InputFormat::Auto => {}
    }
    let found = magic.or_else(|| extension(source).and_then(|extension| Format::of_extension(&extension)));
    match found {
        Some(Format::Csv { delimiter }) => csv(delimiter),
        Some(format) => format,
        None if without_mark(&source.head).trim_ascii_start().starts_with(b"{") => Format::Ndjson,
        None if hints.tabular => csv(b','),
        None => Format::Lines,
    }
}

/// Whether text begins like UTF-16: with its byte order mark, or with every second byte zero.
pub(crate) fn is_utf16(head: &[u8]) -> bool {
    match *head {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => true,
        [a, b, c, d, ..] => (a != 0 && b == 0 && c != 0 && d == 0) || (a == 0 && b != 0 && c == 0 && d != 0),
        _ => false,
    }
}

/// The first bytes without the byte order mark of UTF-8.
fn without_mark(head: &[u8]) -> &[u8] {
    head.strip_prefix("\u{feff}".as_bytes()).unwrap_or(head)
}

fn extension(source: &Source) -> Option<String> {
    source.path.as_deref().and_then(unpacked_extension)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn detected(path: Option<&str>, head: &[u8], format: InputFormat, delimiter: Option<u8>, tabular: bool) -> Format {
        let source = Source {
            name: "n".into(),
            path: path.map(PathBuf::from),
            packed: false,
            head: head.to_vec(),
            reader: Box::new(std::io::empty()),
        };
        detect(&source, Hints { format, delimiter, tabular })
    }

    #[test]
    fn unmistakable_bytes_win_over_the_extension() {
        assert_eq!(detected(Some("a.csv"), b"PAR1\x15\x04", InputFormat::Auto, None, false), Format::Parquet);
        assert_eq!(detected(None, b"ARROW1\0\0", InputFormat::Auto, None, false), Format::ArrowFile);
        assert_eq!(detected(None, b"\xff\xff\xff\xff", InputFormat::Auto, None, false), Format::ArrowStream);
    }

    #[test]
    fn the_extension_decides_between_text_formats() {
        let auto = |path, head| detected(Some(path), head, InputFormat::Auto, None, false);
        assert_eq!(auto("a.csv.gz", b"{,x"), Format::Csv { delimiter: b',' });
        assert_eq!(auto("a.tsv", b"a\tb"), Format::Csv { delimiter: b'\t' });
        assert_eq!(auto("a.jsonl.zst", b""), Format::Ndjson);
        assert_eq!(auto("a.txt", b"{"), Format::Lines);
    }

    #[test]
    fn text_of_no_known_name_is_csv_only_when_columns_are_spoken_of() {
        assert_eq!(detected(None, b"a,b", InputFormat::Auto, None, false), Format::Lines);
        assert_eq!(detected(None, b"a,b", InputFormat::Auto, None, true), Format::Csv { delimiter: b',' });
        assert_eq!(detected(None, b" {\"a\"", InputFormat::Auto, None, true), Format::Ndjson);
        assert_eq!(detected(Some("a.csv"), b"", InputFormat::Auto, Some(b';'), true), Format::Csv { delimiter: b';' });
        assert_eq!(detected(None, b"\xef\xbb\xbf{\"a\"", InputFormat::Auto, None, true), Format::Ndjson);
    }

    #[test]
    fn utf16_is_told_from_utf8() {
        for head in [&b"\xff\xfea\0"[..], b"\xfe\xff\0a", b"u\0s\0e\0r\0", b"\0u\0s\0e\0r"] {
            assert!(is_utf16(head), "{head:?}");
        }
        for head in [&b""[..], b"a", b"user,age", b"\xef\xbb\xbfuser", b"\0\0\0\0", "\u{fe}\u{ff}".as_bytes()] {
            assert!(!is_utf16(head), "{head:?}");
        }
    }

    #[test]
    fn a_format_that_was_asked_for_is_not_second_guessed() {
        assert_eq!(detected(Some("a.parquet"), b"PAR1", InputFormat::Lines, None, false), Format::Lines);
        assert_eq!(detected(Some("a"), b"ARROW1", InputFormat::Arrow, None, false), Format::ArrowFile);
        assert_eq!(detected(None, b"x", InputFormat::Arrow, None, false), Format::ArrowStream);
    }
}
