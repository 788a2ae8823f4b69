//! `topk --prefix-tree`: frequent keys that nobody listed.

use dpsketch::countsketch_dp::PrefixSearch;
use dpsketch::{AnySketch, Error, ErrorKind, FoundKeys, FrequencySketch, PrefixKeys, RecordedPrefixStack};

use super::query::line;
use super::topk::{TopkArgs, print};
use crate::console::Console;
use crate::format::{count, lines};
use crate::paths::shown;

pub(super) fn run(args: &TopkArgs, limit: usize, sketch: &AnySketch, console: Console) -> Result<(), Error> {
    let stack = private(&shown(&args.file), sketch)?;
    let above = args.above.filter(|above| *above > 0.0).ok_or_else(|| {
        Error::new(ErrorKind::Parameter, "a search needs a frequency above 0")
            .argument("--above")
            .value(args.above.unwrap_or_default().to_string())
            .allowed("a number above 0")
    })?;
    let search = PrefixSearch::above(above).confidence(args.ask.confidence());
    let keys = keys(args, stack)?;
    let found = stack.search(args.ask.hash(stack.hash_id())?, keys, &search, limit)?;
    if found.hits().miss_probability.is_none() {
        console.warn("more prefixes than a level may keep are above the frequency: some frequent keys may be missing");
    }
    print(text(args, &found), found.to_json(), console)
}

fn keys(args: &TopkArgs, stack: &RecordedPrefixStack) -> Result<PrefixKeys, Error> {
    let bits = stack.layout().key_bits();
    if args.integers {
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
    let percent = args.ask.confidence().get() * 100.0;
    let head = format!("{:>6} {:>12} {:>26}  key", "rank", "estimate", format!("{percent} % interval"));
    let ranked = (1_usize..).zip(found.items());
    let table = ranked.map(|(rank, (name, hit))| format!("{rank:>6} {}", line(&name, &hit.estimate)));
    let mut foot = format!("{} prefixes looked at; all intervals hold at once", count(found.hits().visited));
    if found.has_more() {
        foot.push_str("; more keys were found: raise -k");
    }
    lines([head].into_iter().chain(table).chain([foot]))
}
