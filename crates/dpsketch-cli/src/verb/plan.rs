//! `plan`: how accurate an answer will be, before any data.

use clap::{Args, ValueEnum};
use dpsketch::dp_noise::{Amount, Epsilon};
use dpsketch::sfm_pcsa::PcsaShape;
use dpsketch::{
    Error, ErrorKind, MaxItems, Plan, PlannedAnswer, PrivacyUnit, Purpose, parse_count, parse_epsilon, parse_real,
    parse_size, pcsa_shape,
};
use serde_json::Value;

use super::build::{Kind, max_items};
use super::f0_args::F0Args;
use super::frequency_args::{FrequencyArgs, LevelArgs, refuse_for, required_epsilon};
use super::{f0_plan, frequency_plan};
use crate::console::{Console, Report};
use crate::format::{count, lines, number, pairs};

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// What the sketch counts.
    #[arg(long, value_enum, default_value = "sfm")]
    kind: Kind,
    /// How many distinct items there will be, in the data of all parties together. A guess will do.
    #[arg(long, value_name = "N", value_parser = parse_count, allow_negative_numbers = true)]
    distinct: Option<u64>,
    #[command(flatten)]
    data: frequency_plan::DataArgs,
    #[command(flatten)]
    frequency: FrequencyArgs,
    #[command(flatten)]
    level: LevelArgs,
    #[command(flatten)]
    f0: F0Args,
    /// The privacy loss of each party's release. Frequencies need --delta or --pure beside it, or --rho instead.
    #[arg(long, value_name = "E", value_parser = parse_epsilon, allow_hyphen_values = true)]
    epsilon: Option<Epsilon>,
    /// How many parties release a sketch each.
    #[arg(long, value_name = "K", default_value = "1", value_parser = parse_count, allow_negative_numbers = true)]
    parties: u64,
    /// The most items of a user, if the release is to protect users.
    #[arg(long, value_name = "M", value_parser = max_items, allow_negative_numbers = true)]
    max_items: Option<MaxItems>,
    /// Buckets, a power of two. 4096 if left out, unless an error or a length is asked for.
    #[arg(long, value_name = "B", value_parser = parse_count, allow_negative_numbers = true, conflicts_with = "target_rse")]
    buckets: Option<u64>,
    /// Levels. 24 if left out, or more where so many items need them; with --kind f0, as many as they need.
    #[arg(long, value_name = "P", value_parser = parse_count, allow_negative_numbers = true)]
    levels: Option<u64>,
    /// Find the fewest buckets, or cells, with this relative standard error, such as 0.05.
    #[arg(long, value_name = "R", value_parser = parse_real, allow_hyphen_values = true)]
    target_rse: Option<f64>,
    /// The most bytes of a released file. Without --target-rse or --target-error, the most accurate sketch of that length.
    #[arg(long, value_name = "SIZE", value_parser = parse_size, allow_negative_numbers = true)]
    max_bytes: Option<u64>,
    /// Which answer to aim at. That of the files together for several parties, of the one sketch for one.
    #[arg(long, value_name = "ANSWER", value_enum)]
    answer: Option<Answer>,
}

/// An answer that can be aimed at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Answer {
    /// Of one sketch that holds everything.
    One,
    /// Of all parties' files, as `dpsketch estimate A B …` gives it.
    Together,
    /// Of all parties' files merged to one.
    Merged,
    /// The same in the published, symmetric form.
    MergedSymmetric,
}

impl From<Answer> for PlannedAnswer {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::One => Self::One,
            Answer::Together => Self::Together,
            Answer::Merged => Self::Merged,
            Answer::MergedSymmetric => Self::MergedSymmetric,
        }
    }
}

pub(crate) fn run(args: &PlanArgs, console: Console) -> Result<(), Error> {
    let of_frequencies = args.data.given().into_iter().chain(args.frequency.given()).chain(args.level.given());
    match args.kind {
        Kind::Countsketch => return args.frequencies(console),
        Kind::F0 => {
            let foreign = [("--buckets", args.buckets.is_some()), ("--max-items", args.max_items.is_some())];
            refuse_for("f0", of_frequencies.chain(foreign))?;
            return args.sets(console);
        }
        Kind::Sfm => refuse_for("sfm", of_frequencies.chain(args.f0.given()))?,
    }
    super::written::warn_about_epsilon(args.epsilon, console);
    let plan = args.plan()?;
    let json = plan.to_json();
    let rows = json["answers"].as_array().cloned().unwrap_or_default();
    let rows = rows.into_iter().map(|answer| with_shape(answer, &json)).collect();
    console.print(&Report { text: args.text(&plan, &json), json, rows })
}

impl PlanArgs {
    fn frequencies(&self, console: Console) -> Result<(), Error> {
        let foreign = [
            ("--distinct", self.distinct.is_some()),
            ("--buckets", self.buckets.is_some()),
            ("--levels", self.levels.is_some()),
            ("--target-rse", self.target_rse.is_some()),
            ("--answer", self.answer.is_some()),
        ];
        refuse_for("countsketch", foreign.into_iter().chain(self.f0.given()))?;
        let wanted = frequency_plan::Wanted {
            data: &self.data,
            frequency: &self.frequency,
            level: self.level.required(self.epsilon)?,
            relation: self.level.relation(),
            parties: u32::try_from(self.parties).unwrap_or(u32::MAX),
            max_items: self.max_items,
            max_bytes: self.max_bytes,
        };
        frequency_plan::run(&wanted, console)
    }

