//! Private Count-Min: the minimum of an item's cells.

use cardinality_estimators::{Confidence, Estimate, Status};

use crate::answer::answer;
use crate::baseline::{PrivateUnsignedSketch, TotalWeight};
use crate::query_error::QueryError;
use crate::theory::{MinimumOfGaussians, least_satisfying, normal_upper_tail};

impl PrivateUnsignedSketch {
    /// By how much noise alone lowers a Count-Min answer on average, in units of weight: `E[min of k N(0, s²)]`, −1.74 s at
    /// k = 15.
    #[must_use]
    pub fn noise_bias(&self) -> f64 {
        let rows = u32::from(self.shape().rows());
        MinimumOfGaussians::new(rows, self.noise_variance()).map_or(0.0, MinimumOfGaussians::mean) * self.step()
    }

    /// By how much collisions raise one row of a Count-Min answer on average, in units of weight: `N/b` at most, for weights
    /// that are not negative. The minimum of the rows is raised by less.
    #[must_use]
    pub fn collision_bias(&self, total: TotalWeight) -> f64 {
        total.value() / f64::from(self.shape().width())
    }

    /// The frequency of an item, named by its 64-bit hash, as the minimum of its cells \[MDDC16\]; for weights that are not
    /// negative. In units of weight.
    ///
    /// Two opposite biases: collisions push it up by up to [`collision_bias`](Self::collision_bias), noise pulls it down by
    /// [`noise_bias`](Self::noise_bias). They cancel by accident only, so the value is left as it is, and there is no
    /// standard error, which would describe neither. The interval holds them both: the truth is above the minimum by
    /// more than g only if some noise is below −g, and below it by more than g only if every row's collisions and noise
    /// together are above g, where Markov's inequality bounds the collisions by the total weight. Each of the two may happen with
    /// half of what is allowed to be missed; where the total has noise of its own, each has a third, and so has a total above
    /// its upper end.
    ///
    /// The status is `ok` when the interval excludes 0, else `low_information`.
    ///
    /// # Errors
    /// [`QueryError::Domain`] when a number leaves the range of `f64`.
    pub fn count_min(&self, key: u64, total: TotalWeight, confidence: Confidence) -> Result<Estimate, QueryError> {
        let value = self.row_values(key).into_iter().fold(f64::INFINITY, f64::min);
        let ways = if total.variance() > 0.0 { 3.0 } else { 2.0 };
        let side = (1.0 - confidence.get()) / ways;
        let (std_dev, step) = (self.tail_variance().sqrt() * self.step(), self.step());
        let rows = f64::from(self.shape().rows());
        let above = std_dev * least_satisfying(0.0, 40.0, |g| at_least_one(normal_upper_tail(g), rows) <= side);
        let load = self.collision_bias(total.upper(side));
        let below = smallest_excess(std_dev, load, side.powf(rows.recip()));
        // Noise and collisions are whole numbers of grid units: `P[N ≥ h + 1] ≤ P[G ≥ h]` for normal G of the same parameter.
        let whole = |width: f64| (width / step).ceil() * step;
        let (lower, upper) = (value - whole(below), value + whole(above));
        let status = if lower > 0.0 || upper < 0.0 { Status::Ok } else { Status::LowInformation };
        Ok(answer(status, value, None, (Some(lower), Some(upper)), confidence)?)
    }
}

/// The probability that one of so many independent events happens.
fn at_least_one(p: f64, events: f64) -> f64 {
    -(events * (-p).ln_1p()).exp_m1()
}

/// The least `g` with `P[A + B > g] ≤ miss`, for `A ≥ 0` of mean at most `load` and `B ~ N(0, s²)`:
/// `P[A > a] + P[B > g − a] ≤ load/a + Q((g − a)/s)` for the best a. Any split of `miss` gives a bound; the best of a
/// grid is taken.
fn smallest_excess(std_dev: f64, load: f64, miss: f64) -> f64 {
    let splits = (1..64_u32).map(|part| miss * f64::from(part) / 64.0);
    let bound = |collisions: f64| {
        let noise = std_dev * least_satisfying(0.0, 40.0, |g| normal_upper_tail(g) <= miss - collisions);
        load / collisions + noise
    };
    splits.map(bound).fold(f64::INFINITY, f64::min)
}

impl TotalWeight {
    /// A total that is exceeded with at most this probability; never below 0.
    fn upper(self, miss: f64) -> Self {
        self.shifted(least_satisfying(0.0, 40.0, |z| normal_upper_tail(z) <= miss) * self.variance().sqrt())
    }
}
