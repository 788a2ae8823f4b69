//! CSV: the header, and the wanted fields of every record as text.

use std::ops::Range;

use csv::{ByteRecord, ReaderBuilder};
use dpsketch::sketch_hash::Item;
use dpsketch::{DistinctBuilder, Error, ErrorKind};
use memchr::{memchr, memchr_iter};

use super::block::Block;
use super::columns;

/// What is known of a CSV file once its header was read.
#[derive(Debug)]
pub(crate) struct CsvLayout {
    pub(crate) name: String,
    pub(crate) delimiter: u8,
    /// Positions of the wanted columns, in the order they were asked for.
    pub(crate) columns: Vec<usize>,
    /// Fields of every record.
    pub(crate) width: usize,
}

impl CsvLayout {
    /// Reads the first record of the first block, takes it off if it is a header, and finds the wanted columns.
    ///
    /// Without a header columns are named by their number, counted from 1.
    pub(crate) fn new(
        name: &str,
        block: &mut Block,
        delimiter: u8,
        has_header: bool,
        wanted: &[String],
    ) -> Result<Self, Error> {
        let mut reader =
            ReaderBuilder::new().delimiter(delimiter).has_headers(false).from_reader(block.bytes.as_slice());
        let mut first = ByteRecord::new();
        let found = reader.read_byte_record(&mut first).map_err(|error| damaged(name, 1, &error.to_string()))?;
        if !found && has_header {
            return Err(Error::new(ErrorKind::Damaged, format!("{name}: no header line"))
                .value(name)
                .hint("a CSV file needs a header line; say --no-header if there is none"));
        }
        let names: Vec<String> = if has_header {
            first.iter().map(|field| String::from_utf8_lossy(field).into_owned()).collect()
        } else {
            (1..=first.len()).map(|number| number.to_string()).collect()
        };
        if has_header {
            let end = usize::try_from(reader.position().byte()).unwrap_or(usize::MAX).min(block.bytes.len());
            let lines = super::block::count_lines(&block.bytes[..end]);
            block.bytes.drain(..end);
            block.first_line += lines;
        }
        let columns = if found { columns::positions(name, &names, wanted)? } else { vec![0] };
        Ok(Self { name: name.to_owned(), delimiter, columns, width: names.len() })
    }

    /// Counts the records of a block.
    pub(crate) fn ingest(&self, block: &Block, builder: &mut DistinctBuilder) -> Result<(), Error> {
        let lone_return = || memchr_iter(b'\r', &block.bytes).any(|at| block.bytes.get(at + 1) != Some(&b'\n'));
        if block.quoted || lone_return() {
            return self.ingest_quoted(block, builder);
        }
        let mut records = PlainRecords::new(self, block);
        if let [column] = self.columns.as_slice() {
            builder.push_texts(std::iter::from_fn(|| records.next_field(*column)));
        } else {
            let mut row = vec![""; self.columns.len()];
            while records.next_row(&mut row) {
                builder.push_row(row.iter().map(|field| Some(Item::Text(field))));
            }
        }
        records.finish()
    }

    /// Any block, by the `csv` crate.
    fn ingest_quoted(&self, block: &Block, builder: &mut DistinctBuilder) -> Result<(), Error> {
        let mut reader = ReaderBuilder::new()
            .delimiter(self.delimiter)
            .has_headers(false)
            .flexible(true)
            .from_reader(block.bytes.as_slice());
        let mut record = ByteRecord::new();
        loop {
            let line = block.first_line + reader.position().line() - 1;
            if !reader.read_byte_record(&mut record).map_err(|error| damaged(&self.name, line, &error.to_string()))? {
                return Ok(());
            }
            if record.len() != self.width {
                return Err(self.wrong_width(line, record.len()));
            }
            if let Some(bad) = self.columns.iter().find(|column| std::str::from_utf8(&record[**column]).is_err()) {
                return Err(self.not_text(line, *bad));
            }
            let field = |column: &usize| std::str::from_utf8(&record[*column]).ok().map(Item::Text);
            builder.push_row(self.columns.iter().map(field));
        }
    }

