//! What a sketch asks of a hash, and how it records which one was used.

use core::fmt;

use thiserror::Error;

use crate::KeyFingerprint;

/// A hash function that sketches can share: 64 or 128 bits of bytes or of a 64-bit word, in a [`Domain`].
///
/// Implementations are deterministic and value-stable: the same key, domain and bytes give the same bits on every
/// machine and in every version. The batch methods give exactly the values of the single ones.
///
/// # Examples
/// ```
/// use sketch_hash::{DefaultHash, Domain, HashKey, KeyedHash};
///
/// let hash = DefaultHash::new(HashKey::DEFAULT);
/// let mut out = [0; 3];
/// hash.hash64_words(Domain::Integer, &[1, 2, 3], &mut out);
/// assert_eq!(out[1], hash.hash64(Domain::Integer, &2_u64.to_le_bytes()));
/// ```
pub trait KeyedHash: Clone + fmt::Debug {
    /// Which function and key this is; sketches merge only if theirs are equal.
    fn id(&self) -> HashId;

    /// How typed values become bytes; [`ValueEncoding::Canonical`] unless a foreign system dictates otherwise.
    fn value_encoding(&self) -> ValueEncoding {
        ValueEncoding::Canonical
    }

    /// 64 bits of `bytes`.
    fn hash64(&self, domain: Domain, bytes: &[u8]) -> u64;

    /// 128 bits of `bytes`, as two words. The first need not be [`hash64`](Self::hash64).
    fn hash128(&self, domain: Domain, bytes: &[u8]) -> [u64; 2];

    /// 64 bits of the eight little-endian bytes of `word`.
    fn hash64_word(&self, domain: Domain, word: u64) -> u64 {
        self.hash64(domain, &word.to_le_bytes())
    }

    /// 128 bits of the eight little-endian bytes of `word`.
    fn hash128_word(&self, domain: Domain, word: u64) -> [u64; 2] {
        self.hash128(domain, &word.to_le_bytes())
    }

    /// [`hash64_word`](Self::hash64_word) of every word.
    ///
    /// # Panics
    /// If `words` and `out` differ in length.
    fn hash64_words(&self, domain: Domain, words: &[u64], out: &mut [u64]) {
        assert_eq!(words.len(), out.len(), "one output for each word");
        for (word, hash) in words.iter().zip(out) {
            *hash = self.hash64_word(domain, *word);
        }
    }

    /// [`hash128_word`](Self::hash128_word) of every word.
    ///
    /// # Panics
    /// If `words` and `out` differ in length.
    fn hash128_words(&self, domain: Domain, words: &[u64], out: &mut [[u64; 2]]) {
        assert_eq!(words.len(), out.len(), "one output for each word");
        for (word, hash) in words.iter().zip(out) {
            *hash = self.hash128_word(domain, *word);
        }
    }

    /// Passes what `prepare` makes of [`hash128_word`](Self::hash128_word) of every word on to `each`, in their order.
    ///
    /// For work so short that a buffer of hashes would show: `prepare` is done in vector registers where it can be, and
    /// `each` goes on while the next words are hashed.
    ///
    /// # Examples
    /// ```
    /// use sketch_hash::{DefaultHash, Domain, KeyedHash};
    ///
    /// let (hash, mut sum) = (DefaultHash::default(), 0_u64);
    /// hash.hash128_words_each(Domain::Integer, &[1, 2], |[a, b]| [a >> 32, b >> 32], |[a, b]| sum += a + b);
    /// let halves = [1, 2].map(|word| hash.hash128_word(Domain::Integer, word).map(|half| half >> 32));
    /// assert_eq!(sum, halves.as_flattened().iter().sum());
    /// ```
    fn hash128_words_each<P, F>(&self, domain: Domain, words: &[u64], prepare: P, mut each: F)
    where
        P: Fn([u64; 2]) -> [u64; 2],
        F: FnMut([u64; 2]),
    {
        for word in words {
            each(prepare(self.hash128_word(domain, *word)));
        }
    }

    /// [`hash64`](Self::hash64) of every byte string.
    ///
    /// # Panics
    /// If `items` and `out` differ in length.
    fn hash64_slices(&self, domain: Domain, items: &[&[u8]], out: &mut [u64]) {
        assert_eq!(items.len(), out.len(), "one output for each item");
        for (item, hash) in items.iter().zip(out) {
            *hash = self.hash64(domain, item);
        }
    }

    /// [`hash128`](Self::hash128) of every byte string.
    ///
    /// # Panics
    /// If `items` and `out` differ in length.
    fn hash128_slices(&self, domain: Domain, items: &[&[u8]], out: &mut [[u64; 2]]) {
        assert_eq!(items.len(), out.len(), "one output for each item");
        for (item, hash) in items.iter().zip(out) {
            *hash = self.hash128(domain, item);
        }
    }
}

