//! Text cut into blocks that end where a record ends, so that blocks can be read apart.

use std::io::Read;

use dpsketch::{Error, ErrorKind};
use memchr::{memchr, memrchr};

use super::csv_scan::CsvScan;

/// Bytes read for a block, unless a record is longer.
pub(crate) const BLOCK: usize = 256 * 1024;

/// Some whole records of one input.
#[derive(Debug, Default)]
pub(crate) struct Block {
    /// The bytes, with the line ends.
    pub(crate) bytes: Vec<u8>,
    /// The number of the first line, counted from 1.
    pub(crate) first_line: u64,
    /// Whether a carriage return ended what stands before: a line feed at the start belongs to it.
    pub(crate) after_cr: bool,
}

/// Where records end.
#[derive(Debug)]
pub(crate) enum Ending {
    /// At every line feed.
    Line,
    /// At every line end outside of quotes.
    Csv(CsvScan),
}

/// Cuts a reader's bytes into [`Block`]s.
#[derive(Debug)]
pub(crate) struct Blocks<R> {
    reader: R,
    name: String,
    ending: Ending,
    /// Bytes after the last record end found.
    carry: Vec<u8>,
    next_line: u64,
    max_record: usize,
    started: bool,
    after_cr: bool,
}

impl<R: Read> Blocks<R> {
    pub(crate) fn new(reader: R, name: &str, ending: Ending, max_record: usize) -> Self {
        let (name, carry) = (name.to_owned(), Vec::new());
        Self { reader, name, ending, carry, next_line: 1, max_record, started: false, after_cr: false }
    }

    /// The next block, in `buffer`'s memory; `None` at the end. A byte order mark at the start is left out.
    pub(crate) fn next(&mut self, mut buffer: Vec<u8>) -> Result<Option<Block>, Error> {
        buffer.clear();
        buffer.append(&mut self.carry);
        let mut wanted = BLOCK.max(buffer.len() + BLOCK / 4);
        loop {
            let more = self.read_up_to(&mut buffer, wanted)?;
            let end = match &mut self.ending {
                Ending::Line => memrchr(b'\n', &buffer).map(|at| at + 1),
                Ending::Csv(scan) => scan.scan(&buffer),
            };
            match end {
                Some(end) => {
                    self.check_length(&buffer, end)?;
                    self.carry.extend_from_slice(&buffer[end..]);
                    buffer.truncate(end);
                    return Ok(Some(self.block(buffer)));
                }
                None if !more && buffer.is_empty() => return Ok(None),
                None if !more => {
                    self.check_end(&buffer)?;
                    return Ok(Some(self.block(buffer)));
                }
                None if buffer.len() > self.max_record => return Err(self.too_long()),
                None => wanted = buffer.len() + buffer.len().clamp(BLOCK, self.max_record),
            }
        }
    }

    /// Whether there may be more after that.
    fn read_up_to(&mut self, buffer: &mut Vec<u8>, wanted: usize) -> Result<bool, Error> {
        let missing = wanted.saturating_sub(buffer.len()) as u64;
        buffer.reserve(wanted.saturating_sub(buffer.len()));
        let read = (&mut self.reader).take(missing).read_to_end(buffer);
        let read = read.map_err(|error| Error::reading(&self.name, error))?;
        if !self.started {
            self.started = true;
            if buffer.starts_with("\u{feff}".as_bytes()) {
                buffer.drain(.."\u{feff}".len());
            }
        }
        Ok(read as u64 == missing)
    }

    fn block(&mut self, bytes: Vec<u8>) -> Block {
        if let Ending::Csv(scan) = &mut self.ending {
            scan.finish_block();
        }
        let first_line = self.next_line;
        self.next_line += count_lines(&bytes);
        let after_cr = std::mem::replace(&mut self.after_cr, bytes.last() == Some(&b'\r'));
        Block { bytes, first_line, after_cr }
    }

    /// A record longer than a block always starts its block; there its length is the same however the bytes came.
    fn check_length(&self, buffer: &[u8], end: usize) -> Result<(), Error> {
        let first = match self.ending {
            _ if end <= self.max_record => return Ok(()),
            Ending::Line => memchr(b'\n', buffer).map_or(end, |at| at + 1),
            Ending::Csv(ref scan) => scan.first_end().unwrap_or(end),
        };
        if first > self.max_record { Err(self.too_long()) } else { Ok(()) }
    }

