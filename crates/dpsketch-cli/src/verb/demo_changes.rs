//! The third story of `demo`: which aircraft joined and left during the year, and how many seats they have.

use std::collections::{HashMap, HashSet};

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int16Type};
use dpsketch::cardinality_estimators::Confidence;
use dpsketch::dp_noise::{Amount, Epsilon};
use dpsketch::f0_sketch::MaxWeight;
use dpsketch::sketch_hash::{AnyHash, Item};
use dpsketch::{
    Answer, AnySketch, Error, ErrorKind, F0Builder, F0Terms, SpillSettings, TextRules, estimate_formula, f0_shape,
};
use serde_json::{Value, json};

use super::demo_frequent::PLANES;
use crate::console::Report;
use crate::format::{columns, count, lines, number};
use crate::input::ParquetLayout;

/// The months that are compared, and their names in formulas.
const MONTHS: [(i8, &str); 2] = [(1, "jan"), (12, "dec")];

/// The most seats that an aircraft may have: those of the largest type in the register, which is public.
const MAX_SEATS: f64 = 450.0;

/// Memory for finding the distinct aircraft of a month.
const MEMORY: usize = 8 << 20;

/// What is asked of the two months, and in whose words.
const QUESTIONS: [(&str, &str); 4] = [
    ("in January", "jan"),
    ("joined by December", "dec - jan"),
    ("left by December", "jan - dec"),
    ("either way", "jan ^ dec"),
];

/// One month: its aircraft, and their seats.
struct Month {
    number: i8,
    name: &'static str,
    aircraft: F0Builder,
    seats: F0Builder,
    /// What a demonstration may know and a study may not.
    exact: HashSet<String>,
}

/// Both months.
pub(super) struct Changes {
    months: [Month; 2],
    /// Seats of the aircraft in the public register.
    register: HashMap<String, i16>,
}

impl Changes {
    pub(super) fn new() -> Result<Self, Error> {
        let [first, last] = MONTHS.map(|(number, name)| Month::new(number, name));
        Ok(Self { months: [first?, last?], register: register()? })
    }

    /// Takes the flights of a batch, by their aircraft and months.
    pub(super) fn count(&mut self, aircraft: Option<&ArrayRef>, months: Option<&ArrayRef>) -> Result<(), Error> {
        let aircraft = aircraft.and_then(|column| column.as_string_opt::<i32>()).ok_or_else(not_as_shipped)?;
        let months = months.and_then(|column| column.as_primitive_opt::<Int8Type>()).ok_or_else(not_as_shipped)?;
        for (name, number) in aircraft.iter().zip(months) {
            let (Some(name), Some(number)) = (name, number) else { continue };
            if let Some(month) = self.months.iter_mut().find(|month| month.number == number) {
                month.count(name, self.register.get(name).copied())?;
            }
        }
        Ok(())
    }

    /// Releases the four sketches, and compares the months.
    pub(super) fn story(self, epsilon: Epsilon) -> Result<Report, Error> {
        let Self { months, register } = self;
        let [first, last] = &months;
        let exact = Exact { months: [first.exact.clone(), last.exact.clone()], register };
        let (mut counts, mut seats) = (Vec::new(), Vec::new());
        for Month { name, aircraft, seats: weighted, .. } in months {
            let released = |builder: F0Builder| Ok::<_, Error>(AnySketch::from(builder.finish()?.0.release(epsilon)?));
            counts.push((name.to_owned(), released(aircraft)?));
            seats.push((name.to_owned(), released(weighted)?));
        }
        let mut rows = Vec::new();
        for (what, sketches, weight) in [("aircraft", &counts, false), ("seats", &seats, true)] {
            for (words, formula) in QUESTIONS {
                let named = if formula == "jan" { &sketches[..1] } else { &sketches[..] };
                let answer = estimate_formula(named, formula, Confidence::P95)?;
                rows.push(row(&format!("{what} {words}"), &answer, exact.answer(formula, weight)));
            }
        }
        let json = json!({
            "epsilon": epsilon.get(),
            "unit": "one aircraft",
            "max_weight": MAX_SEATS,
            "results": rows,
        });
        Ok(Report { text: text(epsilon, &rows), json, rows })
    }
}

impl Month {
    fn new(number: i8, name: &'static str) -> Result<Self, Error> {
        let builder = |terms| {
            let settings = SpillSettings { memory: MEMORY, ..SpillSettings::default() };
            F0Builder::set(terms, AnyHash::default(), TextRules::default(), settings)
        };
        // Few levels, as there are a few thousand aircraft; fewer cells for seats, which make less than a thousand whole weights.
        let aircraft = builder(F0Terms::unit(f0_shape(4, 4096)?))?;
        let seats = builder(F0Terms::weighted(f0_shape(4, 1024)?, MaxWeight::new(MAX_SEATS)?))?;
        Ok(Self { number, name, aircraft, seats, exact: HashSet::new() })
    }

