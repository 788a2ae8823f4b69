use std::sync::Arc;

use dp_noise::Subsampler;
use sfm_pcsa::{PcsaShape, PcsaSketch, SampleWriter};
use sketch_hash::{AnyHash, Domain, Item, KeyedHash};
use zeroize::Zeroizing;

use crate::error::Error;
use crate::row_hasher::RowHasher;
use crate::text::TextRules;

/// Items hashed in one go. Small enough for the stack and the first-level cache, large enough for vector code.
const BATCH: usize = 256;

/// How many rows a builder has seen. The data owner's business only: these numbers are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowCounts {
    /// All rows, nulls included.
    pub rows: u64,
    /// Rows left out because a value was missing.
    pub nulls: u64,
}

/// Builds a raw distinct-count sketch from values as they come.
///
/// Several builders with the same shape and hash can work on parts of the data; [`absorb`](Self::absorb) puts them
/// together, and the result is the same to the byte as that of one builder. A row of several columns is one item, made by
/// [`hash64_row`](sketch_hash::hash64_row); it is left out when any of its values is missing.
///
/// # Examples
/// ```
/// use dpsketch::{DistinctBuilder, TextRules};
/// use sfm_pcsa::PcsaShape;
/// use sketch_hash::AnyHash;
///
/// let mut builder = DistinctBuilder::new(PcsaShape::DEFAULT, AnyHash::default(), TextRules::default());
/// builder.push_texts(["ann", "bob", "ann"]);
/// builder.push_row([None]);
/// assert_eq!((builder.counts().rows, builder.counts().nulls), (4, 1));
/// ```
pub struct DistinctBuilder {
    sketch: PcsaSketch<AnyHash>,
    /// Which items are kept, where not all are.
    coins: Option<Arc<Subsampler>>,
    rows: RowHasher,
    counts: RowCounts,
}

/// Shape and hash only: what was counted, and how much, is raw.
impl core::fmt::Debug for DistinctBuilder {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("DistinctBuilder")
            .field("shape", &self.sketch.shape())
            .field("hash", &self.sketch.hash_id())
            .finish_non_exhaustive()
    }
}

impl DistinctBuilder {
    /// An empty sketch to be filled. `rules` apply to text only.
    #[must_use]
    pub fn new(shape: PcsaShape, hash: AnyHash, rules: TextRules) -> Self {
        let sketch = PcsaSketch::new(shape, hash.clone());
        Self { sketch, coins: None, rows: RowHasher::new(hash, rules), counts: RowCounts::default() }
    }

    /// For the items that a key keeps; see [`SampleBuilder`](crate::SampleBuilder), which says so by its type.
    pub(crate) fn of_sample(shape: PcsaShape, hash: AnyHash, rules: TextRules, coins: Arc<Subsampler>) -> Self {
        Self { coins: Some(coins), ..Self::new(shape, hash, rules) }
    }

    /// Rows seen so far.
    #[must_use]
    pub fn counts(&self) -> RowCounts {
        self.counts
    }

    /// Counts texts as items, one a row.
    pub fn push_texts<'a>(&mut self, texts: impl IntoIterator<Item = &'a str>) {
        if self.rows.rules().is_identity() {
            self.push_slices(texts.into_iter().map(str::as_bytes));
        } else {
            for text in texts {
                self.push_row([Some(Item::Text(text))]);
            }
        }
    }

    /// Counts byte strings as items, one a row. Text rules do not apply.
    pub fn push_slices<'a>(&mut self, slices: impl IntoIterator<Item = &'a [u8]>) {
        let mut slices = slices.into_iter();
        let mut batch: [&[u8]; BATCH] = [&[]; BATCH];
        let mut hashes = Zeroizing::new([0; BATCH]);
        loop {
            let filled = fill(&mut batch, &mut slices);
            self.rows.hash_function().hash64_slices(Domain::Bytes, &batch[..filled], &mut hashes[..filled]);
            self.push_hashes(&hashes[..filled]);
            if filled < BATCH {
                return;
            }
        }
    }

    /// Counts one row: the value itself if there is one column, else all of them together.
    pub fn push_row<'a>(&mut self, values: impl IntoIterator<Item = Option<Item<'a>>, IntoIter: ExactSizeIterator>) {
        match self.rows.hash(values) {
            Some(hash) => self.push_hashes(&[hash]),
            None => self.push_nulls(1),
        }
    }

    /// Counts rows that have no value.
    pub fn push_nulls(&mut self, rows: u64) {
        self.counts.rows += rows;
        self.counts.nulls += rows;
    }

    /// Takes over everything another builder has seen.
    ///
    /// # Errors
    /// [`ErrorKind::Incompatible`](crate::ErrorKind::Incompatible) when shapes or hashes differ.
    pub fn absorb(&mut self, other: &Self) -> Result<(), Error> {
        self.sketch.merge(&other.sketch)?;
        self.counts.rows += other.counts.rows;
        self.counts.nulls += other.counts.nulls;
        Ok(())
    }

    /// The raw sketch.
    #[must_use]
    pub fn finish(self) -> PcsaSketch<AnyHash> {
        self.sketch
    }

    #[cfg(feature = "arrow")]
    pub(crate) fn hash(&self) -> &AnyHash {
        self.rows.hash_function()
    }

    #[cfg(feature = "arrow")]
    pub(crate) fn rules(&self) -> &TextRules {
        self.rows.rules()
    }

    pub(crate) fn push_hashes(&mut self, hashes: &[u64]) {
        self.insert(hashes);
        self.counts.rows += hashes.len() as u64;
    }

    /// One value that stands in several rows.
    #[cfg(feature = "arrow")]
    pub(crate) fn push_hash_of_rows(&mut self, hash: u64, rows: u64) {
        self.insert(&[hash]);
        self.counts.rows += rows;
    }

    fn insert(&mut self, hashes: &[u64]) {
        match &self.coins {
            None => self.sketch.update_hashes(hashes),
            Some(coins) => SampleWriter::new(&mut self.sketch, coins).update_hashes(hashes),
        }
    }
}

/// Fills `batch` from the front; fewer than its length means that there is no more.
fn fill<T>(batch: &mut [T], values: &mut impl Iterator<Item = T>) -> usize {
    let mut filled = 0;
    for (slot, value) in batch.iter_mut().zip(values) {
        *slot = value;
        filled += 1;
    }
    filled
}

/// The item after the text rules, or `None` when they make it a missing value.
pub(crate) fn clean<'a>(rules: &TextRules, item: Item<'a>, buffer: &'a mut String) -> Option<Item<'a>> {
    match item {
        Item::Text(text) => rules.apply(text, buffer).map(Item::Text),
        other => Some(other),
    }
}
