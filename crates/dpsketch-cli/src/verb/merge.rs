//! `merge`: several sketches to one, or kept together as a tally.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use dpsketch::cardinality_estimators::tally::TallyCounts;
use dpsketch::dp_noise::DisjointParts;
use dpsketch::f0_sketch::ModeKind;
use dpsketch::sfm_pcsa::{MergeForm, SfmTally};
use dpsketch::{AnySketch, Error, merge, merge_disjoint, tally, thin_tally};

use super::frequency_args::refuse_for;
use super::written::report_written;
use crate::console::Console;
use crate::io::{Destination, read_all};
use crate::paths::{check_out, paths};

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// Sketches to merge: all private or all raw, of one shape and one key; - for standard input. Those of kind f0 become the
    /// symmetric difference of their sets or, in mode presampled, the union of their streams.
    #[arg(value_name = "FILE", required = true, value_parser = paths())]
    files: Vec<PathBuf>,
    /// How the noise of private distinct counts is put together, extremal if left out. Raw sketches have none, and
    /// frequencies add up.
    #[arg(long, value_enum)]
    form: Option<Form>,
    /// For frequencies: no person is in two of the files, as where everybody belongs to one site. The sum then states the
    /// largest cost instead of their sum. No program can check it.
    #[arg(long)]
    disjoint: bool,
    /// Keep released distinct counts (kind sfm) together instead of merging their noise: one file that says how many of them
    /// have a one in each cell. Its answer errs less than that of a merged sketch, and it takes more tallies and releases
    /// later. The files are single releases and tallies, not merged sketches.
    #[arg(long, conflicts_with_all = ["form", "disjoint"])]
    tally: bool,
    /// With --tally: bring releases of several epsilons to the noise of the noisiest, once and for all. An answer takes two
    /// noise levels at most.
    #[arg(long, requires = "tally")]
    thin: bool,
    /// Where to write the sketch of the union or sum, or the tally: NAME.dps, NAME.raw.dps for raw ones, or - for standard output.
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

impl MergeArgs {
    fn merge(&self, sketches: &[(String, AnySketch)]) -> Result<AnySketch, Error> {
        if self.tally {
            return self.tally(sketches);
        }
        match sketches.first() {
            Some((_, AnySketch::Frequencies(_))) => refuse_for("countsketch", [("--form", self.form.is_some())])?,
            Some((_, AnySketch::F0(_))) => {
                let other = self.form.is_some_and(|form| form != Form::Xor);
                refuse_for("f0", [("--form", other), ("--disjoint", self.disjoint)])?;
            }
            Some((_, other)) => refuse_for(other.kind(), [("--disjoint", self.disjoint)])?,
            None => {}
        }
        if self.disjoint {
            return merge_disjoint(sketches, DisjointParts::EachUnitInOnePart);
        }
        let form = match self.form {
            None | Some(Form::Extremal) => MergeForm::Extremal,
            Some(Form::Symmetric) => MergeForm::Symmetric,
            Some(Form::Xor) => MergeForm::Xor,
        };
        merge(sketches, form)
    }

    fn tally(&self, sketches: &[(String, AnySketch)]) -> Result<AnySketch, Error> {
        let tally = tally(sketches)?;
        if self.thin { thin_tally(tally) } else { Ok(tally) }
    }
}

pub(crate) fn run(args: &MergeArgs, console: Console) -> Result<(), Error> {
    check_out(&args.out, args.files.iter().map(PathBuf::as_path))?;
    let sketches = read_all(&args.files, console)?;
    let merged = args.merge(&sketches).map_err(|error| error.argument_or("FILE"))?;
    let destination = Destination::open(&args.out, merged.is_raw())?;
    let free = destination.write(&merged)?;
    tell_whole(&merged, sketches.len(), console);
    if let AnySketch::SfmTally(tally) = &merged {
        tell_classes(tally, console);
    }
    report_written(&args.out, &merged, free, console)
}

/// Says what to do about a tally of too many noise levels.
fn tell_classes(tally: &SfmTally, console: Console) {
    let classes = tally.classes().len();
    if classes > TallyCounts::MAX_CLASSES {
        console.warn(&format!(
            "its releases have {classes} noise levels, and an answer takes {} at most: --thin makes one of them",
            TallyCounts::MAX_CLASSES
        ));
    }
}

/// Says what sets an xor of several is a sketch of.
fn tell_whole(merged: &AnySketch, sketches: usize, console: Console) {
    let mode = match merged {
        AnySketch::F0(f0) => f0.mode(),
        AnySketch::Subsampled(sample) if sample.weight_rule().is_some() => ModeKind::Set,
        _ => return,
    };
    match (mode, sketches) {
        (_, 1) => {}
        (ModeKind::Set, 2) => {
            console.note("this is the symmetric difference: items in exactly one of the two sets; `dpsketch estimate --expr` tells of other sets");
        }
        (ModeKind::Set, _) => {
            console.note("this is the symmetric difference: items in an odd number of the sets, which is their union only if they are disjoint");
        }
        (ModeKind::Presampled, _) => {
            console.note("this is the union of the streams");
            if merged.is_raw() {
                console.warn("it shares the secret coins of its inputs: release either it or them, as the epsilons of both do not add up");
            }
        }
    }
}
