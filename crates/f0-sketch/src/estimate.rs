//! Estimates of one sketch.

use cardinality_estimators::parity::{
    IntervalIntersection, ItemWeights, ParityCounts, ParityLayout, ParityModel, Radius, parity_estimate,
};
use cardinality_estimators::{Confidence, Estimate, ParamError};
use gf2_linalg::popcount_range;
use sketch_hash::KeyedHash;

use crate::mode::{Mode, ModeKind};
use crate::private::PrivateF0Sketch;
use crate::shape::F0Shape;
use crate::sketch::F0Sketch;
use crate::weight::WeightRule;

impl F0Shape {
    /// The shape as estimators see it: the share and the cells of each table.
    #[must_use]
    pub fn layout(&self) -> ParityLayout {
        layout_of(self)
    }
}

fn layout_of(shape: &F0Shape) -> ParityLayout {
    let tables: Vec<(f64, u64)> = shape.tables().map(|table| (share_of(table.share), u64::from(table.cells))).collect();
    ParityLayout::new(&tables).expect("a shape has 1 ..= 255 tables whose shares add to 1, at most a half in each cell")
}

impl ModeKind {
    /// The mode as estimators see it.
    #[must_use]
    pub const fn model(self) -> ParityModel {
        match self {
            Self::Set => ParityModel::Set,
            Self::Presampled => ParityModel::Presampled,
        }
    }
}

/// A share of 2⁶³ as a number.
#[expect(clippy::cast_precision_loss, reason = "a share is a probability, wanted to the digits of an f64")]
fn share_of(share: u64) -> f64 {
    share as f64 / F0Shape::WHOLE as f64
}

/// What a sketch says of its weights without being told more.
pub(crate) fn weights_of(rule: WeightRule) -> ItemWeights {
    match rule {
        WeightRule::Unit => ItemWeights::Unit,
        WeightRule::Weighted(_) => ItemWeights::Weighted,
    }
}

/// In the units of the weights.
pub(crate) fn in_units(answer: Estimate, rule: WeightRule) -> Estimate {
    // Counts stay far below 2^200 and weights below 2^256: nothing overflows.
    answer.scaled(rule.scale()).unwrap_or(Estimate::not_converged(answer.confidence()))
}

impl<M: Mode> PrivateF0Sketch<M> {
    /// The ones of every table with the contrast of the noise: what estimators take, and
    /// [`diagnostics`](cardinality_estimators::diagnostics) too.
    #[must_use]
    pub fn counts(&self) -> ParityCounts {
        own_counts(self)
    }

    fn counts_with(&self, weights: ItemWeights) -> Result<ParityCounts, ParamError> {
        let (layout, ones) = (self.shape().layout(), self.ones_per_table());
        ParityCounts::new(&layout, M::KIND.model(), weights, &ones, self.contrast())
    }

    /// The number of distinct items with its error; with weights, their sum, in the units of the
    /// [largest weight](crate::MaxWeight).
    ///
    /// Of a merge in mode [`Set`](crate::Set) the items of the symmetric difference, in mode
    /// [`Presampled`](crate::Presampled) those of the union, each once however often it occurred. The composite maximum
    /// likelihood of the ones in every table \[ours\]: see
    /// [`parity_estimate`](cardinality_estimators::parity::parity_estimate) for value, interval and statuses. A sketch
    /// that is too full to tell one count from a larger one reads half ones everywhere, and gets the status `saturated`
    /// without a value.
    ///
    /// Without weights the standard error is that of this very set, `√(1/J − n̂)`. With weights it includes `Σw²`, which the
    /// sketch does not know, and so is too large rather than too small; [`estimate_knowing`](Self::estimate_knowing) takes
    /// it away.
    ///
    /// # Privacy
    /// Costs nothing beyond the releases.
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # #[cfg(feature = "os-rng")] {
    /// use f0_sketch::{F0Shape, F0Sketch, WeightRule};
    /// use f0_sketch::cardinality_estimators::Confidence;
    /// use f0_sketch::dp_noise::{Epsilon, NoiseRng, Permit};
    /// use f0_sketch::sketch_hash::DefaultHash;
    ///
    /// let mut raw: F0Sketch = F0Sketch::new(F0Shape::DEFAULT, WeightRule::Unit, DefaultHash::default());
    /// raw.toggle_u64_batch(&(0..100_000).collect::<Vec<_>>());
    /// let private = raw.release(Permit::standalone(Epsilon::new(2.0)?), &mut NoiseRng::from_os()?)?;
    /// let count = private.estimate(Confidence::P95).value().ok_or("no value")?;
    /// assert!((count / 100_000.0 - 1.0).abs() < 0.31, "ten standard errors of 3.1%");
    /// # }
    /// # Ok(())
    /// # }
    /// ```
    pub fn estimate(&self, confidence: Confidence) -> Estimate {
        in_units(parity_estimate(&self.counts(), confidence), self.weight_rule())
    }