    fn check_end(&self, buffer: &[u8]) -> Result<(), Error> {
        if buffer.len() > self.max_record {
            return Err(self.too_long());
        }
        match &self.ending {
            Ending::Csv(scan) if scan.in_quotes() => {
                let what =
                    format!("{}: a quote opened in the record at line {} is never closed", self.name, self.next_line);
                Err(Error::new(ErrorKind::Damaged, what)
                    .value(&self.name)
                    .hint("the file is cut short, or it is not a CSV file: try --input-format lines"))
            }
            _ => Ok(()),
        }
    }

    fn too_long(&self) -> Error {
        let what =
            format!("{}: the record at line {} is longer than {} bytes", self.name, self.next_line, self.max_record);
        Error::new(ErrorKind::Damaged, what)
            .argument("--max-record")
            .value(self.max_record.to_string())
            .hint("check --input-format, or raise --max-record if records really are that long")
    }
}

/// Line feeds in `bytes`.
pub(crate) fn count_lines(bytes: &[u8]) -> u64 {
    // Counted in small pieces so that the compiler can add up bytes in vector registers.
    bytes.chunks(192).map(|piece| u64::from(piece.iter().map(|byte| u8::from(*byte == b'\n')).sum::<u8>())).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    /// Gives one byte a call.
    struct Drip<'a>(&'a [u8]);

    impl Read for Drip<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let (Some((first, rest)), Some(out)) = (self.0.split_first(), out.first_mut()) else { return Ok(0) };
            *out = *first;
            self.0 = rest;
            Ok(1)
        }
    }

    fn cut(text: &[u8], max_record: usize) -> Result<Vec<(u64, Vec<u8>)>, Error> {
        let mut blocks = Blocks::new(text, "t", Ending::Line, max_record);
        let mut found = Vec::new();
        while let Some(block) = blocks.next(Vec::new())? {
            found.push((block.first_line, block.bytes));
        }
        Ok(found)
    }

    #[test]
    fn an_empty_input_has_no_block() {
        assert_eq!(cut(b"", 1 << 20).unwrap(), []);
    }

    #[test]
    fn blocks_end_at_a_line_end_and_join_to_the_whole() {
        let text: Vec<u8> = (0..100_000).flat_map(|number| format!("line {number}\n").into_bytes()).collect();
        let blocks = cut(&text, 1 << 20).unwrap();
        assert!(blocks.len() > 3);
        let mut line = 1;
        for (first_line, bytes) in &blocks {
            assert_eq!(*first_line, line);
            assert_eq!(bytes.last(), Some(&b'\n'));
            line += count_lines(bytes);
        }
        assert_eq!(blocks.concat_bytes(), text);
    }

    trait ConcatBytes {
        fn concat_bytes(&self) -> Vec<u8>;
    }

    impl ConcatBytes for Vec<(u64, Vec<u8>)> {
        fn concat_bytes(&self) -> Vec<u8> {
            self.iter().flat_map(|(_, bytes)| bytes.iter().copied()).collect()
        }
    }

    #[test]
    fn the_last_line_needs_no_line_end() {
        assert_eq!(cut(b"a\nb", 1 << 20).unwrap(), [(1, b"a\n".to_vec()), (2, b"b".to_vec())]);
    }

    #[test]
    fn a_record_of_the_greatest_length_passes_and_one_byte_more_does_not() {
        let limit = 3 * BLOCK + 17;
        for (before, length, accepted) in
            [(0, limit, true), (0, limit + 1, false), (9, limit, true), (9, limit + 1, false)]
        {
            let mut text = vec![b'x'; before];
            text.push(b'\n');
            text.resize(text.len() + length - 1, b'y');
            text.extend_from_slice(b"\nz\n");
            assert_eq!(cut(&text, limit).is_ok(), accepted, "{before} {length}");
            text.truncate(before + 1 + length);
            assert_eq!(cut(&text, limit).is_ok(), accepted, "at the end: {before} {length}");
        }
    }

    #[test]
    fn slow_readers_give_the_same_blocks() {
        let text = b"\xef\xbb\xbfa\nbb\n\nccc";
        let mut blocks = Blocks::new(Drip(text), "t", Ending::Line, 1 << 20);
        let first = blocks.next(Vec::new()).unwrap().unwrap();
        assert_eq!(first.bytes, b"a\nbb\n\n");
        let last = blocks.next(Vec::new()).unwrap().unwrap();
        assert_eq!((last.first_line, last.bytes.as_slice()), (4, b"ccc".as_slice()));
    }

    #[test]
    fn lines_are_counted_one_by_one() {
        for length in [0, 1, 191, 192, 193, 1000] {
            assert_eq!(count_lines(&vec![b'\n'; length]), length as u64);
            assert_eq!(count_lines(&vec![b'x'; length]), 0);
        }
    }
}
