//! Raw sketches of exact sets.

use sketch_hash::{Domain, Item, KeyedHash};

use crate::error::{MergeError, WeightError};
use crate::mode::Set;
use crate::sketch::F0Sketch;
use crate::weight::Weight;

/// Insertion, deletion and toggling are one operation: the item's cell is flipped.
///
/// So an item that is inserted twice is gone, and an absent item that is deleted is there: the input has to be free of
/// repetitions. Streams with repetitions take the mode [`Presampled`](crate::Presampled).
impl<H: KeyedHash> F0Sketch<Set, H> {
    /// Changes whether an item is in the set: bytes, where text counts by its UTF-8 bytes.
    ///
    /// In a sketch with weights the item has the largest one; see [`toggle_weighted`](Self::toggle_weighted).
    pub fn toggle(&mut self, item: &[u8]) {
        self.toggle_hash(self.hash().hash128(Domain::Bytes, item));
    }

    /// As [`toggle`](Self::toggle) for an integer; the same item as [`Item::Integer`] of that value.
    pub fn toggle_u64(&mut self, item: u64) {
        self.toggle_item(&Item::from(item));
    }

    /// As [`toggle`](Self::toggle) for a typed value.
    pub fn toggle_item(&mut self, item: &Item<'_>) {
        self.toggle_hash(item.hash128(self.hash()));
    }

    /// As [`toggle`](Self::toggle) for an item known by its hash. The caller answers for the hash being the one of
    /// [`hash_id`](Self::hash_id).
    #[inline]
    pub fn toggle_hash(&mut self, hash: [u64; 2]) {
        self.toggle_one(hash, Weight::ONE, 1);
    }

    /// Adds an item that is not in the set: [`toggle`](Self::toggle).
    pub fn insert(&mut self, item: &[u8]) {
        self.toggle(item);
    }

    /// Adds an integer that is not in the set: [`toggle_u64`](Self::toggle_u64).
    pub fn insert_u64(&mut self, item: u64) {
        self.toggle_u64(item);
    }

    /// Adds a typed value that is not in the set: [`toggle_item`](Self::toggle_item).
    pub fn insert_item(&mut self, item: &Item<'_>) {
        self.toggle_item(item);
    }

    /// Removes an item that is in the set: [`toggle`](Self::toggle).
    pub fn delete(&mut self, item: &[u8]) {
        self.toggle(item);
    }

    /// Removes an integer that is in the set: [`toggle_u64`](Self::toggle_u64).
    pub fn delete_u64(&mut self, item: u64) {
        self.toggle_u64(item);
    }

    /// Removes a typed value that is in the set: [`toggle_item`](Self::toggle_item).
    pub fn delete_item(&mut self, item: &Item<'_>) {
        self.toggle_item(item);
    }

    /// Adds an item with a weight, or removes it if it is in the set with that weight.
    ///
    /// The item is kept if the lower 32 bits of its second hash word are below the weight's threshold. Which cell it has does
    /// not depend on the weight.
    ///
    /// # Errors
    /// [`WeightError::Unit`] when the sketch has [no weights](crate::WeightRule::Unit); nothing is changed then.
    ///
    /// # Examples
    /// ```
    /// use f0_sketch::{F0Shape, F0Sketch, MaxWeight, WeightRule};
    /// use f0_sketch::sketch_hash::DefaultHash;
    /// let max = MaxWeight::new(10.0)?;
    /// let rule = WeightRule::Weighted(max);
    /// let mut sketch: F0Sketch = F0Sketch::new(F0Shape::DEFAULT, rule, DefaultHash::default());
    /// sketch.toggle_weighted(b"alice", max.weight(2.5)?)?;
    /// sketch.toggle_weighted(b"alice", max.weight(2.5)?)?;
    /// assert!(sketch.is_zero(), "inserted and removed");
    /// # Ok::<(), f0_sketch::WeightError>(())
    /// ```
    pub fn toggle_weighted(&mut self, item: &[u8], weight: Weight) -> Result<(), WeightError> {
        self.toggle_hash_weighted(self.hash().hash128(Domain::Bytes, item), weight)
    }

    /// As [`toggle_weighted`](Self::toggle_weighted) for an integer.
    ///
    /// # Errors
    /// As for [`toggle_weighted`](Self::toggle_weighted).
    pub fn toggle_u64_weighted(&mut self, item: u64, weight: Weight) -> Result<(), WeightError> {
        self.toggle_item_weighted(&Item::from(item), weight)
    }

    /// As [`toggle_weighted`](Self::toggle_weighted) for a typed value.
    ///
    /// # Errors
    /// As for [`toggle_weighted`](Self::toggle_weighted).
    pub fn toggle_item_weighted(&mut self, item: &Item<'_>, weight: Weight) -> Result<(), WeightError> {
        self.toggle_hash_weighted(item.hash128(self.hash()), weight)
    }

    /// As [`toggle_weighted`](Self::toggle_weighted) for an item known by its hash.
    ///
    /// # Errors
    /// As for [`toggle_weighted`](Self::toggle_weighted).
    #[inline]
    pub fn toggle_hash_weighted(&mut self, hash: [u64; 2], weight: Weight) -> Result<(), WeightError> {
        self.check_weighted()?;
        self.toggle_one(hash, weight, 1);
        Ok(())
    }

