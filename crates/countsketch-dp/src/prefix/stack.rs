//! The raw stack.

use dp_noise::{Neighbouring, NoiseSource, Permit, Rho};
use sketch_hash::{DefaultHash, HashId, Item, KeyedHash};

use crate::baseline::{DenseVector, refuse_clipping};
use crate::bound::ContributionBound;
use crate::error::{MergeError, ParamError, ReleaseError, UpdateError};
use crate::granularity::Granularity;
use crate::prefix::level::PrivateLevel;
use crate::prefix::{BudgetSplit, PrefixLayout, PrivatePrefixStack};
use crate::sketch::CountSketch;
use crate::user::UserContribution;

/// Counts of keys of n bits and of their prefixes, from which heavy keys can be found without a list of them.
///
/// Every record goes into every level, under the prefix of its key; a unit of privacy touches one cell a row in each, so the
/// levels share one budget, and one [`release`](Self::release) makes them all private at once.
///
/// # Privacy
/// Raw state is **not** private. `Debug` shows layout and bound, and the cells are wiped when the stack is dropped.
///
/// # Examples
/// See [`PrivatePrefixStack`].
#[derive(Clone)]
pub struct PrefixStack<H: KeyedHash = DefaultHash> {
    layout: PrefixLayout,
    hash: H,
    bound: ContributionBound,
    granularity: Granularity,
    levels: Vec<RawLevel<H>>,
}

/// One level before noise.
#[derive(Clone)]
#[expect(clippy::large_enum_variant, reason = "with the default hash, both are of one size; there are few levels")]
pub(super) enum RawLevel<H: KeyedHash> {
    Plain(DenseVector),
    Sketch(CountSketch<H>),
}

impl<H: KeyedHash> core::fmt::Debug for PrefixStack<H> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("PrefixStack")
            .field("layout", &self.layout)
            .field("hash", &self.hash.id())
            .field("bound", &self.bound)
            .finish_non_exhaustive()
    }
}

impl<H: KeyedHash> RawLevel<H> {
    fn add(&mut self, hash: &H, prefix: u64, weight: i64) -> Result<(), UpdateError> {
        match self {
            Self::Plain(vector) => vector.add(prefix, weight),
            Self::Sketch(sketch) => sketch.table.update(prefix_key(hash, prefix), weight),
        }
    }
}

/// The 64-bit hash of a prefix. Levels have tables of their own, so equal numbers at two levels do not meet.
pub(super) fn prefix_key<H: KeyedHash>(hash: &H, prefix: u64) -> u64 {
    Item::from(prefix).hash64(hash)
}

impl<H: KeyedHash + Clone> PrefixStack<H> {
    /// The stack of no data, for whole weights.
    ///
    /// # Errors
    /// [`ParamError::Clipped`] for a bound by clipping, which is for single sketches.
    pub fn new(layout: PrefixLayout, hash: H, bound: ContributionBound) -> Result<Self, ParamError> {
        Self::with_granularity(layout, hash, bound, Granularity::ONE)
    }

    /// The stack of no data, for weights on a grid; the bound is in grid units.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn with_granularity(
        layout: PrefixLayout,
        hash: H,
        bound: ContributionBound,
        granularity: Granularity,
    ) -> Result<Self, ParamError> {
        refuse_clipping(bound)?;
        let mut levels = Vec::with_capacity(layout.levels());
        for level in 0..layout.levels() {
            levels.push(match layout.plain_len(level) {
                Some(len) => RawLevel::Plain(DenseVector::with_granularity(len, bound, granularity)?),
                None => {
                    RawLevel::Sketch(CountSketch::with_granularity(layout.shape(), hash.clone(), bound, granularity))
                }
            });
        }
        Ok(Self { layout, hash, bound, granularity, levels })
    }
}

impl<H: KeyedHash> PrefixStack<H> {
    pub(super) const fn from_parts(
        layout: PrefixLayout,
        hash: H,
        bound: ContributionBound,
        granularity: Granularity,
        levels: Vec<RawLevel<H>>,
    ) -> Self {
        Self { layout, hash, bound, granularity, levels }
    }

    /// The levels.
    #[must_use]
    pub const fn layout(&self) -> &PrefixLayout {
        &self.layout
    }

