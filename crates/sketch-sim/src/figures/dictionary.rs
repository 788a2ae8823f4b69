//! All keys of a dictionary, asked one by one, decoded together, and counted apart, against the number of keys.

use std::collections::BTreeMap;
use std::f64::consts::{FRAC_1_PI, PI};

use countsketch_dp::theory::median_tail;
use countsketch_dp::{Combiner, CountSketchShape, Threshold};
use dp_noise::Rho;

use super::axis::Axis;
use super::chart::{Chart, Series};
use super::check::Point;
use super::{Drawn, Effort, FigureError, spaced};
use crate::frequency::{Baseline, Data, Estimator, Population, Settings, simulate};
use crate::number;

const ROWS: u8 = 15;
const WIDTH: u32 = 4096;
const RHO: f64 = 0.1;
const EXPONENT: f64 = 1.1;
/// Records for each key of the dictionary.
const RECORDS: u64 = 10;
const KEYS: [u32; 5] = [1000, 3000, 10_000, 30_000, 100_000];
/// How far theory may be off: of noise on a grid, of keys that collide with themselves less often than with others.
const MODEL: f64 = 0.03;
/// The mean over all keys of one sketch strays by no more than this from sketch to sketch, relative to it.
const SPREAD: f64 = 0.02;
const SIGMAS: f64 = 4.9;
/// Errors of 10⁵ decoded keys in an independent implementation, our float prototype: as they are, small ones set to 0.
const REFERENCE: [f64; 2] = [3.92, 1.94];

/// The law of a row's error: every other key falls into the cell with probability 1/b, with a random sign, beside normal noise.
struct RowLaw {
    /// `φ(t)/t` at the middles of the steps.
    transform: Vec<f64>,
    step: f64,
}

impl RowLaw {
    /// Points of the transform.
    const POINTS: u32 = 1 << 14;

    fn new(frequencies: &BTreeMap<u64, u32>, variance: f64) -> Self {
        // Beyond, `e^(−σ²t²/2)` is below 10⁻⁹.
        let step = 6.5 / variance.sqrt() / f64::from(Self::POINTS);
        let at = |index: u32| {
            let t = (f64::from(index) + 0.5) * step;
            let collisions: f64 = frequencies
                .iter()
                .map(|(&x, &keys)| {
                    let missing = (1.0 - (t * number::to_f64(x)).cos()) / f64::from(WIDTH);
                    f64::from(keys) * (-missing).ln_1p()
                })
                .sum();
            (collisions - 0.5 * variance * t * t).exp() / t
        };
        Self { transform: (0..Self::POINTS).map(at).collect(), step }
    }

    /// `P[error > x]`, by the inversion formula of Gil-Pelaez.
    fn above(&self, x: f64) -> f64 {
        let wave = |(index, value): (u32, &f64)| value * ((f64::from(index) + 0.5) * self.step * x).sin();
        0.5 - FRAC_1_PI * self.step * (0..).zip(&self.transform).map(wave).sum::<f64>()
    }

    /// The mean of `|median of the rows|`: the integral of `P[|median| > x]` by the trapezoidal rule, in steps that grow with x.
    fn mean_abs_median(&self) -> Result<f64, FigureError> {
        let tail = |x: f64| {
            let inside = (1.0 - 2.0 * self.above(x)).clamp(0.0, 1.0);
            median_tail(u32::from(ROWS), inside).map(|tail| tail.exact).map_err(FigureError::parameter)
        };
        let (mut x, mut before, mut sum) = (0.0, 1.0, 0.0);
        while before > 1e-7 {
            let step = 0.1 + 0.02 * x;
            let here = tail(x + step)?;
            sum += 0.5 * step * (before + here);
            (x, before) = (x + step, here);
        }
        Ok(sum)
    }
}

