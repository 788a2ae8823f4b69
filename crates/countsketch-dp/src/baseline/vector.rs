//! The Gaussian mechanism on the vector itself.

use cardinality_estimators::{Confidence, Estimate};
use dp_noise::{Neighbouring, NoiseSource, Permit, Rho};
use sketch_hash::DefaultHash;

use crate::answer::signed;
use crate::baseline::refuse_clipping;
use crate::bound::ContributionBound;
use crate::combiner::integer;
use crate::error::{MergeError, ParamError, ReleaseError, UpdateError};
use crate::granularity::Granularity;
use crate::kernel::Weights;
use crate::leaf::Leaf;
use crate::private::PrivateCountSketch;
use crate::query_error::QueryError;
use crate::shape::CountSketchShape;
use crate::sketch::CountSketch;
use crate::theory::{DomainError, MedianOfGaussians};
use crate::user::UserContribution;

/// One counter for each of a known set of items: the yardstick for every sketch.
///
/// No hashing, no collisions, so `D₁ = W` and `D₂ = W` for a unit of total weight W: noise of variance `1/(2ρ)` a counter
/// for records of weight 1. A CountSketch pays at most `√(π/2)` times its standard deviation, plus its own collisions, and
/// needs no list of items.
///
/// # Privacy
/// Raw state is **not** private; only [`release`](Self::release) makes something that can be published. `Debug` shows the
/// length and the bound, and the counters are wiped when the vector is dropped.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), Box<dyn core::error::Error>> {
/// # #[cfg(feature = "os-rng")] {
/// use countsketch_dp::{ContributionBound, DenseVector};
/// use countsketch_dp::cardinality_estimators::Confidence;
/// use countsketch_dp::dp_noise::{NoiseRng, Permit, Rho};
/// let mut raw = DenseVector::new(100, ContributionBound::entry(1000)?)?;
/// raw.update(7, 1000)?;
/// let private = raw.release(Permit::standalone(Rho::new(500_000.0 / 65_536.0)?), &mut NoiseRng::from_os()?)?;
/// assert_eq!(private.noise_variance(), 65_536.0); // W²/(2ρ)
/// let answer = private.estimate(7, Confidence::P95)?;
/// assert_eq!(answer.std_error(), Some(256.0));
/// # }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct DenseVector {
    /// One row, whose cells are the counters: its hash is never used.
    cells: CountSketch,
}

impl core::fmt::Debug for DenseVector {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("DenseVector").field("len", &self.len()).field("bound", &self.bound()).finish_non_exhaustive()
    }
}

impl DenseVector {
    /// The zero vector of `len` items, for whole weights.
    ///
    /// # Errors
    /// [`ParamError::Width`] unless `len` lies in 2 ..= 2²⁴, [`ParamError::Clipped`] for a bound by clipping.
    pub fn new(len: u32, bound: ContributionBound) -> Result<Self, ParamError> {
        Self::with_granularity(len, bound, Granularity::ONE)
    }

