//! Parity sketches: the error against ε and against the number of merged sketches.

use cardinality_estimators::asymptotic_rse;
use cardinality_estimators::parity::parity_asymptotic_rse;
use dp_noise::Epsilon;
use f0_sketch::{ModeKind, NoiseRule};

use super::axis::Axis;
use super::chart::Chart;
use super::check::{Point, RRMSE};
use super::curve::{Curves, SIMULATED, channels, default_sketch, one};
use super::{Drawn, Effort, FigureError, spaced};
use crate::f0::{self, Estimator, Model, Weights};
use crate::simulate::{Merge, Settings, predicted, simulate};

const LEVELS: u8 = 24;
const CELLS: u32 = 4096;
const ITEMS: u64 = 1_000_000;
const LOW: f64 = 0.25;
const HIGH: f64 = 8.0;
/// The level of the releases that are merged.
const EPSILON: f64 = 2.0;
const MOST_MERGED: u32 = 64;

/// The sketches of the figures: mode and noise.
const KINDS: [(&str, ModeKind, NoiseRule); 3] = [
    ("set, noise of the paper", ModeKind::Set, NoiseRule::Paper),
    ("set, tight noise", ModeKind::Set, NoiseRule::Tight),
    ("pre-sampled", ModeKind::Presampled, NoiseRule::Tight),
];

/// Against ε.
pub(super) fn draw(effort: &Effort) -> Result<Drawn, FigureError> {
    let mut curves = Curves::new(effort);
    for kind in KINDS {
        let line = spaced(LOW, HIGH, 20.0).map(|epsilon| (epsilon, epsilon, 1));
        let dots = halves_of_octaves().map(|epsilon| (epsilon, epsilon, 1));
        add(&mut curves, effort, kind, line, dots)?;
    }
    let theory = |epsilon: f64| Ok::<f64, FigureError>(asymptotic_rse(CELLS, channels(epsilon)?[0]));
    let line = spaced(LOW, HIGH, 20.0).map(|x| Ok((x, theory(x)?))).collect::<Result<Vec<_>, FigureError>>()?;
    curves.push("Sketch-Flip-Merge", line);
    for epsilon in halves_of_octaves() {
        let settings = curves.next(&one(default_sketch(), ITEMS, Some(epsilon))?, 1);
        let simulated = simulate(&settings, effort.threads)?.rrmse_of_values();
        curves.dot(Point::new("Sketch-Flip-Merge", epsilon, simulated, theory(epsilon)?, settings.trials));
    }
    let x = Axis { title: "ε".to_owned(), low: LOW, high: HIGH, percent: false };
    Ok(drawn(
        curves,
        ("Parity sketches against ε, a million items", x, "epsilon"),
        "One release of 24 × 4096 bits of either kind, 10⁶ distinct items. Theory of parity sketches is the closed form \
         for many items, `sqrt(4 ln 2/(m·Li₂(c²)))` with the contrast `c` of the noise; it depends on neither items nor \
         levels. The limits on the right are 1.298/√m for parities and 0.649/√m for Sketch-Flip-Merge."
            .to_owned(),
    ))
}

/// Against the number of merged sketches of disjoint sets.
pub(super) fn draw_by_merges(effort: &Effort) -> Result<Drawn, FigureError> {
    let mut curves = Curves::new(effort);
    let counts = || (0..=6).map(|power| 1_u32 << power);
    for kind in KINDS {
        let points = || counts().map(|merged| (f64::from(merged), EPSILON, merged));
        add(&mut curves, effort, kind, points(), points())?;
    }
    let merge = |parties| -> Result<Settings, FigureError> {
        let merge = if parties == 1 { Merge::None } else { Merge::Extremal };
        Ok(Settings { parties, merge, ..one(default_sketch(), ITEMS, Some(EPSILON))? })
    };
    let theory = |parties| Ok((f64::from(parties), predicted(&merge(parties)?)?));
    curves.push("Sketch-Flip-Merge, extremal", counts().map(theory).collect::<Result<Vec<_>, FigureError>>()?);
    for parties in counts() {
        let settings = curves.next(&merge(parties)?, 1);
        let theory = predicted(&settings)?;
        if theory <= SIMULATED {
            let simulated = simulate(&settings, effort.threads)?.rrmse_of_values();
            let x = f64::from(parties);
            curves.dot(Point::new("Sketch-Flip-Merge, extremal", x, simulated, theory, settings.trials));
        }
    }
    let x = Axis { title: "merged sketches".to_owned(), low: 1.0, high: f64::from(MOST_MERGED), percent: false };
    Ok(drawn(
        curves,
        ("Parity sketches against merges, ε = 2, a million items", x, "merged"),
        "Releases at ε = 2 of 24 × 4096 bits of either kind, of disjoint sets that hold 10⁶ items together. Theory is the \
         same closed form with `c = Π c_i`, and that of merged bitmaps for Sketch-Flip-Merge. Beyond a predicted 35 % \
         nothing is simulated."
            .to_owned(),
    ))
}

/// A curve over points `(x, ε, merged)`.
fn add(
    curves: &mut Curves<'_>,
    effort: &Effort,
    (name, mode, noise): (&str, ModeKind, NoiseRule),
    line: impl Iterator<Item = (f64, f64, u32)>,
    dots: impl Iterator<Item = (f64, f64, u32)>,
) -> Result<(), FigureError> {
    let setting = |epsilon: f64, merged: u32| -> Result<f0::Settings, FigureError> {
        Ok(f0::Settings {
            levels: LEVELS,
            cells: CELLS,
            mode,
            epsilon: Some(Epsilon::new(epsilon).map_err(FigureError::parameter)?),
            noise,
            n: ITEMS,
            merged,
            estimator: Estimator::Mle,
            weights: Weights::Unit,
            rate: None,
            trials: 1,
            seed: 0,
        })
    };
    let theory = |settings: &f0::Settings| -> Result<f64, FigureError> {
        Ok(parity_asymptotic_rse(CELLS.into(), Model::new(settings)?.contrast()))
    };
    let line = line.map(|(x, epsilon, merged)| Ok((x, theory(&setting(epsilon, merged)?)?)));
    curves.push(name, line.collect::<Result<Vec<_>, FigureError>>()?);
    for (x, epsilon, merged) in dots {
        let settings = setting(epsilon, merged)?;
        let theory = theory(&settings)?;
        if theory <= SIMULATED {
            let (trials, seed) = curves.share(1);
            let summary = f0::simulate(&f0::Settings { trials, seed, ..settings }, effort.threads)?;
            curves.dot(Point::new(name, x, summary.rrmse_of_values(), theory, trials));
        }
    }
    Ok(())
}

/// Two points in a factor of two.
fn halves_of_octaves() -> impl Iterator<Item = f64> {
    (0..=10).map(|step| LOW * 2.0_f64.powf(f64::from(step) / 2.0))
}

fn drawn(curves: Curves<'_>, (title, x, column): (&str, Axis, &'static str), settings: String) -> Drawn {
    let y = Axis { title: "relative error (RRMSE)".to_owned(), low: 0.008, high: 1.0, percent: true };
    Drawn {
        chart: Chart { title: title.to_owned(), x, y, series: curves.series },
        x: column,
        y: RRMSE,
        points: curves.points,
        settings,
    }
}
