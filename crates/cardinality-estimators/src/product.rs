//! The union of several noisy sketches without merging them: the product statistic.
//!
//! For one cell seen through `m` channels, `u_i = (p_i − t_i)/d_i` is an unbiased estimate of "empty in sketch `i`", and
//! since the noise of different sketches is independent, `y = Π u_i` is one of "empty in the union". Averages of `y` over
//! a level estimate `g(n) = e^(−rate·n)`, with no randomness beyond the noise already there; a randomised merge has to
//! draw coins and is less accurate.

use crate::estimate::Parts;
use crate::information::variance;
use crate::interval::{Ends, hull, log_wald};
use crate::level::check_range;
use crate::likelihood::{Slope, fill};
use crate::number::to_f64;
use crate::solve::{Objective, Peak, highest_peak};
use crate::{BitChannel, CellGroup, Confidence, Estimate, Grid, ParamError, Status};

/// The first two moments of `y = Π (p_i − t_i)/d_i` over a group of equally likely cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProductMoments {
    cells: u64,
    rate: f64,
    mean: f64,
    variance: f64,
}

impl ProductMoments {
    /// Moments computed elsewhere: `variance` is that of a single `y`, not of the mean.
    ///
    /// # Errors
    /// [`ParamError::Cells`] without a cell, [`ParamError::Rate`] outside its range, [`ParamError::Moments`] unless both
    /// moments are finite and the variance is not negative.
    pub fn new(cells: u64, rate: f64, mean: f64, variance: f64) -> Result<Self, ParamError> {
        CellGroup::new(cells, 0, rate)?;
        if cells == 0 {
            return Err(ParamError::Cells { expected: 1, found: 0 });
        }
        if mean.is_finite() && variance.is_finite() && variance >= 0.0 {
            Ok(Self { cells, rate, mean, variance })
        } else {
            Err(ParamError::Moments { mean, variance })
        }
    }

    /// Moments from the values `y` that occur and the number of cells that have each.
    ///
    /// # Errors
    /// As [`Self::new`]; the moments of very many very noisy sketches overflow, and nothing can be learnt from them.
    ///
    /// # Examples
    /// ```
    /// use cardinality_estimators::ProductMoments;
    /// let level = ProductMoments::from_values(0.001, [(1.0, 75), (0.0, 25)])?;
    /// assert_eq!((level.mean(), level.variance()), (0.75, 0.1875));
    /// # Ok::<(), cardinality_estimators::ParamError>(())
    /// ```
    pub fn from_values<I>(rate: f64, values: I) -> Result<Self, ParamError>
    where
        I: IntoIterator<Item = (f64, u64)>,
        I::IntoIter: Clone,
    {
        let values = values.into_iter();
        let overflow = ParamError::Cells { expected: 1, found: 0 };
        let cells = values.clone().try_fold(0_u64, |sum, (_, cells)| sum.checked_add(cells)).ok_or(overflow)?;
        let total = to_f64(cells).max(1.0);
        let average = |f: &dyn Fn(f64) -> f64| {
            values.clone().filter(|&(_, n)| n > 0).map(|(y, n)| f(y) * (to_f64(n) / total)).sum::<f64>()
        };
        let mean = average(&|y| y);
        Self::new(cells, rate, mean, average(&|y| (y - mean) * (y - mean)))
    }

    /// Moments for `m` sketches behind one and the same channel: `cells_with_ones[w]` cells hold `w` ones among the `m`
    /// sketches, `m = len − 1`, and `y = (p/d)^(m−w)·(−(1−p)/d)^w`.
    ///
    /// # Errors
    /// As [`Self::new`]; [`ParamError::Sketches`] unless `1 ≤ m ≤ 65536`.
    pub fn from_classes(rate: f64, channel: BitChannel, cells_with_ones: &[u64]) -> Result<Self, ParamError> {
        let sketches = cells_with_ones.len().saturating_sub(1);
        let m = i32::try_from(sketches).ok().filter(|m| (1..=65_536).contains(m));
        let m = m.ok_or(ParamError::Sketches { found: sketches })?;
        let zero = channel.p() / channel.d();
        let one = -channel.miss() / channel.d();
        let values = (0_i32..).zip(cells_with_ones).map(|(w, &cells)| (zero.powi(m - w) * one.powi(w), cells));
        Self::from_values(rate, values)
    }

