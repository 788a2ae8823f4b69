//! The table of Count-Min and Count-Mean: a CountSketch without signs.

use dp_noise::{Neighbouring, NoiseSource, Permit, Rho};
use sketch_hash::{DefaultHash, HashId, Item, KeyedHash};

use crate::baseline::refuse_clipping;
use crate::bound::ContributionBound;
use crate::combiner::integer;
use crate::error::{MergeError, ParamError, ReleaseError, UpdateError};
use crate::granularity::Granularity;
use crate::kernel::Weights;
use crate::leaf::Leaf;
use crate::private::PrivateCountSketch;
use crate::shape::CountSketchShape;
use crate::sketch::CountSketch;
use crate::user::UserContribution;

/// The raw table of Count-Min and Count-Mean: every row adds all weights of a bucket, without signs.
///
/// One table serves both estimators, as both are functions of it: the minimum of an item's cells
/// ([`PrivateUnsignedSketch::count_min`]), and their mean without the average load
/// ([`PrivateUnsignedSketch::count_mean`]). Sensitivities are those of a CountSketch of the same shape, `D₁ = kW` and
/// `D₂ = √k·W`.
///
/// # Privacy
/// Raw state is **not** private; only [`release`](Self::release) makes something that can be published. `Debug` shows the
/// shape and the bound, and the cells are wiped when the table is dropped.
///
/// # Examples
/// See [`PrivateUnsignedSketch`].
#[derive(Clone)]
pub struct UnsignedSketch<H: KeyedHash = DefaultHash> {
    /// A sketch whose cells are added to without signs.
    cells: CountSketch<H>,
}

impl<H: KeyedHash> core::fmt::Debug for UnsignedSketch<H> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("UnsignedSketch")
            .field("shape", &self.shape())
            .field("bound", &self.bound())
            .finish_non_exhaustive()
    }
}

impl<H: KeyedHash> UnsignedSketch<H> {
    /// The table of no data, for whole weights.
    ///
    /// # Errors
    /// [`ParamError::Clipped`] for a bound by clipping.
    pub fn new(shape: CountSketchShape, hash: H, bound: ContributionBound) -> Result<Self, ParamError> {
        Self::with_granularity(shape, hash, bound, Granularity::ONE)
    }

    /// The table of no data, for weights on a grid; the bound is in grid units.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn with_granularity(
        shape: CountSketchShape,
        hash: H,
        bound: ContributionBound,
        granularity: Granularity,
    ) -> Result<Self, ParamError> {
        refuse_clipping(bound)?;
        Ok(Self { cells: CountSketch::with_granularity(shape, hash, bound, granularity) })
    }

    /// Rows and width.
    #[must_use]
    pub const fn shape(&self) -> CountSketchShape {
        self.cells.shape()
    }

    /// Who is protected, and how much they may add, in grid units.
    #[must_use]
    pub const fn bound(&self) -> ContributionBound {
        self.cells.bound()
    }

    /// Adds a weight, in grid units, to an integer.
    ///
    /// # Errors
    /// As [`update_hash`](Self::update_hash).
    pub fn update_u64(&mut self, item: u64, weight: i64) -> Result<(), UpdateError> {
        self.update_hash(Item::from(item).hash64(self.cells.hash()), weight)
    }

    /// Adds a weight, in grid units, to an item known by its 64-bit hash.
    ///
    /// # Errors
    /// [`UpdateError::User`] where users are bounded, [`UpdateError::Weight`] beyond the bound,
    /// [`UpdateError::CounterOverflow`]. Nothing is changed then.
    pub fn update_hash(&mut self, key: u64, weight: i64) -> Result<(), UpdateError> {
        self.cells.check_weights(Weights::Each(&[weight]))?;
        self.add(key, weight)
    }

    /// Adds what the bound leaves of all records of one user.
    ///
    /// # Errors
    /// As [`CountSketch::add_user`]. Nothing is changed then.
    pub fn add_user(&mut self, mut user: UserContribution<H>) -> Result<(), UpdateError> {
        if !self.bound().is_user() {
            return Err(UpdateError::Record { bound: self.bound() });
        }
        let (expected, found) = (self.cells.hash_id(), user.hash_id());
        if expected != found {
            return Err(UpdateError::Hash { expected, found });
        }
        let kept = user.bounded(self.bound(), self.cells.rows());
        for (position, (&key, &weight)) in kept.keys.iter().zip(kept.weights.iter()).enumerate() {
            if let Err(error) = self.add(key, weight) {
                for (&key, &weight) in kept.keys.iter().zip(kept.weights.iter()).take(position).rev() {
                    self.add(key, -weight)?;
                }
                return Err(error);
            }
        }
        Ok(())
    }

    fn add(&mut self, key: u64, weight: i64) -> Result<(), UpdateError> {
        let shape = self.shape();
        let place = |(row, (bucket, _)): (usize, (usize, i64))| shape.row_range(row).start + bucket;
        let places: Vec<usize> = self.cells.rows().places(key).enumerate().map(place).collect();
        self.cells.table.add_at(&places, weight)
    }

    /// Makes this the table of both data sets.
    ///
    /// # Privacy
    /// Where records are bounded, each record must be in one input only, and no program can check it; see
    /// [`CountSketch::merge`].
    ///
    /// # Errors
    /// As [`CountSketch::merge`]. Nothing is changed then.
    pub fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        self.cells.merge(&other.cells)
    }

    /// Adds discrete Gaussian noise to every cell and gives up the raw table.
    ///
    /// # Privacy
    /// ρ-zCDP for data sets that differ in one unit of the bound, added or removed, as [`CountSketch::release`].
    ///
    /// # Errors
    /// As [`CountSketch::release`].
    pub fn release<R>(self, permit: Permit<Rho>, noise: &mut R) -> Result<PrivateUnsignedSketch, ReleaseError>
    where
        R: NoiseSource + ?Sized,
    {
        self.release_with(Neighbouring::AddRemove, permit, noise)
    }

    /// As [`release`](Self::release) with a choice of which data sets are neighbours.
    ///
    /// # Errors
    /// As [`CountSketch::release`].
    pub fn release_with<R>(
        self,
        relation: Neighbouring,
        permit: Permit<Rho>,
        noise: &mut R,
    ) -> Result<PrivateUnsignedSketch, ReleaseError>
    where
        R: NoiseSource + ?Sized,
    {
        Ok(PrivateUnsignedSketch { cells: self.cells.release_with(relation, permit, noise)? })
    }
}

