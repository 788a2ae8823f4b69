//! The 128-bit hash key, its one-way fingerprint and the keys derived from it.

use alloc::string::String;
use core::fmt;

use siphasher::sip128;
use thiserror::Error;

use crate::word::low_word;

/// A 128-bit hash key.
///
/// Two sketches can be merged only if their items were hashed under the same key. The key decides *where* an item
/// lands, never how much noise is added, so it may be public.
///
/// # Privacy
/// A key is not a privacy mechanism: the noise of a release protects the data, whoever knows the key. What a key does
/// protect is **accuracy**. Somebody who knows it can choose items that share a cell, or that all land in high levels,
/// and so push a count down or up; under a key that stays secret from whoever chooses the items this is infeasible.
/// Choose the key without looking at the data. `Debug` shows the [fingerprint](Self::fingerprint) only.
///
/// # Examples
/// ```
/// use sketch_hash::HashKey;
///
/// let key = HashKey::from_hex("000102030405060708090a0b0c0d0e0f")?;
/// assert_eq!(key.to_bytes()[15], 15);
/// assert_ne!(key.fingerprint(), HashKey::DEFAULT.fingerprint());
/// # Ok::<(), sketch_hash::KeyParseError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct HashKey([u8; 16]);

impl HashKey {
    /// The public key used where none is given, so that sketches made apart merge out of the box.
    ///
    /// Its bytes are the ASCII text `dpsketch-default`. They never change.
    pub const DEFAULT: Self = Self(*b"dpsketch-default");

    /// A key from its 16 bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The 16 bytes of the key. Secret if the key is meant to be.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0
    }

    /// A key from 32 hexadecimal digits of either case, first byte first.
    ///
    /// # Errors
    /// [`KeyParseError`] for another length or a character that is no hexadecimal digit. The error never repeats any
    /// of the text, which may be a secret.
    pub fn from_hex(text: &str) -> Result<Self, KeyParseError> {
        let found = text.chars().count();
        if found != 32 {
            return Err(KeyParseError::Length { expected: 32, found });
        }
        let mut bytes = [0_u8; 16];
        for (position, character) in text.chars().enumerate() {
            let digit = character.to_digit(16).and_then(|digit| u8::try_from(digit).ok());
            let digit = digit.ok_or(KeyParseError::Digit { position })?;
            bytes[position / 2] = bytes[position / 2] << 4 | digit;
        }
        Ok(Self(bytes))
    }

    /// The key as 32 lower-case hexadecimal digits, first byte first. Secret if the key is meant to be.
    #[must_use]
    pub fn to_hex(self) -> String {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let nibbles = self.0.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        nibbles.map(|nibble| char::from(DIGITS[usize::from(nibble)])).collect()
    }

    /// A one-way 64-bit name of the key, safe to publish even when the key is secret.
    ///
    /// It is the first half of SipHash-2-4 with 128-bit output, under the key, of a fixed text. Finding the key from it
    /// takes a search of the 2^128 keys, unless the key was made from something guessable.
    #[must_use]
    pub fn fingerprint(self) -> KeyFingerprint {
        KeyFingerprint(low_word(u128::from_le_bytes(self.prf128(b"sketch-hash key fingerprint"))))
    }

    /// An independent key for one purpose and one instance of it; value-stable.
    ///
    /// Let `F` be SipHash-2-4 with 128-bit output. The result is `F` of the eight little-endian bytes of `index`, under
    /// the key that is `F` of `label` under this key. Everything in this crate that needs a key of its own (the domains
    /// of [`DefaultHash`](crate::DefaultHash), the k-wise families) gets it here, by labels starting with `sketch-hash`.
    #[must_use]
    pub fn derive(self, label: &str, index: u64) -> Self {
        let purpose = Self(self.prf128(label.as_bytes()));
        Self(purpose.prf128(&index.to_le_bytes()))
    }

    /// SipHash-2-4 with 128-bit output, in the byte order of the reference code.
    fn prf128(self, bytes: &[u8]) -> [u8; 16] {
        sip128::SipHasher24::new_with_key(&self.0).hash(bytes).as_bytes()
    }
}

impl Default for HashKey {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl fmt::Debug for HashKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HashKey").field("fingerprint", &self.fingerprint()).finish_non_exhaustive()
    }
}

/// The public name of a hash key; see [`HashKey::fingerprint`]. Displayed as 16 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyFingerprint(u64);

impl KeyFingerprint {
    /// The fingerprint written by hashes that have no key.
    pub const NO_KEY: Self = Self(0);

    /// A fingerprint read back from a sketch.
    #[must_use]
    pub const fn from_u64(value: u64) -> Self {
        Self(value)
    }

    /// The fingerprint as a number, as sketches store it.
    #[must_use]
    pub const fn to_u64(self) -> u64 {
        self.0
    }
}

impl fmt::Display for KeyFingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Debug for KeyFingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyFingerprint({self})")
    }
}

/// A text is not a hash key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum KeyParseError {
    /// The number of characters is not 32.
    #[error("a hash key has {expected} hexadecimal digits, found {found} characters")]
    Length {
        /// How many digits a key has.
        expected: usize,
        /// How many characters the text has.
        found: usize,
    },
    /// A character is not a hexadecimal digit.
    #[error("a hash key has hexadecimal digits only, character {position} (counted from 0) is none")]
    Digit {
        /// Index of the first such character.
        position: usize,
    },
}
