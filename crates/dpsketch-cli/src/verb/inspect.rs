//! `inspect`: what is in a file.

use std::path::PathBuf;

use clap::Args;
use dpsketch::{Description, Error, FileFormat, SketchFile};
use serde_json::{Value, json};

use crate::console::{Console, Report};
use crate::format::{counted, pairs};
use crate::io::read_file;
use crate::paths::{at_most_one_stdin, paths, shown};
use crate::table::GroupTable;

#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    /// Sketch files, - for standard input, or tables of groups.
    #[arg(value_name = "FILE", required = true, value_parser = paths())]
    files: Vec<PathBuf>,
}

pub(crate) fn run(args: &InspectArgs, console: Console) -> Result<(), Error> {
    at_most_one_stdin(&args.files)?;
    let mut rows = Vec::new();
    let mut texts = Vec::new();
    for path in &args.files {
        let name = &shown(path);
        if GroupTable::is_at(path) {
            let row = table_facts(name, &GroupTable::open(path)?);
            texts.push(text(&row));
            rows.push(row);
            continue;
        }
        let file = read_file(path)?;
        if file.sketch.is_raw() {
            console.warn(&format!("{name} is raw: keep it as safe as the data"));
        }
        let row = facts(name, &file);
        texts.push(text(&row));
        rows.push(row);
    }
    console.print(&Report { text: texts.join("\n"), json: Value::Array(rows.clone()), rows })
}

/// The format is a version number of ours, or the name of another.
fn facts(name: &str, file: &SketchFile) -> Value {
    let SketchFile { sketch, format, bytes, .. } = file;
    let format = if *format == FileFormat::Dpsketch { json!(dpsketch::FORMAT_VERSION) } else { json!(format.as_str()) };
    let mut facts = json!({ "file": name, "bytes": bytes, "format": format });
    if let (Some(facts), Value::Object(more)) = (facts.as_object_mut(), Description::of(sketch).to_json()) {
        facts.extend(more);
    }
    facts
}

/// A table of groups, as its metadata describe it.
fn table_facts(name: &str, table: &GroupTable) -> Value {
    let (container, study) = (&table.container, table.container.study());
    let dpsketch::StudyShape::Sfm(shape) = study.shape() else { return Value::Null };
    json!({
        "file": name,
        "kind": study.shape().kind(),
        "state": "private",
        "groups": table.groups(),
        "column": container.column(),
        "listed": container.is_listed(),
        "buckets": shape.buckets(),
        "levels": shape.levels(),
        "hash": study.hash().algorithm().to_string(),
        "key": study.hash().key().to_string(),
        "epsilon": study.epsilon().get(),
        "unit": study.unit().to_string(),
        "release": container.release().to_string(),
    })
}

/// A line for each fact; the list of releases is cut short.
fn text(facts: &Value) -> String {
    const SHOWN: usize = 8;
    let Some(facts) = facts.as_object() else { return String::new() };
    let mut lines = Vec::new();
    for (name, value) in facts {
        match value {
            Value::Array(statements) if name == "epsilon_at_delta" => {
                lines.extend(statements.iter().map(|statement| ("statement", at_delta(statement))));
            }
            Value::Array(classes) if name == "classes" => {
                lines.extend(classes.iter().map(|class| ("noise level", of_class(class))));
            }
            Value::Array(values) if name != "releases" => lines.push((name.as_str(), listed(values))),
            Value::Array(releases) => {
                // Those of a stack of prefixes are listed level by level.
                let releases: Vec<&Value> = releases.iter().flat_map(of_level).collect();
                for release in releases.iter().take(SHOWN) {
                    lines.push(("release", released(release)));
                }
                if releases.len() > SHOWN {
                    lines.push(("release", format!("and {} more", releases.len() - SHOWN)));
                }
            }
            Value::Null => {}
            other => lines.push((name.as_str(), plain(other))),
        }
    }
    pairs(&lines)
}

/// A list of numbers or words in a line.
fn listed(values: &[Value]) -> String {
    values.iter().map(plain).collect::<Vec<_>>().join(", ")
}

fn of_level(value: &Value) -> Vec<&Value> {
    value.as_array().map_or_else(|| vec![value], |releases| releases.iter().collect())
}

/// A release in a line: its name, and what it cost.
fn released(release: &Value) -> String {
    let [id, epsilon, rho] = ["id", "epsilon", "rho"].map(|field| plain(&release[field]));
    match (release["epsilon"].is_number(), release["rho"].is_number()) {
        (true, _) => format!("{id}, epsilon {epsilon}"),
        (_, true) => format!("{id}, rho {rho}"),
        _ => id,
    }
}

/// A class of a tally in a line.
fn of_class(class: &Value) -> String {
    let releases = counted(class["sketches"].as_u64().unwrap_or(0), "release");
    let [p, q] = ["p", "q"].map(|field| class[field].as_f64().unwrap_or(f64::NAN));
    format!("{releases}, a one stays one with probability {p:.4}, a zero becomes one with probability {q:.4}")
}

/// What a total of rho means in epsilon and delta.
fn at_delta(statement: &Value) -> String {
    let [epsilon, delta] = ["epsilon", "delta"].map(|field| statement[field].as_f64().unwrap_or(f64::NAN));
    format!("all releases together are epsilon {epsilon:.4} at delta {delta:e}")
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
