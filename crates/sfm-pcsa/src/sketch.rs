//! The raw sketch.

use cardinality_estimators::{BitChannel, Confidence, Estimate};
use sketch_hash::{DefaultHash, Domain, HashId, Item, KeyedHash, hash64_unsigned};
use zeroize::{Zeroize, Zeroizing};

use crate::counts::estimate_bits;
use crate::error::{MergeError, ParamError};
use crate::params::PcsaShape;
use crate::table::Table;

/// Items that are hashed together before their cells are set. 8 KiB of hashes stay in the first-level cache beside the
/// table.
const BATCH: usize = 1024;

/// A raw PCSA sketch: which cells the items of a set hit.
///
/// Duplicates and order do not matter, and the sketch of a union is the OR of the sketches. The cells of an item follow
/// from its hash alone, so sketches of one [`PcsaShape`] and one hash merge wherever they were made.
///
/// # Privacy
/// Raw state is **not** private: it tells for every item whether it may be in the set. Only [`release`](Self::release)
/// makes something that can be published. `Debug` shows the shape only, and the cells are wiped when the sketch is
/// dropped.
///
/// # Examples
/// ```
/// use sfm_pcsa::{PcsaShape, PcsaSketch};
/// use sfm_pcsa::cardinality_estimators::Confidence;
///
/// let mut sketch = PcsaSketch::new(PcsaShape::DEFAULT, Default::default());
/// for user in 0..10_000_u64 {
///     sketch.update_u64(user);
/// }
/// let estimate = sketch.estimate(Confidence::P95);
/// assert!((estimate.value().ok_or("none")? - 10_000.0).abs() < 300.0);
/// # let _: &PcsaSketch<sfm_pcsa::sketch_hash::DefaultHash> = &sketch;
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct PcsaSketch<H: KeyedHash = DefaultHash> {
    shape: PcsaShape,
    hash: H,
    table: Table,
    releases: u32,
}

impl<H: KeyedHash> core::fmt::Debug for PcsaSketch<H> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("PcsaSketch").field("shape", &self.shape).field("hash", &self.hash_id()).finish_non_exhaustive()
    }
}

/// Equal when shape, hash, cells and count of releases are.
impl<H: KeyedHash> PartialEq for PcsaSketch<H> {
    fn eq(&self, other: &Self) -> bool {
        self.check_mergeable(other).is_ok() && self.table == other.table && self.releases == other.releases
    }
}

impl<H: KeyedHash> PcsaSketch<H> {
    /// The sketch of the empty set.
    #[must_use]
    pub fn new(shape: PcsaShape, hash: H) -> Self {
        Self { shape, hash, table: Table::new(shape), releases: 0 }
    }

    pub(crate) fn from_parts(shape: PcsaShape, hash: H, bits: &[u64], releases: u32) -> Self {
        Self { shape, hash, table: Table::from_level_major(bits, shape), releases }
    }

    /// Buckets and levels.
    #[must_use]
    pub fn shape(&self) -> PcsaShape {
        self.shape
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

    /// Adds bytes; text counts by its UTF-8 bytes.
    pub fn update(&mut self, item: &[u8]) {
        self.update_hash(self.hash.hash64(Domain::Bytes, item));
    }

    /// Adds an integer; the same item as [`Item::Integer`] of that value.
    pub fn update_u64(&mut self, item: u64) {
        self.update_item(&Item::from(item));
    }

    /// Adds a typed value.
    pub fn update_item(&mut self, item: &Item<'_>) {
        self.update_hash(item.hash64(&self.hash));
    }

    /// Adds an item by its 64-bit hash. The caller answers for the hash being the one of [`Self::hash_id`].
    #[inline]
    pub fn update_hash(&mut self, hash: u64) {
        self.table.insert(&[hash], self.shape);
    }

    /// Adds items by their hashes.
    pub fn update_hashes(&mut self, hashes: &[u64]) {
        self.table.insert(hashes, self.shape);
    }

    /// Adds integers, several times faster than one by one: hashes are computed in batches by vector instructions.
    ///
    /// # Examples
    /// ```
    /// use sfm_pcsa::{PcsaShape, PcsaSketch};
    /// use sfm_pcsa::sketch_hash::DefaultHash;
    /// let mut batch = PcsaSketch::new(PcsaShape::DEFAULT, DefaultHash::default());
    /// let mut single = batch.clone();
    /// batch.update_u64_batch(&[3, 1, 3]);
    /// [1, 3].map(|item| single.update_u64(item));
    /// assert_eq!(batch, single);
    /// ```
    pub fn update_u64_batch(&mut self, items: &[u64]) {
        self.update_batches(items, |hash, items, hashes| hash64_unsigned(hash, items, hashes));
    }

    /// Adds byte strings in batches.
    pub fn update_batch(&mut self, items: &[&[u8]]) {
        self.update_batches(items, |hash, items, hashes| hash.hash64_slices(Domain::Bytes, items, hashes));
    }

    /// Hashes a batch, then sets its cells: each loop is simple enough to be fast.
    fn update_batches<T>(&mut self, items: &[T], hash_all: impl Fn(&H, &[T], &mut [u64])) {
        let mut hashes = [0; BATCH];
        for chunk in items.chunks(BATCH) {
            let hashes = &mut hashes[..chunk.len()];
            hash_all(&self.hash, chunk, hashes);
            self.table.insert(hashes, self.shape);
        }
        // Hashes of items are as secret as the items.
        hashes[..items.len().min(BATCH)].zeroize();
    }

    /// Makes this the sketch of the union; `other` is not changed.
    ///
    /// The [count of releases](Self::releases) becomes the larger one.
    ///
    /// # Errors
    /// [`MergeError::Hash`] or [`MergeError::Shape`] for a sketch of another hash or shape, even an empty one; nothing
    /// is changed then. Sketches of different shapes can be [folded](Self::fold) to a common one first.
    ///
    /// # Examples
    /// ```
    /// use sfm_pcsa::{PcsaShape, PcsaSketch};
    /// use sfm_pcsa::sketch_hash::DefaultHash;
    /// let mut monday = PcsaSketch::new(PcsaShape::DEFAULT, DefaultHash::default());
    /// let (mut tuesday, mut both) = (monday.clone(), monday.clone());
    /// monday.update(b"alice");
    /// tuesday.update_batch(&[b"alice", b"bob"]);
    /// both.update_batch(&[b"bob", b"alice"]);
    /// monday.merge(&tuesday)?;
    /// assert_eq!(monday, both);
    /// # Ok::<(), sfm_pcsa::MergeError>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        self.check_mergeable(other)?;
        self.table.or_assign(&other.table);
        self.releases = self.releases.max(other.releases);
        Ok(())
    }

