//! Criterion's benchmarks and the table of their results.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::Value;

use crate::failure::Failure;
use crate::process;
use crate::workspace::Workspace;

/// One measured benchmark.
struct Row {
    name: String,
    nanoseconds: f64,
    throughput: Option<(f64, &'static str)>,
}

/// Runs the benchmarks whose names contain a filter, or all, and returns the table of what was run.
pub(crate) fn run(filters: &[String], quick: bool) -> Result<String, Failure> {
    let begin = SystemTime::now();
    let mut command =
        process::cargo(["bench", "--quiet", "--package", "dpsketch-benches", "--benches", "--", "--quiet"]);
    if quick {
        command.args(["--warm-up-time", "0.05", "--measurement-time", "0.1", "--sample-size", "10"]);
    }
    process::run(command.args(filters))?;
    table(&Workspace::load()?.target_directory.join("criterion"), begin)
}

/// The results below `folder` that are not older than `begin`.
fn table(folder: &Path, begin: SystemTime) -> Result<String, Failure> {
    let mut rows = Vec::new();
    for result in results(folder).into_iter().filter(|result| is_new(result, begin)) {
        rows.extend(row(&result)?);
    }
    rows.sort_by(|left, right| left.name.cmp(&right.name));
    if rows.is_empty() {
        return Err(Failure::Failed("no benchmark was run".to_owned()));
    }
    Ok(format!("{}\n{}", super::provenance(), markdown(&rows)))
}

fn markdown(rows: &[Row]) -> String {
    let lines = rows.iter().map(|row| {
        let throughput = row.throughput.map_or(String::new(), |(rate, unit)| scaled_rate(rate, unit));
        format!("| {} | {} | {throughput} |\n", row.name, scaled_time(row.nanoseconds))
    });
    format!("| benchmark | median time | throughput |\n|---|---:|---:|\n{}", lines.collect::<String>())
}

/// Every `new` folder below, where criterion keeps its latest result.
fn results(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut found = Vec::new();
    for path in entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()) {
        if path.ends_with("new") {
            found.push(path);
        } else {
            found.extend(results(&path));
        }
    }
    found
}

/// Whether a result is of this run; those of earlier ones lie in the same folder.
fn is_new(result: &Path, begin: SystemTime) -> bool {
    let written = std::fs::metadata(result.join("estimates.json")).and_then(|file| file.modified());
    written.is_ok_and(|time| time >= begin)
}

fn row(folder: &Path) -> Result<Option<Row>, Failure> {
    let json = |name: &str| -> Result<Value, Failure> {
        let text = process::read(&folder.join(name))?;
        serde_json::from_str(&text).map_err(|error| Failure::Failed(format!("{}: {error}", folder.display())))
    };
    Ok(parse(&json("benchmark.json")?, &json("estimates.json")?))
}

fn parse(benchmark: &Value, estimates: &Value) -> Option<Row> {
    let name = benchmark["full_id"].as_str()?.to_owned();
    let nanoseconds = estimates["median"]["point_estimate"].as_f64()?;
    let units = [("Elements", "elements/s"), ("Bytes", "B/s")];
    let throughput = units.iter().find_map(|(key, unit)| {
        let amount = benchmark["throughput"][key].as_f64()?;
        Some((amount / nanoseconds * 1e9, *unit))
    });
    Some(Row { name, nanoseconds, throughput })
}

fn scaled_time(nanoseconds: f64) -> String {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs")];
    let (scale, unit) = units.into_iter().find(|(scale, _)| nanoseconds >= *scale).unwrap_or((1.0, "ns"));
    format!("{:.2} {unit}", nanoseconds / scale)
}

fn scaled_rate(rate: f64, unit: &str) -> String {
    let prefixes = [(1e9, "G"), (1e6, "M"), (1e3, "k")];
    let (scale, prefix) = prefixes.into_iter().find(|(scale, _)| rate >= *scale).unwrap_or((1.0, ""));
    format!("{:.1} {prefix}{unit}", rate / scale)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn times_and_rates_get_the_unit_that_fits() {
        assert_eq!(scaled_time(12.5), "12.50 ns");
        assert_eq!(scaled_time(2_500_000.0), "2.50 ms");
        assert_eq!(scaled_rate(1.5e9, "B/s"), "1.5 GB/s");
        assert_eq!(scaled_rate(12.0, "elements/s"), "12.0 elements/s");
    }

    #[test]
    fn a_result_is_its_name_its_median_and_its_throughput() {
        let benchmark = json!({ "full_id": "sfm/merge/two", "throughput": { "Elements": 1000 } });
        let row = parse(&benchmark, &json!({ "median": { "point_estimate": 2000.0 } })).expect("both are there");
        assert!(markdown(&[row]).ends_with("| sfm/merge/two | 2.00 µs | 500.0 Melements/s |\n"));
    }
}