pub(super) fn draw(effort: &Effort) -> Result<Drawn, FigureError> {
    let sketches = (effort.trials / 500).max(2);
    let mut points = Vec::new();
    let ways = [
        ("median", Estimator::Rows(Combiner::Median), None),
        ("decoded", Estimator::Decode(Threshold::None), None),
        ("decoded, small ones 0", Estimator::Decode(Threshold::Auto), None),
        ("noise on every count", Estimator::Rows(Combiner::Median), Some(Baseline::Gaussian)),
    ];
    // A normal of variance 1/(2ρ).
    let apart = (PI * RHO).sqrt().recip();
    let mut series = Vec::new();
    for (way, (name, estimator, baseline)) in ways.into_iter().enumerate() {
        let mut curve = Series { name: name.to_owned(), ..Series::default() };
        for (seed, keys) in (0..).zip(KEYS) {
            let seed = effort.seed.wrapping_mul(1_000_003).wrapping_add(9000 + seed);
            let settings = setting(keys, estimator, baseline, (sketches, seed))?;
            let simulated = simulate(&settings, effort.threads)?.mean_abs_error();
            let x = f64::from(keys);
            let theory = match (way, baseline) {
                (0, _) => Some((median(&settings)?, MODEL)),
                (_, Some(_)) => Some((apart, MODEL)),
                (way, _) if keys == 100_000 => REFERENCE.get(way - 1).map(|&known| (known, 0.05)),
                _ => None,
            };
            curve.dots.push((x, simulated));
            points.push(point(name, x, (simulated, sketches), theory));
            curve.line.push((x, theory.filter(|_| way == 0).map_or(simulated, |(theory, _)| theory)));
        }
        if baseline.is_some() {
            curve.line = spaced(1000.0, 1e5, 1.0).map(|x| (x, apart)).collect();
        }
        series.push(curve);
    }
    let x = Axis { title: "keys in the dictionary".to_owned(), low: 1e3, high: 1e5, percent: false };
    let y = Axis { title: "mean |error|".to_owned(), low: 0.5, high: 20.0, percent: false };
    Ok(Drawn {
        chart: Chart { title: "Error of all keys of a dictionary".to_owned(), x, y, series },
        x: "keys",
        y: ["simulated_mean_error", "theory_mean_error"],
        points,
        settings: format!(
            "Zipf data of exponent 1.1, ten records a key, in sketches of {ROWS} rows of {WIDTH} cells at ρ = {RHO}; {sketches} \
             sketches a point, all keys asked of each. Theory of the median: a row's error has the characteristic function \
             `e^(−σ²t²/2)·Π(1 − (1 − cos(t·x))/b)` over all keys, inverted numerically, and \
             `P[|median| > x] = 2·P[Bin(k, P[row > x]) ≥ (k+1)/2]`; of noise on every count, at the same ρ: `1/√(πρ)`. Of decoding \
             there is no theory: its lines join simulated points, and those of 10⁵ keys may exceed the errors of an independent \
             implementation, our float prototype, by 5 % at most."
        ),
    })
}

fn setting(
    items: u32,
    estimator: Estimator,
    baseline: Option<Baseline>,
    (trials, seed): (u32, u64),
) -> Result<Settings, FigureError> {
    Ok(Settings {
        shape: CountSketchShape::new(ROWS, WIDTH).map_err(FigureError::parameter)?,
        rho: Rho::new(RHO).map_err(FigureError::parameter)?,
        level: None,
        data: Data::Zipf { items, total: RECORDS * u64::from(items), exponent: EXPONENT },
        estimator,
        baseline,
        queries: items,
        trials,
        seed,
    })
}

/// What theory says of the median.
fn median(settings: &Settings) -> Result<f64, FigureError> {
    let population = Population::new(settings);
    let mut frequencies = BTreeMap::new();
    for square in population.squares() {
        *frequencies.entry(number::floor_clamped(square.sqrt().round())).or_insert(0) += 1;
    }
    RowLaw::new(&frequencies, f64::from(ROWS) / (2.0 * RHO)).mean_abs_median()
}

fn point(name: &str, x: f64, (simulated, sketches): (f64, u32), theory: Option<(f64, f64)>) -> Point {
    let plain = Point::new(name, x, simulated, theory.map_or(f64::NAN, |(theory, _)| theory), sketches);
    let chance = SIGMAS * SPREAD / f64::from(sketches).sqrt();
    let point = Point { model: theory.map(|(_, model)| model), chance, percent: false, ..plain };
    // Another implementation is no theory: nobody minds a smaller error.
    if REFERENCE.contains(&point.theory) { point.at_most() } else { point }
}

#[cfg(test)]
mod tests {
    use countsketch_dp::theory::MedianOfGaussians;

    use super::*;

    #[test]
    fn without_collisions_the_law_is_that_of_normals() {
        let law = RowLaw::new(&BTreeMap::new(), 15.0);
        let normal = MedianOfGaussians::new(u32::from(ROWS), 15.0).unwrap();
        assert!((law.above(15.0_f64.sqrt()) - 0.158_655_253_931_457).abs() < 1e-7);
        assert!((law.mean_abs_median().unwrap() / normal.mean_abs() - 1.0).abs() < 1e-3);
    }

    #[test]
    fn one_heavy_key_splits_the_law_in_three() {
        // A key of 1000 is in the cell once in 4096 times, on either side as often.
        let law = RowLaw::new(&BTreeMap::from([(1000, 1)]), 1.0);
        assert!(
            (law.above(500.0) - 0.5 / 4096.0).abs() < 1e-6 && (law.above(-500.0) - (1.0 - 0.5 / 4096.0)).abs() < 1e-6
        );
    }
}
