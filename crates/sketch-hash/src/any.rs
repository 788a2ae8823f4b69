//! A hash chosen at run time.

use crate::{DefaultHash, Domain, HashId, HashKey, KeyedHash, PrestoHash, ValueEncoding};

/// Either hash of this crate, for programs that learn only at run time which one a sketch uses.
///
/// # Examples
/// ```
/// use sketch_hash::{AnyHash, HashKey, KeyedHash, PrestoHash};
///
/// let hash = AnyHash::from(PrestoHash);
/// assert_eq!(AnyHash::matching(hash.id(), HashKey::DEFAULT).map(|found| found.id()), Some(hash.id()));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
#[expect(clippy::large_enum_variant, reason = "a sketch holds one, and a box would cost every hash a step")]
pub enum AnyHash {
    /// [`DefaultHash`].
    Default(DefaultHash),
    /// [`PrestoHash`].
    Presto(PrestoHash),
}

impl AnyHash {
    /// The hash with this identity: Presto's, or the default one if `key` has the recorded fingerprint.
    ///
    /// `None` if the fingerprint of `key` is another one: the sketch was made under a different key.
    #[must_use]
    pub fn matching(id: HashId, key: HashKey) -> Option<Self> {
        [Self::from(PrestoHash), Self::from(DefaultHash::new(key))].into_iter().find(|hash| hash.id() == id)
    }
}

impl Default for AnyHash {
    /// [`DefaultHash`] under [`HashKey::DEFAULT`].
    fn default() -> Self {
        Self::Default(DefaultHash::default())
    }
}

impl From<DefaultHash> for AnyHash {
    fn from(hash: DefaultHash) -> Self {
        Self::Default(hash)
    }
}

impl From<PrestoHash> for AnyHash {
    fn from(hash: PrestoHash) -> Self {
        Self::Presto(hash)
    }
}

/// Calls the same method of whichever hash is held.
macro_rules! either {
    ($self:ident, $hash:ident => $call:expr) => {
        match $self {
            AnyHash::Default($hash) => $call,
            AnyHash::Presto($hash) => $call,
        }
    };
}

impl KeyedHash for AnyHash {
    fn id(&self) -> HashId {
        either!(self, hash => hash.id())
    }

    fn value_encoding(&self) -> ValueEncoding {
        either!(self, hash => hash.value_encoding())
    }

    #[inline]
    fn hash64(&self, domain: Domain, bytes: &[u8]) -> u64 {
        either!(self, hash => hash.hash64(domain, bytes))
    }

    #[inline]
    fn hash128(&self, domain: Domain, bytes: &[u8]) -> [u64; 2] {
        either!(self, hash => hash.hash128(domain, bytes))
    }

    #[inline]
    fn hash64_word(&self, domain: Domain, word: u64) -> u64 {
        either!(self, hash => hash.hash64_word(domain, word))
    }

    #[inline]
    fn hash128_word(&self, domain: Domain, word: u64) -> [u64; 2] {
        either!(self, hash => hash.hash128_word(domain, word))
    }

    fn hash64_words(&self, domain: Domain, words: &[u64], out: &mut [u64]) {
        either!(self, hash => hash.hash64_words(domain, words, out));
    }

    fn hash128_words(&self, domain: Domain, words: &[u64], out: &mut [[u64; 2]]) {
        either!(self, hash => hash.hash128_words(domain, words, out));
    }

    fn hash128_words_each<P, F>(&self, domain: Domain, words: &[u64], prepare: P, each: F)
    where
        P: Fn([u64; 2]) -> [u64; 2],
        F: FnMut([u64; 2]),
    {
        either!(self, hash => hash.hash128_words_each(domain, words, prepare, each));
    }

    fn hash64_slices(&self, domain: Domain, items: &[&[u8]], out: &mut [u64]) {
        either!(self, hash => hash.hash64_slices(domain, items, out));
    }

    fn hash128_slices(&self, domain: Domain, items: &[&[u8]], out: &mut [[u64; 2]]) {
        either!(self, hash => hash.hash128_slices(domain, items, out));
    }
}
