//! Estimator (a): the interval intersection of \[PS21\], and the minimax count that answers where it cannot.
//!
//! The number of ones `Z` of a table with `m` cells has mean `m·P(n)`, `P(n) = (1 − c·e^{−k·n})/2`, and by Hoeffding's
//! inequality, with the cells taken as independent, strays from it by more than `t = √(m·ln(2L/δ)/2)` with probability at most `δ/L`
//! \[resolved\]; cells that a fixed set fills are only nearly so. So with probability `1 − δ` the count lies in all the intervals
//! `{n ≥ 0 : |Z − m·P(n)| ≤ t}` of the `L` tables at once. With weights `P` is a limit for many light items, and this holds where
//! tables are large enough for it: see [`expected_ones`](crate::parity::expected_ones).

use crate::estimate::Parts;
use crate::level::CellGroup;
use crate::number::to_f64;
use crate::parity::ParityCounts;
use crate::{Confidence, Estimate, ParamError, Status};

/// How far from its mean the number of ones of a table may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Radius {
    /// `√(m·ln(2L/δ)/2)` for a table of `m` cells and `L` tables: all tables at once with probability `1 − δ`.
    FailureProbability(f64),
    /// This many cells in every table.
    Cells(f64),
}

impl Radius {
    /// The failure probability of the guarantee in \[PS21\] for a sketch of `L` tables, `1/u = 2^-L`.
    #[must_use]
    pub fn of_paper(tables: u8) -> Self {
        Self::FailureProbability(0.5_f64.powi(i32::from(tables)))
    }

    fn check(self) -> Result<(), ParamError> {
        match self {
            Self::FailureProbability(delta) if delta > 0.0 && delta < 1.0 => Ok(()),
            Self::Cells(cells) if cells >= 0.0 && cells.is_finite() => Ok(()),
            Self::FailureProbability(found) | Self::Cells(found) => Err(ParamError::Radius { found }),
        }
    }

    /// The radius of a table of `cells` cells, one of `tables`.
    fn of(self, cells: f64, tables: f64) -> f64 {
        match self {
            Self::FailureProbability(delta) => (cells * ((2.0 * tables).ln() - delta.ln()) / 2.0).sqrt(),
            Self::Cells(radius) => radius,
        }
    }

    /// The confidence that comes with it: `1 − δ`, or Hoeffding's bound summed over the tables.
    fn confidence(self, tables: &[CellGroup]) -> Confidence {
        let delta = match self {
            Self::FailureProbability(delta) => delta,
            Self::Cells(t) => tables.iter().map(|table| 2.0 * (-2.0 * t * t / to_f64(table.cells())).exp()).sum(),
        };
        let level = (1.0 - delta).clamp(Confidence::MIN, Confidence::MAX);
        Confidence::new(level).unwrap_or_default()
    }
}

/// The counts that one table allows, or none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TableInterval {
    /// The radius in cells.
    pub radius: f64,
    /// The smallest and the largest count allowed, infinite where none is too large; `None` when no count is.
    pub counts: Option<(f64, f64)>,
}

/// The intervals of all tables and what they have in common.
///
/// # Examples
/// ```
/// use cardinality_estimators::Status;
/// use cardinality_estimators::parity::{
///     IntervalIntersection, ItemWeights, ParityCounts, ParityLayout, ParityModel, Radius,
/// };
/// let layout = ParityLayout::regular(12, 128)?;
/// let ones = [60, 70, 55, 57, 49, 43, 34, 33, 28, 32, 34, 35];
/// let contrast = 0.5_f64.tanh(); // ε = 1
/// let counts = ParityCounts::new(&layout, ParityModel::Set, ItemWeights::Unit, &ones, contrast)?;
/// let answer = IntervalIntersection::new(&counts, Radius::FailureProbability(0.05))?.estimate();
/// assert_eq!(answer.status(), Status::Ok);
/// assert!(answer.value().is_some_and(|n| (n - 1303.0).abs() < 1.0) && answer.covers(1000.0));
/// # Ok::<(), cardinality_estimators::ParamError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct IntervalIntersection<'a> {
    counts: &'a ParityCounts,
    tables: Vec<TableInterval>,
    common: Option<(f64, f64)>,
    confidence: Confidence,
}

impl<'a> IntervalIntersection<'a> {
    /// The intervals of the radius asked for.
    ///
    /// # Errors
    /// [`ParamError::Radius`] unless `0 < δ < 1`, or for a radius that is negative, NaN or infinite.
    pub fn new(counts: &'a ParityCounts, radius: Radius) -> Result<Self, ParamError> {
        radius.check()?;
        let all = to_f64(u64::try_from(counts.tables().len()).unwrap_or(u64::MAX));
        let interval = |table: &CellGroup| {
            let radius = radius.of(to_f64(table.cells()), all);
            TableInterval { radius, counts: table_interval(table, counts.contrast(), radius) }
        };
        let tables: Vec<TableInterval> = counts.tables().iter().map(interval).collect();
        let meet = |(low, high): (f64, f64), table: &TableInterval| {
            table.counts.map(|(lower, upper)| (lower.max(low), upper.min(high))).filter(|(low, high)| low <= high)
        };
        let common = tables.iter().try_fold((0.0, f64::INFINITY), meet);
        Ok(Self { counts, tables, common, confidence: radius.confidence(counts.tables()) })
    }

