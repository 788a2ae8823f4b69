//! `layers`: who may depend on whom, and the diagram of it.

mod diagram;
mod rules;
mod table;

use std::path::Path;

use crate::args::Args;
use crate::failure::Failure;
use crate::process;
use crate::workspace::Workspace;
use table::Table;

pub(crate) const USAGE: &str = "\
Usage: cargo xtask layers [--check]

Checks the dependencies of every member against [workspace.metadata.layers] in Cargo.toml, then writes the layer diagram
into README.md and docs/src/architecture.md, between the lines <!-- layers:begin --> and <!-- layers:end -->.

Rules: a crate depends only on strictly lower layers; an outside package is used only by its owners; packages for tests
stay out of [dependencies]; only dev-dependencies and sketch-sim turn on `hazmat`.

Options:
  --check  write nothing; fail when a diagram is stale
";

/// Files that show the diagram, if they have the markers.
const SHOWN_IN: &[&str] = &["README.md", "docs/src/architecture.md"];

pub(crate) fn run(mut args: Args) -> Result<(), Failure> {
    let check = args.flag("--check");
    args.finish()?;
    check_or_write(check)
}

/// The rules, then the diagram: compared when `check`, else written.
pub(crate) fn check_or_write(check: bool) -> Result<(), Failure> {
    let workspace = Workspace::load()?;
    let table = Table::parse(&workspace.layers)?;
    let violations = rules::violations(&workspace, &table);
    if !violations.is_empty() {
        for violation in &violations {
            eprintln!("{violation}");
        }
        return Err(Failure::Failed(format!("{} layer rules are broken", violations.len())));
    }
    let drawn = diagram::draw(&workspace, &table);
    for name in SHOWN_IN {
        refresh(&process::root().join(name), name, &drawn, check)?;
    }
    Ok(())
}

fn refresh(path: &Path, name: &str, drawn: &str, check: bool) -> Result<(), Failure> {
    if !path.exists() {
        return Ok(());
    }
    let old = process::read(path)?;
    match diagram::replace(&old, drawn) {
        Some(new) if new != old && check => {
            Err(Failure::Failed(format!("the layer diagram in {name} is stale: run `cargo xtask layers`")))
        }
        Some(new) if new != old => process::write(path, &new),
        _ => Ok(()),
    }
}
