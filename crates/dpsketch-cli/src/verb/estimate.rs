//! `estimate`: the number, with its error.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use dpsketch::cardinality_estimators::{Confidence, Estimate, LastLevel, Status};
use dpsketch::dp_noise::Amount;
use dpsketch::sfm_pcsa::Unit;
use dpsketch::{Answer, AnySketch, Error, ErrorKind, F0Whole, Method, estimate_with, parse_confidence};

use super::estimate_sets::SetArgs;
use super::frequency_args::refuse_for;
use super::{estimate_regions, group_estimates, moment};
use crate::console::{Console, Report};
use crate::format::{counted, number, pairs, percent, rounded_up};
use crate::io::read_all;
use crate::paths::{check_out, paths};

#[derive(Debug, Args)]
pub(crate) struct EstimateArgs {
    /// Sketches: one, or several for the number of distinct items in all of them together; - for standard input. Tallies made by
    /// `dpsketch merge --tally` stand for their releases. Or one table of groups, made by `dpsketch build --group-by`. Of
    /// frequencies: one sketch for the second moment, the sum of the squares of all frequencies, and two for their inner product,
    /// the size of a join. Of several sets (kind f0): their symmetric difference; --name and --expr ask for other sets.
    #[arg(value_name = "FILE", required_unless_present = "names", conflicts_with = "names", value_parser = paths())]
    files: Vec<PathBuf>,
    /// How sure the interval is.
    #[arg(long, value_name = "C", default_value = "0.95", value_parser = parse_confidence, allow_hyphen_values = true)]
    confidence: Confidence,
    /// For a table of groups: where to write the estimates, NAME.csv or NAME.parquet. Standard output if left out.
    #[arg(long, short, value_name = "FILE", value_parser = paths(), conflicts_with = "names")]
    out: Option<PathBuf>,
    /// How likely the last level of a sketch is taken to be; exact if left out.
    #[arg(long, value_enum, conflicts_with = "names")]
    last_level: Option<LastLevelArg>,
    #[command(flatten)]
    sets: SetArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LastLevelArg {
    /// As likely as it is, in sketches of Presto's, too.
    Exact,
    /// As Presto's estimator has it: too much where a sketch is nearly full. For comparisons.
    Presto,
}

pub(crate) fn run(args: &EstimateArgs, console: Console) -> Result<(), Error> {
    if args.sets.regions() && args.sets.names().is_empty() {
        refuse_beside_regions(args)?;
        return estimate_regions::of_files(&args.files, args.confidence, console);
    }
    if args.sets.is_asked() {
        return args.sets.run(args.confidence, console);
    }
    if let Some(out) = &args.out {
        check_out(out, args.files.iter().map(PathBuf::as_path))?;
    }
    if let Some(table) = group_estimates::table_among(&args.files)? {
        return group_estimates::run(&table, args.confidence, args.out.as_deref(), console);
    }
    if let Some(out) = &args.out {
        return Err(Error::new(ErrorKind::Parameter, "one estimate is no table")
            .argument("--out")
            .value(out.display().to_string())
            .allowed("--out with a table of groups only")
            .hint("use --json or --csv, and send the output to a file"));
    }
    let sketches = read_all(&args.files, console)?;
    if sketches.iter().any(|(_, sketch)| matches!(sketch, AnySketch::Frequencies(_))) {
        refuse_for("countsketch", [("--last-level", args.last_level.is_some())])?;
        return moment::run(&sketches, args.confidence, console);
    }
    if sketches.iter().any(|(_, sketch)| matches!(sketch, AnySketch::F0(_))) {
        refuse_for("f0", [("--last-level", args.last_level.is_some())])?;
    }
    let last_level = match args.last_level {
        None | Some(LastLevelArg::Exact) => LastLevel::Exact,
        Some(LastLevelArg::Presto) => LastLevel::Presto,
    };
    let answer = estimate_with(&sketches, last_level, args.confidence).map_err(|error| error.argument_or("FILE"))?;
    console.print(&Report::of_one(text(&answer), answer.to_json()))
}

/// Flags that stand for other questions.
fn refuse_beside_regions(args: &EstimateArgs) -> Result<(), Error> {
    let others = [("--out", args.out.is_some()), ("--last-level", args.last_level.is_some())];
    match others.into_iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((flag, _)) => Err(Error::new(ErrorKind::Parameter, format!("{flag} is not for --regions"))
            .argument(flag)
            .allowed("--regions alone")
            .hint("use --json or --csv for the table of regions, and send the output to a file")),
    }
}

/// The answer for people.
pub(crate) fn text(answer: &Answer) -> String {
    pairs(&facts(answer, quantity(answer), number))
}

/// What the number counts: items, or their weights.
pub(crate) fn quantity(answer: &Answer) -> &'static str {
    if answer.max_weight().is_some() { "weight" } else { "distinct" }
}

/// The lines of an answer for people, the first of which has this name, with numbers as `number` writes them.
pub(crate) fn facts(answer: &Answer, what: &'static str, number: fn(f64) -> String) -> Vec<(&'static str, String)> {
    let found = answer.estimate();
    let mut lines = vec![(
        what,
        found.value().map_or_else(|| "no estimate".to_owned(), |value| format!("about {}", number(value))),
    )];
    match answer.whole() {
        Some(F0Whole::SymmetricDifference) => {
            let sets = if answer.sketches() == 2 { "exactly one of the two sets" } else { "an odd number of the sets" };
            lines.push(("of", format!("items in {sets}")));
        }
        Some(F0Whole::Union) => lines.push(("of", "the union of the streams".to_owned())),
        _ => {}
    }
    lines.push(("interval", interval(answer, number)));
    if let Some(error) = found.std_error() {
        lines.push(("std error", std_error(answer, error, number)));
    }
    lines.push(("status", format!("{}: {}", found.status().as_str(), meaning(answer))));
    if let Some(method) = answer.method() {
        lines.push(("method", method.to_string()));
    }
    lines.push(("privacy", privacy(answer)));
    if let Some(note) = answer.note() {
        lines.push(("note", note.to_owned()));
    }
    lines
}

