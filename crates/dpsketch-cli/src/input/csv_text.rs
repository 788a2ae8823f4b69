//! What has to be done to a block of CSV text so that the parser sees every record of it as it is.

use std::borrow::Cow;

use memchr::memchr2_iter;

/// A byte order mark, which the parser drops at the start of whatever it reads.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// A block for the parser: a byte order mark that is data, since it does not start the file, is doubled, so that one is
/// left; and how many bytes stand before the block then.
pub(crate) fn with_mark(bytes: &[u8]) -> (Cow<'_, [u8]>, usize) {
    if bytes.starts_with(MARK) { ([MARK, bytes].concat().into(), MARK.len()) } else { (bytes.into(), 0) }
}

/// A block of a file with one column: blank lines are records with an empty field, but the parser passes over them, so
/// they get quotes. `after_cr` says that the block before ended with a carriage return, whose line feed may come first.
pub(crate) fn with_blank_lines(bytes: &[u8], delimiter: u8, after_cr: bool) -> Cow<'_, [u8]> {
    if !may_have_blank_lines(bytes, after_cr) {
        return bytes.into();
    }
    let mut marked = Vec::with_capacity(bytes.len() + 64);
    let mut state = State::Record { after_cr };
    for &byte in bytes {
        if let State::Record { after_cr } = state
            && is_end(byte)
            && !(after_cr && byte == b'\n')
        {
            marked.extend_from_slice(b"\"\"");
        }
        marked.push(byte);
        state = state.after(byte, delimiter);
    }
    marked.into()
}

/// Quick to look for, and true for blank lines inside of quotes, too.
fn may_have_blank_lines(bytes: &[u8], after_cr: bool) -> bool {
    let first = bytes.first().is_some_and(|first| is_end(*first) && !(after_cr && *first == b'\n'));
    first
        || memchr2_iter(b'\n', b'\r', bytes).any(|at| match bytes[at..] {
            // The line feed is looked at for itself.
            [b'\r', b'\n', ..] => false,
            [_, next, ..] => is_end(next),
            _ => false,
        })
}

/// Where the scan is, by the rules of [`CsvScan`](super::csv_scan::CsvScan).
#[derive(Clone, Copy)]
enum State {
    /// Before a record.
    Record {
        after_cr: bool,
    },
    /// Before a further field.
    Field,
    /// Inside a field without quotes, or after a quoted part.
    Plain,
    Quoted,
    /// After a quote inside quotes.
    QuoteInQuoted,
}

impl State {
    fn after(self, byte: u8, delimiter: u8) -> Self {
        match self {
            Self::Quoted if byte == b'"' => Self::QuoteInQuoted,
            Self::Quoted => Self::Quoted,
            Self::Record { .. } | Self::Field | Self::QuoteInQuoted if byte == b'"' => Self::Quoted,
            _ if is_end(byte) => Self::Record { after_cr: byte == b'\r' },
            _ if byte == delimiter => Self::Field,
            _ => Self::Plain,
        }
    }
}

fn is_end(byte: u8) -> bool {
    byte == b'\n' || byte == b'\r'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(text: &str, after_cr: bool) -> String {
        String::from_utf8(with_blank_lines(text.as_bytes(), b',', after_cr).into_owned()).unwrap()
    }

    #[test]
    fn blank_lines_get_quotes_and_everything_else_stays() {
        for (text, expected) in [
            ("", ""),
            ("a\n", "a\n"),
            ("a\r\nb\r\n", "a\r\nb\r\n"),
            ("\n", "\"\"\n"),
            ("a\n\nb", "a\n\"\"\nb"),
            ("a\r\n\r\n", "a\r\n\"\"\r\n"),
            ("a\r\rb", "a\r\"\"\rb"),
            ("\"a\n\nb\"\n\n", "\"a\n\nb\"\n\"\"\n"),
            ("a\"\n\n\"", "a\"\n\"\"\n\""),
        ] {
            assert_eq!(marked(text, false), expected, "{text:?}");
        }
        assert_eq!(marked("\na\n", true), "\na\n");
        assert_eq!(marked("\n\na", true), "\n\"\"\na");
        assert_eq!(marked("\ra", true), "\"\"\ra");
    }
}
