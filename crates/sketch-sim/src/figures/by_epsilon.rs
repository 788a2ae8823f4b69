//! The error against ε, beside the closed form for many items.

use cardinality_estimators::{BitChannel, asymptotic_rse};

use super::axis::Axis;
use super::chart::Chart;
use super::check::{Point, RRMSE};
use super::curve::{Curves, channels, default_sketch, one};
use super::peers::hll_theory;
use super::{Drawn, Effort, FigureError, spaced};
use crate::simulate::{Merge, Settings, simulate};

const BUCKETS: u32 = 4096;
const ITEMS: u64 = 1_000_000;
const LOW: f64 = 0.25;
const HIGH: f64 = 8.0;

pub(super) fn draw(effort: &Effort) -> Result<Drawn, FigureError> {
    let mut curves = Curves::new(effort);
    for (which, (name, merge)) in
        [("release (symmetric)", Merge::None), ("release for xor merges", Merge::Xor)].into_iter().enumerate()
    {
        let theory = |epsilon: f64| Ok::<f64, FigureError>(asymptotic_rse(BUCKETS, channels(epsilon)?[which]));
        let line = spaced(LOW, HIGH, 20.0).map(|x| Ok((x, theory(x)?))).collect::<Result<Vec<_>, FigureError>>()?;
        curves.push(name, line);
        // Two points in a factor of two.
        for step in 0..=10 {
            let epsilon = LOW * 2.0_f64.powf(f64::from(step) / 2.0);
            let settings = Settings { merge, ..one(default_sketch(), ITEMS, Some(epsilon))? };
            let settings = curves.next(&settings, 1);
            let simulated = simulate(&settings, effort.threads)?.rrmse_of_values();
            curves.dot(Point::new(name, epsilon, simulated, theory(epsilon)?, settings.trials));
        }
    }
    let bare = asymptotic_rse(BUCKETS, BitChannel::NOISELESS);
    curves.push("PCSA, no privacy", vec![(LOW, bare), (HIGH, bare)]);
    let settings = curves.next(&one(default_sketch(), ITEMS, None)?, 1);
    let simulated = simulate(&settings, effort.threads)?.rrmse_of_values();
    curves.dot(Point::new("PCSA, no privacy", HIGH, simulated, bare, settings.trials));
    curves.push("HLL, no privacy", vec![(LOW, hll_theory()), (HIGH, hll_theory())]);
    let x = Axis { title: "ε".to_owned(), low: LOW, high: HIGH, percent: false };
    let y = Axis { title: "relative error (RRMSE)".to_owned(), low: 0.008, high: 0.3, percent: true };
    Ok(Drawn {
        chart: Chart { title: "Error against ε, a million items".to_owned(), x, y, series: curves.series },
        x: "epsilon",
        y: RRMSE,
        points: curves.points,
        settings: "One release of 4096 buckets and 24 levels, 10⁶ distinct items. Theory is the closed form for many items, \
                   `sqrt(ln 2/(B·I))` with `I = p·Li₂(d/p) + (1−p)·Li₂(−d/(1−p))`; it depends on neither the items nor the \
                   levels. The limits on the right are 0.649/√B for symmetric flips and twice that for `p = 1/2`: what \
                   deterministic merges cost at any ε."
            .to_owned(),
    })
}