    /// The mean of `y`: the estimated share of cells that are empty in the union.
    #[must_use]
    pub const fn mean(&self) -> f64 {
        self.mean
    }

    /// The variance of one `y`.
    #[must_use]
    pub const fn variance(&self) -> f64 {
        self.variance
    }

    /// The number of cells.
    #[must_use]
    pub const fn cells(&self) -> u64 {
        self.cells
    }
}

/// Product moments of every group of cells, ready to be solved for the size of the union.
///
/// The estimate solves `Σ ω_j·(g_j(n) − ȳ_j) = 0` with `ω_j = cells·rate·g_j/Var_j`. The variance of `y` depends on how
/// the sets overlap, so its second moment over occupied cells is taken from the data, but only within the limits that
/// the channels leave: `Π B_i` for a cell occupied in every sketch up to the largest `B_i·Π A_k` for a cell occupied in
/// one, where `A = 1 + q(1−q)/d²` and `B = p(1−p)/d²`. For one sketch the limits meet and the estimate is the maximum
/// likelihood one.
///
/// # Examples
/// ```
/// use cardinality_estimators::{BitChannel, CellLayout, Confidence, ProductMoments, ProductStatistic};
/// let channel = BitChannel::symmetric(0.1)?;
/// let layout = CellLayout::pcsa(1024, 6)?;
/// // Two disjoint sets of 1500: cells expected to hold no, one and two ones, level by level.
/// let classes = [
///     [240, 512, 272],
///     [439, 463, 122],
///     [601, 367, 56],
///     [705, 289, 30],
///     [765, 240, 19],
///     [765, 240, 19],
/// ];
/// let moments = layout.groups().zip(&classes).map(|((_, rate), c)| ProductMoments::from_classes(rate, channel, c));
/// let union = ProductStatistic::new(moments.collect::<Result<_, _>>()?, &[channel; 2], layout.n_cap())?;
/// let answer = union.estimate(Confidence::P95);
/// assert!(answer.value().is_some_and(|n| (n - 3000.0).abs() < 30.0));
/// # Ok::<(), cardinality_estimators::ParamError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ProductStatistic {
    groups: Vec<ProductMoments>,
    limits: Limits,
    noiseless: bool,
    n_cap: f64,
    grid: Grid,
}

/// What the channels say about the second moment of `y`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Limits {
    /// `Π A_i − 1`: the variance of `y` for a cell empty in every sketch.
    empty_excess: f64,
    /// `E y²` for a cell occupied in every sketch.
    least: f64,
    /// The largest `E y²` for a cell occupied in one sketch.
    most: f64,
}

impl Limits {
    fn new(channels: &[BitChannel]) -> Self {
        let spread = |c: &BitChannel| c.q() * (1.0 - c.q()) / (c.d() * c.d());
        let occupied = |c: &BitChannel| c.p() * c.miss() / (c.d() * c.d());
        let log_empty: f64 = channels.iter().map(|c| spread(c).ln_1p()).sum();
        let least = channels.iter().map(occupied).product();
        let ratio = channels.iter().map(|c| occupied(c) / (1.0 + spread(c))).fold(0.0, f64::max);
        Self { empty_excess: log_empty.exp_m1(), least, most: (log_empty.exp() * ratio).max(least) }
    }
}

/// A group at some `n`.
#[derive(Clone, Copy, Default)]
struct At {
    cells: f64,
    rate: f64,
    mean: f64,
    hit: f64,
    empty: f64,
    /// The part of `E y²` that comes from occupied cells, as observed.
    excess: f64,
}

/// The score `S = Σ weight·(g − ȳ)` at some `n`, its slope and its variance with independent cells.
#[derive(Clone, Copy, Default)]
struct Score {
    value: f64,
    slope: f64,
    spread: f64,
}

