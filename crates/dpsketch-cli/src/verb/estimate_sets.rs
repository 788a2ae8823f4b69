//! `estimate --name`: formulas of sets, and how similar two sets are.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};
use dpsketch::cardinality_estimators::Confidence;
use dpsketch::{Answer, AnySketch, Error, ErrorKind, MAX_SETS, estimate_formula, estimate_jaccard, is_set_name};

use super::estimate::{facts, quantity};
use super::estimate_regions;
use crate::console::{Console, Report};
use crate::format::{number, pairs};
use crate::io::{read, warn_about_raw};
use crate::paths::{at_most_one_stdin, shown};

#[derive(Debug, Args)]
#[command(next_help_heading = "Sets")]
pub(crate) struct SetArgs {
    /// A name for the set behind a sketch, for --expr, --jaccard and --regions; up to eight times.
    #[arg(long = "name", value_name = "NAME=FILE", value_parser = OsStringValueParser::new().try_map(|text| parse_named(&text)))]
    names: Vec<Named>,
    /// Which items to count: names with & (in both), | (in one of them), ^ (in exactly one), - (not in the second),
    /// ! (in some named set but not in this one) and parentheses.
    #[arg(long, value_name = "FORMULA", requires = "names", conflicts_with = "jaccard", allow_hyphen_values = true)]
    expr: Option<String>,
    /// How similar two sets are: the share of their items that is in both.
    #[arg(long, requires = "names")]
    jaccard: bool,
    /// All regions that up to four sets cut the world into, such as a & b & !c, each with its error. The files need no names:
    /// they have those of the files, without folder and ending.
    #[arg(long, conflicts_with_all = ["expr", "jaccard"])]
    regions: bool,
}

/// A sketch file under a name.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) file: PathBuf,
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

    /// Whether all regions are asked for.
    pub(crate) const fn regions(&self) -> bool {
        self.regions
    }

    /// The sketches that have names.
    pub(crate) fn names(&self) -> &[Named] {
        &self.names
    }

    /// Answers the formula, the similarity, or all regions.
    pub(crate) fn run(&self, confidence: Confidence, console: Console) -> Result<(), Error> {
        if self.regions {
            return estimate_regions::run(&self.names, confidence, console);
        }
        if self.expr.is_none() && !self.jaccard {
            return Err(Error::new(ErrorKind::Parameter, "named sketches need a question")
                .argument("--name")
                .allowed("--name with --expr, --jaccard or --regions")
                .hint("such as --expr 'a & !b'"));
        }
        // Clap does not ask for an argument that conflicts with another one present.
        if self.names.is_empty() {
            return Err(Error::new(ErrorKind::Parameter, "a question about sets needs named sketches")
                .argument("FILE")
                .allowed("--name with --expr or --jaccard")
                .hint("name each file: --name a=A.dps"));
        }
        check_names(&self.names)?;
        let sketches = read_named(&self.names, console)?;
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
}

/// Reads sketches under their names.
pub(crate) fn read_named(named: &[Named], console: Console) -> Result<Vec<(String, AnySketch)>, Error> {
    at_most_one_stdin(named.iter().map(|named| &named.file))?;
    let sketches = named.iter().map(|named| Ok((named.name.clone(), read(&named.file)?)));
    let sketches = sketches.collect::<Result<Vec<_>, Error>>()?;
    // Files are known to people, and names to formulas.
    let files = named.iter().zip(&sketches).map(|(named, (_, sketch))| (shown(&named.file), sketch.clone()));
    warn_about_raw(&files.collect::<Vec<_>>(), console);
    Ok(sketches)
}

/// Checks names before any file is read.
pub(crate) fn check_names(named: &[Named]) -> Result<(), Error> {
    if named.len() > MAX_SETS {
        return Err(Error::new(ErrorKind::Parameter, format!("{} sketches are named", named.len()))
            .argument("--name")
            .value(named.len().to_string())
            .allowed(format!("1 to {MAX_SETS}"))
            .hint("put sketches that only matter as their union together: dpsketch merge --tally A B --out AB.dps"));
    }
    let repeated =
        |(position, own): &(usize, &Named)| named.iter().take(*position).any(|before| before.name == own.name);
    match named.iter().enumerate().find(repeated) {
        None => Ok(()),
        Some((_, own)) => Err(Error::new(ErrorKind::Parameter, format!("two sets are named {:?}", own.name))
            .argument("--name")
            .value(&own.name)
            .allowed("every name once")
            .hint("for the union of several files under one name, put them together first: dpsketch merge --tally A B --out AB.dps")),
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
