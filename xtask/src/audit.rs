//! `audit`: licences, sources and bans, spelling, feature combinations.

use std::path::Path;
use std::process::Command;

use crate::args::Args;
use crate::failure::Failure;
use crate::process;
use crate::setup;
use crate::steps::Steps;

pub(crate) const USAGE: &str = "\
Usage: cargo xtask audit [--strict] [--advisories]

Spelling by typos; licences, bans and sources by cargo-deny; every combination of features by cargo-hack. A tool that is
not installed skips its step: `cargo xtask setup cargo-deny cargo-hack` compiles the two slow ones.

Options:
  --strict      a missing tool fails its step
  --advisories  also known vulnerabilities, for which cargo-deny fetches its database
";

pub(crate) fn run(mut args: Args) -> Result<(), Failure> {
    let strict = args.flag("--strict");
    let advisories = args.flag("--advisories");
    args.finish()?;
    let mut steps = Steps::new(strict);
    steps.run_with("spelling", ("typos", setup::find("typos")), |typos| spelling(&typos));
    steps.run_with("licences, bans, sources", ("cargo-deny", setup::find("cargo-deny")), |deny| {
        let mut command = Command::new(deny);
        command.args(["--workspace", "check", "bans", "licenses", "sources"]);
        if advisories {
            command.arg("advisories");
        }
        process::run(command.current_dir(process::root()))
    });
    steps.run_with("feature combinations", ("cargo-hack", setup::find("cargo-hack")), |hack| {
        let words = ["hack", "check", "--quiet", "--workspace", "--feature-powerset", "--no-dev-deps"];
        process::run(Command::new(hack).args(words).current_dir(process::root()))
    });
    steps.finish()
}

/// Spelling of everything under version control, by `_typos.toml`.
pub(crate) fn spelling(typos: &Path) -> Result<(), Failure> {
    process::run(Command::new(typos).arg("--config").arg("_typos.toml").current_dir(process::root()))
}
