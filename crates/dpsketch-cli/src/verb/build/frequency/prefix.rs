//! `build --prefix-tree`: a stack of sketches in which frequent keys are found without a list of candidates.

use std::sync::Arc;

use arrow_array::ArrayRef;
use clap::Args;
use dpsketch::countsketch_dp::{ContributionBound, Leaf, PrefixLayout};
use dpsketch::sketch_hash::Item;
use dpsketch::{
    AnySketch, Error, ErrorKind, FrequencySketch, MaxItems, PrefixBuilder, PrefixKeys, RawPrefixStack, parse_count,
    visit_rows,
};

use super::super::rows::Roles;
use super::super::{BuildArgs, tell_rows};
use super::rows::told;
use super::settings::FrequencySettings;
use super::{tell_clipped, tell_zeroed};
use crate::console::Console;
use crate::format::counted;
use crate::input::RowSink;
use crate::io::Destination;
use crate::verb::frequency_args::refuse_for;
use crate::verb::written::report_written;

/// The usual length of a text key, in bytes.
const KEY_BYTES: u64 = 8;
/// The usual step between levels, in bits.
const STEP: u64 = 8;

#[derive(Debug, Args)]
#[command(next_help_heading = "Prefix tree (--kind countsketch)")]
pub(in crate::verb::build) struct PrefixArgs {
    /// Make a stack of sketches, one for each length of prefix, in which `dpsketch topk --prefix-tree` finds frequent items
    /// without a list of candidates. The levels share the budget. Of texts only the first bytes are told apart.
    #[arg(long)]
    pub(in crate::verb::build) prefix_tree: bool,
    /// How many of the first bytes of a text make its key, 1 to 8. 8 if left out.
    #[arg(long, value_name = "N", value_parser = parse_count, allow_negative_numbers = true, conflicts_with = "key_bits")]
    key_bytes: Option<u64>,
    /// Items are whole numbers of so many bits, 1 to 64, instead of texts.
    #[arg(long, value_name = "N", value_parser = parse_count, allow_negative_numbers = true)]
    key_bits: Option<u64>,
    /// How many bits longer the prefixes of each level are, 1 to 16. 8 if left out.
    #[arg(long, value_name = "N", value_parser = parse_count, allow_negative_numbers = true)]
    step: Option<u64>,
}

