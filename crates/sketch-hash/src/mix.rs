//! The default hash: SipHash-1-3 under one derived key for each domain.

use core::fmt;

use crate::sip::SipState;
use crate::{Domain, HashAlgorithm, HashId, HashKey, KeyFingerprint, KeyedHash};
use crate::{sip_batch, sip_slices};

/// SipHash-1-3, keyed, 64 or 128 bits: what sketches use unless told otherwise.
///
/// The key of a [`Domain`] is [`HashKey::derive`] of the hash key, so that equal bytes in two domains are unrelated.
/// The README tells why this function was chosen. `Debug` shows no key.
///
/// # Privacy
/// The hash adds no privacy, with a public or with a secret key; see [`HashKey`].
///
/// # Examples
/// ```
/// use sketch_hash::{DefaultHash, HashKey, Item};
///
/// let hash = DefaultHash::new(HashKey::DEFAULT);
/// assert_eq!(Item::from(42_u8).hash64(&hash), Item::from(42_i64).hash64(&hash));
/// assert_ne!(Item::from(42_u8).hash64(&hash), Item::from("42").hash64(&hash));
/// ```
#[derive(Clone)]
pub struct DefaultHash {
    /// One for each domain, in the order of [`Domain::ALL`].
    states: [SipState; Domain::ALL.len()],
    fingerprint: KeyFingerprint,
}

impl DefaultHash {
    /// The default hash under `key`.
    #[must_use]
    pub fn new(key: HashKey) -> Self {
        Self {
            states: Domain::ALL.map(|domain| SipState::new(key.derive(domain.label(), 0).to_bytes())),
            fingerprint: key.fingerprint(),
        }
    }

    #[inline]
    fn state(&self, domain: Domain) -> SipState {
        self.states[domain as usize]
    }
}

impl Default for DefaultHash {
    /// The default hash under [`HashKey::DEFAULT`].
    fn default() -> Self {
        Self::new(HashKey::DEFAULT)
    }
}

impl fmt::Debug for DefaultHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DefaultHash").field("key", &self.fingerprint).finish_non_exhaustive()
    }
}

impl KeyedHash for DefaultHash {
    fn id(&self) -> HashId {
        HashId::new(HashAlgorithm::SipHash13, self.fingerprint)
    }

    #[inline]
    fn hash64(&self, domain: Domain, bytes: &[u8]) -> u64 {
        self.state(domain).hash64(bytes)
    }

    #[inline]
    fn hash128(&self, domain: Domain, bytes: &[u8]) -> [u64; 2] {
        self.state(domain).hash128(bytes)
    }

    #[inline]
    fn hash64_word(&self, domain: Domain, word: u64) -> u64 {
        self.state(domain).hash64_word(word)
    }

    #[inline]
    fn hash128_word(&self, domain: Domain, word: u64) -> [u64; 2] {
        self.state(domain).hash128_word(word)
    }

    fn hash64_words(&self, domain: Domain, words: &[u64], out: &mut [u64]) {
        assert_eq!(words.len(), out.len(), "one output for each word");
        sip_batch::hash64_words(self.state(domain), words, out);
    }

    fn hash128_words(&self, domain: Domain, words: &[u64], out: &mut [[u64; 2]]) {
        assert_eq!(words.len(), out.len(), "one output for each word");
        sip_batch::hash128_words(self.state(domain), words, out);
    }

    fn hash128_words_each<P, F>(&self, domain: Domain, words: &[u64], prepare: P, each: F)
    where
        P: Fn([u64; 2]) -> [u64; 2],
        F: FnMut([u64; 2]),
    {
        sip_batch::hash128_words_each(self.state(domain), words, prepare, each);
    }

    fn hash64_slices(&self, domain: Domain, items: &[&[u8]], out: &mut [u64]) {
        assert_eq!(items.len(), out.len(), "one output for each item");
        sip_slices::hash64_slices(self.state(domain), items, out);
    }

    fn hash128_slices(&self, domain: Domain, items: &[&[u8]], out: &mut [[u64; 2]]) {
        assert_eq!(items.len(), out.len(), "one output for each item");
        sip_slices::hash128_slices(self.state(domain), items, out);
    }
}
