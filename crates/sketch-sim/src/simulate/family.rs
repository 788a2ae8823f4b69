//! What the simulator needs of each family of bitmaps: how distinct items fall.

use dp_noise::NoiseSource;
use sfm_pcsa::{BitmapShape, BloomShape, LegionsShape, LinearShape, PcsaShape};

use super::placement::Placement;

/// Hashes handed over at a time.
pub(crate) const BATCH: usize = 1 << 12;

/// A shape whose items can be drawn.
///
/// Distinct items have independent uniform hashes, and a sketch sees nothing else of them, so random words stand for
/// items: the product's own code places them.
pub(crate) trait Family: BitmapShape {
    /// Memory used again from trial to trial.
    type Items: Send;

    fn items(self) -> Self::Items;

    /// Hands the hashes of `n` distinct items to `add`, in batches.
    fn draw<R: NoiseSource>(items: &mut Self::Items, n: u64, random: &mut R, add: impl FnMut(&[Self::Digest]));
}

impl Family for PcsaShape {
    type Items = Placement;

    fn items(self) -> Placement {
        Placement::new(self)
    }

    fn draw<R: NoiseSource>(items: &mut Placement, n: u64, random: &mut R, add: impl FnMut(&[u64])) {
        items.place(n, random, add);
    }
}

impl Family for LinearShape {
    type Items = Vec<u64>;

    fn items(self) -> Vec<u64> {
        vec![0; BATCH]
    }

    fn draw<R: NoiseSource>(items: &mut Vec<u64>, n: u64, random: &mut R, add: impl FnMut(&[u64])) {
        hashes(items, n, random, add);
    }
}

impl Family for LegionsShape {
    type Items = Vec<u64>;

    fn items(self) -> Vec<u64> {
        vec![0; BATCH]
    }

    fn draw<R: NoiseSource>(items: &mut Vec<u64>, n: u64, random: &mut R, add: impl FnMut(&[u64])) {
        hashes(items, n, random, add);
    }
}

impl Family for BloomShape {
    type Items = Vec<u64>;

    fn items(self) -> Vec<u64> {
        vec![0; 2 * BATCH]
    }

    fn draw<R: NoiseSource>(items: &mut Vec<u64>, n: u64, random: &mut R, mut add: impl FnMut(&[[u64; 2]])) {
        hashes(items, 2 * n, random, |words| add(words.as_chunks().0));
    }
}

/// Random words, in batches of the length of `words`.
pub(crate) fn hashes<R: NoiseSource>(words: &mut [u64], n: u64, random: &mut R, mut add: impl FnMut(&[u64])) {
    let mut left = n;
    while left > 0 {
        let count = usize::try_from(left).unwrap_or(words.len()).min(words.len());
        let batch = &mut words[..count];
        random.fill_words(batch);
        add(batch);
        left -= batch.len() as u64;
    }
}
