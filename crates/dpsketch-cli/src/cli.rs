//! The command line as clap sees it: what holds for all verbs, and the verbs.

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};

use crate::verb::{
    build, completions, convert, decode, demo, estimate, inspect, key, ledger, man, merge, plan, query, release, study,
    topk, verify,
};
use crate::version::{LONG_VERSION, VERSION};

/// Differentially private, mergeable sketches: count distinct things, and how frequent they are, over several data sets
/// without sharing the data.
///
/// Each party builds a sketch of its data and releases it with noise. Released sketches can be published, merged and
/// estimated by anybody; the noise protects every single item, whatever else is known.
#[derive(Debug, Parser)]
#[command(
    name = "dpsketch",
    version = VERSION,
    long_version = LONG_VERSION.as_str(),
    propagate_version = true,
    arg_required_else_help = true,
    after_help = EXIT_CODES,
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

const EXIT_CODES: &str = "\
Exit codes: 0 done; 1 failed while running; 2 wrong usage or parameter out of range; 3 sketches do not fit together;
4 budget exhausted or release refused; 5 input unreadable or damaged; 6 verify found a fault. With --json errors are JSON
on stderr.

Try it: dpsketch demo";

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// How results are written to standard output.
    #[arg(long, global = true, value_enum, default_value = "text")]
    pub(crate) format: OutputFormat,
    /// Short for --format json; errors are JSON, too.
    #[arg(long, global = true, conflicts_with_all = ["format", "csv"])]
    pub(crate) json: bool,
    /// Short for --format csv.
    #[arg(long, global = true, conflicts_with = "format")]
    pub(crate) csv: bool,
    /// When to use colours. The environment variable `NO_COLOR` turns them off, too.
    #[arg(long, global = true, value_enum, default_value = "auto")]
    pub(crate) color: ColorChoice,
    /// No progress bar, no notes and no "wrote …" line; results, warnings and errors stay.
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// More notes on standard error.
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// Lines for people.
    Text,
    /// One JSON value.
    Json,
    /// One JSON object a line.
    Ndjson,
    /// A header line and one line for each object.
    Csv,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal only.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// How accurate an answer will be and how large its sketch, before any data.
    Plan(plan::PlanArgs),
    /// Data to a sketch: raw, or released at once with --epsilon or --rho.
    Build(Box<build::BuildArgs>),
    /// A raw sketch to a private one, once.
    Release(release::ReleaseArgs),
    /// Several sketches to one: the union or sum of their data.
    Merge(merge::MergeArgs),
    /// How many distinct items: of one sketch, or of the union of several. Of frequencies, their second moment.
    Estimate(estimate::EstimateArgs),
    /// How frequent items are, of a private sketch of frequencies.
    Query(query::QueryArgs),
    /// The most frequent of many candidates, of a private sketch of frequencies.
    Topk(topk::TopkArgs),
    /// The frequencies of all items of a public list at once, with less error than one by one.
    Decode(decode::DecodeArgs),
    /// What is in a sketch file: kind, shape, hash, privacy.
    Inspect(inspect::InspectArgs),
    /// From Presto's bytes to ours, and back.
    Convert(convert::ConvertArgs),
    /// Whether sketch files are whole, and fit together.
    Verify(verify::VerifyArgs),
    /// Hash keys for studies that do not want the public one.
    Key(key::KeyArgs),
    /// What several parties agree on, so that their sketches merge.
    Study(study::StudyArgs),
    /// The books of a privacy budget.
    Ledger(ledger::LedgerVerbArgs),
    /// A tour on real data, in seconds.
    Demo(demo::DemoArgs),
    /// Completions for a shell.
    Completions(completions::CompletionsArgs),
    /// The manual page.
    Man(man::ManArgs),
}

impl OutputArgs {
    pub(crate) fn chosen_format(&self) -> OutputFormat {
        match (self.json, self.csv) {
            (true, _) => OutputFormat::Json,
            (_, true) => OutputFormat::Csv,
            _ => self.format,
        }
    }
}