fn interval(answer: &Answer, number: fn(f64) -> String) -> String {
    interval_of(answer.estimate(), number)
}

/// An interval in words.
pub(crate) fn interval_of(found: &Estimate, number: fn(f64) -> String) -> String {
    let ends = interval_ends(found, number);
    match (found.lower(), found.upper()) {
        (None, None) => ends,
        _ => format!("{ends} ({} confidence)", percent_of(found.confidence())),
    }
}

/// The two ends of an interval in words.
pub(crate) fn interval_ends(found: &Estimate, number: fn(f64) -> String) -> String {
    match (found.lower(), found.upper()) {
        (Some(lower), Some(upper)) => format!("{} to {}", number(lower), number(upper)),
        (Some(lower), None) => format!("at least {}", number(lower)),
        (None, Some(upper)) => format!("at most {}", number(upper)),
        (None, None) => "none".to_owned(),
    }
}

/// A level of confidence in percent, with as many digits as it was written with.
pub(crate) fn percent_of(confidence: Confidence) -> String {
    let percent = confidence.get() * 100.0;
    // The product has digits that nobody wrote. Reading back what was just written cannot fail.
    let percent = format!("{percent:.12e}").parse().unwrap_or(percent);
    format!("{percent} %")
}

fn std_error(answer: &Answer, error: f64, number: fn(f64) -> String) -> String {
    let share = answer.estimate().value().filter(|value| *value > 0.0).map(|value| percent(error / value));
    let share = share.map(|share| format!(", {share} of the estimate")).unwrap_or_default();
    let parts = answer.error_parts().filter(|parts| parts.noise > 0.0 || parts.merge > 0.0);
    let parts = parts.map(|parts| [parts.hash, parts.noise, parts.merge].map(number));
    let parts = parts.map(|[hash, noise, merge]| format!(" (hashing {hash}, noise {noise}, union {merge})"));
    format!("{}{share}{}", number(error), parts.unwrap_or_default())
}

/// What an answer cost, in words.
pub(crate) fn privacy(answer: &Answer) -> String {
    // Losses under one key are no sums of decimals that somebody wrote.
    let told = |total: Amount| match answer.sampling_rate() {
        Some(_) => rounded_up(total.nearest_f64()).to_string(),
        None => total.to_string(),
    };
    let Some(largest) = answer.epsilon() else { return "NONE: raw sketches give exact data away".to_owned() };
    let releases = answer.sketches() as u64;
    // Whoever counts items knows that items are meant.
    let whom = match answer.units() {
        [Unit::Item] => String::new(),
        units => format!(", for {}", units.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ")),
    };
    let whom = match answer.epsilon_if_key_known() {
        Some(inner) => format!("{whom}; {inner:.2} towards whoever has the key of the sample"),
        None => whom,
    };
    if releases == 1 {
        return format!("epsilon {largest}{whom}");
    }
    let total = answer.epsilon_total().map(|total| format!(", {} for somebody in all of them", told(total)));
    format!(
        "epsilon {largest} for each data set at most{} ({}){whom}",
        total.unwrap_or_default(),
        counted(releases, "release")
    )
}

/// Whether the interval is so wide that the answer tells little, though its standard error is not.
pub(crate) fn is_wider_than_told(found: &Estimate) -> bool {
    let is_small = matches!((found.std_error(), found.value()), (Some(error), Some(value)) if error < value / 2.0);
    found.status() == Status::LowInformation && is_small
}

/// A status in words. Answers about sets of kind f0 tell of what they are, and those of several releases of their noise.
fn meaning(answer: &Answer) -> &'static str {
    let (sets, product) = (answer.whole(), answer.method() == Some(Method::Product));
    let several = answer.sketches() > 1 && answer.epsilon().is_some();
    match answer.estimate().status() {
        Status::LowInformation if is_wider_than_told(answer.estimate()) => {
            "the interval is wider than the standard error tells; go by its ends"
        }
        Status::LowInformation if sets == Some(F0Whole::Formula) => {
            "the error exceeds the answer; `dpsketch plan --kind f0` tells which shape and epsilon would do"
        }
        Status::LowInformation if sets.is_some() => {
            "the error is more than half of the estimate; `dpsketch plan --kind f0` tells which shape and epsilon would do"
        }
        Status::Ok => "the interval holds at its confidence",
        Status::Empty => "no item at all",
        Status::BelowNoise if product => "nothing that this method could tell from the noise of all sketches",
        Status::BelowNoise => "nothing that the noise could not have made",
        Status::Saturated if several => "more items, or more noise, than sketches of this size can tell apart",
        Status::Saturated => "more items than a sketch of this size can tell apart; build with more levels",
        Status::LowInformation if product => {
            "the error is more than half of the estimate; fewer sketches, or a larger epsilon, tell more by this method"
        }
        Status::LowInformation => "the error is more than half of the estimate; use more buckets or a larger epsilon",
        Status::Unbounded => "the noise leaves no upper end",
        Status::NotConverged => "no answer fits the data; are these sketches of one study?",
    }
}
