//! The loops behind batched updates, one row at a time.

use core::iter;

use multiversion::multiversion;
use zeroize::Zeroizing;

use crate::row_hash::{RowHash, bucket_of, place};

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

/// Items whose hashes are computed together, by vector instructions, before their cells are touched: as many as a processor
/// holds in flight, so that it computes the next hashes while it waits for the cells of these.
const RUN: usize = 32;

/// Adds items to the cells of one row. Every sum is known to fit.
pub(crate) fn add_row(row: RowHash, cells: &mut [i64], keys: &[u64], weights: Weights<'_>) {
    match weights {
        Weights::Ones => add_ones(row, cells, keys),
        Weights::Each(weights) => add_each(row, cells, keys, weights),
    }
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn add_ones(row: RowHash, cells: &mut [i64], keys: &[u64]) {
    let (runs, rest) = keys.as_chunks();
    add_runs(row, cells, runs.iter().zip(iter::repeat(())), |(), _, hash| sign(hash));
    add_rest(row, cells, rest.iter().map(|&key| (key, 1)));
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn add_each(row: RowHash, cells: &mut [i64], keys: &[u64], weights: &[i64]) {
    let ((runs, rest), (weight_runs, rest_weights)) = (keys.as_chunks(), weights.as_chunks::<RUN>());
    add_runs(row, cells, runs.iter().zip(weight_runs), |weights, item, hash| signed(weights[item], hash));
    add_rest(row, cells, rest.iter().copied().zip(rest_weights.iter().copied()));
}

/// Adds full runs. Where the width is a power of two, `⌊hash · width / 2³²⌋` is a shift.
#[expect(clippy::inline_always, reason = "compiled once for each instruction set")]
#[inline(always)]
fn add_runs<'a, W: Copy>(
    row: RowHash,
    cells: &mut [i64],
    runs: impl Iterator<Item = (&'a [u64; RUN], W)>,
    value: impl Fn(W, usize, u32) -> i64,
) {
    let width = cells.len() as u64;
    if width.is_power_of_two() {
        let shift = 32 - width.trailing_zeros();
        add_placed(row, cells, runs, |hash| hash >> shift, value);
    } else {
        add_placed(row, cells, runs, |hash| bucket_of(hash.into(), width), value);
    }
}

#[expect(clippy::inline_always, reason = "compiled once for each instruction set")]
#[inline(always)]
fn add_placed<'a, W: Copy>(
    row: RowHash,
    cells: &mut [i64],
    runs: impl Iterator<Item = (&'a [u64; RUN], W)>,
    bucket: impl Fn(u32) -> u32,
    value: impl Fn(W, usize, u32) -> i64,
) {
    let mut hashes = Zeroizing::new([0; RUN]);
    for (keys, weights) in runs {
        for (hash, &key) in hashes.iter_mut().zip(keys) {
            *hash = row.hash_word(key);
        }
        for (item, &hash) in hashes.iter().enumerate() {
            cells[bucket(hash) as usize] += value(weights, item, hash);
        }
    }
}

fn add_rest(row: RowHash, cells: &mut [i64], items: impl Iterator<Item = (u64, i64)>) {
    for (key, weight) in items {
        let (bucket, sign) = place(row.hash(key), cells.len() as u64);
        cells[bucket] += sign * weight;
    }
}

/// The sign of a hash, from its lowest bit.
#[expect(clippy::inline_always, reason = "compiled once for each instruction set")]
#[inline(always)]
const fn sign(hash: u32) -> i64 {
    -((hash & 1) as i64) | 1
}

/// A weight above −2⁶³ times the sign of a hash, without a multiplication.
#[expect(clippy::inline_always, reason = "compiled once for each instruction set")]
#[inline(always)]
const fn signed(weight: i64, hash: u32) -> i64 {
    let negative = -((hash & 1) as i64);
    (weight ^ negative) - negative
}

#[cfg(test)]
mod tests {
    use sketch_hash::HashKey;

    use super::*;

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
    fn runs_are_single_items() {
        let row = RowHash::new(HashKey::DEFAULT, 7);
        let keys: Vec<u64> = (0..1000_u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let large: Vec<i64> = (0..1000).map(|n| (n % 17 - 8) * (i64::MAX / 8_000)).collect();
        for width in [2, 3, 1000, 4096, 1 << 16, (1 << 16) + 1, 1 << 24] {
            for items in [0, 1, RUN - 1, RUN, RUN + 1, 1000] {
                let keys = &keys[..items];
                for weights in [Weights::Ones, Weights::Each(&large[..items])] {
                    let mut cells = vec![0; width];
                    add_row(row, &mut cells, keys, weights);
                    assert!(cells == plain(row, width, keys, weights), "width {width}, {items} items");
                }
            }
        }
    }

    #[test]
    fn the_largest_weights_keep_their_sign() {
        for (hash, expected) in [(0, 1), (1, -1), (u32::MAX - 1, 1), (u32::MAX, -1)] {
            assert_eq!(sign(hash), expected);
            for weight in [0, 1, -1, 8, i64::MAX, -i64::MAX] {
                assert_eq!(signed(weight, hash), expected * weight);
            }
        }
    }
}
