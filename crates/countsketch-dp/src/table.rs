//! The cells, and how updates reach them.

use sketch_hash::HashId;
use zeroize::Zeroize;

use crate::error::UpdateError;
use crate::rows::RowHashes;
use crate::shape::CountSketchShape;

/// Counters of a raw sketch, row after row, in ±(2⁶³ − 1). Wiped when dropped.
#[derive(Clone)]
pub(crate) struct Table {
    shape: CountSketchShape,
    rows: RowHashes,
    cells: Vec<i64>,
    /// No cell is larger than this in absolute value.
    mass: u64,
}

/// The largest absolute value of a cell. −2⁶³ is left out, so that everything can be negated.
const LIMIT: u64 = i64::MAX.unsigned_abs();

impl Table {
    pub(crate) fn new(shape: CountSketchShape, hash_id: HashId) -> Self {
        Self { shape, rows: RowHashes::new(shape, hash_id), cells: vec![0; shape.cells()], mass: 0 }
    }

    /// Stored cells, as many as the shape has; `None` if one is −2⁶³.
    pub(crate) fn from_cells(shape: CountSketchShape, hash_id: HashId, cells: &[i64]) -> Option<Self> {
        let mut table = Self::new(shape, hash_id);
        table.cells.copy_from_slice(cells);
        table.mass = table.largest();
        (table.mass <= LIMIT).then_some(table)
    }

    pub(crate) const fn shape(&self) -> CountSketchShape {
        self.shape
    }

    pub(crate) const fn rows(&self) -> &RowHashes {
        &self.rows
    }

    pub(crate) fn cells(&self) -> &[i64] {
        &self.cells
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.cells.iter().all(|&cell| cell == 0)
    }

    /// The largest absolute value of a cell.
    fn largest(&self) -> u64 {
        self.cells.iter().map(|cell| cell.unsigned_abs()).max().unwrap_or(0)
    }

    /// Adds to the cells of one item; if one would leave the range, to none.
    pub(crate) fn update(&mut self, key: u64, weight: i64) -> Result<(), UpdateError> {
        let mass = self.mass.saturating_add(weight.unsigned_abs());
        if mass > LIMIT && !self.fits(key, weight) {
            return Err(UpdateError::CounterOverflow);
        }
        self.mass = mass.min(LIMIT);
        self.add(key, weight);
        Ok(())
    }

    /// Whether all cells of an item stay in range.
    fn fits(&self, key: u64, weight: i64) -> bool {
        weight != i64::MIN
            && self.rows.places(key).enumerate().all(|(row, (bucket, sign))| {
                let cell = self.cells[self.shape.row_range(row)][bucket];
                cell.checked_add(sign * weight).is_some_and(|sum| sum != i64::MIN)
            })
    }

    /// Adds to the cells of one item, which is known to keep them in range.
    fn add(&mut self, key: u64, weight: i64) {
        let width = self.cells.len() / self.rows.len();
        for ((bucket, sign), row) in self.rows.places(key).zip(self.cells.chunks_exact_mut(width)) {
            row[bucket] += sign * weight;
        }
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        self.cells.zeroize();
        self.mass.zeroize();
    }
}
