//! `verify`: are files whole, and do they fit together?

use std::path::{Path, PathBuf};

use clap::Args;
use dpsketch::{AnySketch, Error, ErrorKind, check_mergeable};
use serde_json::{Value, json};

use super::written::in_words;
use crate::console::{Console, Report};
use crate::format::{counted, lines};
use crate::io::read;
use crate::paths::{at_most_one_stdin, paths, shown};
use crate::table::GroupTable;

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// Sketch files, - for standard input, or tables of groups, of which every sketch is checked.
    #[arg(value_name = "FILE", required = true, value_parser = paths())]
    files: Vec<PathBuf>,
}

pub(crate) fn run(args: &VerifyArgs, console: Console) -> Result<(), Error> {
    at_most_one_stdin(&args.files)?;
    let read: Vec<(String, Result<Found, Error>)> =
        args.files.iter().map(|path| (shown(path), Found::at(path))).collect();
    let mut rows: Vec<Value> = read.iter().map(|(name, read)| row(name, read.as_ref())).collect();
    let mut told: Vec<String> = read.iter().map(|(name, read)| line(name, read.as_ref())).collect();

    let unreadable =
        read.iter().all(|(_, read)| read.as_ref().err().is_some_and(|error| error.kind() == ErrorKind::Unreadable));
    let faults = read.iter().filter(|(_, read)| read.is_err()).count() as u64;
    let whole: Vec<(String, AnySketch)> =
        read.into_iter().filter_map(|(name, read)| Some((name, read.ok()?.sketch()?))).collect();
    // A table of groups fits together or is not whole.
    let only_tables = whole.is_empty() && faults == 0;
    let together = if only_tables { Ok(()) } else { check_mergeable(&whole) };
    if whole.len() > 1 {
        told.push(together.as_ref().map_or_else(|error| format!("together: {error}"), |()| "together: ok".to_owned()));
    }
    let compatible = together.is_ok();
    for row in &mut rows {
        row["compatible"] = json!(compatible);
    }
    let json = json!({
        "ok": faults == 0 && compatible,
        "compatible": compatible,
        "reason": together.as_ref().err().map(ToString::to_string),
        "files": rows,
    });
    console.print(&Report { text: lines(told), json, rows })?;
    if unreadable {
        return Err(
            Error::new(ErrorKind::Unreadable, format!("{} cannot be read", counted(faults, "file"))).argument("FILE")
        );
    }
    if faults > 0 {
        return Err(failed(&format!(
            "{} not a whole sketch",
            if faults == 1 { "1 file is".into() } else { format!("{faults} files are") }
        )));
    }
    together.map_err(|error| failed(&format!("the sketches do not fit together: {error}")).caused_by(error))
}

/// What a whole file holds.
enum Found {
    Sketch(Box<AnySketch>),
    /// A table of so many groups, each of whose sketches is whole and made as the table says.
    Table(u64),
}

impl Found {
    fn at(path: &Path) -> Result<Self, Error> {
        if !GroupTable::is_at(path) {
            return read(path).map(|sketch| Self::Sketch(Box::new(sketch)));
        }
        let table = GroupTable::open(path)?;
        table.for_each_batch(|batch| table.container.sketches(batch).map(drop))?;
        Ok(Self::Table(table.groups()))
    }

    fn sketch(self) -> Option<AnySketch> {
        match self {
            Self::Sketch(sketch) => Some(*sketch),
            Self::Table(_) => None,
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Sketch(sketch) => sketch.kind(),
            Self::Table(_) => "sfm",
        }
    }

    fn is_raw(&self) -> bool {
        matches!(self, Self::Sketch(sketch) if sketch.is_raw())
    }

    fn in_words(&self) -> String {
        match self {
            Self::Sketch(sketch) => in_words(sketch),
            Self::Table(groups) => format!("table of {}", counted(*groups, "group")),
        }
    }
}

fn failed(what: &str) -> Error {
    Error::new(ErrorKind::VerifyFailed, what).argument("FILE").hint("see the list on standard output")
}

fn row(name: &str, read: Result<&Found, &Error>) -> Value {
    match read {
        Ok(sketch) => json!({
            "file": name,
            "ok": true,
            "kind": sketch.kind(),
            "state": if sketch.is_raw() { "raw" } else { "private" },
            "reason": null,
        }),
        Err(error) => json!({ "file": name, "ok": false, "kind": null, "state": null, "reason": error.message() }),
    }
}

fn line(name: &str, read: Result<&Found, &Error>) -> String {
    match read {
        Ok(found) => format!("{name}: ok, {}", found.in_words()),
        Err(error) => format!("{name}: FAILED, {}", error.message().trim_start_matches(&format!("{name}: "))),
    }
}