    /// As [`estimate`](Self::estimate) for a caller who knows the sum of the squared weights of the distinct items, in
    /// squared units of the weights. The interval is narrower for it, and still holds.
    ///
    /// A sketch without weights knows the sum itself: there the number is not used.
    ///
    /// # Errors
    /// [`ParamError::Squares`] for a sum that is negative, infinite or NaN.
    pub fn estimate_knowing(&self, sum_of_squares: f64, confidence: Confidence) -> Result<Estimate, ParamError> {
        let weights = match self.weight_rule() {
            WeightRule::Unit => ItemWeights::Unit,
            WeightRule::Weighted(max) => ItemWeights::SquaresSumTo(sum_of_squares / max.get() / max.get()),
        };
        let counts = self.counts_with(weights)?;
        Ok(in_units(parity_estimate(&counts, confidence), self.weight_rule()))
    }

    /// The estimator of \[PS21\]: a point of the interval that all tables allow, with the guarantee that the count lies in it
    /// with probability `1 − δ`, cells taken as independent; with weights only in tables of many cells, since the law of the ones
    /// is a limit there ([`expected_ones`](cardinality_estimators::parity::expected_ones)).
    ///
    /// It exists to compare: [`estimate`](Self::estimate) is nearer to the truth and answers more often. See
    /// [`IntervalIntersection`] for value and statuses; [`Radius::of_paper`] is the paper's `δ = 2^−levels`.
    ///
    /// # Errors
    /// [`ParamError::Radius`] unless `0 < δ < 1`, or for a radius that is negative, infinite or NaN.
    pub fn interval_estimate(&self, radius: Radius) -> Result<Estimate, ParamError> {
        let counts = self.counts();
        Ok(in_units(IntervalIntersection::new(&counts, radius)?.estimate(), self.weight_rule()))
    }

    /// As [`interval_estimate`](Self::interval_estimate), and where no count suits all tables, the one that suits the worst
    /// of them best \[ours\], with status `low_information`.
    ///
    /// # Errors
    /// As [`interval_estimate`](Self::interval_estimate).
    pub fn interval_estimate_or_minimax(&self, radius: Radius) -> Result<Estimate, ParamError> {
        let counts = self.counts();
        Ok(in_units(IntervalIntersection::new(&counts, radius)?.estimate_or_minimax(), self.weight_rule()))
    }
}

fn own_counts<M: Mode>(sketch: &PrivateF0Sketch<M>) -> ParityCounts {
    let counts = sketch.counts_with(weights_of(sketch.weight_rule()));
    counts.expect("a table has at most as many ones as cells, and a contrast is at most 1")
}

impl<M: Mode, H: KeyedHash> F0Sketch<M, H> {
    /// The number of distinct items, or the sum of their weights, **without privacy**.
    ///
    /// As for [private sketches](PrivateF0Sketch::estimate), without noise.
    ///
    /// # Privacy
    /// None at all. To publish a count, [`release`](Self::release) first.
    ///
    /// # Examples
    /// ```
    /// use f0_sketch::{F0Shape, F0Sketch, WeightRule};
    /// use f0_sketch::cardinality_estimators::Confidence;
    /// use f0_sketch::sketch_hash::DefaultHash;
    /// let mut raw: F0Sketch = F0Sketch::new(F0Shape::DEFAULT, WeightRule::Unit, DefaultHash::default());
    /// raw.toggle_u64_batch(&(0..100_000).collect::<Vec<_>>());
    /// let count = raw.estimate(Confidence::P95).value().ok_or("no value")?;
    /// assert!((count / 100_000.0 - 1.0).abs() < 0.1, "five standard errors of 2.0%");
    /// # Ok::<(), &str>(())
    /// ```
    pub fn estimate(&self, confidence: Confidence) -> Estimate {
        let words = self.cells.words();
        let ones: Vec<u64> = self.shape().ranges().map(|range| popcount_range(words, range)).collect();
        let weights = weights_of(self.weight_rule());
        let counts = ParityCounts::new(&self.shape().layout(), M::KIND.model(), weights, &ones, 1.0);
        let answer = |counts: ParityCounts| in_units(parity_estimate(&counts, confidence), self.weight_rule());
        counts.map_or(Estimate::not_converged(confidence), answer)
    }
}

#[cfg(test)]
mod tests;
