//! The second story of `demo`: which aircraft of the public register fly most.

use std::collections::HashMap;

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use dpsketch::countsketch_dp::{Granularity, QueryOptions};
use dpsketch::dp_noise::{Delta, Epsilon, Neighbouring};
use dpsketch::sketch_hash::AnyHash;
use dpsketch::{
    CountSketchTerms, Error, ErrorKind, FrequencyBuilder, FrequencyLevel, RawCountSketch, TextRules, TopItems, TopRule,
    count_sketch_shape,
};
use serde_json::{Value, json};

use crate::console::Report;
use crate::format::{count, lines, number};
use crate::input::ParquetLayout;

/// The register of aircraft, which is public; where it is from is in `data/README.md`.
pub(super) static PLANES: &[u8] = include_bytes!("../../data/planes.parquet");

/// How many aircraft are shown.
const SHOWN: usize = 10;

/// δ of the release, far below one over the number of flights.
const DELTA: f64 = 1e-8;

/// All flights, in one sketch.
pub(super) struct Frequent {
    builder: FrequencyBuilder,
    /// What a demonstration may know and a study may not.
    exact: HashMap<String, u64>,
}

impl Frequent {
    pub(super) fn new() -> Result<Self, Error> {
        let terms = CountSketchTerms::records(count_sketch_shape(15, 16_384)?, Granularity::ONE, 1)?;
        let builder = FrequencyBuilder::new(terms, AnyHash::default(), TextRules::default())?;
        Ok(Self { builder, exact: HashMap::new() })
    }

    /// Counts the flights of a batch by their aircraft.
    pub(super) fn count(&mut self, aircraft: Option<&ArrayRef>) -> Result<(), Error> {
        let aircraft = aircraft.ok_or_else(no_text)?;
        self.builder.push_arrays(std::slice::from_ref(aircraft), None)?;
        for name in texts(aircraft)? {
            match self.exact.get_mut(name) {
                Some(flights) => *flights += 1,
                None => {
                    self.exact.insert(name.to_owned(), 1);
                }
            }
        }
        Ok(())
    }

    /// Releases the sketch, and ranks the register by it.
    pub(super) fn story(self, epsilon: Epsilon) -> Result<Report, Error> {
        let Self { builder, exact } = self;
        let raw = builder.finish()?;
        let level = level(&raw, epsilon)?;
        let private = raw.release(level, Neighbouring::AddRemove)?;
        let register = register()?;
        let (hash, rules) = (AnyHash::default(), TextRules::default());
        let candidates = register.iter().cloned();
        let top = TopItems::among(&private, hash, rules, candidates, SHOWN, TopRule::Largest, QueryOptions::default())?;
        let mut known: Vec<u64> = register.iter().map(|name| exact.get(name).copied().unwrap_or(0)).collect();
        known.sort_unstable_by(|a, b| b.cmp(a));
        let rows: Vec<Value> =
            top.to_json()["items"].as_array().into_iter().flatten().map(|item| row(item, &exact, &known)).collect();
        let json = json!({
            "epsilon": epsilon.get(),
            "delta": matches!(level, FrequencyLevel::Approximate { .. }).then_some(DELTA),
            "unit": "one flight",
            "candidates": top.candidates(),
            "results": rows,
        });
        Ok(Report { text: text(level, &rows, top.candidates()), json, rows })
    }
}

/// Gaussian noise where it can be drawn for so small an ε, and else Laplace noise, which needs no δ.
fn level(raw: &RawCountSketch, epsilon: Epsilon) -> Result<FrequencyLevel, Error> {
    let gaussian = FrequencyLevel::Approximate { epsilon, delta: Delta::new(DELTA)? };
    let drawn = gaussian.price(raw.exposure(Neighbouring::AddRemove));
    Ok(drawn.map_or(FrequencyLevel::Pure(epsilon), |_| gaussian))
}

/// The names in the register.
fn register() -> Result<Vec<String>, Error> {
    let layout = ParquetLayout::in_memory("planes.parquet", PLANES, &["tailnum".to_owned()])?;
    let mut names = Vec::new();
    for row_group in 0..layout.row_groups() {
        layout.for_each_batch(row_group, |columns| {
            names.extend(texts(columns.first().ok_or_else(no_text)?)?.map(str::to_owned));
            Ok(())
        })?;
    }
    Ok(names)
}

fn texts(column: &ArrayRef) -> Result<impl Iterator<Item = &str>, Error> {
    Ok(column.as_string_opt::<i32>().ok_or_else(no_text)?.iter().flatten())
}

fn no_text() -> Error {
    Error::new(ErrorKind::Internal, "the shipped tables have no text columns")
}

/// An aircraft with the exact number of its flights and its exact rank: one more than there are busier ones.
fn row(item: &Value, exact: &HashMap<String, u64>, known: &[u64]) -> Value {
    let flights = item["item"].as_str().and_then(|name| exact.get(name)).copied().unwrap_or(0);
    let busier = known.iter().take_while(|other| **other > flights).count();
    let mut row = json!({ "what": item["item"] });
    if let (Some(row), Some(item)) = (row.as_object_mut(), item.as_object()) {
        row.extend(item.iter().map(|(name, value)| (name.clone(), value.clone())));
        row.insert("exact".to_owned(), json!(flights));
        row.insert("exact_rank".to_owned(), json!(busier + 1));
    }
    row
}

fn text(level: FrequencyLevel, rows: &[Value], candidates: u64) -> String {
    let head = format!(
        "Which aircraft flew most often? One sketch of all flights, 15 x 16384, released with {level}\n\
         for one flight. Candidates: the {} aircraft of the public register.\n",
        count(candidates)
    );
    let foot = "\n\
         The sketch lists no aircraft: whoever has the file can only ask for names. All intervals hold at once. Aircraft\n\
         that are not in the register are not found, whatever they flew.\n\n\
         The same with files of your own:\n\n  \
         dpsketch build flights.csv --kind countsketch --column tailnum --epsilon 1 --delta 1e-8 --out f.dps\n  \
         dpsketch topk f.dps -k 10 --candidates register.txt\n  \
         dpsketch query f.dps --item N711MQ";
    let table = rows.iter().map(|row| {
        let shown = |name: &str| row[name].as_f64().map_or_else(|| "none".to_owned(), number);
        let interval = format!("{} to {}", shown("lower"), shown("upper"));
        let name = row["item"].as_str().unwrap_or_default();
        let [rank, exact, exact_rank] = ["rank", "exact", "exact_rank"].map(|name| row[name].to_string());
        format!("{rank:>4}  {name:<9} {:>9}  {interval:<16} {exact:>7} {exact_rank:>11}", shown("estimate"))
    });
    let title = format!(
        "{:>4}  {:<9} {:>9}  {:<16} {:>7} {:>11}",
        "rank", "aircraft", "estimate", "95 % interval", "exact", "exact rank"
    );
    lines([head, title].into_iter().chain(table).chain([foot.to_owned()]))
}
