//! The binary `dpsketch`; all of it is in the library beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    dpsketch_cli::run(std::env::args_os())
}
