//! Sums, differences and multiples of private sketches.

use dp_noise::DisjointParts;

use crate::error::MergeError;
use crate::leaf::{Leaf, first_repeated};
use crate::lineage::{Lineage, LineageError, MAX_RELEASES};
use crate::linear::check_alike;
use crate::private::PrivateCountSketch;

impl PrivateCountSketch {
    /// The private sketch of both data sets: cells add up, and so do the variances of their noise.
    ///
    /// # Privacy
    /// Costs nothing: both were private before. Somebody in both data sets paid for both, so
    /// [`rho_total`](Self::rho_total) adds up; see [`merge_disjoint`](Self::merge_disjoint).
    ///
    /// # Errors
    /// [`MergeError`] for another hash, shape or granularity, for a release that is in both (its noise is not independent of
    /// itself), and where a counter would overflow.
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # #[cfg(feature = "os-rng")] {
    /// use countsketch_dp::{ContributionBound, CountSketch, CountSketchShape};
    /// use countsketch_dp::dp_noise::{DisjointParts, NoiseRng, Permit, Rho};
    /// use countsketch_dp::sketch_hash::DefaultHash;
    /// let mut noise = NoiseRng::from_os()?;
    /// let mut party = |rho| -> Result<_, Box<dyn core::error::Error>> {
    ///     let shape = CountSketchShape::new(5, 1024)?;
    ///     let raw = CountSketch::new(shape, DefaultHash::default(), ContributionBound::UNIT_ENTRY);
    ///     Ok(raw.release(Permit::standalone(Rho::new(rho)?), &mut noise)?)
    /// };
    /// let (a, b) = (party(0.5)?, party(0.25)?);
    /// let both = a.merge(&b)?;
    /// assert_eq!((both.noise_variance(), both.rho_total()), (5.0 + 10.0, Some(0.75)));
    /// assert_eq!(a.merge_disjoint(&b, DisjointParts::EachUnitInOnePart)?.rho_total(), Some(0.5));
    /// assert!(a.merge(&a).is_err(), "one release twice");
    /// # }
    /// # Ok(())
    /// # }
    /// ```
    pub fn merge(&self, other: &Self) -> Result<Self, MergeError> {
        Self::join(&[self, other], false)
    }

    /// As [`merge`](Self::merge) of sketches with no unit of privacy in common: [`rho_total`](Self::rho_total) becomes the larger
    /// one.
    ///
    /// # Privacy
    /// The smaller statement is sound only under the assumption that the caller names; no program can check it.
    ///
    /// # Errors
    /// As for [`merge`](Self::merge).
    pub fn merge_disjoint(&self, other: &Self, assumption: DisjointParts) -> Result<Self, MergeError> {
        Self::join(&[self, other], assumption == DisjointParts::EachUnitInOnePart)
    }

    /// The private sketch of many data sets; one alone is returned as it is.
    ///
    /// # Errors
    /// As for [`merge`](Self::merge), and [`MergeError::Empty`] for none.
    pub fn sum(sketches: &[&Self]) -> Result<Self, MergeError> {
        Self::join(sketches, false)
    }

    /// As [`sum`](Self::sum) of sketches of which no two have a unit of privacy in common.
    ///
    /// # Privacy
    /// As for [`merge_disjoint`](Self::merge_disjoint).
    ///
    /// # Errors
    /// As for [`sum`](Self::sum).
    pub fn sum_disjoint(sketches: &[&Self], assumption: DisjointParts) -> Result<Self, MergeError> {
        Self::join(sketches, assumption == DisjointParts::EachUnitInOnePart)
    }

    /// The private sketch of this data set less the other one. Variances of noise add up all the same.
    ///
    /// # Errors
    /// As for [`merge`](Self::merge).
    pub fn subtract(&self, other: &Self) -> Result<Self, MergeError> {
        // Named before the copy is made, as for a sum.
        Self::check_sum(&[self, other])?;
        Self::join(&[self, &other.negate()], false)
    }

    /// The private sketch of all weights with the opposite sign.
    ///
    /// # Panics
    /// Never: counters and factors are above −2⁶³.
    #[must_use]
    pub fn negate(&self) -> Self {
        self.scale(-1).expect("counters and factors are above -2^63")
    }

    /// The private sketch of all weights times `factor`; the variance of its noise grows with the square.
    ///
    /// # Errors
    /// [`MergeError::ZeroFactor`], and [`MergeError::Overflow`] where a counter would overflow.
    pub fn scale(&self, factor: i64) -> Result<Self, MergeError> {
        if factor == 0 {
            return Err(MergeError::ZeroFactor);
        }
        let product = |&cell: &i64| cell.checked_mul(factor).filter(|&product| product != i64::MIN);
        let cells = self.all_cells().iter().map(product).collect::<Option<Vec<i64>>>().ok_or(MergeError::Overflow)?;
        let lineage = self.lineage().scaled(factor).ok_or(MergeError::Overflow)?;
        Ok(Self::from_parts(self.frame(), self.rows().clone(), cells, lineage, self.insecure_noise()))
    }

    fn join(sketches: &[&Self], disjoint: bool) -> Result<Self, MergeError> {
        Self::check_sum(sketches)?;
        let (first, others) = sketches.split_first().ok_or(MergeError::Empty)?;
        let mut cells = first.all_cells().to_vec();
        for other in others {
            for (sum, &cell) in cells.iter_mut().zip(other.all_cells()) {
                *sum = sum.checked_add(cell).filter(|&sum| sum != i64::MIN).ok_or(MergeError::Overflow)?;
            }
        }
        let lineages: Vec<&Lineage> = sketches.iter().map(|sketch| sketch.lineage()).collect();
        let lineage = Lineage::joined(&lineages, disjoint).map_err(|error| match error {
            LineageError::Repeated { id } => MergeError::RepeatedRelease { id },
            // Never: histories of sketches are well formed, and their number was checked.
            _ => MergeError::Empty,
        })?;
        let insecure = sketches.iter().any(|sketch| sketch.insecure_noise());
        Ok(Self::from_parts(first.frame(), first.rows().clone(), cells, lineage, insecure))
    }

    fn check_sum(sketches: &[&Self]) -> Result<(), MergeError> {
        let (first, others) = sketches.split_first().ok_or(MergeError::Empty)?;
        others.iter().try_for_each(|other| check_alike(first.frame(), other.frame()))?;
        let leaves = || sketches.iter().flat_map(|sketch| sketch.leaves());
        if let Some(id) = first_repeated(leaves().map(Leaf::id)) {
            return Err(MergeError::RepeatedRelease { id });
        }
        let found = leaves().count();
        if found > MAX_RELEASES {
            return Err(MergeError::TooManyReleases { max: MAX_RELEASES, found });
        }
        Ok(())
    }
}