    fn wrong_width(&self, line: u64, found: usize) -> Error {
        damaged(&self.name, line, &format!("expected {} fields, found {found}", self.width))
            .hint("check --delimiter, and that fields with a delimiter in them are quoted")
    }

    fn not_text(&self, line: u64, column: usize) -> Error {
        damaged(&self.name, line, &format!("column {} is not valid UTF-8", column + 1))
            .hint("convert the file to UTF-8")
    }
}

fn damaged(name: &str, line: u64, what: &str) -> Error {
    Error::new(ErrorKind::Damaged, format!("{name}: line {line}: {what}")).value(name)
}

/// The records of a block without quotes: every line feed ends one, every delimiter ends a field.
struct PlainRecords<'a> {
    layout: &'a CsvLayout,
    bytes: &'a [u8],
    /// The whole block as text, where it is valid UTF-8 throughout, so that fields need not be looked at one by one.
    text: Option<&'a str>,
    position: usize,
    line: u64,
    error: Option<Error>,
}

impl<'a> PlainRecords<'a> {
    fn new(layout: &'a CsvLayout, block: &'a Block) -> Self {
        let text = std::str::from_utf8(&block.bytes).ok();
        Self { layout, bytes: &block.bytes, text, position: 0, line: block.first_line, error: None }
    }

    /// Where the next line that is not empty stands.
    fn next_line(&mut self) -> Option<Range<usize>> {
        while self.position < self.bytes.len() {
            let start = self.position;
            let mut end = memchr(b'\n', &self.bytes[start..]).map_or(self.bytes.len(), |length| start + length);
            self.position = end + 1;
            self.line += 1;
            if end > start && self.bytes[end - 1] == b'\r' {
                end -= 1;
            }
            if end > start {
                return Some(start..end);
            }
        }
        None
    }

    fn next_field(&mut self, column: usize) -> Option<&'a str> {
        let line = self.next_line()?;
        let (mut start, mut fields, mut found) = (line.start, 0, line.clone());
        let ends = memchr_iter(self.layout.delimiter, &self.bytes[line.clone()]).map(|at| line.start + at);
        for end in ends.chain([line.end]) {
            if fields == column {
                found = start..end;
            }
            fields += 1;
            start = end + 1;
        }
        self.checked(fields, column, found)
    }

    /// Fills `row` with the wanted fields; false at the end or after an error.
    fn next_row(&mut self, row: &mut [&'a str]) -> bool {
        let Some(line) = self.next_line() else { return false };
        let (mut start, mut fields) = (line.start, 0);
        let ends = memchr_iter(self.layout.delimiter, &self.bytes[line.clone()]).map(|at| line.start + at);
        for end in ends.chain([line.end]) {
            if let Some(slot) = self.layout.columns.iter().position(|column| *column == fields) {
                let Some(text) = self.text_at(start..end, fields) else { return false };
                row[slot] = text;
            }
            fields += 1;
            start = end + 1;
        }
        self.checked(fields, 0, line.start..line.start).is_some()
    }

    /// The field, if the record has as many as it should.
    fn checked(&mut self, fields: usize, column: usize, field: Range<usize>) -> Option<&'a str> {
        if fields == self.layout.width {
            return self.text_at(field, column);
        }
        self.error = Some(self.layout.wrong_width(self.line - 1, fields));
        None
    }

    fn text_at(&mut self, field: Range<usize>, column: usize) -> Option<&'a str> {
        let text = match self.text {
            Some(text) => text.get(field),
            None => std::str::from_utf8(&self.bytes[field]).ok(),
        };
        if text.is_none() {
            self.error = Some(self.layout.not_text(self.line - 1, column));
        }
        text
    }

    fn finish(self) -> Result<(), Error> {
        self.error.map_or(Ok(()), Err)
    }
}
