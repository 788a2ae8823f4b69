//! Sparse vectors in sketches as wide as they have entries, beside the Gaussian mechanism \[PT22, Figure 3\].

use countsketch_dp::CountSketchShape;
use countsketch_dp::theory::{MedianOfGaussians, median_tail};
use dp_noise::Rho;

use super::axis::Axis;
use super::chart::{Chart, Series};
use super::check::Point;
use super::{Drawn, Effort, FigureError, spaced};
use crate::frequency::{Baseline, Data, Estimator, Settings, absolute_errors};
use crate::number;

/// Entries of the vector and cells of a row.
const ENTRIES: u32 = 1000;
const VALUE: f64 = 10.0;
const ROWS: [u8; 4] = [3, 7, 15, 31];
const QUERIES: u32 = 200;
const ANSWERS: u32 = 100;
/// Everything is sketched 64 times as large, so that the grid of the noise does not show.
const UNIT: f64 = 64.0;
/// How far the law of noise on a grid of 1/64, asked of items that share sketches, may be off the one computed.
const MODEL: f64 = 0.03;
/// Multiples of the value up to which collisions in one cell are counted.
const REACH: usize = 24;
/// Sizes of error at which the share above is compared.
const SIZES: [f64; 7] = [0.5, 1.0, 2.0, 4.0, 8.0, 12.0, 20.0];
/// Least share that is simulated.
const LEAST: f64 = 0.004;

/// The law of a row's error: collisions of equal entries with random signs, and normal noise of variance k.
struct RowLaw {
    /// The probability that signs sum up to −[`REACH`] ..= [`REACH`].
    signs: Vec<f64>,
    rows: u8,
    noise: MedianOfGaussians,
}

impl RowLaw {
    fn new(rows: u8) -> Result<Self, FigureError> {
        // Each of the other entries is in the item's cell with probability 1/b, and its sign is then ±1.
        let (one, middle) = (0.5 / f64::from(ENTRIES), REACH);
        let mut signs = vec![0.0; 2 * REACH + 1];
        signs[middle] = 1.0;
        for _ in 1..ENTRIES {
            let at = |index: Option<usize>| index.and_then(|index| signs.get(index)).copied().unwrap_or(0.0);
            signs = (0..signs.len())
                .map(|i| (1.0 - 2.0 * one) * signs[i] + one * (at(i.checked_sub(1)) + at(i.checked_add(1))))
                .collect();
        }
        // The median of one.
        let noise = MedianOfGaussians::new(1, f64::from(rows)).map_err(FigureError::parameter)?;
        Ok(Self { signs, rows, noise })
    }

    /// `P[|answer − truth| > x]` of the median of the rows.
    fn above(&self, x: f64) -> Result<f64, FigureError> {
        let mut row = 0.0;
        for (index, probability) in self.signs.iter().enumerate() {
            let shift = VALUE * (number::length(index) - number::length(REACH));
            row += probability * self.noise.cdf(shift - x).map_err(FigureError::parameter)?;
        }
        let tail = median_tail(u32::from(self.rows), (1.0 - 2.0 * row).clamp(0.0, 1.0));
        Ok(tail.map_err(FigureError::parameter)?.exact)
    }

    /// The mean of `|answer − truth|`, the integral of [`above`](Self::above) by Simpson's rule.
    fn mean_abs(&self) -> Result<f64, FigureError> {
        let (step, count) = (0.05, 2400_u32);
        let mut sum = 0.0;
        for index in 0..=count {
            let weight = if index == 0 || index == count { 1.0 } else { 2.0 + 2.0 * f64::from(index % 2) };
            sum += weight * self.above(step * f64::from(index))?;
        }
        Ok(sum * step / 3.0)
    }
}

