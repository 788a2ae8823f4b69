//! A raw sketch as it is kept in a file.

use countsketch_dp::{
    ContributionBound, CountSketch, CountSketchShape, Exposure, Granularity, SensitiveBytes, raw_hash_id,
};
use dp_noise::{DisjointParts, Neighbouring};
use sketch_hash::{AnyHash, HashId};

use super::terms::CountSketchTerms;
use crate::error::Error;
use crate::raw::RecordedHash;

/// A raw frequency sketch as it is kept in a file: everything can be done with it but adding items.
///
/// The file records which hash made it, by the fingerprint of its key, but never the key itself. So a raw file can be
/// released, added to others and described by people who do not have the key.
///
/// # Privacy
/// Raw state is as sensitive as the data. `Debug` shows terms and hash only.
///
/// # Examples
/// ```
/// use dpsketch::countsketch_dp::{CountSketchShape, Granularity};
/// use dpsketch::sketch_hash::AnyHash;
/// use dpsketch::{CountSketchTerms, FrequencyBuilder, RawCountSketch, TextRules};
///
/// let terms = CountSketchTerms::records(CountSketchShape::new(3, 64)?, Granularity::ONE, 1)?;
/// let mut builder = FrequencyBuilder::new(terms, AnyHash::default(), TextRules::default())?;
/// builder.push_texts(["a", "b"])?;
/// let raw = builder.finish()?;
/// assert_eq!(RawCountSketch::from_sensitive_bytes(&raw.to_sensitive_bytes())?, raw);
/// # Ok::<(), dpsketch::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RawCountSketch(pub(super) CountSketch<RecordedHash>);

impl RawCountSketch {
    /// Reads a raw file.
    ///
    /// # Errors
    /// [`ErrorKind::Damaged`](crate::ErrorKind::Damaged) for anything that is no raw frequency sketch.
    pub fn from_sensitive_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let hash = RecordedHash::new(raw_hash_id(bytes)?);
        Ok(Self(CountSketch::from_sensitive_bytes(bytes, hash)?))
    }

    /// The bytes of a raw file. As sensitive as the data.
    #[must_use]
    pub fn to_sensitive_bytes(&self) -> SensitiveBytes {
        self.0.to_sensitive_bytes()
    }

    /// Rows and width.
    #[must_use]
    pub const fn shape(&self) -> CountSketchShape {
        self.0.shape()
    }

    /// The unit of weights.
    #[must_use]
    pub const fn granularity(&self) -> Granularity {
        self.0.granularity()
    }

    /// Who is protected, and how much they may have added, in grid units.
    #[must_use]
    pub const fn bound(&self) -> ContributionBound {
        self.0.bound()
    }

    /// Shape, grid and bound.
    #[must_use]
    pub const fn terms(&self) -> CountSketchTerms {
        CountSketchTerms::new(self.shape(), self.granularity(), self.bound())
    }

    /// Raw sketches, bounded apart and added up, that one user's data may be in: the noise grows with it.
    #[must_use]
    pub const fn parts(&self) -> u32 {
        self.0.parts()
    }

    /// Which hash function and key made it.
    #[must_use]
    pub fn hash_id(&self) -> HashId {
        self.0.hash_id()
    }

    /// How often this data was released before.
    #[must_use]
    pub const fn releases(&self) -> u32 {
        self.0.releases()
    }

    /// Counts a release that is about to happen. To be written back before any noise is drawn.
    pub fn record_release(&mut self) -> u32 {
        self.0.record_release()
    }

    /// Whether both have the same terms and the same counters, not all of them 0: copies, or released at different times.
    #[must_use]
    pub fn same_counts(&self, other: &Self) -> bool {
        self.0.same_counts(&other.0)
    }

    /// Adds the weights of `other`; the count of releases becomes the sum.
    ///
    /// # Privacy
    /// Where records are bounded, each may be in one of the two only: a copy that is added doubles what one record moves, and the
    /// noise stays what it is ([`same_counts`](Self::same_counts) tells whole copies). Where users are bounded, one may be in both, so that the bound adds up ([`parts`](Self::parts)), and a release needs
    /// noise for both; [`merge_disjoint`](Self::merge_disjoint) does without.
    ///
    /// # Errors
    /// [`ErrorKind::Incompatible`](crate::ErrorKind::Incompatible) when hashes, shapes, grids or bounds differ, and where a
    /// counter would overflow.
    pub fn merge(&mut self, other: &Self) -> Result<(), Error> {
        Ok(self.0.merge(&other.0)?)
    }

    /// As [`merge`](Self::merge) of data without a user in common: the bound stays what it is.
    ///
    /// # Privacy
    /// Sound only under the assumption that the caller names; no program can check it.
    ///
    /// # Errors
    /// As [`merge`](Self::merge).
    pub fn merge_disjoint(&mut self, other: &Self, assumption: DisjointParts) -> Result<(), Error> {
        Ok(self.0.merge_disjoint(&other.0, assumption)?)
    }

    /// What neighbouring data sets may change: from it follow noise and cost of a release.
    #[must_use]
    pub const fn exposure(&self, relation: Neighbouring) -> Exposure {
        self.0.exposure(relation)
    }
}

impl TryFrom<&CountSketch<AnyHash>> for RawCountSketch {
    type Error = Error;

    fn try_from(sketch: &CountSketch<AnyHash>) -> Result<Self, Error> {
        Self::from_sensitive_bytes(&sketch.to_sensitive_bytes())
    }
}
