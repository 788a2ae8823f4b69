//! A raw stack as it is kept in a file.

use countsketch_dp::{
    BudgetSplit, ContributionBound, CountSketchShape, Exposure, Granularity, PrefixLayout, PrefixStack, SensitiveBytes,
    prefix_hash_id,
};
use dp_noise::{Neighbouring, NoiseRng, Permit, Rho};
use sketch_hash::HashId;

use super::private::RecordedPrefixStack;
use crate::error::Error;
use crate::raw::RecordedHash;
use crate::raw_file::CountsReleases;

/// A raw prefix stack as it is kept in a file: everything can be done with it but adding items.
///
/// # Privacy
/// Raw state is as sensitive as the data. `Debug` shows layout, hash and bound only.
///
/// # Examples
/// See [`PrefixBuilder`](crate::PrefixBuilder).
#[derive(Clone, Debug)]
pub struct RawPrefixStack(PrefixStack<RecordedHash>);

/// Equal when their bytes are.
impl PartialEq for RawPrefixStack {
    fn eq(&self, other: &Self) -> bool {
        self.to_sensitive_bytes() == other.to_sensitive_bytes()
    }
}

impl RawPrefixStack {
    /// Reads a raw file.
    ///
    /// # Errors
    /// [`ErrorKind::Damaged`](crate::ErrorKind::Damaged) for anything that is no raw prefix stack.
    pub fn from_sensitive_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let hash = RecordedHash::new(prefix_hash_id(bytes)?);
        Ok(Self(PrefixStack::from_sensitive_bytes(bytes, hash)?))
    }

    /// The bytes of a raw file. As sensitive as the data.
    #[must_use]
    pub fn to_sensitive_bytes(&self) -> SensitiveBytes {
        self.0.to_sensitive_bytes()
    }

    /// The levels.
    #[must_use]
    pub const fn layout(&self) -> &PrefixLayout {
        self.0.layout()
    }

    /// Which hash function and key made it.
    #[must_use]
    pub fn hash_id(&self) -> HashId {
        self.0.hash_id()
    }

    /// Who is protected, and how much they may have added, in grid units.
    #[must_use]
    pub const fn bound(&self) -> ContributionBound {
        self.0.bound()
    }

    /// The unit of weights.
    #[must_use]
    pub const fn granularity(&self) -> Granularity {
        self.0.granularity()
    }

    /// Raw stacks, bounded apart and added up, that one user's data may be in.
    #[must_use]
    pub fn parts(&self) -> u32 {
        self.0.parts()
    }

    /// How often this data was released before.
    #[must_use]
    pub fn releases(&self) -> u32 {
        self.0.releases()
    }

    /// Whether both have the same levels and terms and the same counters, not all of them 0.
    #[must_use]
    pub fn same_counts(&self, other: &Self) -> bool {
        self.0.same_counts(&other.0)
    }

    /// Adds the weights of `other`; the count of releases becomes the sum.
    ///
    /// # Privacy
    /// As for [`RawCountSketch::merge`](crate::RawCountSketch::merge).
    ///
    /// # Errors
    /// [`ErrorKind::Incompatible`](crate::ErrorKind::Incompatible) when levels, hashes, grids or bounds differ, and where a counter
    /// would overflow.
    pub fn merge(&mut self, other: &Self) -> Result<(), Error> {
        Ok(self.0.merge(&other.0)?)
    }

    /// Whether a release at ρ would be refused, to be asked before anything is paid for.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter) where the share of a level, sensitivity or noise are out of range.
    pub fn check_release(&self, relation: Neighbouring, rho: Rho) -> Result<(), Error> {
        let levels = self.layout().levels();
        let part = rho.divide(u32::try_from(levels).unwrap_or(u32::MAX))?;
        // A sketched level has the largest sensitivity; a plain one has one row.
        let sketched = (0..levels).any(|level| !self.layout().is_plain(level));
        let shape = if sketched { self.layout().shape() } else { CountSketchShape::new(1, 2)? };
        Exposure::new(shape, self.bound(), self.parts(), relation).gaussian(part)?;
        Ok(())
    }

    /// Adds Gaussian noise to all levels, which share ρ evenly, and gives up the raw stack.
    ///
    /// # Errors
    /// As [`RawCountSketch::release`](crate::RawCountSketch::release).
    ///
    /// # Privacy
    /// ρ-zCDP of the permit for data sets that differ in one [unit](Self::bound), as `relation` says. The caller keeps the books.
    pub fn release_paid(self, relation: Neighbouring, permit: Permit<Rho>) -> Result<RecordedPrefixStack, Error> {
        self.release_with(relation, permit, &mut NoiseRng::from_os()?)
    }

    pub(crate) fn release_with(
        self,
        relation: Neighbouring,
        permit: Permit<Rho>,
        noise: &mut NoiseRng,
    ) -> Result<RecordedPrefixStack, Error> {
        Ok(RecordedPrefixStack(self.0.release_with(relation, &BudgetSplit::Uniform, permit, noise)?))
    }
}

impl CountsReleases for RawPrefixStack {
    fn releases(&self) -> u32 {
        Self::releases(self)
    }

    fn record_release(&mut self) -> u32 {
        self.0.record_release()
    }

    fn to_file(&self) -> impl AsRef<[u8]> {
        self.to_sensitive_bytes()
    }
}