    fn sets(&self, console: Console) -> Result<(), Error> {
        super::written::warn_about_epsilon(self.epsilon, console);
        let wanted = f0_plan::Wanted {
            f0: &self.f0,
            levels: self.levels,
            distinct: to_real(self.distinct()?),
            epsilon: required_epsilon(self.epsilon)?,
            parties: u32::try_from(self.parties).unwrap_or(u32::MAX),
            answer: self.answer.map(PlannedAnswer::from),
            target_rse: self.target_rse,
            max_bytes: self.max_bytes,
        };
        f0_plan::run(&wanted, console)
    }

    fn distinct(&self) -> Result<u64, Error> {
        self.distinct.ok_or_else(|| {
            Error::new(ErrorKind::Parameter, "how many distinct items will there be?")
                .argument("--distinct")
                .allowed("a number above 0; a guess will do")
                .hint("say --distinct N")
        })
    }

    fn plan(&self) -> Result<Plan, Error> {
        let distinct = to_real(self.distinct()?);
        let epsilon = required_epsilon(self.epsilon)?;
        let unit = self.max_items.map_or(PrivacyUnit::Item, |max_items| PrivacyUnit::User { max_items });
        let parties = u32::try_from(self.parties).unwrap_or(u32::MAX);
        let purpose = Purpose::new(distinct, epsilon)?.with_parties(parties)?.with_unit(unit)?;
        let answer = self.answer.map_or(purpose.main_answer(), PlannedAnswer::from);
        let buckets = self.buckets.unwrap_or(u64::from(PcsaShape::DEFAULT.buckets()));
        // Checked with all others where there are buckets to check them with.
        let levels = self.levels.map(|levels| pcsa_shape(buckets, levels).map(PcsaShape::levels)).transpose()?;
        match (self.target_rse, self.buckets, self.max_bytes) {
            (Some(target), _, max) => Ok(purpose.smallest(target, answer, levels, max)?),
            (None, None, Some(max)) => Ok(purpose.best_within(max, answer, levels)?),
            (None, _, max) => {
                let buckets = pcsa_shape(buckets, 1)?.buckets();
                let plan = purpose.plan(PcsaShape::new(buckets, levels.unwrap_or_else(|| purpose.levels(buckets)))?);
                within(plan, max)
            }
        }
    }

    fn text(&self, plan: &Plan, json: &Value) -> String {
        let (shape, epsilon) = (plan.shape(), self.epsilon.map_or(Amount::ZERO, Amount::from_epsilon));
        let mut head = vec![
            ("sketch", format!("{} x {}, {} bytes released", shape.buckets(), shape.levels(), count(plan.bytes()))),
            ("range", format!("up to {} distinct items", number(plan.largest_count()))),
        ];
        if self.parties > 1 {
            head.push(("merged", format!("{} bytes", count(plan.merged_bytes()))));
            let all = &json["epsilon_total"];
            head.push(("privacy", format!("epsilon {epsilon} for each party, {all} for somebody in all of them")));
        } else {
            head.push(("privacy", format!("epsilon {epsilon}, for {}", text_of(&json["unit"]))));
        }
        let table = plan.answers().iter().map(|answer| {
            let found = plan.prediction(*answer);
            let error = found.relative_error();
            let [error, items, floor] = [
                shown(error, |error| format!("{:.2} %", error * 100.0)),
                shown(found.std_error(), number),
                shown(found.noise_floor(), number),
            ];
            format!("{:<34} {error:>10} {items:>12} {floor:>12}  {}", in_words(*answer), found.status().as_str())
        });
        let title = format!("{:<34} {:>10} {:>12} {:>12}  status", "answer", "std error", "items", "noise floor");
        let notes = json["approximations"].as_array().into_iter().flatten().map(|note| format!("- {}", text_of(note)));
        let build =
            format!("\nbuild with: --buckets {} --levels {} --epsilon {epsilon}\n", shape.buckets(), shape.levels());
        pairs(&head) + "\n" + &lines([title].into_iter().chain(table)) + &build + &lines(notes)
    }
}

#[expect(clippy::cast_precision_loss, reason = "the last digits of a guess do not matter")]
fn to_real(guess: u64) -> f64 {
    guess as f64
}

pub(super) fn shown(value: f64, show: impl Fn(f64) -> String) -> String {
    if value.is_finite() { show(value) } else { "none".to_owned() }
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

pub(super) fn in_words(answer: PlannedAnswer) -> &'static str {
    match answer {
        PlannedAnswer::One => "one sketch of everything",
        PlannedAnswer::Together => "all files together",
        PlannedAnswer::Merged => "all files merged",
        PlannedAnswer::MergedSymmetric => "all files merged, symmetric form",
        other => other.as_str(),
    }
}

fn within(plan: Plan, max_bytes: Option<u64>) -> Result<Plan, Error> {
    match max_bytes {
        Some(max) if plan.bytes() > max => {
            Err(Error::new(ErrorKind::Parameter, format!("the sketch has {} bytes", plan.bytes()))
                .argument("--max-bytes")
                .value(max.to_string())
                .allowed(format!("{} or more with this shape", plan.bytes()))
                .hint("leave --buckets out to get the best sketch of that length"))
        }
        _ => Ok(plan),
    }
}

/// An answer as a row of a table, which also has the shape.
fn with_shape(mut answer: Value, whole: &Value) -> Value {
    if let Some(row) = answer.as_object_mut() {
        for field in ["kind", "distinct", "epsilon", "epsilon_total", "parties", "buckets", "levels", "bytes"] {
            row.insert(field.to_owned(), whole[field].clone());
        }
    }
    answer
}
