use std::ffi::OsString;
use std::io;
use std::panic;
use std::process::ExitCode;
use std::sync::Once;

use clap::{CommandFactory, FromArgMatches};
use dpsketch::{Error, ErrorKind};

use crate::cli::{Cli, Verb};
use crate::console::Console;
use crate::failure::{from_clap, is_display, wants_json};
use crate::input::is_guarded;
use crate::verb;

/// The command line's definition, for completions, manuals and documentation.
///
/// # Examples
/// ```
/// assert!(dpsketch_cli::command().find_subcommand("estimate").is_some());
/// ```
#[must_use]
pub fn command() -> clap::Command {
    Cli::command()
}

/// Runs the program with these arguments, of which the first is its own name.
///
/// Results go to standard output, everything else to standard error; the exit code is as `--help` lists.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    tell_bugs();
    let args: Vec<OsString> = args.into_iter().collect();
    let cli = match command().try_get_matches_from(&args).and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) if is_display(&error) => {
            // Help that nobody reads to the end is no failure.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { ErrorKind::Parameter.exit_code() } else { 0 });
        }
        Err(error) => {
            let error = from_clap(&error);
            Console::for_failed_parse(wants_json(&args)).fail(&error);
            return ExitCode::from(error.kind().exit_code());
        }
    };
    let console = Console::new(&cli.output);
    match dispatch(&cli.verb, console) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever closed the pipe has seen enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            console.fail(&error);
            ExitCode::from(error.kind().exit_code())
        }
    }
}

fn dispatch(verb: &Verb, console: Console) -> Result<(), Error> {
    match verb {
        Verb::Plan(args) => verb::plan::run(args, console),
        Verb::Build(args) => verb::build::run(args, console),
        Verb::Release(args) => verb::release::run(args, console),
        Verb::Merge(args) => verb::merge::run(args, console),
        Verb::Estimate(args) => verb::estimate::run(args, console),
        Verb::Query(args) => verb::query::run(args, console),
        Verb::Topk(args) => verb::topk::run(args, console),
        Verb::Decode(args) => verb::decode::run(args, console),
        Verb::Inspect(args) => verb::inspect::run(args, console),
        Verb::Convert(args) => verb::convert::run(args, console),
        Verb::Verify(args) => verb::verify::run(args, console),
        Verb::Key(args) => verb::key::run(args, console),
        Verb::Study(args) => verb::study::run(args, console),
        Verb::Ledger(args) => verb::ledger::run(args, console),
        Verb::Demo(args) => verb::demo::run(args, console),
        Verb::Completions(args) => verb::completions::run(args),
        Verb::Man(args) => verb::man::run(args),
    }
}

/// A panic is a bug of ours, and said to be one, unless a decoder of a foreign format is known to panic over bad bytes.
fn tell_bugs() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if is_guarded() {
                return;
            }
            let _ = io::Write::write_all(&mut io::stderr(), b"this is a bug in dpsketch, please report it\n");
            usual(info);
        }));
    });
}
