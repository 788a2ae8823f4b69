//! `demo`: three airports and sixteen airlines count their aircraft together without sharing a list, tell which of them fly most,
//! and which came and went.

use std::collections::HashSet;

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use clap::Args;
use dpsketch::cardinality_estimators::{Confidence, Estimate};
use dpsketch::dp_noise::{Amount, Epsilon};
use dpsketch::sfm_pcsa::{MergeForm, PcsaShape};
use dpsketch::sketch_hash::{AnyHash, Item};
use dpsketch::{Answer, DistinctBuilder, Error, ErrorKind, RawSketch, TextRules, estimate, merge, parse_epsilon};
use serde_json::{Value, json};

use super::demo_changes::Changes;
use super::demo_frequent::Frequent;
use super::estimate::interval_ends;
use super::written::warn_about_epsilon;
use super::{demo_airlines, demo_regions};
use crate::console::{Console, Report};
use crate::format::{columns, count, lines, number};
use crate::input::ParquetLayout;

/// Every flight that left the three airports of New York City in 2013; where it is from is in `data/README.md`.
static FLIGHTS: &[u8] = include_bytes!("../../data/flights.parquet");

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// The privacy loss of each release.
    #[arg(long, value_name = "E", default_value = "2", value_parser = parse_epsilon, allow_hyphen_values = true)]
    epsilon: Epsilon,
}

/// An airport or an airline, which shows nobody its flights.
pub(super) struct Party {
    pub(super) code: String,
    pub(super) builder: DistinctBuilder,
    /// What a demonstration may know and a study may not.
    pub(super) exact: HashSet<String>,
}

impl Party {
    fn new(code: &str) -> Self {
        let builder = DistinctBuilder::new(PcsaShape::DEFAULT, AnyHash::default(), TextRules::default());
        Self { code: code.to_owned(), builder, exact: HashSet::new() }
    }

    fn count(&mut self, aircraft: Option<&str>) {
        self.builder.push_row([aircraft.map(Item::Text)]);
        if let Some(aircraft) = aircraft.filter(|aircraft| !self.exact.contains(*aircraft)) {
            self.exact.insert(aircraft.to_owned());
        }
    }
}

/// Parties that are told apart by a column.
#[derive(Default)]
struct Parties(Vec<Party>);

impl Parties {
    /// Hands each flight to the party that `codes` names; those that are not there yet join.
    fn count(&mut self, codes: Option<&ArrayRef>, aircraft: Option<&ArrayRef>) -> Result<(), Error> {
        let text = |column: Option<&ArrayRef>| column.and_then(|column| column.as_string_opt::<i32>().cloned());
        let (Some(codes), Some(aircraft)) = (text(codes), text(aircraft)) else {
            return Err(Error::new(ErrorKind::Internal, "the shipped flights have no text columns"));
        };
        for (code, aircraft) in codes.iter().zip(&aircraft) {
            let Some(code) = code else { continue };
            if let Some(party) = self.0.iter_mut().find(|party| party.code == code) {
                party.count(aircraft);
            } else {
                let mut party = Party::new(code);
                party.count(aircraft);
                self.0.push(party);
            }
        }
        Ok(())
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
    let mut airports = Parties(["EWR", "LGA", "JFK"].map(Party::new).into());
    let mut airlines = Parties::default();
    let (mut frequent, mut changes) = (Frequent::new()?, Changes::new()?);
    let columns = ["origin", "tailnum", "month", "carrier"].map(str::to_owned);
    let layout = ParquetLayout::in_memory("flights.parquet", FLIGHTS, &columns)?;
    for row_group in 0..layout.row_groups() {
        layout.for_each_batch(row_group, |columns| {
            frequent.count(columns.get(1))?;
            changes.count(columns.get(1), columns.get(2))?;
            airports.count(columns.first(), columns.get(1))?;
            airlines.count(columns.get(3), columns.get(1))
        })?;
    }
    let flights = airports.0.iter().map(|airport| airport.builder.counts().rows).sum();
    let sets: Vec<HashSet<String>> = airports.0.iter().map(|airport| airport.exact.clone()).collect();
    let union: HashSet<&String> = sets.iter().flatten().collect();

    let mut lines = Vec::new();
    let mut released = Vec::new();
    for Party { code, builder, exact } in airports.0 {
        let file = (code.clone(), RawSketch::try_from(builder)?.release(args.epsilon)?.into());
        let answer = estimate(std::slice::from_ref(&file), Confidence::P95)?;
        lines.push(Line { what: code, answer, exact: exact.len() });
        released.push(file);
    }
    let answer = estimate(&released, Confidence::P95)?;
    lines.push(Line { what: "all three".to_owned(), answer, exact: union.len() });
    let merged = ("merged.dps".to_owned(), merge(&released, MergeForm::Extremal)?);
    let answer = estimate(&[merged], Confidence::P95)?;
    lines.push(Line { what: "merged file".to_owned(), answer, exact: union.len() });
    let stories = [
        demo_regions::story(&released, &sets)?,
        demo_airlines::story(airlines.0, args.epsilon)?,
        frequent.story(args.epsilon)?,
        changes.story(args.epsilon)?,
    ];
    console.print(&report(args.epsilon, flights, &lines, stories))
}

/// All stories.
fn report(epsilon: Epsilon, flights: u64, lines: &[Line], stories: [Report; 4]) -> Report {
    let rows: Vec<Value> = lines.iter().map(row).collect();
    let mut json = json!({ "epsilon": epsilon.get(), "flights": flights, "results": rows });
    for (name, story) in ["regions", "airlines", "frequent", "changes"].into_iter().zip(&stories) {
        json[name] = story.json.clone();
    }
    let mut texts = vec![text(epsilon, flights, lines)];
    let mut all = rows;
    for story in stories {
        texts.push(story.text);
        all.extend(story.rows);
    }
    Report { text: texts.join("\n"), json, rows: all }
}

fn row(line: &Line) -> Value {
    row_of(&line.what, &line.answer, line.exact)
}

/// An answer beside the truth.
pub(super) fn row_of(what: &str, answer: &Answer, exact: usize) -> Value {
    let mut row = json!({ "what": what, "exact": exact });
    if let (Some(row), Value::Object(answer)) = (row.as_object_mut(), answer.to_json()) {
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
    let titles = ["airport", "estimate", "95 % interval", "exact", "status"].map(str::to_owned);
    let table: Vec<_> = [titles].into_iter().chain(results.iter().map(cells)).collect();
    lines([head].into_iter().chain(columns(&table, &[1, 3])).chain([foot]))
}

fn cells(line: &Line) -> [String; 5] {
    let [estimate, interval, status] = found(line.answer.estimate());
    [line.what.clone(), estimate, interval, count(line.exact as u64), status]
}

/// An estimate, its interval and its status.
pub(super) fn found(estimate: &Estimate) -> [String; 3] {
    let shown = |value: Option<f64>| value.map_or_else(|| "none".to_owned(), number);
    [shown(estimate.value()), interval_ends(estimate, number), estimate.status().as_str().to_owned()]
}
