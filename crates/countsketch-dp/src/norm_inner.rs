//! Inner products of two released sketches.

use cardinality_estimators::{Confidence, Estimate};

use crate::answer::normal;
use crate::combiner::{count, integer};
use crate::error::MergeError;
use crate::leaf::Leaf;
use crate::linear::check_alike;
use crate::norm::f2_unbiased;
use crate::private::PrivateCountSketch;
use crate::query_error::QueryError;
use crate::theory::{NormPair, inner_product_variance, non_negative};

impl PrivateCountSketch {
    /// The inner product `Σ x·y` of the data in two sketches with independent noise, in squared units of weight.
    ///
    /// The mean over the rows of `Σ_j S[i][j]·T[i][j]`, unbiased. Its variance is at most
    /// `((‖x‖²‖y‖² + ⟨x,y⟩²)/b + s²_T‖x‖² + s²_S‖y‖² + b·s²_S·s²_T)/k`, evaluated at the estimates. The interval is normal; the
    /// value may be negative.
    ///
    /// # Errors
    /// [`QueryError::Incompatible`] for sketches of other hash, shape or granularity, and for sketches that share a
    /// release: their noise is not independent, see
    /// [`inner_product_with_common_noise`](Self::inner_product_with_common_noise).
    pub fn inner_product(&self, other: &Self, confidence: Confidence) -> Result<Estimate, QueryError> {
        if let Some(shared) = self.leaves().iter().find(|leaf| other.leaves().iter().any(|b| b.id() == leaf.id())) {
            return Err(QueryError::Incompatible(MergeError::RepeatedRelease { id: shared.id() }));
        }
        self.inner_product_with_common_noise(other, 0.0, confidence)
    }

    /// As [`inner_product`](Self::inner_product) for sketches whose noises in one cell have the covariance `common`, in
    /// squared grid units: `b·common` is taken off each row.
    ///
    /// [`common_noise`](Self::common_noise) computes it from the releases that both sketches record. Noise that was
    /// shared in other ways is the caller's to know.
    ///
    /// # Errors
    /// [`QueryError::Incompatible`] for sketches of other hash, shape or granularity, [`QueryError::Domain`] for a
    /// covariance larger than the variances allow.
    pub fn inner_product_with_common_noise(
        &self,
        other: &Self,
        common: f64,
        confidence: Confidence,
    ) -> Result<Estimate, QueryError> {
        check_alike(self.frame(), other.frame())?;
        let (left_noise, right_noise) = (self.noise_variance(), other.noise_variance());
        // |covariance| ≤ √(variance · variance), with room for rounding.
        non_negative("room for common noise", left_noise * right_noise * (1.0 + 1e-12) - common * common)?;
        let b = f64::from(self.shape().width());
        let rows = usize::from(self.shape().rows());
        let value = (0..rows).map(|row| dot(self.cells(row), other.cells(row)) - b * common).sum::<f64>() / count(rows);
        let norms = NormPair {
            left: f2_unbiased(self).max(0.0),
            right: f2_unbiased(other).max(0.0),
            inner: value,
            squares: 0.0,
        };
        let independent = inner_product_variance(norms, b, left_noise, right_noise)?;
        // Common Gaussian noise adds 2c⟨x,y⟩ through the data and b·c² through its square.
        let variance = (independent + 2.0 * common * value + b * common * common).max(0.0) / count(rows);
        let unit = self.granularity().step().powi(2);
        Ok(normal(value * unit, variance.sqrt() * unit, confidence)?)
    }

    /// The covariance of the noises of two sketches in one cell, in squared grid units, as far as they record common
    /// releases: the sum of `factor·factor·variance` over them.
    #[must_use]
    pub fn common_noise(&self, other: &Self) -> f64 {
        let shared = |leaf: &Leaf| {
            let twin = other.leaves().iter().find(|twin| twin.id() == leaf.id())?;
            Some(integer(leaf.factor()) * integer(twin.factor()) * leaf.law().variance())
        };
        self.leaves().iter().filter_map(shared).sum()
    }
}

fn dot(left: &[i64], right: &[i64]) -> f64 {
    let piece = |(left, right): (&[i64], &[i64])| -> f64 {
        left.iter().zip(right).map(|(&a, &b)| integer(a) * integer(b)).sum()
    };
    left.chunks(256).zip(right.chunks(256)).map(piece).sum()
}
