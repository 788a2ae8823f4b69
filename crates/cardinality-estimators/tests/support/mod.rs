//! A small seeded generator and exact draws of sketches, for tests only.

use cardinality_estimators::{BitChannel, CellLayout, LevelCounts};

#[path = "random.rs"]
mod random;

pub(crate) use random::Random;

/// The levels of every bucket (bit `j` set: level `j` was hit) after `n` distinct items fall in one cell each.
pub(crate) fn place(random: &mut Random, bucket_bits: u32, levels: u8, n: u64) -> Vec<u64> {
    let mut table = vec![0_u64; 1 << bucket_bits];
    for _ in 0..n {
        let hash = random.bits() | (1 << (levels - 1));
        // The bucket from the top bits, the level from the trailing zeros; the sentinel folds the tail into the last level.
        let bucket = usize::try_from(hash >> (64 - bucket_bits)).unwrap();
        table[bucket] |= hash & hash.wrapping_neg();
    }
    table
}

/// How many cells of each level read one, each cell seen through `channel` on its own.
pub(crate) fn read(random: &mut Random, table: &[u64], levels: u8, channel: BitChannel) -> Vec<u64> {
    let one = |random: &mut Random, bit: bool| u64::from(random.chance(if bit { channel.p() } else { channel.q() }));
    (0..levels).map(|level| table.iter().map(|word| one(random, (word >> level) & 1 == 1)).sum()).collect()
}

/// A sketch of `n` items of the layout, noise included.
pub(crate) fn sketch(random: &mut Random, bucket_bits: u32, levels: u8, n: u64, channel: BitChannel) -> LevelCounts {
    let table = place(random, bucket_bits, levels, n);
    let ones = read(random, &table, levels, channel);
    CellLayout::pcsa(1 << bucket_bits, levels).unwrap().counts(&ones, channel).unwrap()
}

/// Symmetric randomised response at `epsilon`, or no noise when it is infinite.
pub(crate) fn response(epsilon: f64) -> BitChannel {
    BitChannel::symmetric(1.0 / (1.0 + epsilon.exp())).unwrap()
}
