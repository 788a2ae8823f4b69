//! The loops behind batched updates, one row at a time.

use sketch_hash::MultiplyShift;
use zeroize::Zeroizing;

use crate::rows::place;

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

/// Adds items to the cells of one row. Every sum is known to fit.
pub(crate) fn add_row(row: &MultiplyShift, cells: &mut [i64], keys: &[u64], weights: Weights<'_>) {
    if cells.len() >= TILED && keys.len() >= MIN_TILED {
        return add_row_tiled(row, cells, keys, weights);
    }
    let width = cells.len() as u64;
    match weights {
        Weights::Ones => {
            for &key in keys {
                let (bucket, sign) = place(row.hash(key), width);
                cells[bucket] += sign;
            }
        }
        Weights::Each(weights) => {
            for (&key, &weight) in keys.iter().zip(weights) {
                let (bucket, sign) = place(row.hash(key), width);
                cells[bucket] += sign * weight;
            }
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

/// As [`add_row`] for wide rows: items are first sorted by the part of the row that they fall into, so that each part is
/// loaded once for all of its items and not once for each.
fn add_row_tiled(row: &MultiplyShift, cells: &mut [i64], keys: &[u64], weights: Weights<'_>) {
    let tiles = cells.len().div_ceil(1 << TILE_BITS);
    let mut hashes = Zeroizing::new(vec![0_u32; TILED_ITEMS.min(keys.len())]);
    let mut sorted = Zeroizing::new(vec![(0_u32, 0_i64); hashes.len()]);
    let mut starts = vec![0_usize; tiles + 1];
    let width = cells.len() as u64;
    let mut start = 0;
    for keys in keys.chunks(TILED_ITEMS) {
        let weights = weights.part(start, keys.len());
        start += keys.len();
        // Bucket and sign in 32 bits: a row has at most 2^24 buckets.
        starts.fill(0);
        for (packed, &key) in hashes.iter_mut().zip(keys) {
            let (bucket, sign) = place(row.hash(key), width);
            *packed = u32::try_from(bucket << 1).unwrap_or(u32::MAX) | u32::from(sign < 0);
            starts[(bucket >> TILE_BITS) + 1] += 1;
        }
        for tile in 1..tiles {
            starts[tile] += starts[tile - 1];
        }
        for (item, &packed) in hashes[..keys.len()].iter().enumerate() {
            let bucket = packed >> 1;
            let sign = 1 - 2 * i64::from(packed & 1);
            let next = &mut starts[(bucket >> TILE_BITS) as usize];
            sorted[*next] = (bucket, sign * weights.at(item));
            *next += 1;
        }
        for &(bucket, value) in &sorted[..keys.len()] {
            cells[bucket as usize] += value;
        }
    }
}

#[cfg(test)]
mod tests {
    use sketch_hash::HashKey;

    use super::*;

    /// Item by item, from the definition.
    fn plain(row: &MultiplyShift, width: usize, keys: &[u64], weights: Weights<'_>) -> Vec<i64> {
        let mut cells = vec![0; width];
        for (item, &key) in keys.iter().enumerate() {
            let bucket = usize::try_from(row.bucket(key, width as u64)).unwrap();
            cells[bucket] += row.sign(key) * weights.at(item);
        }
        cells
    }

    #[test]
    fn tiles_and_rows_give_the_same_sums() {
        let row = MultiplyShift::new(HashKey::DEFAULT, 7);
        let keys: Vec<u64> = (0..70_000_u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let values: Vec<i64> = (0..70_000).map(|n| n % 17 - 8).collect();
        for width in [2, 1000, 4096, TILED - 1, TILED, TILED + 4095, 3 * TILED + 1] {
            for weights in [Weights::Ones, Weights::Each(&values)] {
                let mut cells = vec![0; width];
                add_row(&row, &mut cells, &keys, weights);
                assert!(cells == plain(&row, width, &keys, weights), "width {width}");
            }
        }
    }
}
