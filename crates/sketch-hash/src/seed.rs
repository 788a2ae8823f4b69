//! Seed expansion: as many words as a family needs, from one key.

use siphasher::sip;

use crate::HashKey;

/// An endless sequence of 64-bit words from a hash key; value-stable.
///
/// Word `i` (from 0) is SipHash-2-4, under the key [`HashKey::derive`] gives for `label` and `index`, of the eight
/// little-endian bytes of `i`. Use it for public randomness such as table entries, never for noise.
///
/// # Examples
/// ```
/// use sketch_hash::{HashKey, SeedStream};
///
/// let mut words = SeedStream::new(HashKey::DEFAULT, "row", 0);
/// let mut other = SeedStream::new(HashKey::DEFAULT, "row", 1);
/// assert_ne!(words.next_word(), other.next_word());
/// ```
#[derive(Clone, Debug)]
pub struct SeedStream {
    key: HashKey,
    position: u64,
}

impl SeedStream {
    /// The sequence for one purpose (`label`) and one of its instances (`index`).
    #[must_use]
    pub fn new(key: HashKey, label: &str, index: u64) -> Self {
        Self { key: key.derive(label, index), position: 0 }
    }

    /// The next word.
    pub fn next_word(&mut self) -> u64 {
        let word = sip::SipHasher24::new_with_key(&self.key.to_bytes()).hash(&self.position.to_le_bytes());
        self.position = self.position.wrapping_add(1);
        word
    }
}
