//! What an estimate is made from: ones per table, the contrast of the noise, and what is known of the weights.

use crate::parity::{ParityLayout, ParityModel};
use crate::{BitChannel, CellGroup, Grid, LevelCounts, ParamError};

/// The weights of the items: what the sketch adds up, and what is known of their spread.
///
/// An item of weight `w` is kept by its hash with probability `w`, so the sketch estimates `W = Σw`, in units of the
/// largest weight. Of its variance `1/J − Σw²` the second part is known only to callers who know `Σw²`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ItemWeights {
    /// Every item weighs 1: the estimate is a count, and its error that of a fixed set.
    #[default]
    Unit,
    /// Weights in `0 ..= 1` of which nothing else is known. Errors are those of `Σw² = 0`: never too small.
    Weighted,
    /// Weights in `0 ..= 1` whose squares add to this.
    SquaresSumTo(f64),
}

impl ItemWeights {
    /// `Σw²` when the estimate is `total`. Squares of weights up to 1 never exceed their sum.
    pub(crate) fn fixed(self, total: f64) -> f64 {
        match self {
            Self::Unit => total,
            Self::Weighted => 0.0,
            Self::SquaresSumTo(squares) => squares.min(total),
        }
    }

    fn check(self) -> Result<(), ParamError> {
        match self {
            Self::SquaresSumTo(found) if !(found >= 0.0 && found.is_finite()) => Err(ParamError::Squares { found }),
            _ => Ok(()),
        }
    }
}

/// The ones of every table of one sketch, behind noise of one contrast.
///
/// The contrast is `c = 1 − 2p` for a flip probability `p`; of merged sketches contrasts multiply. A contrast below
/// 2^-300, such as the 0 that many products underflow to, is computed as 2^-300: cells are coins either way.
///
/// # Examples
/// ```
/// use cardinality_estimators::parity::{ItemWeights, ParityCounts, ParityLayout, ParityModel};
/// let layout = ParityLayout::regular(8, 64)?;
/// let ones = [26, 31, 25, 21, 15, 10, 16, 12];
/// let counts = ParityCounts::new(&layout, ParityModel::Set, ItemWeights::Unit, &ones, 0.6)?;
/// assert_eq!(counts.contrast(), 0.6);
/// # Ok::<(), cardinality_estimators::ParamError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ParityCounts {
    groups: Vec<CellGroup>,
    levels: LevelCounts,
    model: ParityModel,
    weights: ItemWeights,
}

impl ParityCounts {
    /// The counts of a sketch: `ones` table by table.
    ///
    /// # Errors
    /// [`ParamError::Counts`] unless there is one count a table; [`ParamError::Ones`] for more ones than cells;
    /// [`ParamError::Keep`] unless `0 ≤ contrast ≤ 1`; [`ParamError::Squares`] for a sum of squares that is negative, NaN
    /// or infinite.
    pub fn new(
        layout: &ParityLayout,
        model: ParityModel,
        weights: ItemWeights,
        ones: &[u64],
        contrast: f64,
    ) -> Result<Self, ParamError> {
        if ones.len() != layout.tables.len() {
            return Err(ParamError::Counts { expected: layout.tables.len(), found: ones.len() });
        }
        weights.check()?;
        let channel = parity_channel(contrast)?;
        let rate = rate_form(model, weights);
        let group =
            |(table, &ones): (&super::layout::Table, &u64)| CellGroup::new(table.cells, ones, rate(table.rho()));
        let groups = layout.tables.iter().zip(ones).map(group).collect::<Result<Vec<_>, _>>()?;
        let cap = super::layout::cap_of(groups.iter().map(CellGroup::rate));
        let levels = LevelCounts::new(groups.clone(), channel, cap)?.with_grid(Grid::new(1e-3, 8)?);
        Ok(Self { groups, levels, model, weights })
    }

    /// The counts as the likelihood reads them: through the channel with `P(1 → 1) = 1/2` and contrast `c`, since a cell
    /// hit often enough is a fair bit whatever the noise.
    #[must_use]
    pub const fn level_counts(&self) -> &LevelCounts {
        &self.levels
    }

    /// The contrast of the noise.
    #[must_use]
    pub const fn contrast(&self) -> f64 {
        self.levels.channel().a()
    }

    /// What a cell holds.
    #[must_use]
    pub const fn model(&self) -> ParityModel {
        self.model
    }

