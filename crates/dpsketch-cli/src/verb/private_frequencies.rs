//! Private frequency sketches among files, and the hash and text rules to ask them with.

use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use dpsketch::cardinality_estimators::Confidence;
use dpsketch::countsketch_dp::{PrivateCountSketch, QueryOptions};
use dpsketch::sketch_hash::{AnyHash, HashId};
use dpsketch::{AnySketch, Error, ErrorKind, FrequencySketch, ItemFields, TextRules, parse_confidence, parse_count};

use super::build::{Hash, SketchKeyArgs, TextArgs};
use crate::console::Console;
use crate::paths::{is_std, shown};

/// The longest item that is asked for, in bytes.
const MAX_ITEM: u64 = 16 << 20;

/// Over how many answers a confidence holds at once: at least over one.
pub(super) fn answers(text: &str) -> Result<u64, Error> {
    let allowed = "1 or more";
    let answers = parse_count(text).map_err(|error| error.argument("--simultaneous").allowed(allowed))?;
    if answers > 0 {
        return Ok(answers);
    }
    Err(Error::new(ErrorKind::Parameter, "a confidence holds over at least one answer")
        .argument("--simultaneous")
        .value(text)
        .allowed(allowed))
}

/// How items are hashed, as when the sketch was built, and how sure intervals are.
#[derive(Debug, Args)]
pub(super) struct AskArgs {
    #[command(flatten)]
    key: SketchKeyArgs,
    #[command(flatten)]
    text: TextArgs,
    /// How sure the intervals are.
    #[arg(long, value_name = "C", default_value = "0.95", value_parser = parse_confidence, allow_hyphen_values = true)]
    confidence: Confidence,
}

impl AskArgs {
    /// The function that the sketch was made with, unless another one is named, and the key.
    pub(super) fn hash(&self, made_with: HashId) -> Result<AnyHash, Error> {
        let made_with = Hash::from(made_with.algorithm());
        self.key.hash(self.key.hash.unwrap_or(made_with))
    }

    pub(super) fn rules(&self) -> TextRules {
        self.text.rules()
    }

    pub(super) fn options(&self) -> QueryOptions {
        QueryOptions::default().confidence(self.confidence)
    }

    pub(super) const fn confidence(&self) -> Confidence {
        self.confidence
    }
}

/// How texts name items.
#[derive(Debug, Args)]
pub(super) struct ItemArgs {
    /// Items are whole numbers, as in an integer column of Parquet, Arrow or NDJSON. The text 42 of a CSV file is another item.
    #[arg(long, conflicts_with = "fields")]
    pub(super) integers: bool,
    /// Items are of several columns, as `dpsketch build --column A,B` makes them: text or integer for each column, in that
    /// order. An item is then written as a record of a CSV file, such as EWR,B6 with --fields text,text.
    #[arg(long, value_name = "TYPE[,TYPE…]", value_parser = fields)]
    pub(super) fields: Option<ItemFields>,
}

fn fields(text: &str) -> Result<ItemFields, Error> {
    text.parse()
}

impl ItemArgs {
    /// The columns that items are made of; one text if nothing is said.
    pub(super) fn fields(&self) -> ItemFields {
        match &self.fields {
            Some(fields) => fields.clone(),
            None if self.integers => ItemFields::integers(),
            None => ItemFields::default(),
        }
    }
}

/// The private frequencies in a file.
pub(super) fn private<'s>(name: &str, sketch: &'s AnySketch) -> Result<&'s PrivateCountSketch, Error> {
    let wrong = |message: String, hint: &str| {
        Err(Error::new(ErrorKind::Incompatible, message)
            .argument("FILE")
            .value(name)
            .allowed("a private sketch of kind countsketch")
            .hint(hint))
    };
    match sketch {
        AnySketch::Frequencies(FrequencySketch::Private(private)) => Ok(private),
        AnySketch::Frequencies(FrequencySketch::Prefixes(_)) => {
            wrong(format!("{name} is a stack of prefixes, which is searched"), "use `dpsketch topk --prefix-tree`")
        }
        AnySketch::Frequencies(_) => wrong(
            format!("{name} is raw: its frequencies are not private"),
            "release it first with `dpsketch release`, and ask the private sketch",
        ),
        other => wrong(
            format!("{name} is a sketch of kind {}, not of frequencies", other.kind()),
            "use `dpsketch estimate` for distinct counts",
        ),
    }
}

/// The lines of a file or of standard input, one at a time.
pub(super) struct Lines {
    reader: Box<dyn BufRead>,
    name: String,
    argument: &'static str,
    first: bool,
}

impl Lines {
    pub(super) fn open(path: &Path, argument: &'static str, console: Console) -> Result<Self, Error> {
        let (name, reader): (_, Box<dyn Read>) = if is_std(path) {
            if io::stdin().is_terminal() {
                console.note("reading items from the terminal; end with Ctrl-D");
            }
            ("standard input".to_owned(), Box::new(io::stdin()))
        } else {
            let name = shown(path);
            let file = crate::input::open_file(path);
            let file: File = file.map_err(|error| Error::reading(&name, error).argument(argument))?;
            (name, Box::new(file))
        };
        Ok(Self { reader: Box::new(BufReader::new(reader)), name, argument, first: true })
    }

    fn read(&mut self) -> Result<Option<String>, Error> {
        let mut line = String::new();
        let read = (&mut self.reader).take(MAX_ITEM + 1).read_line(&mut line);
        let read = read.map_err(|error| Error::reading(&self.name, error).argument(self.argument))? as u64;
        if read > MAX_ITEM {
            return Err(Error::new(ErrorKind::Damaged, format!("{} has a line that is too long", self.name))
                .argument(self.argument)
                .value(&self.name)
                .allowed(format!("lines of at most {MAX_ITEM} bytes")));
        }
        if read == 0 {
            return Ok(None);
        }
        if line.ends_with('\n') {
            line.pop();
            if line.ends_with('\r') {
                line.pop();
            }
        }
        if std::mem::take(&mut self.first)
            && let Some(rest) = line.strip_prefix('\u{feff}')
        {
            line = rest.to_owned();
        }
        Ok(Some(line))
    }
}

impl Iterator for Lines {
    type Item = Result<String, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

/// The lines, and where the first failure is kept: for whoever takes texts only.
pub(super) fn until_failure<'f>(
    lines: impl Iterator<Item = Result<String, Error>> + 'f,
    failure: &'f mut Option<Error>,
) -> impl Iterator<Item = String> + 'f {
    lines.map_while(|line| line.map_err(|error| *failure = Some(error)).ok())
}

/// The same error, told of the list that the item stood in.
pub(super) fn blame_candidates(error: Error) -> Error {
    if error.to_json()["argument"] == "--item" { error.argument("--candidates") } else { error }
}

/// At most one of the names is standard input.
pub(super) fn check_stdin(file: &Path, items: Option<&PathBuf>) -> Result<(), Error> {
    let file = file.to_owned();
    crate::paths::at_most_one_stdin(std::iter::once(&file).chain(items))
}
