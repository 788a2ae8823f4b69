//! `merge`: several sketches to one.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use dpsketch::sfm_pcsa::MergeForm;
use dpsketch::{Error, merge};

use super::written::report_written;
use crate::console::Console;
use crate::io::{Destination, read_all};
use crate::paths::{check_out, paths};

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// Sketches to merge: all private or all raw, of one shape and one key; - for standard input.
    #[arg(value_name = "FILE", required = true, value_parser = paths())]
    files: Vec<PathBuf>,
    /// How the noise of private sketches is put together. Raw sketches have none.
    #[arg(long, value_enum, default_value = "extremal")]
    form: Form,
    /// Where to write the sketch of the union: NAME.dps, NAME.raw.dps for raw ones, or - for standard output.
    #[arg(long, short, value_name = "FILE", value_parser = paths())]
    out: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// The most accurate there is.
    Extremal,
    /// The published form, whose noise is symmetric again.
    Symmetric,
    /// Exclusive or, without coins; needs sketches that were released for it.
    Xor,
}

pub(crate) fn run(args: &MergeArgs, console: Console) -> Result<(), Error> {
    check_out(&args.out, args.files.iter().map(PathBuf::as_path))?;
    let sketches = read_all(&args.files, console)?;
    let form = match args.form {
        Form::Extremal => MergeForm::Extremal,
        Form::Symmetric => MergeForm::Symmetric,
        Form::Xor => MergeForm::Xor,
    };
    let merged = merge(&sketches, form).map_err(|error| error.argument_or("FILE"))?;
    let destination = Destination::open(&args.out, merged.is_raw())?;
    let free = destination.write(&merged)?;
    report_written(&args.out, &merged, free, console)
}
