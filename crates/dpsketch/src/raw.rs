use cardinality_estimators::{Confidence, Estimate, LastLevel};
use dp_noise::{Epsilon, NoiseRng, Permit};
use sfm_pcsa::{BitmapShape, PcsaShape, PcsaSketch, PrivateBitmap, RawBitmap, Unit, raw_hash_id};
use sketch_hash::{AnyHash, Domain, HashId, KeyedHash, PrestoHash};

use crate::error::Error;

/// A raw sketch of PCSA cells as it is kept in a file; the one that a release turns into a Sketch-Flip-Merge sketch.
pub type RawSketch = RecordedSketch<PcsaShape>;

/// A raw distinct-count sketch of any family as it is kept in a file: everything can be done with it but adding items.
///
/// The file records which hash made it, by the fingerprint of its key, but never the key itself. So a raw file can be
/// released, merged and looked at by people who do not have the key.
///
/// # Privacy
/// Raw state is as sensitive as the data. `Debug` shows the shape only.
///
/// # Examples
/// ```
/// use dpsketch::{DistinctBuilder, RawSketch, TextRules};
/// use dpsketch::sfm_pcsa::PcsaShape;
/// use dpsketch::sketch_hash::AnyHash;
///
/// let builder = DistinctBuilder::new(PcsaShape::DEFAULT, AnyHash::default(), TextRules::default());
/// let raw = RawSketch::try_from(builder)?;
/// assert_eq!(raw.releases(), 0);
/// # Ok::<(), dpsketch::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedSketch<S: BitmapShape>(RawBitmap<S, RecordedHash>);

/// The identity of a hash whose key is not at hand.
#[derive(Clone, Debug)]
pub(crate) struct RecordedHash(HashId);

impl RecordedHash {
    pub(crate) fn new(id: HashId) -> Self {
        Self(id)
    }
}

impl KeyedHash for RecordedHash {
    fn id(&self) -> HashId {
        self.0
    }

    fn hash64(&self, _domain: Domain, _bytes: &[u8]) -> u64 {
        unreachable!("a RawSketch takes no items")
    }

    fn hash128(&self, _domain: Domain, _bytes: &[u8]) -> [u64; 2] {
        unreachable!("a RawSketch takes no items")
    }
}

impl<S: BitmapShape> RecordedSketch<S> {
    /// Reads a raw file.
    ///
    /// # Errors
    /// [`ErrorKind::Damaged`](crate::ErrorKind::Damaged) for anything that is no raw sketch.
    pub fn from_sensitive_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let hash = RecordedHash(raw_hash_id(bytes)?);
        Ok(Self(RawBitmap::from_sensitive_bytes(bytes, hash)?))
    }

    /// The bytes of a raw file. As sensitive as the data.
    #[must_use]
    pub fn to_sensitive_bytes(&self) -> impl AsRef<[u8]> + use<S> {
        Wiped(self.0.to_sensitive_bytes())
    }

    /// The shape, such as buckets and levels.
    #[must_use]
    pub fn shape(&self) -> S {
        self.0.shape()
    }

    /// Which hash function and key made it.
    #[must_use]
    pub fn hash_id(&self) -> HashId {
        self.0.hash_id()
    }

    /// Whom a release will protect: an item, or a user whose items were bounded while the sketch was built.
    #[must_use]
    pub fn unit(&self) -> Unit {
        self.0.unit()
    }

    /// How often this data was released before.
    #[must_use]
    pub fn releases(&self) -> u32 {
        self.0.releases()
    }

    /// Counts a release that is about to happen. To be written back before any noise is drawn.
    pub fn record_release(&mut self) -> u32 {
        self.0.record_release()
    }

    /// Takes in the items of `other`; the count of releases becomes the sum.
    ///
    /// # Errors
    /// [`ErrorKind::Incompatible`](crate::ErrorKind::Incompatible) when hashes or shapes differ, or when one was bounded
    /// for users: a user in both could exceed the bound.
    pub fn merge(&mut self, other: &Self) -> Result<(), Error> {
        Ok(self.0.merge(&other.0)?)
    }

    /// The number of distinct items, **without privacy**.
    pub fn estimate(&self, confidence: Confidence) -> Estimate {
        self.0.estimate(confidence)
    }

    /// Whether a release at `epsilon` would be refused, to be asked before anything is paid for.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter) when the ε that is left for a single item of a user is below
    /// the least accepted one.
    pub fn check_release(&self, epsilon: Epsilon) -> Result<(), Error> {
        Ok(self.0.check_release(self.unit(), epsilon)?)
    }

    /// Adds noise and gives up the raw sketch.
    ///
    /// # Errors
    /// [`ErrorKind::Entropy`](crate::ErrorKind::Entropy) when the operating system gives no randomness, and as
    /// [`check_release`](Self::check_release).
    ///
    /// # Privacy
    /// The result is ε-differentially private for data sets that differ in one distinct item, whatever that item's
    /// repetitions; see [`PcsaSketch::release`]. The caller keeps the books: this counts nothing.
    pub fn release(self, epsilon: Epsilon) -> Result<PrivateBitmap<S>, Error> {
        self.release_paid(Permit::standalone(epsilon))
    }

    /// As [`release`](Self::release), with a permit that is paid for.
    ///
    /// # Errors
    /// As [`release`](Self::release).
    ///
    /// # Privacy
    /// As [`release`](Self::release): the permit's ε protects one [unit](Self::unit).
    pub fn release_paid(self, permit: Permit<Epsilon>) -> Result<PrivateBitmap<S>, Error> {
        self.release_with(permit, &mut NoiseRng::from_os()?)
    }

    pub(crate) fn release_with(self, permit: Permit<Epsilon>, noise: &mut NoiseRng) -> Result<PrivateBitmap<S>, Error> {
        Ok(self.0.release(permit, noise)?)
    }
}

