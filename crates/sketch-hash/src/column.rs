//! Hashes of whole columns of one fixed-width type.

use crate::item::Encoded;
use crate::{Domain, Item, KeyedHash, TimeUnit};

/// Words staged at once.
const CHUNK: usize = 256;

/// [`Item::Integer`] hashes of a column of signed integers.
///
/// # Panics
/// If `values` and `out` differ in length.
///
/// # Examples
/// ```
/// use sketch_hash::{DefaultHash, Item, hash64_integers};
///
/// let hash = DefaultHash::default();
/// let mut out = [0; 2];
/// hash64_integers(&hash, &[-7, 7], &mut out);
/// assert_eq!(out[0], Item::from(-7_i8).hash64(&hash));
/// ```
pub fn hash64_integers<H: KeyedHash>(hash: &H, values: &[i64], out: &mut [u64]) {
    hash64_column(hash, Domain::Integer, values, out, Item::from);
}

/// [`Item::Integer`] hashes of a column of unsigned integers.
///
/// # Panics
/// If `values` and `out` differ in length.
pub fn hash64_unsigned<H: KeyedHash>(hash: &H, values: &[u64], out: &mut [u64]) {
    hash64_column(hash, Domain::Integer, values, out, Item::from);
}

/// [`Item::Integer`] hashes of 128 bits of a column of unsigned integers.
///
/// # Panics
/// If `values` and `out` differ in length.
///
/// # Examples
/// ```
/// use sketch_hash::{DefaultHash, Item, hash128_unsigned};
///
/// let hash = DefaultHash::default();
/// let mut out = [[0; 2]; 2];
/// hash128_unsigned(&hash, &[7, u64::MAX], &mut out);
/// assert_eq!(out, [Item::from(7_u8).hash128(&hash), Item::from(u64::MAX).hash128(&hash)]);
/// ```
pub fn hash128_unsigned<H: KeyedHash>(hash: &H, values: &[u64], out: &mut [[u64; 2]]) {
    assert_eq!(values.len(), out.len(), "one output for each value");
    // Below 2^63 an integer is its own word in every encoding.
    hash.hash128_words(Domain::Integer, values, out);
    for (value, out) in values.iter().zip(out) {
        if value >> 63 == 1 {
            *out = Item::from(*value).hash128(hash);
        }
    }
}

/// [`Item::Float`] hashes of a column of floating-point numbers.
///
/// # Panics
/// If `values` and `out` differ in length.
pub fn hash64_floats<H: KeyedHash>(hash: &H, values: &[f64], out: &mut [u64]) {
    hash64_column(hash, Domain::Float, values, out, Item::from);
}

/// [`Item::Float32`] hashes of a column of 32-bit floating-point numbers.
///
/// # Panics
/// If `values` and `out` differ in length.
pub fn hash64_floats32<H: KeyedHash>(hash: &H, values: &[f32], out: &mut [u64]) {
    hash64_column(hash, Domain::Float, values, out, Item::from);
}

/// [`Item::Date`] hashes of a column of days since 1970-01-01.
///
/// # Panics
/// If `days` and `out` differ in length.
pub fn hash64_dates<H: KeyedHash>(hash: &H, days: &[i64], out: &mut [u64]) {
    hash64_column(hash, Domain::Date, days, out, Item::Date);
}

/// [`Item::timestamp`] hashes of a column of counts of `unit` since 1970-01-01T00:00:00.
///
/// # Panics
/// If `counts` and `out` differ in length.
pub fn hash64_timestamps<H: KeyedHash>(hash: &H, counts: &[i64], unit: TimeUnit, zoned: bool, out: &mut [u64]) {
    let domain = if zoned { Domain::Timestamp } else { Domain::LocalTimestamp };
    hash64_column(hash, domain, counts, out, |count| Item::timestamp(count, unit, zoned));
}

/// Hashes of values whose items are words of one domain, all but a few.
fn hash64_column<H: KeyedHash, T: Copy>(
    hash: &H,
    domain: Domain,
    values: &[T],
    out: &mut [u64],
    item: impl Fn(T) -> Item<'static>,
) {
    assert_eq!(values.len(), out.len(), "one output for each value");
    let encoding = hash.value_encoding();
    let mut words = [0; CHUNK];
    for (values, out) in values.chunks(CHUNK).zip(out.chunks_mut(CHUNK)) {
        let mut all_words = true;
        for (value, word) in values.iter().zip(&mut words) {
            match item(*value).encode(encoding) {
                Encoded::Word(_, encoded) => *word = encoded,
                Encoded::Bytes(..) | Encoded::Short(..) => all_words = false,
            }
        }
        hash.hash64_words(domain, &words[..values.len()], out);
        if !all_words {
            for (value, out) in values.iter().zip(out) {
                *out = item(*value).hash64(hash);
            }
        }
    }
}