impl PrefixArgs {
    /// The flags that need --prefix-tree, and whether they were given.
    pub(in crate::verb::build) fn given(&self) -> [(&'static str, bool); 3] {
        [
            ("--key-bytes", self.key_bytes.is_some()),
            ("--key-bits", self.key_bits.is_some()),
            ("--step", self.step.is_some()),
        ]
    }

    fn keys(&self) -> Result<PrefixKeys, Error> {
        let told = |argument: &str, value: u64, max: u64, error: Error| {
            error.argument(argument).value(value.to_string()).allowed(format!("1 to {max}"))
        };
        let small = |value: u64| u8::try_from(value).unwrap_or(u8::MAX);
        match (self.key_bits, self.key_bytes.unwrap_or(KEY_BYTES)) {
            (Some(bits), _) => PrefixKeys::integers(small(bits)).map_err(|error| told("--key-bits", bits, 64, error)),
            (None, bytes) => PrefixKeys::text(small(bytes)).map_err(|error| told("--key-bytes", bytes, 8, error)),
        }
    }

    fn layout(&self, keys: PrefixKeys, settings: &FrequencySettings) -> Result<PrefixLayout, Error> {
        let step = self.step.unwrap_or(STEP);
        if !(1..=u64::from(PrefixLayout::MAX_STEP)).contains(&step) {
            return Err(Error::new(ErrorKind::Parameter, format!("a step of {step} bits is out of range"))
                .argument("--step")
                .value(step.to_string())
                .allowed(format!("1 to {}", PrefixLayout::MAX_STEP)));
        }
        let step = u8::try_from(step).unwrap_or(PrefixLayout::MAX_STEP);
        Ok(PrefixLayout::new(keys.bits(), step, settings.terms.shape())?)
    }
}

pub(super) fn run(args: &BuildArgs, settings: &FrequencySettings, console: Console) -> Result<(), Error> {
    refuse_for("countsketch with --prefix-tree", [("--study", args.study.is_some())])?;
    let columns = args.data.column();
    if columns.len() > 1 {
        return Err(Error::new(ErrorKind::Column, "a key is made of one column")
            .argument("--column")
            .value(columns.join(","))
            .allowed("one column with --prefix-tree"));
    }
    let keys = args.prefix.keys()?;
    let (layout, bound) = (args.prefix.layout(keys, settings)?, bound(args, settings)?);
    let rho = settings.level.map(dpsketch::FrequencyLevel::stack_rho).transpose()?;
    let mut books = args.booking.open_rho(rho, bound, console)?;
    let destination = Destination::open(&args.out, rho.is_none())?;
    let raw = read(args, settings, (keys, layout, bound), console)?;
    let mut release = None;
    let sketch = match rho {
        Some(rho) => {
            raw.check_release(settings.relation, rho)?;
            let permit = books.pay_rho(rho, bound)?;
            let private = raw.release_paid(settings.relation, permit);
            let private = private.map_err(|error| books.explain(error, None))?;
            release = private.leaves(0).first().map(Leaf::id);
            AnySketch::from(FrequencySketch::from(private))
        }
        None => FrequencySketch::from(raw).into(),
    };
    let free = destination.write(&sketch).map_err(|error| books.explain(error, None))?;
    books.finish_frequencies(release)?;
    report_written(&args.out, &sketch, free, console)
}

/// The bound, without clipping in the cells, which is for single sketches.
fn bound(args: &BuildArgs, settings: &FrequencySettings) -> Result<ContributionBound, Error> {
    let most = settings.terms.bound().max_weight();
    Ok(match args.users.max_items.map(MaxItems::get) {
        Some(items) => ContributionBound::user_items(items, most)?,
        None => ContributionBound::entry(most)?,
    })
}

fn read(
    args: &BuildArgs,
    settings: &FrequencySettings,
    (keys, layout, bound): (PrefixKeys, PrefixLayout, ContributionBound),
    console: Console,
) -> Result<RawPrefixStack, Error> {
    let roles = Arc::new(Roles::new(args));
    let (grid, key) = (settings.terms.granularity(), settings.key);
    let empty = || {
        let (hash, text, layout) = (settings.hash.clone(), settings.rules.clone(), layout.clone());
        let builder = if bound.is_user() {
            PrefixBuilder::users(layout, keys, bound, grid, hash, text, key, args.users.spilling()?)?
        } else {
            PrefixBuilder::records(layout, keys, bound, grid, hash, text)?.with_excess(settings.excess)
        };
        Ok(PrefixRows { builder, roles: roles.clone() })
    };
    let PrefixRows { builder, .. } = args.read(console, empty)?;
    let counts = builder.counts();
    tell_rows(counts.rows, counts.nulls, console);
    tell_clipped(settings, counts.clipped, console);
    tell_zeroed(counts.zeroed, console);
    let (raw, users) = builder.finish()?;
    if let Some(users) = users {
        console.note(&format!("{} of {} kept", counted(users.kept, "item"), counted(users.users, "user")));
    }
    console.note(&format!(
        "the unit of privacy is {bound}; keys are {keys}, in {}",
        counted(raw.layout().levels() as u64, "level")
    ));
    Ok(raw)
}

/// Rows with an item that becomes a key.
struct PrefixRows {
    builder: PrefixBuilder,
    roles: Arc<Roles>,
}

impl PrefixRows {
    fn take(&mut self, row: &[Option<Item<'_>>]) -> Result<(), Error> {
        let Self { builder, roles } = self;
        let item = if roles.is_plain() { row.first().copied().flatten() } else { roles.items(row).next().flatten() };
        let done = if roles.has_weight() {
            builder.push_weighted_row(roles.user(row), item, roles.weight(row))
        } else {
            builder.push_row(roles.user(row), item)
        };
        done.map_err(|error| told(error, false))
    }
}

impl RowSink for PrefixRows {
    fn push_texts<'a>(&mut self, texts: impl IntoIterator<Item = &'a str>) -> Result<(), Error> {
        texts.into_iter().try_for_each(|text| self.take(&[Some(Item::Text(text))]))
    }

    fn push_row<'a>(
        &mut self,
        values: impl IntoIterator<Item = Option<Item<'a>>, IntoIter: ExactSizeIterator>,
    ) -> Result<(), Error> {
        let row: Vec<_> = values.into_iter().collect();
        self.take(&row)
    }

    fn push_arrays(&mut self, arrays: &[ArrayRef]) -> Result<(), Error> {
        visit_rows(arrays, |row| self.take(row)).map_err(|error| error.argument_or("--column"))
    }

    fn absorb(&mut self, _other: Self) -> Result<(), Error> {
        Err(Error::new(ErrorKind::Internal, "the rows of a prefix tree come through one builder"))
    }
}
