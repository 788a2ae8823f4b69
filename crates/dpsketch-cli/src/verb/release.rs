//! `release`: a raw sketch to a private one.

use std::path::PathBuf;

use clap::Args;
use dpsketch::dp_noise::Epsilon;
use dpsketch::f0_sketch::ModeKind;
use dpsketch::sfm_pcsa::Leaf;
use dpsketch::{
    AnyF0Sketch, AnySketch, AnySubsampled, Error, ErrorKind, FrequencySketch, PricedRelease, RawCountSketch,
    RawPrefixStack, RawSubsampled, countsketch_dp, parse_epsilon, release_frequency_file_paid,
    release_prefix_file_paid, release_raw_file_paid, release_subsampled_file_paid,
};

use super::booking::LedgerArgs;
use super::build::release_id;
use super::frequency_args::{LevelArgs, refuse_for, required_epsilon};
use super::written::{report_written, tell_noise, tell_sample, warn_about_epsilon, warn_about_level};
use crate::console::Console;
use crate::input::STDIN;
use crate::io::{Destination, read};
use crate::paths::{check_out, is_std, paths};

#[derive(Debug, Args)]
pub(crate) struct ReleaseArgs {
    /// The raw sketch, NAME.raw.dps. It counts its releases, so the file and its folder must be writable.
    #[arg(value_name = "RAW", value_parser = paths())]
    raw: PathBuf,
    /// The privacy loss of this release: smaller is more private. Frequencies need --delta or --pure beside it, or --rho
    /// instead.
    #[arg(long, value_name = "E", value_parser = parse_epsilon, allow_hyphen_values = true)]
    epsilon: Option<Epsilon>,
    #[command(flatten)]
    level: LevelArgs,
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
    match read(&args.raw) {
        Ok(AnySketch::Frequencies(FrequencySketch::Raw(raw))) => frequencies(args, &raw, console),
        Ok(AnySketch::Frequencies(FrequencySketch::RawPrefixes(raw))) => prefixes(args, &raw, console),
        Ok(AnySketch::Frequencies(_)) => Err(not_raw(args)),
        Ok(AnySketch::Subsampled(AnySubsampled::Raw(raw))) => {
            refuse_for("a secret sample", args.level.given()).and_then(|()| sample(args, &raw, console))
        }
        // What is wrong with any other file shows once it is locked.
        Ok(other) => refuse_for(other.kind(), args.level.given()).and_then(|()| distinct(args, console)),
        Err(_) => distinct(args, console),
    }
}

fn distinct(args: &ReleaseArgs, console: Console) -> Result<(), Error> {
    let epsilon = required_epsilon(args.epsilon)?;
    warn_about_epsilon(Some(epsilon), console);
    let mut books = args.booking.open(Some(epsilon), None, console)?;
    let destination = Destination::open(&args.out, false)?;
    // The ledger pays before the raw file counts: a spend that is refused leaves the count as it was.
    let released = release_raw_file_paid(&args.raw, epsilon, args.again, |unit| books.pay(epsilon, unit));
    let sketch = released.map_err(|error| books.explain(error, None))?;
    let release = match &sketch {
        AnySketch::F0(AnyF0Sketch::Private(private)) => private.leaves().first().map(release_id),
        bitmap => bitmap.leaves().first().map(Leaf::id),
    };
    let free = destination.write(&sketch).map_err(|error| books.explain(error, Some(counted(args))))?;
    books.finish(release)?;
    if args.again && matches!(&sketch, AnySketch::F0(f0) if f0.mode() == ModeKind::Presampled) {
        console
            .warn("this release shares the secret coins of the earlier ones: merges and formulas of both are refused");
    }
    report_written(&args.out, &sketch, free, console)
}

/// The noise of a larger epsilon on a secret sample.
fn sample(args: &ReleaseArgs, raw: &RawSubsampled, console: Console) -> Result<(), Error> {
    let epsilon = required_epsilon(args.epsilon)?;
    warn_about_epsilon(Some(epsilon), console);
    if args.again && raw.releases() > 0 {
        let loss = raw.loss_with(epsilon)?;
        console.warn(&format!(
            "all releases of this sample will cost epsilon {loss:.3} together, not the sum of theirs: they share one key"
        ));
    }
    let mut books = args.booking.open(Some(epsilon), Some(raw.unit()), console)?;
    let destination = Destination::open(&args.out, false)?;
    let released = release_subsampled_file_paid(&args.raw, epsilon, args.again, |planned| books.pay_sample(planned));
    let released = released.map_err(|error| books.explain(error, None))?;
    let release = released.releases().first().and_then(dpsketch::SampleRelease::id);
    tell_sample(&released, console);
    let sketch = AnySketch::from(released);
    let free = destination.write(&sketch).map_err(|error| books.explain(error, Some(counted(args))))?;
    books.finish(release)?;
    report_written(&args.out, &sketch, free, console)
}

/// Gaussian or Laplace noise on frequencies, at one of three levels.
fn frequencies(args: &ReleaseArgs, raw: &RawCountSketch, console: Console) -> Result<(), Error> {
    let (level, relation) = (args.level.required(args.epsilon)?, args.level.relation());
    warn_about_level(Some(level), console);
    let priced = level.price(raw.exposure(relation))?;
    let mut books = args.booking.open_frequencies(Some(&priced), console)?;
    let destination = Destination::open(&args.out, false)?;
    tell_noise(&priced, console);
    let pay = |priced: &PricedRelease| books.pay_frequencies(priced);
    let released = release_frequency_file_paid(&args.raw, level, relation, args.again, pay);
    let private = released.map_err(|error| books.explain(error, None))?;
    let release = private.leaves().first().map(countsketch_dp::Leaf::id);
    let sketch = AnySketch::from(private);
    let free = destination.write(&sketch).map_err(|error| books.explain(error, Some(counted(args))))?;
    books.finish_frequencies(release)?;
    report_written(&args.out, &sketch, free, console)
}

/// Gaussian noise on all levels of a stack of prefixes, which share one budget.
fn prefixes(args: &ReleaseArgs, raw: &RawPrefixStack, console: Console) -> Result<(), Error> {
    let (level, relation) = (args.level.required(args.epsilon)?, args.level.relation());
    warn_about_level(Some(level), console);
    let mut books = args.booking.open_rho(Some(level.stack_rho()?), raw.bound(), console)?;
    let destination = Destination::open(&args.out, false)?;
    let pay = |rho, bound| books.pay_rho(rho, bound);
    let released = release_prefix_file_paid(&args.raw, level, relation, args.again, pay);
    let private = released.map_err(|error| books.explain(error, None))?;
    let release = private.leaves(0).first().map(countsketch_dp::Leaf::id);
    let sketch = AnySketch::from(FrequencySketch::from(private));
    let free = destination.write(&sketch).map_err(|error| books.explain(error, Some(counted(args))))?;
    books.finish_frequencies(release)?;
    report_written(&args.out, &sketch, free, console)
}

/// What to do where the noise is drawn and the file could not be written.
fn counted(args: &ReleaseArgs) -> String {
    format!("the release was counted: after freeing space, run it with --again; {} is unharmed", args.raw.display())
}

fn not_raw(args: &ReleaseArgs) -> Error {
    let name = args.raw.display().to_string();
    Error::new(ErrorKind::Refused, format!("{name} is a private sketch: it was released already"))
        .argument("RAW")
        .value(name)
        .allowed("a raw sketch, NAME.raw.dps")
        .hint("use the file as it is")
}
