//! Damaged and forged bytes for decoders.

use core::fmt::Debug;

/// Bytes from here on are flipped one bit each, bytes before it all eight.
const EVERY_BIT_BELOW: usize = 1024;

/// What was done to some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// Cut to this length.
    Truncated(usize),
    /// This many bytes appended.
    Extended(usize),
    /// This bit flipped; bit `i` is bit `i % 8` of byte `i / 8`.
    Flipped(usize),
    /// The eight bytes from `at` on replaced by `value`, little endian.
    Word {
        /// Offset of the first byte.
        at: usize,
        /// What stands there now.
        value: u64,
    },
}

impl Damage {
    fn apply(self, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        match self {
            Self::Truncated(length) => bytes.truncate(length),
            Self::Extended(by) => bytes.resize(bytes.len() + by, 0),
            Self::Flipped(bit) => bytes[bit / 8] ^= 1 << (bit % 8),
            Self::Word { at, value } => bytes[at..at + 8].copy_from_slice(&value.to_le_bytes()),
        }
        bytes
    }
}

/// Every truncation, some extensions, and every flip of a bit (of one bit a byte after the first kibibyte).
///
/// # Examples
/// ```
/// let versions = sketch_testkit::damaged(&[0; 3]).count();
/// assert_eq!(versions, 3 + 3 + 8 * 3);
/// ```
pub fn damaged(bytes: &[u8]) -> impl Iterator<Item = (Damage, Vec<u8>)> + '_ {
    let cuts = (0..bytes.len()).map(Damage::Truncated);
    let more = [1, 8, 4096].into_iter().map(Damage::Extended);
    cuts.chain(more).chain(flips(bytes.len())).map(|damage| (damage, damage.apply(bytes)))
}

/// Damage that keeps the length and carries a right checksum, in a file of the container format: flips everywhere, and
/// hostile lengths at every offset of the first kibibyte of the body; and truncations and extensions whose stated
/// length is right again.
///
/// # Panics
/// When `bytes` are shorter than the 32 bytes of a header.
pub fn forged(bytes: &[u8]) -> impl Iterator<Item = (Damage, Vec<u8>)> + '_ {
    const HOSTILE: [u64; 8] = [0, 1, 1 << 20, 1 << 31, (1 << 32) + 1, 1 << 61, i64::MAX as u64, u64::MAX];
    let header = HEADER_LEN;
    assert!(bytes.len() >= header, "shorter than a header");
    let word_ends = bytes.len().saturating_sub(7).min(header + EVERY_BIT_BELOW);
    let words = (header..word_ends).flat_map(|at| HOSTILE.into_iter().map(move |value| Damage::Word { at, value }));
    let cuts = (header..bytes.len()).map(Damage::Truncated);
    let more = [1, 8, 4096].into_iter().map(Damage::Extended);
    cuts.chain(more).chain(flips(bytes.len())).chain(words).map(|damage| {
        let mut forged = damage.apply(bytes);
        match damage {
            Damage::Truncated(_) | Damage::Extended(_) => reseal(&mut forged),
            Damage::Flipped(_) | Damage::Word { .. } => sign(&mut forged),
        }
        (damage, forged)
    })
}

fn flips(length: usize) -> impl Iterator<Item = Damage> {
    (0..8 * length).filter(|bit| bit / 8 < EVERY_BIT_BELOW || bit % 8 == (bit / 8) % 7).map(Damage::Flipped)
}

/// Asserts that a decoder refuses every version of [`damaged`].
///
/// # Panics
/// When one is accepted.
#[track_caller]
pub fn assert_damage_is_refused<T, E>(bytes: &[u8], decode: impl Fn(&[u8]) -> Result<T, E>) {
    for (damage, version) in damaged(bytes) {
        assert!(decode(&version).is_err(), "accepted although {damage:?}");
    }
}

/// Asserts that a decoder refuses every version of [`forged`], or accepts it and writes the same bytes again.
/// Returns how many were accepted, of how many.
///
/// # Panics
/// When an accepted version is written in another way.
#[track_caller]
pub fn assert_accepted_is_canonical<T, E: Debug>(
    bytes: &[u8],
    decode: impl Fn(&[u8]) -> Result<T, E>,
    encode: impl Fn(&T) -> Vec<u8>,
) -> (usize, usize) {
    let (mut accepted, mut tried) = (0, 0);
    for (damage, version) in forged(bytes) {
        tried += 1;
        if let Ok(value) = decode(&version) {
            accepted += 1;
            assert!(encode(&value) == version, "accepted with {damage:?}, but written in another way");
        }
    }
    (accepted, tried)
}

const HEADER_LEN: usize = 32;

/// Writes the right body length and checksum into the header of a file of the container format.
///
/// # Panics
/// When `bytes` are shorter than a header.
pub fn reseal(bytes: &mut [u8]) {
    let length = (bytes.len() - HEADER_LEN) as u64;
    bytes[8..16].copy_from_slice(&length.to_le_bytes());
    sign(bytes);
}

/// Writes the right checksum into the header.
fn sign(bytes: &mut [u8]) {
    let checksum = crc64_xz(&[&bytes[..24], &bytes[HEADER_LEN..]]);
    bytes[24..32].copy_from_slice(&checksum.to_le_bytes());
}

/// CRC-64/XZ of some parts one after the other, from its definition: the polynomial `0x42f0e1eba9ea3693` bit-reversed,
/// all ones at the start and flipped at the end.
///
/// # Examples
/// ```
/// assert_eq!(sketch_testkit::crc64_xz(&[b"12345", b"6789"]), 0x995d_c9bb_df19_39fa);
/// ```
#[must_use]
pub fn crc64_xz(parts: &[&[u8]]) -> u64 {
    const TABLE: [u64; 256] = table();
    let step = |crc: u64, byte: &u8| TABLE[usize::from(crc.to_le_bytes()[0] ^ byte)] ^ (crc >> 8);
    !parts.iter().flat_map(|part| part.iter()).fold(u64::MAX, step)
}

/// The effect of eight shifts on each low byte.
const fn table() -> [u64; 256] {
    let reversed = 0x42f0_e1eb_a9ea_3693_u64.reverse_bits();
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let mut value = index as u64;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 { (value >> 1) ^ reversed } else { value >> 1 };
            bit += 1;
        }
        table[index] = value;
        index += 1;
    }
    table
}
