//! Which files the runner knows, and how their cases are read.

use std::collections::BTreeMap;

use serde_json::Value;

use super::compare::{Got, Tolerance};
use super::input::CaseError;
use super::{beyond, countsketch, f0, sfm};

/// One case of a golden file.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Its name in the file.
    pub id: String,
    /// What is computed.
    pub kind: String,
    /// The arguments.
    pub input: Value,
    /// The values wanted.
    pub expect: Value,
    /// How close they must be.
    pub tolerance: Tolerance,
    /// Absolute tolerances of single fields, in the place of that one.
    pub field_absolute: BTreeMap<String, f64>,
}

/// A kind of golden file.
#[derive(Clone, Copy, Debug)]
pub struct Schema {
    /// The value of the file's field `schema`, a word or a number.
    pub name: &'static str,
    /// The kinds of cases that the product computes.
    pub kinds: &'static [&'static str],
    /// Reads the cases of a whole file.
    pub cases: fn(&Value) -> Result<Vec<Case>, String>,
    /// Computes one case.
    pub compute: fn(&Case) -> Result<Got, CaseError>,
}

/// Every schema of the product.
pub(super) const SCHEMAS: &[Schema] = &[sfm::SCHEMA, countsketch::SCHEMA, f0::SCHEMA, beyond::SCHEMA];

impl Schema {
    /// The schema of a file.
    pub(super) fn of(file: &Value) -> Result<&'static Self, String> {
        let name = file.get("schema").map_or_else(|| "none".to_owned(), Value::to_string);
        SCHEMAS
            .iter()
            .find(|schema| name.trim_matches('"') == schema.name)
            .ok_or_else(|| format!("unknown schema {name}; known: {}", names().join(", ")))
    }
}

fn names() -> Vec<&'static str> {
    SCHEMAS.iter().map(|schema| schema.name).collect()
}

/// Cases written as `{id, kind, input, expect, rtol, atol}` in a list `cases` whose length is `count`.
pub(super) fn listed_cases(file: &Value) -> Result<Vec<Case>, String> {
    listed(file, "expect", ["rtol", "atol"])
}

/// The same with other names for the wanted values and for the relative and the absolute tolerance.
pub(super) fn listed(file: &Value, expect: &str, tolerances: [&str; 2]) -> Result<Vec<Case>, String> {
    let list = file["cases"].as_array().ok_or("no list `cases`")?;
    if let Some(count) = file.get("count") {
        let found = u64::try_from(list.len()).map_err(|error| error.to_string())?;
        if count.as_u64() != Some(found) {
            return Err(format!("`count` is {count}, but there are {found} cases"));
        }
    }
    list.iter().enumerate().map(|(index, case)| read(index, case, expect, tolerances)).collect()
}

fn read(index: usize, case: &Value, expect: &str, [relative, absolute]: [&str; 2]) -> Result<Case, String> {
    let absent = |field: &str| format!("case {index} has no `{field}`");
    let text = |field: &str| case[field].as_str().map(str::to_owned).ok_or_else(|| absent(field));
    let object = |field: &str| case.get(field).cloned().ok_or_else(|| absent(field));
    let tolerance = |field: &str| case.get(field).map_or(Some(0.0), Value::as_f64).ok_or_else(|| absent(field));
    Ok(Case {
        id: text("id")?,
        kind: text("kind")?,
        input: object("input")?,
        expect: object(expect)?,
        tolerance: Tolerance { relative: tolerance(relative)?, absolute: tolerance(absolute)? },
        field_absolute: BTreeMap::new(),
    })
}
