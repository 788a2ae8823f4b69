//! The raw sketch.

use sketch_hash::{DefaultHash, Domain, HashId, Item, KeyedHash, hash64_unsigned};
use zeroize::Zeroize;

use crate::bound::ContributionBound;
use crate::error::UpdateError;
use crate::granularity::Granularity;
use crate::kernel::Weights;
use crate::rows::RowHashes;
use crate::shape::CountSketchShape;
use crate::table::Table;

/// Items that are hashed together before their cells are touched.
const BATCH: usize = 1024;

/// A raw CountSketch: for each of `k` rows, the signed sum of the weights in each of `b` buckets.
///
/// Adding weight `w` to an item adds `s_i w` to one cell of each row `i`, chosen by the row's [hash](RowHashes), with a
/// sign `s_i` \[CCF04\]. The sketch is linear: the sketch of two data sets together is the sum of theirs, negative weights take
/// away, and the sum does not depend on the order.
///
/// Which records it takes follows from its [bound](ContributionBound). With a bound on records it takes them one by one
/// ([`update`](Self::update)) or in batches; with a bound on users it takes all records of one user together
/// ([`add_user`](Self::add_user)).
///
/// # Privacy
/// Raw state is **not** private. Only [`release`](Self::release) makes something that can be published. `Debug` shows shape,
/// hash and bound, and the cells are wiped when the sketch is dropped. The total of all weights is not kept: it would be one more
/// number to release.
///
/// # Examples
/// ```
/// use countsketch_dp::{ContributionBound, CountSketch, CountSketchShape};
/// use countsketch_dp::sketch_hash::DefaultHash;
/// let shape = CountSketchShape::new(5, 1024)?;
/// let mut first = CountSketch::new(shape, DefaultHash::default(), ContributionBound::entry(10)?);
/// let (mut second, mut both) = (first.clone(), first.clone());
/// first.update(b"apples", 5)?;
/// second.update(b"pears", -3)?;
/// both.update(b"pears", -3)?;
/// both.update(b"apples", 5)?;
/// first.merge(&second)?;
/// assert_eq!(first, both);
/// assert!(both.update(b"pears", 11).is_err(), "beyond the bound");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct CountSketch<H: KeyedHash = DefaultHash> {
    pub(crate) table: Table,
    hash: H,
    granularity: Granularity,
    pub(crate) bound: ContributionBound,
    /// Raw sketches, bounded apart, that one user's data may be in.
    pub(crate) parts: u32,
    pub(crate) releases: u32,
}

/// What a raw sketch is besides its cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RawTerms {
    pub(crate) granularity: Granularity,
    pub(crate) bound: ContributionBound,
    pub(crate) parts: u32,
    pub(crate) releases: u32,
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

/// Equal when hash, cells, granularity, bound and counts of parts and releases are.
impl<H: KeyedHash> PartialEq for CountSketch<H> {
    fn eq(&self, other: &Self) -> bool {
        (self.hash_id(), self.shape(), self.terms()) == (other.hash_id(), other.shape(), other.terms())
            && self.table.cells() == other.table.cells()
    }
}

impl<H: KeyedHash> CountSketch<H> {
    /// The sketch of no data, for whole weights.
    #[must_use]
    pub fn new(shape: CountSketchShape, hash: H, bound: ContributionBound) -> Self {
        Self::with_granularity(shape, hash, bound, Granularity::ONE)
    }

    /// The sketch of no data, for weights on a grid. The bound is in grid units.
    #[must_use]
    pub fn with_granularity(
        shape: CountSketchShape,
        hash: H,
        bound: ContributionBound,
        granularity: Granularity,
    ) -> Self {
        Self { table: Table::new(shape, hash.id()), hash, granularity, bound, parts: 1, releases: 0 }
    }

    pub(crate) fn from_parts(table: Table, hash: H, terms: RawTerms) -> Self {
        let RawTerms { granularity, bound, parts, releases } = terms;
        Self { table, hash, granularity, bound, parts, releases }
    }

