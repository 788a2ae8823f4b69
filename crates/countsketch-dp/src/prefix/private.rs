//! The released stack.

use cardinality_estimators::Estimate;
use dp_noise::DisjointParts;
use sketch_hash::{DefaultHash, HashId, KeyedHash};

use crate::baseline::{PrivateVector, TotalWeight};
use crate::combiner::{count, wide};
use crate::error::MergeError;
use crate::granularity::Granularity;
use crate::interval::QueryOptions;
use crate::leaf::Leaf;
use crate::lineage::Loss;
use crate::prefix::PrefixLayout;
use crate::prefix::level::PrivateLevel;
use crate::query_error::QueryError;

/// A released [`PrefixStack`](crate::PrefixStack): heavy keys can be found in it, and prefixes counted.
///
/// # Privacy
/// Everything computed from it is post-processing. Each level states its own releases; [`rho_total`](Self::rho_total) is what
/// somebody in all of them paid.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), Box<dyn core::error::Error>> {
/// # #[cfg(feature = "os-rng")] {
/// use countsketch_dp::dp_noise::{NoiseRng, Permit, Rho};
/// use countsketch_dp::sketch_hash::DefaultHash;
/// use countsketch_dp::{ContributionBound, CountSketchShape, PrefixLayout, PrefixSearch, PrefixStack, TotalWeight};
/// let layout = PrefixLayout::new(32, 6, CountSketchShape::new(5, 1024)?)?;
/// let mut raw = PrefixStack::new(layout, DefaultHash::default(), ContributionBound::UNIT_ENTRY)?;
/// for record in 0..10_000 {
///     raw.update(if record % 2 == 0 { 0xdead_beef } else { record }, 1)?;
/// }
/// let private = raw.release(Permit::standalone(Rho::new(0.5)?), &mut NoiseRng::from_os()?)?;
/// let hits = private.search(&PrefixSearch::above(1000.0).total(TotalWeight::public(10_000.0)?))?;
/// assert_eq!(hits.found.iter().map(|hit| hit.key).collect::<Vec<_>>(), [0xdead_beef]);
/// # }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct PrivatePrefixStack<H: KeyedHash = DefaultHash> {
    layout: PrefixLayout,
    hash: H,
    levels: Vec<PrivateLevel>,
}

impl<H: KeyedHash> core::fmt::Debug for PrivatePrefixStack<H> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("PrivatePrefixStack")
            .field("layout", &self.layout)
            .field("hash", &self.hash.id())
            .field("rho_total", &self.rho_total())
            .field("insecure_noise", &self.insecure_noise())
            .finish_non_exhaustive()
    }
}

/// Equal when hash and all levels are.
impl<H: KeyedHash> PartialEq for PrivatePrefixStack<H> {
    fn eq(&self, other: &Self) -> bool {
        self.layout == other.layout && self.hash.id() == other.hash.id() && self.levels == other.levels
    }
}

impl<H: KeyedHash> PrivatePrefixStack<H> {
    pub(super) const fn from_parts(layout: PrefixLayout, hash: H, levels: Vec<PrivateLevel>) -> Self {
        Self { layout, hash, levels }
    }

    /// The levels.
    #[must_use]
    pub const fn layout(&self) -> &PrefixLayout {
        &self.layout
    }

    /// Which hash function and key decided the cells.
    #[must_use]
    pub fn hash_id(&self) -> HashId {
        self.hash.id()
    }

    pub(super) const fn hash(&self) -> &H {
        &self.hash
    }

    pub(super) fn private_levels(&self) -> &[PrivateLevel] {
        &self.levels
    }

    /// The releases of a level; none for a level that does not exist.
    #[must_use]
    pub fn leaves(&self, level: usize) -> &[Leaf] {
        self.levels.get(level).map_or(&[], PrivateLevel::leaves)
    }

    /// What one unit paid for all levels together, in zCDP; rounded up. `None` where releases protect different units.
    #[must_use]
    pub fn rho_total(&self) -> Option<f64> {
        let losses = self.levels.iter().map(|level| level.as_sketch().lineage().total());
        losses.reduce(Loss::plus)?.rho()
    }

