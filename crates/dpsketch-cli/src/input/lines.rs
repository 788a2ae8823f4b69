//! Lines of text: every line is a value, an empty one too.

use dpsketch::{Error, ErrorKind};
use memchr::memchr;

use super::block::{Block, count_lines};
use super::sink::RowSink;

/// Counts the lines of a block.
pub(crate) fn ingest(name: &str, block: &Block, sink: &mut impl RowSink) -> Result<(), Error> {
    let text = text_of(name, block)?;
    sink.push_texts(lines(text))
}

/// The block as text.
pub(crate) fn text_of<'a>(name: &str, block: &'a Block) -> Result<&'a str, Error> {
    std::str::from_utf8(&block.bytes).map_err(|error| {
        let line = block.first_line + count_lines(&block.bytes[..error.valid_up_to()]);
        Error::new(ErrorKind::Damaged, format!("{name}: line {line} is not valid UTF-8"))
            .value(name)
            .hint("convert the file to UTF-8")
            .caused_by(error)
    })
}

/// Lines without their ends, which are `\n` or `\r\n`.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
        let line = &rest[..end];
        rest = rest.get(end + 1..).unwrap_or_default();
        Some(line.strip_suffix('\r').unwrap_or(line))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_lines_are_values_and_the_end_of_the_last_line_is_not() {
        assert_eq!(lines("").count(), 0);
        assert_eq!(lines("\n").collect::<Vec<_>>(), [""]);
        assert_eq!(lines("a\r\n\nb\rc\n").collect::<Vec<_>>(), ["a", "", "b\rc"]);
        assert_eq!(lines("a\nb").collect::<Vec<_>>(), ["a", "b"]);
    }

    #[test]
    fn invalid_text_is_told_by_line_and_not_shown() {
        let block = Block { bytes: b"ok\nbad \xff\n".to_vec(), first_line: 10, after_cr: false };
        let error = text_of("f.txt", &block).unwrap_err();
        assert_eq!(error.message(), "f.txt: line 11 is not valid UTF-8");
    }
}
