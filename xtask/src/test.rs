//! `test`: tests by nextest if it is installed, else by cargo; doctests by cargo.

use std::path::Path;
use std::process::Command;

use crate::args::Args;
use crate::failure::Failure;
use crate::process;
use crate::setup;
use crate::steps::Steps;
use crate::workspace::Workspace;

pub(crate) const USAGE: &str = "\
Usage: cargo xtask test [--all]

Tests and doctests of the whole workspace with all features.

Options:
  --all  also the slow tests that are ignored by default (statistics over many runs)
";

/// What a run of tests builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Features {
    /// The whole workspace with every feature.
    All,
    /// The whole workspace with default features, what is shipped included. Naming fewer packages here would give outside
    /// packages other features than in the run before, and have all of them compiled anew.
    Default,
    /// Each library that has a default feature, without it.
    None,
}

/// Which tests run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Those inside `src/`.
    Unit,
    /// Unit and integration tests.
    Usual,
    /// The ignored, slow ones too.
    Slow,
}

pub(crate) fn run(mut args: Args) -> Result<(), Failure> {
    let extent = if args.flag("--all") { Extent::Slow } else { Extent::Usual };
    args.finish()?;
    let mut steps = Steps::new(false);
    steps.run("tests", || tests(Features::All, extent));
    steps.run("doctests", doctests);
    steps.finish()
}

/// Runs tests; an error when one fails.
pub(crate) fn tests(features: Features, extent: Extent) -> Result<(), Failure> {
    for selection in selections(features)? {
        let (mut command, behind) = runner(extent);
        process::run(command.args(selection).args(behind))?;
    }
    Ok(())
}

/// The command of the test runner that is there, and what comes behind the choice of packages and features.
fn runner(extent: Extent) -> (Command, &'static [&'static str]) {
    setup::find("cargo-nextest").map_or_else(|| plain(extent), |program| (nextest(&program, extent), &[]))
}

fn nextest(program: &Path, extent: Extent) -> Command {
    let mut command = Command::new(program);
    command.args(["nextest", "run", "--no-tests", "pass", "--status-level", "fail", "--no-fail-fast"]);
    match extent {
        Extent::Unit => command.args(["--lib", "--bins"]),
        Extent::Usual => &mut command,
        Extent::Slow => command.args(["--run-ignored", "all"]),
    };
    command.current_dir(process::root());
    command
}

fn plain(extent: Extent) -> (Command, &'static [&'static str]) {
    let mut command = process::cargo(["test", "--quiet", "--no-fail-fast", "--lib", "--bins"]);
    if extent != Extent::Unit {
        command.args(["--tests", "--examples"]);
    }
    (command, if extent == Extent::Slow { &["--", "--include-ignored"] } else { &[] })
}

/// The package and feature options of each cargo call.
fn selections(features: Features) -> Result<Vec<Vec<String>>, Failure> {
    let words = |list: &[&str]| list.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    Ok(match features {
        Features::All => vec![words(&["--workspace", "--all-features"])],
        Features::Default => vec![words(&["--workspace"])],
        Features::None => without_defaults(&Workspace::load()?),
    })
}

/// Options for the libraries without their default features: those that build without `std` together, since no other
/// crate is there to turn it on again, then the rest.
pub(crate) fn without_defaults(workspace: &Workspace) -> Vec<Vec<String>> {
    let with_default = |package: &&crate::workspace::Package| {
        workspace.default_members.contains(&package.name) && package.has_feature("default")
    };
    let (bare, hosted): (Vec<_>, Vec<_>) =
        workspace.packages.iter().filter(with_default).partition(|package| package.has_feature("std"));
    [bare, hosted]
        .into_iter()
        .filter(|group| !group.is_empty())
        .map(|group| {
            let names = group.into_iter().flat_map(|package| ["--package".to_owned(), package.name.clone()]);
            std::iter::once("--no-default-features".to_owned()).chain(names).collect()
        })
        .collect()
}

/// Runs the examples in the documentation.
pub(crate) fn doctests() -> Result<(), Failure> {
    process::run(&mut process::cargo(["test", "--quiet", "--doc", "--workspace", "--all-features"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_that_build_without_std_are_tested_apart_from_those_that_turn_it_on() {
        let workspace = Workspace::load().expect("cargo metadata runs");
        let groups = without_defaults(&workspace);
        assert_eq!(groups.len(), 2);
        assert!(groups[0].iter().any(|word| word == "sketch-wire") && !groups[0].iter().any(|word| word == "sfm-pcsa"));
        assert!(groups[1].iter().any(|word| word == "sfm-pcsa"));
    }
}
