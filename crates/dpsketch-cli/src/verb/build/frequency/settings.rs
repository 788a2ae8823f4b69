//! What the flags and the study come to for frequencies.

use dpsketch::countsketch_dp::Exposure;
use dpsketch::dp_noise::Neighbouring;
use dpsketch::sketch_hash::{AnyHash, HashKey};
use dpsketch::{
    Clipping, CountSketchTerms, Error, ErrorKind, Excess, FrequencyLevel, FrequencyStudy, MaxItems, PricedRelease,
    TextRules,
};

use super::super::BuildArgs;
use super::super::settings::{check_key, settle, settle_text};
use super::super::sketch::Hash;
use crate::verb::frequency_args::Relation;

/// Everything that parties must agree on, the key, and the level of the release.
#[derive(Debug)]
pub(super) struct FrequencySettings {
    pub(super) terms: CountSketchTerms,
    pub(super) hash: AnyHash,
    pub(super) key: HashKey,
    pub(super) rules: TextRules,
    pub(super) level: Option<FrequencyLevel>,
    pub(super) relation: Neighbouring,
    pub(super) excess: Excess,
}

impl FrequencySettings {
    /// From the flags; with a study, what it says, and no flag may say otherwise.
    pub(super) fn new(args: &BuildArgs) -> Result<Self, Error> {
        let study = args.study.as_deref().map(FrequencyStudy::load).transpose();
        let study = study.map_err(|error| error.argument("--study"))?;
        let study = study.as_ref();
        let keyed = &args.sketch.keyed;
        let function = study.map(|study| Hash::from(study.hash().algorithm()));
        settle("--hash", keyed.hash.map(Hash::as_str), function.map(Hash::as_str))?;
        let function = keyed.hash.or(function).unwrap_or(Hash::Default);
        let hash = keyed.hash(function)?;
        if let Some(study) = study {
            check_key(study.hash(), &hash, keyed.key_file.as_deref())?;
        }
        check_users(args, study)?;
        let level = args.level.level(args.epsilon)?;
        settle(flag_of(args), level.map(|level| level.to_string()), study.map(|study| study.level().to_string()))?;
        let relation =
            |relation: Neighbouring| if relation == Neighbouring::AddRemove { "add-remove" } else { "substitute" };
        let asked = args.level.relation;
        settle("--relation", asked.map(|asked| relation(asked.into())), study.map(|study| relation(study.relation())))?;
        Ok(Self {
            terms: terms(args, study)?,
            key: if function == Hash::Presto { HashKey::DEFAULT } else { keyed.key()? },
            hash,
            rules: settle_text(&args.text, study.map(FrequencyStudy::text))?,
            level: level.or(study.map(FrequencyStudy::level)),
            relation: study.map_or_else(|| asked.unwrap_or(Relation::AddRemove).into(), FrequencyStudy::relation),
            excess: if args.weights.clip_weights { Excess::Clip } else { Excess::Refuse },
        })
    }

    /// The noise and its cost, if there is to be a release.
    pub(super) fn price(&self) -> Result<Option<PricedRelease>, Error> {
        let exposure = Exposure::new(self.terms.shape(), self.terms.bound(), 1, self.relation);
        self.level.map(|level| level.price(exposure)).transpose()
    }
}

/// The flag that says most about the level.
fn flag_of(args: &BuildArgs) -> &'static str {
    if args.level.rho.is_some() { "--rho" } else { "--epsilon" }
}

fn terms(args: &BuildArgs, study: Option<&FrequencyStudy>) -> Result<CountSketchTerms, Error> {
    let asked = &args.frequency;
    let max_items = args.users.max_items.map(MaxItems::get);
    if let Some(study) = study {
        let terms = study.terms();
        settle("--rows", asked.rows, Some(u64::from(terms.shape().rows())))?;
        settle("--width", asked.width, Some(u64::from(terms.shape().width())))?;
        settle("--granularity", asked.granularity, Some(terms.granularity()))?;
        let units =
            asked.max_weight.map(|weight| dpsketch::max_weight_units(weight, terms.granularity())).transpose()?;
        let (most, step) = (terms.bound().max_weight(), terms.granularity().step());
        settle("--max-weight", units.map(|units| weight(units, step)), Some(weight(most, step)))?;
        settle("--max-items", max_items, terms.bound().max_items().filter(|_| terms.bound().is_user()))?;
        return Ok(terms);
    }
    if args.weights.weight.is_some() && asked.max_weight.is_none() {
        return Err(Error::new(ErrorKind::Parameter, "how much may one row or item weigh?")
            .argument("--max-weight")
            .allowed("a number above 0, decided before the data is looked at")
            .hint("say --max-weight beside --weight: the noise is in proportion to it"));
    }
    let (shape, granularity) = (asked.shape_or(None)?, asked.granularity.unwrap_or_default());
    match max_items {
        None => CountSketchTerms::records(shape, granularity, asked.max_units()?),
        Some(items) => CountSketchTerms::users(shape, granularity, items, asked.max_units()?, Clipping::Auto),
    }
}

/// Grid units as a weight, for comparing and for messages.
#[expect(clippy::cast_precision_loss, reason = "above 2^53 units a weight is told to 53 bits")]
fn weight(units: u64, step: f64) -> f64 {
    units as f64 * step
}

/// Whether the unit of privacy is clear.
fn check_users(args: &BuildArgs, study: Option<&FrequencyStudy>) -> Result<(), Error> {
    let for_users = study.map(|study| study.terms().bound().is_user());
    let wrong = |message: &str, argument: &str| Err(Error::new(ErrorKind::Parameter, message).argument(argument));
    match (&args.users.user, for_users) {
        (Some(user), Some(false)) => wrong("the study protects rows, not users", "--user")
            .map_err(|error: Error| error.value(user).hint("leave --user and --max-items out: the study decides")),
        (None, Some(true)) => wrong("the study protects users", "--user").map_err(|error: Error| {
            error
                .allowed("the column that says which user a row belongs to")
                .hint("say --user with the name of that column")
        }),
        (Some(user), None) if args.users.max_items.is_none() => {
            wrong("how many items may a user contribute?", "--max-items").map_err(|error: Error| {
                error.allowed(format!("1 to {}", MaxItems::MAX)).hint(format!("say --max-items beside --user {user}"))
            })
        }
        (Some(_), _) if args.weights.clip_weights => {
            wrong("with --user all weights of a user for an item are clipped together", "--clip-weights").map_err(
                |error: Error| error.hint("leave --clip-weights out: --max-weight bounds every item of a user"),
            )
        }
        _ => Ok(()),
    }
}
