//! One sketch, in which an item is the unit of privacy; and the release of any single sketch.

use dpsketch::sfm_pcsa::Leaf;
use dpsketch::{AnySketch, DistinctBuilder, Error, RawSketch};

use super::settings::Settings;
use super::{BuildArgs, tell_rows};
use crate::console::Console;
use crate::io::Destination;
use crate::verb::booking::Books;
use crate::verb::written::report_written;

pub(super) fn run(args: &BuildArgs, settings: &Settings, console: Console) -> Result<(), Error> {
    let output = Output::open(args, settings, console)?;
    let Settings { shape, hash, rules, .. } = settings;
    let empty = || Ok(DistinctBuilder::new(*shape, hash.clone(), rules.clone()));
    let builder = args.read(console, empty)?;
    tell_rows(builder.counts().rows, builder.counts().nulls, console);
    output.write(RawSketch::try_from(builder)?, settings, console)
}

/// Where one sketch goes, and who pays for its release.
pub(super) struct Output<'a> {
    args: &'a BuildArgs,
    books: Books,
    destination: Destination,
}

impl<'a> Output<'a> {
    /// Finds out before any work whether the ledger pays and the output can be written.
    pub(super) fn open(args: &'a BuildArgs, settings: &Settings, console: Console) -> Result<Self, Error> {
        let books = args.booking.open(settings.epsilon, Some(settings.unit.into()), console)?;
        let destination = Destination::open(&args.out, settings.epsilon.is_none())?;
        Ok(Self { args, books, destination })
    }

    /// Releases the sketch, if that was asked for, and writes it.
    pub(super) fn write(self, raw: RawSketch, settings: &Settings, console: Console) -> Result<(), Error> {
        let Self { args, mut books, destination } = self;
        let mut release = None;
        let sketch = match settings.epsilon {
            Some(epsilon) => {
                raw.check_release(epsilon)?;
                let permit = books.pay(epsilon, raw.unit())?;
                let released = raw.release_paid(permit).map_err(|error| books.explain(error, None))?;
                release = released.leaves().first().map(Leaf::id);
                AnySketch::from(released)
            }
            None => raw.into(),
        };
        let free = destination.write(&sketch).map_err(|error| books.explain(error, None))?;
        books.finish(release)?;
        report_written(&args.out, &sketch, free, console)
    }
}
