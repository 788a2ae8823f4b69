//! From inputs of any format to one raw sketch.

mod arrow;
mod block;
mod columns;
mod csv;
mod csv_scan;
mod csv_text;
mod format;
mod guard;
mod lines;
mod ndjson;
mod parquet;
mod pool;
mod sink;
mod source;

use std::path::PathBuf;
use std::sync::Arc;

use arrow_schema::DataType;
use dpsketch::{Error, ErrorKind};

pub(crate) use block::BLOCK;
pub(crate) use format::{Hints, InputFormat};
pub(crate) use guard::{guarded, is_guarded};
pub(crate) use parquet::ParquetLayout;
pub(crate) use sink::RowSink;
pub(crate) use source::{STDIN, open_file};

use crate::progress::Progress;
use block::{Blocks, Ending};
use csv::CsvLayout;
use csv_scan::CsvScan;
use format::Format;
use ndjson::JsonLayout;
use pool::{Feeder, Task};
use source::Source;

/// How inputs are to be read.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) hints: Hints,
    pub(crate) columns: Vec<String>,
    pub(crate) has_header: bool,
    pub(crate) max_record: usize,
    pub(crate) threads: usize,
}

/// Counts all inputs as one data set. `told` hears which format each input was taken for.
pub(crate) fn count<S: RowSink>(
    inputs: &[PathBuf],
    reading: &Reading,
    progress: &Progress,
    told: &dyn Fn(&str),
    empty: impl FnMut() -> Result<S, Error>,
) -> Result<S, Error> {
    let counted = pool::count(reading.threads, progress, empty, |feeder| {
        inputs.iter().try_for_each(|input| {
            let source = Source::open(input, progress)?;
            let format = format::detect(&source, reading.hints);
            told(&format!("{}: read as {}", source.name, format.name()));
            reading.read(source, format, feeder)
        })
    });
    progress.finish();
    counted
}

/// The size of all inputs on disk, where every one has a size.
pub(crate) fn total_bytes(inputs: &[PathBuf]) -> Option<u64> {
    let size =
        |input: &PathBuf| std::fs::metadata(input).ok().filter(std::fs::Metadata::is_file).map(|file| file.len());
    inputs.iter().map(size).sum()
}

impl Reading {
    fn read(&self, source: Source, format: Format, feeder: &mut Feeder<'_, impl RowSink>) -> Result<(), Error> {
        if format.is_text() && format::is_utf16(&source.head) {
            return Err(utf16(&source.name));
        }
        match format {
            Format::Lines => self.read_lines(source, feeder),
            Format::Csv { delimiter } => self.read_csv(source, delimiter, feeder),
            Format::Ndjson => self.read_json(source, feeder),
            Format::Parquet => self.read_parquet(&source, feeder),
            Format::ArrowFile => self.read_arrow(source, true, feeder),
            Format::ArrowStream => self.read_arrow(source, false, feeder),
        }
    }

    fn read_arrow(&self, source: Source, is_file: bool, feeder: &mut Feeder<'_, impl RowSink>) -> Result<(), Error> {
        let sink = |arrays| feeder.send(Task::Arrays(arrays));
        arrow::read(&source.name, source.reader, is_file, &self.columns, sink)
    }

    fn read_lines(&self, source: Source, feeder: &mut Feeder<'_, impl RowSink>) -> Result<(), Error> {
        if let Some(column) = self.columns.first() {
            return Err(Error::new(
                ErrorKind::Column,
                format!("{} is read as lines, which have no columns", source.name),
            )
            .argument("--column")
            .value(column)
            .hint("leave --column out, or say --input-format csv"));
        }
        let name: Arc<str> = source.name.as_str().into();
        let mut blocks = Blocks::new(source.reader, &source.name, Ending::Line, self.max_record);
        while let Some(block) = blocks.next(feeder.buffer())? {
            feeder.send(Task::Lines(name.clone(), block))?;
        }
        Ok(())
    }

    fn read_csv(&self, source: Source, delimiter: u8, feeder: &mut Feeder<'_, impl RowSink>) -> Result<(), Error> {
        let ending = Ending::Csv(CsvScan::new(delimiter));
        let mut blocks = Blocks::new(source.reader, &source.name, ending, self.max_record);
        let mut first = blocks.next(feeder.buffer())?.unwrap_or_default();
        let layout = CsvLayout::new(&source.name, &mut first, delimiter, self.has_header, &self.columns)?;
        let layout = Arc::new(layout);
        feeder.send(Task::Csv(layout.clone(), first))?;
        while let Some(block) = blocks.next(feeder.buffer())? {
            feeder.send(Task::Csv(layout.clone(), block))?;
        }
        Ok(())
    }

    fn read_json(&self, source: Source, feeder: &mut Feeder<'_, impl RowSink>) -> Result<(), Error> {
        let layout = Arc::new(JsonLayout::new(&source.name, &self.columns)?);
        let mut blocks = Blocks::new(source.reader, &source.name, Ending::Line, self.max_record);
        while let Some(block) = blocks.next(feeder.buffer())? {
            feeder.send(Task::Json(layout.clone(), block))?;
        }
        feeder.check_at_end(move || layout.finish());
        Ok(())
    }

    fn read_parquet(&self, source: &Source, feeder: &mut Feeder<'_, impl RowSink>) -> Result<(), Error> {
        let path = source.seekable("Parquet")?;
        let layout = Arc::new(ParquetLayout::open(&source.name, path, &self.columns)?);
        let groups = layout.row_groups();
        let share = path.metadata().map_or(0, |file| file.len()) / groups.max(1) as u64;
        (0..groups).try_for_each(|group| feeder.send(Task::RowGroup(layout.clone(), group, share)))
    }
}

fn utf16(file: &str) -> Error {
    Error::new(ErrorKind::Damaged, format!("{file} is UTF-16 text"))
        .argument("INPUT")
        .value(file)
        .allowed("text in UTF-8")
        .hint("convert it, as with iconv -f UTF-16 -t UTF-8")
}

fn not_hashable(file: &str, column: &str, data_type: &DataType) -> Error {
    Error::new(ErrorKind::Column, format!("{file}: column {column:?} has type {data_type}, which cannot be counted"))
        .argument("--column")
        .value(column)
        .allowed(dpsketch::HASHABLE_TYPES)
}

#[cfg(test)]
pub(crate) mod tests {
    use dpsketch::sfm_pcsa::PcsaShape;
    use dpsketch::sketch_hash::AnyHash;
    use dpsketch::{DistinctBuilder, TextRules};

    pub(crate) fn builder() -> DistinctBuilder {
        DistinctBuilder::new(PcsaShape::DEFAULT, AnyHash::default(), TextRules::default())
    }
}
