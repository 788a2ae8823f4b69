//! What the flags come to for sets and streams.

use std::error::Error as _;

use dpsketch::dp_noise::{Amount, Epsilon};
use dpsketch::f0_sketch::{F0Shape, MaxWeight, ModeKind, NoiseRule};
use dpsketch::sketch_hash::AnyHash;
use dpsketch::{Error, ErrorKind, F0Error, F0Study, F0Terms, PrivacyUnit, TextRules, WeightConflict};

use super::super::BuildArgs;
use super::super::settings::{check_key, settle, settle_text};
use super::super::sketch::Hash;
use crate::verb::f0_args;
use crate::verb::frequency_args::refuse_for;

/// Everything that parties must agree on, the key, and the level of the release.
#[derive(Debug)]
pub(super) struct F0Settings {
    pub(super) mode: ModeKind,
    pub(super) terms: F0Terms,
    pub(super) hash: AnyHash,
    pub(super) rules: TextRules,
    pub(super) epsilon: Option<Epsilon>,
    pub(super) noise: NoiseRule,
    /// Whether rows insert and delete.
    pub(super) operations: bool,
    pub(super) conflict: WeightConflict,
}

impl F0Settings {
    /// From the flags; with a study, what it says, and no flag may say otherwise.
    pub(super) fn new(args: &BuildArgs) -> Result<Self, Error> {
        refuse(args)?;
        let study = args.study.as_deref().map(F0Study::load).transpose().map_err(|error| error.argument("--study"))?;
        let study = study.as_ref();
        if let Some(study) = study.filter(|study| study.unit() != PrivacyUnit::Item) {
            return Err(Error::new(
                ErrorKind::Parameter,
                "sets are built for items here, and the study protects users",
            )
            .argument("--study")
            .value(study.unit().to_string())
            .allowed("a study of items"));
        }
        let mode = settle("--mode", args.f0.mode.map(ModeKind::from), study.map(F0Study::mode))?;
        let mode = mode.unwrap_or(ModeKind::Set);
        check_mode(args, mode)?;
        let keyed = &args.sketch.keyed;
        let function = study.map(|study| Hash::from(study.hash().algorithm()));
        settle("--hash", keyed.hash.map(Hash::as_str), function.map(Hash::as_str))?;
        let hash = keyed.hash(keyed.hash.or(function).unwrap_or(Hash::Default))?;
        if let Some(study) = study {
            check_key(study.hash(), &hash, keyed.key_file.as_deref())?;
        }
        let amount = |epsilon: Epsilon| Amount::from_epsilon(epsilon);
        settle("--epsilon", args.epsilon.map(amount), study.map(|study| amount(study.epsilon())))?;
        Ok(Self {
            mode,
            terms: terms(args, study)?,
            hash,
            rules: settle_text(&args.text, study.map(F0Study::text))?,
            epsilon: args.epsilon.or(study.map(F0Study::epsilon)),
            noise: study.map_or(NoiseRule::Tight, F0Study::noise),
            operations: args.f0_rows.op_column.is_some(),
            conflict: args.f0_rows.on_conflict.map_or(WeightConflict::Refuse, WeightConflict::from),
        })
    }
}

/// Flags of other kinds.
fn refuse(args: &BuildArgs) -> Result<(), Error> {
    let frequency = args.frequency.given().into_iter().filter(|(flag, _)| *flag != "--max-weight");
    let weights = args.weights.given().into_iter().filter(|(flag, _)| *flag != "--weight");
    let foreign = [
        ("--buckets", args.sketch.buckets.is_some()),
        ("--group-by", args.groups.group_by.is_some()),
        ("--groups", args.groups.groups.is_some()),
        ("--user", args.users.user.is_some()),
        ("--max-items", args.users.max_items.is_some()),
        ("--sorted-by-user", args.users.sorted_by_user),
        ("--prefix-tree", args.prefix.prefix_tree),
    ];
    let foreign = foreign.into_iter().chain(frequency).chain(weights).chain(args.level.given());
    refuse_for("f0", foreign.chain(args.prefix.given()))
}

