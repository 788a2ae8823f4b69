//! `demo`: three airports count their aircraft together without sharing a list, tell which of them fly most, and which came
//! and went.

use std::collections::HashSet;

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use clap::Args;
use dpsketch::cardinality_estimators::Confidence;
use dpsketch::dp_noise::{Amount, Epsilon};
use dpsketch::sfm_pcsa::{MergeForm, PcsaShape};
use dpsketch::sketch_hash::{AnyHash, Item};
use dpsketch::{Answer, DistinctBuilder, Error, ErrorKind, RawSketch, TextRules, estimate, merge, parse_epsilon};
use serde_json::{Value, json};

use super::demo_changes::Changes;
use super::demo_frequent::Frequent;
use super::written::warn_about_epsilon;
use crate::console::{Console, Report};
use crate::format::{count, lines, number};
use crate::input::ParquetLayout;

/// Every flight that left the three airports of New York City in 2013; where it is from is in `data/README.md`.
static FLIGHTS: &[u8] = include_bytes!("../../data/flights.parquet");

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// The privacy loss of each release.
    #[arg(long, value_name = "E", default_value = "2", value_parser = parse_epsilon, allow_hyphen_values = true)]
    epsilon: Epsilon,
}

/// One airport, which shows nobody its flights.
struct Airport {
    code: &'static str,
    builder: DistinctBuilder,
    /// What a demonstration may know and a study may not.
    exact: HashSet<String>,
}

impl Airport {
    fn new(code: &'static str) -> Self {
        let builder = DistinctBuilder::new(PcsaShape::DEFAULT, AnyHash::default(), TextRules::default());
        Self { code, builder, exact: HashSet::new() }
    }

    fn count(&mut self, aircraft: Option<&str>) {
        self.builder.push_row([aircraft.map(Item::Text)]);
        if let Some(aircraft) = aircraft.filter(|aircraft| !self.exact.contains(*aircraft)) {
            self.exact.insert(aircraft.to_owned());
        }
    }
}

/// A line of the result.
struct Line {
    what: String,
    answer: Answer,
    exact: usize,
}

pub(crate) fn run(args: &DemoArgs, console: Console) -> Result<(), Error> {
    warn_about_epsilon(Some(args.epsilon), console);
    let mut airports = ["EWR", "LGA", "JFK"].map(Airport::new);
    let (mut frequent, mut changes) = (Frequent::new()?, Changes::new()?);
    let columns = ["origin", "tailnum", "month"].map(str::to_owned);
    let layout = ParquetLayout::in_memory("flights.parquet", FLIGHTS, &columns)?;
    for row_group in 0..layout.row_groups() {
        layout.for_each_batch(row_group, |columns| {
            frequent.count(columns.get(1))?;
            changes.count(columns.get(1), columns.get(2))?;
            split(columns, &mut airports)
        })?;
    }
    let flights = airports.iter().map(|airport| airport.builder.counts().rows).sum();
    let union: HashSet<String> = airports.iter().flat_map(|airport| airport.exact.iter().cloned()).collect();

    let mut lines = Vec::new();
    let mut released = Vec::new();
    for Airport { code, builder, exact } in airports {
        let file = (format!("{code}.dps"), RawSketch::try_from(builder)?.release(args.epsilon)?.into());
        let answer = estimate(std::slice::from_ref(&file), Confidence::P95)?;
        lines.push(Line { what: code.to_owned(), answer, exact: exact.len() });
        released.push(file);
    }
    let answer = estimate(&released, Confidence::P95)?;
    lines.push(Line { what: "all three".to_owned(), answer, exact: union.len() });
    let merged = ("merged.dps".to_owned(), merge(&released, MergeForm::Extremal)?);
    let answer = estimate(&[merged], Confidence::P95)?;
    lines.push(Line { what: "merged file".to_owned(), answer, exact: union.len() });
    let (second, third) = (frequent.story(args.epsilon)?, changes.story(args.epsilon)?);
    console.print(&report(args.epsilon, flights, &lines, (second, third)))
}

/// Hands each flight to the airport it left from.
fn split(columns: &[ArrayRef], airports: &mut [Airport]) -> Result<(), Error> {
    let text = |column: usize| columns.get(column).and_then(|column| column.as_string_opt::<i32>());
    let (Some(origins), Some(aircraft)) = (text(0), text(1)) else {
        return Err(Error::new(ErrorKind::Internal, "the shipped flights have no text columns"));
    };
    for (origin, aircraft) in origins.iter().zip(aircraft) {
        if let Some(airport) = airports.iter_mut().find(|airport| Some(airport.code) == origin) {
            airport.count(aircraft);
        }
    }
    Ok(())
}

/// All three stories.
fn report(epsilon: Epsilon, flights: u64, lines: &[Line], (second, third): (Report, Report)) -> Report {
    let rows: Vec<Value> = lines.iter().map(row).collect();
    let json = json!({
        "epsilon": epsilon.get(),
        "flights": flights,
        "results": rows,
        "frequent": second.json,
        "changes": third.json,
    });
    let text = [text(epsilon, flights, lines), second.text, third.text].join("\n");
    Report { text, json, rows: [rows, second.rows, third.rows].concat() }
}

fn row(line: &Line) -> Value {
    let mut row = json!({ "what": line.what, "exact": line.exact });
    if let (Some(row), Value::Object(answer)) = (row.as_object_mut(), line.answer.to_json()) {
        row.extend(answer);
    }
    row
}

fn text(epsilon: Epsilon, flights: u64, results: &[Line]) -> String {
    let epsilon = Amount::from_epsilon(epsilon);
    let total = results.last().and_then(|line| line.answer.epsilon_total()).unwrap_or(epsilon);
    let flights = count(flights);
    let head = format!(
        "How many aircraft left New York City in 2013? {flights} flights, three airports.\n\
         Each airport sketches its own flights and releases the sketch with epsilon {epsilon}.\n\
         Only the released sketches leave the airports.\n"
    );
    let foot = format!(
        "\n\"all three\" estimates the union from the three sketches; \"merged file\" merges them to one sketch first,\n\
         which can be passed on like any other and costs some accuracy.\n\
         An aircraft that used one airport pays epsilon {epsilon}; one that used all three pays {total}.\n\n\
         The same with files of your own, one line at each party, the last one anywhere:\n\n  \
         dpsketch build users.parquet --column user_id --epsilon {epsilon} --out a.dps\n  \
         dpsketch estimate a.dps b.dps c.dps"
    );
    let table = [["airport", "estimate", "95 % interval", "exact", "status"].map(str::to_owned)]
        .into_iter()
        .chain(results.iter().map(cells))
        .map(|[what, estimate, interval, exact, status]| {
            format!("{what:<12} {estimate:>9}  {interval:<18} {exact:>7}  {status}")
        });
    lines([head].into_iter().chain(table).chain([foot]))
}

fn cells(line: &Line) -> [String; 5] {
    let found = line.answer.estimate();
    let shown = |value: Option<f64>| value.map_or_else(|| "none".to_owned(), number);
    let interval = format!("{} to {}", shown(found.lower()), shown(found.upper()));
    let status = found.status().as_str().to_owned();
    [line.what.clone(), shown(found.value()), interval, count(line.exact as u64), status]
}
