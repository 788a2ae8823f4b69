//! The union of 1 to 32 releases: tallied, estimated together by the product statistic, and merged in two ways.

use super::axis::Axis;
use super::chart::Chart;
use super::check::{Point, RRMSE};
use super::curve::{Curves, SIMULATED, default_sketch, one};
use super::{Drawn, Effort, FigureError};
use crate::simulate::{Merge, Overlap, Sampling, Settings, predicted, simulate};

const ITEMS: u64 = 1_000_000;
const PARTIES: [u32; 12] = [1, 2, 3, 4, 5, 6, 8, 12, 16, 20, 24, 32];
const DOTS: [u32; 6] = [1, 2, 4, 8, 16, 32];
const OTHERS: [(&str, Merge); 3] =
    [("symmetric merge", Merge::Symmetric), ("extremal merge", Merge::Extremal), ("product statistic", Merge::None)];
const TALLY: &str = "tally";
/// How many times as long as drawn counts whole sketches take.
const CELLS_COST: u32 = 10;
/// Releases, error and trials.
type Known = (u32, f64, u32);
/// Errors of tallies of half-shared sets in an independent implementation, our float prototype, for each ε.
const REFERENCE: [(f64, [Known; 3]); 3] = [
    (1.0, [(2, 0.034, 150), (8, 0.050, 200), (32, 0.092, 70)]),
    (2.0, [(2, 0.0154, 150), (8, 0.0172, 200), (32, 0.030, 70)]),
    (4.0, [(2, 0.0109, 150), (8, 0.0100, 200), (32, 0.0131, 70)]),
];

pub(super) fn draw_at_1(effort: &Effort) -> Result<Drawn, FigureError> {
    draw(effort, 1.0, [0.02, 1.0])
}

pub(super) fn draw_at_2(effort: &Effort) -> Result<Drawn, FigureError> {
    draw(effort, 2.0, [0.01, 1.0])
}

pub(super) fn draw_at_4(effort: &Effort) -> Result<Drawn, FigureError> {
    draw(effort, 4.0, [0.008, 0.1])
}

fn union(merge: Merge, parties: u32, epsilon: f64) -> Result<Settings, FigureError> {
    let apart = parties > 1 && matches!(merge, Merge::None | Merge::Tally);
    let sampling = if apart { Sampling::Cells } else { Sampling::Counts };
    let merge = if parties == 1 { Merge::None } else { merge };
    Ok(Settings { parties, merge, sampling, overlap: Overlap::Half, ..one(default_sketch(), ITEMS, Some(epsilon))? })
}

fn draw(effort: &Effort, epsilon: f64, [low, high]: [f64; 2]) -> Result<Drawn, FigureError> {
    let mut curves = Curves::new(effort);
    for (name, merge) in OTHERS {
        // A merge that leaves no signal is refused.
        let theory = |parties: u32| Ok(predicted(&union(merge, parties, epsilon)?).unwrap_or(f64::INFINITY));
        let line = PARTIES.map(|parties| theory(parties).map(|error| (f64::from(parties), error)));
        let line: Vec<(f64, f64)> = line.into_iter().collect::<Result<_, FigureError>>()?;
        // Beyond the picture a line is cut, not drawn to a point a thousand times as high.
        curves.push(name, line.into_iter().filter(|(_, error)| *error < 100.0 * high).collect());
        for parties in DOTS {
            let cost = if merge == Merge::None && parties > 1 { CELLS_COST } else { 1 };
            let settings = curves.next(&union(merge, parties, epsilon)?, cost);
            let theory = theory(parties)?;
            if theory <= SIMULATED {
                let simulated = simulate(&settings, effort.threads)?.rrmse_of_values();
                curves.dot(Point::new(name, f64::from(parties), simulated, theory, settings.trials));
            }
        }
    }
    curves.push(TALLY, Vec::new());
    for parties in DOTS {
        let settings = curves.next(&union(Merge::Tally, parties, epsilon)?, if parties > 1 { CELLS_COST } else { 1 });
        let simulated = simulate(&settings, effort.threads)?.rrmse();
        curves.dot(tallied(parties, epsilon, simulated, &settings)?);
    }
    curves.join_dots();
    let x = Axis { title: "releases".to_owned(), low: 1.0, high: 32.0, percent: false };
    let y = Axis { title: "relative error (RRMSE)".to_owned(), low, high, percent: true };
    Ok(Drawn {
        chart: Chart { title: format!("Error of a union, ε = {epsilon} each"), x, y, series: curves.series },
        x: "releases",
        y: RRMSE,
        points: curves.points,
        settings: format!(
            "Releases at ε = {epsilon} of 4096 buckets and 24 levels; 10⁶ distinct items, half of them in every set and each of \
             the rest in one. Theory of merges and of the product statistic as in the figure of merges; beyond a predicted 35 % \
             nothing is simulated. Of tallies there is no closed form: the line joins simulated points, one release is held to \
             its prediction, and 2, 8 and 32 to the errors of an independent implementation, our float prototype (150, 200 and \
             70 trials, whose own chance is in the bound)."
        ),
    })
}

/// A point of tallies, beside a prediction or beside the other implementation where it was run.
fn tallied(parties: u32, epsilon: f64, simulated: f64, settings: &Settings) -> Result<Point, FigureError> {
    let x = f64::from(parties);
    if parties == 1 {
        return Ok(Point::new(TALLY, x, simulated, predicted(settings)?, settings.trials));
    }
    let of_level = REFERENCE.into_iter().find(|(level, _)| level.to_bits() == epsilon.to_bits());
    let known = of_level.and_then(|(_, known)| known.into_iter().find(|(number, ..)| *number == parties));
    Ok(match known {
        Some((_, error, trials)) => Point::beside(TALLY, x, (simulated, settings.trials), (error, trials)),
        None => Point { model: None, ..Point::new(TALLY, x, simulated, f64::NAN, settings.trials) },
    })
}
