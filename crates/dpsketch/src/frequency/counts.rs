//! How many rows a builder of frequencies has seen, and what it did about those that do not fit.

use sketch_hash::Item;

use super::weight::is_zero;

/// What to do with a record that weighs more than was declared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Excess {
    /// Refuse it, and give the build up.
    #[default]
    Refuse,
    /// Bring it to the declared maximum, keep its sign, and count it.
    Clip,
}

/// How many rows a builder has seen. The data owner's business only: these numbers are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrequencyCounts {
    /// All rows, those that were left out included.
    pub rows: u64,
    /// Rows left out because a value, the weight or the user was missing.
    pub nulls: u64,
    /// Records that were clipped to the declared maximum.
    pub clipped: u64,
    /// Rows whose weight is not 0 but that the grid rounds to 0. A finer granularity keeps them.
    pub zeroed: u64,
}

impl FrequencyCounts {
    /// Notes a weight that the grid makes vanish.
    pub(super) fn note_rounding(&mut self, weight: &Item<'_>, units: i64) {
        self.zeroed += u64::from(vanishes(weight, units));
    }
}

/// Whether the grid rounds a weight to 0 that is not.
pub(super) fn vanishes(weight: &Item<'_>, units: i64) -> bool {
    units == 0 && !is_zero(weight)
}