    /// The interval of every table, in the order of the layout.
    #[must_use]
    pub fn tables(&self) -> &[TableInterval] {
        &self.tables
    }

    /// The smallest and the largest count that all tables allow, infinite where none is too large; `None` when no count is.
    #[must_use]
    pub const fn common(&self) -> Option<(f64, f64)> {
        self.common
    }

    /// The answer of \[PS21\]: a count that all tables allow, or none.
    ///
    /// | common interval | status | value |
    /// |---|---|---|
    /// | `0 < lo ≤ hi < ∞` | `ok` | `√(lo·hi)`, which halves the worst ratio |
    /// | `0 = lo ≤ hi < ∞` | `ok` | `hi/2` |
    /// | `hi = ∞` | `unbounded` | none, `lo` is a lower bound |
    /// | empty | `not_converged` | none |
    ///
    /// The paper allows any point of the interval \[resolved\]. There is no standard error: the interval is the
    /// guarantee, at confidence `1 − δ`.
    pub fn estimate(&self) -> Estimate {
        let Some((lower, upper)) = self.common else { return Estimate::not_converged(self.confidence) };
        if upper.is_infinite() {
            let parts = Parts { value: None, std_error: None, lower: Some(lower), upper: None };
            return Estimate::from_parts(Status::Unbounded, parts, self.confidence);
        }
        let value = if lower > 0.0 { (lower.sqrt() * upper.sqrt()).clamp(lower, upper) } else { upper / 2.0 };
        let parts = Parts { value: Some(value), std_error: None, lower: Some(lower), upper: Some(upper) };
        Estimate::from_parts(Status::Ok, parts, self.confidence)
    }

    /// As [`estimate`](Self::estimate), and where the tables allow no common count, the [minimax](Self::minimax) one \[ours\] with
    /// status `low_information` and without bounds; `saturated` when that is the end of the range.
    pub fn estimate_or_minimax(&self) -> Estimate {
        if self.common.is_some() {
            return self.estimate();
        }
        let value = self.minimax();
        let (status, value, lower) = if value < self.counts.level_counts().n_cap() {
            (Status::LowInformation, Some(value), None)
        } else {
            (Status::Saturated, None, Some(0.0))
        };
        Estimate::from_parts(status, Parts { value, std_error: None, lower, upper: None }, self.confidence)
    }

    /// The count of which the worst table is the least far from its mean, `argmin max |Z − m·P(n)|`, in
    /// `0 ..= n_cap`. Always defined, and without a parameter.
    ///
    /// The largest excess `max(Z − m·P(n))` falls with `n` and the largest deficit `max(m·P(n) − Z)` rises, so the answer
    /// is where they meet.
    #[must_use]
    pub fn minimax(&self) -> f64 {
        let cap = self.counts.level_counts().n_cap();
        let excess_leads = |n: f64| {
            let (excess, deficit) = self.extremes(n);
            excess > deficit
        };
        if !excess_leads(0.0) {
            return 0.0;
        }
        if excess_leads(cap) {
            return cap;
        }
        let (mut low, mut high) = (0.0_f64, cap);
        // In ln n once the lower end is above 0; 200 halvings are more than f64 can tell apart.
        for _ in 0..200 {
            let middle = if low > 0.0 {
                low.sqrt() * high.sqrt()
            } else if high > 1.0 {
                1.0
            } else {
                high / 2.0
            };
            if !(low < middle && middle < high) || high - low <= 1e-14 * high {
                break;
            }
            if excess_leads(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        low + (high - low) / 2.0
    }

    /// `max(Z − m·P(n))` and `max(m·P(n) − Z)`.
    fn extremes(&self, n: f64) -> (f64, f64) {
        let contrast = self.counts.contrast();
        let gaps = self.counts.tables().iter().map(|table| {
            to_f64(table.ones()) - to_f64(table.cells()) * (1.0 - contrast * (-table.rate() * n).exp()) / 2.0
        });
        gaps.fold((f64::NEG_INFINITY, f64::NEG_INFINITY), |(excess, deficit), gap| (excess.max(gap), deficit.max(-gap)))
    }
}

/// `{n ≥ 0 : |Z − m·P(n)| ≤ t}`.
fn table_interval(table: &CellGroup, contrast: f64, radius: f64) -> Option<(f64, f64)> {
    let (ones, cells) = (to_f64(table.ones()), to_f64(table.cells()));
    // The bias c·e^{−k·n} = 1 − 2·P of the cells at the two ends of the radius.
    let bias = |ones: f64| 1.0 - 2.0 * ones / cells;
    let (most, least) = (bias(ones - radius), bias(ones + radius));
    if least > contrast || most <= 0.0 {
        return None;
    }
    Some((count_at(most, contrast, table.rate()), count_at(least, contrast, table.rate())))
}

/// The count at which the bias is `bias`: 0 when it is larger than without items, infinite when there is none left.
fn count_at(bias: f64, contrast: f64, rate: f64) -> f64 {
    if bias >= contrast {
        0.0
    } else if bias > 0.0 {
        -(bias / contrast).ln() / rate
    } else {
        f64::INFINITY
    }
}
