//! `build`: data to a sketch.

use std::io::{self, IsTerminal};
use std::num::NonZero;
use std::path::PathBuf;
use std::thread::available_parallelism;

use clap::{Args, ValueEnum};
use dpsketch::dp_noise::Epsilon;
use dpsketch::sfm_pcsa::{Leaf, PcsaShape};
use dpsketch::sketch_hash::{AnyHash, DefaultHash, PrestoHash};
use dpsketch::{
    AnySketch, DistinctBuilder, Error, ErrorKind, PrivacyUnit, RawSketch, TextRules, parse_count, parse_epsilon,
    parse_size, read_key_file,
};

use crate::console::Console;
use crate::format::{count, counted};
use crate::input::{self, BLOCK, Hints, InputFormat, Reading, STDIN};
use crate::io::{Destination, at_most_one_stdin, path};
use crate::progress::Progress;
use crate::verb::booking::LedgerArgs;
use crate::verb::written::{report_written, warn_about_epsilon};

#[derive(Debug, Args)]
pub(crate) struct BuildArgs {
    /// Files with the data, or - for standard input; plain, gzip or zstd. Several are one data set.
    #[arg(value_name = "INPUT", default_value = STDIN)]
    inputs: Vec<String>,
    /// What the sketch counts: sfm, distinct items.
    #[arg(long, value_enum, default_value = "sfm")]
    kind: Kind,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    sketch: SketchArgs,
    /// Release with this epsilon at once: no raw state touches a disk. Without it the sketch is raw and not private.
    #[arg(long, value_name = "E", value_parser = parse_epsilon, allow_hyphen_values = true)]
    epsilon: Option<Epsilon>,
    #[command(flatten)]
    booking: LedgerArgs,
    /// Threads that count; the result does not depend on it. One for each processor if left out.
    #[arg(long, value_name = "N", value_parser = threads)]
    threads: Option<usize>,
    /// Where to write the sketch: NAME.dps with --epsilon, NAME.raw.dps without, or - for standard output.
    #[arg(long, short, value_name = "FILE", value_parser = path)]
    out: PathBuf,
}

/// What a sketch can count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// Distinct items.
    Sfm,
}

/// How the data is read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Data")]
struct DataArgs {
    /// The column to count, or several separated by commas to count their combinations.
    #[arg(long, value_name = "C[,C2…]", value_delimiter = ',')]
    column: Vec<String>,
    /// The format of the inputs; auto goes by content and extension.
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "auto")]
    input_format: InputFormat,
    /// The byte between CSV fields; \t or tab for a tabulator. A comma, or a tabulator in .tsv files, if left out.
    #[arg(long, value_name = "C", value_parser = delimiter, allow_hyphen_values = true)]
    delimiter: Option<u8>,
    /// CSV files have no header line; columns are numbered from 1.
    #[arg(long)]
    no_header: bool,
    /// Text that stands for a missing value. None if left out: an empty text is a value.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    null: Option<String>,
    /// Drop white space at both ends of text.
    #[arg(long)]
    trim: bool,
    /// Turn text to lower case.
    #[arg(long)]
    lowercase: bool,
    /// The longest line or record of text that is accepted.
    #[arg(long, value_name = "SIZE", default_value = "16MiB", value_parser = max_record)]
    max_record: usize,
}

