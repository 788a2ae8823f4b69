//! `decode`: the frequencies of all items of a public list.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use clap::{Args, ValueEnum};
use dpsketch::cardinality_estimators::Estimate;
use dpsketch::countsketch_dp::{DecodeOptions, Threshold};
use dpsketch::{DecodedItems, Error, ErrorKind, FrequencyAnswer};

use super::estimate::percent_of;
use super::private_frequencies::{
    AskArgs, ItemArgs, Lines, answers, blame_candidates, check_stdin, private, until_failure,
};
use super::query::line;
use crate::cli::OutputFormat;
use crate::console::{Console, write_out};
use crate::format::{counted, number};
use crate::io::{Destination, read};
use crate::paths::{check_out, paths, shown};
use crate::rows_out::RowsOut;
use crate::table::writer;

/// The list of candidates must be public: a word list, a product catalogue, all postcodes. Never make it from the data: an item
/// that is listed only because somebody has it gives that person away, whatever the noise.
#[derive(Debug, Args)]
pub(crate) struct DecodeArgs {
    /// A private sketch of frequencies, or - for standard input.
    #[arg(value_name = "FILE", value_parser = paths())]
    file: PathBuf,
    /// A public list of all items that may occur, one a line, or - for standard input. It must not be made from the data. An item
    /// that is listed twice is answered once.
    #[arg(long, value_name = "F", value_parser = paths(), required = true)]
    candidates: PathBuf,
    /// What becomes of estimates that chance explains.
    #[arg(long, value_name = "T", value_enum, default_value = "auto")]
    threshold: Small,
    /// Write a table, .csv or .parquet: in each row an item, its estimate, standard error, interval, confidence and status; - for
    /// Parquet on standard output.
    #[arg(long, value_name = "TABLE", value_parser = paths())]
    out: Option<PathBuf>,
    /// Over how many answers the confidence holds at once: 1, each by itself, if left out.
    #[arg(long, value_name = "N", value_parser = answers, allow_negative_numbers = true, default_value = "1")]
    simultaneous: u64,
    #[command(flatten)]
    form: ItemArgs,
    #[command(flatten)]
    ask: AskArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Small {
    /// They are set to 0: least error over all items where most of them are rare.
    Auto,
    /// They stay as they are, negative ones included: for sums and averages.
    #[value(name = "0")]
    Keep,
}

impl From<Small> for Threshold {
    fn from(small: Small) -> Self {
        match small {
            Small::Auto => Self::Auto,
            Small::Keep => Self::None,
        }
    }
}

const COLUMNS: [&str; 7] = ["item", "estimate", "std_error", "lower", "upper", "confidence", "status"];

/// Rows of a table that are made at a time.
const BATCH: usize = 8192;

pub(crate) fn run(args: &DecodeArgs, console: Console) -> Result<(), Error> {
    check_stdin(&args.file, Some(&args.candidates))?;
    if let Some(out) = &args.out {
        check_out(out, [args.file.as_path(), &args.candidates])?;
    }
    let sketch = read(&args.file)?;
    let sketch = private(&shown(&args.file), &sketch)?;
    let destination =
        args.out.as_deref().map(|out| Destination::open_table(out, &["csv", "parquet", "pq"])).transpose()?;
    let mut failure = None;
    let lines = Lines::open(&args.candidates, "--candidates", console)?;
    let options = DecodeOptions::from(Threshold::from(args.threshold));
    let options = options.confidence(args.ask.confidence()).simultaneous(args.simultaneous);
    let (hash, rules, fields) = (args.ask.hash(sketch.hash_id())?, args.ask.rules(), args.form.fields());
    let decoded = DecodedItems::among(sketch, hash, rules, &fields, until_failure(lines, &mut failure), options);
    if let Some(error) = failure {
        return Err(error);
    }
    let decoded = decoded.map_err(blame_candidates)?;
    match (destination, &args.out) {
        (Some(destination), Some(out)) => write_table(&decoded, destination, out, console),
        _ => print(args, &decoded, console),
    }
}

fn print(args: &DecodeArgs, decoded: &DecodedItems<'_>, console: Console) -> Result<(), Error> {
    if console.format() == OutputFormat::Text {
        let percent = percent_of(args.ask.confidence());
        write_out(format!("{:>12} {:>26}  item\n", "estimate", format!("{percent} interval")).as_bytes())?;
    }
    let mut rows = RowsOut::stdout(console.format(), &COLUMNS);
    for answer in decoded.answers() {
        let answer = answer?;
        rows.push(&answer.to_json(), || line(answer.item(), answer.estimate()))?;
    }
    rows.finish()?;
    console.note(&summary(decoded));
    Ok(())
}

/// Writes the whole table, or none at all.
fn write_table(
    decoded: &DecodedItems<'_>,
    destination: Destination,
    out: &Path,
    console: Console,
) -> Result<(), Error> {
    let name = out.display().to_string();
    let is_csv = out.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv"));
    let free = destination.write_with(|out| {
        if !is_csv {
            return to_parquet(decoded, out, &name);
        }
        let mut rows = RowsOut::new(BufWriter::new(out), &name, OutputFormat::Csv, &COLUMNS);
        decoded.answers().try_for_each(|answer| rows.push(&answer?.to_json(), String::new))?;
        rows.finish()
    })?;
    if free {
        console.note(&format!("wrote {name}: {}", summary(decoded)));
    }
    Ok(())
}

fn summary(decoded: &DecodedItems<'_>) -> String {
    let found = decoded.decoded();
    // Single keys beyond it may be there by chance, so it is not said that they occur.
    let beyond = |key| found.value(key).is_some_and(|value| value.abs() > found.threshold());
    format!(
        "{} decoded in {}, {} more than {} from 0; standard error {}",
        counted(decoded.len() as u64, "item"),
        counted(u64::from(found.rounds()), "round"),
        counted(found.keys().iter().filter(|key| beyond(**key)).count() as u64, "answer"),
        number(found.threshold()),
        number(found.std_error()),
    )
}

fn to_parquet(decoded: &DecodedItems<'_>, out: &mut (dyn Write + Send), name: &str) -> Result<(), Error> {
    let field = |name: &str| match name {
        "item" | "status" => Field::new(name, DataType::Utf8, false),
        name => Field::new(name, DataType::Float64, true),
    };
    let schema = Arc::new(Schema::new(COLUMNS.map(field).to_vec()));
    let mut writer = writer(out, &schema, Vec::new(), None, name)?;
    let mut answers = decoded.answers();
    loop {
        let rows: Vec<FrequencyAnswer> = answers.by_ref().take(BATCH).collect::<Result<_, _>>()?;
        if rows.is_empty() {
            return writer.finish();
        }
        let batch = RecordBatch::try_new(schema.clone(), columns(&rows));
        let failed = |error| Error::new(ErrorKind::Internal, "the answers do not make a table").caused_by(error);
        writer.write(&batch.map_err(failed)?)?;
    }
}

fn columns(rows: &[FrequencyAnswer]) -> Vec<ArrayRef> {
    let floats = |value: fn(&Estimate) -> Option<f64>| -> ArrayRef {
        Arc::new(rows.iter().map(|row| value(row.estimate())).collect::<Float64Array>())
    };
    let texts = |text: fn(&FrequencyAnswer) -> &str| -> ArrayRef {
        Arc::new(rows.iter().map(|row| Some(text(row))).collect::<StringArray>())
    };
    vec![
        texts(FrequencyAnswer::item),
        floats(Estimate::value),
        floats(Estimate::std_error),
        floats(Estimate::lower),
        floats(Estimate::upper),
        floats(|found| Some(found.confidence().get())),
        texts(|row| row.estimate().status().as_str()),
    ]
}
