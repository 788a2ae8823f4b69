//! CSV: the header, and the wanted fields of every record as text.

use csv::{ByteRecord, ReaderBuilder};
use dpsketch::sketch_hash::Item;
use dpsketch::{Error, ErrorKind};

use super::block::Block;
use super::columns::{self, Names};
use super::csv_text;
use super::sink::RowSink;

/// Records read before their fields are hashed together.
const BATCH: usize = 256;
/// Bytes that the parser copies at a time.
const READ_AHEAD: usize = 64 * 1024;

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
        let (text, before) = csv_text::with_mark(&block.bytes);
        let mut reader = ReaderBuilder::new().delimiter(delimiter).has_headers(false).from_reader(&*text);
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
        let known = if has_header { Names::of_first_record(&names) } else { Names::numbers(&names) };
        if has_header {
            let end = usize::try_from(reader.position().byte()).unwrap_or(usize::MAX);
            let end = end.saturating_sub(before).min(block.bytes.len());
            let lines = super::block::count_lines(&block.bytes[..end]);
            block.after_cr = block.bytes[..end].ends_with(b"\r");
            block.bytes.drain(..end);
            block.first_line += lines;
        }
        let columns = if found { columns::positions(name, known, wanted)? } else { vec![0] };
        // Without a header, nothing but blank lines are records of one column.
        Ok(Self { name: name.to_owned(), delimiter, columns, width: names.len().max(1) })
    }

    /// Counts the records of a block. In a file of one column a blank line is an empty text, in others it is none.
    pub(crate) fn ingest(&self, block: &Block, sink: &mut impl RowSink) -> Result<(), Error> {
        let whole = match self.width {
            1 => csv_text::with_blank_lines(&block.bytes, self.delimiter, block.after_cr),
            _ => block.bytes.as_slice().into(),
        };
        let (whole, _) = csv_text::with_mark(&whole);
        let mut reader = ReaderBuilder::new()
            .delimiter(self.delimiter)
            .has_headers(false)
            .flexible(true)
            .buffer_capacity(READ_AHEAD)
            .from_reader(&*whole);
        let mut record = ByteRecord::new();
        let mut batch = Batch::default();
        while self.read(&mut reader, &mut record, block.first_line)? {
            if let &[column] = self.columns.as_slice() {
                batch.push(text(&record, column));
                if batch.is_full() {
                    batch.drain_to(sink)?;
                }
            } else {
                sink.push_row(self.columns.iter().map(|column| Some(Item::Text(text(&record, *column)))))?;
            }
        }
        batch.drain_to(sink)
    }

    /// Reads and checks the next record; false when there is none.
    fn read(&self, reader: &mut csv::Reader<&[u8]>, record: &mut ByteRecord, first_line: u64) -> Result<bool, Error> {
        let line = first_line + reader.position().line() - 1;
        if !reader.read_byte_record(record).map_err(|error| damaged(&self.name, line, &error.to_string()))? {
            return Ok(false);
        }
        if record.len() != self.width {
            return Err(self.wrong_width(line, record.len()));
        }
        match self.columns.iter().find(|column| std::str::from_utf8(&record[**column]).is_err()) {
            Some(bad) => Err(self.not_text(line, *bad)),
            None => Ok(true),
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

/// A field that was checked to be text.
fn text(record: &ByteRecord, column: usize) -> &str {
    std::str::from_utf8(&record[column]).unwrap_or_default()
}

/// Fields of one column, put end to end, so that they can be hashed together.
#[derive(Default)]
struct Batch {
    text: String,
    ends: Vec<usize>,
}

impl Batch {
    fn push(&mut self, field: &str) {
        self.text.push_str(field);
        self.ends.push(self.text.len());
    }

    fn is_full(&self) -> bool {
        self.ends.len() >= BATCH
    }

    fn drain_to(&mut self, sink: &mut impl RowSink) -> Result<(), Error> {
        let mut start = 0;
        sink.push_texts(self.ends.iter().map(|&end| {
            let field = self.text.get(start..end).unwrap_or_default();
            start = end;
            field
        }))?;
        self.text.clear();
        self.ends.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use proptest::prelude::*;

    use super::super::block::{Blocks, Ending};
    use super::super::csv_scan::CsvScan;
    use super::super::tests::builder;
    use super::*;
    use dpsketch::RawSketch;

    /// Gives at most as many bytes a call as the next of some numbers says.
    struct Uneven<'a> {
        bytes: &'a [u8],
        sizes: Vec<usize>,
    }

    impl Read for Uneven<'_> {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            let wanted = self.sizes.first().copied().unwrap_or(usize::MAX).max(1);
            let turn = self.sizes.len().min(1);
            self.sizes.rotate_left(turn);
            let length = wanted.min(out.len()).min(self.bytes.len());
            out[..length].copy_from_slice(&self.bytes[..length]);
            self.bytes = &self.bytes[length..];
            Ok(length)
        }
    }

    /// What the `csv` crate makes of the whole text: the wanted columns of all records, or nothing where it is no CSV of
    /// that width.
    fn reference(text: &[u8], width: usize, columns: &[usize]) -> Option<Vec<Vec<String>>> {
        if width == 1 {
            return one_column(text);
        }
        // It drops one byte order mark at the start, as the cutter of blocks does before.
        let text = ["\u{feff}".as_bytes(), text].concat();
        let mut reader = ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_slice());
        let mut rows = Vec::new();
        for record in reader.byte_records() {
            let record = record.ok()?;
            if record.len() != width {
                return None;
            }
            let field = |column: &usize| String::from_utf8(record[*column].to_vec()).ok();
            rows.push(columns.iter().map(field).collect::<Option<Vec<_>>>()?);
        }
        Some(rows)
    }

    /// The same for one column, byte by byte, with an empty text for every blank line.
    fn one_column(text: &[u8]) -> Option<Vec<Vec<String>>> {
        let (mut rows, mut at) = (Vec::new(), 0);
        while at < text.len() {
            let mut field = Vec::new();
            let quoted_start = text[at] == b'"';
            let mut quoted = quoted_start;
            at += usize::from(quoted);
            loop {
                match text.get(at) {
                    Some(b'"') if quoted => {
                        quoted = text.get(at + 1) == Some(&b'"');
                        field.extend(quoted.then_some(b'"'));
                        at += 1 + usize::from(quoted);
                        continue;
                    }
                    None => break,
                    Some(b'\n' | b'\r') if !quoted => break,
                    Some(b',') if !quoted => return None,
                    Some(byte) => field.push(*byte),
                }
                at += 1;
            }
            at += if text[at..].starts_with(b"\r\n") { 2 } else { 1 };
            rows.push(vec![String::from_utf8(field).ok()?]);
        }
        Some(rows)
    }

    fn sketch_of(rows: &[Vec<String>]) -> RawSketch {
        let mut builder = builder();
        for row in rows {
            builder.push_row(row.iter().map(|field| Some(Item::Text(field))));
        }
        RawSketch::try_from(builder).unwrap()
    }

    /// What this module makes of it, cut into blocks of about `piece` bytes by hand where the cutter would find one block.
    fn ours(text: &[u8], width: usize, columns: &[usize], sizes: Vec<usize>) -> Result<(RawSketch, u64), Error> {
        let layout = CsvLayout { name: "t".into(), delimiter: b',', columns: columns.to_vec(), width };
        let mut builder = builder();
        let mut scan = CsvScan::new(b',');
        let mut input = Uneven { bytes: text, sizes };
        let mut buffer = Vec::new();
        let mut piece = [0; 64];
        let mut after_cr = false;
        // As `Blocks` does it, but for blocks of any size.
        loop {
            let read = input.read(&mut piece).unwrap();
            buffer.extend_from_slice(&piece[..read]);
            let end = scan.scan(&buffer);
            if read == 0 && scan.in_quotes() {
                return Err(damaged("t", 1, "open quote"));
            }
            let end = if read == 0 { buffer.len() } else { end.unwrap_or(0) };
            if end > 0 {
                let rest = buffer.split_off(end);
                scan.finish_block();
                let block = Block { bytes: std::mem::replace(&mut buffer, rest), first_line: 1, after_cr };
                after_cr = block.bytes.ends_with(b"\r");
                layout.ingest(&block, &mut builder)?;
            }
            if read == 0 {
                break;
            }
        }
        let rows = builder.counts().rows;
        Ok((RawSketch::try_from(builder)?, rows))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn any_text_cut_anywhere_is_read_as_the_csv_crate_reads_it(
            text in "([ab,]|\"|\r|\n|\r\n|\"\"|é|\u{feff}){0,40}",
            width in 1_usize..4,
            sizes in prop::collection::vec(1_usize..12, 1..5),
        ) {
            let columns: Vec<usize> = (0..width).rev().collect();
            for columns in [&columns[..], &columns[..1]] {
                match (reference(text.as_bytes(), width, columns), ours(text.as_bytes(), width, columns, sizes.clone())) {
                    (Some(rows), Ok((sketch, count))) => {
                        prop_assert_eq!(count, rows.len() as u64);
                        prop_assert_eq!(sketch, sketch_of(&rows));
                    }
                    (None, Err(_)) => {}
                    // The csv crate takes a quote that is never closed for a closed one; here it is a sign of a cut file.
                    (Some(_), Err(error)) => prop_assert!(error.message().contains("open quote"), "{}", error),
                    (None, Ok(_)) => prop_assert!(false, "accepted what the csv crate refuses"),
                }
            }
        }
    }

    #[test]
    fn quoted_records_across_blocks_are_whole() {
        let row = format!("\"{}\n{}\",x\n", "a".repeat(1000), "b".repeat(1000));
        let text = row.repeat(500);
        let mut blocks = Blocks::new(text.as_bytes(), "t", Ending::Csv(CsvScan::new(b',')), 1 << 20);
        let (mut records, mut lines) = (0, 1);
        while let Some(block) = blocks.next(Vec::new()).unwrap() {
            assert_eq!(block.first_line, lines);
            assert_eq!(block.bytes.len() % row.len(), 0);
            records += block.bytes.len() / row.len();
            lines += 2 * (block.bytes.len() / row.len()) as u64;
        }
        assert_eq!(records, 500);
    }
}
