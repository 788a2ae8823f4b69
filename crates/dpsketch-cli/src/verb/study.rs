//! `study`: what parties agree on before they build sketches that are to merge.

use std::io::Read;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use dpsketch::countsketch_dp::Exposure;
use dpsketch::dp_noise::{Amount, Epsilon};
use dpsketch::f0_sketch::MaxWeight;
use dpsketch::sfm_pcsa::PcsaShape;
use dpsketch::sketch_hash::{AnyHash, HashKey, KeyedHash};
use dpsketch::{
    AnySketch, Clipping, CountSketchTerms, Error, ErrorKind, F0Study, F0Terms, FrequencyStudy, MaxItems, PrivacyUnit,
    Study, StudyError, parse_epsilon,
};
use serde_json::{Value, json};

use super::build::{Hash, Kind, SketchArgs, TextArgs, max_items};
use super::f0_args::{self, F0Args};
use super::frequency_args::{FrequencyArgs, LevelArgs, refuse_for, required_epsilon};
use super::written::{warn_about_epsilon, warn_about_level};
use super::{f0_study, frequency_study};
use crate::console::{Console, Report};
use crate::format::{count, lines, pairs};
use crate::input::open_file;
use crate::io::read;
use crate::paths::{at_most_one_stdin, paths, shown};

#[derive(Debug, Args)]
pub(crate) struct StudyArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Write a study: kind, shape, fingerprint of the key, epsilon and how text is cleaned.
    ///
    /// Give the file to all parties; they build with `dpsketch build --study FILE` and can then merge. It holds no key: a
    /// key file goes its own way. Nothing in a study may depend on private data.
    New(Box<NewArgs>),
    /// Show a study, or check that sketches were made as it says.
    Check {
        /// The study file.
        #[arg(value_name = "STUDY", value_parser = paths())]
        study: PathBuf,
        /// Sketches to check; - for standard input.
        #[arg(value_name = "SKETCH", value_parser = paths())]
        sketches: Vec<PathBuf>,
    },
}

#[derive(Debug, Args)]
struct NewArgs {
    /// What the sketches count.
    #[arg(long, value_enum, default_value = "sfm")]
    kind: Kind,
    #[command(flatten)]
    sketch: SketchArgs,
    #[command(flatten)]
    frequency: FrequencyArgs,
    #[command(flatten)]
    level: LevelArgs,
    #[command(flatten)]
    f0: F0Args,
    #[command(flatten)]
    text: TextArgs,
    /// The privacy loss of each party's release. Frequencies need --delta or --pure beside it, or --rho instead.
    #[arg(long, value_name = "E", value_parser = parse_epsilon, allow_hyphen_values = true)]
    epsilon: Option<Epsilon>,
    /// The release protects users, of whom each keeps at most this many items. An item, or one row, is the unit if left out.
    #[arg(long, value_name = "M", value_parser = max_items, allow_negative_numbers = true)]
    user_max_items: Option<MaxItems>,
    /// The file to write; it must not exist yet.
    #[arg(long, short, value_name = "FILE", value_parser = paths())]
    out: PathBuf,
}

pub(crate) fn run(args: &StudyArgs, console: Console) -> Result<(), Error> {
    match &args.action {
        Action::New(args) => match args.kind {
            Kind::Sfm => {
                warn_about_epsilon(args.epsilon, console);
                let study = args.study()?;
                study.save_new(&args.out).map_err(|error| error.argument_or("--out"))?;
                show(&args.out, &study, console)
            }
            Kind::Countsketch => {
                let study = args.frequencies()?;
                warn_about_level(Some(study.level()), console);
                study.save_new(&args.out).map_err(|error| error.argument_or("--out"))?;
                frequency_study::show(&args.out, &study, console)
            }
            Kind::F0 => {
                warn_about_epsilon(args.epsilon, console);
                let study = args.sets()?;
                study.save_new(&args.out).map_err(|error| error.argument_or("--out"))?;
                f0_study::show(&args.out, &study, console)
            }
        },
        Action::Check { study, sketches } => check_or_show(study, sketches, console),
    }
}

