//! The workspace driver: `cargo xtask <command>`.
//!
//! The same commands run on a desk and in continuous integration. The driver itself uses only `serde_json`, so that it
//! compiles in seconds; what needs the product's code is computed by `sketch-sim`, which it starts.
//!
//! Exit codes: 0 when all went well, 1 when a check failed, 2 when the command line was wrong.

mod args;
mod audit;
mod audit_privacy;
mod bench;
mod bytes;
mod ci;
mod docs;
mod failure;
mod features;
mod layers;
mod process;
mod release_check;
mod setup;
mod sim;
mod steps;
mod test;
mod workspace;

use std::process::ExitCode;

use args::Args;
use failure::Failure;

/// One command of the driver.
struct Command {
    name: &'static str,
    summary: &'static str,
    usage: &'static str,
    run: fn(Args) -> Result<(), Failure>,
}

const COMMANDS: &[Command] = &[
    Command { name: "ci", summary: "every check, in order, with a summary", usage: ci::USAGE, run: ci::run },
    Command { name: "test", summary: "tests and doctests", usage: test::USAGE, run: test::run },
    Command {
        name: "layers",
        summary: "layer and owner rules; writes the layer diagram",
        usage: layers::USAGE,
        run: layers::run,
    },
    Command {
        name: "golden",
        summary: "golden cases against the product",
        usage: sim::GOLDEN_USAGE,
        run: sim::run_golden,
    },
    Command {
        name: "simulate",
        summary: "repeat build, release, merge and estimate",
        usage: sim::SIMULATE_USAGE,
        run: sim::run_simulate,
    },
    Command {
        name: "accuracy",
        summary: "measured against predicted errors, as a table for the docs",
        usage: sim::ACCURACY_USAGE,
        run: sim::run_accuracy,
    },
    Command {
        name: "figures",
        summary: "error curves for the docs, each checked against theory",
        usage: sim::FIGURES_USAGE,
        run: sim::run_figures,
    },
    Command {
        name: "audit-privacy",
        summary: "guarantees by enumeration and by two samples",
        usage: audit_privacy::USAGE,
        run: audit_privacy::run,
    },
    Command {
        name: "bench",
        summary: "benchmarks; writes their table into the docs",
        usage: bench::USAGE,
        run: bench::run,
    },
    Command { name: "docs", summary: "book, API pages and link check", usage: docs::USAGE, run: docs::run },
    Command { name: "setup", summary: "installs the tools that checks use", usage: setup::USAGE, run: setup::run },
    Command {
        name: "audit",
        summary: "licences, sources, spelling, feature combinations",
        usage: audit::USAGE,
        run: audit::run,
    },
    Command {
        name: "release-check",
        summary: "changelogs, versions and publish order",
        usage: release_check::USAGE,
        run: release_check::run,
    },
];

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let outcome = match arguments.next().as_deref() {
        None | Some("help" | "--help" | "-h") => help(arguments.next().as_deref()),
        Some(name) => dispatch(name, Args::new(arguments)),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // A program that did the work has said itself what went wrong.
            if !matches!(failure, Failure::Child(_)) {
                eprintln!("xtask: {failure}");
            }
            failure.exit_code()
        }
    }
}

fn dispatch(name: &str, args: Args) -> Result<(), Failure> {
    let command = find(name)?;
    if args.asks_for_help() {
        return help(Some(name));
    }
    (command.run)(args)
}

fn find(name: &str) -> Result<&'static Command, Failure> {
    COMMANDS.iter().find(|command| command.name == name).ok_or_else(|| {
        let known: Vec<&str> = COMMANDS.iter().map(|command| command.name).collect();
        Failure::Usage(format!("unknown command `{name}`; known: {}", known.join(", ")))
    })
}

fn help(topic: Option<&str>) -> Result<(), Failure> {
    if let Some(name) = topic {
        return process::say(find(name)?.usage.trim_end());
    }
    let mut lines = vec!["Usage: cargo xtask <command> [options]\n\nCommands:".to_owned()];
    lines.extend(COMMANDS.iter().map(|command| format!("  {:<14} {}", command.name, command.summary)));
    lines.push(
        "\n`cargo xtask <command> --help` tells its options. Exit codes: 0 well, 1 a check failed, 2 wrong usage."
            .to_owned(),
    );
    process::say(&lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_command_is_a_usage_error() {
        let failure = dispatch("no-such-command", Args::new(std::iter::empty())).expect_err("it does not exist");
        assert!(matches!(failure, Failure::Usage(_)));
    }

    #[test]
    fn every_usage_text_starts_with_its_own_command() {
        for command in COMMANDS {
            let start = format!("Usage: cargo xtask {}", command.name);
            assert!(command.usage.starts_with(&start), "{} has the usage of another command", command.name);
        }
    }

    #[test]
    fn an_unknown_option_is_a_usage_error_in_every_command_of_the_driver() {
        for command in
            COMMANDS.iter().filter(|command| !["golden", "simulate", "accuracy", "figures"].contains(&command.name))
        {
            let outcome = (command.run)(Args::new(["--no-such-option".to_owned()].into_iter()));
            assert!(matches!(outcome, Err(Failure::Usage(_))), "{} takes any option", command.name);
        }
    }
}