    /// Toggles integers, several times faster than one by one: hashes are computed in batches by vector instructions.
    ///
    /// # Examples
    /// ```
    /// use f0_sketch::{F0Shape, F0Sketch, WeightRule};
    /// use f0_sketch::sketch_hash::DefaultHash;
    /// let mut batch: F0Sketch = F0Sketch::new(F0Shape::DEFAULT, WeightRule::Unit, DefaultHash::default());
    /// let mut single = batch.clone();
    /// batch.toggle_u64_batch(&[3, 1, 3]);
    /// single.toggle_u64(1);
    /// assert_eq!(batch, single);
    /// ```
    pub fn toggle_u64_batch(&mut self, items: &[u64]) {
        self.toggle_integers(items);
    }

    /// Toggles byte strings in batches.
    pub fn toggle_batch(&mut self, items: &[&[u8]]) {
        self.batches_bytes(items, |sketch, _, hashes| sketch.toggle_hashes(hashes));
    }

    /// Toggles items by their hashes.
    pub fn toggle_hashes(&mut self, hashes: &[[u64; 2]]) {
        self.toggle_if(hashes, |_, _| 1);
    }

    /// Toggles integers with a weight each.
    ///
    /// # Errors
    /// [`WeightError::Unit`] when the sketch has no weights, [`WeightError::Count`] unless there is one for each item;
    /// nothing is changed then.
    pub fn toggle_u64_batch_weighted(&mut self, items: &[u64], weights: &[Weight]) -> Result<(), WeightError> {
        self.check_weights(items.len(), weights)?;
        self.batches_u64(items, |sketch, at, hashes| sketch.toggle_kept(hashes, &weights[at..]));
        Ok(())
    }

    /// Toggles byte strings with a weight each.
    ///
    /// # Errors
    /// As for [`toggle_u64_batch_weighted`](Self::toggle_u64_batch_weighted).
    pub fn toggle_batch_weighted(&mut self, items: &[&[u8]], weights: &[Weight]) -> Result<(), WeightError> {
        self.check_weights(items.len(), weights)?;
        self.batches_bytes(items, |sketch, at, hashes| sketch.toggle_kept(hashes, &weights[at..]));
        Ok(())
    }

    /// Toggles items by their hashes, with a weight each.
    ///
    /// # Errors
    /// As for [`toggle_u64_batch_weighted`](Self::toggle_u64_batch_weighted).
    pub fn toggle_hashes_weighted(&mut self, hashes: &[[u64; 2]], weights: &[Weight]) -> Result<(), WeightError> {
        self.check_weights(hashes.len(), weights)?;
        self.toggle_kept(hashes, weights);
        Ok(())
    }

    /// As many weights as hashes, at least.
    fn toggle_kept(&mut self, hashes: &[[u64; 2]], weights: &[Weight]) {
        self.toggle_if(hashes, |index, hash| u64::from(weights[index].keeps(hash)));
    }

    /// The sketch of the symmetric difference: what is in one of the two sets, not in both. With weights, an item must have
    /// the same one in both to be gone.
    ///
    /// The counts of releases add up, since the result is data that was released as often as that.
    ///
    /// # Errors
    /// [`MergeError::Hash`], [`MergeError::Shape`] or [`MergeError::Weights`] for a sketch of another kind,
    /// [`MergeError::Unit`] when one of the two was [bounded for users](Self::with_unit); nothing is changed then.
    ///
    /// # Examples
    /// ```
    /// use f0_sketch::{F0Shape, F0Sketch, WeightRule};
    /// use f0_sketch::sketch_hash::DefaultHash;
    /// let mut sketch: F0Sketch = F0Sketch::new(F0Shape::DEFAULT, WeightRule::Unit, DefaultHash::default());
    /// sketch.insert(b"alice");
    /// sketch.xor(&sketch.clone())?;
    /// assert!(sketch.is_zero());
    /// # Ok::<(), f0_sketch::MergeError>(())
    /// ```
    pub fn xor(&mut self, other: &Self) -> Result<(), MergeError> {
        self.check_merge(other)?;
        self.cells.xor(&other.cells);
        self.join_records(other);
        Ok(())
    }

    /// The merge of linear sketches: [`xor`](Self::xor). For disjoint sets it gives the union.
    ///
    /// # Errors
    /// As for [`xor`](Self::xor).
    pub fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        self.xor(other)
    }

    /// Raises the count of [`releases`](Self::releases), staying at the largest number once there, and returns it.
    pub fn record_release(&mut self) -> u32 {
        self.count_release()
    }
}

impl<M: crate::mode::Mode, H: KeyedHash> F0Sketch<M, H> {
    /// Whether there is one weight for each of `items` items, in a sketch with weights.
    pub(crate) fn check_weights(&self, items: usize, weights: &[Weight]) -> Result<(), WeightError> {
        self.check_weighted()?;
        let found = weights.len();
        if items == found { Ok(()) } else { Err(WeightError::Count { expected: items, found }) }
    }
}
