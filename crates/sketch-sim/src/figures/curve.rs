//! Curves of simulated settings.

use cardinality_estimators::BitChannel;
use dp_noise::Epsilon;
use sfm_pcsa::diagnostics::mechanisms;
use sfm_pcsa::{PcsaShape, SketchShape};

use super::chart::Series;
use super::check::Point;
use super::{Effort, FigureError};
use crate::simulate::{Merge, Overlap, Sampling, Settings, predicted, simulate};

/// Above this prediction errors have heavy tails and their root mean square says little: only theory is drawn.
pub(super) const SIMULATED: f64 = 0.35;

/// Curves and points of a figure while it is made.
pub(super) struct Curves<'a> {
    effort: &'a Effort,
    index: u64,
    pub(super) series: Vec<Series>,
    pub(super) points: Vec<Point>,
}

impl<'a> Curves<'a> {
    pub(super) const fn new(effort: &'a Effort) -> Self {
        Self { effort, index: 0, series: Vec::new(), points: Vec::new() }
    }

    /// A curve: theory at `line`, simulations at `dots`, each a value of the x-axis that `setting` turns into settings.
    ///
    /// A trial takes `cost` times as long as one of drawn counts.
    pub(super) fn add(
        &mut self,
        name: &str,
        cost: u32,
        (line, dots): (impl Iterator<Item = f64>, impl Iterator<Item = f64>),
        setting: impl Fn(f64) -> Result<Settings, FigureError>,
    ) -> Result<(), FigureError> {
        let line = line.map(|x| Ok((x, predicted(&setting(x)?)?))).collect::<Result<Vec<_>, FigureError>>()?;
        self.push(name, line);
        for x in dots {
            let settings = self.next(&setting(x)?, cost);
            let theory = predicted(&settings)?;
            if theory <= SIMULATED {
                let summary = simulate(&settings, self.effort.threads)?;
                self.dot(Point::new(name, x, summary.rrmse_of_values(), theory, settings.trials));
            }
        }
        Ok(())
    }

    /// A curve without dots.
    pub(super) fn push(&mut self, name: &str, line: Vec<(f64, f64)>) {
        self.series.push(Series { name: name.to_owned(), line, dots: Vec::new() });
    }

    /// A simulated point of the last curve.
    pub(super) fn dot(&mut self, point: Point) {
        if let Some(series) = self.series.last_mut() {
            series.dots.push((point.x, point.simulated));
        }
        self.points.push(point);
    }

    /// Draws the line of the last curve through its points.
    pub(super) fn join_dots(&mut self) {
        if let Some(series) = self.series.last_mut() {
            series.line.clone_from(&series.dots);
        }
    }

    /// The settings with trials and a seed of their own.
    pub(super) fn next(&mut self, settings: &Settings, cost: u32) -> Settings {
        let (trials, seed) = self.share(cost);
        Settings { trials, seed, ..settings.clone() }
    }

    /// Trials and a seed for the next point.
    pub(super) fn share(&mut self, cost: u32) -> (u32, u64) {
        self.index += 1;
        self.effort.share(cost, self.index)
    }
}

/// One release, or none, whose counts are drawn.
pub(super) fn one(shape: SketchShape, n: u64, epsilon: Option<f64>) -> Result<Settings, FigureError> {
    Ok(Settings {
        shape,
        epsilon: epsilon.map(Epsilon::new).transpose().map_err(FigureError::parameter)?,
        n,
        parties: 1,
        overlap: Overlap::Disjoint,
        merge: Merge::None,
        sampling: Sampling::Counts,
        trials: 1,
        seed: 0,
    })
}

/// The sketch of most figures.
pub(super) fn default_sketch() -> SketchShape {
    PcsaShape::DEFAULT.into()
}

/// The channels of a release and of one for deterministic merges.
pub(super) fn channels(epsilon: f64) -> Result<[BitChannel; 2], FigureError> {
    let found = mechanisms(Some(Epsilon::new(epsilon).map_err(FigureError::parameter)?));
    let symmetric = BitChannel::symmetric(found.symmetric.q).map_err(FigureError::parameter)?;
    let xor = BitChannel::new(found.xor_family.p, found.xor_family.q).map_err(FigureError::parameter)?;
    Ok([symmetric, xor])
}
