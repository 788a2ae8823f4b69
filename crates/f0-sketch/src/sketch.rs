//! The raw sketch of both modes.

use core::fmt;
use core::marker::PhantomData;

use sketch_hash::{DefaultHash, Domain, HashId, KeyedHash, hash128_unsigned};
use zeroize::Zeroize;

use crate::cells::Cells;
use crate::coins::{CoinId, CoinSet};
use crate::error::{MergeError, ReleaseError, WeightError};
use crate::mode::{Mode, Set};
use crate::shape::{F0Shape, Placement, RegularCells};
use crate::unit::Unit;
use crate::weight::{Weight, WeightRule};

/// Items that are hashed together before their cells are toggled: 16 KiB of hashes, which stay in the first-level cache.
const BATCH: usize = 1024;

/// A raw sketch: the parity of the items in every cell.
///
/// The sketch is `s = H x` over GF(2), where `x` says which items are there and column `j` of the public random matrix `H` has
/// a one in the cell of item `j` and nowhere else: an item touches one cell, in a table chosen with geometric probabilities
/// and at a place chosen uniformly ([`F0Shape`]). Linear sketches over GF(2) are of \[PS21\]; that an item touches one cell in
/// all, not one in each table, is \[resolved\]. With weights, the column is empty with probability `1 − w`.
/// Nothing is stored but the bits, so a sketch is linear: insertion and deletion are one operation, and the xor of two
/// sketches is the sketch of the sum modulo 2.
///
/// What goes in is said by the [`Mode`]: exact sets ([`Set`]) or streams with repetitions ([`Presampled`](crate::Presampled)).
///
/// # Privacy
/// Raw state is **not** private: it tells for every item whether it may be in the set. Only [`release`](Self::release)
/// makes something that can be published. `Debug` shows the shape only, and the cells are wiped when the sketch is
/// dropped.
///
/// # Examples
/// ```
/// use f0_sketch::{F0Shape, F0Sketch, WeightRule};
/// use f0_sketch::sketch_hash::DefaultHash;
///
/// let empty: F0Sketch = F0Sketch::new(F0Shape::DEFAULT, WeightRule::Unit, DefaultHash::default());
/// let mut a = empty.clone();
/// a.insert_u64(1);
/// a.insert_u64(2);
/// let mut b = empty.clone();
/// b.insert_u64(2);
/// b.insert_u64(3);
/// a.xor(&b)?; // the symmetric difference, 1 and 3
/// a.delete_u64(3);
/// a.delete_u64(1);
/// assert!(a.is_zero() && a == empty);
/// # Ok::<(), f0_sketch::MergeError>(())
/// ```
pub struct F0Sketch<M: Mode = Set, H: KeyedHash = DefaultHash> {
    shape: F0Shape,
    placement: Placement,
    rule: WeightRule,
    hash: H,
    pub(crate) cells: Cells,
    releases: u32,
    unit: Unit,
    /// In mode `presampled`, the sum of the noise levels at which these coins have been released.
    pub(crate) exposure: f64,
    /// In mode `presampled`, whether some coins can be repeated by others.
    pub(crate) insecure_coins: bool,
    /// In mode `presampled`, the names of these coins; none before the first one.
    pub(crate) coins: CoinSet,
    mode: PhantomData<M>,
}

/// Copies of a set are further releases of the same data, each at its own ε. Sketches in mode `presampled` have no copies.
impl<H: KeyedHash> Clone for F0Sketch<Set, H> {
    fn clone(&self) -> Self {
        self.copied()
    }
}

impl<M: Mode, H: KeyedHash> fmt::Debug for F0Sketch<M, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("F0Sketch")
            .field("mode", &M::KIND)
            .field("shape", &self.shape)
            .field("weights", &self.rule)
            .field("hash", &self.hash_id())
            .finish_non_exhaustive()
    }
}

/// Equal when shape, weights, hash, cells, unit and records of releases are.
impl<M: Mode, H: KeyedHash> PartialEq for F0Sketch<M, H> {
    fn eq(&self, other: &Self) -> bool {
        self.check_alike(other).is_ok()
            && self.cells == other.cells
            && (self.releases, self.unit) == (other.releases, other.unit)
            && self.exposure.to_bits() == other.exposure.to_bits()
            && self.insecure_coins == other.insecure_coins
            && self.coins == other.coins
    }
}

/// What a raw sketch records beside its cells.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) releases: u32,
    pub(crate) unit: Unit,
    pub(crate) exposure: f64,
    pub(crate) insecure_coins: bool,
    pub(crate) coins: CoinSet,
}

