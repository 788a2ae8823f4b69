//! The raw sketch of every family.

use cardinality_estimators::{BitChannel, Confidence, Estimate};
use sketch_hash::{DefaultHash, HashId, Item, KeyedHash};
use zeroize::{Zeroize, Zeroizing};

use crate::counts::estimate_bits;
use crate::digest::Digest;
use crate::error::{MergeError, ParamError};
use crate::params::PcsaShape;
use crate::pcsa_cells::PcsaCells;
use crate::shape::BitmapShape;
use crate::store::Store;
use crate::unit::Unit;

/// Items that are hashed together before their cells are set. 8 KiB of 64-bit hashes stay in the first-level cache beside
/// the table.
const BATCH: usize = 1024;

/// A raw sketch: which cells the items of a set hit.
///
/// Duplicates and order do not matter, and the sketch of a union is the OR of the sketches. The cells of an item follow
/// from its hash alone, so sketches of one [shape](BitmapShape) and one hash merge wherever they were made. The families
/// have aliases of their own, such as [`PcsaSketch`].
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
pub struct RawBitmap<S: BitmapShape, H: KeyedHash = DefaultHash> {
    store: S::Store,
    hash: H,
    releases: u32,
    unit: Unit,
}

/// A raw PCSA sketch. While it has few items it keeps a short list of cells, see [`PcsaCells`].
pub type PcsaSketch<H = DefaultHash> = RawBitmap<PcsaShape, H>;

impl<S: BitmapShape, H: KeyedHash> core::fmt::Debug for RawBitmap<S, H> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct(S::RAW_NAME).field("shape", &self.shape()).field("hash", &self.hash_id()).finish_non_exhaustive()
    }
}

/// Equal when shape, hash, cells, unit and count of releases are.
impl<S: BitmapShape, H: KeyedHash> PartialEq for RawBitmap<S, H> {
    fn eq(&self, other: &Self) -> bool {
        self.check_alike(other).is_ok()
            && self.store == other.store
            && (self.releases, self.unit) == (other.releases, other.unit)
    }
}

impl<S: BitmapShape, H: KeyedHash> RawBitmap<S, H> {
    /// The sketch of the empty set.
    #[must_use]
    pub fn new(shape: S, hash: H) -> Self {
        Self { store: Store::new(shape), hash, releases: 0, unit: Unit::Item }
    }

    pub(crate) fn from_parts(shape: S, hash: H, bits: &[u64], releases: u32, unit: Unit) -> Self {
        Self { store: Store::from_bits(shape, bits), hash, releases, unit }
    }

    /// States whom the input was bounded for: with [`Unit::User`], that no user adds more than so many items.
    ///
    /// The statement stays with the sketch and in its bytes. From then on it is released for that unit only, and merges
    /// with no other sketch.
    ///
    /// # Privacy
    /// The sketch cannot check it: whoever adds the items has to have bounded them.
    ///
    /// # Examples
    /// ```
    /// use sfm_pcsa::{PcsaShape, PcsaSketch, Unit};
    /// let unit = Unit::user(3).ok_or("at least one item")?;
    /// let sketch: PcsaSketch = PcsaSketch::new(PcsaShape::DEFAULT, Default::default()).with_unit(unit);
    /// assert_eq!(sketch.unit(), unit);
    /// assert!(sketch.clone().merge(&sketch).is_err());
    /// # Ok::<(), &str>(())
    /// ```
    #[must_use]
    pub fn with_unit(self, unit: Unit) -> Self {
        Self { unit, ..self }
    }

    /// Whom the input was bounded for; an item unless [stated otherwise](Self::with_unit).
    #[must_use]
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// The shape, which two sketches must share to be merged.
    #[must_use]
    pub fn shape(&self) -> S {
        self.store.shape()
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
        self.update_hash(Digest::of_bytes(&self.hash, item));
    }

    /// Adds an integer; the same item as [`Item::Integer`] of that value.
    pub fn update_u64(&mut self, item: u64) {
        self.update_item(&Item::from(item));
    }

    /// Adds a typed value.
    pub fn update_item(&mut self, item: &Item<'_>) {
        self.update_hash(Digest::of_item(&self.hash, item));
    }

    /// Adds an item by its hash: a `u64`, for Bloom filters a `[u64; 2]`. The caller answers for the hash being the one of
    /// [`Self::hash_id`].
    #[inline]
    pub fn update_hash(&mut self, hash: S::Digest) {
        self.store.insert(&[hash]);
    }