    /// Which hash function and key decide the cells.
    #[must_use]
    pub fn hash_id(&self) -> HashId {
        self.hash.id()
    }

    /// Who is protected, and how much they may add, in grid units.
    #[must_use]
    pub const fn bound(&self) -> ContributionBound {
        self.bound
    }

    /// The unit of weights.
    #[must_use]
    pub const fn granularity(&self) -> Granularity {
        self.granularity
    }

    /// Raw stacks, bounded apart and merged into this one, that a user's data may be in; see [`CountSketch::parts`].
    #[must_use]
    pub fn parts(&self) -> u32 {
        self.levels.first().map_or(1, |level| match level {
            RawLevel::Plain(vector) => vector.as_row().parts(),
            RawLevel::Sketch(sketch) => sketch.parts(),
        })
    }

    /// How often this data has been released before; see [`CountSketch::releases`]. All levels have one count.
    #[must_use]
    pub fn releases(&self) -> u32 {
        self.levels.first().map_or(0, |level| match level {
            RawLevel::Plain(vector) => vector.as_row().releases(),
            RawLevel::Sketch(sketch) => sketch.releases(),
        })
    }

    /// Raises the count of releases and returns it; see [`CountSketch::record_release`].
    pub fn record_release(&mut self) -> u32 {
        for level in &mut self.levels {
            match level {
                RawLevel::Plain(vector) => vector.as_row_mut().record_release(),
                RawLevel::Sketch(sketch) => sketch.record_release(),
            };
        }
        self.releases()
    }

    pub(super) fn raw_levels(&self) -> &[RawLevel<H>] {
        &self.levels
    }

    /// Adds a weight, in grid units, to a key, at every level.
    ///
    /// # Errors
    /// [`UpdateError::User`] where users are bounded, [`UpdateError::Weight`] beyond the bound, [`UpdateError::Key`] for a
    /// key with too many bits, [`UpdateError::CounterOverflow`]. Nothing is changed then.
    pub fn update(&mut self, key: u64, weight: i64) -> Result<(), UpdateError> {
        if self.bound.is_user() {
            return Err(UpdateError::User { bound: self.bound });
        }
        let max = self.bound.max_weight();
        if weight.unsigned_abs() > max {
            return Err(UpdateError::Weight { max });
        }
        self.add(key, weight)
    }

    /// Adds what the bound leaves of all records of one user. Whole keys are bounded once, before they are cut into
    /// prefixes; see [`UserContribution`].
    ///
    /// # Errors
    /// [`UpdateError::Record`] where records are bounded, [`UpdateError::Key`], [`UpdateError::CounterOverflow`]. Nothing is
    /// changed then.
    pub fn add_user(&mut self, records: &[(u64, i64)]) -> Result<(), UpdateError> {
        if !self.bound.is_user() {
            return Err(UpdateError::Record { bound: self.bound });
        }
        let mut user = UserContribution::new(DefaultHash::default());
        for &(key, weight) in records {
            self.check_key(key)?;
            user.add_hash(key, weight);
        }
        // Only clipping looks at rows, and it is refused.
        let rows = crate::rows::RowHashes::new(self.layout.shape(), DefaultHash::default().id());
        let kept = user.bounded(self.bound, &rows);
        for (position, (&key, &weight)) in kept.keys.iter().zip(kept.weights.iter()).enumerate() {
            if let Err(error) = self.add(key, weight) {
                // Sums that fitted on the way up fit on the way down.
                for (&key, &weight) in kept.keys.iter().zip(kept.weights.iter()).take(position).rev() {
                    self.add(key, -weight)?;
                }
                return Err(error);
            }
        }
        Ok(())
    }

    fn check_key(&self, key: u64) -> Result<(), UpdateError> {
        if u128::from(key) < self.layout.end() { Ok(()) } else { Err(UpdateError::Key { end: self.layout.end() }) }
    }

    /// Adds to all levels or to none.
    fn add(&mut self, key: u64, weight: i64) -> Result<(), UpdateError> {
        self.check_key(key)?;
        for level in 0..self.levels.len() {
            if let Err(error) = self.add_to(level, key, weight) {
                for below in (0..level).rev() {
                    self.add_to(below, key, -weight)?;
                }
                return Err(error);
            }
        }
        Ok(())
    }

