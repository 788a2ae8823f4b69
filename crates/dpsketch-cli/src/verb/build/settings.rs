//! What the flags and the study come to.

use std::fmt::Display;
use std::path::Path;

use dpsketch::dp_noise::{Amount, Epsilon, ParameterError};
use dpsketch::sfm_pcsa::PcsaShape;
use dpsketch::sketch_hash::{AnyHash, HashId, HashKey, KeyedHash};
use dpsketch::{Error, ErrorKind, MaxItems, PrivacyUnit, Study, StudyShape, TextRules, pcsa_shape};

use super::sketch::Hash;
use super::{BuildArgs, TextArgs};

/// Everything that parties must agree on, and the key.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) shape: PcsaShape,
    pub(super) hash: AnyHash,
    /// The key of the hash, the public one where it has none.
    pub(super) key: HashKey,
    pub(super) rules: TextRules,
    pub(super) epsilon: Option<Epsilon>,
    pub(super) unit: PrivacyUnit,
}

impl Settings {
    /// From the flags; with a study, what it says, and no flag may say otherwise.
    pub(super) fn new(args: &BuildArgs) -> Result<Self, Error> {
        let study = args.study.as_deref().map(load).transpose()?;
        let study = study.as_ref();
        let (sketch, keyed) = (&args.sketch, &args.sketch.keyed);
        let StudyShape::Sfm(usual) = study.map_or(PcsaShape::DEFAULT.into(), Study::shape) else {
            return Err(Error::new(ErrorKind::Parameter, "the study is for another kind of sketch").argument("--study"));
        };
        let studied = study.map(|_| usual);
        let buckets = settle("--buckets", sketch.buckets, studied.map(|shape| u64::from(shape.buckets())))?;
        let levels = settle("--levels", sketch.levels, studied.map(|shape| u64::from(shape.levels())))?;
        let function = study.map(|study| Hash::from(study.hash().algorithm()).as_str());
        settle("--hash", keyed.hash.map(Hash::as_str), function)?;
        let function = keyed.hash.or(study.map(|study| study.hash().algorithm().into())).unwrap_or(Hash::Default);
        let hash = keyed.hash(function)?;
        if let Some(study) = study {
            check_key(study.hash(), &hash, keyed.key_file.as_deref())?;
        }
        let amount = |epsilon: Epsilon| Amount::from_epsilon(epsilon);
        settle("--epsilon", args.epsilon.map(amount), study.map(|study| amount(study.epsilon())))?;
        let rules = settle_text(&args.text, study.map(Study::text))?;
        let (epsilon, unit) = (args.epsilon.or(study.map(Study::epsilon)), unit(args, study)?);
        if let Some(epsilon) = epsilon {
            unit.item_epsilon(epsilon).map_err(|error| too_small(epsilon, unit, error))?;
        }
        let usual_or = |asked: Option<u64>, usual: u64| asked.unwrap_or(usual);
        Ok(Self {
            shape: pcsa_shape(
                usual_or(buckets, u64::from(usual.buckets())),
                usual_or(levels, u64::from(usual.levels())),
            )?,
            key: if function == Hash::Presto { HashKey::DEFAULT } else { keyed.key()? },
            hash,
            rules,
            epsilon,
            unit,
        })
    }
}

fn load(file: &Path) -> Result<Study, Error> {
    Study::load(file).map_err(|error| error.argument("--study"))
}

/// What is left of ε for one item of a user has to be an ε itself.
fn too_small(epsilon: Epsilon, unit: PrivacyUnit, error: ParameterError) -> Error {
    let epsilon = Amount::from_epsilon(epsilon);
    Error::new(ErrorKind::Parameter, format!("epsilon {epsilon} is too small for {unit}"))
        .argument("--epsilon")
        .value(epsilon.to_string())
        .allowed("at least 2^-30 (about 9.3e-10) for each item of a user")
        .caused_by(error)
}

/// What was asked for, or else what the study says. Both may say the same.
pub(super) fn settle<T: PartialEq + Display>(
    argument: &str,
    asked: Option<T>,
    study: Option<T>,
) -> Result<Option<T>, Error> {
    match (asked, study) {
        (Some(asked), Some(study)) if asked != study => {
            Err(Error::new(ErrorKind::Parameter, format!("{argument} is not as the study says"))
                .argument(argument)
                .value(asked.to_string())
                .allowed(study.to_string())
                .hint(format!("leave {argument} out: the study decides")))
        }
        (Some(asked), _) => Ok(Some(asked)),
        (None, study) => Ok(study),
    }
}

/// How text is cleaned: as the study says, and no flag otherwise.
pub(super) fn settle_text(text: &TextArgs, study: Option<&TextRules>) -> Result<TextRules, Error> {
    let switch = |on: bool| if on { "on" } else { "off" };
    settle("--trim", text.trim.then_some("on"), study.map(|rules| switch(rules.trim)))?;
    settle("--lowercase", text.lowercase.then_some("on"), study.map(|rules| switch(rules.lowercase)))?;
    let quoted = |null: &Option<String>| null.as_ref().map(|null| format!("{null:?}"));
    let null = study.map(|rules| quoted(&rules.null).unwrap_or_else(|| "no text for missing values".to_owned()));
    settle("--null", quoted(&text.null), null)?;
    Ok(study.cloned().unwrap_or_else(|| text.rules()))
}

/// Whether the key is the one of the study, by its fingerprint.
pub(super) fn check_key(expected: HashId, hash: &AnyHash, file: Option<&Path>) -> Result<(), Error> {
    let found = hash.id();
    if expected == found {
        return Ok(());
    }
    let error = match file {
        Some(file) => Error::new(ErrorKind::Incompatible, "the key is not the one of the study")
            .value(format!("{}, fingerprint {}", file.display(), found.key()))
            .hint("ask whoever made the study for its key file"),
        None => Error::new(ErrorKind::Parameter, "the study has a key of its own")
            .hint("name the study's key file; `dpsketch key show` tells the fingerprint of a key"),
    };
    Err(error.argument("--key-file").allowed(format!("the key with fingerprint {}", expected.key())))
}

/// Whom epsilon protects.
fn unit(args: &BuildArgs, study: Option<&Study>) -> Result<PrivacyUnit, Error> {
    let of_user = |max_items: MaxItems| PrivacyUnit::User { max_items };
    let asked = args.users.max_items.map(of_user);
    if let (Some(user), Some(PrivacyUnit::Item)) = (&args.users.user, study.map(Study::unit)) {
        return Err(Error::new(ErrorKind::Parameter, "the study protects items, not users")
            .argument("--user")
            .value(user)
            .hint("leave --user and --max-items out: the study decides"));
    }
    let unit = settle("--max-items", asked, study.map(Study::unit))?.unwrap_or_default();
    match (unit, &args.users.user) {
        (PrivacyUnit::User { .. }, None) => Err(Error::new(ErrorKind::Parameter, "the study protects users")
            .argument("--user")
            .allowed("the column that says which user a row belongs to")
            .hint("say --user with the name of that column")),
        (PrivacyUnit::Item, Some(user)) => {
            Err(Error::new(ErrorKind::Parameter, "how many items may a user contribute?")
                .argument("--max-items")
                .allowed(format!("1 to {}", MaxItems::MAX))
                .hint(format!("say --max-items beside --user {user}")))
        }
        (unit, _) => Ok(unit),
    }
}