/// The kind of value that is hashed: equal bytes in two domains are different items.
///
/// Text and binary share [`Domain::Bytes`], so a text and a binary with the same bytes are the same item.
/// Each domain has its own key, derived from the hash key, so the bytes need no tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Domain {
    /// Text as UTF-8, and binary.
    Bytes,
    /// Integers of every width, and decimals whose value is one.
    Integer,
    /// Floating-point numbers.
    Float,
    /// `true` and `false`.
    Boolean,
    /// Calendar days.
    Date,
    /// Instants, that is, time stamps with a zone.
    Timestamp,
    /// Time stamps without a zone.
    LocalTimestamp,
    /// Decimals whose value is no integer.
    Decimal,
    /// Several values that are one item together.
    Row,
}

impl Domain {
    /// Every domain.
    pub(crate) const ALL: [Self; 9] = [
        Self::Bytes,
        Self::Integer,
        Self::Float,
        Self::Boolean,
        Self::Date,
        Self::Timestamp,
        Self::LocalTimestamp,
        Self::Decimal,
        Self::Row,
    ];

    /// The text under which the domain's key is derived. Part of the value contract.
    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::Bytes => "sketch-hash domain bytes",
            Self::Integer => "sketch-hash domain integer",
            Self::Float => "sketch-hash domain float",
            Self::Boolean => "sketch-hash domain boolean",
            Self::Date => "sketch-hash domain date",
            Self::Timestamp => "sketch-hash domain timestamp",
            Self::LocalTimestamp => "sketch-hash domain local timestamp",
            Self::Decimal => "sketch-hash domain decimal",
            Self::Row => "sketch-hash domain row",
        }
    }
}

/// How typed values are turned into the bytes that are hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ValueEncoding {
    /// The table of this crate: equal values of different types are the same item.
    Canonical,
    /// The encodings of Presto's `XX_HASH_64` operator, type by type.
    Presto,
}

/// The hash functions a sketch can name. The numbers are part of the file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum HashAlgorithm {
    /// SipHash-1-3 under a key for each domain: [`DefaultHash`](crate::DefaultHash).
    SipHash13 = 1,
    /// XXH64 with seed 0, no key: [`PrestoHash`](crate::PrestoHash).
    Xxh64Seed0 = 2,
}

impl HashAlgorithm {
    /// The number that files hold.
    #[must_use]
    pub const fn to_u8(self) -> u8 {
        match self {
            Self::SipHash13 => 1,
            Self::Xxh64Seed0 => 2,
        }
    }
}

impl TryFrom<u8> for HashAlgorithm {
    type Error = UnknownAlgorithm;

    fn try_from(number: u8) -> Result<Self, UnknownAlgorithm> {
        match number {
            1 => Ok(Self::SipHash13),
            2 => Ok(Self::Xxh64Seed0),
            found => Err(UnknownAlgorithm { found }),
        }
    }
}

impl fmt::Display for HashAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SipHash13 => "siphash-1-3",
            Self::Xxh64Seed0 => "xxh64-seed-0",
        })
    }
}

/// A number that names no hash function known to this version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("unknown hash algorithm {found}, expected 1 (siphash-1-3) or 2 (xxh64-seed-0)")]
pub struct UnknownAlgorithm {
    /// The number found.
    pub found: u8,
}

/// Function and key of a sketch's hash; equality decides whether two sketches can be merged.
///
/// # Examples
/// ```
/// use sketch_hash::{HashKey, DefaultHash, KeyedHash, PrestoHash};
///
/// let id = DefaultHash::new(HashKey::DEFAULT).id();
/// assert!(id.to_string().starts_with("siphash-1-3 key "));
/// assert_eq!(PrestoHash.id().to_string(), "xxh64-seed-0");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HashId {
    algorithm: HashAlgorithm,
    key: KeyFingerprint,
}

impl HashId {
    /// The identity of `algorithm` under the key with this fingerprint ([`KeyFingerprint::NO_KEY`] if it has none).
    #[must_use]
    pub const fn new(algorithm: HashAlgorithm, key: KeyFingerprint) -> Self {
        Self { algorithm, key }
    }

    /// The function.
    #[must_use]
    pub const fn algorithm(self) -> HashAlgorithm {
        self.algorithm
    }

    /// The fingerprint of the key.
    #[must_use]
    pub const fn key(self) -> KeyFingerprint {
        self.key
    }
}

impl fmt::Display for HashId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.algorithm {
            HashAlgorithm::Xxh64Seed0 => write!(f, "{}", self.algorithm),
            HashAlgorithm::SipHash13 => write!(f, "{} key {}", self.algorithm, self.key),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Domain;

    /// Derived keys are looked up by the number of the domain.
    #[test]
    fn domains_are_listed_in_their_order_under_different_labels() {
        for (index, domain) in Domain::ALL.into_iter().enumerate() {
            assert_eq!(domain as usize, index);
            assert_eq!(Domain::ALL.iter().filter(|other| other.label() == domain.label()).count(), 1);
        }
    }
}
