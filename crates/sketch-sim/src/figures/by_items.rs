//! The error against the number of distinct items.

use super::axis::Axis;
use super::chart::Chart;
use super::check::{Point, RRMSE};
use super::curve::{Curves, default_sketch, one};
use super::peers::{HLL_HOLDS_FROM, hll_error, hll_theory};
use super::{Drawn, Effort, FigureError, spaced};
use crate::number::floor_clamped;

/// How many times as long a sketch of a peer takes as drawn counts.
const PEER_COST: u32 = 10;

pub(super) fn draw(effort: &Effort) -> Result<Drawn, FigureError> {
    let mut curves = Curves::new(effort);
    for epsilon in [Some(0.5), Some(1.0), Some(2.0), Some(4.0), None] {
        let name = epsilon.map_or_else(|| "PCSA, no privacy".to_owned(), |epsilon| format!("release at ε = {epsilon}"));
        let setting = |n: f64| one(default_sketch(), floor_clamped(n.round()), epsilon);
        curves.add(&name, 1, (spaced(1e3, 1e10, 8.0), spaced(1e3, 1e10, 1.0)), setting)?;
    }
    let name = "HLL, no privacy";
    curves.push(name, vec![(HLL_HOLDS_FROM, hll_theory()), (1e10, hll_theory())]);
    for n in spaced(1e3, 1e6, 2.0) {
        let settings = curves.next(&one(default_sketch(), floor_clamped(n.round()), None)?, PEER_COST);
        let simulated = hll_error(settings.n, settings.trials, settings.seed, effort)?;
        let mut point = Point::new(name, n.round(), simulated, hll_theory(), settings.trials);
        point.model = point.model.filter(|_| n >= HLL_HOLDS_FROM);
        curves.dot(point);
    }
    let x = Axis { title: "distinct items".to_owned(), low: 1e3, high: 1e10, percent: false };
    let y = Axis { title: "relative error (RRMSE)".to_owned(), low: 0.002, high: 0.5, percent: true };
    Ok(Drawn {
        chart: Chart { title: "Error against the number of items".to_owned(), x, y, series: curves.series },
        x: "distinct_items",
        y: RRMSE,
        points: curves.points,
        settings: "Sketches of 4096 buckets and 24 levels, one release each. Theory is `sqrt(1/H − n)/n`, for HLL \
                   `sqrt(ln 2/4096)` from 10⁵ items on. HLL: `datasketches` 0.6, eight bits a register, as many registers \
                   as buckets, its running estimate."
            .to_owned(),
    })
}
