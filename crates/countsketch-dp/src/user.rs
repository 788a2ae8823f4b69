//! All records of one user, bounded together.

use sketch_hash::{DefaultHash, Domain, HashId, Item, KeyedHash, MultiplyShift};
use zeroize::{Zeroize, Zeroizing};

use crate::bound::ContributionBound;
use crate::error::UpdateError;
use crate::kernel::Weights;
use crate::rows::{RowHashes, rows_key};
use crate::sketch::CountSketch;

/// All records of one user, gathered before they are bounded and added.
///
/// Weights of one item add up first. What is kept then follows from these records, the public hash and the bound alone, so
/// that no other user's data decides about it:
///
/// - items are put into a fixed pseudo-random order, by a hash of their own;
/// - with a bound on the total weight, items are kept in that order while there is weight left, the last one in part;
/// - with a bound on the number of items, the first so many are kept, with weights brought into ±`max_weight`;
/// - clipped in the cells, of those the longest beginning of the order whose own cells have a squared norm within `C²`.
///
/// Wiped when dropped.
///
/// # Privacy
/// The bound holds for what is added at once. Add **everything** of a user by one call: a second call for the same user
/// doubles what the user can change, and nothing in the sketch can notice.
///
/// # Examples
/// ```
/// use countsketch_dp::{ContributionBound, CountSketch, CountSketchShape, UserContribution};
/// use countsketch_dp::sketch_hash::DefaultHash;
/// let hash = DefaultHash::default();
/// let bound = ContributionBound::user_items(2, 5)?;
/// let mut sketch = CountSketch::new(CountSketchShape::new(3, 64)?, hash.clone(), bound);
/// let mut user = UserContribution::new(hash);
/// for page in ["a", "b", "a", "c"] {
///     user.add(page.as_bytes(), 4);
/// }
/// sketch.add_user(user)?;
/// assert!(!sketch.is_empty());
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub struct UserContribution<H: KeyedHash = DefaultHash> {
    hash: H,
    /// Hash of an item and its weight so far; an item may be here several times.
    items: Vec<(u64, i128)>,
}

impl<H: KeyedHash> core::fmt::Debug for UserContribution<H> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("UserContribution").field("hash", &self.hash.id()).finish_non_exhaustive()
    }
}

impl<H: KeyedHash> Drop for UserContribution<H> {
    fn drop(&mut self) {
        self.items.zeroize();
    }
}

impl<H: KeyedHash> UserContribution<H> {
    /// No records yet. The hash must be the one of the sketch.
    #[must_use]
    pub const fn new(hash: H) -> Self {
        Self { hash, items: Vec::new() }
    }

    /// A record with an item and its weight in grid units.
    pub fn add(&mut self, item: &[u8], weight: i64) {
        self.add_hash(self.hash.hash64(Domain::Bytes, item), weight);
    }

    /// A record with an integer.
    pub fn add_u64(&mut self, item: u64, weight: i64) {
        self.add_item(&Item::from(item), weight);
    }

    /// A record with a typed value.
    pub fn add_item(&mut self, item: &Item<'_>, weight: i64) {
        self.add_hash(item.hash64(&self.hash), weight);
    }

    /// A record with an item known by its 64-bit hash.
    pub fn add_hash(&mut self, key: u64, weight: i64) {
        if self.items.len() == self.items.capacity() {
            self.make_room();
        }
        self.items.push((key, i128::from(weight)));
    }

    /// The hash function and key of the items.
    #[must_use]
    pub fn hash_id(&self) -> HashId {
        self.hash.id()
    }

    /// Joins records of one item; if that does not halve them, doubles the memory, leaving nothing behind in the old.
    fn make_room(&mut self) {
        join_equal(&mut self.items);
        if self.items.len() > self.items.capacity() / 2 {
            let mut larger = Vec::with_capacity(2 * self.items.capacity());
            larger.extend_from_slice(&self.items);
            self.items.zeroize();
            self.items = larger;
        } else if self.items.capacity() == 0 {
            self.items.reserve(16);
        }
    }

    /// What the bound leaves of the records: items and weights, no item twice.
    pub(crate) fn bounded(&mut self, bound: ContributionBound, rows: &RowHashes) -> Kept {
        join_equal(&mut self.items);
        self.items.retain(|&(_, weight)| weight != 0);
        let order = item_order(self.hash.id());
        self.items.sort_unstable_by_key(|&(key, _)| (order.hash(key), key));
        let Some(max_items) = bound.max_items() else {
            let mut kept = Kept::with_capacity(self.items.len());
            kept.take_total(&self.items, bound.total_weight());
            return kept;
        };
        let max_items = usize::try_from(max_items).unwrap_or(usize::MAX);
        let mut kept = Kept::with_capacity(self.items.len().min(max_items));
        kept.take_items(&self.items, max_items, bound.max_weight());
        if let Some(squared_norm) = bound.squared_norm() {
            kept.clip(rows, squared_norm);
        }
        kept
    }
}

