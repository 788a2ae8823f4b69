//! Arrow IPC, as a file or a stream.

use std::io::{BufReader, Read};
use std::path::Path;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, Schema};
use dpsketch::{Error, ErrorKind, is_hashable};

use super::columns;
use super::guard::guarded;
use super::source::open_file;

/// Hands the wanted columns of every batch of a file to `sink`.
pub(crate) fn read_file(
    name: &str,
    path: &Path,
    wanted: &[String],
    sink: impl FnMut(Vec<ArrayRef>) -> Result<(), Error>,
) -> Result<(), Error> {
    let file = open_file(path).map_err(|error| Error::reading(name, error).argument("INPUT"))?;
    let reader =
        guarded(name, || FileReader::try_new(BufReader::new(file), None).map_err(|error| damaged(name, error)))?;
    let schema = reader.schema();
    read(name, &schema, reader, wanted, sink)
}

/// Hands the wanted columns of every batch of a stream to `sink`.
pub(crate) fn read_stream(
    name: &str,
    stream: impl Read,
    wanted: &[String],
    sink: impl FnMut(Vec<ArrayRef>) -> Result<(), Error>,
) -> Result<(), Error> {
    let reader =
        guarded(name, || StreamReader::try_new(BufReader::new(stream), None).map_err(|error| damaged(name, error)))?;
    let schema = reader.schema();
    read(name, &schema, reader, wanted, sink)
}

fn read(
    name: &str,
    schema: &Schema,
    mut batches: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
    wanted: &[String],
    mut sink: impl FnMut(Vec<ArrayRef>) -> Result<(), Error>,
) -> Result<(), Error> {
    let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    let positions = columns::positions(name, &names, wanted)?;
    for position in &positions {
        let field = schema.field(*position);
        if !is_hashable(field.data_type()) {
            return Err(super::not_hashable(name, field.name(), field.data_type()));
        }
    }
    loop {
        let batch = guarded(name, || batches.next().transpose().map_err(|error| damaged(name, error)))?;
        let Some(batch) = batch else { return Ok(()) };
        sink(positions.iter().map(|position| batch.column(*position).clone()).collect())?;
    }
}

fn damaged(name: &str, error: ArrowError) -> Error {
    let error = match error {
        ArrowError::IoError(_, error) => return Error::reading(name, error).argument("INPUT"),
        other => other,
    };
    Error::new(ErrorKind::Damaged, format!("{name} is not readable Arrow data: {error}"))
        .argument("INPUT")
        .value(name)
        .hint("copy or write the file again")
        .caused_by(error)
}
