//! `verify`: are files whole, and do they fit together?

use clap::Args;
use dpsketch::{AnySketch, Error, ErrorKind, check_compatible};
use serde_json::{Value, json};

use super::written::in_words;
use crate::console::{Console, Report};
use crate::format::{counted, lines};
use crate::io::{at_most_one_stdin, read};

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// Sketch files, or - for standard input.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
}

pub(crate) fn run(args: &VerifyArgs, console: Console) -> Result<(), Error> {
    at_most_one_stdin(&args.files)?;
    let read: Vec<(String, Result<AnySketch, Error>)> =
        args.files.iter().map(|name| (name.clone(), read(name))).collect();
    let mut rows: Vec<Value> = read.iter().map(|(name, read)| row(name, read.as_ref())).collect();
    let mut told: Vec<String> = read.iter().map(|(name, read)| line(name, read.as_ref())).collect();

    let unreadable =
        read.iter().all(|(_, read)| read.as_ref().err().is_some_and(|error| error.kind() == ErrorKind::Unreadable));
    let faults = read.iter().filter(|(_, read)| read.is_err()).count() as u64;
    let whole: Vec<(String, AnySketch)> =
        read.into_iter().filter_map(|(name, read)| Some((name, read.ok()?))).collect();
    let together = check_compatible(&whole);
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

fn failed(what: &str) -> Error {
    Error::new(ErrorKind::VerifyFailed, what).argument("FILE").hint("see the list on standard output")
}

fn row(name: &str, read: Result<&AnySketch, &Error>) -> Value {
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

fn line(name: &str, read: Result<&AnySketch, &Error>) -> String {
    match read {
        Ok(sketch) => format!("{name}: ok, {}", in_words(sketch)),
        Err(error) => format!("{name}: FAILED, {}", error.message().trim_start_matches(&format!("{name}: "))),
    }
}
