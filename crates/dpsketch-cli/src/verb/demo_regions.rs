//! What of the first story is at which airports: all regions at once.

use std::collections::HashSet;

use dpsketch::cardinality_estimators::{Confidence, Estimate, SetFormula};
use dpsketch::sfm_pcsa::{SfmSketch, set_estimate};
use dpsketch::{Answer, AnySketch, Error, ErrorKind, estimate_regions};
use serde_json::{Value, json};

use super::demo::{found, row_of};
use crate::console::Report;
use crate::format::{columns, count, lines, number};

/// A region with the two ways to its size, and the truth.
struct Region {
    answer: Answer,
    /// By inclusion and exclusion over estimated unions.
    by_unions: Estimate,
    exact: usize,
}

/// Tells how many aircraft are at exactly which airports; `sets` are the true ones.
pub(super) fn story(released: &[(String, AnySketch)], sets: &[HashSet<String>]) -> Result<Report, Error> {
    let sketches: Vec<&SfmSketch> = released
        .iter()
        .filter_map(|(_, sketch)| if let AnySketch::Sfm(sketch) = sketch { Some(sketch) } else { None })
        .collect();
    let regions = estimate_regions(released, Confidence::P95)?.into_iter().enumerate().map(|(index, answer)| {
        let mask = index + 1;
        let only = SetFormula::from_membership(sketches.len(), |region| region == mask)?;
        let by_unions = set_estimate(&sketches, &only, Confidence::P95).map_err(|error| {
            Error::new(ErrorKind::Internal, "the airports' sketches do not fit together").caused_by(error)
        })?;
        Ok(Region { answer, by_unions, exact: exact(sets, mask) })
    });
    let regions: Vec<Region> = regions.collect::<Result<_, Error>>()?;
    let rows: Vec<Value> = regions.iter().map(row).collect();
    Ok(Report { text: text(&regions), json: json!({ "results": rows }), rows })
}

/// Aircraft in exactly the sets of a mask.
fn exact(sets: &[HashSet<String>], mask: usize) -> usize {
    let all: HashSet<&String> = sets.iter().flatten().collect();
    let inside =
        |name: &String| sets.iter().enumerate().all(|(set, members)| members.contains(name) == (mask >> set & 1 == 1));
    all.into_iter().filter(|name| inside(name)).count()
}

fn row(region: &Region) -> Value {
    let mut row = row_of(region.answer.expr().unwrap_or_default(), &region.answer, region.exact);
    row["inclusion_exclusion"] = json!({
        "estimate": region.by_unions.value(),
        "std_error": region.by_unions.std_error(),
        "status": region.by_unions.status().as_str(),
    });
    row
}

fn text(regions: &[Region]) -> String {
    let head = "How many of them use which airports? All regions of the three sketches from one likelihood, beside inclusion and\n\
        exclusion over unions, with the standard errors of both:\n"
        .to_owned();
    let titles = ["airports", "estimate", "95 % interval", "error", "by unions", "error", "exact"].map(str::to_owned);
    let table: Vec<_> = [titles].into_iter().chain(regions.iter().map(cells)).collect();
    let foot = "\nThe same with files of your own:\n\n  dpsketch estimate a.dps b.dps c.dps --regions".to_owned();
    lines([head].into_iter().chain(columns(&table, &[1, 3, 4, 5, 6])).chain([foot]))
}

fn cells(region: &Region) -> [String; 7] {
    let error = |estimate: &Estimate| estimate.std_error().map_or_else(|| "none".to_owned(), number);
    let [estimate, interval, _] = found(region.answer.estimate());
    let [unions, ..] = found(&region.by_unions);
    [
        region.answer.expr().unwrap_or_default().to_owned(),
        estimate,
        interval,
        error(region.answer.estimate()),
        unions,
        error(&region.by_unions),
        count(region.exact as u64),
    ]
}
