//! Finding the highest point of a function of one count, safely.
//!
//! The functions here need not be concave: private log-likelihoods turn upwards far to the right of their maximum, and
//! may have several maxima. An unguarded Newton iteration runs away on them.

use crate::ParamError;
use crate::likelihood::Slope;

/// The points of the exhaustive search: 0, then a geometric grid from `start` to the largest count.
///
/// # Examples
/// ```
/// use cardinality_estimators::Grid;
/// assert_eq!(Grid::default(), Grid::new(0.0625, 4)?);
/// # Ok::<(), cardinality_estimators::ParamError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    start: f64,
    points_per_octave: u32,
}

impl Grid {
    /// A grid from `start` with the given density.
    ///
    /// # Errors
    /// [`ParamError::Grid`] unless `2^-40 ≤ start ≤ 1` and `1 ≤ points_per_octave ≤ 64`.
    pub fn new(start: f64, points_per_octave: u32) -> Result<Self, ParamError> {
        if (2.0_f64.powi(-40)..=1.0).contains(&start) && (1..=64).contains(&points_per_octave) {
            Ok(Self { start, points_per_octave })
        } else {
            Err(ParamError::Grid { start, points_per_octave })
        }
    }

    /// The grid points above 0, the last of them `cap`.
    pub(crate) fn points(self, cap: f64) -> impl Iterator<Item = f64> {
        let step = f64::from(self.points_per_octave);
        let start = self.start;
        let inner = (0_u32..).map(move |i| start * (f64::from(i) / step).exp2()).take_while(move |&n| n < cap);
        inner.chain(core::iter::once(cap))
    }
}

impl Default for Grid {
    fn default() -> Self {
        Self { start: 0.0625, points_per_octave: 4 }
    }
}

/// A function to maximise over `[0, cap]`.
pub(crate) trait Objective {
    fn grid(&self) -> Grid;
    fn cap(&self) -> f64;
    fn height(&self, n: f64) -> f64;
    fn slope(&self, n: f64) -> Slope;
}

/// Where the highest point lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Peak {
    Zero,
    Inside(f64),
    Cap,
    /// The function was not finite enough to compare.
    Lost,
}

/// The highest point and whether it is the only maximum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Summit {
    pub(crate) peak: Peak,
    pub(crate) alone: bool,
}

/// The highest maximum over the whole range: every sign change of the slope on the grid is refined and compared with
/// the two ends. Ties go to the smaller count.
pub(crate) fn highest_peak<O: Objective>(objective: &O) -> Summit {
    let mut best: Option<(f64, Peak)> = None;
    let mut peaks = 0;
    visit_peaks(objective, |height, peak| {
        peaks += 1;
        if height.is_finite() && best.is_none_or(|(top, _)| height > top) {
            best = Some((height, peak));
        }
    });
    Summit { peak: best.map_or(Peak::Lost, |(_, peak)| peak), alone: peaks == 1 }
}

/// The highest maximum below the end of the range and its height, if there is one.
pub(crate) fn highest_inside<O: Objective>(objective: &O) -> Option<(f64, f64)> {
    let mut best: Option<(f64, f64)> = None;
    visit_peaks(objective, |height, peak| {
        let at = match peak {
            Peak::Zero => 0.0,
            Peak::Inside(n) => n,
            Peak::Cap | Peak::Lost => return,
        };
        if height.is_finite() && best.is_none_or(|(_, top)| height > top) {
            best = Some((at, height));
        }
    });
    best
}

/// Every maximum with its height, from the smallest count to the largest.
fn visit_peaks<O: Objective>(objective: &O, mut visit: impl FnMut(f64, Peak)) {
    let mut left = 0.0;
    let mut rising = objective.slope(0.0).d1 > 0.0;
    if !rising {
        visit(objective.height(0.0), Peak::Zero);
    }
    for right in objective.grid().points(objective.cap()) {
        let still_rising = objective.slope(right).d1 > 0.0;
        if rising && !still_rising {
            let top = refine(objective, left, right);
            visit(objective.height(top), Peak::Inside(top));
        }
        (left, rising) = (right, still_rising);
    }
    if rising {
        visit(objective.height(objective.cap()), Peak::Cap);
    }
}

/// The maximum between `low`, where the slope is positive, and `high`, where it is not.
fn refine<O: Objective>(objective: &O, mut low: f64, mut high: f64) -> f64 {
    let middle = |low: f64, high: f64| if low > 0.0 { low * (high / low).sqrt() } else { high / 2.0 };
    let mut n = middle(low, high);
    // 100 halvings of the octave-wide bracket are beyond the precision of f64.
    for _ in 0..100 {
        let slope = objective.slope(n);
        if slope.d1 > 0.0 {
            low = n;
        } else {
            high = n;
        }
        let step = log_step(n, slope);
        if let Some(step) = step.filter(|step| step.abs() < 1e-8) {
            return (n * step.exp()).clamp(low, high);
        }
        if high - low <= 1e-15 * high {
            return n;
        }
        let next = step.map(|step| n * step.exp()).filter(|next| low < *next && *next < high);
        n = next.unwrap_or_else(|| middle(low, high));
    }
    n
}

/// Newton's step in `ln n`, where likelihoods are nearer to parabolas than in `n`; `None` where they bend upwards.
fn log_step(n: f64, slope: Slope) -> Option<f64> {
    let curvature = n * slope.d2 + slope.d1;
    (curvature < 0.0).then(|| -slope.d1 / curvature).filter(|step| step.is_finite())
}

/// Newton from a good start without a bracket. Gives up as soon as anything looks unusual.
pub(crate) fn climb<O: Objective>(objective: &O, start: f64) -> Option<f64> {
    let mut n = start;
    for _ in 0..16 {
        let step = log_step(n, objective.slope(n)).filter(|step| step.abs() < 2.0)?;
        n *= step.exp();
        if !(n > 0.0 && n < objective.cap()) {
            return None;
        }
        // Convergence is quadratic: after a step of 1e-8 the next would be about 1e-16.
        if step.abs() < 1e-8 {
            return Some(n);
        }
    }
    None
}
