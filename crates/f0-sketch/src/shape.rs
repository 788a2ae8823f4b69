//! The shape of a sketch: tables of cells, and how likely an item falls into each.

use core::fmt;
use std::sync::Arc;

use sketch_hash::{bucket_multiply_shift, level_leading};

use crate::error::ShapeError;
use crate::mode::ModeKind;

/// One table of equally likely cells, and the share of all items that falls into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Table {
    /// `q · 2⁶³`, where an item falls into the table with probability `q`. The shares of a shape add up to 2⁶³.
    pub share: u64,
    /// The number of cells.
    pub cells: u32,
}

/// Tables of cells, and which bits of a hash choose the cell of an item.
///
/// A hash gives an item 128 bits, the words `h1` and `h2`. `h1` alone chooses the table: the tables split the numbers below
/// 2⁶³ into runs as long as their shares, in their order, and the item falls into the table whose run holds the upper 63 bits
/// of `¬h1`. In a [regular](Self::new) shape that is `min(leading zeros of h1, levels − 1)`. The cell within a table of `m` is
/// `⌊m · (h2 / 2³²) / 2³²⌋`, and the lower 32 bits of `h2` decide about [weights](crate::Weight), so that neither table nor
/// cell depends on the weight.
///
/// More levels reach further; the relative error is about `1.67 / √(m · Li₂(c²))` where `c` is the
/// [contrast](crate::PrivateF0Sketch::contrast) and `m` the cells of a level: 5.5% for the default shape at ε = 1.
///
/// # Examples
/// ```
/// use f0_sketch::{F0Shape, Table};
/// let shape = F0Shape::new(24, 4096)?;
/// assert_eq!((shape.levels(), shape.cells(), shape.to_string()), (24, 98_304, "24 x 4096".into()));
/// // Small tables at the head, for small counts.
/// let half = 1 << 62;
/// let general = F0Shape::with_tables(&[Table { share: half, cells: 16 }, Table { share: half, cells: 256 }])?;
/// assert_eq!(general.cells(), 272);
/// # Ok::<(), f0_sketch::ShapeError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct F0Shape(Layout);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Layout {
    Regular {
        levels: u8,
        cells: u32,
    },
    /// Never one that is regular.
    General(Arc<[Table]>),
}

impl F0Shape {
    /// 24 levels of 4096 cells: 12 KiB; at ε = 1 5.5% up to 1.7·10¹⁰ items in mode `set`, 3.9% up to 3.4·10¹⁰ in mode
    /// `presampled`.
    pub const DEFAULT: Self = Self(Layout::Regular { levels: 24, cells: 4096 });

    /// The share of everything, 2⁶³.
    pub const WHOLE: u64 = 1 << 63;

    /// The most levels of a regular shape.
    pub const MAX_LEVELS: u8 = 64;

    /// The most tables of any shape.
    pub const MAX_TABLES: usize = 255;

    /// The most cells of all tables together: 8 MiB of bits.
    pub const MAX_CELLS: u32 = 1 << 26;

    /// The regular shape: level `i` takes `2^−(i+1)` of the items, and the last one the rest, `2^−(levels−1)`.
    ///
    /// # Errors
    /// [`ShapeError::Levels`] unless `1 ≤ levels ≤ 64`; [`ShapeError::FewCells`] when an item would fall into some cell with
    /// probability 1/2 or more (with one level, fewer than three cells; else, fewer than two), and [`ShapeError::ManyCells`]
    /// above 2²⁶ cells in all.
    pub fn new(levels: u8, cells_per_level: u32) -> Result<Self, ShapeError> {
        if !(1..=Self::MAX_LEVELS).contains(&levels) {
            return Err(ShapeError::Levels { found: levels });
        }
        let shape = Self(Layout::Regular { levels, cells: cells_per_level });
        check_tables(shape.tables())?;
        Ok(shape)
    }

