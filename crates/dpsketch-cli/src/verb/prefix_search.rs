//! `topk --prefix-tree`: frequent keys that nobody listed.

use dpsketch::countsketch_dp::PrefixSearch;
use dpsketch::{AnySketch, Error, ErrorKind, FoundKeys, FrequencySketch, PrefixKeys, RecordedPrefixStack};

use super::estimate::percent_of;
use super::query::line;
use super::topk::{TopkArgs, print};
use crate::console::Console;
use crate::format::{count, lines, number};
use crate::paths::shown;

pub(super) fn run(args: &TopkArgs, limit: usize, sketch: &AnySketch, console: Console) -> Result<(), Error> {
    let stack = private(&shown(&args.file), sketch)?;
    let keys = keys(args, stack)?;
    let hash = args.ask.hash(stack.hash_id())?;
    let found = match args.above {
        Some(above) => stack.search(hash, keys, &search(checked(above)?, args), limit)?,
        None => stack.search_largest(hash, keys, &search(1.0, args), limit)?,
    };
    if found.hits().miss_probability.is_none() {
        console.warn("more prefixes than a level may keep are above the frequency: some frequent keys may be missing");
    }
    print(text(args, &found), found.to_json(), console)
}

fn search(above: f64, args: &TopkArgs) -> PrefixSearch {
    PrefixSearch::above(above).confidence(args.ask.confidence())
}

fn checked(above: f64) -> Result<f64, Error> {
    let refused = || {
        Error::new(ErrorKind::Parameter, "a search needs a frequency above 0")
            .argument("--above")
            .value(above.to_string())
            .allowed("a number above 0, or no --above at all")
    };
    if above > 0.0 { Ok(above) } else { Err(refused()) }
}

fn keys(args: &TopkArgs, stack: &RecordedPrefixStack) -> Result<PrefixKeys, Error> {
    let bits = stack.layout().key_bits();
    if args.form.integers {
        return PrefixKeys::integers(bits);
    }
    if !bits.is_multiple_of(8) {
        return Err(Error::new(ErrorKind::Parameter, format!("the stack has keys of {bits} bits, which are no texts"))
            .argument("--integers")
            .allowed("--integers for this file"));
    }
    PrefixKeys::text(bits / 8)
}

fn private<'s>(name: &str, sketch: &'s AnySketch) -> Result<&'s RecordedPrefixStack, Error> {
    let (message, hint) = match sketch {
        AnySketch::Frequencies(FrequencySketch::Prefixes(stack)) => return Ok(stack),
        AnySketch::Frequencies(FrequencySketch::RawPrefixes(_)) => (
            format!("{name} is raw: its frequencies are not private"),
            "release it first with `dpsketch release`, and search the private file",
        ),
        other => (
            format!("{name} is a sketch of kind {}, not a stack of prefixes", other.kind()),
            "build one with --prefix-tree, or name --candidates",
        ),
    };
    Err(Error::new(ErrorKind::Incompatible, message)
        .argument("FILE")
        .value(name)
        .allowed("a private stack of prefixes")
        .hint(hint))
}

fn text(args: &TopkArgs, found: &FoundKeys) -> String {
    let percent = percent_of(args.ask.confidence());
    let head = format!("{:>6} {:>12} {:>26}  key", "rank", "estimate", format!("{percent} interval"));
    let ranked = (1_usize..).zip(found.items());
    let table = ranked.map(|(rank, (name, hit))| format!("{rank:>6} {}", line(&name, &hit.estimate)));
    let mut foot = format!(
        "{} prefixes looked at for keys of at least {}; all intervals hold at once",
        count(found.hits().visited),
        number(found.above())
    );
    if found.has_more() {
        foot.push_str("; more keys were found: raise -k");
    }
    lines([head].into_iter().chain(table).chain([foot]))
}
