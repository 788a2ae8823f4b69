//! `release`: a raw sketch to a private one.

use std::path::PathBuf;

use clap::Args;
use dpsketch::dp_noise::Epsilon;
use dpsketch::sfm_pcsa::Leaf;
use dpsketch::{Error, ErrorKind, parse_epsilon, release_raw_file_paid};

use super::booking::LedgerArgs;
use super::written::{report_written, warn_about_epsilon};
use crate::console::Console;
use crate::input::STDIN;
use crate::io::Destination;
use crate::paths::{check_out, is_std, paths};

#[derive(Debug, Args)]
pub(crate) struct ReleaseArgs {
    /// The raw sketch, NAME.raw.dps. It counts its releases, so the file and its folder must be writable.
    #[arg(value_name = "RAW", value_parser = paths())]
    raw: PathBuf,
    /// The privacy loss of this release: smaller is more private.
    #[arg(long, value_name = "E", value_parser = parse_epsilon, allow_hyphen_values = true)]
    epsilon: Epsilon,
    /// Release although the file was released before. Its people pay both epsilons.
    #[arg(long)]
    again: bool,
    #[command(flatten)]
    booking: LedgerArgs,
    /// Where to write the private sketch: NAME.dps, or - for standard output.
    #[arg(long, short, value_name = "FILE", value_parser = paths())]
    out: PathBuf,
}

pub(crate) fn run(args: &ReleaseArgs, console: Console) -> Result<(), Error> {
    if is_std(&args.raw) {
        return Err(Error::new(ErrorKind::Parameter, "standard input cannot count its releases")
            .argument("RAW")
            .value(STDIN)
            .allowed("a raw sketch in a file")
            .hint("to release without a raw file, use `dpsketch build --epsilon`"));
    }
    let ledger = args.booking.files();
    check_out(&args.out, [args.raw.as_path()].into_iter().chain(ledger.iter().map(PathBuf::as_path)))?;
    warn_about_epsilon(Some(args.epsilon), console);
    let mut books = args.booking.open(Some(args.epsilon), None, console)?;
    let destination = Destination::open(&args.out, false)?;
    // The ledger pays before the raw file counts: a spend that is refused leaves the count as it was.
    let released = release_raw_file_paid(&args.raw, args.epsilon, args.again, |unit| books.pay(args.epsilon, unit));
    let sketch = released.map_err(|error| books.explain(error, None))?;
    let release = sketch.leaves().first().map(Leaf::id);
    let free = destination.write(&sketch).map_err(|error| {
        let counted = format!(
            "the release was counted: after freeing space, run it with --again; {} is unharmed",
            args.raw.display()
        );
        books.explain(error, Some(counted))
    })?;
    books.finish(release)?;
    report_written(&args.out, &sketch, free, console)
}
