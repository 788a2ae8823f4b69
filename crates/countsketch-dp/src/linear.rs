//! Sums, differences and multiples of raw sketches.

use sketch_hash::{HashId, KeyedHash};

use dp_noise::DisjointParts;

use crate::error::MergeError;
use crate::granularity::Granularity;
use crate::shape::CountSketchShape;
use crate::sketch::CountSketch;

impl<H: KeyedHash> CountSketch<H> {
    /// Makes this the sketch of both data sets; `other` is not changed.
    ///
    /// The counts of [releases](Self::releases) add up: somebody in both data sets was in all of them. So do, where users
    /// are bounded, the [parts](Self::parts): a user in both may have twice the bound now.
    ///
    /// # Privacy
    /// Where records are bounded, each record must be in one input only, and no program can check it: a copy of a sketch that is
    /// merged twice doubles the sensitivity, while the noise stays what it is.
    ///
    /// # Errors
    /// [`MergeError`] for another hash, shape, granularity or bound, even of an empty sketch, and where a counter or the
    /// number of parts would overflow. Nothing is changed then.
    ///
    /// # Examples
    /// ```
    /// use countsketch_dp::{ContributionBound, CountSketch, CountSketchShape};
    /// use countsketch_dp::sketch_hash::DefaultHash;
    /// let shape = CountSketchShape::new(5, 1024)?;
    /// let new = |bound| CountSketch::new(shape, DefaultHash::default(), bound);
    /// let mut monday = new(ContributionBound::UNIT_ENTRY);
    /// assert!(monday.merge(&new(ContributionBound::entry(2)?)).is_err(), "bounded in another way");
    /// monday.update(b"alice", 1)?;
    /// let mut tuesday = new(ContributionBound::UNIT_ENTRY);
    /// tuesday.update(b"alice", 1)?;
    /// monday.merge(&tuesday)?;
    /// let mut both = new(ContributionBound::UNIT_ENTRY);
    /// both.update_batch(&[b"alice", b"alice"])?;
    /// assert_eq!(monday, both);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        self.combine(other, 1, self.parts_with(other)?)
    }

    /// Takes the other data set away; its weights count negative.
    ///
    /// # Privacy
    /// As for [`merge`](Self::merge): a record that is in both inputs is not taken away, but counts once in each.
    ///
    /// # Errors
    /// As for [`merge`](Self::merge).
    pub fn subtract(&mut self, other: &Self) -> Result<(), MergeError> {
        self.combine(other, -1, self.parts_with(other)?)
    }

    /// As [`merge`](Self::merge) of sketches with bounded users of which none is in both: the bound stays what it is.
    ///
    /// # Privacy
    /// Sound only under the assumption that the caller names; no program can check it. A copy of a sketch is not disjoint from
    /// it.
    ///
    /// # Errors
    /// As for [`merge`](Self::merge).
    pub fn merge_disjoint(&mut self, other: &Self, assumption: DisjointParts) -> Result<(), MergeError> {
        let DisjointParts::EachUnitInOnePart = assumption else {
            return self.merge(other);
        };
        self.combine(other, 1, self.parts.max(other.parts))
    }

    /// The sketch of all weights with the opposite sign.
    #[must_use]
    pub fn negate(&self) -> Self {
        let mut negated = self.clone();
        // Every cell is above −2⁶³.
        let scaled = negated.table.scale(-1);
        debug_assert!(scaled.is_ok(), "cells of a table can be negated");
        negated
    }

    /// The sketch of all weights times `factor`. The [bound](Self::bound) grows by its absolute value.
    ///
    /// # Errors
    /// [`MergeError::Overflow`] where a counter would overflow, [`MergeError::ScaledBound`] for a factor of 0 or where the
    /// bound would be too large.
    pub fn scale(&self, factor: i64) -> Result<Self, MergeError> {
        let bound = self.bound.scaled(factor.unsigned_abs()).map_err(MergeError::ScaledBound)?;
        let mut scaled = self.clone();
        scaled.table.scale(factor).map_err(|_| MergeError::Overflow)?;
        scaled.bound = bound;
        Ok(scaled)
    }

    /// Whether both are made alike and have the same cells, not all of them 0: the sketch of the same data, as far as can be
    /// seen. How often they were released does not matter.
    ///
    /// # Examples
    /// ```
    /// use countsketch_dp::{ContributionBound, CountSketch, CountSketchShape};
    /// use countsketch_dp::sketch_hash::DefaultHash;
    /// let mut one = CountSketch::new(CountSketchShape::new(5, 64)?, DefaultHash::default(), ContributionBound::UNIT_ENTRY);
    /// assert!(!one.same_counts(&one.clone()), "no data is no copy");
    /// one.update(b"alice", 1)?;
    /// let mut copy = one.clone();
    /// assert!(one.same_counts(&copy));
    /// copy.update(b"bob", 1)?;
    /// assert!(!one.same_counts(&copy));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn same_counts(&self, other: &Self) -> bool {
        !self.is_empty() && self.check_alike(other).is_ok() && self.table.cells() == other.table.cells()
    }

    /// Records are in one part each; a user may be in all parts of both.
    fn parts_with(&self, other: &Self) -> Result<u32, MergeError> {
        if !self.bound.is_user() {
            return Ok(1);
        }
        // A number that stops counting would make noise for fewer parts than there are.
        self.parts.checked_add(other.parts).ok_or(MergeError::Overflow)
    }

    fn combine(&mut self, other: &Self, sign: i64, parts: u32) -> Result<(), MergeError> {
        self.check_alike(other)?;
        self.table.add_table(&other.table, sign).map_err(|_| MergeError::Overflow)?;
        self.parts = parts;
        self.releases = self.releases.saturating_add(other.releases);
        Ok(())
    }

    pub(crate) fn check_alike(&self, other: &Self) -> Result<(), MergeError> {
        check_alike(
            (self.hash_id(), self.shape(), self.granularity()),
            (other.hash_id(), other.shape(), other.granularity()),
        )?;
        let (expected, found) = (self.bound(), other.bound());
        if expected == found { Ok(()) } else { Err(MergeError::Bound { expected, found }) }
    }
}

/// What cells must share to be added.
pub(crate) type Frame = (HashId, CountSketchShape, Granularity);

pub(crate) fn check_alike(first: Frame, second: Frame) -> Result<(), MergeError> {
    if first.0 != second.0 {
        return Err(MergeError::Hash { expected: first.0, found: second.0 });
    }
    if first.1 != second.1 {
        return Err(MergeError::Shape { expected: first.1, found: second.1 });
    }
    if first.2 != second.2 {
        return Err(MergeError::Granularity { expected: first.2, found: second.2 });
    }
    Ok(())
}