    fn add_to(&mut self, level: usize, key: u64, weight: i64) -> Result<(), UpdateError> {
        let missing = UpdateError::Key { end: self.layout.end() };
        let prefix = self.layout.prefix(level, key).ok_or(missing)?;
        self.levels[level].add(&self.hash, prefix, weight)
    }

    /// As [`CountSketch::same_counts`], of all levels.
    #[must_use]
    pub fn same_counts(&self, other: &Self) -> bool {
        let same = |pair: (&RawLevel<H>, &RawLevel<H>)| match pair {
            (RawLevel::Plain(mine), RawLevel::Plain(theirs)) => mine.as_row().same_counts(theirs.as_row()),
            (RawLevel::Sketch(mine), RawLevel::Sketch(theirs)) => mine.same_counts(theirs),
            _ => false,
        };
        self.layout == other.layout && self.levels.iter().zip(&other.levels).all(same)
    }

    /// Makes this the stack of both data sets. Where users are bounded, a user in both may have twice the bound, and the
    /// release takes noise for that.
    ///
    /// # Privacy
    /// Where records are bounded, each record must be in one input only, and no program can check it; see
    /// [`CountSketch::merge`].
    ///
    /// # Errors
    /// [`MergeError::Layout`] for other levels, and as [`CountSketch::merge`]. Nothing is changed then.
    pub fn merge(&mut self, other: &Self) -> Result<(), MergeError>
    where
        H: Clone,
    {
        if self.layout != other.layout {
            return Err(MergeError::Layout);
        }
        // Into a copy, because a later level may refuse.
        let mut levels = self.levels.clone();
        for pair in levels.iter_mut().zip(&other.levels) {
            match pair {
                (RawLevel::Plain(mine), RawLevel::Plain(theirs)) => mine.merge(theirs)?,
                (RawLevel::Sketch(mine), RawLevel::Sketch(theirs)) => mine.merge(theirs)?,
                _ => return Err(MergeError::Layout),
            }
        }
        self.levels = levels;
        Ok(())
    }

    /// Adds discrete Gaussian noise to every cell of every level and gives up the raw stack; the levels share the budget
    /// evenly.
    ///
    /// # Privacy
    /// ρ-zCDP for data sets that differ in one unit of the bound, added or removed. Level j gets ρⱼ with `Σρⱼ ≤ ρ`, rounded
    /// down, and noise `σⱼ² = D₂ⱼ²/(2ρⱼ)`, rounded up: `D₂² = W²` in a plain level and `k·W²` in a sketched one. No level can
    /// be released alone or again.
    ///
    /// # Errors
    /// As [`CountSketch::release`]. The raw stack and the permit are gone then, too.
    pub fn release<R>(self, permit: Permit<Rho>, noise: &mut R) -> Result<PrivatePrefixStack<H>, ReleaseError>
    where
        R: NoiseSource + ?Sized,
    {
        self.release_with(Neighbouring::AddRemove, &BudgetSplit::Uniform, permit, noise)
    }

    /// As [`release`](Self::release) with a choice of which data sets are neighbours and of how to split the budget.
    ///
    /// # Errors
    /// As [`release`](Self::release); [`ReleaseError::Split`] unless there is a weight above 0 for every level.
    #[expect(clippy::needless_pass_by_value, reason = "a permit is spent by the release, however it ends")]
    pub fn release_with<R>(
        self,
        relation: Neighbouring,
        split: &BudgetSplit,
        permit: Permit<Rho>,
        noise: &mut R,
    ) -> Result<PrivatePrefixStack<H>, ReleaseError>
    where
        R: NoiseSource + ?Sized,
    {
        let parts = split.parts(permit.cost(), self.levels.len())?;
        let mut levels = Vec::with_capacity(self.levels.len());
        for (level, rho) in self.levels.into_iter().zip(parts) {
            // Part of what the permit of the whole has paid.
            let permit = Permit::standalone(rho);
            levels.push(match level {
                RawLevel::Plain(vector) => PrivateLevel::Plain(vector.release_with(relation, permit, noise)?),
                RawLevel::Sketch(sketch) => PrivateLevel::Sketch(sketch.release_with(relation, permit, noise)?),
            });
        }
        Ok(PrivatePrefixStack::from_parts(self.layout, self.hash, levels))
    }
}
