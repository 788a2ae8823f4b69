//! A change of the estimates: how much of it makes the residual smallest, if any.

use super::residual::Residual;
use crate::row_hash::{RowHash, place};

/// Parts of a step that are tried.
const PARTS: u32 = 8;

/// The sketch of a change, and how large the residual is after eighths of it, by `Σ min(r², c²)`.
pub(super) struct Step {
    cells: Vec<f64>,
    /// After 0, 1, … , 8 eighths.
    sizes: [f64; PARTS as usize + 1],
}

impl Step {
    /// The step that changes the estimates of keys so much; residual cells count up to `bound`.
    pub(super) fn towards(residual: &Residual<'_>, keys: &[u64], changes: &[f64], bound: f64) -> Self {
        let moved = keys.iter().zip(changes).filter(|(_, change)| change.abs() > 0.0);
        let moved: Vec<(u64, f64)> = moved.map(|(&key, &change)| (key, change)).collect();
        let mut cells = vec![0.0; residual.cells.len()];
        let rows = residual.sketch.rows();
        each_row(&mut cells, residual.width(), |row, cells| add(rows.row(row), &moved, cells));
        let sizes = sizes(residual, &cells, bound);
        Self { cells, sizes }
    }

    /// The eighth with the smallest residual, if that is at most `progress` of what it was.
    pub(super) fn accepted(&self, progress: f64) -> Option<f64> {
        let mut sizes = (0..=PARTS).zip(self.sizes);
        let (_, before) = sizes.next()?;
        let (part, after) = sizes.min_by(|a, b| a.1.total_cmp(&b.1))?;
        (after < before && after <= progress * before).then(|| share(part))
    }

    /// Takes so much of the step off the residual.
    pub(super) fn apply(&self, residual: &mut Residual<'_>, share: f64) {
        residual.subtract(&self.cells, share);
    }
}

fn share(part: u32) -> f64 {
    f64::from(part) / f64::from(PARTS)
}

/// Row by row, so that the order of a sum is always the same.
fn sizes(residual: &Residual<'_>, change: &[f64], bound: f64) -> [f64; PARTS as usize + 1] {
    let mut total = [0.0; PARTS as usize + 1];
    let width = residual.width();
    for (cells, change) in residual.cells.chunks(width).zip(change.chunks(width)) {
        let mut of_row = [0.0; PARTS as usize + 1];
        for (cell, change) in cells.iter().zip(change) {
            for (size, part) in of_row.iter_mut().zip(0..) {
                let left = (cell - share(part) * change).abs().min(bound);
                *size += left * left;
            }
        }
        for (total, row) in total.iter_mut().zip(of_row) {
            *total += row;
        }
    }
    total
}

fn add(hash: RowHash, changes: &[(u64, f64)], cells: &mut [f64]) {
    let width = cells.len() as u64;
    for &(key, change) in changes {
        let (bucket, sign) = place(hash.hash(key), width);
        if let Some(cell) = cells.get_mut(bucket) {
            *cell += if sign < 0 { -change } else { change };
        }
    }
}

#[cfg(not(feature = "rayon"))]
fn each_row(cells: &mut [f64], width: usize, fill: impl Fn(usize, &mut [f64])) {
    cells.chunks_exact_mut(width).enumerate().for_each(|(row, cells)| fill(row, cells));
}

#[cfg(feature = "rayon")]
fn each_row(cells: &mut [f64], width: usize, fill: impl Fn(usize, &mut [f64]) + Sync) {
    use rayon::prelude::*;
    cells.par_chunks_exact_mut(width).enumerate().for_each(|(row, cells)| fill(row, cells));
}
