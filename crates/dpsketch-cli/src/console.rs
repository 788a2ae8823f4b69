//! Where output goes: results to standard output, everything else to standard error.

use std::io::{self, IsTerminal, Write};

use dpsketch::{Error, ErrorKind};
use serde_json::{Value, json};

use crate::cli::{ColorChoice, OutputArgs, OutputFormat};
use crate::format::{csv_table, json_lines};

/// How to talk to the person or program on the other side.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Console {
    format: OutputFormat,
    color: bool,
    quiet: bool,
    verbose: u8,
}

/// A result in all its shapes.
#[derive(Debug)]
pub(crate) struct Report {
    /// For people; ends with a line feed.
    pub(crate) text: String,
    /// For `--format json`.
    pub(crate) json: Value,
    /// Objects for `ndjson` and `csv`.
    pub(crate) rows: Vec<Value>,
}

impl Report {
    /// A result that is one object.
    pub(crate) fn of_one(text: String, object: Value) -> Self {
        Self { text, json: object.clone(), rows: vec![object] }
    }
}

impl Console {
    pub(crate) fn new(args: &OutputArgs) -> Self {
        let color = match args.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => {
                io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|set| set.is_empty())
            }
        };
        Self { format: args.chosen_format(), color, quiet: args.quiet, verbose: args.verbose }
    }

    /// For failures before the arguments were understood.
    pub(crate) fn for_failed_parse(json: bool) -> Self {
        let format = if json { OutputFormat::Json } else { OutputFormat::Text };
        let color = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|set| set.is_empty());
        Self { format, color, quiet: false, verbose: 0 }
    }

    /// How results are written.
    pub(crate) fn format(self) -> OutputFormat {
        self.format
    }

    pub(crate) fn is_quiet(self) -> bool {
        self.quiet
    }

    /// Whether a mere message of success is unwanted; a program that asked for JSON or a table always gets it.
    pub(crate) fn is_quiet_text(self) -> bool {
        self.quiet && self.format == OutputFormat::Text
    }

    /// Writes a result to standard output.
    pub(crate) fn print(self, report: &Report) -> Result<(), Error> {
        let text = match self.format {
            OutputFormat::Text => report.text.clone(),
            OutputFormat::Json => format!("{:#}\n", report.json),
            OutputFormat::Ndjson => json_lines(&report.rows),
            OutputFormat::Csv => csv_table(&report.rows)?,
        };
        write_out(text.as_bytes())
    }

    /// Tells something worth knowing. Where results are JSON, so is everything else: an object a line, whose `kind` is `note`,
    /// `detail` or `warning`.
    pub(crate) fn note(self, text: &str) {
        if !self.quiet {
            self.say("note", "36", text);
        }
    }

    /// Tells something that only curious people want to know.
    pub(crate) fn detail(self, text: &str) {
        if self.verbose > 0 {
            self.say("detail", "2", text);
        }
    }

    /// Tells something that must not be overlooked.
    pub(crate) fn warn(self, text: &str) {
        self.say("warning", "1;33", text);
    }

    /// Tells a failure: JSON where results are JSON, else lines.
    pub(crate) fn fail(self, error: &Error) {
        match self.format {
            OutputFormat::Json | OutputFormat::Ndjson => write_err(&format!("{}\n", error.to_json())),
            OutputFormat::Text | OutputFormat::Csv => self.say("error", "1;31", &error.to_text()),
        }
    }

    fn say(self, label: &str, style: &str, text: &str) {
        if matches!(self.format, OutputFormat::Json | OutputFormat::Ndjson) {
            return write_err(&format!("{}\n", json!({ "kind": label, "message": text })));
        }
        let label = if self.color { format!("\u{1b}[{style}m{label}:\u{1b}[0m") } else { format!("{label}:") };
        write_err(&format!("{label} {text}\n"));
    }
}

/// Says of a report that was lost that the work was done.
pub(crate) fn only_the_report(error: Error, written: &str) -> Error {
    if error.kind() == ErrorKind::BrokenPipe {
        return error;
    }
    error.hint(format!("{written} is written and whole; only this report of it was lost"))
}

/// Writes to standard output and flushes, so that a full disk or a closed pipe shows here.
pub(crate) fn write_out(bytes: &[u8]) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(|error| Error::writing("standard output", error))
}

/// Nobody can be told when standard error fails.
fn write_err(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}
