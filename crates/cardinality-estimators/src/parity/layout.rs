//! The shape of a parity sketch, and how fast its cells forget.

use crate::level::rate_of;
use crate::number::to_f64;
use crate::{CellGroup, CellLayout, ParamError};

/// What a cell of the sketch holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ParityModel {
    /// The parity of the number of items of a *set* that fell into it: `E[(−1)^cell] = c·(1 − 2ρ)^n`.
    #[default]
    Set,
    /// The same parity when every occurrence is first kept with a fair secret coin: a cell hit at least once is a fair bit,
    /// so `E[(−1)^cell] = c·(1 − ρ)^n`, where `n` counts distinct items however often they occurred.
    Presampled,
}

impl ParityModel {
    /// The factor `f` with `E[(−1)^cell] = c·(1 − f·ρ)^n`: 2 for sets, 1 for pre-sampled streams.
    #[must_use]
    pub const fn items_per_hit(self) -> f64 {
        match self {
            Self::Set => 2.0,
            Self::Presampled => 1.0,
        }
    }

    /// `−ln(1 − f·ρ)`: exact for items of weight 1.
    pub(crate) fn unit_rate(self, rho: f64) -> f64 {
        rate_of(self.items_per_hit() * rho).min(CellGroup::MAX_RATE)
    }

    /// `f·ρ`: for items of any weights, the limit of many light items.
    pub(crate) fn weighted_rate(self, rho: f64) -> f64 {
        self.items_per_hit() * rho
    }
}

/// One table of equally likely cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Table {
    pub(crate) share: f64,
    pub(crate) cells: u64,
}

impl Table {
    /// The probability that an item falls into a given cell.
    pub(crate) fn rho(self) -> f64 {
        self.share / to_f64(self.cells)
    }
}

/// The tables of a parity sketch: table `i` receives a share `q_i` of the items and spreads it over `m_i` cells.
///
/// Everything here works for general tables; [`regular`](Self::regular) gives the usual ones.
///
/// # Examples
/// ```
/// use cardinality_estimators::parity::ParityLayout;
/// // A small head table in front of four regular levels.
/// let layout = ParityLayout::new(&[(0.5, 64), (0.25, 1024), (0.125, 1024), (0.0625, 1024), (0.0625, 1024)])?;
/// assert_eq!(layout.tables(), 5);
/// assert_eq!(ParityLayout::regular(24, 4096)?.cells(), 24 * 4096);
/// # Ok::<(), cardinality_estimators::ParamError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ParityLayout {
    pub(crate) tables: Vec<Table>,
}

impl ParityLayout {
    /// The most tables of a layout.
    pub const MAX_TABLES: usize = 4096;

    /// The largest accepted probability that an item falls into a given cell: with more, a second item would more likely
    /// undo the first than not.
    pub const MAX_CELL_SHARE: f64 = 0.5;

    /// A layout of tables `(share, cells)`.
    ///
    /// Shares may add to less than 1 (items outside are not seen), but not to more.
    ///
    /// # Errors
    /// [`ParamError::Tables`] unless there are `1 ..= 4096`; [`ParamError::Share`] for a share that is not in
    /// `2^-64 ..= 1`, of which a cell gets more than half, or with which they add to more than 1;
    /// [`ParamError::Cells`] for a table without a cell.
    pub fn new(tables: &[(f64, u64)]) -> Result<Self, ParamError> {
        if !(1..=Self::MAX_TABLES).contains(&tables.len()) {
            return Err(ParamError::Tables { found: tables.len() });
        }
        let mut total = 0.0;
        let mut checked = Vec::with_capacity(tables.len());
        for &(share, cells) in tables {
            if cells == 0 {
                return Err(ParamError::Cells { expected: 1, found: 0 });
            }
            total += share;
            let table = Table { share, cells };
            let fits = (2.0_f64.powi(-64)..=1.0).contains(&share) && total <= 1.0 + 1e-9;
            if !fits || table.rho() > Self::MAX_CELL_SHARE {
                return Err(ParamError::Share { share, cells });
            }
            checked.push(table);
        }
        Ok(Self { tables: checked })
    }

