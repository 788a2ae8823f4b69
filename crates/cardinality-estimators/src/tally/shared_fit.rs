//! The best shared law: Fisher's scoring with a logarithmic barrier, for all sizes or with their sum given.

use super::ends::Summit;
use super::shared::{SharedLaw, Slopes};
use crate::law::dot;
use crate::number::to_f64;
use crate::solve::Peak;

/// The barrier at the start and what it is divided by.
const BARRIER: f64 = 0.2;
const FALL: f64 = 20.0;
/// Where it ends: what all sets together may miss of the highest point, there and at the ends of intervals.
const TOP: f64 = 1e-6;
const ENDS: f64 = 1e-3;
const MAX_STEPS: usize = 200;
/// The steps of all climbs for one end of an interval.
const STEPS_OF_AN_END: usize = 1500;

/// The highest point.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SharedFit {
    pub(crate) peak: Peak,
    /// `N_1, …, N_k`.
    pub(crate) sizes: Vec<f64>,
    /// Their sum.
    pub(crate) n: f64,
    pub(crate) log_likelihood: f64,
    /// The standard error of `ln n`.
    pub(crate) reach: f64,
    /// `dl/dn` with the sum given.
    slope: f64,
}

impl SharedFit {
    /// How many `N_m` are above a ten thousandth of the union; one where that is as good as nothing.
    pub(crate) fn positive_weights(&self) -> usize {
        if self.peak == Peak::Zero {
            return 1;
        }
        self.sizes.iter().filter(|&&size| size > 1e-4 * self.n).count()
    }
}

/// One step in `ln N`.
struct Step {
    change: Vec<f64>,
    /// What it gains to first order.
    gain: f64,
    multiplier: f64,
    reach: f64,
}

