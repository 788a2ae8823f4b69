//! The hash bits that place an item: 64, or 128 for several cells.

use sketch_hash::{Domain, Item, KeyedHash, hash64_unsigned};
use zeroize::Zeroize;

/// Hash bits of one item.
pub(crate) trait Digest: Copy + Zeroize + Send + Sync {
    const ZERO: Self;

    fn of_item<H: KeyedHash>(hash: &H, item: &Item<'_>) -> Self;

    /// Of bytes, which are the same item as text or binary of those bytes.
    fn of_bytes<H: KeyedHash>(hash: &H, bytes: &[u8]) -> Self;

    /// Of integers, one hash each.
    fn of_integers<H: KeyedHash>(hash: &H, items: &[u64], out: &mut [Self]);

    /// Of byte strings, one hash each.
    fn of_slices<H: KeyedHash>(hash: &H, items: &[&[u8]], out: &mut [Self]);
}

impl Digest for u64 {
    const ZERO: Self = 0;

    #[inline]
    fn of_item<H: KeyedHash>(hash: &H, item: &Item<'_>) -> Self {
        item.hash64(hash)
    }

    #[inline]
    fn of_bytes<H: KeyedHash>(hash: &H, bytes: &[u8]) -> Self {
        hash.hash64(Domain::Bytes, bytes)
    }

    fn of_integers<H: KeyedHash>(hash: &H, items: &[u64], out: &mut [Self]) {
        hash64_unsigned(hash, items, out);
    }

    fn of_slices<H: KeyedHash>(hash: &H, items: &[&[u8]], out: &mut [Self]) {
        hash.hash64_slices(Domain::Bytes, items, out);
    }
}

impl Digest for [u64; 2] {
    const ZERO: Self = [0; 2];

    #[inline]
    fn of_item<H: KeyedHash>(hash: &H, item: &Item<'_>) -> Self {
        item.hash128(hash)
    }

    #[inline]
    fn of_bytes<H: KeyedHash>(hash: &H, bytes: &[u8]) -> Self {
        hash.hash128(Domain::Bytes, bytes)
    }

    fn of_integers<H: KeyedHash>(hash: &H, items: &[u64], out: &mut [Self]) {
        for (item, out) in items.iter().zip(out) {
            *out = Item::from(*item).hash128(hash);
        }
    }

    fn of_slices<H: KeyedHash>(hash: &H, items: &[&[u8]], out: &mut [Self]) {
        for (item, out) in items.iter().zip(out) {
            *out = hash.hash128(Domain::Bytes, item);
        }
    }
}
