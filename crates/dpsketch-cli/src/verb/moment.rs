//! `estimate` of frequencies: the second moment, or the inner product of two.

use dpsketch::cardinality_estimators::Confidence;
use dpsketch::{AnySketch, Error, Moment};
use serde_json::Value;

use super::estimate::interval_of;
use super::private_frequencies::private;
use crate::console::{Console, Report};
use crate::format::{number, pairs};

pub(super) fn run(sketches: &[(String, AnySketch)], confidence: Confidence, console: Console) -> Result<(), Error> {
    dpsketch::check_compatible(sketches)?;
    let sketches: Vec<_> = sketches.iter().map(|(name, sketch)| private(name, sketch)).collect::<Result<_, _>>()?;
    let moment = Moment::of(&sketches, confidence)?;
    let json = moment.to_json();
    console.print(&Report::of_one(text(&moment, &json), json))
}

fn text(moment: &Moment, json: &Value) -> String {
    let found = moment.estimate();
    let value =
        |value: Option<f64>| value.map_or_else(|| "no estimate".to_owned(), |value| format!("about {}", number(value)));
    let name = if moment.norm().is_some() { "second moment" } else { "inner product" };
    let mut lines = vec![(name, value(found.value())), ("interval", interval_of(found, number))];
    if let Some(error) = found.std_error() {
        lines.push(("std error", number(error)));
    }
    if let Some(norm) = moment.norm() {
        lines.push(("norm", format!("{}, {}", value(norm.value()), interval_of(norm, number))));
    }
    lines.push(("status", found.status().as_str().to_owned()));
    lines.push(("privacy", privacy(json)));
    pairs(&lines)
}

/// What the releases cost, from the fields that every answer of frequencies has.
fn privacy(json: &Value) -> String {
    let names = if json["epsilon"].is_null() { ["rho", "rho_total"] } else { ["epsilon", "epsilon_total"] };
    let [cost, total] = names.map(|name| json[name].as_f64());
    let unit = json["unit"].as_str().unwrap_or("the units of its releases");
    let cost = cost.map_or_else(|| "that of several parties together".to_owned(), |cost| cost.to_string());
    let total = total.filter(|_| json["sketches"] != 1).map(|total| format!(", {total} for somebody in all of them"));
    format!("{} {cost}{}, for {unit}", names[0], total.unwrap_or_default())
}
