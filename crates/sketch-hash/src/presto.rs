//! XXH64 with seed 0, for sketches shared with Presto.

use multiversion::multiversion;
use xxhash_rust::xxh64::xxh64;

use crate::{Domain, HashAlgorithm, HashId, KeyFingerprint, KeyedHash, ValueEncoding};

/// XXH64 with seed 0, the function behind Presto's sketch aggregates.
///
/// It has no key and ignores the [`Domain`]: values are told apart by Presto's byte encodings alone, so that
/// for example the integer 1 and the date 1970-01-02 are the same item, as they are there.
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
    #[inline]
    fn hash64_word(&self, _domain: Domain, word: u64) -> u64 {
        xxh64_word(word, 0)
    }

    #[inline]
    fn hash128_word(&self, _domain: Domain, word: u64) -> [u64; 2] {
        [xxh64_word(word, 0), xxh64_word(word, 1)]
    }

    fn hash64_words(&self, _domain: Domain, words: &[u64], out: &mut [u64]) {
        assert_eq!(words.len(), out.len(), "one output for each word");
        xxh64_words(words, out);
    }
}

/// XXH64 with seed 0 of every word. `words` and `out` have one length.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn xxh64_words(words: &[u64], out: &mut [u64]) {
    for (word, hash) in words.iter().zip(out) {
        *hash = xxh64_word(*word, 0);
    }
}

const PRIME_1: u64 = 0x9e37_79b1_85eb_ca87;
const PRIME_2: u64 = 0xc2b2_ae3d_27d4_eb4f;
const PRIME_3: u64 = 0x1656_67b1_9e37_79f9;
const PRIME_4: u64 = 0x85eb_ca77_c2b2_ae63;
const PRIME_5: u64 = 0x27d4_eb2f_1656_67c5;

/// XXH64 of the eight little-endian bytes of `word`.
#[expect(clippy::inline_always, reason = "a call would stop the loop over words from vectorising")]
#[inline(always)]
fn xxh64_word(word: u64, seed: u64) -> u64 {
    let mixed = word.wrapping_mul(PRIME_2).rotate_left(31).wrapping_mul(PRIME_1);
    let mut hash = seed.wrapping_add(PRIME_5).wrapping_add(8) ^ mixed;
    hash = hash.rotate_left(27).wrapping_mul(PRIME_1).wrapping_add(PRIME_4);
    hash = (hash ^ hash >> 33).wrapping_mul(PRIME_2);
    hash = (hash ^ hash >> 29).wrapping_mul(PRIME_3);
    hash ^ hash >> 32
}
