//! `release`: a raw sketch to a private one.

use std::path::PathBuf;

use clap::Args;
use dpsketch::dp_noise::Epsilon;
use dpsketch::{AnySketch, Error, ErrorKind, parse_epsilon, release_raw_file};

use super::written::{report_written, warn_about_epsilon};
use crate::console::Console;
use crate::input::STDIN;
use crate::io::{Destination, path};

#[derive(Debug, Args)]
pub(crate) struct ReleaseArgs {
    /// The raw sketch, NAME.raw.dps. It counts its releases, so the file and its folder must be writable.
    #[arg(value_name = "RAW", value_parser = path)]
    raw: PathBuf,
    /// The privacy loss of this release: smaller is more private.
    #[arg(long, value_name = "E", value_parser = parse_epsilon, allow_hyphen_values = true)]
    epsilon: Epsilon,
    /// Release although the file was released before. Its people pay both epsilons.
    #[arg(long)]
    again: bool,
    /// Where to write the private sketch: NAME.dps, or - for standard output.
    #[arg(long, short, value_name = "FILE", value_parser = path)]
    out: PathBuf,
}

pub(crate) fn run(args: &ReleaseArgs, console: Console) -> Result<(), Error> {
    if args.raw.as_os_str() == STDIN {
        return Err(Error::new(ErrorKind::Parameter, "standard input cannot count its releases")
            .argument("RAW")
            .value(STDIN)
            .allowed("a raw sketch in a file")
            .hint("to release without a raw file, use `dpsketch build --epsilon`"));
    }
    warn_about_epsilon(Some(args.epsilon), console);
    let destination = Destination::open(&args.out, false)?;
    let sketch = AnySketch::from(release_raw_file(&args.raw, args.epsilon, args.again)?);
    let free = destination.write(&sketch).map_err(|error| {
        error.hint(format!(
            "the release was counted: after freeing space, run it with --again; {} is unharmed",
            args.raw.display()
        ))
    })?;
    report_written(&args.out, &sketch, free, console)
}
