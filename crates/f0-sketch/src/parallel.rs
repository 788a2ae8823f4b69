//! Building with several threads.

use rayon::prelude::*;
use sketch_hash::KeyedHash;

use crate::error::WeightError;
use crate::mode::Set;
use crate::sketch::F0Sketch;
use crate::weight::Weight;

/// Items a task takes at least, so that adding up its sketch does not show.
const MIN_ITEMS: usize = 1 << 16;

impl<H: KeyedHash + Send + Sync> F0Sketch<Set, H> {
    /// As [`toggle_u64_batch`](Self::toggle_u64_batch) on the threads of the current rayon pool, with the same result to
    /// the last byte: each task fills a sketch of its own, and sketches add up by xor in any order.
    ///
    /// # Examples
    /// ```
    /// use f0_sketch::{F0Shape, F0Sketch, WeightRule};
    /// use f0_sketch::sketch_hash::DefaultHash;
    /// let items: Vec<u64> = (0..1_000_000).collect();
    /// let mut parallel: F0Sketch = F0Sketch::new(F0Shape::DEFAULT, WeightRule::Unit, DefaultHash::default());
    /// let mut sequential = parallel.clone();
    /// parallel.par_toggle_u64_batch(&items);
    /// sequential.toggle_u64_batch(&items);
    /// assert_eq!(parallel, sequential);
    /// ```
    pub fn par_toggle_u64_batch(&mut self, items: &[u64]) {
        let size = task_size(items.len());
        self.par_toggle(items.par_chunks(size), Self::toggle_u64_batch);
    }

    /// As [`toggle_batch`](Self::toggle_batch) on the threads of the current rayon pool, with the same result to the last
    /// byte.
    pub fn par_toggle_batch(&mut self, items: &[&[u8]]) {
        let size = task_size(items.len());
        self.par_toggle(items.par_chunks(size), Self::toggle_batch);
    }

    /// As [`toggle_u64_batch_weighted`](Self::toggle_u64_batch_weighted) on the threads of the current rayon pool, with the
    /// same result to the last byte.
    ///
    /// # Errors
    /// As for [`toggle_u64_batch_weighted`](Self::toggle_u64_batch_weighted).
    ///
    /// # Panics
    /// Never: what could be wrong with the weights is checked before.
    pub fn par_toggle_u64_batch_weighted(&mut self, items: &[u64], weights: &[Weight]) -> Result<(), WeightError> {
        self.check_weights(items.len(), weights)?;
        let size = task_size(items.len());
        self.par_toggle(items.par_chunks(size).zip(weights.par_chunks(size)), |part, (items, weights)| {
            part.toggle_u64_batch_weighted(items, weights).expect("checked: weighted, and one weight for each item");
        });
        Ok(())
    }

    fn par_toggle<P>(&mut self, chunks: P, toggle: impl Fn(&mut Self, P::Item) + Sync)
    where
        P: IndexedParallelIterator,
    {
        let empty = Self::new(self.shape().clone(), self.weight_rule(), self.hash().clone());
        let parts = chunks.map(|chunk| {
            let mut part = empty.clone();
            toggle(&mut part, chunk);
            part
        });
        if let Some(built) = parts.reduce_with(|mut joined, part| {
            joined.cells.xor(&part.cells);
            joined
        }) {
            self.cells.xor(&built.cells);
        }
    }
}

fn task_size(items: usize) -> usize {
    items.div_ceil(rayon::current_num_threads()).max(MIN_ITEMS)
}
