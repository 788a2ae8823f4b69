//! The union's size under the free law: the highest point of the profile likelihood, and its interval.

use super::ends::Summit;
use super::free::{FreeLaw, Point};
use crate::interval::crossing_above_zero;
use crate::maximum::maximise;
use crate::number::to_f64;
use crate::solve::{Grid, Peak};

/// Certificates while looking around, on the way, and at the end.
const LOOSE: f64 = 0.5;
const ON_THE_WAY: f64 = 1e-3;
const FINAL: f64 = 1e-7;
/// For the ends of intervals: the cut is some 4.
const ENDS: f64 = 2e-3;
/// Beyond this relative error the likelihood may have several maxima, and all of its range is searched.
const VAGUE: f64 = 0.35;

/// The highest point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FreeFit {
    pub(crate) peak: Peak,
    /// 0, the largest count, or where it is.
    pub(crate) n: f64,
    pub(crate) log_likelihood: f64,
    /// The standard error of `ln n`; infinite or NaN where the likelihood does not bend.
    pub(crate) reach: f64,
    /// One more than the number of free weights above 1e-6.
    pub(crate) positive_weights: usize,
}

/// A point of the search.
#[derive(Clone, Copy)]
struct Seen {
    n: f64,
    point: Point,
}

impl FreeLaw<'_> {
    /// The highest point of the likelihood on `[0, n_cap]`.
    pub(crate) fn maximise(&mut self) -> FreeFit {
        let cap = self.counts().n_cap;
        let near = self.neighbourhood();
        let mut fit = self.best_of(&near);
        if !(fit.reach < VAGUE) {
            let points: Vec<f64> = Grid::new(0.0625, 1).unwrap_or_default().points(cap).collect();
            let everywhere = self.best_of(&points);
            if !(fit.log_likelihood >= everywhere.log_likelihood) {
                fit = everywhere;
            }
        }
        let zero = self.at(0.0, FINAL).log_likelihood;
        if zero >= fit.log_likelihood || (fit.log_likelihood.is_nan() && zero.is_finite()) {
            return FreeFit { peak: Peak::Zero, n: 0.0, log_likelihood: zero, reach: f64::NAN, positive_weights: 1 };
        }
        if fit.log_likelihood.is_finite() { fit } else { FreeFit { peak: Peak::Lost, ..fit } }
    }

    /// Octaves around the sizes that the average sketch makes possible: from half of its set to twice the sum of all.
    fn neighbourhood(&self) -> Vec<f64> {
        let counts = self.counts();
        let average = match counts.pooled().map(|pooled| maximise(&pooled).peak) {
            Some(Peak::Inside(n)) => n,
            Some(Peak::Cap) => counts.n_cap / 4.0,
            _ => 1.0,
        };
        let most = (2.0 * average * to_f64(counts.sketches() as u64)).min(counts.n_cap);
        let mut points = vec![(average / 2.0).min(counts.n_cap)];
        while let Some(&last) = points.last().filter(|&&last| last < most) {
            points.push((2.0 * last).min(counts.n_cap));
        }
        points
    }

    /// The highest maximum between rising points, with as many more below and above as it takes.
    fn best_of(&mut self, points: &[f64]) -> FreeFit {
        let cap = self.counts().n_cap;
        let mut seen: Vec<Seen> = points.iter().map(|&n| Seen { n, point: self.at(n, LOOSE) }).collect();
        while let Some(&first) = seen.first().filter(|first| first.point.slope < 0.0 && first.n > 1e-3) {
            let n = first.n / 4.0;
            seen.insert(0, Seen { n, point: self.at(n, LOOSE) });
        }
        while let Some(&last) = seen.last().filter(|last| last.point.slope > 0.0 && last.n < cap) {
            let n = (4.0 * last.n).min(cap);
            seen.push(Seen { n, point: self.at(n, LOOSE) });
        }
        let top = |seen: &Seen| seen.point.log_likelihood + 0.5 * seen.point.gap;
        let mut best: Option<FreeFit> = None;
        let brackets: Vec<(Seen, Seen)> = seen
            .windows(2)
            .filter_map(|pair| match *pair {
                [low, high] if low.point.slope > 0.0 && high.point.slope <= 0.0 => Some((low, high)),
                _ => None,
            })
            .collect();
        let highest = seen.iter().map(top).fold(f64::NEG_INFINITY, f64::max);
        for (low, high) in brackets {
            // A peak inside cannot rise above the higher end by more than its slopes allow.
            let rise = (high.n - low.n) * low.point.slope.min(-high.point.slope).max(0.0);
            if top(&low).max(top(&high)) + rise + LOOSE >= highest {
                let fit = self.refine(low, high);
                if best.is_none_or(|best| fit.log_likelihood > best.log_likelihood) {
                    best = Some(fit);
                }
            }
        }
        let full = self.at(cap, ON_THE_WAY);
        let ended = seen.last().is_some_and(|last| last.point.slope > 0.0);
        match best {
            Some(best) if !(full.log_likelihood > best.log_likelihood) => best,
            None if !ended && !(full.log_likelihood > highest) => {
                // Falling from the first point on: the highest is at 0.
                FreeFit { peak: Peak::Zero, n: 0.0, log_likelihood: f64::NAN, reach: f64::NAN, positive_weights: 1 }
            }
            _ => {
                let reach = f64::NAN;
                let positive_weights = self.positive_weights();
                FreeFit { peak: Peak::Cap, n: cap, log_likelihood: full.log_likelihood, reach, positive_weights }
            }
        }
    }

    /// The root of the slope between two points: Newton in `ln n`, within the bracket.
    fn refine(&mut self, low: Seen, high: Seen) -> FreeFit {
        let (mut left, mut right) = (low.n, high.n);
        // False position in ln n to begin with.
        let (rise, fall) = (low.point.slope * low.n, -high.point.slope * high.n);
        let share = (rise / (rise + fall)).clamp(0.1, 0.9);
        let mut n = left * (right / left).powf(if share.is_finite() { share } else { 0.5 });
        let mut tolerance = ON_THE_WAY;
        let mut fit = None;
        for _ in 0..60 {
            let point = self.at(n, tolerance);
            let (slope, bend) = (point.slope * n, self.bend(n));
            if slope > 0.0 {
                left = n;
            } else {
                right = n;
            }
            let step = slope / bend;
            let near = bend > 0.0 && step.abs() < 1e-6;
            let narrow = right - left <= 1e-9 * right;
            if tolerance <= FINAL {
                let positive_weights = self.positive_weights();
                let reach = bend.sqrt().recip();
                fit = Some(FreeFit {
                    peak: Peak::Inside(n),
                    n,
                    log_likelihood: point.log_likelihood,
                    reach,
                    positive_weights,
                });
                if near || narrow {
                    break;
                }
            }
            if (bend > 0.0 && step.abs() < 0.02) || narrow {
                tolerance = FINAL;
            }
            let next = n * step.exp();
            n = if bend > 0.0 && next > left && next < right { next } else { (left * right).sqrt() };
        }
        fit.unwrap_or_else(|| {
            let log_likelihood = self.at(n, FINAL).log_likelihood;
            let positive_weights = self.positive_weights();
            FreeFit { peak: Peak::Inside(n), n, log_likelihood, reach: f64::NAN, positive_weights }
        })
    }

    /// Both ends of the sizes with `√(2·(l(n̂) − l(n))) ≤ cut`; 0 and no upper end where nothing limits them.
    pub(crate) fn interval(&mut self, fit: &FreeFit, cut: f64) -> (f64, Option<f64>) {
        let cap = self.counts().n_cap;
        let mut at = |n: f64| {
            let point = self.at(n, ENDS.min(1e-3 * cut * cut).max(1e-9));
            (point.log_likelihood, point.slope)
        };
        if fit.n <= 0.0 {
            let distance = |height: f64| (2.0 * (fit.log_likelihood - height)).max(0.0).sqrt();
            let at = core::cell::RefCell::new(at);
            return (0.0, crossing_above_zero(1.0, cap, cut, |n| distance((at.borrow_mut())(n).0)));
        }
        let summit = Summit { n: fit.n, height: fit.log_likelihood, reach: fit.reach };
        let upper = if fit.peak == Peak::Cap { None } else { summit.end(1.0, cut, cap, &mut at) };
        let empty = (2.0 * (fit.log_likelihood - at(0.0).0)).max(0.0).sqrt();
        let lower = if empty <= cut { None } else { summit.end(-1.0, cut, 1e-9 * fit.n, &mut at) };
        (lower.unwrap_or(0.0), upper)
    }
}
