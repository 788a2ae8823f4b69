//! The loops behind batched updates, one row at a time.

use zeroize::Zeroizing;

use crate::row_hash::{Placed, RowHash};

/// Weights of a batch of items.
#[derive(Clone, Copy)]
pub(crate) enum Weights<'a> {
    /// Each item weighs 1.
    Ones,
    /// One weight for each item.
    Each(&'a [i64]),
}

impl Weights<'_> {
    /// The sum of the absolute values.
    pub(crate) fn mass(self, items: usize) -> u128 {
        match self {
            Self::Ones => items as u128,
            Self::Each(weights) => weights.iter().map(|weight| u128::from(weight.unsigned_abs())).sum(),
        }
    }

    /// Those of `items` items from `start` on.
    pub(crate) fn part(self, start: usize, items: usize) -> Self {
        match self {
            Self::Ones => Self::Ones,
            Self::Each(weights) => Self::Each(&weights[start..start + items]),
        }
    }

    pub(crate) fn at(self, item: usize) -> i64 {
        match self {
            Self::Ones => 1,
            Self::Each(weights) => weights[item],
        }
    }
}

/// Rows from this width on, 512 KiB, do not stay in the cache that a core has for itself.
const TILED: usize = 1 << 16;
/// Cells of a tile, at most: 32 KiB.
const TILE_BITS: u32 = 12;
/// Items that are worth sorting by tile.
const MIN_TILED: usize = 1 << 12;
/// Items that are sorted together.
const TILED_ITEMS: usize = 1 << 15;
/// Items that are placed together otherwise: 3 KiB, beside a row in the first-level cache.
const ITEMS: usize = 1 << 8;

/// What batches need besides the cells. Wiped when dropped.
pub(crate) struct Scratch {
    placed: Placed,
    /// Items in the order of their tiles, and where each tile starts, for wide rows.
    sorted: Zeroizing<Vec<(u32, i64)>>,
    starts: Zeroizing<Vec<usize>>,
}

impl Scratch {
    /// For rows of this width, and batches of this many items.
    pub(crate) fn new(width: usize, items: usize) -> Self {
        let tiled = width >= TILED && items >= MIN_TILED;
        let room = items.min(if tiled { TILED_ITEMS } else { ITEMS });
        let (by_tile, count) = if tiled { (room, width.div_ceil(1 << TILE_BITS)) } else { (0, 0) };
        Self {
            placed: Placed::with_room(room),
            sorted: Zeroizing::new(vec![(0, 0); by_tile]),
            starts: Zeroizing::new(vec![0; count + 1]),
        }
    }

    /// Adds items to the cells of one row. Every sum is known to fit.
    pub(crate) fn add_row(&mut self, row: RowHash, cells: &mut [i64], keys: &[u64], weights: Weights<'_>) {
        let (width, room) = (cells.len() as u64, self.placed.room().max(1));
        let mut start = 0;
        for keys in keys.chunks(room) {
            let (buckets, values) = self.placed.place(row, width, keys, weights.part(start, keys.len()));
            start += keys.len();
            if self.sorted.is_empty() {
                for (&bucket, &value) in buckets.iter().zip(values) {
                    cells[bucket as usize] += value;
                }
            } else {
                add_by_tile(cells, buckets, values, &mut self.sorted, &mut self.starts);
            }
        }
    }
}

/// Sorts items by the part of the row that they fall into, then adds them, so that each part is loaded once for all of its
/// items and not once for each.
fn add_by_tile(cells: &mut [i64], buckets: &[u32], values: &[i64], sorted: &mut [(u32, i64)], starts: &mut [usize]) {
    starts.fill(0);
    for &bucket in buckets {
        starts[(bucket >> TILE_BITS) as usize + 1] += 1;
    }
    for tile in 1..starts.len() {
        starts[tile] += starts[tile - 1];
    }
    for (&bucket, &value) in buckets.iter().zip(values) {
        let next = &mut starts[(bucket >> TILE_BITS) as usize];
        sorted[*next] = (bucket, value);
        *next += 1;
    }
    for &(bucket, value) in &sorted[..buckets.len()] {
        cells[bucket as usize] += value;
    }
}

#[cfg(test)]
mod tests {
    use sketch_hash::HashKey;

    use super::*;
    use crate::row_hash::place;

    /// Item by item, from the definition.
    fn plain(row: RowHash, width: usize, keys: &[u64], weights: Weights<'_>) -> Vec<i64> {
        let mut cells = vec![0; width];
        for (item, &key) in keys.iter().enumerate() {
            let (bucket, sign) = place(row.hash(key), width as u64);
            cells[bucket] += sign * weights.at(item);
        }
        cells
    }

    #[test]
    fn tiles_and_rows_give_the_same_sums() {
        let row = RowHash::new(HashKey::DEFAULT, 7);
        let keys: Vec<u64> = (0..70_000_u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let values: Vec<i64> = (0..70_000).map(|n| n % 17 - 8).collect();
        for width in [2, 1000, 4096, TILED - 1, TILED, TILED + 4095, 3 * TILED + 1] {
            for weights in [Weights::Ones, Weights::Each(&values)] {
                let mut cells = vec![0; width];
                Scratch::new(width, keys.len()).add_row(row, &mut cells, &keys, weights);
                assert!(cells == plain(row, width, &keys, weights), "width {width}");
            }
        }
    }
}
