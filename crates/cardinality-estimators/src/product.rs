//! The union of several noisy sketches without merging them: the product statistic.
//!
//! For one cell seen through `m` channels, `u_i = (p_i − t_i)/d_i` is an unbiased estimate of "empty in sketch `i`", and
//! since the noise of different sketches is independent, `y = Π u_i` is one of "empty in the union". Averages of `y` over
//! a level estimate `g(n) = e^(−rate·n)`, with no randomness beyond the noise already there; a randomised merge has to
//! draw coins and is less accurate.

use core::ops::Range;

use crate::estimate::Parts;
use crate::information::variance;
use crate::interval::{Ends, hull, log_wald};
use crate::level::check_range;
use crate::likelihood::{Slope, fill};
use crate::number::to_f64;
use crate::solve::{Objective, Peak, highest_peak};
use crate::{BitChannel, Confidence, Estimate, Grid, ParamError, ProductMoments, Status};

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
    /// By falling rate.
    groups: Vec<ProductMoments>,
    windows: Vec<Range<usize>>,
    limits: Limits,
    noiseless: bool,
    n_cap: f64,
    grid: Grid,
    hashes: f64,
}

/// Groups whose rates lie within this factor of a group's are its neighbours: the levels next to one of PCSA.
const NEIGHBOURHOOD: f64 = 2.5;

/// With fewer cells a group's own second moment says too little.
const ENOUGH_CELLS: u64 = 64;

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
#[derive(Clone, Copy)]
struct At {
    cells: f64,
    rate: f64,
    mean: f64,
    hit: f64,
    empty: f64,
    /// The part of `E y²` that comes from occupied cells: for the weight, and as observed.
    modelled: f64,
    observed: f64,
}

/// The score `S = Σ weight·(g − ȳ)` at some `n`, its slope and its variance with independent cells.
#[derive(Clone, Copy, Default)]
struct Score {
    value: f64,
    slope: f64,
    spread: f64,
    /// The part of the variance, in units of `slope²`, that a fixed number of items takes away: `n/hashes`.
    fixed: f64,
}

impl Score {
    /// The variance of the count at which the score vanishes, `spread/slope² − fixed`.
    fn variance(&self) -> f64 {
        variance(self.slope / self.spread * self.slope, self.fixed)
    }

    /// The square of the score in units of its variance for a fixed number of items, `spread − fixed·slope²`.
    fn distance(&self) -> f64 {
        self.value * self.value / (self.spread - self.fixed * self.slope * self.slope).max(0.0)
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
        let windows = windows(&groups);
        let n_cap = n_cap.min(512.0 / slowest);
        Ok(Self { groups, windows, limits, noiseless, n_cap, grid: Grid::default(), hashes: 1.0 })
    }

    /// The same statistic for Bloom filters, into which every item throws `hashes` darts: the rates are those of an item,
    /// as in [`CellLayout::bloom`](crate::CellLayout::bloom).
    ///
    /// # Errors
    /// [`ParamError::Hashes`] unless `1 ≤ hashes ≤ 64`.
    pub fn with_hashes(mut self, hashes: u32) -> Result<Self, ParamError> {
        if (1..=64).contains(&hashes) {
            self.hashes = f64::from(hashes);
            Ok(self)
        } else {
            Err(ParamError::Hashes { found: hashes })
        }
    }

