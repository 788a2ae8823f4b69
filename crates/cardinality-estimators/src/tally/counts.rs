//! What several sketches show together when only the number of ones in a cell is kept.

use super::cells::TalliedCells;
use crate::law::product_kernel;
use crate::level::CellGroup;
use crate::number::to_f64;
use crate::{BitChannel, CellLayout, LevelCounts, ParamError};

/// Sketches behind one channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TallyClass {
    /// What noise did to each of their bits.
    pub channel: BitChannel,
    /// How many they are.
    pub sketches: usize,
}

/// For every group of cells, how many cells show every tally: `k` sketches in classes of equal channels.
///
/// A cell's tally says how many sketches of every class read one there. Its index is `x_1 + (k_1 + 1)·x_2 + …`, so one
/// class of `k` sketches has the tallies `0 ..= k`.
///
/// # Examples
/// ```
/// use cardinality_estimators::tally::{TallyClass, TallyCounts};
/// use cardinality_estimators::{BitChannel, CellLayout};
/// let class = TallyClass { channel: BitChannel::symmetric(0.25)?, sketches: 2 };
/// let counts = TallyCounts::new(&CellLayout::linear(100)?, &[class], vec![vec![50, 40, 10]])?;
/// assert_eq!((counts.sketches(), counts.states()), (2, 3));
/// # Ok::<(), cardinality_estimators::ParamError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TallyCounts {
    classes: Vec<TallyClass>,
    /// By falling rate.
    pub(crate) groups: Vec<TalliedCells>,
    pub(crate) n_cap: f64,
    hashes: u32,
}

impl TallyCounts {
    /// The most tallies a cell may show, `Π (k_i + 1)`: 256 sketches of one class, or 15 and 15 of two.
    ///
    /// A hundred sketches take about a second, and the time grows with the square of their number or faster. Merge some of more
    /// sketches first.
    pub const MAX_STATES: usize = 257;
    /// The most classes that are estimated together.
    pub const MAX_CLASSES: usize = 2;

    /// `counts[group][tally]` cells of each group of the layout.
    ///
    /// # Errors
    /// [`ParamError::Classes`] unless there are one or two classes of at least one sketch each;
    /// [`ParamError::States`] beyond [`Self::MAX_STATES`] tallies; [`ParamError::Counts`] unless there is one list a group,
    /// of one count a tally; [`ParamError::Patterns`] unless the counts of a group add up to its cells.
    pub fn new(layout: &CellLayout, classes: &[TallyClass], counts: Vec<Vec<u64>>) -> Result<Self, ParamError> {
        let states = states_of(classes)?;
        let (groups, n_cap) = TalliedCells::of_layout(layout, states, counts)?;
        Ok(Self { classes: classes.to_vec(), groups, n_cap, hashes: layout.hashes() })
    }

    /// The classes, in the order of the tallies' digits.
    #[must_use]
    pub fn classes(&self) -> &[TallyClass] {
        &self.classes
    }

    /// The number of sketches in all classes.
    #[must_use]
    pub fn sketches(&self) -> usize {
        self.classes.iter().map(|class| class.sketches).sum()
    }

    /// The number of tallies a cell may show.
    #[must_use]
    pub fn states(&self) -> usize {
        self.classes.iter().map(|class| class.sketches + 1).product()
    }

    /// The largest union to search for.
    #[must_use]
    pub const fn n_cap(&self) -> f64 {
        self.n_cap
    }

    /// `K[x, m]`: the probability of tally `x` in a cell that `m_i` sketches of class `i` hold; both in mixed radix.
    pub(crate) fn kernel(&self) -> Vec<f64> {
        let classes: Vec<_> = self.classes.iter().map(|class| (class.channel, class.sketches)).collect();
        product_kernel(&classes)
    }

    pub(crate) fn is_noiseless(&self) -> bool {
        self.classes.iter().all(|class| class.channel.is_noiseless())
    }

    /// Whether no cell reads one in any sketch.
    pub(crate) fn is_all_zero(&self) -> bool {
        self.groups.iter().all(|group| group.counts.first().is_some_and(|&zeros| zeros >= group.cells))
    }

    /// Beyond this many items a cell, a cell says nothing about their number any more.
    pub(crate) fn negligible_beyond(&self) -> f64 {
        self.classes.iter().map(|class| class.channel.negligible_beyond()).fold(0.0, f64::max)
    }

    /// The counts of the only sketch, if it is one.
    pub(crate) fn single(&self) -> Option<Result<LevelCounts, ParamError>> {
        let [TallyClass { channel, sketches: 1 }] = *self.classes.as_slice() else { return None };
        let groups = self.groups.iter().map(|group| {
            let [zeros, ones] = group.counts.as_slice() else {
                return Err(ParamError::Counts { expected: 2, found: 0 });
            };
            CellGroup::new(to_u64(zeros + ones), to_u64(*ones), group.rate)
        });
        let counts =
            groups.collect::<Result<Vec<_>, _>>().and_then(|groups| LevelCounts::new(groups, channel, self.n_cap));
        Some(counts.map(|counts| counts.with_hashes(self.hashes)))
    }

    /// All bits of all sketches of a class as if they were one sketch's: a start for searches.
    pub(crate) fn pooled(&self) -> Option<LevelCounts> {
        let class = self.classes.first()?;
        let width = class.sketches + 1;
        let groups = self.groups.iter().map(|group| {
            let ones: f64 = group.counts.iter().enumerate().map(|(x, count)| to_f64((x % width) as u64) * count).sum();
            let cells = group.cells * to_f64(class.sketches as u64);
            CellGroup::new(to_u64(cells), to_u64(ones.min(cells)), group.rate)
        });
        LevelCounts::new(groups.collect::<Result<_, _>>().ok()?, class.channel, self.n_cap).ok()
    }
}

/// `Π (k_i + 1)` of classes that can be estimated together.
pub(crate) fn states_of(classes: &[TallyClass]) -> Result<usize, ParamError> {
    let filled = classes.iter().all(|class| class.sketches > 0);
    if !(filled && (1..=TallyCounts::MAX_CLASSES).contains(&classes.len())) {
        return Err(ParamError::Classes { found: classes.len() });
    }
    let states = classes.iter().try_fold(1_usize, |states, class| states.checked_mul(class.sketches.checked_add(1)?));
    match states {
        Some(states) if states <= TallyCounts::MAX_STATES => Ok(states),
        _ => Err(ParamError::States { found: states.unwrap_or(usize::MAX) }),
    }
}

/// A whole number of cells back from `f64`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a sum of counts: whole, not negative, below 2^64"
)]
fn to_u64(count: f64) -> u64 {
    count as u64
}
