//! Cells by what they show: the part that tallies of one set and of several have in common.

use crate::level::CellGroup;
use crate::number::to_f64;
use crate::{CellLayout, ParamError};

/// Equally likely cells.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TalliedCells {
    pub(crate) cells: f64,
    pub(crate) rate: f64,
    /// Cells of every tally, or of every combination of tallies.
    pub(crate) counts: Vec<f64>,
}

impl TalliedCells {
    /// The groups of a layout by falling rate, from `counts[group][state]`, and the largest count to search for.
    ///
    /// # Errors
    /// [`ParamError::Counts`] unless there is one list a group, of one count a state; [`ParamError::Patterns`] unless the counts
    /// of a group add up to its cells.
    pub(crate) fn of_layout(
        layout: &CellLayout,
        states: usize,
        counts: Vec<Vec<u64>>,
    ) -> Result<(Vec<Self>, f64), ParamError> {
        let equal =
            |expected, found| if expected == found { Ok(()) } else { Err(ParamError::Counts { expected, found }) };
        equal(layout.groups().len(), counts.len())?;
        let mut groups = Vec::with_capacity(counts.len());
        for ((cells, rate), counts) in layout.groups().zip(counts) {
            equal(states, counts.len())?;
            let found = counts.iter().try_fold(0_u64, |sum, &count| sum.checked_add(count));
            if found != Some(cells) {
                return Err(ParamError::Patterns { expected: cells, found: found.unwrap_or(u64::MAX) });
            }
            if cells > 0 {
                let counts = counts.into_iter().map(to_f64).collect();
                groups.push(Self { cells: to_f64(cells), rate, counts });
            }
        }
        groups.sort_by(|x, y| y.rate.total_cmp(&x.rate));
        let slowest = groups.last().map_or(CellGroup::MAX_RATE, |group| group.rate);
        Ok((groups, layout.n_cap().min(512.0 / slowest)))
    }
}
