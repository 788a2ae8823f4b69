//! What was counted, whatever it was counted of.

use super::surface::{Slope, Surface};
use crate::PatternCounts;

/// The counts behind a fit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Model {
    /// Of single sketches.
    Patterns(PatternCounts),
}

impl Model {
    pub(crate) fn sets(&self) -> usize {
        match self {
            Self::Patterns(patterns) => patterns.sketches(),
        }
    }

    /// Darts an item throws.
    pub(crate) fn hashes(&self) -> f64 {
        match self {
            Self::Patterns(patterns) => f64::from(patterns.hashes()),
        }
    }

    pub(crate) fn is_noiseless(&self) -> bool {
        match self {
            Self::Patterns(patterns) => patterns.is_noiseless(),
        }
    }

    /// Whether the sketches are noiseless and without a one.
    pub(crate) fn is_empty(&self) -> bool {
        let only_first = |counts: &[u64]| counts.iter().skip(1).all(|&count| count == 0);
        match self {
            Self::Patterns(patterns) => {
                patterns.is_noiseless() && patterns.groups.iter().all(|group| only_first(&group.counts))
            }
        }
    }

    fn surface(&self) -> &dyn Surface {
        match self {
            Self::Patterns(patterns) => patterns,
        }
    }
}

impl Surface for Model {
    fn dimensions(&self) -> usize {
        self.surface().dimensions()
    }

    fn cap(&self) -> f64 {
        self.surface().cap()
    }

    fn height(&self, regions: &[f64]) -> f64 {
        self.surface().height(regions)
    }

    fn slope(&self, regions: &[f64]) -> Slope {
        self.surface().slope(regions)
    }
}
