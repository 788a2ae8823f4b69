//! `plan --kind f0`: how accurate answers about sets will be, before any data.

use dpsketch::cardinality_estimators::Status;
use dpsketch::dp_noise::{Amount, Epsilon};
use dpsketch::f0_sketch::ModeKind;
use dpsketch::{Error, ErrorKind, F0Plan, F0Purpose, PlannedAnswer, f0_shape};
use serde_json::Value;

use super::f0_args::{CELLS, F0Args};
use super::plan::{in_words, shown};
use crate::console::{Console, Report};
use crate::format::{count, lines, number, pairs};

/// Everything that a plan depends on.
pub(super) struct Wanted<'a> {
    pub(super) f0: &'a F0Args,
    pub(super) levels: Option<u64>,
    pub(super) distinct: f64,
    pub(super) epsilon: Epsilon,
    pub(super) parties: u32,
    pub(super) answer: Option<PlannedAnswer>,
    pub(super) target_rse: Option<f64>,
    pub(super) max_bytes: Option<u64>,
}

pub(super) fn run(wanted: &Wanted<'_>, console: Console) -> Result<(), Error> {
    let plan = wanted.plan()?;
    let json = plan.to_json();
    let rows = json["answers"].as_array().cloned().unwrap_or_default();
    let rows = rows.into_iter().map(|answer| with_shape(answer, &json)).collect();
    console.print(&Report { text: wanted.text(&plan, &json), json, rows })
}

impl Wanted<'_> {
    fn plan(&self) -> Result<F0Plan, Error> {
        let mode = ModeKind::from(self.f0.mode());
        let purpose = F0Purpose::new(self.distinct, self.epsilon, mode)?.with_parties(self.parties)?;
        let answer = self.answer(purpose)?;
        // Checked with all others where there are cells to check them with.
        let levels = self.levels.map(|levels| f0_shape(levels, 64).map(|shape| shape.levels())).transpose()?;
        match (self.target_rse, self.f0.cells, self.max_bytes) {
            (Some(target), None, max) => Ok(purpose.smallest(target, answer, levels, max)?),
            (Some(_), Some(cells), _) => Err(Error::new(ErrorKind::Parameter, "the cells are to be found, or given")
                .argument("--cells")
                .value(cells.to_string())
                .allowed("--cells or --target-rse")
                .hint("leave one of the two out")),
            (None, None, Some(max)) => Ok(purpose.best_within(max, answer, levels)?),
            (None, _, max) => {
                let cells = self.f0.cells.unwrap_or(CELLS);
                let needed = || purpose.levels(u32::try_from(cells).unwrap_or(u32::MAX));
                let levels = self.levels.unwrap_or_else(|| u64::from(needed()));
                within(purpose.plan(f0_shape(levels, cells)?), max)
            }
        }
    }

    fn answer(&self, purpose: F0Purpose) -> Result<PlannedAnswer, Error> {
        match self.answer {
            None => Ok(purpose.main_answer()),
            Some(answer @ (PlannedAnswer::One | PlannedAnswer::Merged)) => Ok(answer),
            Some(other) => Err(Error::new(ErrorKind::Parameter, "xor has one form only")
                .argument("--answer")
                .value(other.as_str())
                .allowed("one or merged")
                .hint("files together are answered as their merge: say --answer merged")),
        }
    }

    fn text(&self, plan: &F0Plan, json: &Value) -> String {
        let (shape, epsilon) = (plan.shape(), Amount::from_epsilon(self.epsilon));
        let mut head = vec![
            ("sketch", format!("{shape}, {} bytes released, mode {}", count(plan.bytes()), self.mode())),
            ("range", format!("up to {} items, or their weight over the largest", number(plan.largest_count()))),
        ];
        if self.parties > 1 {
            head.push(("merged", format!("{} bytes", count(plan.merged_bytes()))));
            let all = &json["epsilon_total"];
            head.push(("privacy", format!("epsilon {epsilon} for each party, {all} for somebody in all of them")));
        } else {
            head.push(("privacy", format!("epsilon {epsilon}, for {}", json["unit"].as_str().unwrap_or_default())));
        }
        if let Some(cells) = json["cells_of_paper"].as_f64() {
            let told = format!(
                "an interval of that half-width by the proof of the paper needs {} cells a level",
                number(cells)
            );
            head.push(("proved", told));
        }
        let table = plan.answers().iter().map(|answer| {
            let found = plan.prediction(*answer);
            let [error, items, floor] = [
                shown(found.relative_error(), |error| format!("{:.2} %", error * 100.0)),
                shown(found.std_error(), number),
                shown(found.noise_floor(), number),
            ];
            format!("{:<34} {error:>10} {items:>12} {floor:>12}  {}", in_words(*answer), found.status().as_str())
        });
        let title = format!("{:<34} {:>10} {:>12} {:>12}  status", "answer", "std error", "items", "noise floor");
        let notes = json["approximations"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let cells = &json["cells_per_level"];
        let aimed = match self.answer {
            Some(PlannedAnswer::One) => PlannedAnswer::One,
            _ => PlannedAnswer::Merged,
        };
        let build = match (plan.prediction(aimed).status(), plan.more_levels()) {
            (Status::Saturated, Some(levels)) => {
                format!(
                    "\nnot to be built: {} levels are too few for this count; plan with --levels {levels}\n",
                    shape.levels()
                )
            }
            (Status::Saturated, None) => "\nnot to be built: no sketch counts as far as that\n".to_owned(),
            (Status::BelowNoise, _) => {
                "\nnot to be built: the noise drowns this count; a larger epsilon or fewer parties would help\n"
                    .to_owned()
            }
            _ => format!(
                "\nbuild with: --kind f0 --mode {} --levels {} --cells {cells} --epsilon {epsilon}\n",
                self.mode(),
                shape.levels()
            ),
        };
        let notes = lines(notes.map(|note| format!("- {note}")));
        pairs(&head) + "\n" + &lines([title].into_iter().chain(table)) + &build + &notes
    }

    fn mode(&self) -> ModeKind {
        self.f0.mode().into()
    }
}

fn within(plan: F0Plan, max_bytes: Option<u64>) -> Result<F0Plan, Error> {
    match max_bytes {
        Some(max) if plan.bytes() > max => {
            Err(Error::new(ErrorKind::Parameter, format!("the sketch has {} bytes", plan.bytes()))
                .argument("--max-bytes")
                .value(max.to_string())
                .allowed(format!("{} or more with this shape", plan.bytes()))
                .hint("leave --cells out to get the best sketch of that length"))
        }
        _ => Ok(plan),
    }
}

/// An answer as a row of a table, which also has the shape.
fn with_shape(mut answer: Value, whole: &Value) -> Value {
    if let Some(row) = answer.as_object_mut() {
        for field in
            ["kind", "mode", "distinct", "epsilon", "epsilon_total", "parties", "levels", "cells_per_level", "bytes"]
        {
            row.insert(field.to_owned(), whole[field].clone());
        }
    }
    answer
}
