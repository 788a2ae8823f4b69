//! Tables of grouped sketches, as Parquet.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_schema::DataType;
use dpsketch::{Error, ErrorKind, GroupContainer, ReleasedGroups};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::arrow::{ArrowWriter, ProjectionMask};
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

use crate::input::{guarded, open_file};

/// Encoded bytes that are collected before they are written out as a row group.
const ROW_GROUP_BYTES: usize = 32 << 20;

/// Bytes of sketches that are read at a time, about.
const BATCH_BYTES: usize = 4 << 20;

/// Groups that are read at a time at most.
const CHECKED_ROWS: usize = 8192;

/// What every Parquet file begins with.
const MAGIC: &[u8; 4] = b"PAR1";

/// Writes the groups as they are released.
pub(crate) fn write_groups(out: &mut (dyn Write + Send), released: ReleasedGroups, name: &str) -> Result<(), Error> {
    let entries = released.container().to_metadata().map(|(key, value)| KeyValue::new(key, value));
    let mut writer = writer(out, &released.schema(), entries.into(), Some("sketch"), name)?;
    for batch in released {
        writer.write(&batch?)?;
    }
    writer.finish()
}

/// A Parquet file that is being written, in row groups of bounded size.
pub(crate) struct TableWriter<'a> {
    writer: ArrowWriter<&'a mut (dyn Write + Send)>,
    name: String,
}

/// A new Parquet file. `noise` names a column whose values are neither repeated nor worth an index.
pub(crate) fn writer<'a>(
    out: &'a mut (dyn Write + Send),
    schema: &arrow_schema::SchemaRef,
    entries: Vec<KeyValue>,
    noise: Option<&str>,
    name: &str,
) -> Result<TableWriter<'a>, Error> {
    let level = ZstdLevel::try_new(1).map_err(|error| failed(name, error))?;
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(level))
        .set_key_value_metadata((!entries.is_empty()).then_some(entries));
    if let Some(noise) = noise {
        let column = ColumnPath::from(noise);
        properties = properties
            .set_column_dictionary_enabled(column.clone(), false)
            .set_column_statistics_enabled(column, EnabledStatistics::None);
    }
    let writer = ArrowWriter::try_new(out, schema.clone(), Some(properties.build()));
    Ok(TableWriter { writer: writer.map_err(|error| failed(name, error))?, name: name.to_owned() })
}

impl TableWriter<'_> {
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        let writer = &mut self.writer;
        writer
            .write(batch)
            .and_then(|()| if writer.in_progress_size() > ROW_GROUP_BYTES { writer.flush() } else { Ok(()) })
            .map_err(|error| failed(&self.name, error))
    }

    pub(crate) fn finish(self) -> Result<(), Error> {
        self.writer.close().map(drop).map_err(|error| failed(&self.name, error))
    }
}

/// A failed write; an error of the disk keeps its kind.
fn failed(name: &str, error: ParquetError) -> Error {
    match error {
        ParquetError::External(below) => match below.downcast::<std::io::Error>() {
            Ok(error) => Error::writing(name, *error),
            Err(other) => Error::new(ErrorKind::Internal, format!("cannot write {name}: {other}")),
        },
        other => Error::new(ErrorKind::Internal, format!("cannot write {name}: {other}")).caused_by(other),
    }
}

/// A table of grouped sketches whose footer was read.
#[derive(Debug)]
pub(crate) struct GroupTable {
    name: String,
    path: PathBuf,
    metadata: ArrowReaderMetadata,
    pub(crate) container: GroupContainer,
}

impl GroupTable {
    /// Whether a file is Parquet, by its first bytes. What cannot be read is left to whoever reads it next.
    pub(crate) fn is_at(path: &Path) -> bool {
        let mut head = [0; MAGIC.len()];
        path.is_file() && File::open(path).is_ok_and(|mut file| file.read_exact(&mut head).is_ok() && head == *MAGIC)
    }

    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        let file = open_file(path).map_err(|error| Error::reading(&name, error).argument("FILE"))?;
        let metadata = guarded(&name, || {
            ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).map_err(|error| damaged(&name, error))
        })
        .map_err(|error| error.argument("FILE"))?;
        let entries = metadata.metadata().file_metadata().key_value_metadata();
        let entry = |key: &str| entries?.iter().find(|entry| entry.key == key)?.value.as_deref();
        let container = GroupContainer::read(metadata.schema(), entry)
            .map_err(|error| error.prefixed(&name).argument("FILE").value(&name))?;
        let table = Self { name, path: path.to_owned(), metadata, container };
        table.check_groups()?;
        Ok(table)
    }

    /// Whether the groups are those that were released, in their rows. Reads nothing but the column of groups.
    fn check_groups(&self) -> Result<(), Error> {
        let mut check = self.container.check_groups();
        let groups = ProjectionMask::roots(self.metadata.parquet_schema(), [0]);
        self.read(groups, CHECKED_ROWS, |batch| check.add(batch.column(0)))?;
        check.finish().map_err(|error| error.prefixed(&self.name).argument("FILE").value(&self.name))
    }

    /// The type of the column of groups.
    pub(crate) fn group_type(&self) -> DataType {
        self.metadata.schema().field(0).data_type().clone()
    }

    /// How many groups the table has.
    pub(crate) fn groups(&self) -> u64 {
        u64::try_from(self.metadata.metadata().file_metadata().num_rows()).unwrap_or(0)
    }

    /// Hands all groups and their sketches to `visit`, some at a time.
    pub(crate) fn for_each_batch(&self, visit: impl FnMut(&RecordBatch) -> Result<(), Error>) -> Result<(), Error> {
        let dpsketch::StudyShape::Sfm(shape) = self.container.study().shape() else { return Ok(()) };
        let rows = (BATCH_BYTES / (shape.cells() / 8 + 1)).clamp(1, CHECKED_ROWS);
        self.read(ProjectionMask::all(), rows, visit)
    }

    fn read(
        &self,
        columns: ProjectionMask,
        rows: usize,
        mut visit: impl FnMut(&RecordBatch) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let file = open_file(&self.path).map_err(|error| Error::reading(&self.name, error).argument("FILE"))?;
        let told = |error: Error| error.argument("FILE").value(&self.name);
        let mut batches = guarded(&self.name, || {
            ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.metadata.clone())
                .with_projection(columns)
                .with_batch_size(rows)
                .build()
                .map_err(|error| damaged(&self.name, error))
        })
        .map_err(told)?;
        loop {
            let next = || batches.next().transpose().map_err(|error| damaged(&self.name, error));
            let Some(batch) = guarded(&self.name, next).map_err(told)? else { return Ok(()) };
            visit(&batch)?;
        }
    }
}

fn damaged(name: &str, error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::new(ErrorKind::Damaged, format!("{name} is not a readable Parquet file: {error}"))
        .argument("FILE")
        .value(name)
        .hint("copy or write the file again")
        .caused_by(error)
}
