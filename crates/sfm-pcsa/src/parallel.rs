//! Building with several threads.

use rayon::prelude::*;
use sketch_hash::KeyedHash;

use crate::shape::BitmapShape;
use crate::sketch::RawBitmap;

/// Items a task takes at least, so that merging its sketch does not show.
const MIN_ITEMS: usize = 1 << 16;

impl<S: BitmapShape, H: KeyedHash + Send + Sync> RawBitmap<S, H> {
    /// As [`update_u64_batch`](Self::update_u64_batch) on the threads of the current rayon pool, with the same result to
    /// the last byte: each task fills a sketch of its own, and sketches merge by OR in any order.
    ///
    /// # Examples
    /// ```
    /// use sfm_pcsa::{PcsaShape, PcsaSketch};
    /// use sfm_pcsa::sketch_hash::DefaultHash;
    /// let items: Vec<u64> = (0..1_000_000).collect();
    /// let mut parallel = PcsaSketch::new(PcsaShape::DEFAULT, DefaultHash::default());
    /// let mut sequential = parallel.clone();
    /// parallel.par_update_u64_batch(&items);
    /// sequential.update_u64_batch(&items);
    /// assert_eq!(parallel, sequential);
    /// ```
    pub fn par_update_u64_batch(&mut self, items: &[u64]) {
        self.par_update(items, Self::update_u64_batch);
    }

    /// As [`update_batch`](Self::update_batch) on the threads of the current rayon pool, with the same result to the
    /// last byte.
    pub fn par_update_batch(&mut self, items: &[&[u8]]) {
        self.par_update(items, Self::update_batch);
    }

    fn par_update<T: Sync>(&mut self, items: &[T], update: impl Fn(&mut Self, &[T]) + Sync) {
        let size = items.len().div_ceil(rayon::current_num_threads()).max(MIN_ITEMS);
        let empty = Self::new(self.shape(), self.hash().clone());
        let parts = items.par_chunks(size).map(|chunk| {
            let mut part = empty.clone();
            update(&mut part, chunk);
            part
        });
        if let Some(built) = parts.reduce_with(|mut joined, part| {
            joined.or_cells(&part);
            joined
        }) {
            self.or_cells(&built);
        }
    }
}