    /// Adds items by their hashes.
    pub fn update_hashes(&mut self, hashes: &[S::Digest]) {
        self.store.insert(hashes);
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
        self.update_batches(items, Digest::of_integers);
    }

    /// Adds byte strings in batches.
    pub fn update_batch(&mut self, items: &[&[u8]]) {
        self.update_batches(items, Digest::of_slices);
    }

    /// Hashes a batch, then sets its cells: each loop is simple enough to be fast.
    fn update_batches<T>(&mut self, items: &[T], hash_all: impl Fn(&H, &[T], &mut [S::Digest])) {
        let mut hashes = [Digest::ZERO; BATCH];
        for chunk in items.chunks(BATCH) {
            let hashes = &mut hashes[..chunk.len()];
            hash_all(&self.hash, chunk, hashes);
            self.store.insert(hashes);
        }
        // Hashes of items are as secret as the items.
        hashes[..items.len().min(BATCH)].iter_mut().zeroize();
    }

    /// Makes this the sketch of the union; `other` is not changed.
    ///
    /// The [count of releases](Self::releases) becomes the sum: somebody in both data sets was in all of them.
    ///
    /// # Errors
    /// [`MergeError::Hash`] or [`MergeError::Shape`] for a sketch of another hash or shape, even an empty one; nothing
    /// is changed then. Sketches of different shapes can be [folded](Self::fold) to a common one first.
    /// [`MergeError::Unit`] when one of them was [bounded for users](Self::with_unit): a user in both could exceed the
    /// bound.
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
        self.check_alike(other)?;
        if [self.unit, other.unit] != [Unit::Item; 2] {
            return Err(MergeError::Unit { first: self.unit, second: other.unit });
        }
        self.store.or_assign(&other.store);
        self.releases = self.releases.saturating_add(other.releases);
        Ok(())
    }

    /// OR of the cells of a sketch of the same shape and hash.
    #[cfg(feature = "rayon")]
    pub(crate) fn or_cells(&mut self, other: &Self) {
        self.store.or_assign(&other.store);
    }

    fn check_alike(&self, other: &Self) -> Result<(), MergeError> {
        let (expected, found) = (self.hash_id(), other.hash_id());
        if expected != found {
            return Err(MergeError::Hash { expected, found });
        }
        let (expected, found) = (self.shape(), other.shape());
        if expected != found {
            return Err(MergeError::Shape { expected: expected.into(), found: found.into() });
        }
        Ok(())
    }

    /// The sketch of the same items in a smaller shape, exactly as if it had been built so.
    ///
    /// # Errors
    /// [`ParamError::Fold`] when the shape does not [fold](PcsaShape::folds_to) to `shape`: for PCSA, when that has more
    /// buckets or more levels; for the others, when its number of cells is no divisor.
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
    pub fn fold(&self, shape: S) -> Result<Self, ParamError> {
        let from = self.shape();
        if !from.can_fold(shape) {
            return Err(ParamError::Fold { from: from.into(), to: shape.into() });
        }
        Ok(Self { store: self.store.fold(shape), hash: self.hash.clone(), releases: self.releases, unit: self.unit })
    }

    /// Whether no item was added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.store.is_empty()
    }

    /// The number of distinct items, **without privacy**.
    ///
    /// Maximum likelihood over the ones of equally likely cells, as for private sketches but without noise.
    ///
    /// # Privacy
    /// None at all. To publish a count, [`release`](Self::release) first.
    pub fn estimate(&self, confidence: Confidence) -> Estimate {
        let bits = Zeroizing::new(self.to_bits());
        estimate_bits(&bits, self.shape(), BitChannel::NOISELESS, confidence)
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

    /// Cell `i` as bit `i`; bits beyond the last cell are zero.
    pub(crate) fn to_bits(&self) -> Vec<u64> {
        self.store.to_bits()
    }
}

impl<H: KeyedHash> PcsaSketch<H> {
    /// A sketch of cells that were filled with hashes of `hash`; the caller answers for that.
    #[must_use]
    pub fn from_cells(cells: PcsaCells, hash: H) -> Self {
        Self { store: cells, hash, releases: 0, unit: Unit::Item }
    }

    /// The cells alone, for a program that keeps the hash of very many sketches once.
    #[must_use]
    pub fn into_cells(self) -> PcsaCells {
        self.store
    }
}
