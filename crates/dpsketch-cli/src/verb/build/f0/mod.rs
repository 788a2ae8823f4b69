//! `build --kind f0`: data to a sketch of a set, or of a stream, that can be compared with others both ways.

mod rows;
mod settings;

use std::sync::Arc;

use clap::{Args, ValueEnum};
use dpsketch::dp_noise::Subsampler;
use dpsketch::f0_sketch::{Leaf, ModeKind, NoiseRule};
use dpsketch::sfm_pcsa::{ReleaseId, Unit};
use dpsketch::{
    AnyF0Sketch, AnySketch, Error, ErrorKind, F0Builder, F0Counts, RawF0Sketch, SpillSettings, WeightConflict,
};
use rows::F0Rows;
use settings::F0Settings;

use super::rows::Roles;
use super::{BuildArgs, sample, tell_rows};
use crate::console::Console;
use crate::format::counted;
use crate::io::Destination;
use crate::verb::booking::Books;
use crate::verb::written::{report_written, warn_about_epsilon};

/// What rows do to a set.
#[derive(Debug, Args)]
#[command(next_help_heading = "Sets (--kind f0)")]
pub(super) struct F0RowArgs {
    /// The column that says what a row does to its item, for --mode set: + or -, insert or delete, add or remove. Without it
    /// rows are members, and those that come twice count once. With it every row toggles its item: nothing is remembered, so
    /// an insert of an item that is there deletes it, and a delete has to weigh what its insert weighed.
    #[arg(long, value_name = "O")]
    pub(super) op_column: Option<String>,
    /// What to do with an item that comes with different weights. refuse if left out.
    #[arg(long, value_name = "RULE", value_enum)]
    pub(super) on_conflict: Option<OnConflict>,
}

/// What to do with an item of several weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum OnConflict {
    /// Refuse to build.
    Refuse,
    /// The largest weight counts.
    Largest,
}

impl From<OnConflict> for WeightConflict {
    fn from(rule: OnConflict) -> Self {
        match rule {
            OnConflict::Refuse => Self::Refuse,
            OnConflict::Largest => Self::Largest,
        }
    }
}

