//! Several values that are one item together.

use crate::{Domain, Item, KeyedHash};

/// 64 bits of a row: the first word of [`hash128_row`].
#[must_use]
pub fn hash64_row<'a, H: KeyedHash>(hash: &H, items: impl IntoIterator<Item = Item<'a>>) -> u64 {
    hash128_row(hash, items)[0]
}

/// 128 bits of a row, for items made of several columns.
///
/// A chain: starting from zeros, each item's 128 bits are appended to the state and hashed in [`Domain::Row`], and
/// the number of items closes it. Two rows are the same item if they have the same items in the same order; a row of
/// one item is not that item.
///
/// # Examples
/// ```
/// use sketch_hash::{DefaultHash, Item, hash64_row};
///
/// let hash = DefaultHash::default();
/// let row = |a, b| hash64_row(&hash, [Item::Text(a), Item::Text(b)]);
/// assert_ne!(row("ab", "c"), row("a", "bc"));
/// ```
#[must_use]
pub fn hash128_row<'a, H: KeyedHash>(hash: &H, items: impl IntoIterator<Item = Item<'a>>) -> [u64; 2] {
    let mut state = [0_u64; 2];
    let mut count = 0_u64;
    for item in items {
        let [first, second] = item.hash128(hash);
        state = absorb(hash, [state[0], state[1], first, second]);
        count += 1;
    }
    absorb(hash, [state[0], state[1], count, 0])
}

/// 128 bits of four words.
fn absorb<H: KeyedHash>(hash: &H, words: [u64; 4]) -> [u64; 2] {
    let mut bytes = [0; 32];
    for (chunk, word) in bytes.chunks_exact_mut(8).zip(words) {
        chunk.copy_from_slice(&word.to_le_bytes());
    }
    hash.hash128(Domain::Row, &bytes)
}