    /// OR of the cells of a sketch of the same shape and hash.
    #[cfg(feature = "rayon")]
    pub(crate) fn or_cells(&mut self, other: &Self) {
        self.table.or_assign(&other.table);
    }

    fn check_mergeable(&self, other: &Self) -> Result<(), MergeError> {
        let (expected, found) = (self.hash_id(), other.hash_id());
        if expected != found {
            return Err(MergeError::Hash { expected, found });
        }
        if self.shape != other.shape {
            return Err(MergeError::Shape { expected: self.shape.into(), found: other.shape.into() });
        }
        Ok(())
    }

    /// The sketch of the same items with fewer buckets or levels, exactly as if it had been built so.
    ///
    /// # Errors
    /// [`ParamError::Fold`] when `shape` has more buckets or more levels.
    ///
    /// # Examples
    /// ```
    /// use sfm_pcsa::{PcsaShape, PcsaSketch};
    /// use sfm_pcsa::sketch_hash::DefaultHash;
    /// let small = PcsaShape::new(256, 16)?;
    /// let mut large = PcsaSketch::new(PcsaShape::DEFAULT, DefaultHash::default());
    /// let mut direct = PcsaSketch::new(small, DefaultHash::default());
    /// for item in 0..5000 {
    ///     large.update_u64(item);
    ///     direct.update_u64(item);
    /// }
    /// assert_eq!(large.fold(small)?, direct);
    /// # Ok::<(), sfm_pcsa::ParamError>(())
    /// ```
    pub fn fold(&self, shape: PcsaShape) -> Result<Self, ParamError> {
        if !self.shape.folds_to(shape) {
            return Err(ParamError::Fold { from: self.shape.into(), to: shape.into() });
        }
        let table = self.table.fold(self.shape, shape);
        Ok(Self { shape, hash: self.hash.clone(), table, releases: self.releases })
    }

    /// Whether no item was added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// The number of distinct items, **without privacy**.
    ///
    /// Maximum likelihood over the counts of ones in each level, as for private sketches but without noise.
    ///
    /// # Privacy
    /// None at all. To publish a count, [`release`](Self::release) first.
    pub fn estimate(&self, confidence: Confidence) -> Estimate {
        let bits = Zeroizing::new(self.to_level_major());
        estimate_bits(&bits, self.shape, BitChannel::NOISELESS, confidence)
    }

    /// How often this data has been released before, as the program that keeps the file counts it.
    ///
    /// Stored in the raw bytes. [`release`](Self::release) consumes the sketch and does not count; a program that keeps
    /// raw files calls [`record_release`](Self::record_release) and writes the file back *before* noise is drawn.
    #[must_use]
    pub fn releases(&self) -> u32 {
        self.releases
    }

    /// Raises the count of releases, staying at the largest number once there, and returns it.
    pub fn record_release(&mut self) -> u32 {
        self.releases = self.releases.saturating_add(1);
        self.releases
    }

    pub(crate) fn to_level_major(&self) -> Vec<u64> {
        self.table.to_level_major(self.shape)
    }
}
