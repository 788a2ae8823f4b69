//! Groups of sketches that are kept as tallies: the Venn diagram of their unions.

use super::fit::{MAX_SETS, VennFit};
use super::group_law::GroupModel;
use super::model::Model;
use crate::level::CellGroup;
use crate::number::to_f64;
use crate::tally::{TalliedCells, TallyClass};
use crate::{BitChannel, CellLayout, LevelCounts, ParamError};

/// For every group of cells of a layout, how many cells show every combination of tallies of several groups of sketches.
///
/// A group of sketches stands for one set, the union of their sets. It consists of one or more classes of sketches of equal
/// channel, and of a class only the number of ones in a cell is kept, as in [`TallyCounts`](crate::tally::TallyCounts). The
/// index of a combination is `x_1 + (k_1 + 1)·(x_2 + (k_2 + 1)·…)` over all classes of the first group, then all of the second,
/// and so on.
///
/// # Examples
/// ```
/// use cardinality_estimators::tally::TallyClass;
/// use cardinality_estimators::venn::GroupCounts;
/// use cardinality_estimators::{BitChannel, CellLayout};
/// let class = |sketches| TallyClass { channel: BitChannel::NOISELESS, sketches };
/// // Two sketches in the first group, one in the second: tallies 0, 1, 2 by 0, 1.
/// let groups = [vec![class(2)], vec![class(1)]];
/// let counts = GroupCounts::new(&CellLayout::linear(100)?, &groups, vec![vec![40, 20, 10, 15, 10, 5]])?;
/// assert_eq!((counts.sets(), counts.states()), (2, 6));
/// # Ok::<(), cardinality_estimators::ParamError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct GroupCounts {
    pub(super) groups: Vec<Vec<TallyClass>>,
    /// By falling rate.
    pub(super) levels: Vec<TalliedCells>,
    pub(super) n_cap: f64,
    pub(super) hashes: u32,
}

impl GroupCounts {
    /// The most combinations of tallies a cell of one or two groups may show, `Π (k_i + 1)` over all classes of all groups.
    ///
    /// The work of a fit grows with the cube of it: two groups of four sketches have 25 and take a few hundredths of a second, two
    /// groups of eight 81 and half a second, two groups of sixteen 289 and five to ten seconds.
    pub const MAX_STATES: usize = 300;

    /// The most combinations of so many groups: [`MAX_STATES`](Self::MAX_STATES) for two, 150 for three, 81 for four, which
    /// have more regions to fit. Four groups of two sketches have 81.
    #[must_use]
    pub const fn max_states(groups: usize) -> usize {
        match groups {
            0..=2 => Self::MAX_STATES,
            3 => 150,
            _ => 81,
        }
    }

    /// `counts[group of cells][combination]` cells, for groups of sketches given by their classes.
    ///
    /// # Errors
    /// [`ParamError::VennSets`] unless there are `1 ..= 4` groups; [`ParamError::EmptyGroup`] for a group without a class or
    /// with a class without a sketch; [`ParamError::GroupStates`] beyond [`Self::max_states`] combinations, before anything is
    /// allocated; [`ParamError::Counts`] unless there is one list for every group of cells, of one count a combination;
    /// [`ParamError::Patterns`] unless the counts of a list add up to its cells.
    pub fn new(layout: &CellLayout, groups: &[Vec<TallyClass>], counts: Vec<Vec<u64>>) -> Result<Self, ParamError> {
        if !(1..=MAX_SETS).contains(&groups.len()) {
            return Err(ParamError::VennSets { found: groups.len() });
        }
        let lacks = |classes: &Vec<TallyClass>| classes.is_empty() || classes.iter().any(|class| class.sketches == 0);
        if let Some(group) = groups.iter().position(lacks) {
            return Err(ParamError::EmptyGroup { group });
        }
        let states = states_of(groups)?;
        let (levels, n_cap) = TalliedCells::of_layout(layout, states, counts)?;
        Ok(Self { groups: groups.to_vec(), levels, n_cap, hashes: layout.hashes() })
    }

    /// The number of groups: sets of the fit.
    #[must_use]
    pub fn sets(&self) -> usize {
        self.groups.len()
    }

    /// The number of combinations of tallies a cell may show.
    #[must_use]
    pub fn states(&self) -> usize {
        self.groups.iter().flatten().map(|class| class.sketches + 1).product()
    }

    /// The classes of every group, in the order of the combinations' digits.
    #[must_use]
    pub fn groups(&self) -> &[Vec<TallyClass>] {
        &self.groups
    }

    pub(super) fn is_noiseless(&self) -> bool {
        self.groups.iter().flatten().all(|class| class.channel.is_noiseless())
    }