    /// Any tables whose shares add up to 2⁶³.
    ///
    /// # Errors
    /// [`ShapeError::Tables`] unless there are 1 ..= 255 of them, [`ShapeError::EmptyShare`] for a table without a share,
    /// [`ShapeError::Shares`] when the shares add up to something else, and [`ShapeError::FewCells`] or
    /// [`ShapeError::ManyCells`] as for [`new`](Self::new).
    pub fn with_tables(tables: &[Table]) -> Result<Self, ShapeError> {
        if !(1..=Self::MAX_TABLES).contains(&tables.len()) {
            return Err(ShapeError::Tables { found: tables.len() });
        }
        check_tables(tables.iter().copied())?;
        let regular = u8::try_from(tables.len()).ok().and_then(|levels| Self::new(levels, tables[0].cells).ok());
        let regular = regular.filter(|regular| regular.tables().eq(tables.iter().copied()));
        Ok(regular.unwrap_or_else(|| Self(Layout::General(tables.into()))))
    }

    /// The regular shape of `cells_per_level` cells with as many levels as up to `n_max` distinct items need.
    ///
    /// The least number of levels at which the last one is not crowded: `f · n_max · 2^−(levels−1) ≤ cells_per_level`, where
    /// `f` is 2 in mode `set` and 1 in mode `presampled`. With weights, `n_max` is the sum of the weights over the largest.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    ///
    /// # Examples
    /// ```
    /// use f0_sketch::{F0Shape, ModeKind};
    /// assert_eq!(F0Shape::for_distinct(10_000_000, 4904, ModeKind::Set)?.levels(), 13);
    /// # Ok::<(), f0_sketch::ShapeError>(())
    /// ```
    pub fn for_distinct(n_max: u64, cells_per_level: u32, mode: ModeKind) -> Result<Self, ShapeError> {
        let twice = u32::from(mode == ModeKind::Set);
        let reach = |levels: u8| u128::from(cells_per_level) << (levels - 1);
        let needed = (1..Self::MAX_LEVELS).find(|&levels| u128::from(n_max) << twice <= reach(levels));
        Self::new(needed.unwrap_or(Self::MAX_LEVELS), cells_per_level)
    }

    /// How many tables there are.
    #[must_use]
    pub fn levels(&self) -> u8 {
        match &self.0 {
            Layout::Regular { levels, .. } => *levels,
            Layout::General(tables) => u8::try_from(tables.len()).unwrap_or(u8::MAX),
        }
    }

    /// The cells of each level of a regular shape; `None` for any other.
    #[must_use]
    pub const fn cells_per_level(&self) -> Option<u32> {
        match self.0 {
            Layout::Regular { cells, .. } => Some(cells),
            Layout::General(_) => None,
        }
    }

    /// The cells of all tables: the bits of a sketch.
    #[must_use]
    pub fn cells(&self) -> usize {
        match &self.0 {
            Layout::Regular { levels, cells } => usize::from(*levels) * *cells as usize,
            Layout::General(tables) => tables.iter().map(|table| table.cells as usize).sum(),
        }
    }

    /// The tables, in the order of the bits.
    pub fn tables(&self) -> impl Iterator<Item = Table> + '_ {
        let (levels, cells, general) = match &self.0 {
            Layout::Regular { levels, cells } => (*levels, *cells, [].as_slice()),
            Layout::General(tables) => (0, 0, &**tables),
        };
        let regular = (0..levels).map(move |level| Table { share: regular_share(level, levels), cells });
        regular.chain(general.iter().copied())
    }

    /// The bits of each table.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = core::ops::Range<usize>> + '_ {
        let mut start = 0;
        self.tables().map(move |table| {
            let range = start..start + table.cells as usize;
            start = range.end;
            range
        })
    }

    /// 64-bit words that hold the cells.
    pub(crate) fn words(&self) -> usize {
        self.cells().div_ceil(64)
    }

    /// How to find the cells of items.
    pub(crate) fn placement(&self) -> Placement {
        match &self.0 {
            Layout::Regular { levels, cells } => Placement::Regular { levels: *levels, cells: *cells },
            Layout::General(tables) => Placement::General(runs(tables)),
        }
    }
}

/// The share of a level of a regular shape.
const fn regular_share(level: u8, levels: u8) -> u64 {
    if level + 1 == levels { 1 << (64 - levels) } else { 1 << (62 - level) }
}

