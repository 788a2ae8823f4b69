//! What was counted, whatever it was counted of.

use super::group_law::{GroupModel, GroupSurface};
use super::surface::Surface;
use crate::PatternCounts;
use crate::tally::TallyClass;

/// The counts behind a fit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Model {
    /// Of single sketches.
    Patterns(PatternCounts),
    /// Of groups of sketches.
    Groups(Box<GroupModel>),
}

impl Model {
    pub(crate) fn sets(&self) -> usize {
        match self {
            Self::Patterns(patterns) => patterns.sketches(),
            Self::Groups(groups) => groups.counts.sets(),
        }
    }

    /// Darts an item throws.
    pub(crate) fn hashes(&self) -> f64 {
        match self {
            Self::Patterns(patterns) => f64::from(patterns.hashes()),
            Self::Groups(groups) => f64::from(groups.counts.hashes),
        }
    }

    pub(crate) fn is_noiseless(&self) -> bool {
        match self {
            Self::Patterns(patterns) => patterns.is_noiseless(),
            Self::Groups(groups) => groups.counts.is_noiseless(),
        }
    }

    /// Whether the sketches are noiseless and without a one.
    pub(crate) fn is_empty(&self) -> bool {
        let only_first = |counts: &[u64]| counts.iter().skip(1).all(|&count| count == 0);
        match self {
            Self::Patterns(patterns) => {
                patterns.is_noiseless() && patterns.groups.iter().all(|group| only_first(&group.counts))
            }
            Self::Groups(groups) => {
                let counts = &groups.counts;
                counts.is_noiseless()
                    && counts.levels.iter().all(|level| level.counts.iter().skip(1).all(|count| *count <= 0.0))
            }
        }
    }

    /// By how many standard errors an estimate may be off to one side.
    ///
    /// Weights of a free law cannot be negative, so noise pushes them up and never down. In simulation groups of 2 to 8 sketches
    /// were off by up to two standard errors on average, hardly less with little noise.
    pub(crate) fn bias(&self) -> f64 {
        match self {
            Self::Patterns(_) => 0.0,
            Self::Groups(groups) if groups.counts.groups.iter().all(|classes| sketches(classes) == 1) => 0.0,
            Self::Groups(_) => 1.25,
        }
    }

    /// The likelihood of the sizes.
    pub(crate) fn surface(&self) -> Box<dyn Surface + '_> {
        match self {
            Self::Patterns(patterns) => Box::new(patterns),
            Self::Groups(groups) => Box::new(GroupSurface::new(groups)),
        }
    }

    /// Makes questions about sizes near these cheap.
    pub(crate) fn settle(&mut self, regions: &[f64]) {
        if let Self::Groups(groups) = self {
            groups.settle(regions);
        }
    }
}

/// The sketches of a group.
pub(crate) fn sketches(classes: &[TallyClass]) -> usize {
    classes.iter().map(|class| class.sketches).sum()
}
