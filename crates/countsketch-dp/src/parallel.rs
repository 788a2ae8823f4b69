//! Building with several threads.

use rayon::prelude::*;
use sketch_hash::{KeyedHash, hash64_unsigned};
use zeroize::Zeroizing;

use crate::error::UpdateError;
use crate::kernel::Weights;
use crate::sketch::{CountSketch, check_lengths};

/// Items a task hashes at least.
const MIN_ITEMS: usize = 1 << 14;

/// Items whose hashes are held at a time: 32 MiB of them.
const HELD: usize = 1 << 22;

impl<H: KeyedHash + Send + Sync> CountSketch<H> {
    /// As [`update_u64_batch`](Self::update_u64_batch) on the threads of the current rayon pool, with the same result to the
    /// last byte: each thread takes whole rows, so that none waits for another.
    ///
    /// # Errors
    /// As [`update`](Self::update); none of the items is added then.
    ///
    /// # Examples
    /// ```
    /// use countsketch_dp::{ContributionBound, CountSketch, CountSketchShape};
    /// use countsketch_dp::sketch_hash::DefaultHash;
    /// let shape = CountSketchShape::new(5, 1024)?;
    /// let mut parallel = CountSketch::new(shape, DefaultHash::default(), ContributionBound::UNIT_ENTRY);
    /// let mut sequential = parallel.clone();
    /// let items: Vec<u64> = (0..100_000).collect();
    /// parallel.par_update_u64_batch(&items)?;
    /// sequential.update_u64_batch(&items)?;
    /// assert_eq!(parallel, sequential);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn par_update_u64_batch(&mut self, items: &[u64]) -> Result<(), UpdateError> {
        self.par_update(items, Weights::Ones)
    }

    /// As [`update_u64_weighted`](Self::update_u64_weighted) on the threads of the current rayon pool, with the same result
    /// to the last byte.
    ///
    /// # Errors
    /// As [`update_u64_weighted`](Self::update_u64_weighted); nothing is added then.
    pub fn par_update_u64_weighted(&mut self, items: &[u64], weights: &[i64]) -> Result<(), UpdateError> {
        check_lengths(items.len(), weights.len())?;
        self.par_update(items, Weights::Each(weights))
    }

    fn par_update(&mut self, items: &[u64], weights: Weights<'_>) -> Result<(), UpdateError> {
        self.check_weights(weights)?;
        // Only sums that certainly fit may be added in several steps: a refused batch adds nothing.
        let held = if self.table.can_add(weights.mass(items.len())) { HELD } else { items.len().max(1) };
        let mut keys = Zeroizing::new(vec![0; held.min(items.len())]);
        let mut start = 0;
        for items in items.chunks(held) {
            let keys = &mut keys[..items.len()];
            let hash = self.hash().clone();
            keys.par_chunks_mut(MIN_ITEMS).zip(items.par_chunks(MIN_ITEMS)).for_each(|(keys, items)| {
                hash64_unsigned(&hash, items, keys);
            });
            self.table.par_update_all(keys, weights.part(start, items.len()))?;
            start += items.len();
        }
        Ok(())
    }
}
