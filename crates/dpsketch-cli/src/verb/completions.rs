//! `completions`: for a shell.

use clap::Args;
use clap_complete::Shell;
use dpsketch::Error;

use crate::console::write_out;
use crate::run::command;

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs) -> Result<(), Error> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command(), "dpsketch", &mut script);
    write_out(&script)
}