impl<M: Mode, H: KeyedHash> F0Sketch<M, H> {
    /// The sketch of nothing.
    #[must_use]
    pub fn new(shape: F0Shape, rule: WeightRule, hash: H) -> Self {
        let cells = Cells::new(&shape);
        let record =
            Record { releases: 0, unit: Unit::Item, exposure: 0.0, insecure_coins: false, coins: CoinSet::default() };
        Self::from_parts(shape, rule, hash, cells, record)
    }

    pub(crate) fn from_parts(shape: F0Shape, rule: WeightRule, hash: H, cells: Cells, record: Record) -> Self {
        let placement = shape.placement();
        let Record { releases, unit, exposure, insecure_coins, coins } = record;
        Self { shape, placement, rule, hash, cells, releases, unit, exposure, insecure_coins, coins, mode: PhantomData }
    }

    /// A copy, of coins too. Whoever makes one answers for what is released from both.
    pub(crate) fn copied(&self) -> Self
    where
        H: Clone,
    {
        Self::from_parts(self.shape.clone(), self.rule, self.hash.clone(), self.cells.clone(), self.record())
    }

    pub(crate) fn record(&self) -> Record {
        let Self { releases, unit, exposure, insecure_coins, .. } = *self;
        Record { releases, unit, exposure, insecure_coins, coins: self.coins.clone() }
    }

