//! How intervals are made: what the caller chooses, and the half-width for one sketch.

use cardinality_estimators::Confidence;

use crate::combiner::Combiner;
use crate::interval_pool::BucketPool;
use crate::interval_resample::Resampled;
use crate::norm::f2_unbiased;
use crate::private::PrivateCountSketch;
use crate::theory::{
    DomainError, TailNorms, allowed_row_miss, half_width_on_grid, inner_probability, order_statistic_interval, require,
};

/// Where the interval of a frequency comes from. All are post-processing.
///
/// Measured on Zipf data with a median of rows at a nominal 95 %: the bucket interval covers 94.5 to 95.8 %, order
/// statistics 96 to 98 % at 1.5 times the width, a-priori bounds at least 99 % at 3 times the width.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum IntervalMethod {
    /// The default: the error of a row has the law of a bucket of its row with a random sign, so the cells themselves say
    /// how large errors are, noise and collisions together. One sort a sketch serves all queries, and nothing need be
    /// known of the data.
    ///
    /// For the median the half-width is the least `g` with `2·P[Bin(k, q(g)) ≥ (k+1)/2] ≤ β`, where `q(g)` is half the
    /// share of cells above `g`. The cells of the item asked for are left out in sketches of fewer than 4096 cells;
    /// in larger ones a heavy item only widens its own interval. Other combiners draw rows from the cells by a fixed
    /// public sequence and combine them.
    #[default]
    Bucket,
    /// Between two of the sorted row estimates, `[X_(r), X_(k+1−r)]`; no assumption but independent rows. Wide, and
    /// without ends for few rows (5 rows do not give 95 %).
    OrderStatistics,
    /// The proved bound of [`theory::half_width`](crate::theory::half_width) for norms that the caller knows, in squared
    /// units of weight. For planning and for claims that must not depend on the cells. For trimmed and mean rows it is
    /// much wider, because it only uses that a large answer needs large rows.
    Norm(TailNorms),
    /// The same bound with the sketch's own estimate of `F₂` in place of the norm.
    PlugIn,
}

/// What to ask of a sketch besides the items: how to combine rows and what interval to give.
///
/// # Examples
/// ```
/// use countsketch_dp::cardinality_estimators::Confidence;
/// use countsketch_dp::{Combiner, QueryOptions};
/// let options = QueryOptions::default().combiner(Combiner::Trimmed).simultaneous(1000);
/// assert_eq!(options.confidence, Confidence::P95);
/// assert!((options.miss_probability() - 5e-5).abs() < 1e-12);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct QueryOptions {
    /// How row estimates become one; the median by default.
    pub combiner: Combiner,
    /// Where intervals come from; the cells by default.
    pub interval: IntervalMethod,
    /// With which probability all the intervals hold; 95 % by default.
    pub confidence: Confidence,
    /// Over how many answers the confidence is to hold at once; 1 by default, which is for each answer alone.
    pub simultaneous: u64,
}

impl Default for QueryOptions {
    fn default() -> Self {
        Self {
            combiner: Combiner::default(),
            interval: IntervalMethod::default(),
            confidence: Confidence::P95,
            simultaneous: 1,
        }
    }
}

impl QueryOptions {
    /// With another combiner.
    #[must_use]
    pub fn combiner(self, combiner: Combiner) -> Self {
        Self { combiner, ..self }
    }

    /// With another method.
    #[must_use]
    pub fn interval(self, interval: IntervalMethod) -> Self {
        Self { interval, ..self }
    }

    /// With another confidence.
    #[must_use]
    pub fn confidence(self, confidence: Confidence) -> Self {
        Self { confidence, ..self }
    }

    /// With intervals that all hold at once for so many answers (0 counts as 1).
    #[must_use]
    pub fn simultaneous(self, answers: u64) -> Self {
        Self { simultaneous: answers.max(1), ..self }
    }

    /// β, with which one interval may miss: `(1 − confidence)/simultaneous`.
    #[must_use]
    pub fn miss_probability(&self) -> f64 {
        let answers = crate::combiner::wide(i128::from(self.simultaneous.max(1)));
        (1.0 - self.confidence.get()) / answers
    }
}

/// The interval of one sketch's answers, in grid units.
#[derive(Clone, Debug)]
pub(crate) enum Width {
    /// Half of it, for every item; `None` where the method has no ends.
    Common(Option<f64>),
    /// Half of it is read off the pool without the item's own cells: at most so many cells may be above it.
    Excluding { above: usize },
    /// Sorted row estimates number `rank` from either end, counted from 1.
    Ranks { rank: usize },
}