    /// What is known of the weights.
    #[must_use]
    pub const fn weights(&self) -> ItemWeights {
        self.weights
    }

    /// Cells, ones and rate of every table, in the order of the layout.
    #[must_use]
    pub fn tables(&self) -> &[CellGroup] {
        &self.groups
    }

    pub(crate) fn is_noiseless(&self) -> bool {
        self.levels.channel().q() <= 0.0
    }
}

/// The channel of a cell whose noise has contrast `c`: one with probability `(1 − c·e^{−k·n})/2`.
pub(crate) fn parity_channel(contrast: f64) -> Result<BitChannel, ParamError> {
    if (0.0..=1.0).contains(&contrast) {
        BitChannel::from_keep(0.5, contrast.max(BitChannel::MIN_KEEP))
    } else {
        Err(ParamError::Keep { found: contrast })
    }
}

/// From the probability of a cell to its rate.
pub(crate) fn rate_form(model: ParityModel, weights: ItemWeights) -> impl Fn(f64) -> f64 {
    move |rho| if weights == ItemWeights::Unit { model.unit_rate(rho) } else { model.weighted_rate(rho) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parity::{IntervalIntersection, JointParityCounts, Radius};

    fn new(ones: &[u64], contrast: f64, weights: ItemWeights) -> Result<ParityCounts, ParamError> {
        let layout = ParityLayout::regular(3, 10).expect("a valid layout");
        ParityCounts::new(&layout, ParityModel::Set, weights, ones, contrast)
    }

    #[test]
    fn what_does_not_fit_is_refused_with_what_was_found() {
        let unit = ItemWeights::Unit;
        assert_eq!(new(&[1, 2], 0.5, unit), Err(ParamError::Counts { expected: 3, found: 2 }));
        assert_eq!(new(&[1, 11, 3], 0.5, unit), Err(ParamError::Ones { ones: 11, cells: 10 }));
        assert_eq!(new(&[1, 2, 3], 1.5, unit), Err(ParamError::Keep { found: 1.5 }));
        assert_eq!(new(&[1, 2, 3], -0.1, unit), Err(ParamError::Keep { found: -0.1 }));
        assert!(new(&[1, 2, 3], f64::NAN, unit).is_err());
        let squares = ItemWeights::SquaresSumTo(-1.0);
        assert_eq!(new(&[1, 2, 3], 0.5, squares), Err(ParamError::Squares { found: -1.0 }));
    }

    #[test]
    fn a_contrast_that_vanished_is_computed_as_the_least() {
        let counts = new(&[5, 5, 5], 0.0, ItemWeights::Unit).expect("cells that are coins");
        assert!(counts.contrast() > 0.0 && counts.contrast() < 1e-90);
    }

    #[test]
    fn pairs_must_be_as_many_as_the_cells() {
        let layout = ParityLayout::regular(2, 10).expect("a valid layout");
        let joint = |pairs: &[[u64; 4]]| {
            JointParityCounts::new(&layout, ParityModel::Set, ItemWeights::Unit, pairs, [0.5, 0.5]).map(|_| ())
        };
        assert_eq!(joint(&[[10, 0, 0, 0]]), Err(ParamError::Counts { expected: 2, found: 1 }));
        assert_eq!(joint(&[[10, 0, 0, 0], [4, 3, 2, 0]]), Err(ParamError::Patterns { expected: 10, found: 9 }));
        let overflow = [[10, 0, 0, 0], [u64::MAX, 1, 0, 10]];
        assert_eq!(joint(&overflow), Err(ParamError::Patterns { expected: 10, found: u64::MAX }));
        assert_eq!(joint(&[[10, 0, 0, 0], [4, 3, 2, 1]]), Ok(()));
    }

    #[test]
    fn a_radius_must_be_one() {
        let counts = new(&[5, 4, 3], 0.5, ItemWeights::Unit).expect("valid counts");
        for delta in [0.0, 1.0, -1.0, f64::NAN] {
            assert!(IntervalIntersection::new(&counts, Radius::FailureProbability(delta)).is_err());
        }
        for cells in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(IntervalIntersection::new(&counts, Radius::Cells(cells)).is_err());
        }
        let exact = IntervalIntersection::new(&counts, Radius::Cells(0.0)).expect("a valid radius");
        assert!(exact.tables().iter().all(|table| table.counts.is_none_or(|(low, high)| low <= high)));
    }
}