impl Score {
    /// The variance of the count at which the score vanishes, `spread/slope² − n`.
    fn variance(&self, n: f64) -> f64 {
        variance(self.slope / self.spread * self.slope, n)
    }

    /// The square of the score in units of its variance for a fixed number of items, `spread − n·slope²`.
    fn distance(&self, n: f64) -> f64 {
        self.value * self.value / (self.spread - n * self.slope * self.slope).max(0.0)
    }
}

impl ProductStatistic {
    /// The statistic of sketches behind `channels`, one entry a sketch, with the largest union `n_cap` to search for.
    ///
    /// # Errors
    /// [`ParamError::Sketches`] unless there are `1 ..= 65536` channels; [`ParamError::Cells`] without a group;
    /// [`ParamError::Cap`] unless `2^-20 ≤ n_cap ≤ 2^200`.
    pub fn new(mut groups: Vec<ProductMoments>, channels: &[BitChannel], n_cap: f64) -> Result<Self, ParamError> {
        if !(1..=65_536).contains(&channels.len()) {
            return Err(ParamError::Sketches { found: channels.len() });
        }
        groups.sort_by(|x, y| y.rate.total_cmp(&x.rate));
        let slowest = groups.last().ok_or(ParamError::Cells { expected: 1, found: 0 })?.rate;
        check_range(n_cap)?;
        let noiseless = channels.iter().all(BitChannel::is_noiseless);
        let limits = Limits::new(channels);
        Ok(Self { groups, limits, noiseless, n_cap: n_cap.min(512.0 / slowest), grid: Grid::default() })
    }

    /// The size of the union, its standard error and interval.
    ///
    /// With `D = Σ ω·rate·g`, the standard error is `√(Σ ω²·Var_j/cells / D² − n̂)`; as for one sketch, `n̂` is subtracted
    /// because a fixed number of items occupies cells that are not quite independent. The interval is
    /// `n̂·exp(±z·std_error/n̂)` where the relative error is the same all along it, and elsewhere the hull of every `n` whose
    /// score is within `z` of its standard deviations, 0 included when it qualifies.
    pub fn estimate(&self, confidence: Confidence) -> Estimate {
        if !(self.limits.empty_excess.is_finite() && self.limits.most.is_finite()) {
            return Estimate::not_converged(confidence);
        }
        match highest_peak(self).peak {
            Peak::Zero => self.at_zero(confidence),
            Peak::Inside(n) => self.inside(n, confidence),
            Peak::Cap => {
                let lower = Some(self.score_interval(self.n_cap, confidence).lower);
                let parts = Parts { value: None, std_error: None, lower, upper: None };
                Estimate::from_parts(Status::Saturated, parts, confidence)
            }
            Peak::Lost => Estimate::not_converged(confidence),
        }
    }

    fn inside(&self, n: f64, confidence: Confidence) -> Estimate {
        let std_error = self.score(n).variance(n).sqrt();
        if !std_error.is_finite() {
            return Estimate::not_converged(confidence);
        }
        let wald = log_wald(n, std_error, confidence.z());
        let even = wald.is_even(std_error / n, self.n_cap, |end| self.score(end).variance(end).sqrt() / end);
        let ends = if even { wald } else { self.score_interval(n, confidence) };
        let ends = if self.noiseless { ends.to_whole_items() } else { ends };
        let status = Status::of_value(n, std_error, ends.upper);
        let parts = Parts { value: Some(n), std_error: Some(std_error), lower: Some(ends.lower), upper: ends.upper };
        Estimate::from_parts(status, parts, confidence)
    }

    fn at_zero(&self, confidence: Confidence) -> Estimate {
        let empty = self.noiseless && self.groups.iter().all(|group| group.mean >= 1.0);
        let (status, std_error, upper) = if empty {
            (Status::Empty, 0.0, Some(0.0))
        } else {
            let ends = self.score_interval(0.0, confidence);
            (Status::BelowNoise, self.score(0.0).variance(0.0).sqrt(), ends.upper)
        };
        let std_error = Some(std_error).filter(|error| error.is_finite());
        let parts = Parts { value: Some(0.0), std_error, lower: Some(0.0), upper };
        Estimate::from_parts(status, parts, confidence)
    }