    /// States whom the input was bounded for: with [`Unit::User`], that no user has more than so many items in it.
    ///
    /// The statement stays with the sketch and in its bytes. From then on it is released for that unit only, and merges
    /// with no other sketch. It is made once: another one would let a user with many items pass for one with few.
    ///
    /// # Privacy
    /// The sketch cannot check it: whoever adds the items has to have bounded them.
    ///
    /// # Errors
    /// [`ReleaseError::Unit`] when the sketch is already for users, and `unit` is not those.
    ///
    /// # Examples
    /// ```
    /// use f0_sketch::{F0Shape, F0Sketch, Unit, WeightRule};
    /// use f0_sketch::sketch_hash::DefaultHash;
    /// let three = Unit::user(3).ok_or("at least one item")?;
    /// let raw: F0Sketch = F0Sketch::new(F0Shape::DEFAULT, WeightRule::Unit, DefaultHash::default());
    /// let bounded = raw.with_unit(three)?;
    /// assert!(bounded.clone().with_unit(Unit::Item).is_err());
    /// assert_eq!(bounded.unit(), three);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn with_unit(self, unit: Unit) -> Result<Self, ReleaseError> {
        self.check_unit(unit)?;
        Ok(Self { unit, ..self })
    }

    /// Whom the input was bounded for; an item unless [stated otherwise](Self::with_unit).
    #[must_use]
    pub const fn unit(&self) -> Unit {
        self.unit
    }

    /// The shape, which two sketches must share to be merged.
    #[must_use]
    pub const fn shape(&self) -> &F0Shape {
        &self.shape
    }

    /// Whether items have weights, and their largest.
    #[must_use]
    pub const fn weight_rule(&self) -> WeightRule {
        self.rule
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

    /// Whether all cells are 0, as they are when nothing is in the sketch.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.cells.is_zero()
    }

    /// Whether two sketches of one shape have the same cells, whatever else they record: copies, or sketches of the same set.
    #[must_use]
    pub fn same_cells(&self, other: &Self) -> bool {
        self.shape == other.shape && self.cells == other.cells
    }

    /// How often this data has been released before, as the program that keeps the file counts it.
    ///
    /// Stored in the raw bytes. [`release`](Self::release) consumes the sketch and does not count; a program that keeps
    /// raw files calls `record_release` and writes the file back *before* noise is drawn.
    #[must_use]
    pub const fn releases(&self) -> u32 {
        self.releases
    }

    /// The names of the secret coins in it, in rising order: those of every raw sketch that went into it. None in mode
    /// [`Set`](crate::Set), and before the first coin.
    #[must_use]
    pub fn coins(&self) -> &[CoinId] {
        self.coins.as_slice()
    }

    /// Raises the count of releases, staying at the largest number once there, and returns it.
    pub(crate) fn count_release(&mut self) -> u32 {
        self.releases = self.releases.saturating_add(1);
        self.releases
    }

    /// Takes over what another sketch records; both were unbounded.
    pub(crate) fn join_records(&mut self, other: &Self) {
        self.releases = self.releases.saturating_add(other.releases);
        // Tree of merges and releases: see `exposure` in the module `presampled`.
        self.exposure = self.exposure.max(other.exposure);
        self.insecure_coins |= other.insecure_coins;
        self.coins.append(&other.coins);
    }

    /// Nothing is left of a sketch whose cells were moved, and none of its coins.
    pub(crate) fn forget_records(&mut self) {
        (self.releases, self.exposure, self.insecure_coins) = (0, 0.0, false);
        self.coins.clear();
    }

    /// Everything two raw sketches must have in common to be merged.
    pub(crate) fn check_merge(&self, other: &Self) -> Result<(), MergeError> {
        self.check_alike(other)?;
        let (first, second) = (self.unit, other.unit);
        if (first, second) != (Unit::Item, Unit::Item) {
            return Err(MergeError::Unit { first, second });
        }
        self.coins.check_union(&other.coins)
    }

    fn check_alike(&self, other: &Self) -> Result<(), MergeError> {
        check_alike(&self.kind(), &other.kind())
    }

    pub(crate) fn kind(&self) -> Kind<'_> {
        Kind { hash_id: self.hash_id(), shape: &self.shape, rule: self.rule }
    }

    pub(crate) fn check_weighted(&self) -> Result<(), WeightError> {
        if self.rule == WeightRule::Unit { Err(WeightError::Unit) } else { Ok(()) }
    }

    /// Toggles the cell of one hashed item if it is kept and `coin` is odd.
    #[inline]
    pub(crate) fn toggle_one(&mut self, hash: [u64; 2], weight: Weight, coin: u64) {
        self.cells.toggle(&self.placement, hash, weight, coin);
    }

    /// Toggles the cells of hashed items for which `bit(index, hash)` is odd.
    #[inline]
    pub(crate) fn toggle_if(&mut self, hashes: &[[u64; 2]], bit: impl Fn(usize, [u64; 2]) -> u64) {
        self.cells.toggle_if(&self.placement, hashes, bit);
    }

    /// Toggles the cells of integers.
    pub(crate) fn toggle_integers(&mut self, items: &[u64]) {
        let Placement::Regular { levels, cells } = self.placement else {
            return self.batches_u64(items, |sketch, _, hashes| sketch.toggle_if(hashes, |_, _| 1));
        };
        let regular = RegularCells::new(levels, cells);
        for chunk in items.chunks(BATCH) {
            // From 2⁶³ on an integer is hashed in sixteen bytes.
            if chunk.iter().any(|item| item >> 63 == 1) {
                self.batches_u64(chunk, |sketch, _, hashes| sketch.toggle_if(hashes, |_, _| 1));
            } else {
                self.cells.toggle_words(&regular, &self.hash, chunk);
            }
        }
    }

    /// Hashes integers batch by batch and passes each batch on, with the place of its first item.
    pub(crate) fn batches_u64(&mut self, items: &[u64], toggle: impl FnMut(&mut Self, usize, &[[u64; 2]])) {
        self.batches(items, |hash, items, out| hash128_unsigned(hash, items, out), toggle);
    }

    /// Hashes byte strings batch by batch and passes each batch on, with the place of its first item.
    pub(crate) fn batches_bytes(&mut self, items: &[&[u8]], toggle: impl FnMut(&mut Self, usize, &[[u64; 2]])) {
        self.batches(items, |hash, items, out| hash.hash128_slices(Domain::Bytes, items, out), toggle);
    }

    fn batches<T>(
        &mut self,
        items: &[T],
        hash_all: impl Fn(&H, &[T], &mut [[u64; 2]]),
        mut toggle: impl FnMut(&mut Self, usize, &[[u64; 2]]),
    ) {
        let mut hashes = [[0; 2]; BATCH];
        for (index, chunk) in items.chunks(BATCH).enumerate() {
            let hashes = &mut hashes[..chunk.len()];
            hash_all(&self.hash, chunk, hashes);
            toggle(self, index * BATCH, hashes);
        }
        hashes.zeroize();
    }
}

/// What sketches must share to be put together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind<'a> {
    pub(crate) hash_id: HashId,
    pub(crate) shape: &'a F0Shape,
    pub(crate) rule: WeightRule,
}

/// Checks that two sketches have one hash, one shape and one rule of weights.
pub(crate) fn check_alike(first: &Kind<'_>, other: &Kind<'_>) -> Result<(), MergeError> {
    if first.hash_id != other.hash_id {
        return Err(MergeError::Hash { expected: first.hash_id, found: other.hash_id });
    }
    if first.shape != other.shape {
        return Err(MergeError::Shape { expected: first.shape.clone(), found: other.shape.clone() });
    }
    if first.rule != other.rule {
        return Err(MergeError::Weights { expected: first.rule, found: other.rule });
    }
    Ok(())
}
