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

/// One group's contribution at some `n`.
struct Pull {
    /// `rate·cells·g/Var y`, the weight of the group's mean.
    weight: f64,
    empty: f64,
    variance: f64,
}

impl ProductStatistic {
    /// The statistic of sketches behind `channels`, one entry a sketch, with the largest union `n_cap` to search for.
    ///
    /// # Errors
    /// [`ParamError::Sketches`] unless there are `1 ..= 65536` channels; [`ParamError::Cells`] without a group;
    /// [`ParamError::Cap`] unless `2^-20 ≤ n_cap ≤ 2^200`.
    pub fn new(groups: Vec<ProductMoments>, channels: &[BitChannel], n_cap: f64) -> Result<Self, ParamError> {
        if !(1..=65_536).contains(&channels.len()) {
            return Err(ParamError::Sketches { found: channels.len() });
        }
        if groups.is_empty() {
            return Err(ParamError::Cells { expected: 1, found: 0 });
        }
        check_range(n_cap)?;
        let slowest = groups.iter().map(|group| group.rate).fold(CellGroup::MAX_RATE, f64::min);
        let noiseless = channels.iter().all(BitChannel::is_noiseless);
        let limits = Limits::new(channels);
        Ok(Self { groups, limits, noiseless, n_cap: n_cap.min(512.0 / slowest), grid: Grid::default() })
    }

    /// The size of the union, with standard error `√(1/H − n̂)` where `H = Σ cells·rate²·g²/Var_j`.
    ///
    /// As for one sketch, `n̂` is subtracted because a fixed number of items occupies cells that are not quite
    /// independent. The interval is `n̂·exp(±z·std_error/n̂)` well clear of the noise and of the end of the range, and
    /// elsewhere the hull of every `n` whose score is within `z` of its standard deviations, 0 included when it
    /// qualifies.
    pub fn estimate(&self, confidence: Confidence) -> Estimate {
        if !(self.limits.empty_excess.is_finite() && self.limits.most.is_finite()) {
            return Estimate::not_converged(confidence);
        }
        match highest_peak(self) {
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
        let std_error = variance(self.slope(n).information, n).sqrt();
        if !std_error.is_finite() {
            return Estimate::not_converged(confidence);
        }
        let floor = self.slope(0.0).information.sqrt().recip();
        let wald = log_wald(n, std_error, confidence.z());
        let clear = n > 4.0 * floor && n > 4.0 * std_error && wald.upper.is_some_and(|upper| upper < self.n_cap);
        let ends = if clear { wald } else { self.score_interval(n, confidence) };
        let known = 2.0 * std_error <= n && ends.upper.is_some();
        let status = if known { Status::Ok } else { Status::LowInformation };
        let parts = Parts { value: Some(n), std_error: Some(std_error), lower: Some(ends.lower), upper: ends.upper };
        Estimate::from_parts(status, parts, confidence)
    }

    fn at_zero(&self, confidence: Confidence) -> Estimate {
        let empty = self.noiseless && self.groups.iter().all(|group| group.mean >= 1.0);
        let (status, upper) = if empty {
            (Status::Empty, Some(0.0))
        } else {
            (Status::BelowNoise, self.score_interval(0.0, confidence).upper)
        };
        let std_error = Some(self.slope(0.0).information.sqrt().recip());
        let parts = Parts { value: Some(0.0), std_error, lower: Some(0.0), upper };
        Estimate::from_parts(status, parts, confidence)
    }

    fn score_interval(&self, inside: f64, confidence: Confidence) -> Ends {
        let cut = confidence.z() * confidence.z();
        hull(self.grid, self.n_cap, inside, |n| {
            let slope = self.slope(n);
            let spread = slope.information * (1.0 - n * slope.information).max(0.0);
            slope.d1 * slope.d1 <= cut * spread
        })
    }

    /// Weight and modelled variance of a group after `n` items.
    fn pull(&self, group: &ProductMoments, n: f64) -> Pull {
        let (hit, empty) = fill(group.rate * n);
        let Limits { empty_excess, least, most } = self.limits;
        let second = group.mean * group.mean + group.variance - empty * (1.0 + empty_excess);
        let occupied = hit * (second / hit).clamp(least, most);
        let occupied = if occupied.is_nan() { 0.0 } else { occupied };
        let own = empty_excess + hit;
        let variance = empty * own + occupied;
        // Without noise the group's variance is empty·hit; divided out, it cannot underflow before the weight does.
        let ratio = if occupied > 0.0 { empty / variance } else { own.recip() };
        Pull { weight: to_f64(group.cells) * group.rate * ratio, empty, variance }
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
            let pull = self.pull(group, n);
            let residual = group.mean - pull.empty;
            let distance =
                if residual == 0.0 { 0.0 } else { to_f64(group.cells) * residual * residual / pull.variance };
            distance + pull.variance.max(f64::MIN_POSITIVE).ln()
        };
        -0.5 * self.groups.iter().map(misfit).sum::<f64>()
    }

    fn slope(&self, n: f64) -> Slope {
        let mut slope = Slope::default();
        for group in &self.groups {
            let pull = self.pull(group, n);
            let residual = pull.empty - group.mean;
            if residual != 0.0 {
                slope.d1 += pull.weight * residual;
            }
            slope.information += pull.weight * group.rate * pull.empty;
        }
        slope.d2 = -slope.information;
        slope
    }
}
