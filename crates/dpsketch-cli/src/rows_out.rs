//! Many results, written as they come.

use std::io::{self, BufWriter, Seek, Stdout, Write};

use dpsketch::{Error, ErrorKind};
use serde_json::Value;
use tempfile::SpooledTempFile;

use crate::cli::OutputFormat;
use crate::format::field;

/// How much of a JSON value is kept in memory; more goes to a temporary file without a name.
const HELD: usize = 8 << 20;

/// Writes objects with the same fields in one of the formats, none of which keeps them all in memory.
///
/// Lines and rows are written as they come. A JSON value is written when it is whole, and not at all if it never is.
pub(crate) struct RowsOut<W: Write> {
    out: W,
    held: Option<SpooledTempFile>,
    name: String,
    format: OutputFormat,
    columns: &'static [&'static str],
    rows: u64,
}

impl RowsOut<BufWriter<Stdout>> {
    /// To standard output.
    pub(crate) fn stdout(format: OutputFormat, columns: &'static [&'static str]) -> Self {
        Self::new(BufWriter::new(io::stdout()), "standard output", format, columns)
    }
}

impl<W: Write> RowsOut<W> {
    /// To any writer, which `name` names in messages. Tables have these columns and no others.
    pub(crate) fn new(out: W, name: &str, format: OutputFormat, columns: &'static [&'static str]) -> Self {
        let held = (format == OutputFormat::Json).then(|| SpooledTempFile::new(HELD));
        Self { out, held, name: name.to_owned(), format, columns, rows: 0 }
    }

    /// Writes one object; `text` makes its line for people.
    pub(crate) fn push(&mut self, row: &Value, text: impl FnOnce() -> String) -> Result<(), Error> {
        let bytes = match self.format {
            OutputFormat::Text => format!("{}\n", text()).into_bytes(),
            OutputFormat::Ndjson => format!("{row}\n").into_bytes(),
            OutputFormat::Json => {
                let before = if self.rows == 0 { "[" } else { "," };
                format!("{before}\n{row}").into_bytes()
            }
            OutputFormat::Csv => self.csv(row)?,
        };
        self.rows += 1;
        self.write(&bytes)
    }

    /// Writes what comes after the last object.
    pub(crate) fn finish(mut self) -> Result<(), Error> {
        match self.format {
            OutputFormat::Json if self.rows == 0 => self.write(b"[]\n")?,
            OutputFormat::Json => self.write(b"\n]\n")?,
            OutputFormat::Csv if self.rows == 0 => {
                let header = record(self.columns.iter().map(|column| (*column).to_owned()))?;
                self.write(&header)?;
            }
            _ => {}
        }
        if let Some(mut held) = self.held.take() {
            held.rewind().map_err(unheld)?;
            io::copy(&mut held, &mut self.out).map_err(|error| Error::writing(&self.name, error))?;
        }
        self.out.flush().map_err(|error| Error::writing(&self.name, error))
    }

    fn csv(&self, row: &Value) -> Result<Vec<u8>, Error> {
        let mut lines = Vec::new();
        if self.rows == 0 {
            lines.extend(record(self.columns.iter().map(|column| (*column).to_owned()))?);
        }
        lines.extend(record(self.columns.iter().map(|column| field(row.get(*column))))?);
        Ok(lines)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if let Some(held) = &mut self.held {
            return held.write_all(bytes).map_err(unheld);
        }
        self.out.write_all(bytes).map_err(|error| Error::writing(&self.name, error))
    }
}

fn unheld(error: io::Error) -> Error {
    Error::writing("a temporary file", error)
}

/// One line of a CSV file.
fn record(fields: impl Iterator<Item = String>) -> Result<Vec<u8>, Error> {
    let failed = |_| Error::new(ErrorKind::Internal, "the table cannot be written");
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(fields).map_err(failed)?;
    writer.into_inner().map_err(|_| Error::new(ErrorKind::Internal, "the table cannot be written"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn written(format: OutputFormat, rows: &[Value]) -> String {
        let mut bytes = Vec::new();
        let mut out = RowsOut::new(&mut bytes, "a test", format, &["a", "b"]);
        for row in rows {
            out.push(row, || format!("a is {}", row["a"])).unwrap();
        }
        out.finish().unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn json_that_is_not_finished_is_not_begun() {
        let mut bytes = Vec::new();
        let mut out = RowsOut::new(&mut bytes, "a test", OutputFormat::Json, &["a"]);
        for row in 0..1_000 {
            out.push(&json!({ "a": row }), String::new).unwrap();
        }
        drop(out);
        assert!(bytes.is_empty());
    }

    #[test]
    fn every_format_is_whole_with_and_without_rows() {
        let rows = [json!({ "a": 1, "b": null, "c": 3 }), json!({ "a": "x,y", "b": 2.5 })];
        assert_eq!(written(OutputFormat::Csv, &rows), "a,b\n1,\n\"x,y\",2.5\n");
        assert_eq!(written(OutputFormat::Csv, &[]), "a,b\n");
        let json: Value = serde_json::from_str(&written(OutputFormat::Json, &rows)).unwrap();
        assert_eq!(json, json!(rows));
        assert_eq!(written(OutputFormat::Json, &[]), "[]\n");
        assert_eq!(written(OutputFormat::Ndjson, &rows).lines().count(), 2);
        assert_eq!(written(OutputFormat::Text, &rows), "a is 1\na is \"x,y\"\n");
    }
}
