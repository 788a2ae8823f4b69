//! Arguments that several verbs share for sketches of kind `f0`.

use clap::{Args, ValueEnum};
use dpsketch::f0_sketch::{F0Shape, ModeKind};
use dpsketch::{Error, f0_shape, parse_count};

/// Levels if none are asked for.
const LEVELS: u64 = 24;
/// Cells of a level if none are asked for.
pub(crate) const CELLS: u64 = 4096;

/// Mode and cells. The number of levels has a flag of its own, which kind `sfm` has, too.
#[derive(Debug, Args)]
#[command(next_help_heading = "Sets (--kind f0)")]
pub(crate) struct F0Args {
    /// What the rows are: members of a set, or occurrences of items in a stream. set if left out.
    #[arg(long, value_enum)]
    pub(crate) mode: Option<Mode>,
    /// Cells of a level: four times as many halve the error of large counts. 4096 if left out.
    #[arg(long, value_name = "M", value_parser = parse_count, allow_negative_numbers = true)]
    pub(crate) cells: Option<u64>,
}

/// How items are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// Each item once: differences of two sets, both ways, and inserts that are deleted again.
    Set,
    /// Streams with repetitions, each kept by a secret coin: the union of many, at less noise for a small epsilon.
    Presampled,
}

impl From<Mode> for ModeKind {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Set => Self::Set,
            Mode::Presampled => Self::Presampled,
        }
    }
}

impl F0Args {
    /// The flags, and whether they were given.
    pub(crate) fn given(&self) -> [(&'static str, bool); 2] {
        [("--mode", self.mode.is_some()), ("--cells", self.cells.is_some())]
    }

    /// The mode that was asked for, or the usual one.
    pub(crate) fn mode(&self) -> Mode {
        self.mode.unwrap_or(Mode::Set)
    }
}

/// The shape as asked for, or the usual one.
pub(crate) fn shape(levels: Option<u64>, cells: Option<u64>) -> Result<F0Shape, Error> {
    f0_shape(levels.unwrap_or(LEVELS), cells.unwrap_or(CELLS))
}