/// Checks the sketches, or shows the study where there are none.
fn check_or_show(file: &Path, sketches: &[PathBuf], console: Console) -> Result<(), Error> {
    let named = |error: Error| error.argument_or("STUDY");
    match kind_of(file).map_err(named)?.unwrap_or(Kind::Sfm) {
        Kind::Sfm => {
            let study = Study::load(file).map_err(named)?;
            if sketches.is_empty() {
                return show(file, &study, console);
            }
            check(|sketch| study.check_sketch(sketch), sketches, console)
        }
        Kind::Countsketch => {
            let study = FrequencyStudy::load(file).map_err(named)?;
            if sketches.is_empty() {
                return frequency_study::show(file, &study, console);
            }
            check(|sketch| frequency_study::check(&study, sketch), sketches, console)
        }
        Kind::F0 => {
            let study = F0Study::load(file).map_err(named)?;
            if sketches.is_empty() {
                return f0_study::show(file, &study, console);
            }
            check(|sketch| f0_study::check(&study, sketch), sketches, console)
        }
    }
}

impl NewArgs {
    fn study(&self) -> Result<Study, Error> {
        let foreign = self.frequency.given().into_iter().chain(self.level.given());
        refuse_for("sfm", foreign.chain(self.f0.given()))?;
        let (shape, epsilon) = (self.sketch.shape_or(PcsaShape::DEFAULT)?, required_epsilon(self.epsilon)?);
        let unit = self.user_max_items.map_or(PrivacyUnit::Item, |max_items| PrivacyUnit::User { max_items });
        let study = Study::new(shape.into(), self.hash()?.id(), epsilon).with_unit(unit);
        let study = study.map_err(|error| Error::from(error).argument("--user-max-items"))?;
        study.with_text(self.text.rules()).map_err(|error| Error::from(error).argument("--null"))
    }

    fn frequencies(&self) -> Result<FrequencyStudy, Error> {
        let foreign = [("--buckets", self.sketch.buckets.is_some()), ("--levels", self.sketch.levels.is_some())];
        refuse_for("countsketch", foreign.into_iter().chain(self.f0.given()))?;
        let (shape, asked) = (self.frequency.shape_or(None)?, &self.frequency);
        let (granularity, most) = (asked.granularity.unwrap_or_default(), asked.max_units()?);
        let terms = match self.user_max_items.map(MaxItems::get) {
            None => CountSketchTerms::records(shape, granularity, most)?,
            Some(items) => CountSketchTerms::users(shape, granularity, items, most, Clipping::Auto)?,
        };
        let (level, relation) = (self.level.required(self.epsilon)?, self.level.relation());
        level.price(Exposure::new(shape, terms.bound(), 1, relation))?;
        let study = FrequencyStudy::new(terms, self.hash()?.id(), level).with_relation(relation);
        study.with_text(self.text.rules()).map_err(|error| Error::from(error).argument("--null"))
    }

    fn sets(&self) -> Result<F0Study, Error> {
        let frequency = self.frequency.given().into_iter().filter(|(flag, _)| *flag != "--max-weight");
        let foreign =
            [("--buckets", self.sketch.buckets.is_some()), ("--user-max-items", self.user_max_items.is_some())];
        refuse_for("f0", frequency.chain(self.level.given()).chain(foreign))?;
        let shape = f0_args::shape(self.sketch.levels, self.f0.cells)?;
        let terms = match self.frequency.max_weight.map(MaxWeight::new).transpose()? {
            None => F0Terms::unit(shape),
            Some(max) => F0Terms::weighted(shape, max),
        };
        let (mode, epsilon) = (self.f0.mode().into(), required_epsilon(self.epsilon)?);
        let study = F0Study::new(mode, terms, self.hash()?.id(), epsilon)?;
        study.with_text(self.text.rules()).map_err(|error| Error::from(error).argument("--null"))
    }

    fn hash(&self) -> Result<AnyHash, Error> {
        self.sketch.keyed.hash(self.sketch.keyed.hash.unwrap_or(Hash::Default))
    }
}

