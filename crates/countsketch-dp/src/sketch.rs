//! The raw sketch.

use sketch_hash::{DefaultHash, Domain, HashId, Item, KeyedHash};

use crate::bound::ContributionBound;
use crate::error::UpdateError;
use crate::granularity::Granularity;
use crate::rows::RowHashes;
use crate::shape::CountSketchShape;
use crate::table::Table;

/// A raw CountSketch: counters of hashed items, linear in the data.
#[derive(Clone)]
pub struct CountSketch<H: KeyedHash = DefaultHash> {
    table: Table,
    hash: H,
    granularity: Granularity,
    bound: ContributionBound,
}

impl<H: KeyedHash> core::fmt::Debug for CountSketch<H> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("CountSketch")
            .field("shape", &self.shape())
            .field("hash", &self.hash_id())
            .field("granularity", &self.granularity)
            .field("bound", &self.bound)
            .finish_non_exhaustive()
    }
}

impl<H: KeyedHash> CountSketch<H> {
    /// The sketch of no data.
    #[must_use]
    pub fn new(shape: CountSketchShape, hash: H, bound: ContributionBound) -> Self {
        Self::with_granularity(shape, hash, bound, Granularity::ONE)
    }

    /// The sketch of no data, for weights on a grid.
    #[must_use]
    pub fn with_granularity(
        shape: CountSketchShape,
        hash: H,
        bound: ContributionBound,
        granularity: Granularity,
    ) -> Self {
        Self { table: Table::new(shape, hash.id()), hash, granularity, bound }
    }

    /// The shape.
    #[must_use]
    pub fn shape(&self) -> CountSketchShape {
        self.table.shape()
    }

    /// Which hash function and key decide the cells.
    #[must_use]
    pub fn hash_id(&self) -> HashId {
        self.hash.id()
    }

    /// The hash itself.
    #[must_use]
    pub fn hash(&self) -> &H {
        &self.hash
    }

    /// The unit of weights.
    #[must_use]
    pub const fn granularity(&self) -> Granularity {
        self.granularity
    }

    /// Adds a weight to an item.
    ///
    /// # Errors
    /// [`UpdateError::CounterOverflow`].
    pub fn update(&mut self, item: &[u8], weight: i64) -> Result<(), UpdateError> {
        self.update_hash(self.hash.hash64(Domain::Bytes, item), weight)
    }

    /// Adds a weight to an integer.
    ///
    /// # Errors
    /// As [`update`](Self::update).
    pub fn update_u64(&mut self, item: u64, weight: i64) -> Result<(), UpdateError> {
        self.update_hash(Item::from(item).hash64(&self.hash), weight)
    }

    /// Adds a weight to an item known by its hash.
    ///
    /// # Errors
    /// As [`update`](Self::update).
    pub fn update_hash(&mut self, key: u64, weight: i64) -> Result<(), UpdateError> {
        self.table.update(key, weight)
    }

    /// The cells of one row.
    pub(crate) fn cells(&self, row: usize) -> &[i64] {
        &self.table.cells()[self.shape().row_range(row)]
    }

    /// The bucket of an item in a row, and its sign.
    pub(crate) fn bucket_and_sign(&self, row: usize, key: u64) -> (usize, i64) {
        self.table.rows().bucket_and_sign(row, key)
    }

    pub(crate) fn rows(&self) -> &RowHashes {
        self.table.rows()
    }
}
