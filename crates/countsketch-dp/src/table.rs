//! The cells, and how updates reach them.

use sketch_hash::HashId;
use zeroize::Zeroize;

use crate::error::UpdateError;
use crate::kernel::{Weights, add_row};
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

/// Items that pass over all rows together, at least: 64 KiB of hashes, in the second-level cache.
const MIN_BATCH: usize = 1 << 13;
/// Items that pass over all rows together, at most: 8 MiB of hashes.
const MAX_BATCH: usize = 1 << 20;

impl Table {
    pub(crate) fn new(shape: CountSketchShape, hash_id: HashId) -> Self {
        Self { shape, rows: RowHashes::new(shape, hash_id), cells: vec![0; shape.cells()], mass: 0 }
    }

    /// Cells as many as the shape has; `None` if one is −2⁶³.
    pub(crate) fn from_cells(shape: CountSketchShape, hash_id: HashId, cells: &[i64]) -> Option<Self> {
        let mut table = Self::new(shape, hash_id);
        table.cells.copy_from_slice(cells);
        table.mass = largest(&table.cells);
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

    /// Puts other cells, all above −2⁶³, in the place of these.
    pub(crate) fn replace_cells(&mut self, cells: Vec<i64>) {
        self.cells.zeroize();
        self.cells = cells;
        self.mass = largest(&self.cells);
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

    /// Adds to the cells of many items; if one would leave the range on the way, to none.
    pub(crate) fn update_all(&mut self, keys: &[u64], weights: Weights<'_>) -> Result<(), UpdateError> {
        if self.reserve(weights.mass(keys.len())) {
            let (width, batch) = (self.cells.len() / self.rows.len(), self.batch());
            let mut start = 0;
            for keys in keys.chunks(batch) {
                let weights = weights.part(start, keys.len());
                start += keys.len();
                for (row, cells) in self.cells.chunks_exact_mut(width).enumerate() {
                    add_row(self.rows.row(row), cells, keys, weights);
                }
            }
            return Ok(());
        }
        for (item, &key) in keys.iter().enumerate() {
            if let Err(error) = self.update(key, weights.at(item)) {
                // Sums that fitted on the way up fit on the way down.
                (0..item).rev().for_each(|item| self.add(keys[item], -weights.at(item)));
                return Err(error);
            }
        }
        Ok(())
    }

    /// As [`update_all`](Self::update_all), with the rows dealt out to the threads of the current rayon pool.
    #[cfg(feature = "rayon")]
    pub(crate) fn par_update_all(&mut self, keys: &[u64], weights: Weights<'_>) -> Result<(), UpdateError> {
        use rayon::prelude::*;
        if !self.reserve(weights.mass(keys.len())) {
            return self.update_all(keys, weights);
        }
        let width = self.cells.len() / self.rows.len();
        let rows = &self.rows;
        self.cells.par_chunks_exact_mut(width).enumerate().for_each(|(row, cells)| {
            add_row(rows.row(row), cells, keys, weights);
        });
        Ok(())
    }

    /// Adds to single cells, all different, without a sign; if one would leave the range, to none.
    pub(crate) fn add_at(&mut self, places: &[usize], weight: i64) -> Result<(), UpdateError> {
        let sum = |cell: i64| cell.checked_add(weight).filter(|&sum| sum != i64::MIN);
        if !self.reserve(u128::from(weight.unsigned_abs())) {
            if !places.iter().all(|&place| sum(self.cells[place]).is_some()) {
                return Err(UpdateError::CounterOverflow);
            }
            self.mass = LIMIT;
        }
        for &place in places {
            self.cells[place] += weight;
        }
        Ok(())
    }

    /// Adds all cells of another table times ±1; if a sum would leave the range, none.
    pub(crate) fn add_table(&mut self, other: &Self, sign: i64) -> Result<(), UpdateError> {
        // Cells are above −2⁶³, so that ±1 times one cannot overflow.
        let sum = |cell: i64, other: i64| cell.checked_add(sign * other).filter(|&sum| sum != i64::MIN);
        if !self.reserve(u128::from(other.mass)) {
            let fit = self.cells.iter().zip(&other.cells).all(|(&cell, &other)| sum(cell, other).is_some());
            if !fit {
                return Err(UpdateError::CounterOverflow);
            }
            self.mass = LIMIT;
        }
        for (cell, &other) in self.cells.iter_mut().zip(&other.cells) {
            *cell += sign * other;
        }
        Ok(())
    }

    /// Multiplies all cells; if a product would leave the range, none.
    pub(crate) fn scale(&mut self, factor: i64) -> Result<(), UpdateError> {
        let product = |cell: i64| cell.checked_mul(factor).filter(|&product| product != i64::MIN);
        if !self.cells.iter().all(|&cell| product(cell).is_some()) {
            return Err(UpdateError::CounterOverflow);
        }
        self.cells.iter_mut().for_each(|cell| *cell *= factor);
        self.mass = self.mass.saturating_mul(factor.unsigned_abs()).min(LIMIT);
        Ok(())
    }

    /// Whether no cell can leave the range by sums of this size; books them then.
    fn reserve(&mut self, mass: u128) -> bool {
        let fits = self.can_add(mass);
        if fits {
            self.mass = u64::try_from(u128::from(self.mass) + mass).unwrap_or(LIMIT);
        }
        fits
    }

    /// Whether no cell can leave the range by sums of this size.
    pub(crate) fn can_add(&mut self, mass: u128) -> bool {
        let fits = |held: u64| u128::from(held).saturating_add(mass) <= u128::from(LIMIT);
        if !fits(self.mass) {
            self.mass = largest(&self.cells);
        }
        fits(self.mass)
    }

    /// Items that pass over the rows together. A row comes from memory once for all of them: with four items a cell, most of
    /// the time goes to the items.
    pub(crate) fn batch(&self) -> usize {
        (self.cells.len() / self.rows.len()).saturating_mul(4).clamp(MIN_BATCH, MAX_BATCH)
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

/// The largest absolute value of a cell.
fn largest(cells: &[i64]) -> u64 {
    cells.iter().map(|cell| cell.unsigned_abs()).max().unwrap_or(0)
}

impl Drop for Table {
    fn drop(&mut self) {
        self.cells.zeroize();
        self.mass.zeroize();
    }
}
