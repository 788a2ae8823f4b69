//! `estimate --regions`: all regions of a few sets, each with its error.

use std::path::{Path, PathBuf};

use dpsketch::cardinality_estimators::Confidence;
use dpsketch::{Answer, Error, ErrorKind, MAX_REGION_SETS, estimate_regions, is_set_name};
use serde_json::{Map, Value};

use super::estimate::{interval_ends, is_wider_than_told, percent_of, privacy};
use super::estimate_sets::{Named, check_names, read_named};
use crate::console::{Console, Report};
use crate::format::{columns, counted, lines, number, pairs};
use crate::paths::{is_std, shown};

/// Answers for all regions of files that were given without names.
pub(crate) fn of_files(files: &[PathBuf], confidence: Confidence, console: Console) -> Result<(), Error> {
    let named = named(files)?;
    // What is at fault was not named by whoever asked.
    run(&named, confidence, console).map_err(|error| {
        let is_of_name = error.to_json()["argument"] == "--name";
        if is_of_name { error.argument("FILE") } else { error }
    })
}

/// Files under the names that they have without folder and ending.
fn named(files: &[PathBuf]) -> Result<Vec<Named>, Error> {
    let named: Vec<Named> = files
        .iter()
        .map(|file| Ok(Named { name: name_of(file)?, file: file.clone() }))
        .collect::<Result<_, Error>>()?;
    let repeated =
        |(position, own): &(usize, &Named)| named.iter().take(*position).any(|before| before.name == own.name);
    match named.iter().enumerate().find(repeated) {
        None => Ok(named),
        Some((_, own)) => {
            Err(Error::new(ErrorKind::Parameter, format!("two files lend their sets the name {:?}", own.name))
                .argument("FILE")
                .value(shown(&own.file))
                .hint("name the sketches: --name a=FILE --name b=FILE"))
        }
    }
}

/// The name of a file without folder and ending, as it can stand in a formula: `north-1` becomes `north_1`.
fn name_of(file: &Path) -> Result<String, Error> {
    let stem = if is_std(file) { "stdin".into() } else { file.file_stem().unwrap_or_default().to_string_lossy() };
    let name: String =
        stem.chars().map(|character| if is_set_name(&character.to_string()) { character } else { '_' }).collect();
    if is_set_name(&name) {
        return Ok(name);
    }
    Err(Error::new(ErrorKind::Parameter, format!("the name of {} is no name of a set", shown(file)))
        .argument("FILE")
        .value(shown(file))
        .hint("name the sketch: --name a=FILE"))
}

/// Answers for all regions of the named sketches.
pub(crate) fn run(named: &[Named], confidence: Confidence, console: Console) -> Result<(), Error> {
    check_names(named)?;
    check_number(named.len())?;
    let sketches = read_named(named, console)?;
    let regions = estimate_regions(&sketches, confidence).map_err(|error| error.argument_or("--regions"))?;
    let rows: Vec<Value> = regions.iter().map(row).collect();
    console.print(&Report { text: text(&regions), json: Value::Array(rows.clone()), rows })
}

/// Before any file is read.
fn check_number(found: usize) -> Result<(), Error> {
    if found <= MAX_REGION_SETS {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Parameter, format!("regions of {found} sets are too many to tell"))
        .argument("--regions")
        .value(found.to_string())
        .allowed(format!("1 to {MAX_REGION_SETS} sketches"))
        .hint("put sketches whose single regions do not matter together: dpsketch merge --tally A B --out AB.dps"))
}

/// An answer whose first field is the region, instead of a formula.
fn row(region: &Answer) -> Value {
    let mut row = Map::from_iter([("region".to_owned(), Value::from(region.expr()))]);
    if let Value::Object(answer) = region.to_json() {
        row.extend(answer.into_iter().filter(|(field, _)| field != "expr"));
    }
    Value::Object(row)
}

/// A table for people, and what all of its lines have in common.
fn text(regions: &[Answer]) -> String {
    let Some(first) = regions.first() else { return String::new() };
    let interval = format!("{} interval", percent_of(first.estimate().confidence()));
    let head = ["region", "estimate", &interval, "std error", "status"].map(str::to_owned);
    let table: Vec<[String; 5]> = std::iter::once(head).chain(regions.iter().map(cells)).collect();
    let mut facts = Vec::new();
    if let Some(method) = first.method() {
        facts.push(("method", method.to_string()));
    }
    facts.push(("privacy", privacy(first)));
    if regions.iter().any(|region| is_wider_than_told(region.estimate())) {
        facts.push((
            "note",
            "low_information beside a small error: the interval is wider than the error tells".to_owned(),
        ));
    }
    let unseen = regions.iter().filter(|region| region.error_exceeds_value()).count() as u64;
    if unseen > 0 {
        facts.push(("warning", format!("the error exceeds the answer in {}", counted(unseen, "region"))));
    }
    format!("{}\n{}", lines(columns(&table, &[1, 3])), pairs(&facts))
}

fn cells(region: &Answer) -> [String; 5] {
    let found = region.estimate();
    let shown = |value: Option<f64>| value.map_or_else(|| "none".to_owned(), number);
    [
        region.expr().unwrap_or_default().to_owned(),
        shown(found.value()),
        interval_ends(found, number),
        shown(found.std_error()),
        found.status().as_str().to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_lend_their_names_to_sets() {
        let name = |file: &str| name_of(Path::new(file)).ok();
        assert_eq!(name("data/north.dps").as_deref(), Some("north"));
        assert_eq!(name("site-7.tally.dps").as_deref(), Some("site_7.tally"));
        assert_eq!(name("-").as_deref(), Some("stdin"));
        assert_eq!(name(&format!("{}.dps", "x".repeat(65))), None);
    }
}
