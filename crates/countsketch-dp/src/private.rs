//! The private sketch.

use sketch_hash::HashId;

use crate::granularity::Granularity;
use crate::rows::RowHashes;
use crate::shape::CountSketchShape;

/// A private CountSketch: counters with noise, and where they come from. Immutable.
#[derive(Clone)]
pub struct PrivateCountSketch {
    shape: CountSketchShape,
    hash_id: HashId,
    rows: RowHashes,
    granularity: Granularity,
    cells: Vec<i64>,
    /// Of one cell, in squared grid units.
    noise_variance: f64,
}

impl core::fmt::Debug for PrivateCountSketch {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("PrivateCountSketch")
            .field("shape", &self.shape)
            .field("hash", &self.hash_id)
            .field("granularity", &self.granularity)
            .finish_non_exhaustive()
    }
}

impl PrivateCountSketch {
    /// The shape, which two sketches must share to be merged.
    #[must_use]
    pub const fn shape(&self) -> CountSketchShape {
        self.shape
    }

    /// Which hash function and key decided the cells.
    #[must_use]
    pub const fn hash_id(&self) -> HashId {
        self.hash_id
    }

    /// The unit of weights, and of cells.
    #[must_use]
    pub const fn granularity(&self) -> Granularity {
        self.granularity
    }

    /// The variance of the noise in one cell, in squared grid units.
    #[must_use]
    pub const fn noise_variance(&self) -> f64 {
        self.noise_variance
    }

    /// The noisy cells of one row, in grid units.
    pub(crate) fn cells(&self, row: usize) -> &[i64] {
        &self.cells[self.shape.row_range(row)]
    }

    /// The bucket of an item, known by its 64-bit hash, in a row, and its sign there.
    pub(crate) fn bucket_and_sign(&self, row: usize, key: u64) -> (usize, i64) {
        self.rows.bucket_and_sign(row, key)
    }

    /// Where items lie.
    pub(crate) const fn rows(&self) -> &RowHashes {
        &self.rows
    }
}