/// A released [`UnsignedSketch`]: Private Count-Min \[MDDC16\] and the central Count-Mean sketch.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), Box<dyn core::error::Error>> {
/// # #[cfg(feature = "os-rng")] {
/// use countsketch_dp::{ContributionBound, CountSketchShape, TotalWeight, UnsignedSketch};
/// use countsketch_dp::cardinality_estimators::Confidence;
/// use countsketch_dp::dp_noise::{NoiseRng, Permit, Rho};
/// use countsketch_dp::sketch_hash::{DefaultHash, Item};
/// let hash = DefaultHash::default();
/// let mut raw = UnsignedSketch::new(CountSketchShape::new(15, 1024)?, hash.clone(), ContributionBound::UNIT_ENTRY)?;
/// for _ in 0..1000 {
///     raw.update_u64(7, 1)?;
/// }
/// let private = raw.release(Permit::standalone(Rho::new(0.5)?), &mut NoiseRng::from_os()?)?;
/// assert!((private.noise_bias() + 6.723).abs() < 1e-3); // the minimum of 15 values of variance 15
/// let key = Item::from(7_u64).hash64(&hash);
/// let total = TotalWeight::public(1000.0)?;
/// let (least, mean) = (private.count_min(key, total, Confidence::P95)?, private.count_mean(key, total, Confidence::P95)?);
/// assert!((least.value().ok_or("none")? - 993.0).abs() < 20.0);
/// assert!((mean.value().ok_or("none")? - 1000.0).abs() < 20.0);
/// # }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PrivateUnsignedSketch {
    /// Never asked with signs.
    cells: PrivateCountSketch,
}

impl PrivateUnsignedSketch {
    /// Rows and width.
    #[must_use]
    pub const fn shape(&self) -> CountSketchShape {
        self.cells.shape()
    }

    /// Which hash function and key decided the cells.
    #[must_use]
    pub const fn hash_id(&self) -> HashId {
        self.cells.hash_id()
    }

    /// The variance of the noise of a cell, in squared grid units.
    #[must_use]
    pub const fn noise_variance(&self) -> f64 {
        self.cells.noise_variance()
    }

    /// The variance of the normal law behind the tails of a counter's noise.
    pub(super) fn tail_variance(&self) -> f64 {
        self.cells.tail_variance()
    }

    /// The releases in it.
    #[must_use]
    pub fn leaves(&self) -> &[Leaf] {
        self.cells.leaves()
    }

    /// What one unit paid, in zCDP.
    #[must_use]
    pub fn rho_total(&self) -> Option<f64> {
        self.cells.rho_total()
    }

    /// Whether some noise came from the test generator.
    #[must_use]
    pub const fn insecure_noise(&self) -> bool {
        self.cells.insecure_noise()
    }

    /// All noisy cells, row after row, in grid units.
    #[must_use]
    pub fn all_cells(&self) -> &[i64] {
        self.cells.all_cells()
    }

    /// The unit of weight.
    pub(super) fn step(&self) -> f64 {
        self.cells.granularity().step()
    }

    /// An item's cells, in units of weight.
    pub(super) fn row_values(&self, key: u64) -> Vec<f64> {
        let rows = self.cells.rows().places(key).enumerate();
        rows.map(|(row, (bucket, _))| integer(self.cells.cells(row)[bucket]) * self.step()).collect()
    }

    /// The noisy cells of every row, in units of weight.
    pub(super) fn rows(&self) -> impl Iterator<Item = &[i64]> {
        (0..usize::from(self.shape().rows())).map(|row| self.cells.cells(row))
    }
}
