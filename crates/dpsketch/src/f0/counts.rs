//! What a builder has seen, and what it does about an item with several weights.

/// What to do with an item that comes with rows of different weight while a set is de-duplicated.
///
/// Weights differ where they differ as shares of the largest weight, in 32 bits, after clipping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WeightConflict {
    /// Refuse the build: one of the rows would be left out silently, whichever it is.
    #[default]
    Refuse,
    /// Let the largest weight of the item count, and count the items. It depends neither on the order of the rows nor on other
    /// items.
    Largest,
}

/// How many rows a builder has seen. The data owner's business only: these numbers are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct F0Counts {
    /// All rows, those that were left out included.
    pub rows: u64,
    /// Rows left out because a value or the weight was missing.
    pub nulls: u64,
    /// Rows whose weight was clipped to the largest one.
    pub clipped: u64,
    /// Rows that inserted their item; rows without an operation do.
    pub inserts: u64,
    /// Rows that deleted their item.
    pub deletes: u64,
    /// Distinct items, where rows were de-duplicated; known at the end.
    pub items: Option<u64>,
    /// Distinct items that came with different weights, where rows were de-duplicated; known at the end.
    pub conflicts: u64,
}

impl F0Counts {
    /// Those of both parts of the data.
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            rows: self.rows + other.rows,
            nulls: self.nulls + other.nulls,
            clipped: self.clipped + other.clipped,
            inserts: self.inserts + other.inserts,
            deletes: self.deletes + other.deletes,
            // Known of no part before the end.
            items: None,
            conflicts: 0,
        }
    }
}
