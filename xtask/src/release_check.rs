//! `release-check`: what can be told before a release without a registry.

use std::path::Path;

use crate::args::Args;
use crate::failure::Failure;
use crate::process;
use crate::workspace::{Kind, Package, Workspace};

pub(crate) const USAGE: &str = "\
Usage: cargo xtask release-check

For every published crate: its changelog has an entry for its version and its README exists. Then prints the order in
which the crates are to be published.
";

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    args.finish()?;
    let workspace = Workspace::load()?;
    let problems: Vec<String> =
        workspace.packages.iter().filter(|package| package.published).flat_map(problems).collect();
    for problem in &problems {
        eprintln!("{problem}");
    }
    if !problems.is_empty() {
        return Err(Failure::Failed(format!("{} problems before a release", problems.len())));
    }
    process::say(&format!("publish in this order: {}", publish_order(&workspace).join(", ")))
}

fn problems(package: &Package) -> Vec<String> {
    let mut found = Vec::new();
    if !has_entry(&package.folder.join("CHANGELOG.md"), &package.version) {
        found.push(format!("{}: CHANGELOG.md has no heading for {}", package.name, package.version));
    }
    if !package.folder.join("README.md").exists() {
        found.push(format!("{}: README.md is missing", package.name));
    }
    found
}

fn has_entry(changelog: &Path, version: &str) -> bool {
    let Ok(text) = std::fs::read_to_string(changelog) else { return false };
    text.lines().any(|line| line.starts_with("## ") && line.contains(version))
}

/// Published crates, each behind the ones it depends on.
fn publish_order(workspace: &Workspace) -> Vec<&str> {
    let mut order: Vec<&str> = Vec::new();
    let mut waiting: Vec<&Package> = workspace.packages.iter().filter(|package| package.published).collect();
    while !waiting.is_empty() {
        let (ready, blocked): (Vec<&Package>, Vec<&Package>) = waiting.iter().partition(|package| {
            let needed = package.dependencies.iter().filter(|one| one.inside && one.kind != Kind::Dev);
            needed.into_iter().all(|one| order.contains(&one.name.as_str()))
        });
        if ready.is_empty() {
            break;
        }
        order.extend(ready.iter().map(|package| package.name.as_str()));
        waiting = blocked;
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_is_published_behind_its_dependencies() {
        let workspace = Workspace::load().expect("cargo metadata runs");
        let order = publish_order(&workspace);
        let place = |name: &str| order.iter().position(|published| *published == name).expect("it is published");
        assert!(place("sketch-hash") < place("sfm-pcsa"));
        assert!(place("sfm-pcsa") < place("dpsketch"));
        assert!(place("dpsketch") < place("dpsketch-cli"));
    }
}
