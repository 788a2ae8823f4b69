//! Tabulation hashing: random tables indexed by the bytes of the key.

use alloc::boxed::Box;
use core::fmt;

use crate::pairwise::map_into;
use crate::{HashKey, SeedStream, bucket_multiply_shift_64, sign_low_bit};

/// Simple tabulation of 64-bit keys: the xor of one random word for each of the eight bytes \[PT12\].
///
/// 3-wise independent (not 4-wise), with concentration close to that of full randomness for hash tables and linear
/// sketches. 16 KiB of tables.
///
/// # Examples
/// ```
/// use sketch_hash::{HashKey, SimpleTabulation};
///
/// let family = SimpleTabulation::new(HashKey::DEFAULT, 0);
/// // Four keys whose bytes form a rectangle: each table entry occurs twice. This is why it is not 4-wise independent.
/// let [a, b, c, d] = [0x0101, 0x0102, 0x0201, 0x0202].map(|key| family.hash(key));
/// assert_eq!(a ^ b ^ c ^ d, 0);
/// ```
#[derive(Clone)]
pub struct SimpleTabulation {
    tables: Box<[[u64; 256]; 8]>,
}

impl SimpleTabulation {
    /// Member number `index` of the family under `key`; members with different numbers are independent.
    #[must_use]
    pub fn new(key: HashKey, index: u64) -> Self {
        let mut seed = SeedStream::new(key, "sketch-hash simple tabulation", index);
        let mut tables = Box::new([[0; 256]; 8]);
        for entry in tables.iter_mut().flatten() {
            *entry = seed.next_word();
        }
        Self { tables }
    }

    /// The hash of `key`, 64 uniform bits.
    #[inline]
    #[must_use]
    pub fn hash(&self, key: u64) -> u64 {
        let entries = self.tables.iter().zip(key.to_le_bytes()).map(|(table, byte)| table[usize::from(byte)]);
        entries.fold(0, |hash, entry| hash ^ entry)
    }

    /// [`hash`](Self::hash) of every key.
    ///
    /// # Panics
    /// If `keys` and `out` differ in length.
    pub fn hash_into(&self, keys: &[u64], out: &mut [u64]) {
        map_into(keys, out, |key| self.hash(key));
    }

    /// A bucket below `buckets` (0 if there are none), from the highest bits.
    #[inline]
    #[must_use]
    pub fn bucket(&self, key: u64, buckets: u64) -> u64 {
        bucket_multiply_shift_64(self.hash(key), buckets)
    }

    /// A sign, +1 or −1, from the lowest bit.
    #[inline]
    #[must_use]
    pub fn sign(&self, key: u64) -> i64 {
        sign_low_bit(self.hash(key))
    }
}

impl fmt::Debug for SimpleTabulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SimpleTabulation").finish_non_exhaustive()
    }
}

/// What one byte of the key contributes to a mixed tabulation hash.
#[derive(Clone, Copy, Default)]
struct Entry {
    hash: u64,
    derived: u64,
}

/// Mixed tabulation of 64-bit keys: four further bytes are derived from the key and tabulated as well \[DKRT15\].
///
/// With high probability over the tables it behaves like a fully random function on any set of keys of size up to
/// about half the alphabet, and its bits are nearly independent where sketches take buckets and statistics from one
/// hash. 40 KiB of tables.
///
/// # Examples
/// ```
/// use sketch_hash::{HashKey, MixedTabulation};
///
/// let family = MixedTabulation::new(HashKey::DEFAULT, 0);
/// assert!(family.bucket(99, 7) < 7);
/// ```
#[derive(Clone)]
pub struct MixedTabulation {
    first: Box<[[Entry; 256]; 8]>,
    second: Box<[[u64; 256]; 4]>,
}

impl MixedTabulation {
    /// Member number `index` of the family under `key`; members with different numbers are independent.
    #[must_use]
    #[expect(clippy::large_stack_arrays, reason = "32 KiB, on their way to the heap")]
    pub fn new(key: HashKey, index: u64) -> Self {
        let mut seed = SeedStream::new(key, "sketch-hash mixed tabulation", index);
        let mut first = Box::new([[Entry::default(); 256]; 8]);
        for entry in first.iter_mut().flatten() {
            *entry = Entry { hash: seed.next_word(), derived: seed.next_word() & 0xffff_ffff };
        }
        let mut second = Box::new([[0; 256]; 4]);
        for entry in second.iter_mut().flatten() {
            *entry = seed.next_word();
        }
        Self { first, second }
    }

    /// The hash of `key`, 64 uniform bits.
    #[inline]
    #[must_use]
    pub fn hash(&self, key: u64) -> u64 {
        let entries = self.first.iter().zip(key.to_le_bytes()).map(|(table, byte)| table[usize::from(byte)]);
        let mixed = entries.fold(Entry::default(), |sum, entry| Entry {
            hash: sum.hash ^ entry.hash,
            derived: sum.derived ^ entry.derived,
        });
        let derived = self.second.iter().zip(mixed.derived.to_le_bytes());
        derived.fold(mixed.hash, |hash, (table, byte)| hash ^ table[usize::from(byte)])
    }

    /// [`hash`](Self::hash) of every key.
    ///
    /// # Panics
    /// If `keys` and `out` differ in length.
    pub fn hash_into(&self, keys: &[u64], out: &mut [u64]) {
        map_into(keys, out, |key| self.hash(key));
    }

    /// A bucket below `buckets` (0 if there are none), from the highest bits.
    #[inline]
    #[must_use]
    pub fn bucket(&self, key: u64, buckets: u64) -> u64 {
        bucket_multiply_shift_64(self.hash(key), buckets)
    }

    /// A sign, +1 or −1, from the lowest bit.
    #[inline]
    #[must_use]
    pub fn sign(&self, key: u64) -> i64 {
        sign_low_bit(self.hash(key))
    }
}

impl fmt::Debug for MixedTabulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MixedTabulation").finish_non_exhaustive()
    }
}
