//! The default hash: SipHash-1-3 under one derived key for each domain.

use core::fmt;

use siphasher::{sip, sip128};

use crate::sip::SipState;
use crate::{Domain, HashAlgorithm, HashId, HashKey, KeyFingerprint, KeyedHash};

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
    keys: [[u8; 16]; Domain::ALL.len()],
    fingerprint: KeyFingerprint,
}

impl DefaultHash {
    /// The default hash under `key`.
    #[must_use]
    pub fn new(key: HashKey) -> Self {
        Self {
            keys: Domain::ALL.map(|domain| key.derive(domain.label(), 0).to_bytes()),
            fingerprint: key.fingerprint(),
        }
    }

    fn key(&self, domain: Domain) -> &[u8; 16] {
        &self.keys[domain as usize]
    }

    fn state(&self, domain: Domain) -> SipState {
        SipState::new(*self.key(domain))
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
        sip::SipHasher13::new_with_key(self.key(domain)).hash(bytes)
    }

    #[inline]
    fn hash128(&self, domain: Domain, bytes: &[u8]) -> [u64; 2] {
        let (first, second) = sip128::SipHasher13::new_with_key(self.key(domain)).hash(bytes).as_u64();
        [first, second]
    }

    #[inline]
    fn hash64_word(&self, domain: Domain, word: u64) -> u64 {
        self.state(domain).hash64_word(word)
    }

    #[inline]
    fn hash128_word(&self, domain: Domain, word: u64) -> [u64; 2] {
        self.state(domain).hash128_word(word)
    }
}
