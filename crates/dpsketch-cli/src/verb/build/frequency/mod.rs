//! `build --kind countsketch`: data to frequencies.

mod prefix;
mod rows;
mod settings;

use std::sync::Arc;

use clap::Args;
use dpsketch::countsketch_dp::Leaf;
use dpsketch::{
    AnySketch, Error, ErrorKind, Excess, FrequencyBuilder, PricedRelease, RawCountSketch, UserFrequencyBuilder,
};
pub(super) use prefix::PrefixArgs;
use rows::{FrequencyRows, UserFrequencyRows};
use settings::FrequencySettings;

use super::rows::Roles;
use super::{BuildArgs, tell_rows};
use crate::console::Console;
use crate::format::{count, counted};
use crate::io::Destination;
use crate::verb::booking::Books;
use crate::verb::frequency_args::refuse_for;
use crate::verb::written::{report_written, tell_noise, warn_about_level};

#[derive(Debug, Args)]
#[command(next_help_heading = "Frequencies (--kind countsketch)")]
pub(super) struct WeightArgs {
    /// The column that says how much a row weighs: a number, which may be negative. Every row weighs 1 if left out. With
    /// --kind f0 it is how much the item of the row weighs: a number of at least 0, the same in all rows of an item.
    #[arg(long, value_name = "W")]
    pub(super) weight: Option<String>,
    /// Bring rows that weigh more than --max-weight down to it, and say how many. They are refused without.
    #[arg(long)]
    pub(super) clip_weights: bool,
}

impl WeightArgs {
    /// The flags, and whether they were given.
    pub(super) fn given(&self) -> [(&'static str, bool); 2] {
        [("--weight", self.weight.is_some()), ("--clip-weights", self.clip_weights)]
    }
}

pub(super) fn run(args: &BuildArgs, console: Console) -> Result<(), Error> {
    let foreign = [
        ("--buckets", args.sketch.buckets.is_some()),
        ("--levels", args.sketch.levels.is_some()),
        ("--group-by", args.groups.group_by.is_some()),
        ("--groups", args.groups.groups.is_some()),
    ];
    refuse_for("countsketch", foreign)?;
    let settings = FrequencySettings::new(args)?;
    warn_about_level(settings.level, console);
    if args.prefix.prefix_tree {
        return prefix::run(args, &settings, console);
    }
    needs_prefix_tree(args)?;
    let priced = settings.price()?;
    let output = Output::open(args, priced, console)?;
    if let Some(priced) = &priced {
        tell_noise(priced, console);
    }
    let raw = match args.users.user {
        Some(_) => of_users(args, &settings, console)?,
        None => of_records(args, &settings, console)?,
    };
    output.write(raw, console)
}

fn of_records(args: &BuildArgs, settings: &FrequencySettings, console: Console) -> Result<RawCountSketch, Error> {
    console.note(&format!(
        "the unit of privacy is {}: somebody with several rows is protected less; --user bounds users",
        settings.terms.unit()
    ));
    let roles = Arc::new(Roles::new(args));
    let in_parts = args.reading()?.threads > 1;
    let empty = || {
        let FrequencySettings { terms, hash, rules, excess, .. } = settings;
        let builder = FrequencyBuilder::new(*terms, hash.clone(), rules.clone())?.with_excess(*excess);
        Ok(FrequencyRows { builder, roles: roles.clone(), in_parts })
    };
    let FrequencyRows { builder, .. } = args.read(console, empty)?;
    let counts = builder.counts();
    tell_rows(counts.rows, counts.nulls, console);
    tell_clipped(settings, counts.clipped, console);
    tell_zeroed(counts.zeroed, console);
    builder.finish()
}

/// Weights that are lost to the grid are seldom meant to be.
fn tell_zeroed(rows: u64, console: Console) {
    if rows > 0 {
        console.warn(&format!(
            "{} of a weight that the grid rounds to 0; a finer --granularity keeps them",
            counted(rows, "row")
        ));
    }
}

/// Flags that mean nothing without another one.
fn needs_prefix_tree(args: &BuildArgs) -> Result<(), Error> {
    match args.prefix.given().into_iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((flag, _)) => Err(Error::new(ErrorKind::Parameter, format!("{flag} is for a prefix tree"))
            .argument(flag)
            .allowed("together with --prefix-tree")
            .hint(format!("say --prefix-tree, or leave {flag} out"))),
    }
}

fn tell_clipped(settings: &FrequencySettings, clipped: u64, console: Console) {
    if settings.excess == Excess::Clip {
        console.note(&format!("{} clipped to the largest weight", counted(clipped, "row")));
    }
}

fn of_users(args: &BuildArgs, settings: &FrequencySettings, console: Console) -> Result<RawCountSketch, Error> {
    let roles = Arc::new(Roles::new(args));
    let empty = || {
        let FrequencySettings { terms, hash, rules, key, .. } = settings;
        let (hash, text) = (hash.clone(), rules.clone());
        let builder = match args.users.spilling()? {
            None => UserFrequencyBuilder::sorted(*terms, hash, text, *key)?,
            Some(spill) => UserFrequencyBuilder::spilling(*terms, hash, text, *key, spill)?,
        };
        Ok(UserFrequencyRows { builder, roles: roles.clone() })
    };
    let UserFrequencyRows { builder, .. } = args.read(console, empty)?;
    let counts = builder.counts();
    let (raw, users) = builder.finish()?;
    tell_rows(counts.rows, counts.nulls, console);
    tell_zeroed(counts.zeroed, console);
    console.note(&format!(
        "{} of {} kept; the unit of privacy is {}",
        counted(users.kept, "item"),
        counted(users.users, "user"),
        settings.terms.unit()
    ));
    console.detail(&format!("{} rows went through the bound on users", count(users.rows)));
    Ok(raw)
}

/// Where the sketch goes, and who pays for its release.
struct Output<'a> {
    args: &'a BuildArgs,
    priced: Option<PricedRelease>,
    books: Books,
    destination: Destination,
}

impl<'a> Output<'a> {
    /// Finds out before any work whether the ledger pays and the output can be written.
    fn open(args: &'a BuildArgs, priced: Option<PricedRelease>, console: Console) -> Result<Self, Error> {
        let books = args.booking.open_frequencies(priced.as_ref(), console)?;
        let destination = Destination::open(&args.out, priced.is_none())?;
        Ok(Self { args, priced, books, destination })
    }

    /// Releases the sketch, if that was asked for, and writes it.
    fn write(self, raw: RawCountSketch, console: Console) -> Result<(), Error> {
        let Self { args, priced, mut books, destination } = self;
        let mut release = None;
        let sketch = match priced {
            Some(priced) => {
                let payment = books.pay_frequencies(&priced)?;
                let private = raw.release_paid(&priced, payment).map_err(|error| books.explain(error, None))?;
                release = private.leaves().first().map(Leaf::id);
                AnySketch::from(private)
            }
            None => raw.into(),
        };
        let free = destination.write(&sketch).map_err(|error| books.explain(error, None))?;
        books.finish_frequencies(release)?;
        report_written(&args.out, &sketch, free, console)
    }
}