    /// Whether some noise came from the test generator, so that nobody is protected.
    #[must_use]
    pub fn insecure_noise(&self) -> bool {
        self.levels.iter().any(|level| level.as_sketch().insecure_noise())
    }

    /// The unit of weights, the same at all levels.
    #[must_use]
    pub fn granularity(&self) -> Granularity {
        self.levels.first().map_or(Granularity::ONE, |level| level.as_sketch().granularity())
    }

    /// The total weight, as the sum of the cells of the shortest plain level, with the variance of its noise. `None` without
    /// a plain level: signs cancel in a sketch.
    #[must_use]
    pub fn total(&self) -> Option<TotalWeight> {
        let vector = self.levels.iter().find_map(|level| match level {
            PrivateLevel::Plain(vector) => Some(vector),
            PrivateLevel::Sketch(_) => None,
        })?;
        let step = vector.as_row().granularity().step();
        let sum: i128 = vector.cells().iter().map(|&cell| i128::from(cell)).sum();
        let variance = count(vector.cells().len()) * vector.noise_variance();
        TotalWeight::released(wide(sum) * step, variance * step * step).ok()
    }

    /// The frequency of a prefix at a level, in units of weight. The options' combiner and interval method are those of a
    /// sketched level; a plain level has normal noise around its counter.
    ///
    /// # Errors
    /// [`QueryError::Index`] for a level or prefix that does not exist, [`QueryError::Domain`] as
    /// [`PrivateCountSketch::frequencies`](crate::PrivateCountSketch::frequencies).
    pub fn estimate(&self, level: usize, prefix: u64, options: QueryOptions) -> Result<Estimate, QueryError> {
        let missing = QueryError::Index { len: count_of(self.levels.len()), found: count_of(level) };
        let (found, length) = self.levels.get(level).zip(self.layout.lengths().get(level)).ok_or(missing)?;
        if prefix.checked_shr(u32::from(*length)).is_some_and(|rest| rest != 0) {
            return Err(QueryError::Index { len: 1 << length, found: prefix });
        }
        if let PrivateLevel::Sketch(sketch) = found {
            let key = super::stack::prefix_key(&self.hash, prefix);
            return Ok(sketch.frequencies(options)?.estimate(key)?);
        }
        let reader = found.reader(options.confidence, options.simultaneous)?;
        let mut value = [0.0];
        reader.values(&self.hash, &[prefix], &mut value);
        Ok(reader.answer(&self.hash, prefix, value[0])?)
    }

    /// The stack of both data sets, level by level; noise adds up, and so does what somebody in both paid.
    ///
    /// # Errors
    /// [`MergeError::Layout`] for other levels, and as
    /// [`PrivateCountSketch::merge`](crate::PrivateCountSketch::merge).
    pub fn merge(&self, other: &Self) -> Result<Self, MergeError>
    where
        H: Clone,
    {
        self.join(other, None)
    }

    /// As [`merge`](Self::merge) of data sets with no unit in both, by the caller's word: the larger cost counts.
    ///
    /// # Errors
    /// As for [`merge`](Self::merge).
    pub fn merge_disjoint(&self, other: &Self, assumption: DisjointParts) -> Result<Self, MergeError>
    where
        H: Clone,
    {
        self.join(other, Some(assumption))
    }

    fn join(&self, other: &Self, disjoint: Option<DisjointParts>) -> Result<Self, MergeError>
    where
        H: Clone,
    {
        if self.layout != other.layout {
            return Err(MergeError::Layout);
        }
        let mut levels = Vec::with_capacity(self.levels.len());
        for (mine, theirs) in self.levels.iter().zip(&other.levels) {
            let (left, right) = (mine.as_sketch(), theirs.as_sketch());
            let sum = match disjoint {
                None => left.merge(right)?,
                Some(assumption) => left.merge_disjoint(right, assumption)?,
            };
            levels.push(match mine {
                PrivateLevel::Plain(_) => PrivateLevel::Plain(PrivateVector::from_row(sum)),
                PrivateLevel::Sketch(_) => PrivateLevel::Sketch(sum),
            });
        }
        Ok(Self { layout: self.layout.clone(), hash: self.hash.clone(), levels })
    }
}

fn count_of(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