/// What the study in a file is about; none where that cannot be told, so that whoever reads it next says what is wrong.
pub(super) fn kind_of(file: &Path) -> Result<Option<Kind>, Error> {
    const LONGEST: u64 = 1 << 20;
    let failed = |error| Error::reading(&file.display().to_string(), error);
    let mut text = Vec::new();
    open_file(file).map_err(failed)?.take(LONGEST).read_to_end(&mut text).map_err(failed)?;
    let study = serde_json::from_slice::<Value>(&text).ok();
    Ok(match study.as_ref().and_then(|study| study["kind"].as_str()) {
        Some("countsketch") => Some(Kind::Countsketch),
        Some("f0") => Some(Kind::F0),
        Some("sfm") => Some(Kind::Sfm),
        _ => None,
    })
}

/// What the parties agree on.
fn show(file: &Path, study: &Study, console: Console) -> Result<(), Error> {
    let (hash, rules) = (study.hash(), study.text());
    let json = json!({
        "file": file.display().to_string(),
        "kind": study.shape().kind(),
        "shape": study.shape().to_string(),
        "hash": hash.algorithm().to_string(),
        "key": hash.key().to_string(),
        "epsilon": study.epsilon().get(),
        "unit": study.unit().to_string(),
        "max_items": (study.unit() != PrivacyUnit::Item).then(|| study.unit().max_items()),
        "trim": rules.trim,
        "lowercase": rules.lowercase,
        "null": rules.null,
    });
    let yes = |set: bool| if set { "yes" } else { "no" }.to_owned();
    let public = if hash.key() == HashKey::DEFAULT.fingerprint() { ", the public one" } else { "" };
    let text = pairs(&[
        ("study", file.display().to_string()),
        ("sketch", study.shape().to_string()),
        ("hash", format!("{hash}{public}")),
        ("epsilon", format!("{} for {}", Amount::from_epsilon(study.epsilon()), study.unit())),
        ("trim", yes(rules.trim)),
        ("lowercase", yes(rules.lowercase)),
        ("null", rules.null.as_ref().map_or_else(|| "none".to_owned(), |null| format!("{null:?}"))),
    ]);
    console.print(&Report::of_one(text, json))
}

/// One line a sketch; fails when one was not made as the study says.
fn check(one: impl Fn(&AnySketch) -> Result<(), StudyError>, paths: &[PathBuf], console: Console) -> Result<(), Error> {
    at_most_one_stdin(paths)?;
    let mut rows = Vec::new();
    let mut told = Vec::new();
    let mut first_fault = None;
    let mut faults = 0;
    for path in paths {
        let name = &shown(path);
        let sketch = read(path)?;
        if sketch.is_raw() {
            console.warn(&format!("{name} is raw: its release can still be at another level"));
        }
        let checked = one(&sketch);
        let differences = checked.as_ref().err().map(ToString::to_string);
        told.push(differences.as_ref().map_or_else(|| format!("{name}: ok"), |fault| format!("{name}: {fault}")));
        rows.push(row(name, checked.as_ref().err()));
        if let Err(fault) = checked {
            faults += 1;
            first_fault.get_or_insert(fault);
        }
    }
    let json = json!({ "ok": faults == 0, "sketches": rows });
    console.print(&Report { text: lines(told), json, rows })?;
    first_fault.map_or(Ok(()), |fault| {
        let what = format!("{} not made as the study says", counted_sketches(faults));
        Err(Error::new(ErrorKind::Incompatible, what)
            .argument("SKETCH")
            .hint("see the list on standard output; build again with --study")
            .caused_by(fault))
    })
}

fn counted_sketches(faults: u64) -> String {
    if faults == 1 { "1 sketch is".to_owned() } else { format!("{} sketches are", count(faults)) }
}

fn row(name: &str, fault: Option<&StudyError>) -> Value {
    let differences = match fault {
        Some(StudyError::Differs { differences }) => differences
            .iter()
            .map(|found| json!({ "field": found.field, "expected": found.expected, "found": found.found }))
            .collect(),
        _ => Vec::new(),
    };
    json!({ "file": name, "ok": fault.is_none(), "differences": differences })
}
