//! `build`: data to a sketch.

mod data;
mod f0;
mod frequency;
mod groups;
mod plain;
mod rows;
mod sample;
mod settings;
mod sketch;
mod users;

use std::io::{self, IsTerminal};
use std::num::NonZero;
use std::path::PathBuf;
use std::thread::available_parallelism;

use clap::{Args, ValueEnum};
pub(crate) use data::TextArgs;
use data::{DataArgs, MAX_THREADS, threads};
use dpsketch::dp_noise::Epsilon;
use dpsketch::{Error, ErrorKind, parse_epsilon};
use f0::F0RowArgs;
pub(crate) use f0::release_id;
use frequency::{PrefixArgs, WeightArgs};
use groups::GroupArgs;
use rows::Roles;
use sample::SampleArgs;
use settings::{Settings, settle};
pub(crate) use sketch::{Hash, SketchArgs, SketchKeyArgs};
use users::UserArgs;
pub(crate) use users::max_items;

use crate::console::Console;
use crate::format::{count, counted};
use crate::input::{self, Hints, Reading, RowSink, STDIN};
use crate::paths::{at_most_one_stdin, check_out, is_std, paths};
use crate::progress::Progress;
use crate::verb::booking::LedgerArgs;
use crate::verb::f0_args::F0Args;
use crate::verb::frequency_args::{FrequencyArgs, LevelArgs, refuse_for};
use crate::verb::study::kind_of;
use crate::verb::written::warn_about_epsilon;

#[derive(Debug, Args)]
pub(crate) struct BuildArgs {
    /// Files with the data, or - for standard input; plain, gzip or zstd. Several are one data set.
    #[arg(value_name = "INPUT", default_value = STDIN, value_parser = paths())]
    inputs: Vec<PathBuf>,
    /// What the sketch counts. As the study says, or sfm, if left out.
    #[arg(long, value_enum)]
    kind: Option<Kind>,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    text: TextArgs,
    #[command(flatten)]
    sketch: SketchArgs,
    #[command(flatten)]
    frequency: FrequencyArgs,
    #[command(flatten)]
    weights: WeightArgs,
    #[command(flatten)]
    prefix: PrefixArgs,
    #[command(flatten)]
    f0: F0Args,
    #[command(flatten)]
    f0_rows: F0RowArgs,
    #[command(flatten)]
    sample: SampleArgs,
    #[command(flatten)]
    level: LevelArgs,
    /// Take shape, hash, key check, epsilon, text rules and unit from a study, made by `dpsketch study new`. A flag that
    /// says otherwise is refused.
    #[arg(long, value_name = "FILE", value_parser = paths())]
    study: Option<PathBuf>,
    /// Release with this epsilon at once: no raw state touches a disk. Without it, and without --rho, the sketch is raw and
    /// not private. Frequencies (--kind countsketch) need --delta or --pure beside it.
    #[arg(long, value_name = "E", value_parser = parse_epsilon, allow_hyphen_values = true)]
    epsilon: Option<Epsilon>,
    #[command(flatten)]
    booking: LedgerArgs,
    #[command(flatten)]
    users: UserArgs,
    #[command(flatten)]
    groups: GroupArgs,
    /// Threads that count; the result does not depend on it (but for the secret coins of --mode presampled). One for each processor if left out, one with --user and with
    /// --prefix-tree.
    #[arg(long, value_name = "N", value_parser = threads, allow_negative_numbers = true)]
    threads: Option<usize>,
    /// Where to write: NAME.dps with --epsilon or --rho, NAME.raw.dps without, NAME.parquet with --group-by, or - for standard
    /// output.
    #[arg(long, short, value_name = "FILE", value_parser = paths())]
    out: PathBuf,
}

/// What a sketch can count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// Distinct items: how many different ones there are.
    Sfm,
    /// Frequencies of items: how often each of them occurs, or the sum of its weights.
    Countsketch,
    /// Distinct items, or the sum of a weight of theirs, of sets that change and are compared: what joined, what left.
    F0,
}

impl Kind {
    /// As the flag says it.
    const fn as_str(self) -> &'static str {
        match self {
            Self::Sfm => "sfm",
            Self::Countsketch => "countsketch",
            Self::F0 => "f0",
        }
    }
}