    /// The zero vector, for weights on a grid; the bound is in grid units.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn with_granularity(len: u32, bound: ContributionBound, granularity: Granularity) -> Result<Self, ParamError> {
        refuse_clipping(bound)?;
        let shape = CountSketchShape::new(1, len)?;
        Ok(Self { cells: CountSketch::with_granularity(shape, DefaultHash::default(), bound, granularity) })
    }

    /// How many items there are.
    #[must_use]
    pub const fn len(&self) -> u32 {
        self.cells.shape().width()
    }

    /// Whether all counters are zero.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Who is protected, and how much they may add, in grid units.
    #[must_use]
    pub const fn bound(&self) -> ContributionBound {
        self.cells.bound()
    }

    /// Adds a weight, in grid units, to the item at `index`.
    ///
    /// # Errors
    /// [`UpdateError::User`] where users are bounded, [`UpdateError::Weight`] beyond the bound, [`UpdateError::Key`] beyond
    /// the end, [`UpdateError::CounterOverflow`]. Nothing is changed then.
    pub fn update(&mut self, index: u64, weight: i64) -> Result<(), UpdateError> {
        self.cells.check_weights(Weights::Each(&[weight]))?;
        self.add(index, weight)
    }

    /// Adds what the bound leaves of all records of one user; see [`UserContribution`].
    ///
    /// # Errors
    /// [`UpdateError::Record`] where records are bounded, [`UpdateError::Key`] for an index beyond the end,
    /// [`UpdateError::CounterOverflow`]. Nothing is changed then.
    pub fn add_user(&mut self, records: &[(u64, i64)]) -> Result<(), UpdateError> {
        if !self.bound().is_user() {
            return Err(UpdateError::Record { bound: self.bound() });
        }
        let mut user = UserContribution::new(DefaultHash::default());
        for &(index, weight) in records {
            self.check_index(index)?;
            user.add_hash(index, weight);
        }
        let kept = user.bounded(self.bound(), self.cells.rows());
        for (position, (&index, &weight)) in kept.keys.iter().zip(kept.weights.iter()).enumerate() {
            if let Err(error) = self.add(index, weight) {
                // Sums that fitted on the way up fit on the way down.
                for (&index, &weight) in kept.keys.iter().zip(kept.weights.iter()).take(position).rev() {
                    self.add(index, -weight)?;
                }
                return Err(error);
            }
        }
        Ok(())
    }

    fn check_index(&self, index: u64) -> Result<usize, UpdateError> {
        let end = u128::from(self.len());
        match usize::try_from(index) {
            Ok(place) if u128::from(index) < end => Ok(place),
            _ => Err(UpdateError::Key { end }),
        }
    }

    /// Adds whatever weight.
    pub(crate) fn add(&mut self, index: u64, weight: i64) -> Result<(), UpdateError> {
        let place = self.check_index(index)?;
        self.cells.table.add_at(&[place], weight)
    }

    /// Makes this the vector of both data sets.
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

    /// Adds discrete Gaussian noise to every counter and gives up the raw vector.
    ///
    /// # Privacy
    /// ρ-zCDP for data sets that differ in one unit of the bound, added or removed; the list of items is public.
    ///
    /// # Errors
    /// As [`CountSketch::release`].
    pub fn release<R>(self, permit: Permit<Rho>, noise: &mut R) -> Result<PrivateVector, ReleaseError>
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
    ) -> Result<PrivateVector, ReleaseError>
    where
        R: NoiseSource + ?Sized,
    {
        Ok(PrivateVector { cells: self.cells.release_with(relation, permit, noise)? })
    }

    /// The counters as one row of a sketch.
    pub(crate) const fn as_row(&self) -> &CountSketch {
        &self.cells
    }

    pub(crate) const fn as_row_mut(&mut self) -> &mut CountSketch {
        &mut self.cells
    }

    /// From one row of a sketch.
    pub(crate) const fn from_row(cells: CountSketch) -> Self {
        Self { cells }
    }
}

/// A released [`DenseVector`].
#[derive(Clone, Debug, PartialEq)]
pub struct PrivateVector {
    cells: PrivateCountSketch,
}

impl PrivateVector {
    /// How many items there are.
    #[must_use]
    pub const fn len(&self) -> u32 {
        self.cells.shape().width()
    }

    /// False: a vector has at least two items.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The noisy counters, in grid units.
    #[must_use]
    pub fn cells(&self) -> &[i64] {
        self.cells.all_cells()
    }

    /// The variance of the noise of a counter, in squared grid units.
    #[must_use]
    pub const fn noise_variance(&self) -> f64 {
        self.cells.noise_variance()
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

    /// The frequency of the item at `index`, in units of weight: the counter, with normal noise around it. Truth and counter
    /// lie on the grid, so the interval ends there, too: the normal quantile is rounded up to a whole grid unit.
    ///
    /// # Errors
    /// [`QueryError::Index`] beyond the end.
    pub fn estimate(&self, index: u64, confidence: Confidence) -> Result<Estimate, QueryError> {
        let place = usize::try_from(index).ok();
        let missing = QueryError::Index { len: u64::from(self.len()), found: index };
        let cell = place.and_then(|place| self.cells().get(place)).ok_or(missing)?;
        let step = self.cells.granularity().step();
        let (value, half) = (integer(*cell) * step, self.half_width(1.0 - confidence.get())?);
        Ok(signed(value, self.noise_variance().sqrt() * step, (Some(value - half), Some(value + half)), confidence)?)
    }

    /// By how much a counter is off with at most this probability, in units of weight.
    ///
    /// A whole number `h` of grid units: `P[|N| > h] = P[|N| ≥ h + 1] ≤ P[|G| ≥ h]` for a discrete Gaussian N and the normal G of
    /// the same parameter, so the normal quantile rounded up will do, and rounded down will not.
    pub(crate) fn half_width(&self, miss: f64) -> Result<f64, DomainError> {
        let law = MedianOfGaussians::new(1, self.cells.tail_variance())?;
        Ok(law.upper_quantile(miss).ceil() * self.cells.granularity().step())
    }

    /// The counters as one row of a sketch.
    pub(crate) const fn as_row(&self) -> &PrivateCountSketch {
        &self.cells
    }

    /// From one row of a sketch.
    pub(crate) const fn from_row(cells: PrivateCountSketch) -> Self {
        Self { cells }
    }
}