    fn score_interval(&self, inside: f64, confidence: Confidence) -> Ends {
        let cut = confidence.z() * confidence.z();
        // At the ends of the range the best score is not 0; what counts is how much worse another count is.
        let best = self.score(inside).distance(inside);
        let reach = cut + if best.is_finite() { best } else { 0.0 };
        hull(self.grid, self.n_cap, inside, |n| self.score(n).distance(n) <= reach)
    }

    fn at(&self, group: &ProductMoments, n: f64) -> At {
        let (hit, empty) = fill(group.rate * n);
        let excess = group.mean * group.mean + group.variance - empty * (1.0 + self.limits.empty_excess);
        At { cells: to_f64(group.cells), rate: group.rate, mean: group.mean, hit, empty, excess }
    }

    /// The part of `Var y` that comes from occupied cells, given what was observed of it, within the channels' limits.
    fn occupied(&self, hit: f64, excess: f64, of_hit: f64) -> f64 {
        let share = (excess / of_hit).clamp(self.limits.least, self.limits.most);
        if share.is_nan() { hit * self.limits.least } else { hit * share }
    }

    /// Sums over all groups.
    ///
    /// A group's weight uses the second moment seen in its neighbours, not its own: the mean and the second moment of a
    /// group stray together, and weights that follow their own group's errors would bias the estimate upwards.
    fn score(&self, n: f64) -> Score {
        let groups = self.groups.as_slice();
        let mut sums = Score::default();
        let mut before = None;
        let mut here = self.at(&groups[0], n);
        for i in 0..groups.len() {
            let after = groups.get(i + 1).map(|group| self.at(group, n));
            let around = [before, after];
            let pool = |f: fn(&At) -> f64| around.iter().flatten().map(|at| at.cells * f(at)).sum::<f64>();
            let pooled =
                if groups.len() > 1 { (pool(|at| at.excess), pool(|at| at.hit)) } else { (here.excess, here.hit) };
            let modelled = self.occupied(here.hit, pooled.0, pooled.1);
            let observed = self.occupied(here.hit, here.excess, here.hit);
            sums.add(here, self.limits.empty_excess + here.hit, modelled, observed);
            before = Some(here);
            if let Some(next) = after {
                here = next;
            }
        }
        sums
    }
}

impl Score {
    /// Adds a group with `Var y = empty·own + occupied`, where `occupied` is modelled for the weight and observed for
    /// the spread.
    fn add(&mut self, at: At, own: f64, modelled: f64, observed: f64) {
        // Without noise the variance is empty·own; divided out, it cannot underflow before the weight does.
        let ratio = if modelled > 0.0 { at.empty / (at.empty * own + modelled) } else { own.recip() };
        let weight = at.cells * at.rate * ratio;
        let residual = at.empty - at.mean;
        if residual != 0.0 {
            self.value += weight * residual;
        }
        let slope = weight * at.rate * at.empty;
        self.slope += slope;
        let inflation = if modelled > 0.0 { (at.empty * own + observed) / (at.empty * own + modelled) } else { 1.0 };
        self.spread += slope * inflation;
    }
}

impl Objective for ProductStatistic {
    fn grid(&self) -> Grid {
        self.grid
    }

    fn cap(&self) -> f64 {
        self.n_cap
    }

    /// The normal log-likelihood of the group means: only used to choose between several roots.
    fn height(&self, n: f64) -> f64 {
        let misfit = |group: &ProductMoments| {
            let at = self.at(group, n);
            let occupied = self.occupied(at.hit, at.excess, at.hit);
            let variance = at.empty * (self.limits.empty_excess + at.hit) + occupied;
            let residual = at.mean - at.empty;
            let distance = if residual == 0.0 { 0.0 } else { at.cells * residual * residual / variance };
            distance + variance.max(f64::MIN_POSITIVE).ln()
        };
        -0.5 * self.groups.iter().map(misfit).sum::<f64>()
    }

    fn slope(&self, n: f64) -> Slope {
        let score = self.score(n);
        Slope { d1: score.value, d2: -score.slope, information: score.slope }
    }
}
