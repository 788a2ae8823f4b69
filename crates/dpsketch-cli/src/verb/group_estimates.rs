//! `estimate` over a table of grouped sketches: a row for each group.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use dpsketch::cardinality_estimators::Confidence;
use dpsketch::dp_noise::Amount;
use dpsketch::{Answer, Error, ErrorKind, PrivacyUnit, group_value};
use serde_json::{Value, json};

use crate::cli::OutputFormat;
use crate::console::Console;
use crate::format::{count, number};
use crate::io::Destination;
use crate::paths::shown;
use crate::rows_out::RowsOut;
use crate::table::{GroupTable, writer};

/// What a row of a table of estimates has.
const COLUMNS: [&str; 7] = ["group", "estimate", "std_error", "lower", "upper", "status", "epsilon"];

/// The table among the files, if there is one; it has to be the only file.
pub(crate) fn table_among(files: &[PathBuf]) -> Result<Option<GroupTable>, Error> {
    let Some(table) = files.iter().find(|file| GroupTable::is_at(file)) else { return Ok(None) };
    if files.len() > 1 {
        let table = shown(table);
        return Err(Error::new(ErrorKind::Parameter, format!("{table} has many sketches and is estimated alone"))
            .argument("FILE")
            .value(table)
            .allowed("one table of groups, or any number of .dps files"));
    }
    GroupTable::open(table).map(Some)
}

/// Estimates every group, to standard output or into a file.
pub(crate) fn run(
    table: &GroupTable,
    confidence: Confidence,
    out: Option<&Path>,
    console: Console,
) -> Result<(), Error> {
    let Some(path) = out else {
        let mut rows = RowsOut::stdout(console.format(), &COLUMNS);
        each(table, confidence, |row, text| rows.push(row, text))?;
        return rows.finish();
    };
    let destination = Destination::open_table(path, &["csv", "parquet", "pq"])?;
    let name = path.display().to_string();
    let is_csv = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv"));
    let free = destination.write_with(|out| {
        if !is_csv {
            return to_parquet(table, confidence, out, &name);
        }
        let mut rows = RowsOut::new(std::io::BufWriter::new(out), &name, OutputFormat::Csv, &COLUMNS);
        each(table, confidence, |row, text| rows.push(row, text))?;
        rows.finish()
    })?;
    if free && !console.is_quiet() {
        console.note(&format!("wrote {name}: {} groups", count(table.groups())));
    }
    Ok(())
}

type Line<'a> = Box<dyn FnOnce() -> String + 'a>;

/// Hands every group's answer on, as an object and as a line.
fn each(
    table: &GroupTable,
    confidence: Confidence,
    mut push: impl FnMut(&Value, Line<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let unit = table.container.study().unit();
    let mut first = true;
    table.for_each_batch(|batch| {
        let answers = table.container.estimates(batch, confidence)?;
        for (row, answer) in answers.iter().enumerate() {
            let group = group_value(batch.column(0), row)?;
            let head = std::mem::take(&mut first).then(|| head(table, unit));
            let line = || head.unwrap_or_default() + &line(&group, answer.as_ref());
            push(&object(&group, answer.as_ref()), Box::new(line))?;
        }
        Ok(())
    })
}

/// The group beside everything that an estimate has; a null sketch has none of it.
fn object(group: &Value, answer: Option<&Answer>) -> Value {
    let mut object = json!({ "group": group });
    let Some(fields) = object.as_object_mut() else { return object };
    match answer.map(Answer::to_json) {
        Some(Value::Object(answer)) => fields.extend(answer),
        _ => fields.extend(COLUMNS[1..].iter().map(|name| ((*name).to_owned(), Value::Null))),
    }
    object
}

/// What stands above the lines for people.
fn head(table: &GroupTable, unit: PrivacyUnit) -> String {
    let epsilon = Amount::from_epsilon(table.container.study().epsilon());
    let privacy = match unit {
        PrivacyUnit::Item => format!("epsilon {epsilon} for each group; somebody in g groups pays g times that"),
        unit => format!("epsilon {epsilon} for all groups together, for {unit}"),
    };
    let column: String = table.container.column().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!(
        "{} groups, {privacy}\n\n{column:<24} {:>12} {:>12}  interval, status\n",
        count(table.groups()),
        "estimate",
        "std error"
    )
}

fn line(group: &Value, answer: Option<&Answer>) -> String {
    let shown = |value: Option<f64>| value.map_or_else(|| "none".to_owned(), number);
    // Control characters of data stay off terminals.
    let group = match group {
        Value::String(text) if text.chars().any(char::is_control) || text.is_empty() => format!("{text:?}"),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let Some(found) = answer.map(Answer::estimate) else {
        return format!("{group:<24} {:>12} {:>12}  no sketch", "none", "none");
    };
    format!(
        "{group:<24} {:>12} {:>12}  {} to {}, {}",
        shown(found.value()),
        shown(found.std_error()),
        shown(found.lower()),
        shown(found.upper()),
        found.status().as_str()
    )
}

fn to_parquet(
    table: &GroupTable,
    confidence: Confidence,
    out: &mut (dyn Write + Send),
    name: &str,
) -> Result<(), Error> {
    let schema = schema(table);
    let mut writer = writer(out, &schema, Vec::new(), None, name)?;
    table.for_each_batch(|batch| {
        let answers = table.container.estimates(batch, confidence)?;
        writer.write(&estimates(batch, &answers, &schema)?)
    })?;
    writer.finish()
}

fn schema(table: &GroupTable) -> SchemaRef {
    let group = Field::new(COLUMNS[0], table.group_type(), false);
    let rest = COLUMNS[1..].iter().map(|name| match *name {
        "status" => Field::new(*name, DataType::Utf8, true),
        name => Field::new(name, DataType::Float64, true),
    });
    Arc::new(Schema::new([group].into_iter().chain(rest).collect::<Vec<_>>()))
}

fn estimates(batch: &RecordBatch, answers: &[Option<Answer>], schema: &SchemaRef) -> Result<RecordBatch, Error> {
    let floats = |value: fn(&Answer) -> Option<f64>| -> ArrayRef {
        Arc::new(answers.iter().map(|answer| answer.as_ref().and_then(value)).collect::<Float64Array>())
    };
    let status = |answer: &Option<Answer>| answer.as_ref().map(|answer| answer.estimate().status().as_str());
    let status: StringArray = answers.iter().map(status).collect();
    let columns = vec![
        batch.column(0).clone(),
        floats(|answer| answer.estimate().value()),
        floats(|answer| answer.estimate().std_error()),
        floats(|answer| answer.estimate().lower()),
        floats(|answer| answer.estimate().upper()),
        Arc::new(status),
        floats(|answer| answer.epsilon().map(Amount::nearest_f64)),
    ];
    RecordBatch::try_new(schema.clone(), columns)
        .map_err(|error| Error::new(ErrorKind::Internal, "the estimates do not make a table").caused_by(error))
}