/// Flags that mean nothing in the mode, or without another flag.
fn check_mode(args: &BuildArgs, mode: ModeKind) -> Result<(), Error> {
    let wrong = |flag: &str, message: &str, hint: &str| {
        Err(Error::new(ErrorKind::Parameter, message).argument(flag).hint(format!("{hint}, or leave {flag} out")))
    };
    let rows = &args.f0_rows;
    if mode == ModeKind::Presampled && rows.op_column.is_some() {
        return wrong("--op-column", "a stream of occurrences has no deletes: its coins are gone", "say --mode set");
    }
    let keeps_items = mode == ModeKind::Set && rows.op_column.is_none();
    if rows.on_conflict.is_some() && !(keeps_items && args.weights.weight.is_some()) {
        let hint = "say --mode set with --weight and without --op-column";
        return wrong("--on-conflict", "only a set of items with weights can find that one has two", hint);
    }
    if args.users.temp_dir.is_some() && !keeps_items {
        let hint = "say --mode set without --op-column";
        return wrong("--temp-dir", "nothing is sorted, so no temporary file is needed", hint);
    }
    Ok(())
}

fn terms(args: &BuildArgs, study: Option<&F0Study>) -> Result<F0Terms, Error> {
    let studied = study.map(|study| study.terms().shape());
    let levels = settle("--levels", args.sketch.levels, studied.map(|shape| u64::from(shape.levels())))?;
    let cells = settle("--cells", args.f0.cells, studied.and_then(F0Shape::cells_per_level).map(u64::from))?;
    let shape = f0_args::shape(levels, cells)?;
    let max = match study {
        None => max_weight(args)?,
        Some(study) => studied_weight(args, study.terms().max_weight())?,
    };
    Ok(match max {
        None => F0Terms::unit(shape),
        Some(max) => F0Terms::weighted(shape, max),
    })
}

/// The largest weight of a study, where flags agree with it.
fn studied_weight(args: &BuildArgs, studied: Option<f64>) -> Result<Option<MaxWeight>, Error> {
    let Some(most) = studied else {
        let given = [
            ("--weight", args.weights.weight.clone()),
            ("--max-weight", args.frequency.max_weight.map(|max| max.to_string())),
        ];
        return match given.into_iter().find_map(|(flag, value)| Some((flag, value?))) {
            None => Ok(None),
            Some((flag, value)) => Err(Error::new(ErrorKind::Parameter, "in the study every item counts as one")
                .argument(flag)
                .value(value)
                .hint(format!("leave {flag} out: the study decides"))),
        };
    };
    settle("--max-weight", args.frequency.max_weight, Some(most))?;
    if args.weights.weight.is_none() {
        return Err(Error::new(ErrorKind::Parameter, "in the study items have weights")
            .argument("--weight")
            .allowed("the column that says how much the item of a row weighs")
            .hint("say --weight with the name of that column"));
    }
    Ok(Some(MaxWeight::new(most)?))
}

/// The largest weight, if items have weights.
fn max_weight(args: &BuildArgs) -> Result<Option<MaxWeight>, Error> {
    match (&args.weights.weight, args.frequency.max_weight) {
        (None, None) => Ok(None),
        (Some(_), Some(max)) => {
            MaxWeight::new(max).map(Some).map_err(|error| Error::from(error).argument("--max-weight"))
        }
        (Some(_), None) => Err(Error::new(ErrorKind::Parameter, "how much may an item weigh?")
            .argument("--max-weight")
            .allowed("a number above 0, decided before the data is looked at")
            .hint(
                "say --max-weight beside --weight: it is the unit of the answer, and heavier items are clipped to it",
            )),
        (None, Some(max)) => Err(Error::new(ErrorKind::Parameter, "without weights every item counts as one")
            .argument("--max-weight")
            .value(max.to_string())
            .allowed("together with --weight")
            .hint("name the column of weights with --weight, or leave --max-weight out")),
    }
}

/// Items of several weights, told with the flag that lets the largest count.
pub(super) fn conflict(error: Error) -> Error {
    match error.source().and_then(|source| source.downcast_ref::<F0Error>()) {
        Some(F0Error::Conflict { .. }) => error.hint(
            "bring the rows of each item together first, with the sum of their weights if that is meant, or say \
             --on-conflict largest",
        ),
        _ => error,
    }
}