pub(crate) fn run(args: &BuildArgs, console: Console) -> Result<(), Error> {
    args.check_out()?;
    at_most_one_stdin(&args.inputs).map_err(|error| error.argument("INPUT"))?;
    let kind = args.kind()?;
    if kind == Kind::F0 {
        return f0::run(args, console);
    }
    args.users.check_folder()?;
    let of_f0 = args.f0.given().into_iter().chain(args.f0_rows.given());
    if kind == Kind::Countsketch {
        refuse_for("countsketch", of_f0.chain(args.sample.given()))?;
        return frequency::run(args, console);
    }
    let foreign = of_f0.chain(args.frequency.given()).chain(args.weights.given()).chain(args.level.given());
    let foreign = foreign.chain([("--prefix-tree", args.prefix.prefix_tree)]).chain(args.prefix.given());
    refuse_for("sfm", foreign)?;
    let settings = Settings::new(args)?;
    warn_about_epsilon(settings.epsilon, console);
    if let Some(coins) = args.sample.coins(args)? {
        return sample::run(args, &settings, &coins, console);
    }
    match (&args.groups.group_by, &args.users.user) {
        (Some(column), _) => groups::run(args, column, &settings, console),
        (None, Some(_)) => users::run(args, &settings, console),
        (None, None) => plain::run(args, &settings, console),
    }
}

impl BuildArgs {
    /// What was asked for, or what the study is about.
    fn kind(&self) -> Result<Kind, Error> {
        // What is no study is told by whoever reads it whole.
        let studied =
            self.study.as_deref().map(kind_of).transpose().map_err(|error| error.argument("--study"))?.flatten();
        settle("--kind", self.kind.map(Kind::as_str), studied.map(Kind::as_str))?;
        Ok(self.kind.or(studied).unwrap_or(Kind::Sfm))
    }

    /// Before anything is opened or spent.
    fn check_out(&self) -> Result<(), Error> {
        let ledger = self.booking.files();
        let keys = [&self.sketch.keyed.key_file, &self.sample.subsample_key];
        let settings = [&self.study, &self.groups.groups].into_iter().chain(keys).flatten();
        check_out(&self.out, self.inputs.iter().chain(settings).chain(&ledger).map(PathBuf::as_path))
    }

    /// Reads all inputs into sinks made by `empty`.
    fn read<S: RowSink>(&self, console: Console, empty: impl FnMut() -> Result<S, Error>) -> Result<S, Error> {
        let (roles, reading) = (Roles::new(self), self.reading()?);
        if self.inputs.iter().any(|input| is_std(input)) && io::stdin().is_terminal() {
            console.note("reading from the terminal; end with Ctrl-D");
        }
        let progress = Progress::new(input::total_bytes(&self.inputs), console.is_quiet());
        let told = |text: &str| console.detail(text);
        input::count(&self.inputs, &reading, &progress, &told, empty).map_err(|error| roles.blame(error))
    }

    fn reading(&self) -> Result<Reading, Error> {
        let data = &self.data;
        let named = data.column();
        for (position, column) in named.iter().enumerate() {
            let fault = match column.as_str() {
                "" => "a column has an empty name",
                name if named[..position].iter().any(|other| other == name) => "a column is named twice",
                _ => continue,
            };
            return Err(Error::new(ErrorKind::Column, fault).argument("--column").value(named.join(",")));
        }
        let columns = Roles::new(self).columns(self)?;
        let threads = self.threads.unwrap_or_else(|| available_parallelism().map_or(1, NonZero::get).min(MAX_THREADS));
        Ok(Reading {
            hints: Hints {
                format: data.input_format,
                delimiter: data.delimiter,
                tabular: !columns.is_empty() || data.delimiter.is_some() || data.no_header,
            },
            columns,
            has_header: !data.no_header,
            max_record: data.max_record,
            // The rows of a user have to come in their order, and through one bound; a prefix tree has one builder, too.
            threads: if self.users.user.is_some() || self.prefix.prefix_tree { 1 } else { threads },
        })
    }
}

/// Says how many rows were read and left out.
fn tell_rows(rows: u64, nulls: u64, console: Console) {
    console.note(&format!("{} read, {} with a missing value left out", counted(rows, "row"), count(nulls)));
}
