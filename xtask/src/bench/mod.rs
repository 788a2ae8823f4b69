//! `bench`: benchmarks, comparisons with peers, and their tables in the docs.

mod criterion;
mod ingest;
mod m4ri;

use std::path::PathBuf;
use std::process::Command;

use crate::args::Args;
use crate::failure::Failure;
use crate::process;
use crate::workspace::Workspace;

pub(crate) const USAGE: &str = "\
Usage: cargo xtask bench [--quick] [FILTER]
       cargo xtask bench --peers [--quick]
       cargo xtask bench --ingest [--quick]

Without FILTER: runs the benchmarks under benches/ (some minutes, building included) and writes the median time and
throughput of each, with machine and commit, into docs/src/bench-table.md. With FILTER: runs those whose name contains
it and prints their table.

Options:
  --peers   other libraries beside ours, as ratios, into docs/src/peers-table.md (benches/peers, a package of its own);
            M4RI among them where it is there, see `cargo xtask setup --help`
  --ingest  `dpsketch build` beside DuckDB and polars on ten million rows, into docs/src/ingest-table.md; needs python3,
            installs both from PyPI into the target folder
  --quick   short, rough runs that print their table and write none
";

pub(crate) fn run(mut args: Args) -> Result<(), Failure> {
    let quick = args.flag("--quick");
    match (args.flag("--peers"), args.flag("--ingest")) {
        (true, true) => Err(Failure::Usage("--peers and --ingest are two runs".to_owned())),
        (true, false) => {
            args.finish()?;
            peers(quick)
        }
        (false, true) => {
            args.finish()?;
            ingest::run(quick)
        }
        (false, false) => {
            let filters = args.operands()?;
            let table = criterion::run(&filters, quick)?;
            show_or_write(quick || !filters.is_empty(), "bench-table.md", &table)
        }
    }
}

/// Runs the package outside the workspace, which prints its table.
fn peers(quick: bool) -> Result<(), Failure> {
    let folder = Workspace::load()?.target_directory.join("peers");
    let mut command = process::cargo(["run", "--release", "--manifest-path", "benches/peers/Cargo.toml"]);
    command.arg("--target-dir").arg(&folder).arg("--");
    if let Some(program) = m4ri::program(&folder) {
        command.arg("--m4ri").arg(program);
    }
    if quick {
        command.args(["--rounds", "3"]);
    }
    let table = process::output(&mut command)?;
    show_or_write(quick, "peers-table.md", &format!("{}\n{table}", provenance()))
}

fn show_or_write(only_show: bool, name: &str, table: &str) -> Result<(), Failure> {
    if only_show { process::say(table.trim_end()) } else { process::write(&page(name), table) }
}

/// A generated page of the docs.
fn page(name: &str) -> PathBuf {
    process::root().join("docs/src").join(name)
}

/// Where the numbers of a table come from.
fn provenance() -> String {
    format!("Measured on {} at commit {}.\n", machine(), commit())
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

/// The short name of the commit, with a note when files differ from it.
fn commit() -> String {
    let mut git = Command::new("git");
    git.args(["describe", "--always", "--exclude", "*", "--dirty= with changes"]).current_dir(process::root());
    process::output(&mut git).map_or_else(|_| "unknown".to_owned(), |text| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_with(text: &str) -> Result<(), Failure> {
        run(Args::new(text.split_whitespace().map(str::to_owned)))
    }

    #[test]
    fn the_two_comparisons_are_run_apart() {
        assert!(matches!(run_with("--peers --ingest"), Err(Failure::Usage(_))));
    }

    #[test]
    fn comparisons_take_no_filter() {
        assert!(matches!(run_with("--peers merge"), Err(Failure::Usage(_))));
        assert!(matches!(run_with("--ingest merge"), Err(Failure::Usage(_))));
    }
}