pub(super) fn draw(effort: &Effort) -> Result<Drawn, FigureError> {
    let (mut series, mut points) = (Vec::new(), Vec::new());
    for (index, rows) in (0..).zip(ROWS) {
        let law = RowLaw::new(rows)?;
        let errors = simulated(rows, None, effort, index)?;
        let mean = law.mean_abs()?;
        add(&mut series, &mut points, (&format!("k = {rows}"), f64::from(rows)), &errors, mean, |x| law.above(x))?;
    }
    let law = MedianOfGaussians::new(1, 1.0).map_err(FigureError::parameter)?;
    let errors = simulated(1, Some(Baseline::Gaussian), effort, 9)?;
    let above = |x: f64| law.tail_abs(x).map_err(FigureError::parameter);
    add(&mut series, &mut points, ("Gaussian mechanism", 1.0), &errors, law.mean_abs(), above)?;
    let x = Axis { title: "|error|".to_owned(), low: 0.2, high: 50.0, percent: false };
    let y = Axis { title: "answers with a larger error".to_owned(), low: 0.003, high: 1.0, percent: true };
    Ok(Drawn {
        chart: Chart { title: "Errors of sparse vectors, b = t".to_owned(), x, y, series },
        x: "error",
        y: ["simulated_share_above", "theory_share_above"],
        points,
        settings: format!(
            "Vectors of {ENTRIES} entries of 10 in k rows of {ENTRIES} cells, ρ = 1/2, so `σ² = k`, all of it on a grid of 1/64; {QUERIES} of the \
             entries asked of each sketch. Theory: a row's error is 10 times a sum of random signs, one for each of the \
             other entries that share the cell, and a normal of variance k; the share above x is \
             `2·P[Bin(k, P[row > x]) ≥ (k+1)/2]`. Rows `mean` are the mean of |error|."
        ),
    })
}

/// A curve with its points, and the mean.
fn add(
    series: &mut Vec<Series>,
    points: &mut Vec<Point>,
    (name, at): (&str, f64),
    errors: &[f64],
    mean: f64,
    above: impl Fn(f64) -> Result<f64, FigureError>,
) -> Result<(), FigureError> {
    let line = spaced(0.2, 50.0, 60.0).map(|x| Ok((x, above(x)?))).collect::<Result<Vec<_>, FigureError>>()?;
    let mut dots = Vec::new();
    for x in SIZES {
        let theory = above(x)?;
        if theory >= LEAST {
            let seen = errors.iter().filter(|error| **error > x).count();
            let simulated = number::length(seen) / number::length(errors.len());
            dots.push((x, simulated));
            let trials = u32::try_from(errors.len()).unwrap_or(u32::MAX);
            points.push(Point::share(name, x, (simulated, theory), MODEL, trials));
        }
    }
    series.push(Series { name: name.to_owned(), line, dots });
    points.push(Point::mean(&format!("{name}, mean"), at, errors, mean, MODEL));
    Ok(())
}

fn simulated(rows: u8, baseline: Option<Baseline>, effort: &Effort, index: u64) -> Result<Vec<f64>, FigureError> {
    let settings = Settings {
        shape: CountSketchShape::new(rows, ENTRIES).map_err(FigureError::parameter)?,
        // σ² = k/(2ρ) = 64²·k.
        rho: Rho::new(0.5 / (UNIT * UNIT)).map_err(FigureError::parameter)?,
        level: None,
        data: Data::Sparse { items: ENTRIES, entries: ENTRIES, value: number::floor_clamped(UNIT * VALUE) },
        estimator: Estimator::Rows(countsketch_dp::Combiner::Median),
        baseline,
        queries: QUERIES,
        trials: (effort.trials.saturating_mul(ANSWERS) / QUERIES).max(1),
        seed: effort.seed.wrapping_mul(1_000_003).wrapping_add(8000 + index),
    };
    Ok(absolute_errors(&settings, effort.threads)?.into_iter().map(|error| error / UNIT).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_errors_are_the_known_ones() {
        // Simulated independently, to about half a per cent.
        for (rows, want) in [(3, 4.39), (7, 2.91), (15, 2.22), (31, 1.83)] {
            let got = RowLaw::new(rows).unwrap().mean_abs().unwrap();
            assert!((got / want - 1.0).abs() < 0.02, "{rows} rows: {got}, not {want}");
        }
    }

    #[test]
    fn probabilities_of_signs_sum_up_to_one_and_have_the_variance_of_a_cell() {
        let law = RowLaw::new(3).unwrap();
        let at = |index: usize| number::length(index) - number::length(REACH);
        let sum: f64 = law.signs.iter().sum();
        let variance: f64 = law.signs.iter().enumerate().map(|(index, p)| p * at(index).powi(2)).sum();
        assert!((sum - 1.0).abs() < 1e-12 && (variance - 0.999).abs() < 1e-9, "{sum} {variance}");
    }
}
