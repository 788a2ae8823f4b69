//! The families of bitmaps at equal memory.

use sfm_pcsa::{BloomShape, LegionsShape, LinearShape, PcsaShape, SketchShape};

use super::axis::Axis;
use super::chart::Chart;
use super::check::RRMSE;
use super::curve::{Curves, one};
use super::{Drawn, Effort, FigureError, spaced};
use crate::number::floor_clamped;
use crate::simulate::{Sampling, Settings};

const CELLS: u32 = 16_384;

fn shapes() -> Result<[(&'static str, SketchShape, f64); 4], FigureError> {
    let refuse = FigureError::parameter::<sfm_pcsa::ParamError>;
    Ok([
        ("PCSA, 1024 x 16", PcsaShape::new(CELLS / 16, 16).map_err(refuse)?.into(), 1e7),
        ("Liquid Legions, decay 8", LegionsShape::new(CELLS, 8.0).map_err(refuse)?.into(), 1e6),
        ("linear counting", LinearShape::new(CELLS).map_err(refuse)?.into(), 1e5),
        ("Bloom filter, 2 hashes", BloomShape::new(CELLS, 2).map_err(refuse)?.into(), 1e5),
    ])
}

pub(super) fn draw(effort: &Effort) -> Result<Drawn, FigureError> {
    let mut curves = Curves::new(effort);
    for (name, shape, last) in shapes()? {
        let cells = matches!(shape, SketchShape::Legions(_));
        let setting = |n: f64| {
            let settings = one(shape, floor_clamped(n.round()), Some(2.0))?;
            Ok(if cells { Settings { sampling: Sampling::Cells, ..settings } } else { settings })
        };
        let cost = if cells { 10 } else { 1 };
        curves.add(name, cost, (spaced(1e2, last, 8.0), spaced(1e2, last, 2.0)), setting)?;
    }
    let x = Axis { title: "distinct items".to_owned(), low: 1e2, high: 1e7, percent: false };
    let y = Axis { title: "relative error (RRMSE)".to_owned(), low: 0.005, high: 1.0, percent: true };
    Ok(Drawn {
        chart: Chart { title: "Families of bitmaps of 2 KiB, ε = 2".to_owned(), x, y, series: curves.series },
        x: "distinct_items",
        y: RRMSE,
        points: curves.points,
        settings: "One release at ε = 2 of sketches of 16,384 cells. Theory is `sqrt(1/H − n/hashes)/n`; for one row of equal \
                   cells with the bend of its closed form. Near the end of their range rows of equal cells are lost within a \
                   factor of two. Beyond a predicted 35 % nothing is simulated."
            .to_owned(),
    })
}
