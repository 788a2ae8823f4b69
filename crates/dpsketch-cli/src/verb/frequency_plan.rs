//! `plan --kind countsketch`: how accurate frequencies will be, before any data.

use clap::Args;
use dpsketch::cardinality_estimators::Confidence;
use dpsketch::countsketch_dp::theory::TailNorms;
use dpsketch::dp_noise::Neighbouring;
use dpsketch::{
    Clipping, Error, ErrorKind, FrequencyLevel, FrequencyPlan, FrequencyPurpose, MaxItems, PlannedUnit,
    parse_confidence,
};
use serde_json::Value;

use super::frequency_args::{FrequencyArgs, amount};
use super::written::warn_about_level;
use crate::console::{Console, Report};
use crate::format::{count, lines, number, pairs};

/// What is known of the data, and what is wanted of the answers.
#[derive(Debug, Args)]
#[command(next_help_heading = "Frequencies (--kind countsketch)")]
pub(super) struct DataArgs {
    /// The sum of all frequencies, such as the number of rows, of all parties together. A guess will do.
    #[arg(long, value_name = "N", value_parser = amount, allow_hyphen_values = true, conflicts_with = "norm")]
    total: Option<f64>,
    /// The root of the sum of all squared frequencies, instead of the total, where that is what is known.
    #[arg(long, value_name = "L2", value_parser = amount, allow_hyphen_values = true)]
    norm: Option<f64>,
    /// Find the smallest sketch whose intervals are at most this far from the answer, in units of weight.
    #[arg(long, value_name = "A", value_parser = amount, allow_hyphen_values = true, conflicts_with_all = ["rows", "width"])]
    target_error: Option<f64>,
    /// How sure the intervals of the answers are; 0.95 if left out.
    #[arg(long, value_name = "C", value_parser = parse_confidence, allow_hyphen_values = true)]
    confidence: Option<Confidence>,
}

impl DataArgs {
    /// The flags, and whether they were given.
    pub(super) fn given(&self) -> [(&'static str, bool); 4] {
        [
            ("--total", self.total.is_some()),
            ("--norm", self.norm.is_some()),
            ("--target-error", self.target_error.is_some()),
            ("--confidence", self.confidence.is_some()),
        ]
    }

    fn norms(&self) -> Result<TailNorms, Error> {
        let missing = || {
            Error::new(ErrorKind::Parameter, "how much data will there be?")
                .argument("--total")
                .allowed("--total N, such as the number of rows, or --norm L2")
                .hint("say one of the two; a guess will do")
        };
        match (self.total, self.norm) {
            (Some(total), _) => TailNorms::of_total(total).map_err(|error| named(error.into(), "--total", total)),
            (None, Some(norm)) if norm >= 0.0 => {
                TailNorms::of_squared(norm * norm).map_err(|error| named(error.into(), "--norm", norm))
            }
            (None, Some(norm)) => {
                let wrong = Error::new(ErrorKind::Parameter, "a norm is not below 0").allowed("0 or more, and finite");
                Err(named(wrong, "--norm", norm))
            }
            (None, None) => Err(missing()),
        }
    }
}

fn named(error: Error, argument: &str, value: f64) -> Error {
    error.argument(argument).value(value.to_string())
}

/// Everything that a plan depends on.
pub(super) struct Wanted<'a> {
    pub(super) data: &'a DataArgs,
    pub(super) frequency: &'a FrequencyArgs,
    pub(super) level: FrequencyLevel,
    pub(super) relation: Neighbouring,
    pub(super) parties: u32,
    pub(super) max_items: Option<MaxItems>,
    pub(super) max_bytes: Option<u64>,
}

pub(super) fn run(wanted: &Wanted<'_>, console: Console) -> Result<(), Error> {
    warn_about_level(Some(wanted.level), console);
    let plan = wanted.plan()?;
    let json = plan.to_json();
    console.print(&Report::of_one(wanted.text(&plan, &json), json))
}

impl Wanted<'_> {
    fn plan(&self) -> Result<FrequencyPlan, Error> {
        let asked = self.frequency;
        let max_weight = asked.max_units()?;
        let unit = match self.max_items {
            None => PlannedUnit::Record { max_weight },
            Some(items) => PlannedUnit::User { max_items: items.get(), max_weight, clipping: Clipping::Auto },
        };
        let purpose = FrequencyPurpose::new(self.data.norms()?, unit, self.level)
            .with_relation(self.relation)
            .with_granularity(asked.granularity.unwrap_or_default())
            .with_parties(self.parties)?;
        let confidence = self.data.confidence.unwrap_or(Confidence::P95);
        let has_shape = asked.rows.is_some() || asked.width.is_some();
        match (self.data.target_error, self.max_bytes) {
            (Some(target), max) => purpose.smallest(target, confidence, max),
            (None, Some(max)) if !has_shape => purpose.best_within(max, confidence),
            (None, max) => within(purpose.plan(asked.shape_or(None)?, confidence)?, max),
        }
    }

    fn text(&self, plan: &FrequencyPlan, json: &Value) -> String {
        let shape = plan.shape();
        let half = |value: f64| if value.is_finite() { number(value) } else { "none".to_owned() };
        let sure = plan_confidence(json);
        let mut head = vec![
            ("sketch", format!("{} rows x {}, {} bytes released", shape.rows(), shape.width(), count(plan.bytes()))),
            ("privacy", format!("{} for {}", self.level, plan.terms().unit())),
            ("noise", format!("standard error {} in a cell{}", number(plan.noise_variance().sqrt()), way(json))),
            ("proved", format!("{sure} % intervals of +- {}, for any data of this size", half(plan.half_width()))),
            ("typical", format!("{sure} % intervals of +- {}", half(plan.typical_half_width()))),
        ];
        if self.parties > 1 {
            head.push(("merged", format!("{} bytes, from {} parties", count(plan.merged_bytes()), self.parties)));
        }
        let notes = json["approximations"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let notes = lines(notes.map(|note| format!("- {note}")));
        pairs(&head) + &format!("\nbuild with: --rows {} --width {}\n", shape.rows(), shape.width()) + &notes
    }
}

/// By which way the noise for epsilon and delta was found.
fn way(json: &Value) -> &'static str {
    match json["calibration"].as_str() {
        Some("exact") => ", by the exact delta of all rows together",
        Some("zcdp") => ", through a rho of zero-concentrated privacy",
        _ => "",
    }
}

fn plan_confidence(json: &Value) -> String {
    let percent = format!("{:.6}", json["confidence"].as_f64().unwrap_or_default() * 100.0);
    percent.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn within(plan: FrequencyPlan, max_bytes: Option<u64>) -> Result<FrequencyPlan, Error> {
    match max_bytes {
        Some(max) if plan.bytes() > max => {
            Err(Error::new(ErrorKind::Parameter, format!("the sketch has {} bytes", plan.bytes()))
                .argument("--max-bytes")
                .value(max.to_string())
                .allowed(format!("{} or more with this shape", plan.bytes()))
                .hint("leave --rows and --width out to get the best sketch of that length"))
        }
        _ => Ok(plan),
    }
}