impl F0RowArgs {
    /// The flags, and whether they were given.
    pub(super) fn given(&self) -> [(&'static str, bool); 2] {
        [("--op-column", self.op_column.is_some()), ("--on-conflict", self.on_conflict.is_some())]
    }
}

pub(super) fn run(args: &BuildArgs, console: Console) -> Result<(), Error> {
    let settings = F0Settings::new(args)?;
    warn_about_epsilon(settings.epsilon, console);
    if let Some(coins) = args.sample.coins(args)? {
        return run_sample(args, &settings, &coins, console);
    }
    let output = Output::open(args, &settings, console)?;
    let builder = read(args, &settings, None, console)?;
    let (raw, counts) = builder.finish().map_err(settings::conflict)?;
    tell(&settings, counts, console);
    output.write(raw, &settings, console)
}

/// A set of which a secret key keeps a sample.
fn run_sample(args: &BuildArgs, settings: &F0Settings, coins: &Arc<Subsampler>, console: Console) -> Result<(), Error> {
    let of = |argument: &str, found: &str, allowed: &str| {
        Error::new(ErrorKind::Parameter, format!("--subsample-key goes without {argument} {found}"))
            .argument(argument)
            .value(found)
            .allowed(allowed)
    };
    if settings.mode == ModeKind::Presampled {
        return Err(of("--mode", "presampled", "--mode set: occurrences have coins of their own"));
    }
    if settings.noise == NoiseRule::Paper {
        return Err(of("--noise", "paper", "--noise tight"));
    }
    let destination = sample::open(args, console)?;
    let (raw, counts) = read(args, settings, Some(coins), console)?.finish_sample().map_err(settings::conflict)?;
    tell(settings, counts, console);
    sample::write(args, destination, raw, console)
}

/// Reads all rows.
fn read(
    args: &BuildArgs,
    settings: &F0Settings,
    coins: Option<&Arc<Subsampler>>,
    console: Console,
) -> Result<F0Builder, Error> {
    let roles = Arc::new(Roles::new(args));
    let threads = args.reading()?.threads;
    let empty = || {
        let builder = settings.builder(args, threads)?;
        let builder = match coins {
            Some(coins) => builder.with_sample(coins.clone())?,
            None => builder,
        };
        Ok(F0Rows { builder, roles: roles.clone(), in_parts: threads > 1 })
    };
    Ok(args.read(console, empty)?.builder)
}

/// Says what the rows came to.
fn tell(settings: &F0Settings, counts: F0Counts, console: Console) {
    tell_rows(counts.rows, counts.nulls, console);
    if let Some(items) = counts.items {
        console.note(&format!("{} in the set", counted(items, "distinct item")));
    }
    if settings.operations {
        console.note(&format!(
            "{}, {}; a delete of an item that is not there inserts it",
            counted(counts.inserts, "insert"),
            counted(counts.deletes, "delete")
        ));
    }
    if settings.terms.max_weight().is_some() {
        console.note(&format!("{} clipped to the largest weight", counted(counts.clipped, "row")));
    }
    if counts.conflicts > 0 {
        console.note(&format!("{} with different weights count with the largest", counted(counts.conflicts, "item")));
    }
}

impl F0Settings {
    fn builder(&self, args: &BuildArgs, threads: usize) -> Result<F0Builder, Error> {
        let (terms, hash, rules) = (self.terms.clone(), self.hash.clone(), self.rules.clone());
        match (self.mode, self.operations) {
            (ModeKind::Presampled, _) => F0Builder::presampled(terms, hash, rules),
            (ModeKind::Set, true) => Ok(F0Builder::operations(terms, hash, rules)),
            (ModeKind::Set, false) => {
                let usual = SpillSettings::default();
                // All threads together have the usual memory.
                let memory = usual.memory / threads.max(1);
                let folder = args.users.folder(usual.folder)?;
                let builder = F0Builder::set(terms, hash, rules, SpillSettings { folder, memory })?;
                Ok(builder.with_conflict(self.conflict))
            }
        }
    }
}

/// Where the sketch goes, and who pays for its release.
struct Output<'a> {
    args: &'a BuildArgs,
    books: Books,
    destination: Destination,
}

impl<'a> Output<'a> {
    /// Finds out before any work whether the ledger pays and the output can be written.
    fn open(args: &'a BuildArgs, settings: &F0Settings, console: Console) -> Result<Self, Error> {
        let books = args.booking.open(settings.epsilon, Some(Unit::Item), console)?;
        let destination = Destination::open(&args.out, settings.epsilon.is_none())?;
        Ok(Self { args, books, destination })
    }

    /// Releases the sketch, if that was asked for, and writes it.
    fn write(self, raw: RawF0Sketch, settings: &F0Settings, console: Console) -> Result<(), Error> {
        let Self { args, mut books, destination } = self;
        let mut release = None;
        let sketch = match settings.epsilon {
            Some(epsilon) => {
                raw.check_release(epsilon)?;
                let permit = books.pay(epsilon, raw.unit())?;
                let released = raw.release_paid(settings.noise, permit);
                let released = released.map_err(|error| books.explain(error, None))?;
                release = released.leaves().first().map(release_id);
                AnyF0Sketch::from(released)
            }
            None => raw.into(),
        };
        let sketch = AnySketch::from(sketch);
        let free = destination.write(&sketch).map_err(|error| books.explain(error, None))?;
        books.finish(release)?;
        report_written(&args.out, &sketch, free, console)
    }
}

/// The name of a release as ledgers note it.
pub(crate) fn release_id(leaf: &Leaf) -> ReleaseId {
    ReleaseId::from_bytes(leaf.id().to_bytes())
}