    /// For every combination of digits of the classes, the groups with a digit above 0.
    pub(super) fn patterns(&self) -> Vec<usize> {
        let mut patterns = vec![0];
        for (set, classes) in self.groups.iter().enumerate() {
            for class in classes {
                let before = patterns.clone();
                for _ in 0..class.sketches {
                    patterns.extend(before.iter().map(|pattern| pattern | 1 << set));
                }
            }
        }
        patterns
    }

    /// For every group the size of the set that all bits of its first class would have as one sketch: about the average of
    /// its sets.
    pub(super) fn averages(&self) -> Vec<f64> {
        let mut place = 1;
        let mut averages = Vec::with_capacity(self.groups.len());
        for classes in &self.groups {
            let first = classes.first().copied().unwrap_or(TallyClass { channel: BitChannel::NOISELESS, sketches: 1 });
            averages.push(self.average(first, place).unwrap_or(1.0));
            place *= classes.iter().map(|class| class.sketches + 1).product::<usize>();
        }
        averages
    }

    fn average(&self, class: TallyClass, place: usize) -> Option<f64> {
        let digit = |state: usize| to_f64((state / place % (class.sketches + 1)) as u64);
        let share = |level: &TalliedCells| {
            let ones: f64 = level.counts.iter().enumerate().map(|(state, count)| digit(state) * count).sum();
            ones / (level.cells * to_f64(class.sketches as u64))
        };
        // A sketch of as many cells in every level, however many these are: only the peak's place counts.
        let groups = self.levels.iter().map(|level| CellGroup::new(CELLS, whole(share(level)), level.rate));
        let counts = LevelCounts::new(groups.collect::<Result<_, _>>().ok()?, class.channel, self.n_cap).ok()?;
        let found = crate::diagnostics::mle(&counts).n_hat;
        found.is_finite().then_some(found)
    }
}

/// Cells of a level of the sketch of averages.
const CELLS: u64 = 1 << 20;

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and the number of cells")]
fn whole(share: f64) -> u64 {
    ((share * to_f64(CELLS)).round() as u64).min(CELLS)
}

fn states_of(groups: &[Vec<TallyClass>]) -> Result<usize, ParamError> {
    let states = groups
        .iter()
        .flatten()
        .try_fold(1_usize, |states, class| states.checked_mul(class.sketches.checked_add(1)?))
        .unwrap_or(usize::MAX);
    let expected = GroupCounts::max_states(groups.len());
    if states <= expected { Ok(states) } else { Err(ParamError::GroupStates { expected, found: states }) }
}

/// Fits the sizes of all regions of the unions of up to [`MAX_SETS`] groups of sketches.
///
/// As [`fit`](crate::venn::fit()), with the law of how many sketches of a group hold a cell left free wherever the group is not empty
/// there: the likelihood of any sizes is the highest over all such laws. So nothing is assumed about how the sets of a group
/// overlap. With groups of one sketch it is the same likelihood, with one group that of the free law of a tally.
///
/// Standard errors count the free laws as estimated too, but not their bias: weights of a law cannot be negative, so noise
/// pushes them one way. Where all sets of a group are alike the union came out too large, where single items are many the common
/// part did, by up to two standard errors. Each arm of an interval is therefore 1.25 standard errors longer when a group has more
/// than one sketch.
///
/// # Errors
/// None in practice, [`ParamError::GroupStates`] in name: the counts were checked when they were built. What does not converge has that
/// [`status`](VennFit::status).
///
/// # Examples
/// ```
/// use cardinality_estimators::tally::TallyClass;
/// use cardinality_estimators::venn::{GroupCounts, fit_groups};
/// use cardinality_estimators::{BitChannel, CellLayout, Confidence};
/// let class = |sketches| TallyClass { channel: BitChannel::NOISELESS, sketches };
/// let groups = [vec![class(2)], vec![class(1)]];
/// let counts = GroupCounts::new(&CellLayout::linear(100)?, &groups, vec![vec![40, 20, 10, 15, 10, 5]])?;
/// let fit = fit_groups(&counts)?;
/// // Without noise 60 of 100 cells are taken by any set: −100·ln 0.4 items.
/// assert!(fit.union(Confidence::P95).value().is_some_and(|n| (n - 91.6).abs() < 1.0));
/// # Ok::<(), cardinality_estimators::ParamError>(())
/// ```
pub fn fit_groups(counts: &GroupCounts) -> Result<VennFit, ParamError> {
    let model = GroupModel::new(counts.clone())
        .ok_or(ParamError::GroupStates { expected: GroupCounts::max_states(counts.sets()), found: counts.states() })?;
    Ok(VennFit::new(Model::Groups(Box::new(model))))
}