    fn count(&mut self, aircraft: &str, seats: Option<i16>) -> Result<(), Error> {
        self.aircraft.push_row([Some(Item::Text(aircraft))])?;
        let seats = seats.map(|seats| Item::Integer(seats.into()));
        self.seats.push_row_with([Some(Item::Text(aircraft))], seats, None)?;
        if !self.exact.contains(aircraft) {
            self.exact.insert(aircraft.to_owned());
        }
        Ok(())
    }
}

/// The true sets, for the column beside the estimates.
struct Exact {
    months: [HashSet<String>; 2],
    register: HashMap<String, i16>,
}

impl Exact {
    fn answer(&self, formula: &str, seats: bool) -> i64 {
        let [first, last] = &self.months;
        let in_formula = |name: &String| match formula {
            "dec - jan" => !first.contains(name),
            "jan - dec" => !last.contains(name),
            "jan ^ dec" => first.contains(name) != last.contains(name),
            _ => first.contains(name),
        };
        let weight = |name: &String| if seats { i64::from(self.register.get(name).copied().unwrap_or(0)) } else { 1 };
        first.union(last).filter(|name| in_formula(name)).map(weight).sum()
    }
}

/// The seats of every aircraft in the register.
fn register() -> Result<HashMap<String, i16>, Error> {
    let layout = ParquetLayout::in_memory("planes.parquet", PLANES, &["tailnum".to_owned(), "seats".to_owned()])?;
    let mut register = HashMap::new();
    for row_group in 0..layout.row_groups() {
        layout.for_each_batch(row_group, |columns| {
            let names = columns.first().and_then(|column| column.as_string_opt::<i32>());
            let seats = columns.get(1).and_then(|column| column.as_primitive_opt::<Int16Type>());
            let (Some(names), Some(seats)) = (names, seats) else { return Err(not_as_shipped()) };
            let known = names.iter().zip(seats).filter_map(|(name, seats)| Some((name?.to_owned(), seats?)));
            register.extend(known);
            Ok(())
        })?;
    }
    Ok(register)
}

fn not_as_shipped() -> Error {
    Error::new(ErrorKind::Internal, "the shipped tables have other columns")
}

fn row(what: &str, answer: &Answer, exact: i64) -> Value {
    let mut row = json!({ "what": what, "exact": exact });
    if let (Some(row), Value::Object(answer)) = (row.as_object_mut(), answer.to_json()) {
        row.extend(answer);
    }
    row
}

fn text(epsilon: Epsilon, rows: &[Value]) -> String {
    let epsilon = Amount::from_epsilon(epsilon);
    let head = format!(
        "Which aircraft joined and left in 2013? January and December each release a sketch of the set of their aircraft,\n\
         4 x 4096, and one of their seats, 4 x 1024, for at most {MAX_SEATS} seats an aircraft, with epsilon {epsilon} each.\n\
         Seats are those of the public register; aircraft that are not in it count none.\n"
    );
    let foot = format!(
        "\nThe xor of two sketches is the sketch of the symmetric difference, and both ways come of it together with the two.\n\
         An aircraft that flew in both months pays epsilon {epsilon} four times.\n\n\
         The same with files of your own:\n\n  \
         dpsketch build jan.csv --kind f0 --mode set --column tailnum --levels 4 --epsilon {epsilon} --out jan.dps\n  \
         dpsketch estimate --name a=jan.dps --name b=dec.dps --expr 'b - a'"
    );
    let table = rows.iter().map(|row| {
        let shown = |name: &str| row[name].as_f64().map_or_else(|| "none".to_owned(), number);
        let interval = match (row["lower"].is_null(), row["upper"].is_null()) {
            (false, true) => format!("at least {}", shown("lower")),
            _ => format!("{} to {}", shown("lower"), shown("upper")),
        };
        let exact = row["exact"].as_u64().map(count).unwrap_or_default();
        let [what, status] = ["what", "status"].map(|name| row[name].as_str().unwrap_or_default());
        [what.to_owned(), shown("estimate"), interval, exact, status.to_owned()]
    });
    let titles = ["what", "estimate", "95 % interval", "exact", "status"].map(str::to_owned);
    let table: Vec<_> = [titles].into_iter().chain(table).collect();
    lines([head].into_iter().chain(columns(&table, &[1, 3])).chain([foot]))
}