    /// The size of the union, its standard error and interval.
    ///
    /// With `D = Σ ω·rate·g`, the standard error is `√(Σ ω²·Var_j/cells / D² − n̂/hashes)`; as for one sketch, `n̂` is subtracted
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
        let std_error = self.score(n).variance().sqrt();
        if !std_error.is_finite() {
            return Estimate::not_converged(confidence);
        }
        let wald = log_wald(n, std_error, confidence.z());
        let even = wald.is_even(std_error / n, self.n_cap, |end| self.score(end).variance().sqrt() / end);
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
            (Status::BelowNoise, self.score(0.0).variance().sqrt(), ends.upper)
        };
        let std_error = Some(std_error).filter(|error| error.is_finite());
        let parts = Parts { value: Some(0.0), std_error, lower: Some(0.0), upper };
        Estimate::from_parts(status, parts, confidence)
    }

    fn score_interval(&self, inside: f64, confidence: Confidence) -> Ends {
        let cut = confidence.z() * confidence.z();
        // At the ends of the range the best score is not 0; what counts is how much worse another count is.
        let best = self.score(inside).distance();
        let reach = cut + if best.is_finite() { best } else { 0.0 };
        hull(self.grid, self.n_cap, inside, |n| self.score(n).distance() <= reach)
    }

    /// Where the score vanishes, and what a single cell's `y` adds to the count there.
    pub(crate) fn root(&self) -> Root {
        let peak = highest_peak(self).peak;
        let n = match peak {
            Peak::Inside(n) => n,
            Peak::Zero => 0.0,
            Peak::Cap => self.n_cap,
            Peak::Lost => return Root { peak, n: f64::NAN, pulls: Vec::new() },
        };
        let slope = self.score(n).slope;
        // A union known to be empty has no error.
        let pull =
            |at: &At| if n > 0.0 || !self.noiseless { at.weight(self.own(at)) / (at.cells * slope) } else { 0.0 };
        Root { peak, n, pulls: self.at(n).iter().map(pull).collect() }
    }

    /// The part of `Var y` that comes from occupied cells, given what was observed of it, within the channels' limits.
    fn occupied(&self, hit: f64, excess: f64, of_hit: f64) -> f64 {
        let share = (excess / of_hit).clamp(self.limits.least, self.limits.most);
        if share.is_nan() { hit * self.limits.least } else { hit * share }
    }

    /// The variance of `y` in a cell that no item hit, and what the chance of a hit adds to it.
    fn own(&self, at: &At) -> f64 {
        self.limits.empty_excess + at.hit
    }

    /// All groups at `n`.
    ///
    /// A group's weight uses the second moment seen in its neighbours, not its own: the mean and the second moment of a
    /// group stray together, and weights that follow their own group's errors would bias the estimate upwards.
    fn at(&self, n: f64) -> Vec<At> {
        let fill = |group: &ProductMoments| fill(group.rate * n);
        let seen = |group: &ProductMoments| {
            let (hit, empty) = fill(group);
            let excess = group.mean * group.mean + group.variance - empty * (1.0 + self.limits.empty_excess);
            let cells = to_f64(group.cells);
            (cells * excess, cells * hit)
        };
        // Sums over this group and all less likely ones: hits fall from group to group, so differences keep their digits.
        let mut sums = vec![(0.0, 0.0); self.groups.len() + 1];
        for (i, group) in self.groups.iter().enumerate().rev() {
            let (excess, hit) = seen(group);
            sums[i] = (sums[i + 1].0 + excess, sums[i + 1].1 + hit);
        }
        let at = |(group, window): (&ProductMoments, &Range<usize>)| {
            let own = seen(group);
            let (first, after) = (sums[window.start], sums[window.end]);
            let all = (first.0 - after.0, first.1 - after.1);
            let others = if window.len() > 1 { (all.0 - own.0, all.1 - own.1) } else { own };
            let observed = if group.cells < ENOUGH_CELLS { all } else { own };
            let (hit, empty) = fill(group);
            At {
                cells: to_f64(group.cells),
                rate: group.rate,
                mean: group.mean,
                hit,
                empty,
                modelled: self.occupied(hit, others.0, others.1),
                observed: self.occupied(hit, observed.0, observed.1),
            }
        };
        self.groups.iter().zip(&self.windows).map(at).collect()
    }

    fn score(&self, n: f64) -> Score {
        let mut sums = Score { fixed: n / self.hashes, ..Score::default() };
        for at in self.at(n) {
            let own = self.own(&at);
            let weight = at.weight(own);
            let residual = at.empty - at.mean;
            if residual != 0.0 {
                sums.value += weight * residual;
            }
            let slope = weight * at.rate * at.empty;
            sums.slope += slope;
            let inflation =
                if at.modelled > 0.0 { (at.empty * own + at.observed) / (at.empty * own + at.modelled) } else { 1.0 };
            sums.spread += slope * inflation;
        }
        sums
    }
}

impl At {
    /// `cells·rate·g/Var y`, where `Var y = empty·own + modelled`.
    fn weight(&self, own: f64) -> f64 {
        // Without noise the variance is empty·own; divided out, it cannot underflow before the weight does.
        let ratio = if self.modelled > 0.0 { self.empty / (self.empty * own + self.modelled) } else { own.recip() };
        self.cells * self.rate * ratio
    }
}

/// Where the score of a union vanishes.
#[derive(Clone, Debug)]
pub(crate) struct Root {
    pub(crate) peak: Peak,
    /// 0 or `n_cap` at the ends, NaN if there is none.
    pub(crate) n: f64,
    /// Group by group, by falling rate: how far the count falls when `y` of one cell rises by one.
    pub(crate) pulls: Vec<f64>,
}

/// For every group the range of its neighbours, itself included.
fn windows(groups: &[ProductMoments]) -> Vec<Range<usize>> {
    let window = |group: &ProductMoments| {
        let start = groups.partition_point(|other| other.rate > NEIGHBOURHOOD * group.rate);
        start..groups.partition_point(|other| NEIGHBOURHOOD * other.rate >= group.rate)
    };
    groups.iter().map(window).collect()
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
        let misfit = |at: &At| {
            let variance = at.empty * self.own(at) + at.observed;
            let residual = at.mean - at.empty;
            let distance = if residual == 0.0 { 0.0 } else { at.cells * residual * residual / variance };
            distance + variance.max(f64::MIN_POSITIVE).ln()
        };
        -0.5 * self.at(n).iter().map(misfit).sum::<f64>()
    }

    fn slope(&self, n: f64) -> Slope {
        let score = self.score(n);
        Slope { d1: score.value, d2: -score.slope, information: score.slope }
    }
}