impl RawSketch {
    /// Reads a sketch that Presto or Velox wrote without noise.
    ///
    /// # Errors
    /// [`ErrorKind::Damaged`](crate::ErrorKind::Damaged) for anything that is no such sketch.
    pub fn from_sensitive_presto_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Ok(Self(PcsaSketch::from_sensitive_presto_bytes(bytes, RecordedHash(PrestoHash.id()))?))
    }

    /// The sketch in Presto's bytes, without its count of releases. As sensitive as the data.
    ///
    /// # Errors
    /// [`ErrorKind::Incompatible`](crate::ErrorKind::Incompatible) unless it was made with Presto's hash.
    pub fn to_sensitive_presto_bytes(&self) -> Result<impl AsRef<[u8]> + use<>, Error> {
        Ok(Wiped(self.0.to_sensitive_presto_bytes()?))
    }

    /// As [`estimate`](Self::estimate) with a choice of how likely the last level is, **without privacy**.
    pub fn estimate_with(&self, last_level: LastLevel, confidence: Confidence) -> Estimate {
        self.0.estimate_with(last_level, confidence)
    }
}

/// Raw bytes, wiped when dropped; the type of the wiping wrapper stays out of this crate's interface.
struct Wiped<B>(B);

impl<B: core::ops::Deref<Target: AsRef<[u8]>>> AsRef<[u8]> for Wiped<B> {
    fn as_ref(&self) -> &[u8] {
        self.0.as_ref()
    }
}

impl<S: BitmapShape> TryFrom<&RawBitmap<S, AnyHash>> for RecordedSketch<S> {
    type Error = Error;

    fn try_from(sketch: &RawBitmap<S, AnyHash>) -> Result<Self, Error> {
        Self::from_sensitive_bytes(&sketch.to_sensitive_bytes())
    }
}

impl TryFrom<crate::DistinctBuilder> for RawSketch {
    type Error = Error;

    fn try_from(builder: crate::DistinctBuilder) -> Result<Self, Error> {
        Self::try_from(&builder.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DistinctBuilder, ErrorKind, TextRules};
    use sketch_hash::{DefaultHash, HashKey};

    fn built(key: u8, texts: &[&str]) -> RawSketch {
        let hash = AnyHash::from(DefaultHash::new(HashKey::from_bytes([key; 16])));
        let mut builder = DistinctBuilder::new(PcsaShape::DEFAULT, hash, TextRules::default());
        builder.push_texts(texts.iter().copied());
        RawSketch::try_from(builder).unwrap()
    }

    #[test]
    fn a_raw_file_needs_no_key_to_be_read() {
        let raw = built(7, &["a", "b"]);
        let again = RawSketch::from_sensitive_bytes(raw.to_sensitive_bytes().as_ref()).unwrap();
        assert_eq!(raw, again);
    }

    #[test]
    fn an_empty_sketch_merges_with_its_own_key_and_with_no_other() {
        let full = built(1, &["a", "b"]);
        let mut empty = built(1, &[]);
        empty.merge(&full).unwrap();
        assert_eq!(empty.to_sensitive_bytes().as_ref(), full.to_sensitive_bytes().as_ref());
        let error = built(2, &[]).merge(&full).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Incompatible);
        for key in [1, 2] {
            assert!(error.message().contains(&HashKey::from_bytes([key; 16]).fingerprint().to_string()));
        }
    }

    #[test]
    fn merging_adds_up_the_releases() {
        let (mut once, mut twice) = (built(1, &["a"]), built(1, &["b"]));
        once.record_release();
        twice.record_release();
        twice.record_release();
        once.merge(&twice).unwrap();
        assert_eq!(once.releases(), 3);
    }
}
