//! `man`: the manual page.

use clap::{Args, Command};
use clap_mangen::Man;
use dpsketch::{Error, ErrorKind};

use crate::console::write_out;
use crate::run::command;

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The verb to describe; the whole program if left out.
    #[arg(value_name = "VERB")]
    verb: Option<String>,
}

pub(crate) fn run(args: &ManArgs) -> Result<(), Error> {
    let mut program = command();
    program.build();
    let page = match &args.verb {
        None => program,
        Some(verb) => page_of(&program, verb)?,
    };
    let mut roff = Vec::new();
    Man::new(page).render(&mut roff).map_err(|error| Error::writing("the manual page", error))?;
    write_out(&roff)
}

fn page_of(program: &Command, verb: &str) -> Result<Command, Error> {
    let verbs: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
    program.find_subcommand(verb).cloned().ok_or_else(|| {
        Error::new(ErrorKind::Parameter, format!("there is no verb {verb:?}"))
            .argument("VERB")
            .value(verb)
            .allowed(verbs.join(", "))
    })
}
