//! `MurmurHash3` x64-128, as Presto's `SfmSketch` class uses it (not its SQL functions).

/// The first 64-bit word of `MurmurHash3` x64-128 (Appleby, public domain).
///
/// Needed to read and check sketches that Java code made through the class itself. It is keyed by nothing and
/// reversible, so sketches of this project never use it.
///
/// # Examples
/// ```
/// assert_eq!(sfm_pcsa::diagnostics::murmur3_x64_128(b"presto", 0), 0xb82b_e939_6bd8_15bb);
/// ```
#[must_use]
pub fn murmur3_x64_128(bytes: &[u8], seed: u32) -> u64 {
    const C1: u64 = 0x87c3_7b91_1142_53d5;
    const C2: u64 = 0x4cf5_ad43_2745_937f;
    let scramble_1 = |k: u64| k.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2);
    let scramble_2 = |k: u64| k.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1);
    let (mut h1, mut h2) = (u64::from(seed), u64::from(seed));
    let mut blocks = bytes.chunks_exact(16);
    for block in blocks.by_ref() {
        h1 ^= scramble_1(little_endian(&block[..8]));
        h1 = h1.rotate_left(27).wrapping_add(h2).wrapping_mul(5).wrapping_add(0x52dc_e729);
        h2 ^= scramble_2(little_endian(&block[8..]));
        h2 = h2.rotate_left(31).wrapping_add(h1).wrapping_mul(5).wrapping_add(0x3849_5ab5);
    }
    let tail = blocks.remainder();
    let (low, high) = tail.split_at(tail.len().min(8));
    h2 ^= scramble_2(little_endian(high));
    h1 ^= scramble_1(little_endian(low));
    let length = bytes.len() as u64;
    h1 ^= length;
    h2 ^= length;
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    finish(h1).wrapping_add(finish(h2))
}

/// Up to eight bytes, the first one lowest.
fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

fn finish(mut k: u64) -> u64 {
    k = (k ^ k >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    k = (k ^ k >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    k ^ k >> 33
}