impl SharedLaw<'_> {
    /// The highest point, searched from `start` items spread over all `m`.
    pub(crate) fn maximise(&self, start: f64) -> SharedFit {
        let number = to_f64(self.parameters() as u64);
        let start = if start > 0.0 && start.is_finite() { start } else { 1.0 };
        let mut fit = self.climb(vec![start / number; self.parameters()], None, [BARRIER, TOP], &mut MAX_STEPS.clone());
        if !fit.log_likelihood.is_finite() {
            fit.peak = Peak::Lost;
        } else if fit.n >= self.n_cap() {
            fit.peak = Peak::Cap;
        } else if fit.n < 1e-3 * number {
            // The barrier keeps sizes above 0 by about this much.
            fit.peak = Peak::Zero;
        }
        fit
    }

    /// Both ends of the unions with `√(2·(l(n̂) − l(n))) ≤ cut`; 0 and no upper end where the climbs for them take too long.
    pub(crate) fn interval(&self, fit: &SharedFit, cut: f64) -> (f64, Option<f64>) {
        if fit.peak != Peak::Inside(fit.n) {
            return (0.0, None);
        }
        let summit = Summit { n: fit.n, height: fit.log_likelihood, reach: fit.reach };
        let side = |sign: f64, limit: f64| {
            let mut near = fit.sizes.clone();
            let mut near_n = fit.n;
            let mut left = STEPS_OF_AN_END;
            summit.end(sign, cut, limit, |n| {
                if left == 0 {
                    // As if it did not fall any more.
                    return (f64::INFINITY, 0.0);
                }
                let scale = n / near_n;
                // Sizes at their bound get room to grow.
                let floor = 1e-7 * n / to_f64(near.len() as u64);
                let start: Vec<f64> = near.iter().map(|size| (size * scale).max(floor)).collect();
                let here = self.climb(start, Some(n), [0.05 * BARRIER, ENDS], &mut left);
                if here.log_likelihood.is_finite() {
                    near.clone_from(&here.sizes);
                    near_n = n;
                }
                (here.log_likelihood, here.slope)
            })
        };
        let lower = side(-1.0, 1e-6 * fit.n);
        (lower.unwrap_or(0.0), side(1.0, self.n_cap()))
    }

    /// Uphill from `sizes`, which keep their sum if it is given, in at most so many steps as are `left`.
    fn climb(&self, sizes: Vec<f64>, total: Option<f64>, [first, last]: [f64; 2], left: &mut usize) -> SharedFit {
        let close = 0.03 * last;
        let last = last / to_f64(self.parameters() as u64);
        let cap = 4.0 * self.n_cap();
        let mut barrier = first.max(last);
        let mut sizes = with_sum(sizes, total);
        let mut slopes = self.slopes(&sizes);
        let mut step = Step { change: Vec::new(), gain: 0.0, multiplier: f64::NAN, reach: f64::NAN };
        for _ in 0..MAX_STEPS.min(*left) {
            *left -= 1;
            step = next_step(&slopes, &sizes, barrier, total.is_some());
            let enough = if barrier > last { 0.1 } else { close };
            let moved = if step.gain > enough {
                self.along(&sizes, &step, barrier, total, slopes.log_likelihood)
            } else {
                None
            };
            match moved {
                Some(moved) if moved.iter().sum::<f64>() <= cap => {
                    sizes = moved;
                    slopes = self.slopes(&sizes);
                }
                Some(moved) => {
                    sizes = moved;
                    break;
                }
                None if barrier > last => barrier = (barrier / FALL).max(last),
                None => break,
            }
        }
        let n = sizes.iter().sum();
        let slope = step.multiplier / n;
        SharedFit { peak: Peak::Inside(n), sizes, n, log_likelihood: slopes.log_likelihood, reach: step.reach, slope }
    }

    /// The sizes a step leads to, shortened until it leads upwards.
    fn along(&self, sizes: &[f64], step: &Step, barrier: f64, total: Option<f64>, before: f64) -> Option<Vec<f64>> {
        let walls = |sizes: &[f64]| barrier * sizes.iter().map(|size| size.ln()).sum::<f64>();
        let before = before + walls(sizes);
        let lowest = step.change.iter().copied().fold(0.0, f64::min);
        let highest = step.change.iter().copied().fold(0.0, f64::max);
        // Where every size grows, `-lowest` is −0.
        let mut stride = (0.95 / (-lowest).max(f64::MIN_POSITIVE)).min(20.0 / highest).min(1.0);
        for _ in 0..15 {
            let moved = sizes.iter().zip(&step.change).map(|(size, change)| size * (1.0 + stride * change)).collect();
            let moved = with_sum(moved, total);
            let after = self.height(&moved) + walls(&moved);
            if after >= before + 1e-4 * stride * step.gain - 1e-12 * before.abs() {
                return Some(moved);
            }
            stride *= 0.4;
        }
        None
    }
}

/// The same sizes with the sum given.
fn with_sum(mut sizes: Vec<f64>, total: Option<f64>) -> Vec<f64> {
    if let Some(total) = total {
        let scale = total / sizes.iter().sum::<f64>();
        for size in &mut sizes {
            *size *= scale;
        }
    }
    sizes
}

/// Solves `(I + μ)·δ = g + μ − λ·N` in `ln N`, with `N·δ = 0` if the sum is given.
fn next_step(slopes: &Slopes, sizes: &[f64], barrier: f64, fixed: bool) -> Step {
    let mut system = slopes.information.clone();
    (0..sizes.len()).for_each(|m| system.add(m, m, barrier));
    system.factor();
    let right: Vec<f64> = slopes.gradient.iter().map(|slope| slope + barrier).collect();
    let mut change = right.clone();
    system.solve(&mut change);
    let mut toward = sizes.to_vec();
    system.solve(&mut toward);
    let total: f64 = sizes.iter().sum();
    let spread = dot(sizes, &toward);
    let mut multiplier = 0.0;
    if fixed {
        multiplier = dot(sizes, &change) / spread;
        change.iter_mut().zip(&toward).for_each(|(change, toward)| *change -= multiplier * toward);
    }
    let gain = dot(&right, &change);
    let gain = if gain.is_finite() { gain } else { 0.0 };
    Step { change, gain, multiplier: multiplier * total, reach: spread.sqrt() / total }
}