    pub(crate) const fn terms(&self) -> RawTerms {
        RawTerms { granularity: self.granularity, bound: self.bound, parts: self.parts, releases: self.releases }
    }

    /// The shape, which two sketches must share to be merged.
    #[must_use]
    pub const fn shape(&self) -> CountSketchShape {
        self.table.shape()
    }

    /// Which hash function and key decide the cells.
    #[must_use]
    pub fn hash_id(&self) -> HashId {
        self.hash.id()
    }

    /// The hash itself.
    #[must_use]
    pub const fn hash(&self) -> &H {
        &self.hash
    }

    /// The unit of weights.
    #[must_use]
    pub const fn granularity(&self) -> Granularity {
        self.granularity
    }

    /// Who is protected, and how much they may add, in grid units.
    #[must_use]
    pub const fn bound(&self) -> ContributionBound {
        self.bound
    }

    /// In how many raw sketches, merged into this one, a user's data may be: 1, unless sketches that bound users were
    /// [merged](Self::merge). A release costs a user so many times the bound.
    #[must_use]
    pub const fn parts(&self) -> u32 {
        self.parts
    }

    /// Adds a weight, in grid units, to an item; text counts by its UTF-8 bytes.
    ///
    /// # Errors
    /// [`UpdateError::Weight`] beyond the bound, [`UpdateError::User`] if the bound is one on users, and
    /// [`UpdateError::CounterOverflow`] where a counter would leave 63 bits, always so for a weight of −2⁶³. Nothing is
    /// changed then.
    pub fn update(&mut self, item: &[u8], weight: i64) -> Result<(), UpdateError> {
        self.update_hash(self.hash.hash64(Domain::Bytes, item), weight)
    }

    /// Adds a weight to an integer; the same item as [`Item::Integer`] of that value.
    ///
    /// # Errors
    /// As [`update`](Self::update).
    pub fn update_u64(&mut self, item: u64, weight: i64) -> Result<(), UpdateError> {
        self.update_item(&Item::from(item), weight)
    }

    /// Adds a weight to a typed value.
    ///
    /// # Errors
    /// As [`update`](Self::update).
    pub fn update_item(&mut self, item: &Item<'_>, weight: i64) -> Result<(), UpdateError> {
        self.update_hash(item.hash64(&self.hash), weight)
    }

    /// Adds a weight to an item known by its 64-bit hash. The caller answers for the hash being the one of
    /// [`Self::hash_id`].
    ///
    /// # Errors
    /// As [`update`](Self::update).
    pub fn update_hash(&mut self, key: u64, weight: i64) -> Result<(), UpdateError> {
        self.check_weights(Weights::Each(&[weight]))?;
        self.table.update(key, weight)
    }

