//! Finds where CSV records end without splitting them into fields.

use memchr::{memchr, memchr2, memrchr};

/// Follows the same rules as the `csv` crate: a quote opens a quoted field only at the start of a field, two quotes inside
/// one stand for a quote, and text after a closing quote belongs to the field.
#[derive(Debug)]
pub(crate) struct CsvScan {
    delimiter: u8,
    state: State,
    /// Bytes of the buffer looked at so far.
    position: usize,
    first_end: Option<usize>,
    last_end: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before the first byte of a field.
    Start,
    /// Inside a field without quotes, or after a quoted part.
    Field,
    /// Inside quotes.
    Quoted,
    /// After a quote inside quotes: the closing one, or the first of two.
    QuoteInQuoted,
}

impl CsvScan {
    pub(crate) fn new(delimiter: u8) -> Self {
        Self { delimiter, state: State::Start, position: 0, first_end: None, last_end: None }
    }

    /// Looks at the bytes that were added to the buffer since the last call; the end of the last whole record in it.
    pub(crate) fn scan(&mut self, buffer: &[u8]) -> Option<usize> {
        let new = &buffer[self.position..];
        if self.state != State::Quoted && self.state != State::QuoteInQuoted && memchr(b'"', new).is_none() {
            self.scan_plain(new);
        } else {
            self.scan_quoted(new);
        }
        self.position = buffer.len();
        self.last_end
    }

    /// Starts again with the bytes after the last record end.
    pub(crate) fn finish_block(&mut self) {
        // The carried bytes are looked at again, from a state that is known: the start of a record.
        self.position = 0;
        self.state = State::Start;
        (self.first_end, self.last_end) = (None, None);
    }

    pub(crate) fn first_end(&self) -> Option<usize> {
        self.first_end
    }

    pub(crate) fn in_quotes(&self) -> bool {
        self.state == State::Quoted
    }

    fn scan_plain(&mut self, new: &[u8]) {
        let Some(last) = new.last() else { return };
        // A lone carriage return ends a record, too, but cutting there is only needed where nothing else does.
        let ends = if memchr(b'\n', new).is_some() { b'\n' } else { b'\r' };
        if let (Some(first), Some(end)) = (memchr(ends, new), memrchr(ends, new)) {
            self.found(self.position + first + 1);
            self.found(self.position + end + 1);
        }
        self.state = if *last == self.delimiter || is_end(*last) { State::Start } else { State::Field };
    }

    fn scan_quoted(&mut self, new: &[u8]) {
        let base = self.position;
        let mut at = 0;
        while at < new.len() {
            let byte = new[at];
            at += 1;
            self.state = match self.state {
                State::Start | State::QuoteInQuoted if byte == b'"' => State::Quoted,
                State::Quoted if byte == b'"' => State::QuoteInQuoted,
                State::Quoted => {
                    at += memchr(b'"', &new[at..]).unwrap_or(new.len() - at);
                    State::Quoted
                }
                _ if is_end(byte) => {
                    self.found(base + at);
                    State::Start
                }
                _ if byte == self.delimiter => State::Start,
                _ => {
                    let rest = &new[at..];
                    let end = memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
                    at += memchr(self.delimiter, &rest[..end]).unwrap_or(end);
                    State::Field
                }
            };
        }
    }

    fn found(&mut self, end: usize) {
        self.first_end.get_or_insert(end);
        self.last_end = Some(end);
    }
}

fn is_end(byte: u8) -> bool {
    byte == b'\n' || byte == b'\r'
}
