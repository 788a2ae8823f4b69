//! Parquet: row groups, read apart, of which only the wanted columns are decoded.

use std::fs::File;
use std::path::{Path, PathBuf};

use arrow_array::ArrayRef;
use bytes::Bytes;
use dpsketch::{Error, ErrorKind, is_hashable};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};

use super::columns::{self, Names};
use super::guard::guarded;
use super::sink::RowSink;
use super::source::open_file;

/// Rows decoded at a time.
const BATCH_ROWS: usize = 8 * 1024;

/// A Parquet file whose footer was read.
#[derive(Debug)]
pub(crate) struct ParquetLayout {
    name: String,
    place: Place,
    metadata: ArrowReaderMetadata,
    mask: ProjectionMask,
    /// Where the wanted columns stand in a batch, which holds them in the file's order.
    order: Vec<usize>,
}

#[derive(Debug)]
enum Place {
    File(PathBuf),
    Memory(Bytes),
}

impl ParquetLayout {
    pub(crate) fn open(name: &str, path: &Path, wanted: &[String]) -> Result<Self, Error> {
        let file = open_file(path).map_err(|error| Error::reading(name, error).argument("INPUT"))?;
        Self::new(name, Place::File(path.to_owned()), &Bounded(file), wanted)
    }

    /// A Parquet file that is part of the program.
    pub(crate) fn in_memory(name: &str, bytes: &'static [u8], wanted: &[String]) -> Result<Self, Error> {
        let bytes = Bytes::from_static(bytes);
        Self::new(name, Place::Memory(bytes.clone()), &bytes, wanted)
    }

    fn new<R: ChunkReader>(name: &str, place: Place, reader: &R, wanted: &[String]) -> Result<Self, Error> {
        let metadata = guarded(name, || {
            ArrowReaderMetadata::load(reader, ArrowReaderOptions::new()).map_err(|error| damaged(name, error))
        })?;
        let schema = metadata.schema();
        let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        let positions = columns::positions(name, Names::of_schema(&names), wanted)?;
        for position in &positions {
            let field = schema.field(*position);
            if !is_hashable(field.data_type()) {
                return Err(super::not_hashable(name, field.name(), field.data_type()));
            }
        }
        let mask = ProjectionMask::roots(metadata.parquet_schema(), positions.iter().copied());
        let order = ranks(&positions);
        Ok(Self { name: name.to_owned(), place, metadata, mask, order })
    }

    pub(crate) fn row_groups(&self) -> usize {
        self.metadata.metadata().num_row_groups()
    }

    /// Counts the rows of one row group.
    pub(crate) fn ingest(&self, row_group: usize, sink: &mut impl RowSink) -> Result<(), Error> {
        self.for_each_batch(row_group, |columns| sink.push_arrays(columns))
    }

    /// Hands the wanted columns of a row group to `sink`, some thousand rows at a time.
    pub(crate) fn for_each_batch(
        &self,
        row_group: usize,
        sink: impl FnMut(&[ArrayRef]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match &self.place {
            // Opened anew each time: threads that share a file would share its reading position.
            Place::File(path) => {
                let file = open_file(path).map_err(|error| Error::reading(&self.name, error))?;
                self.read(Bounded(file), row_group, sink)
            }
            Place::Memory(bytes) => self.read(bytes.clone(), row_group, sink),
        }
    }

    fn read<R: ChunkReader + 'static>(
        &self,
        reader: R,
        row_group: usize,
        mut sink: impl FnMut(&[ArrayRef]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut batches = guarded(&self.name, || {
            ParquetRecordBatchReaderBuilder::new_with_metadata(reader, self.metadata.clone())
                .with_projection(self.mask.clone())
                .with_row_groups(vec![row_group])
                .with_batch_size(BATCH_ROWS)
                .build()
                .map_err(|error| damaged(&self.name, error))
        })?;
        loop {
            let next = || batches.next().transpose().map_err(|error| damaged(&self.name, error));
            let Some(batch) = guarded(&self.name, next)? else { return Ok(()) };
            let columns: Vec<_> = self.order.iter().map(|position| batch.column(*position).clone()).collect();
            sink(&columns)?;
        }
    }
}

/// A file of which no more is asked for than it has: the lengths that a damaged file states are not to be trusted.
struct Bounded(File);

impl Length for Bounded {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl ChunkReader for Bounded {
    type T = <File as ChunkReader>::T;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        self.0.get_read(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        if start.checked_add(length as u64).is_none_or(|end| end > self.len()) {
            return Err(ParquetError::EOF(format!("{length} bytes at {start} are not all there")));
        }
        self.0.get_bytes(start, length)
    }
}

/// The rank of each position among them all: where it stands once they are sorted.
fn ranks(positions: &[usize]) -> Vec<usize> {
    positions.iter().map(|position| positions.iter().filter(|other| *other < position).count()).collect()
}

fn damaged(name: &str, error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::new(ErrorKind::Damaged, format!("{name} is not a readable Parquet file: {error}"))
        .argument("INPUT")
        .value(name)
        .hint("copy or write the file again")
        .caused_by(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_keeps_its_place_although_the_file_orders_them_otherwise() {
        assert_eq!(ranks(&[4, 0, 2]), [2, 0, 1]);
    }

    #[test]
    fn every_cut_and_most_flips_of_a_file_end_in_an_error_and_never_in_a_panic() {
        let whole: &'static [u8] = include_bytes!("../../data/planes.parquet");
        let read = |bytes: Vec<u8>| {
            let bytes = Bytes::from(bytes);
            let layout = ParquetLayout::new("t", Place::Memory(bytes.clone()), &bytes, &["tailnum".to_owned()])?;
            let mut builder = crate::input::tests::builder();
            (0..layout.row_groups()).try_for_each(|group| layout.ingest(group, &mut builder))
        };
        assert!(read(whole.to_vec()).is_ok());
        for length in (0..whole.len()).step_by(7) {
            assert!(read(whole[..length].to_vec()).is_err(), "cut to {length}");
        }
        for at in (0..whole.len()).step_by(11) {
            let mut bytes = whole.to_vec();
            bytes[at] ^= 1 << (at % 8);
            let _ = read(bytes);
        }
    }
}