impl<H: KeyedHash> CountSketch<H> {
    /// Adds what the bound leaves of all records of one user.
    ///
    /// # Privacy
    /// See [`UserContribution`].
    ///
    /// # Errors
    /// [`UpdateError::Record`] if the bound is one on records, [`UpdateError::Hash`] for items hashed otherwise, and
    /// [`UpdateError::CounterOverflow`]; nothing is added then.
    pub fn add_user(&mut self, mut user: UserContribution<H>) -> Result<(), UpdateError> {
        if !self.bound.is_user() {
            return Err(UpdateError::Record { bound: self.bound });
        }
        let (expected, found) = (self.hash_id(), user.hash_id());
        if expected != found {
            return Err(UpdateError::Hash { expected, found });
        }
        let kept = user.bounded(self.bound, self.rows());
        self.table.update_all(&kept.keys, Weights::Each(&kept.weights))
    }
}

/// The function that orders the items of a user: a member of the rows' family that is no row.
fn item_order(hash_id: HashId) -> MultiplyShift {
    MultiplyShift::new(rows_key(hash_id), u64::MAX)
}

/// Adds up the weights of equal items.
fn join_equal(items: &mut Vec<(u64, i128)>) {
    items.sort_unstable_by_key(|&(key, _)| key);
    // Sums of fewer than 2^64 numbers of 64 bits fit.
    items.dedup_by(|next, first| {
        let equal = next.0 == first.0;
        if equal {
            first.1 += next.1;
        }
        equal
    });
}

/// Items of one user that are kept, with their weights, in order. Wiped when dropped.
pub(crate) struct Kept {
    pub(crate) keys: Zeroizing<Vec<u64>>,
    pub(crate) weights: Zeroizing<Vec<i64>>,
}

impl Kept {
    fn with_capacity(items: usize) -> Self {
        Self { keys: Zeroizing::new(Vec::with_capacity(items)), weights: Zeroizing::new(Vec::with_capacity(items)) }
    }

    fn push(&mut self, key: u64, weight: i64) {
        self.keys.push(key);
        self.weights.push(weight);
    }

    /// Items in their order until `left` is used up, the last one in part.
    fn take_total(&mut self, items: &[(u64, i128)], mut left: u64) {
        for &(key, weight) in items {
            let size = u64::try_from(weight.unsigned_abs()).unwrap_or(u64::MAX).min(left);
            if size == 0 {
                return;
            }
            left -= size;
            self.push(key, signed(weight, size));
        }
    }

    /// The first `max_items` items, each within ±`max_weight`.
    fn take_items(&mut self, items: &[(u64, i128)], max_items: usize, max_weight: u64) {
        for &(key, weight) in items.iter().take(max_items) {
            let size = u64::try_from(weight.unsigned_abs()).unwrap_or(u64::MAX).min(max_weight);
            self.push(key, signed(weight, size));
        }
    }

    /// Leaves out the last items until the squared norm of the user's cells fits.
    fn clip(&mut self, rows: &RowHashes, squared_norm: u128) {
        let grown = growth(rows, &self.keys, &self.weights);
        let mut norm = 0_i128;
        let mut fitting = 0;
        for (item, growth) in grown.iter().enumerate() {
            norm += growth;
            if norm.unsigned_abs() <= squared_norm {
                fitting = item + 1;
            }
        }
        self.keys.truncate(fitting);
        self.weights.truncate(fitting);
    }
}

/// By how much each item, after those before it, changes the squared norm of the cells. A cell that holds `v` grows by
/// `(v + w)² − v²`. All numbers fit: a clipped user weighs at most 2⁵⁶, so the norm is at most 2⁸ · 2¹¹².
fn growth(rows: &RowHashes, keys: &[u64], weights: &[i64]) -> Zeroizing<Vec<i128>> {
    let mut grown = Zeroizing::new(vec![0_i128; keys.len()]);
    let mut row_items = Zeroizing::new(vec![(0_usize, 0_usize, 0_i64); keys.len()]);
    for row in 0..rows.len() {
        for (item, (place, (&key, &weight))) in row_items.iter_mut().zip(keys.iter().zip(weights)).enumerate() {
            let (bucket, sign) = rows.bucket_and_sign(row, key);
            *place = (bucket, item, sign * weight);
        }
        row_items.sort_unstable_by_key(|&(bucket, item, _)| (bucket, item));
        let (mut current, mut cell) = (usize::MAX, 0_i128);
        for &(bucket, item, value) in row_items.iter() {
            if bucket != current {
                (current, cell) = (bucket, 0);
            }
            let value = i128::from(value);
            grown[item] += value * (2 * cell + value);
            cell += value;
        }
    }
    grown
}

/// `size`, at most 2⁶³ − 1, with the sign of a weight.
fn signed(weight: i128, size: u64) -> i64 {
    let size = i64::try_from(size).unwrap_or(i64::MAX);
    if weight < 0 { -size } else { size }
}

#[cfg(test)]
mod tests;
