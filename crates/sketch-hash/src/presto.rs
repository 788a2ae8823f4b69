//! XXH64 with seed 0, for sketches shared with Presto.

use xxhash_rust::xxh64::xxh64;

use crate::{Domain, HashAlgorithm, HashId, KeyFingerprint, KeyedHash, ValueEncoding};

/// XXH64 with seed 0, the function behind Presto's sketch aggregates.
///
/// It has no key and ignores the [`Domain`]: values are told apart by Presto's byte encodings alone, so that
/// for example the integer 1 and the one-day date 1970-01-02 are the same item, as they are there.
/// Take it only to exchange sketches with Presto: anybody can compute items that bias its counts.
///
/// [`hash128`](KeyedHash::hash128), which Presto does not have, is the pair of XXH64 with seeds 0 and 1.
///
/// # Examples
/// ```
/// use sketch_hash::{Item, PrestoHash};
///
/// assert_eq!(Item::from(0_i64).hash64(&PrestoHash), 0x34c9_6acd_cadb_1bbb);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrestoHash;

impl KeyedHash for PrestoHash {
    fn id(&self) -> HashId {
        HashId::new(HashAlgorithm::Xxh64Seed0, KeyFingerprint::NO_KEY)
    }

    fn value_encoding(&self) -> ValueEncoding {
        ValueEncoding::Presto
    }

    #[inline]
    fn hash64(&self, _domain: Domain, bytes: &[u8]) -> u64 {
        xxh64(bytes, 0)
    }

    #[inline]
    fn hash128(&self, _domain: Domain, bytes: &[u8]) -> [u64; 2] {
        [xxh64(bytes, 0), xxh64(bytes, 1)]
    }
}