/// What the sketch looks like.
#[derive(Debug, Args)]
#[command(next_help_heading = "Sketch")]
struct SketchArgs {
    /// Buckets, a power of two: four times as many halve the error.
    #[arg(long, value_name = "B", default_value = "4096", value_parser = parse_count)]
    buckets: u64,
    /// Levels: each one more doubles the largest count.
    #[arg(long, value_name = "P", default_value = "24", value_parser = parse_count)]
    levels: u64,
    /// The hash function; presto is the one of Presto's SQL functions and has no key.
    #[arg(long, value_enum, default_value = "default")]
    hash: Hash,
    /// The hash key of a study, made by `dpsketch key new`. The public key if left out.
    #[arg(long, value_name = "F", value_parser = path)]
    key_file: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Hash {
    /// Keyed SipHash-1-3.
    Default,
    /// XXH64 with seed 0, as Presto has it.
    Presto,
}

pub(crate) fn run(args: &BuildArgs, console: Console) -> Result<(), Error> {
    let shape = args.sketch.shape()?;
    let hash = args.sketch.hash()?;
    let reading = args.reading()?;
    warn_about_epsilon(args.epsilon, console);
    at_most_one_stdin(&args.inputs).map_err(|error| error.argument("INPUT"))?;
    let mut books = args.booking.open(args.epsilon)?;
    let destination = Destination::open(&args.out, args.epsilon.is_none())?;
    if args.inputs.iter().any(|input| input == STDIN) && io::stdin().is_terminal() {
        console.note("reading from the terminal; end with Ctrl-D");
    }

    let progress = Progress::new(input::total_bytes(&args.inputs), console.is_quiet());
    let rules = args.data.rules();
    let empty = || DistinctBuilder::new(shape, hash.clone(), rules.clone());
    let builder = input::count(&args.inputs, &reading, &progress, &|text| console.detail(text), empty)?;
    let counts = builder.counts();
    console.note(&format!(
        "{} read, {} with a missing value left out",
        counted(counts.rows, "row"),
        count(counts.nulls)
    ));

    let raw = RawSketch::try_from(builder)?;
    let mut release = None;
    let sketch = match args.epsilon {
        Some(epsilon) => {
            let permit = books.pay(epsilon)?;
            let released = raw.release_for(PrivacyUnit::Item, permit).map_err(|error| books.explain(error, None))?;
            release = released.leaves().first().map(Leaf::id);
            AnySketch::from(released)
        }
        None => raw.into(),
    };
    let free = destination.write(&sketch).map_err(|error| books.explain(error, None))?;
    books.finish(release)?;
    report_written(&args.out, &sketch, free, console)
}

impl BuildArgs {
    fn reading(&self) -> Result<Reading, Error> {
        let data = &self.data;
        for (position, column) in data.column.iter().enumerate() {
            let fault = match column.as_str() {
                "" => "a column has an empty name",
                name if data.column[..position].iter().any(|other| other == name) => "a column is named twice",
                _ => continue,
            };
            return Err(Error::new(ErrorKind::Column, fault).argument("--column").value(data.column.join(",")));
        }
        Ok(Reading {
            hints: Hints {
                format: data.input_format,
                delimiter: data.delimiter,
                tabular: !data.column.is_empty() || data.delimiter.is_some() || data.no_header,
            },
            columns: data.column.clone(),
            has_header: !data.no_header,
            max_record: data.max_record,
            threads: self.threads.unwrap_or_else(|| available_parallelism().map_or(1, NonZero::get).min(MAX_THREADS)),
        })
    }
}

impl DataArgs {
    fn rules(&self) -> TextRules {
        TextRules { trim: self.trim, lowercase: self.lowercase, null: self.null.clone() }
    }
}

impl SketchArgs {
    fn shape(&self) -> Result<PcsaShape, Error> {
        let buckets = u32::try_from(self.buckets).unwrap_or(u32::MAX);
        let levels = u8::try_from(self.levels).unwrap_or(u8::MAX);
        Ok(PcsaShape::new(buckets, levels)?)
    }

    fn hash(&self) -> Result<AnyHash, Error> {
        match (self.hash, &self.key_file) {
            (Hash::Default, None) => Ok(AnyHash::default()),
            (Hash::Default, Some(file)) => Ok(DefaultHash::new(read_key_file(file)?).into()),
            (Hash::Presto, None) => Ok(PrestoHash.into()),
            (Hash::Presto, Some(file)) => Err(Error::new(ErrorKind::Parameter, "--hash presto has no key")
                .argument("--key-file")
                .value(file.display().to_string())
                .allowed("no key file with --hash presto")
                .hint("leave one of the two out")),
        }
    }
}

/// More threads than that help nobody.
const MAX_THREADS: usize = 256;

fn threads(text: &str) -> Result<usize, Error> {
    let range = format!("1 to {MAX_THREADS}");
    let value = parse_count(text).map_err(|error| error.allowed(&range))?;
    usize::try_from(value).ok().filter(|threads| (1..=MAX_THREADS).contains(threads)).ok_or_else(|| {
        Error::new(ErrorKind::Parameter, format!("{text} threads are out of range")).value(text).allowed(&range)
    })
}

fn max_record(text: &str) -> Result<usize, Error> {
    const RANGE: &str = "256KiB to 1GiB";
    let value = parse_size(text).map_err(|error| error.allowed(RANGE))?;
    usize::try_from(value)
        .ok()
        .filter(|size| (BLOCK..=1 << 30).contains(size))
        .ok_or_else(|| Error::new(ErrorKind::Parameter, format!("{text} is out of range")).value(text).allowed(RANGE))
}

fn delimiter(text: &str) -> Result<u8, Error> {
    match text.as_bytes() {
        b"\\t" | b"tab" => Ok(b'\t'),
        &[byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\n' | b'\r') => Ok(byte),
        _ => Err(Error::new(ErrorKind::Parameter, format!("{text:?} is no delimiter"))
            .value(text)
            .allowed(r"one ASCII character that is no quote and no line end, or \t or tab")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_are_one_ascii_character_or_a_tabulator() {
        for (text, byte) in [(";", b';'), ("|", b'|'), ("\\t", b'\t'), ("tab", b'\t'), ("\t", b'\t')] {
            assert_eq!(delimiter(text).ok(), Some(byte));
        }
        for text in ["", ",,", "\"", "\n", "é"] {
            assert!(delimiter(text).is_err(), "{text}");
        }
    }

    #[test]
    fn threads_have_a_range() {
        assert_eq!(threads("1").ok(), Some(1));
        for text in ["0", "257", "-1", "1e9", "x"] {
            assert!(threads(text).is_err(), "{text}");
        }
    }
}