    /// `levels` levels of `cells_per_level` cells, level `i` with share `2^-(i+1)` and the last as much as the one before
    /// it, so that the shares add to 1.
    ///
    /// # Errors
    /// [`ParamError::Levels`] unless `1 ≤ levels ≤ 64`; [`ParamError::Share`] or [`ParamError::Cells`] when an item falls
    /// into a given cell with probability above a half.
    pub fn regular(levels: u8, cells_per_level: u32) -> Result<Self, ParamError> {
        if !(1..=64).contains(&levels) {
            return Err(ParamError::Levels { found: usize::from(levels) });
        }
        let share = |level: u8| 0.5_f64.powi(i32::from(if level + 1 < levels { level + 1 } else { level }));
        let tables: Vec<_> = (0..levels).map(|level| (share(level), u64::from(cells_per_level))).collect();
        Self::new(&tables)
    }

    /// The number of tables.
    #[must_use]
    pub fn tables(&self) -> usize {
        self.tables.len()
    }

    /// The number of cells of all tables.
    #[must_use]
    pub fn cells(&self) -> u64 {
        self.tables.iter().fold(0, |sum, table| sum.saturating_add(table.cells))
    }

    /// The largest count worth looking for, `20/k` of the slowest rate `k`: all but `e^-20` of every cell's bias is gone.
    #[must_use]
    pub fn n_cap(&self, model: ParityModel) -> f64 {
        cap_of(self.tables.iter().map(|table| model.unit_rate(table.rho())))
    }

    /// As cells and rates, for the formulas shared with other sketches.
    pub(crate) fn cell_layout(&self, rate: impl Fn(f64) -> f64) -> Result<CellLayout, ParamError> {
        let groups: Vec<_> = self.tables.iter().map(|table| (table.cells, rate(table.rho()))).collect();
        let cap = cap_of(groups.iter().map(|&(_, rate)| rate));
        CellLayout::new(&groups, cap)
    }
}

/// `20/k` of the slowest of the rates.
pub(crate) fn cap_of(rates: impl Iterator<Item = f64>) -> f64 {
    20.0 / rates.fold(CellGroup::MAX_RATE, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    #[test]
    fn shares_of_regular_levels_add_to_one() {
        for levels in 1..=64 {
            let layout = ParityLayout::regular(levels, 64).expect("a valid layout");
            let total: f64 = layout.tables.iter().map(|table| table.share).sum();
            assert_relative_eq!(total, 1.0, max_relative = 1e-15);
        }
    }

    #[test]
    fn layouts_without_sense_are_refused() {
        assert_eq!(ParityLayout::new(&[]), Err(ParamError::Tables { found: 0 }));
        assert_eq!(ParityLayout::new(&[(0.5, 0)]), Err(ParamError::Cells { expected: 1, found: 0 }));
        assert_eq!(ParityLayout::new(&[(1.0, 1)]), Err(ParamError::Share { share: 1.0, cells: 1 }));
        assert_eq!(ParityLayout::new(&[(0.7, 8), (0.4, 8)]), Err(ParamError::Share { share: 0.4, cells: 8 }));
        assert!(ParityLayout::new(&[(f64::NAN, 8)]).is_err());
        assert_eq!(ParityLayout::regular(0, 8), Err(ParamError::Levels { found: 0 }));
        assert_eq!(ParityLayout::regular(65, 8), Err(ParamError::Levels { found: 65 }));
    }

    #[test]
    fn the_range_ends_where_the_slowest_table_is_full() {
        let layout = ParityLayout::regular(12, 128).expect("a valid layout");
        let rate = -(-2.0 * 2.0_f64.powi(-11) / 128.0_f64).ln_1p();
        assert_relative_eq!(layout.n_cap(ParityModel::Set), 20.0 / rate, max_relative = 1e-14);
    }
}