/// Of how many cells at least a sketch need not leave out those of the item asked for.
const LARGE: usize = 4096;

/// The interval and the standard error for the answers of a sketch.
pub(crate) fn prepare(
    sketch: &PrivateCountSketch,
    options: &QueryOptions,
    pool: &BucketPool,
) -> Result<(Width, f64), DomainError> {
    let beta = inner_probability("miss probability of one answer", options.miss_probability())?;
    let law = RowLaw { sketch, combiner: options.combiner, rows: u32::from(sketch.shape().rows()), beta };
    let resampled = (options.combiner != Combiner::Median).then(|| Resampled::new(pool, law.rows, options.combiner));
    let std_error = match &resampled {
        Some(resampled) => resampled.std_error(),
        None => pool.median_std_error(law.rows),
    };
    let width = match &options.interval {
        IntervalMethod::Bucket => law.bucket(pool, resampled.as_ref())?,
        IntervalMethod::OrderStatistics => match order_statistic_interval(law.rows, beta)?.rank {
            0 => Width::Common(None),
            rank => Width::Ranks { rank: usize::try_from(rank).unwrap_or(usize::MAX) },
        },
        IntervalMethod::Norm(norms) => Width::Common(law.bound(&in_grid_units(sketch, norms)?)?),
        IntervalMethod::PlugIn => Width::Common(law.plug_in()?),
    };
    Ok((width, std_error))
}

/// What the interval depends on besides the method.
struct RowLaw<'a> {
    sketch: &'a PrivateCountSketch,
    combiner: Combiner,
    rows: u32,
    beta: f64,
}

impl RowLaw<'_> {
    /// How many rows are above `g` whenever the answer is: one more than are left out.
    fn needed(&self) -> u32 {
        let left_out = self.combiner.left_out(usize::from(self.sketch.shape().rows()));
        u32::try_from(left_out).unwrap_or(u32::MAX).saturating_add(1)
    }

    fn bucket(&self, pool: &BucketPool, resampled: Option<&Resampled>) -> Result<Width, DomainError> {
        if let Some(half) = resampled.and_then(|resampled| resampled.half_width(self.beta)) {
            return Ok(Width::Common(Some(half)));
        }
        let miss = 2.0 * allowed_row_miss(self.rows, self.beta, self.needed())?;
        let own = usize::from(self.sketch.shape().rows());
        let small = pool.len() < LARGE;
        let cells = if small { pool.len().saturating_sub(own) } else { pool.len() };
        match allowed_above(miss, cells) {
            Some(above) if small => Ok(Width::Excluding { above }),
            Some(above) => Ok(Width::Common(pool.with_at_most_above(above))),
            // There are too few cells to know so rare errors: fall back on the variance.
            None => Ok(Width::Common(self.plug_in()?)),
        }
    }

    fn plug_in(&self) -> Result<Option<f64>, DomainError> {
        self.bound(&TailNorms::of_squared(f2_unbiased(self.sketch).max(0.0))?)
    }

    /// The proved bound, a whole number of grid units as rows are; norms in squared grid units.
    fn bound(&self, norms: &TailNorms) -> Result<Option<f64>, DomainError> {
        let needed = 1.0 - 2.0 * allowed_row_miss(self.rows, self.beta, self.needed())?;
        half_width_on_grid(needed, self.sketch.shape().width(), norms, self.sketch.tail_variance(), 1.0)
    }
}

/// How many of `cells` may be above a width that a further cell exceeds with probability at most `share`: all but the
/// rank that the further cell, one of `cells + 1` in random order, may take.
pub(crate) fn allowed_above(share: f64, cells: usize) -> Option<usize> {
    let ranks = (share * crate::combiner::count(cells + 1)).floor();
    (0..=cells).rev().find(|&above| crate::combiner::count(above + 1) <= ranks)
}

fn in_grid_units(sketch: &PrivateCountSketch, norms: &TailNorms) -> Result<TailNorms, DomainError> {
    let scale = sketch.granularity().step().powi(-2);
    let scaled = norms.scaled(scale);
    require("squared norm", "finite in grid units", scaled.squared(), scaled.squared().is_finite())?;
    Ok(scaled)
}
