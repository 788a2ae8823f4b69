//! `dpsketch build` beside DuckDB and polars, by the Python script in benches/peers/ingest.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::Failure;
use crate::process;
use crate::workspace::Workspace;

/// Builds what is compared, then hands over to the script, which makes its files once.
pub(crate) fn run(quick: bool) -> Result<(), Failure> {
    let scripts = process::root().join("benches/peers/ingest");
    let target = Workspace::load()?.target_directory;
    let python = environment(&target.join("ingest/venv"), &scripts.join("requirements.txt"))?;
    process::run(&mut process::cargo(["build", "--quiet", "--release", "--package", "dpsketch-cli"]))?;
    let mut script = Command::new(python);
    script.arg("-B").arg(scripts.join("ingest.py"));
    script.arg("--dpsketch").arg(target.join("release/dpsketch")).arg("--cache").arg(target.join("ingest"));
    script.arg("--provenance").arg(super::provenance().trim_end());
    if quick {
        script.args(["--rows", "200000", "--distinct", "20000", "--rounds", "1"]);
    } else {
        script.arg("--out").arg(super::page("ingest-table.md"));
    }
    process::run(&mut script)
}

/// The interpreter of a virtual environment with the packages of `requirements`.
fn environment(folder: &Path, requirements: &Path) -> Result<PathBuf, Failure> {
    let python = folder.join("bin/python");
    if !python.exists() {
        process::run(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
    }
    let mut pip = Command::new(&python);
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--only-binary",
        ":all:",
        "--requirement",
    ]);
    process::run(pip.arg(requirements))?;
    Ok(python)
}