fn check_tables(tables: impl Iterator<Item = Table>) -> Result<(), ShapeError> {
    let (mut shares, mut cells) = (0_u128, 0_u64);
    for (index, Table { share, cells: m }) in tables.enumerate() {
        if share == 0 {
            return Err(ShapeError::EmptyShare { table: index });
        }
        // Each cell must be hit with probability share / 2^63 / m < 1/2.
        if u128::from(m) << 62 <= u128::from(share) {
            let least = u32::try_from((share >> 62) + 1).unwrap_or(u32::MAX);
            return Err(ShapeError::FewCells { table: index, least, found: m });
        }
        shares += u128::from(share);
        cells += u64::from(m);
    }
    if shares != u128::from(F0Shape::WHOLE) {
        return Err(ShapeError::Shares { found: shares });
    }
    if cells > u64::from(F0Shape::MAX_CELLS) {
        return Err(ShapeError::ManyCells { found: cells });
    }
    Ok(())
}

impl Default for F0Shape {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl fmt::Display for F0Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Layout::Regular { levels, cells } => write!(f, "{levels} x {cells}"),
            Layout::General(tables) => write!(f, "{} tables of {} cells", tables.len(), self.cells()),
        }
    }
}

impl fmt::Debug for F0Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "F0Shape({self})")
    }
}

/// How the 128 bits of an item choose its cell.
#[derive(Clone, Debug)]
pub(crate) enum Placement {
    Regular { levels: u8, cells: u32 },
    General(Box<[Run]>),
}

/// The numbers below 2⁶³ that choose one table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    /// The last of them.
    last: u64,
    /// The first bit of the table.
    offset: usize,
    cells: u32,
}

fn runs(tables: &[Table]) -> Box<[Run]> {
    let (mut end, mut offset) = (0, 0);
    let run = |table: &Table| {
        end += table.share;
        let run = Run { last: end - 1, offset, cells: table.cells };
        offset += table.cells as usize;
        run
    };
    tables.iter().map(run).collect()
}

impl Placement {
    /// The bit of an item.
    #[inline]
    pub(crate) fn cell(&self, hash: [u64; 2]) -> usize {
        match self {
            Self::Regular { levels, cells } => regular_cell(hash, *levels, *cells),
            Self::General(runs) => general_cell(hash, runs),
        }
    }
}

/// Bit `level · cells + bucket` of a regular shape.
#[inline]
pub(crate) fn regular_cell([h1, h2]: [u64; 2], levels: u8, cells: u32) -> usize {
    usize::from(level_leading(h1, levels)) * cells as usize + bucket_multiply_shift(upper_half(h2), cells) as usize
}

/// A regular shape, prepared for many items: the first half is done to many hashes at once, the second to one by one.
#[derive(Clone, Debug)]
pub(crate) struct RegularCells {
    /// The first cell of the level of each number of leading zeros.
    starts: [u32; 64],
    cells: u32,
}

impl RegularCells {
    pub(crate) fn new(levels: u8, cells: u32) -> Self {
        let last = u32::from(levels.saturating_sub(1));
        let mut starts = [0; 64];
        for (zeros, start) in (0..).zip(&mut starts) {
            // Below 2^26, the most cells of a shape.
            *start = last.min(zeros) * cells;
        }
        Self { starts, cells }
    }

    /// A number with at most 63 leading zeros in the place of `h1`, and the bucket.
    #[inline]
    pub(crate) fn prepare(&self, [h1, h2]: [u64; 2]) -> [u64; 2] {
        [h1 | 1, ((h2 >> 32) * u64::from(self.cells)) >> 32]
    }

    /// The cell of what was prepared.
    #[inline]
    pub(crate) fn cell(&self, [number, bucket]: [u64; 2]) -> usize {
        self.starts[number.leading_zeros() as usize % 64] as usize + low_half(bucket) as usize
    }
}

/// A number below 2³².
#[inline]
const fn low_half(word: u64) -> u32 {
    (word & 0xffff_ffff) as u32
}

#[inline]
pub(crate) fn general_cell([h1, h2]: [u64; 2], runs: &[Run]) -> usize {
    let number = !h1 >> 1;
    // The last run ends with the last number, so there is always one.
    let index = runs.partition_point(|run| run.last < number).min(runs.len() - 1);
    let run = runs[index];
    run.offset + bucket_multiply_shift(upper_half(h2), run.cells) as usize
}

/// The upper 32 bits.
#[inline]
const fn upper_half(word: u64) -> u32 {
    (word >> 32) as u32
}

#[cfg(test)]
mod tests;
