//! `--subsample-key` and `--subsample-rate`: sketches of a secret sample of the items.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use dpsketch::dp_noise::{SampleRate, Subsampler};
use dpsketch::{AnySketch, AnySubsampled, Error, ErrorKind, RawSubsampled, SampleBuilder, read_subsample_key_file};

use super::settings::Settings;
use super::{BuildArgs, tell_rows};
use crate::console::Console;
use crate::io::Destination;
use crate::paths::paths;
use crate::verb::written::{report_written, tell_sample};

#[derive(Debug, Args)]
#[command(next_help_heading = "Secret sample (--kind sfm and f0)")]
pub(super) struct SampleArgs {
    /// Sketch only the items that this secret key keeps, made by `dpsketch key new --subsample`: far less noise at the same
    /// epsilon, as long as nobody who sees the release ever gets the key. Whoever has it, also later, faces the larger epsilon that
    /// the release states. One key for several sketches of a person costs more than the sum of their epsilons; only such
    /// sketches can be merged.
    #[arg(long, value_name = "FILE", value_parser = paths(), requires = "subsample_rate")]
    pub(super) subsample_key: Option<PathBuf>,
    /// The share of the items to keep, below 1: choose it by the smallest count that matters and that anybody may know, never by the
    /// data. The chapter on sub-sampling tells which.
    #[arg(long, value_name = "GAMMA", value_parser = parse_rate, requires = "subsample_key", allow_hyphen_values = true)]
    pub(super) subsample_rate: Option<SampleRate>,
}

fn parse_rate(text: &str) -> Result<SampleRate, Error> {
    let refused = || {
        Error::new(ErrorKind::Parameter, "not a sampling rate")
            .argument("--subsample-rate")
            .value(text)
            .allowed("2^-32 to below 1, such as 0.05")
    };
    text.trim().parse().ok().and_then(|rate| SampleRate::new(rate).ok()).ok_or_else(refused)
}

impl SampleArgs {
    /// The flags, and whether they were given.
    pub(super) const fn given(&self) -> [(&'static str, bool); 2] {
        [("--subsample-key", self.subsample_key.is_some()), ("--subsample-rate", self.subsample_rate.is_some())]
    }

    /// The coins of the key at the rate, if a sample is asked for.
    pub(super) fn coins(&self, args: &BuildArgs) -> Result<Option<Arc<Subsampler>>, Error> {
        let (Some(file), Some(rate)) = (&self.subsample_key, self.subsample_rate) else { return Ok(None) };
        let others = [
            ("--study", args.study.is_some(), "a study does not state a sample"),
            ("--user", args.users.user.is_some(), "the items of users are not sampled"),
            ("--group-by", args.groups.group_by.is_some(), "groups are not sampled"),
        ];
        if let Some((argument, _, reason)) = others.into_iter().find(|(_, given, _)| *given) {
            return Err(Error::new(ErrorKind::Parameter, format!("--subsample-key goes without {argument}: {reason}"))
                .argument("--subsample-key")
                .value(file.display().to_string())
                .hint("leave one of the two out"));
        }
        Ok(Some(Arc::new(read_subsample_key_file(file)?.sampler(rate))))
    }
}

/// Distinct items of a sample.
pub(super) fn run(
    args: &BuildArgs,
    settings: &Settings,
    coins: &Arc<Subsampler>,
    console: Console,
) -> Result<(), Error> {
    let Settings { shape, hash, rules, .. } = settings;
    let destination = open(args, console)?;
    let empty = || Ok(SampleBuilder::new(*shape, hash.clone(), rules.clone(), coins.clone()));
    let builder = args.read(console, empty)?;
    tell_rows(builder.counts().rows, builder.counts().nulls, console);
    write(args, destination, builder.finish()?, console)
}

/// Finds out before any work whether the output can be written, and whether the ledger is one.
pub(super) fn open(args: &BuildArgs, console: Console) -> Result<Destination, Error> {
    drop(args.booking.open(args.epsilon, None, console)?);
    Destination::open(&args.out, args.epsilon.is_none())
}

/// Releases the sketch, if that was asked for, and writes it.
pub(super) fn write(
    args: &BuildArgs,
    destination: Destination,
    raw: RawSubsampled,
    console: Console,
) -> Result<(), Error> {
    let Some(epsilon) = args.epsilon else {
        let sketch = AnySketch::from(AnySubsampled::Raw(raw));
        let free = destination.write(&sketch)?;
        return report_written(&args.out, &sketch, free, console);
    };
    let planned = raw.planned_release(epsilon)?;
    let mut books = args.booking.open(Some(epsilon), Some(planned.unit()), console)?;
    let permit = books.pay_sample(&planned)?;
    let released = raw.release_paid(permit).map_err(|error| books.explain(error, None))?;
    let release = released.releases().first().and_then(dpsketch::SampleRelease::id);
    tell_sample(&released, console);
    let sketch = AnySketch::from(released);
    let free = destination.write(&sketch).map_err(|error| books.explain(error, None))?;
    books.finish(release)?;
    report_written(&args.out, &sketch, free, console)
}
