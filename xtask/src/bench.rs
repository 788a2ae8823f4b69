//! `bench`: criterion benchmarks and their table in the docs.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::args::Args;
use crate::failure::Failure;
use crate::process;
use crate::workspace::Workspace;

pub(crate) const USAGE: &str = "\
Usage: cargo xtask bench [--no-run] [FILTER]

Runs the benchmarks under benches/ (those whose name contains FILTER) and writes a table of every result, with machine
and commit, into docs/src/benchmarks.md between the lines <!-- bench:begin --> and <!-- bench:end -->; without such a
page it prints the table.

Options:
  --no-run  only write the table of earlier results
";

const BEGIN: &str = "<!-- bench:begin -->";
const END: &str = "<!-- bench:end -->";

/// One measured benchmark.
struct Row {
    name: String,
    nanoseconds: f64,
    throughput: Option<(f64, &'static str)>,
}

pub(crate) fn run(mut args: Args) -> Result<(), Failure> {
    let only_table = args.flag("--no-run");
    let filters = args.operands()?;
    if !only_table {
        let mut command = process::cargo(["bench", "--quiet", "--package", "dpsketch-benches", "--benches", "--"]);
        process::run(command.args(&filters))?;
    }
    let table = table(&Workspace::load()?.target_directory.join("criterion"))?;
    let page = process::root().join("docs/src/benchmarks.md");
    let old = std::fs::read_to_string(&page).unwrap_or_default();
    match (old.split_once(BEGIN), old.split_once(END)) {
        (Some((head, _)), Some((_, tail))) => process::write(&page, &format!("{head}{BEGIN}\n{table}{END}{tail}")),
        _ => process::say(&table),
    }
}

fn table(folder: &Path) -> Result<String, Failure> {
    let mut rows = Vec::new();
    for estimates in results(folder) {
        rows.extend(row(&estimates)?);
    }
    rows.sort_by(|left, right| left.name.cmp(&right.name));
    if rows.is_empty() {
        return Err(Failure::Failed("there are no results: run `cargo xtask bench` without --no-run".to_owned()));
    }
    let mut lines = vec![format!("Measured on {} at commit {}.\n", machine(), commit())];
    lines.push("| benchmark | time | throughput |\n|---|---:|---:|".to_owned());
    lines.extend(rows.iter().map(|row| {
        let throughput = row.throughput.map_or(String::new(), |(rate, unit)| scaled_rate(rate, unit));
        format!("| {} | {} | {throughput} |", row.name, scaled_time(row.nanoseconds))
    }));
    Ok(lines.join("\n") + "\n")
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

fn row(folder: &Path) -> Result<Option<Row>, Failure> {
    let json = |name: &str| -> Result<Value, Failure> {
        let text = process::read(&folder.join(name))?;
        serde_json::from_str(&text).map_err(|error| Failure::Failed(format!("{}: {error}", folder.display())))
    };
    let (benchmark, estimates) = (json("benchmark.json")?, json("estimates.json")?);
    let (Some(name), Some(nanoseconds)) =
        (benchmark["full_id"].as_str(), estimates["median"]["point_estimate"].as_f64())
    else {
        return Ok(None);
    };
    let units = [("Elements", "elements/s"), ("Bytes", "B/s")];
    let throughput = units.iter().find_map(|(key, unit)| {
        let amount = benchmark["throughput"][key].as_f64()?;
        Some((amount / nanoseconds * 1e9, *unit))
    });
    Ok(Some(Row { name: name.to_owned(), nanoseconds, throughput }))
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

fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let model = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        line.split_once(": ").map(|(_, model)| model.trim().to_owned())
    });
    let model = model.unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    format!("{model}, {cores} cores, {}", std::env::consts::OS)
}

fn commit() -> String {
    let mut git = Command::new("git");
    let text = process::output(git.args(["rev-parse", "--short", "HEAD"]).current_dir(process::root()));
    text.map_or_else(|_| "unknown".to_owned(), |text| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_rates_get_the_unit_that_fits() {
        assert_eq!(scaled_time(12.5), "12.50 ns");
        assert_eq!(scaled_time(2_500_000.0), "2.50 ms");
        assert_eq!(scaled_rate(1.5e9, "B/s"), "1.5 GB/s");
        assert_eq!(scaled_rate(12.0, "elements/s"), "12.0 elements/s");
    }
}
