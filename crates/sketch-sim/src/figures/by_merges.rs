//! The error of a union of several releases: three merges, and no merge at all.

use super::axis::Axis;
use super::chart::Chart;
use super::check::RRMSE;
use super::curve::{Curves, default_sketch, one};
use super::{Drawn, Effort, FigureError, spaced};
use crate::number::floor_clamped;
use crate::simulate::{Merge, Sampling, Settings};

const ITEMS: u64 = 100_000;
const WAYS: [(&str, Merge); 4] = [
    ("xor merge", Merge::Xor),
    ("symmetric merge", Merge::Symmetric),
    ("extremal merge", Merge::Extremal),
    ("estimated together", Merge::None),
];
/// How many times as long releases that are estimated together take as drawn counts.
const CELLS_COST: u32 = 10;

fn union(merge: Merge, parties: u32, epsilon: f64) -> Result<Settings, FigureError> {
    let sampling = if merge == Merge::None && parties > 1 { Sampling::Cells } else { Sampling::Counts };
    Ok(Settings { parties, merge, sampling, ..one(default_sketch(), ITEMS, Some(epsilon))? })
}

const fn cost(merge: Merge) -> u32 {
    if matches!(merge, Merge::None) { CELLS_COST } else { 1 }
}

const RULE: &str = "Theory of a merge is `sqrt(1/H − n)/n` with the merged channel: \
                    `a* = Π(1 − e^−ε)` always, with `p* = 1/2` (xor), `1/(2 − a*)` (symmetric), `min p` (extremal). \
                    Together: the product statistic, `sqrt(1/Σ cells·(rate·g)²/Var y − n)/n`. Beyond a predicted 35 % \
                    nothing is simulated.";

pub(super) fn draw(effort: &Effort) -> Result<Drawn, FigureError> {
    let mut curves = Curves::new(effort);
    for (name, merge) in WAYS {
        let parties = |x: f64| u32::try_from(floor_clamped(x.round())).unwrap_or(u32::MAX);
        let whole = [1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0].into_iter();
        let dots = (0..=6).map(|power| 2.0_f64.powi(power));
        curves.add(name, cost(merge), (whole, dots), |x| union(merge, parties(x), 2.0))?;
    }
    let x = Axis { title: "releases merged".to_owned(), low: 1.0, high: 64.0, percent: false };
    let y = Axis { title: "relative error (RRMSE)".to_owned(), low: 0.01, high: 1.0, percent: true };
    Ok(Drawn {
        chart: Chart {
            title: "Error against the number of merges, ε = 2 each".to_owned(),
            x,
            y,
            series: curves.series,
        },
        x: "releases",
        y: RRMSE,
        points: curves.points,
        settings: format!(
            "Releases at ε = 2 of 4096 buckets and 24 levels; 10⁵ distinct items in disjoint sets of equal size. {RULE}"
        ),
    })
}

pub(super) fn draw_by_epsilon(effort: &Effort) -> Result<Drawn, FigureError> {
    let mut curves = Curves::new(effort);
    for (name, merge) in WAYS {
        let dots = (0..=8).map(|step| 0.5 * 2.0_f64.powf(f64::from(step) / 2.0));
        curves.add(name, cost(merge), (spaced(0.5, 8.0, 15.0), dots), |epsilon| union(merge, 8, epsilon))?;
    }
    let x = Axis { title: "ε of each release".to_owned(), low: 0.5, high: 8.0, percent: false };
    let y = Axis { title: "relative error (RRMSE)".to_owned(), low: 0.008, high: 1.0, percent: true };
    Ok(Drawn {
        chart: Chart { title: "Error of the union of eight releases".to_owned(), x, y, series: curves.series },
        x: "epsilon",
        y: RRMSE,
        points: curves.points,
        settings: format!(
            "Eight releases of 4096 buckets and 24 levels; 10⁵ distinct items in disjoint sets of equal size. {RULE}"
        ),
    })
}
