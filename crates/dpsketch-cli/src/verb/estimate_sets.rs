//! `estimate --name`: formulas of sets, and how similar two sets are.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};
use dpsketch::cardinality_estimators::Confidence;
use dpsketch::{Answer, AnySketch, Error, ErrorKind, MAX_SETS, estimate_formula, estimate_jaccard, is_set_name};

use super::estimate::{facts, quantity};
use crate::console::{Console, Report};
use crate::format::{number, pairs};
use crate::io::{read, warn_about_raw};
use crate::paths::at_most_one_stdin;

#[derive(Debug, Args)]
#[command(next_help_heading = "Sets")]
pub(crate) struct SetArgs {
    /// A name for the set behind a sketch, for --expr and --jaccard; up to eight times.
    #[arg(long = "name", value_name = "NAME=FILE", value_parser = OsStringValueParser::new().try_map(|text| parse_named(&text)))]
    names: Vec<Named>,
    /// Which items to count: names with & (in both), | (in one of them), ^ (in exactly one), - (not in the second),
    /// ! (in some named set but not in this one) and parentheses.
    #[arg(long, value_name = "FORMULA", requires = "names", conflicts_with = "jaccard", allow_hyphen_values = true)]
    expr: Option<String>,
    /// How similar two sets are: the share of their items that is in both.
    #[arg(long, requires = "names")]
    jaccard: bool,
}

/// A sketch file under a name.
#[derive(Clone, Debug)]
struct Named {
    name: String,
    file: PathBuf,
}

fn parse_named(text: &OsStr) -> Result<Named, Error> {
    let wrong = |message: &str| {
        Error::new(ErrorKind::Parameter, message)
            .argument("--name")
            .value(text.to_string_lossy())
            .allowed("NAME=FILE, with a name of letters, digits, dots and underscores")
            .hint("such as --name a=site7.dps")
    };
    let (name, file) = split_once(text).ok_or_else(|| wrong("a named sketch needs a name and a file"))?;
    if !is_set_name(&name) {
        return Err(wrong("this name cannot stand in a formula"));
    }
    if file.as_os_str().is_empty() {
        return Err(wrong("the name of a file is empty"));
    }
    Ok(Named { name, file })
}

/// What stands before and after the first `=`. The name of a file need not be text.
#[cfg(unix)]
fn split_once(text: &OsStr) -> Option<(String, PathBuf)> {
    use std::os::unix::ffi::OsStrExt;
    let bytes = text.as_bytes();
    let at = bytes.iter().position(|byte| *byte == b'=')?;
    Some((String::from_utf8_lossy(&bytes[..at]).into_owned(), OsStr::from_bytes(&bytes[at + 1..]).into()))
}

#[cfg(not(unix))]
fn split_once(text: &OsStr) -> Option<(String, PathBuf)> {
    let (name, file) = text.to_str()?.split_once('=')?;
    Some((name.to_owned(), file.into()))
}

impl SetArgs {
    /// Whether anything here was asked for.
    pub(crate) fn is_asked(&self) -> bool {
        !self.names.is_empty() || self.expr.is_some() || self.jaccard
    }

    /// Answers the formula, or the similarity.
    pub(crate) fn run(&self, confidence: Confidence, console: Console) -> Result<(), Error> {
        if self.expr.is_none() && !self.jaccard {
            return Err(Error::new(ErrorKind::Parameter, "named sketches need a question")
                .argument("--name")
                .allowed("--name with --expr or --jaccard")
                .hint("such as --expr 'a & !b'"));
        }
        // Clap does not ask for an argument that conflicts with another one present.
        if self.names.is_empty() {
            return Err(Error::new(ErrorKind::Parameter, "a question about sets needs named sketches")
                .argument("FILE")
                .allowed("--name with --expr or --jaccard")
                .hint("name each file: --name a=A.dps"));
        }
        self.check_names()?;
        at_most_one_stdin(self.names.iter().map(|named| &named.file))?;
        let sketches = self.names.iter().map(|named| Ok((named.name.clone(), read(&named.file)?)));
        let sketches: Vec<(String, AnySketch)> = sketches.collect::<Result<_, Error>>()?;
        warn_about_raw(&sketches, console);
        let (answer, text) = match &self.expr {
            Some(expr) => {
                let answer = estimate_formula(&sketches, expr, confidence);
                answer.map(|answer| (answer.to_json(), text(&answer, quantity(&answer), number)))
            }
            None => estimate_jaccard(&sketches, confidence)
                .map(|answer| (answer.to_json(), text(&answer, "similarity", share))),
        }
        .map_err(|error| error.argument_or("--name"))?;
        console.print(&Report::of_one(text, answer))
    }

    /// Before any file is read.
    fn check_names(&self) -> Result<(), Error> {
        if self.names.len() > MAX_SETS {
            return Err(Error::new(ErrorKind::Parameter, format!("{} sketches are named", self.names.len()))
                .argument("--name")
                .value(self.names.len().to_string())
                .allowed(format!("1 to {MAX_SETS}"))
                .hint("merge sketches that always occur together"));
        }
        let repeated = |(position, named): &(usize, &Named)| {
            self.names.iter().take(*position).any(|before| before.name == named.name)
        };
        match self.names.iter().enumerate().find(repeated) {
            None => Ok(()),
            Some((_, named)) => Err(Error::new(ErrorKind::Parameter, format!("two sets are named {:?}", named.name))
                .argument("--name")
                .value(&named.name)
                .allowed("every name once")
                .hint("for the union of several files under one name, merge them first")),
        }
    }
}

/// The answer for people, with a warning where it is worth little.
fn text(answer: &Answer, what: &'static str, number: fn(f64) -> String) -> String {
    let mut lines = facts(answer, what, number);
    lines.insert(0, ("formula", answer.expr().unwrap_or_default().to_owned()));
    if answer.error_exceeds_value() {
        let upper = answer.estimate().upper().map(|upper| format!(": it may well be nothing, or {}", number(upper)));
        lines.push(("warning", format!("the error exceeds the answer{}", upper.unwrap_or_default())));
    }
    pairs(&lines)
}

fn share(value: f64) -> String {
    format!("{value:.4}")
}