    /// Adds 1 to each of many integers, several times faster than one by one.
    ///
    /// # Errors
    /// As [`update`](Self::update); none of the items is added then.
    ///
    /// # Examples
    /// ```
    /// use countsketch_dp::{ContributionBound, CountSketch, CountSketchShape};
    /// use countsketch_dp::sketch_hash::DefaultHash;
    /// let shape = CountSketchShape::new(5, 1024)?;
    /// let mut batch = CountSketch::new(shape, DefaultHash::default(), ContributionBound::UNIT_ENTRY);
    /// let mut single = batch.clone();
    /// batch.update_u64_batch(&[3, 1, 3])?;
    /// [3, 1, 3].into_iter().try_for_each(|item| single.update_u64(item, 1))?;
    /// assert_eq!(batch, single);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn update_u64_batch(&mut self, items: &[u64]) -> Result<(), UpdateError> {
        self.update_hashed(items.len(), Weights::Ones, |hash, from, out| {
            hash64_unsigned(hash, &items[from..from + out.len()], out);
        })
    }

    /// Adds 1 to each of many byte strings.
    ///
    /// # Errors
    /// As [`update`](Self::update); none of the items is added then.
    pub fn update_batch(&mut self, items: &[&[u8]]) -> Result<(), UpdateError> {
        self.update_hashed(items.len(), Weights::Ones, |hash, from, out| {
            hash.hash64_slices(Domain::Bytes, &items[from..from + out.len()], out);
        })
    }

    /// Adds a weight to each of many integers.
    ///
    /// # Errors
    /// As [`update`](Self::update), and [`UpdateError::Lengths`] unless there is one weight for each item; nothing is
    /// added then.
    pub fn update_u64_weighted(&mut self, items: &[u64], weights: &[i64]) -> Result<(), UpdateError> {
        check_lengths(items.len(), weights.len())?;
        self.update_hashed(items.len(), Weights::Each(weights), |hash, from, out| {
            hash64_unsigned(hash, &items[from..from + out.len()], out);
        })
    }

    /// Adds 1 to each of many items known by their 64-bit hashes.
    ///
    /// # Errors
    /// As [`update`](Self::update); none of the items is added then.
    pub fn update_hashes(&mut self, keys: &[u64]) -> Result<(), UpdateError> {
        self.check_weights(Weights::Ones)?;
        self.table.update_all(keys, Weights::Ones)
    }

    /// Adds a weight to each of many items known by their 64-bit hashes.
    ///
    /// # Errors
    /// As [`update_u64_weighted`](Self::update_u64_weighted).
    pub fn update_weighted_hashes(&mut self, keys: &[u64], weights: &[i64]) -> Result<(), UpdateError> {
        check_lengths(keys.len(), weights.len())?;
        self.check_weights(Weights::Each(weights))?;
        self.table.update_all(keys, Weights::Each(weights))
    }

    /// Hashes all items, then adds them in one step.
    fn update_hashed(
        &mut self,
        items: usize,
        weights: Weights<'_>,
        hash_from: impl Fn(&H, usize, &mut [u64]),
    ) -> Result<(), UpdateError> {
        self.check_weights(weights)?;
        let batch = if self.table.can_add(weights.mass(items)) { self.table.batch() } else { items };
        let mut keys = vec![0; batch.min(items)];
        let mut start = 0;
        let mut result = Ok(());
        while start < items && result.is_ok() {
            let keys = &mut keys[..batch.min(items - start)];
            for (chunk, out) in keys.chunks_mut(BATCH).enumerate() {
                hash_from(&self.hash, start + chunk * BATCH, out);
            }
            result = self.table.update_all(keys, weights.part(start, keys.len()));
            start += keys.len();
        }
        // Hashes of items are as secret as the items.
        keys.zeroize();
        result
    }

    /// Whether the bound allows records of these weights.
    pub(crate) fn check_weights(&self, weights: Weights<'_>) -> Result<(), UpdateError> {
        if self.bound.is_user() {
            return Err(UpdateError::User { bound: self.bound });
        }
        let max = self.bound.max_weight();
        match weights {
            Weights::Each(weights) if weights.contains(&i64::MIN) => Err(UpdateError::CounterOverflow),
            Weights::Each(weights) if weights.iter().any(|weight| weight.unsigned_abs() > max) => {
                Err(UpdateError::Weight { max })
            }
            _ => Ok(()),
        }
    }

    /// Whether all cells are zero: nothing was added, or all of it was taken away again.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// How often this data has been released before, as the program that keeps the file counts it.
    ///
    /// Stored in the raw bytes. [`release`](Self::release) consumes the sketch and does not count; a program that keeps
    /// raw files calls [`record_release`](Self::record_release) and writes the file back *before* noise is drawn.
    #[must_use]
    pub const fn releases(&self) -> u32 {
        self.releases
    }

    /// Raises the count of releases, staying at the largest number once there, and returns it.
    pub fn record_release(&mut self) -> u32 {
        self.releases = self.releases.saturating_add(1);
        self.releases
    }

    /// Where items lie.
    #[must_use]
    pub const fn rows(&self) -> &RowHashes {
        self.table.rows()
    }
}

pub(crate) const fn check_lengths(expected: usize, found: usize) -> Result<(), UpdateError> {
    if expected == found { Ok(()) } else { Err(UpdateError::Lengths { expected, found }) }
}
