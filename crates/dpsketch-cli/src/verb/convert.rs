//! `convert`: from Presto's bytes to ours, and back.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use dpsketch::{AnySketch, Error, ErrorKind, OutputFile, Readers, SketchFile, to_presto};
use serde_json::json;

use super::written::{in_words, report_written};
use crate::console::{Console, Report, only_the_report, write_out};
use crate::input::STDIN;
use crate::io::{Destination, read_file};
use crate::paths::{check_out, is_std, paths, shown};

#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// A sketch in either format, or - for standard input. Which one it is in shows by itself.
    #[arg(value_name = "FILE", value_parser = paths())]
    file: PathBuf,
    /// The format to write.
    #[arg(long, value_enum)]
    to: Format,
    /// Where to write it: NAME.dps (NAME.raw.dps for raw ones), NAME.presto (NAME.raw.presto), or - for standard output.
    #[arg(long, short, value_name = "FILE", value_parser = paths())]
    out: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The bytes of Presto and Velox; for sketches built with --hash presto.
    Presto,
    /// A .dps file.
    Dpsketch,
}

pub(crate) fn run(args: &ConvertArgs, console: Console) -> Result<(), Error> {
    check_out(&args.out, [args.file.as_path()])?;
    let SketchFile { sketch, .. } = read_file(&args.file)?;
    match args.to {
        Format::Dpsketch => {
            let destination = Destination::open(&args.out, sketch.is_raw())?;
            let free = destination.write(&sketch)?;
            report_written(&args.out, &sketch, free, console)
        }
        Format::Presto => write_presto(args, &sketch, console),
    }
}

fn write_presto(args: &ConvertArgs, sketch: &AnySketch, console: Console) -> Result<(), Error> {
    let presto = to_presto(sketch).map_err(|error| error.prefixed(&shown(&args.file)).argument_or("FILE"))?;
    let free = write_bytes(&args.out, presto.bytes(), sketch.is_raw())?;
    let out = args.out.display().to_string();
    if sketch.is_raw() {
        console.warn(&format!("{out} is raw: keep it as safe as the data; Presto merges it with anything"));
    }
    if presto.thinned() {
        console.note("noise was added: Presto's format holds symmetric noise only, so the estimate has a larger error");
    }
    if sketch.leaves().len() > 1 {
        console.note("the format does not tell which releases are in the sketch; do not merge it with any of them");
    }
    if !free || console.is_quiet_text() {
        return Ok(());
    }
    // Thinning changes neither shape nor releases, so this describes what was written, too.
    let bytes = presto.bytes().len();
    let text = format!("wrote {out}: {} in Presto's bytes ({bytes} bytes)\n", in_words(sketch));
    let state = if sketch.is_raw() { "raw" } else { "private" };
    let object = json!({
        "file": &out,
        "bytes": bytes,
        "format": "presto",
        "kind": sketch.kind(),
        "state": state,
        "thinned": presto.thinned(),
    });
    console.print(&Report::of_one(text, object)).map_err(|error| only_the_report(error, &out))
}

/// Writes Presto's bytes; whether standard output is free for a report.
fn write_bytes(out: &Path, bytes: &[u8], raw: bool) -> Result<bool, Error> {
    if is_std(out) {
        if io::stdout().is_terminal() {
            return Err(Error::new(ErrorKind::Parameter, "a sketch is not for a terminal")
                .argument("--out")
                .value(STDIN)
                .hint("name a file, or send the output into a pipe"));
        }
        return write_out(bytes).map(|()| false);
    }
    // Devices and pipes have the names they have.
    if !out.exists() || out.is_file() {
        check_presto_name(out, raw)?;
    }
    let readers = if raw { Readers::OwnerOnly } else { Readers::Anyone };
    let written = OutputFile::create(out, readers).and_then(|file| file.commit(bytes));
    written.map(|()| true).map_err(|error| error.argument_or("--out"))
}

/// Checks that the name of a file in Presto's bytes does not look like one of ours, and says whether it is raw.
fn check_presto_name(path: &Path, raw: bool) -> Result<(), Error> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let stem = name.strip_suffix(".dps");
    let (base, ending) = name.rsplit_once('.').unwrap_or((&name, "presto"));
    let is_raw = base.strip_suffix(".raw").is_some();
    if stem.is_none() && is_raw == raw {
        return Ok(());
    }
    let ending = if ending == "dps" { "presto" } else { ending };
    let better = format!("{}{}.{ending}", base.strip_suffix(".raw").unwrap_or(base), if raw { ".raw" } else { "" });
    let what = if raw { "raw" } else { "private" };
    Err(Error::new(ErrorKind::Parameter, format!("{name:?} is not the name of a {what} sketch in Presto's bytes"))
        .argument("--out")
        .value(path.display().to_string())
        .allowed(if raw { "a name like NAME.raw.presto" } else { "a name like NAME.presto" })
        .hint(format!("say --out {}", path.with_file_name(better).display())))
}
