//! Frequencies with intervals.

use cardinality_estimators::Estimate;

use crate::answer::signed;
use crate::interval::{QueryOptions, Width, prepare};
use crate::interval_pool::{BucketPool, magnitude};
use crate::private::PrivateCountSketch;
use crate::query::{BLOCK, PointReader};
use crate::theory::DomainError;

/// Answers frequency queries of one sketch, each with its uncertainty.
///
/// Made once by [`PrivateCountSketch::frequencies`], which sorts the cells; after that an answer costs little more than its
/// value. Values, errors and intervals are in units of weight, whatever the granularity.
///
/// A frequency is **not** clamped: it may be negative, so that sums and averages of answers stay unbiased, and its status
/// is never `below_noise`. It is `ok` when the standard error is at most half the absolute value and the interval has
/// both ends, and `low_information` otherwise.
///
/// # Privacy
/// Post-processing of a release: nothing is spent.
#[derive(Clone, Debug)]
pub struct Frequencies<'a> {
    reader: PointReader<'a>,
    options: QueryOptions,
    pool: BucketPool,
    width: Width,
    /// In grid units.
    std_error: f64,
}

impl PrivateCountSketch {
    /// Frequencies with intervals.
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # #[cfg(feature = "os-rng")] {
    /// use countsketch_dp::dp_noise::{NoiseRng, Permit, Rho};
    /// use countsketch_dp::sketch_hash::{DefaultHash, Item, KeyedHash};
    /// use countsketch_dp::{ContributionBound, CountSketch, CountSketchShape, QueryOptions};
    /// let hash = DefaultHash::default();
    /// let mut raw = CountSketch::new(CountSketchShape::new(5, 1024)?, hash.clone(), ContributionBound::UNIT_ENTRY);
    /// raw.update_u64_batch(&[7; 1000])?;
    /// let private = raw.release(Permit::standalone(Rho::new(0.5)?), &mut NoiseRng::from_os()?)?;
    /// let frequencies = private.frequencies(QueryOptions::default())?;
    /// let answer = frequencies.estimate(Item::from(7_u64).hash64(&hash))?;
    /// // The median of five values of variance 5 has standard deviation 1.198, and 95 % within 2.35.
    /// assert!((frequencies.std_error() - 1.198).abs() < 0.2);
    /// assert!((answer.value().ok_or("none")? - 1000.0).abs() < 20.0);
    /// # }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`DomainError`] when the options ask for more than numbers hold: a miss probability that is 0 after division, or
    /// norms that are not finite in grid units.
    pub fn frequencies(&self, options: QueryOptions) -> Result<Frequencies<'_>, DomainError> {
        let pool = BucketPool::new(self);
        let (width, std_error) = prepare(self, &options, &pool)?;
        Ok(Frequencies { reader: self.points(options.combiner), options, pool, width, std_error })
    }
}

impl Frequencies<'_> {
    /// What was asked for.
    #[must_use]
    pub const fn options(&self) -> &QueryOptions {
        &self.options
    }

    /// The reader of values alone.
    #[must_use]
    pub const fn reader(&self) -> &PointReader<'_> {
        &self.reader
    }

    /// The standard error of an answer, in units of weight: that of combined random cells.
    #[must_use]
    pub fn std_error(&self) -> f64 {
        self.std_error * self.step()
    }

    /// Half the length of the interval, in units of weight, where it is the same for all items: not for order statistics
    /// and not for bucket intervals of fewer than 4096 cells.
    #[must_use]
    pub fn half_width(&self) -> Option<f64> {
        match self.width {
            Width::Common(half) => half.map(|half| half * self.step()),
            Width::Excluding { .. } | Width::Ranks { .. } => None,
        }
    }

    /// Half the length of an interval that holds for any item, in units of weight: cells of the item only widen it.
    pub(crate) fn half_width_for_any(&self) -> Option<f64> {
        match self.width {
            Width::Common(half) => half.map(|half| half * self.step()),
            Width::Excluding { above } => self.pool.with_at_most_above(above).map(|half| half * self.step()),
            Width::Ranks { .. } => None,
        }
    }

    /// The frequency of one item, named by its 64-bit hash.
    ///
    /// # Errors
    /// [`DomainError`] when a number leaves the range of `f64`.
    pub fn estimate(&self, key: u64) -> Result<Estimate, DomainError> {
        self.with_interval(key, self.reader.value(key))
    }

    /// The frequencies of many items, in their order.
    ///
    /// # Errors
    /// As [`estimate`](Self::estimate).
    pub fn estimate_all(&self, keys: &[u64]) -> Result<Vec<Estimate>, DomainError> {
        let mut values = vec![0.0; keys.len()];
        self.reader.values(keys, &mut values);
        keys.iter().zip(values).map(|(&key, value)| self.with_interval(key, value)).collect()
    }

    /// The frequencies of a stream of items, in their order; a block of items is held at a time.
    pub fn stream<I>(&self, keys: I) -> impl Iterator<Item = (u64, Result<Estimate, DomainError>)>
    where
        I: IntoIterator<Item = u64>,
    {
        values_of(&self.reader, keys).map(|(key, value)| (key, self.with_interval(key, value)))
    }

    /// The answer with a value that is known.
    pub(crate) fn with_interval(&self, key: u64, value: f64) -> Result<Estimate, DomainError> {
        let ends = match self.width {
            Width::Common(half) => around(value, half.map(|half| half * self.step())),
            Width::Excluding { above } => {
                let mut own = self.own_cells(key);
                around(value, self.pool.without(&mut own, above).map(|half| half * self.step()))
            }
            Width::Ranks { rank } => self.between_ranks(key, rank),
        };
        signed(value, self.std_error(), ends, self.options.confidence)
    }

    fn own_cells(&self, key: u64) -> Vec<u64> {
        self.reader.rows_of(key).as_mut().iter().map(|cell| cell.unsigned_abs()).collect()
    }

    fn between_ranks(&self, key: u64, rank: usize) -> (Option<f64>, Option<f64>) {
        let mut rows = self.reader.rows_of(key);
        let rows = rows.as_mut();
        rows.sort_unstable();
        let at = |index: usize| rows.get(index).map(|&cell| self.step() * signed_magnitude(cell));
        (at(rank - 1), at(rows.len() - rank))
    }

    fn step(&self) -> f64 {
        self.reader.sketch().granularity().step()
    }
}

/// The values of a stream of items, a block at a time.
pub(crate) fn values_of<'r, 's, I>(
    reader: &'r PointReader<'s>,
    keys: I,
) -> impl Iterator<Item = (u64, f64)> + use<'r, 's, I>
where
    I: IntoIterator<Item = u64>,
{
    let mut keys = keys.into_iter();
    core::iter::from_fn(move || {
        let block: Vec<u64> = keys.by_ref().take(BLOCK).collect();
        if block.is_empty() {
            return None;
        }
        let mut values = vec![0.0; block.len()];
        reader.values(&block, &mut values);
        Some(block.into_iter().zip(values))
    })
    .flatten()
}

fn around(value: f64, half: Option<f64>) -> (Option<f64>, Option<f64>) {
    (half.map(|half| value - half), half.map(|half| value + half))
}

fn signed_magnitude(cell: i64) -> f64 {
    if cell < 0 { -magnitude(cell.unsigned_abs()) } else { magnitude(cell.unsigned_abs()) }
}
