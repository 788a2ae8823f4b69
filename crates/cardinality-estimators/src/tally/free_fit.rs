//! The union's size under the free law: the highest point of the profile likelihood, and its interval.

use super::ends::Summit;
use super::free::{FreeLaw, Point};
use crate::interval::crossing_above_zero;
use crate::maximum::maximise;
use crate::number::to_f64;
use crate::solve::{Grid, Peak};

/// Certificates while looking around, where the likelihood is so flat that they decide on its slope's sign, on the way, and
/// at the end.
const LOOSE: f64 = 0.5;
const FLAT: f64 = 1e-4;
const ON_THE_WAY: f64 = 1e-3;
const FINAL: f64 = 1e-7;
/// For the ends of intervals: the cut is some 4.
const ENDS: f64 = 5e-3;
/// Beyond this relative error the likelihood may have several maxima, and all of its range is searched.
const VAGUE: f64 = 0.35;
/// A maximum below so few items is one at 0.
const NOTHING: f64 = 1e-3;

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
        let mut fit = self.best_of(&near, LOOSE);
        if fit.reach.is_nan() || fit.reach >= VAGUE {
            let points: Vec<f64> = Grid::new(0.0625, 1).unwrap_or_default().points(cap).collect();
            let everywhere = self.best_of(&points, FLAT);
            if fit.log_likelihood.is_nan() || everywhere.log_likelihood > fit.log_likelihood {
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
    fn best_of(&mut self, points: &[f64], tolerance: f64) -> FreeFit {
        let cap = self.counts().n_cap;
        let mut seen: Vec<Seen> = points.iter().map(|&n| Seen { n, point: self.at(n, tolerance) }).collect();
        while let Some(&first) = seen.first().filter(|first| first.point.slope < 0.0 && first.n > NOTHING) {
            let n = first.n / 4.0;
            seen.insert(0, Seen { n, point: self.at(n, tolerance) });
        }
        while let Some(&last) = seen.last().filter(|last| last.point.slope > 0.0 && last.n < cap) {
            let n = (4.0 * last.n).min(cap);
            seen.push(Seen { n, point: self.at(n, tolerance) });
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
            if top(&low).max(top(&high)) + rise + LOOSE >= highest
                && let Some(fit) = self.refine(low, high)
                && best.is_none_or(|best| fit.log_likelihood > best.log_likelihood)
            {
                best = Some(fit);
            }
        }
        let full = self.at(cap, ON_THE_WAY);
        let above = |height: f64| full.log_likelihood > height;
        let ended = seen.last().is_some_and(|last| last.point.slope > 0.0);
        match best {
            Some(best) if !above(best.log_likelihood) => best,
            None if !ended && !above(highest) => {
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

    /// The root of the slope between two points: Newton in `ln n`, within the bracket; `None` if it is as good as 0.
    fn refine(&mut self, low: Seen, high: Seen) -> Option<FreeFit> {
        let cap = self.counts().n_cap;
        // Slopes seen loosely may have the wrong sign near the root: a little room on either side, and more as long as no
        // point seen tightly confirms the end.
        let (mut left, mut right) = (low.n / 1.2, (1.2 * high.n).min(cap));
        let (mut rises, mut falls) = (false, false);
        // False position in ln n to begin with.
        let (rise, fall) = (low.point.slope * low.n, -high.point.slope * high.n);
        let share = (rise / (rise + fall)).clamp(0.1, 0.9);
        let mut n = low.n * (high.n / low.n).powf(if share.is_finite() { share } else { 0.5 });
        let mut tolerance = ON_THE_WAY;
        let mut fit = None;
        for _ in 0..100 {
            let point = self.at(n, tolerance);
            let (slope, bend) = (point.slope * n, self.bend(n));
            let step = slope / bend;
            // In standard errors; next to the root only a tight certificate knows on which side it is.
            let far = if bend > 0.0 { step.abs() * bend.sqrt() } else { f64::INFINITY };
            if tolerance <= FINAL || far > 0.2 {
                if slope > 0.0 {
                    (left, rises) = (n, true);
                } else {
                    (right, falls) = (n, true);
                }
                if !falls && 1.4 * n > right {
                    right = (4.0 * n).min(cap);
                }
                if !rises && n < 1.4 * left {
                    if n < NOTHING {
                        return None;
                    }
                    left = n / 4.0;
                }
            }
            let near = step.abs() < 1e-5 && far < 1e-3;
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
            if far < 0.3 || narrow {
                tolerance = FINAL;
            }
            let next = n * step.exp();
            n = if bend > 0.0 && next > left && next < right { next } else { (left * right).sqrt() };
        }
        Some(fit.unwrap_or_else(|| {
            let log_likelihood = self.at(n, FINAL).log_likelihood;
            let positive_weights = self.positive_weights();
            FreeFit { peak: Peak::Inside(n), n, log_likelihood, reach: f64::NAN, positive_weights }
        }))
    }

    /// Both ends of the sizes with `√(2·(l(n̂) − l(n))) ≤ cut`; 0 and no upper end where nothing limits them.
    pub(crate) fn interval(&mut self, fit: &FreeFit, cut: f64) -> (f64, Option<f64>) {
        let cap = self.counts().n_cap;
        let mut at = |n: f64| {
            let point = self.at(n, ENDS.min(3e-3 * cut * cut).max(1e-9));
            (point.log_likelihood + 0.5 * point.gap, point.slope)
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
