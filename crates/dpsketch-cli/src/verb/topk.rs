//! `topk`: the most frequent of many candidates.

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};
use dpsketch::{Error, ErrorKind, TopItems, TopRule, parse_count, parse_real};
use serde_json::Value;

use super::estimate::percent_of;
use super::prefix_search;
use super::private_frequencies::{AskArgs, ItemArgs, Lines, blame_candidates, check_stdin, private, until_failure};
use super::query::line;
use crate::cli::OutputFormat;
use crate::console::{Console, Report};
use crate::format::{count, lines};
use crate::io::read;
use crate::paths::{paths, shown};
use crate::rows_out::RowsOut;

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("among").required(true))]
pub(crate) struct TopkArgs {
    /// A private sketch of frequencies, or - for standard input.
    #[arg(value_name = "FILE", value_parser = paths())]
    pub(super) file: PathBuf,
    /// How many items to show at most.
    #[arg(short = 'k', value_name = "N", default_value = "10", value_parser = parse_count, allow_negative_numbers = true)]
    limit: u64,
    /// A public list of the items that may be frequent, one a line, or - for standard input. It must not be made from the
    /// data.
    #[arg(long, value_name = "F", value_parser = paths(), group = "among")]
    candidates: Option<PathBuf>,
    /// Search the keys of a stack, made by `dpsketch build --prefix-tree`, instead of candidates.
    /// Keys are texts unless --integers is said, as it was with `dpsketch build --key-bits`.
    #[arg(long, group = "among", conflicts_with = "fields")]
    prefix_tree: bool,
    /// How candidates are estimated.
    #[arg(long, value_name = "E", value_enum, default_value = "decode", conflicts_with = "prefix_tree")]
    estimator: RankBy,
    #[command(flatten)]
    pub(super) form: ItemArgs,
    /// Show only items whose interval lies above this frequency: with the confidence, all of them really are above it. With
    /// --prefix-tree, find the keys that have at least this frequency; look at the intervals of those that are found. Left out
    /// there, the search lowers it until it has found N keys.
    #[arg(long, value_name = "T", value_parser = threshold, allow_hyphen_values = true)]
    pub(super) above: Option<f64>,
    #[command(flatten)]
    pub(super) ask: AskArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RankBy {
    /// All together, as by `dpsketch decode`: collisions between candidates are told apart. The list is held in memory.
    Decode,
    /// One by one, by the median of their rows: for lists of any length.
    Median,
}

fn threshold(text: &str) -> Result<f64, Error> {
    let told = |error: Error| error.argument("--above").value(text).allowed("a finite number, such as 0");
    let value = parse_real(text).map_err(told)?;
    let wrong = || told(Error::new(ErrorKind::Parameter, format!("{text} is no frequency")));
    if value.is_finite() { Ok(value) } else { Err(wrong()) }
}

const COLUMNS: [&str; 8] = ["rank", "item", "estimate", "std_error", "lower", "upper", "confidence", "status"];

pub(crate) fn run(args: &TopkArgs, console: Console) -> Result<(), Error> {
    let limit = args.limit()?;
    check_stdin(&args.file, args.candidates.as_ref())?;
    let sketch = read(&args.file)?;
    let Some(candidates) = &args.candidates else {
        return prefix_search::run(args, limit, &sketch, console);
    };
    let sketch = private(&shown(&args.file), &sketch)?;
    let rule = args.above.map_or(TopRule::Largest, TopRule::Above);
    let mut failure = None;
    let candidates = until_failure(Lines::open(candidates, "--candidates", console)?, &mut failure);
    let (hash, rules, fields) = (args.ask.hash(sketch.hash_id())?, args.ask.rules(), args.form.fields());
    let top = match args.estimator {
        RankBy::Decode => {
            TopItems::decoded(sketch, hash, rules, &fields, candidates, limit, rule, args.ask.confidence())
        }
        RankBy::Median => {
            TopItems::among_fields(sketch, hash, rules, &fields, candidates, limit, rule, args.ask.options())
        }
    };
    if let Some(error) = failure {
        return Err(error);
    }
    let top = top.map_err(blame_candidates)?;
    let json = top.to_json();
    print(args.text(&top), json, console)
}

/// Prints ranked items: as a list of objects, or a table, or with what holds for all of them.
pub(super) fn print(text: String, json: Value, console: Console) -> Result<(), Error> {
    match console.format() {
        OutputFormat::Text | OutputFormat::Json => console.print(&Report { text, json, rows: Vec::new() }),
        format => {
            let mut out = RowsOut::stdout(format, &COLUMNS);
            let rows = json["items"].as_array().into_iter().flatten();
            rows.into_iter().try_for_each(|row| out.push(row, String::new))?;
            out.finish()
        }
    }
}

impl TopkArgs {
    fn limit(&self) -> Result<usize, Error> {
        usize::try_from(self.limit).ok().filter(|limit| *limit > 0).ok_or_else(|| {
            Error::new(ErrorKind::Parameter, "no item was asked for")
                .argument("-k")
                .value(self.limit.to_string())
                .allowed("1 or more")
        })
    }

    fn text(&self, top: &TopItems) -> String {
        let percent = percent_of(self.ask.confidence());
        let head = format!("{:>6} {:>12} {:>26}  item", "rank", "estimate", format!("{percent} interval"));
        let ranked = (1_usize..).zip(top.items());
        let table = ranked.map(|(rank, item)| format!("{rank:>6} {}", line(item.item(), item.estimate())));
        let mut foot = format!(
            "{} of {} candidates; the intervals of all candidates hold at once",
            count(top.items().len() as u64),
            count(top.candidates())
        );
        if top.has_more() {
            foot.push_str("; more may qualify: raise -k");
        }
        lines([head].into_iter().chain(table).chain([foot]))
    }
}
