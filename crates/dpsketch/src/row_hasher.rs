use sketch_hash::{AnyHash, Item, KeyedHash, hash64_row, hash128_row};
use zeroize::Zeroize;

use crate::builder::clean;
use crate::text::TextRules;

/// Turns rows of one or several values into the hash of one item.
pub(crate) struct RowHasher {
    hash: AnyHash,
    rules: TextRules,
    /// Cleaned text, one a column; used again from row to row.
    buffers: Vec<String>,
}

/// No text and no key.
impl core::fmt::Debug for RowHasher {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("RowHasher").field("hash", &self.hash.id()).finish_non_exhaustive()
    }
}

impl Drop for RowHasher {
    fn drop(&mut self) {
        self.buffers.zeroize();
    }
}

impl RowHasher {
    pub(crate) fn new(hash: AnyHash, rules: TextRules) -> Self {
        Self { hash, rules, buffers: Vec::new() }
    }

    pub(crate) fn hash_function(&self) -> &AnyHash {
        &self.hash
    }

    pub(crate) fn rules(&self) -> &TextRules {
        &self.rules
    }

    /// The hash of the value itself if there is one, else of all of them together; `None` when any is missing.
    pub(crate) fn hash<'a>(
        &mut self,
        values: impl IntoIterator<Item = Option<Item<'a>>, IntoIter: ExactSizeIterator>,
    ) -> Option<u64> {
        self.digest::<Word>(values)
    }

    /// The same in 128 bits.
    pub(crate) fn hash128<'a>(
        &mut self,
        values: impl IntoIterator<Item = Option<Item<'a>>, IntoIter: ExactSizeIterator>,
    ) -> Option<[u64; 2]> {
        self.digest::<TwoWords>(values)
    }

    fn digest<'a, D: Digest>(
        &mut self,
        values: impl IntoIterator<Item = Option<Item<'a>>, IntoIter: ExactSizeIterator>,
    ) -> Option<D::Output> {
        let values = values.into_iter();
        let columns = values.len();
        self.buffers.resize_with(columns.max(self.buffers.len()), String::new);
        let mut missing = columns == 0;
        let items = self.buffers.iter_mut().zip(values).map_while(|(buffer, value)| {
            let item = value.and_then(|item| clean(&self.rules, item, buffer));
            missing |= item.is_none();
            item
        });
        let hash = match columns {
            1 => items.last().map(|item| D::of_item(&self.hash, &item)),
            _ => Some(D::of_row(&self.hash, items)),
        };
        hash.filter(|_| !missing)
    }
}

/// How much of a hash is wanted.
trait Digest {
    type Output;

    fn of_item(hash: &AnyHash, item: &Item<'_>) -> Self::Output;

    fn of_row<'a>(hash: &AnyHash, items: impl Iterator<Item = Item<'a>>) -> Self::Output;
}

/// 64 bits.
struct Word;

impl Digest for Word {
    type Output = u64;

    fn of_item(hash: &AnyHash, item: &Item<'_>) -> u64 {
        item.hash64(hash)
    }

    fn of_row<'a>(hash: &AnyHash, items: impl Iterator<Item = Item<'a>>) -> u64 {
        hash64_row(hash, items)
    }
}

/// 128 bits.
struct TwoWords;

impl Digest for TwoWords {
    type Output = [u64; 2];

    fn of_item(hash: &AnyHash, item: &Item<'_>) -> [u64; 2] {
        item.hash128(hash)
    }

    fn of_row<'a>(hash: &AnyHash, items: impl Iterator<Item = Item<'a>>) -> [u64; 2] {
        hash128_row(hash, items)
    }
}
