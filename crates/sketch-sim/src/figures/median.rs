//! The law of errors where nothing collides: the median of k normals of variance k \[PT22, Figure 2\].

use countsketch_dp::theory::MedianOfGaussians;
use countsketch_dp::{Combiner, CountSketchShape};
use dp_noise::Rho;
use sketch_hash::Item;

use super::axis::Axis;
use super::chart::{Chart, Series};
use super::check::Point;
use super::{Drawn, Effort, FigureError, spaced};
use crate::frequency::{FrequencyError, hash_from, private_sketch};
use crate::number;
use crate::simulate::repeat;

const ROWS: [u8; 6] = [1, 3, 5, 15, 31, 101];
/// So wide that two of the items asked for hardly ever share a cell.
const WIDTH: u32 = 1 << 12;
const QUERIES: u32 = 100;
/// Of so small a ρ for records of weight 1 that the grid does not show; errors are told in units of `σ/√k`.
const UNIT: f64 = 64.0;
/// Answers for each trial of a figure.
const ANSWERS: u32 = 25;
/// How far the law of a noise on a grid of 1/64 may be off that of the continuous one.
const MODEL: f64 = 0.02;

pub(super) fn draw(effort: &Effort) -> Result<Drawn, FigureError> {
    let (mut series, mut points) = (Vec::new(), Vec::new());
    for (index, rows) in (0..).zip(ROWS) {
        let law = MedianOfGaussians::new(u32::from(rows), f64::from(rows)).map_err(FigureError::parameter)?;
        let above = |x: f64| law.tail_abs(x).map_err(FigureError::parameter);
        let name = format!("k = {rows}");
        let errors = errors(rows, effort, index)?;
        let line = spaced(0.02, 6.0, 40.0).map(|x| Ok((x, above(x)?))).collect::<Result<Vec<_>, FigureError>>()?;
        let mut curve = Series { name: name.clone(), line, dots: Vec::new() };
        for share in [0.95, 0.9, 0.75, 0.5, 0.25, 0.1, 0.05, 0.02] {
            let x = law.quantile_abs(1.0 - share).map_err(FigureError::parameter)?;
            let seen = errors.iter().filter(|error| **error > x).count();
            let simulated = number::length(seen) / number::length(errors.len());
            curve.dots.push((x, simulated));
            let trials = u32::try_from(errors.len()).unwrap_or(u32::MAX);
            points.push(Point::share(&name, x, (simulated, share), MODEL, trials));
        }
        points.push(Point::mean(&format!("{name}, mean"), f64::from(rows), &errors, law.mean_abs(), MODEL));
        series.push(curve);
    }
    let x = Axis { title: "|error| in units of σ/√k".to_owned(), low: 0.02, high: 6.0, percent: false };
    let y = Axis { title: "answers with a larger error".to_owned(), low: 0.01, high: 1.0, percent: true };
    Ok(Drawn {
        chart: Chart { title: "Errors without collisions".to_owned(), x, y, series },
        x: "error",
        y: ["simulated_share_above", "theory_share_above"],
        points,
        settings: format!(
            "Empty sketches of k rows of {WIDTH} cells, {QUERIES} items asked of each, discrete Gaussian noise at \
             `σ² = 4096·k`, errors divided by 64: at one ρ, whatever k, the Gaussian mechanism has standard deviation 1. \
             Theory is `P[|err| > x] = 2·P[Bin(k, P[N(0, k) > x]) ≥ (k+1)/2]`; dots stand at its quantiles. Rows `mean` \
             are the mean of |error|, at x = k."
        ),
    })
}

/// The sizes of errors, in units of `σ/√k`.
fn errors(rows: u8, effort: &Effort, index: u64) -> Result<Vec<f64>, FigureError> {
    let shape = CountSketchShape::new(rows, WIDTH).map_err(FigureError::parameter)?;
    // σ² = k/(2ρ) = 64²·k.
    let rho = Rho::new(0.5 / (UNIT * UNIT)).map_err(FigureError::parameter)?;
    let sketches = (effort.trials.saturating_mul(ANSWERS) / QUERIES).max(1);
    let plan = (sketches, effort.seed.wrapping_mul(1_000_003).wrapping_add(7000 + index), effort.threads);
    let found = repeat(
        plan,
        || (),
        |(), noise| {
            let hash = hash_from(noise);
            let sketch = private_sketch(shape, rho, &[], &hash, noise)?;
            let reader = sketch.points(Combiner::Median);
            let items = 0..u64::from(QUERIES);
            Ok::<_, FrequencyError>(
                items.map(|item| reader.value(Item::from(item).hash64(&hash)).abs() / UNIT).collect::<Vec<_>>(),
            )
        },
    )?;
    Ok(found.into_iter().flatten().collect())
}
