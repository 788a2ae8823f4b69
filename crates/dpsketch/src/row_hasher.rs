use sketch_hash::{AnyHash, Item, KeyedHash, hash64_row};
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
            1 => items.last().map(|item| item.hash64(&self.hash)),
            _ => Some(hash64_row(&self.hash, items)),
        };
        hash.filter(|_| !missing)
    }
}
