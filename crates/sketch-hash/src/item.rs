//! Typed values, and which of them are the same item.

use crate::decimal::{Reduced, reduce};
use crate::{Domain, KeyedHash, ValueEncoding};

/// A typed value to be counted. Which values are the same item is told by the table in the crate's documentation.
///
/// # Examples
/// ```
/// use sketch_hash::{DefaultHash, Item};
///
/// let hash = DefaultHash::default();
/// let price = Item::Decimal { unscaled: 4200, scale: 2 };
/// assert_eq!(price.hash64(&hash), Item::from(42_u32).hash64(&hash)); // 42.00 is 42
/// assert_ne!(price.hash64(&hash), Item::from("42").hash64(&hash)); // a text is no number
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Item<'a> {
    /// An integer of any width, by its value.
    Integer(i128),
    /// Text, as its UTF-8 bytes, which are not normalised.
    Text(&'a str),
    /// Bytes. The same item as the text that they encode.
    Binary(&'a [u8]),
    /// A 64-bit floating-point number. All NaN are one item, and so are both zeros.
    Float(f64),
    /// A 32-bit floating-point number; the same item as the 64-bit number of equal value.
    Float32(f32),
    /// A truth value.
    Boolean(bool),
    /// A calendar day, in days since 1970-01-01.
    Date(i64),
    /// A point in time, in nanoseconds since 1970-01-01T00:00:00: UTC if `zoned`, else local time of no known zone.
    Timestamp {
        /// Nanoseconds.
        nanos: i128,
        /// Whether the instant is known, that is, whether the column has a time zone (whichever).
        zoned: bool,
    },
    /// A decimal number, `unscaled · 10^−scale`.
    Decimal {
        /// All digits.
        unscaled: i128,
        /// How many of them are behind the point; negative for trailing zeros that are left out.
        scale: i8,
    },
}

/// What is fed to the hash for one item.
pub(crate) enum Encoded<'a> {
    /// The eight little-endian bytes of a word.
    Word(Domain, u64),
    /// Bytes of the caller.
    Bytes(Domain, &'a [u8]),
    /// So many of these bytes.
    Short(Domain, [u8; 18], usize),
}

impl<'a> Item<'a> {
    /// A day from a count of milliseconds since 1970-01-01T00:00:00, rounded down to the day it lies in.
    #[must_use]
    pub const fn date_from_millis(millis: i64) -> Self {
        Self::Date(millis.div_euclid(86_400_000))
    }

    /// A time stamp from a count of `unit`s since 1970-01-01T00:00:00.
    #[must_use]
    pub fn timestamp(count: i64, unit: TimeUnit, zoned: bool) -> Self {
        Self::Timestamp { nanos: i128::from(count) * i128::from(unit.nanos()), zoned }
    }

    /// 64 bits of this item.
    #[inline]
    #[must_use]
    pub fn hash64<H: KeyedHash>(&self, hash: &H) -> u64 {
        match self.encode(hash.value_encoding()) {
            Encoded::Word(domain, word) => hash.hash64_word(domain, word),
            Encoded::Bytes(domain, bytes) => hash.hash64(domain, bytes),
            Encoded::Short(domain, bytes, len) => hash.hash64(domain, &bytes[..len]),
        }
    }

    /// 128 bits of this item.
    #[inline]
    #[must_use]
    pub fn hash128<H: KeyedHash>(&self, hash: &H) -> [u64; 2] {
        match self.encode(hash.value_encoding()) {
            Encoded::Word(domain, word) => hash.hash128_word(domain, word),
            Encoded::Bytes(domain, bytes) => hash.hash128(domain, bytes),
            Encoded::Short(domain, bytes, len) => hash.hash128(domain, &bytes[..len]),
        }
    }

    #[inline]
    pub(crate) fn encode(&self, encoding: ValueEncoding) -> Encoded<'a> {
        match encoding {
            ValueEncoding::Canonical => self.encode_canonical(),
            ValueEncoding::Presto => self.encode_presto(),
        }
    }

    #[inline]
    fn encode_canonical(&self) -> Encoded<'a> {
        match *self {
            Self::Integer(value) => number(Domain::Integer, value),
            Self::Text(text) => Encoded::Bytes(Domain::Bytes, text.as_bytes()),
            Self::Binary(bytes) => Encoded::Bytes(Domain::Bytes, bytes),
            Self::Float(value) => Encoded::Word(Domain::Float, canonical_float_bits(value)),
            Self::Float32(value) => Encoded::Word(Domain::Float, canonical_float_bits(f64::from(value))),
            Self::Boolean(value) => Encoded::Word(Domain::Boolean, u64::from(value)),
            Self::Date(days) => Encoded::Word(Domain::Date, days.cast_unsigned()),
            Self::Timestamp { nanos, zoned: true } => number(Domain::Timestamp, nanos),
            Self::Timestamp { nanos, zoned: false } => number(Domain::LocalTimestamp, nanos),
            Self::Decimal { unscaled, scale } => match reduce(unscaled, scale) {
                Reduced::Integer(value) => number(Domain::Integer, value),
                Reduced::Scaled { unscaled, scale } => {
                    let mut bytes = [0; 18];
                    bytes[..16].copy_from_slice(&unscaled.to_le_bytes());
                    bytes[16..].copy_from_slice(&scale.to_le_bytes());
                    Encoded::Short(Domain::Decimal, bytes, 18)
                }
            },
        }
    }

    /// The bytes of Presto's `XX_HASH_64` operator; the domain is ignored by the hash.
    fn encode_presto(&self) -> Encoded<'a> {
        match *self {
            Self::Float(value) => Encoded::Word(Domain::Float, one_nan_bits(value)),
            Self::Float32(value) => {
                let bits = if value.is_nan() { 0x7fc0_0000 } else { value.to_bits() };
                // Presto holds a REAL in a signed 64-bit word.
                Encoded::Word(Domain::Float, i64::from(bits.cast_signed()).cast_unsigned())
            }
            // Presto's TIMESTAMP counts milliseconds.
            Self::Timestamp { nanos, .. } => number(Domain::Timestamp, nanos.div_euclid(1_000_000)),
            // All values of a Presto column have one scale, which is not hashed.
            Self::Decimal { unscaled, .. } => number(Domain::Decimal, unscaled),
            _ => self.encode_canonical(),
        }
    }
}

/// Eight little-endian bytes if the value fits in an `i64`, else sixteen. The length tells the two apart.
#[inline]
fn number<'a>(domain: Domain, value: i128) -> Encoded<'a> {
    if let Ok(value) = i64::try_from(value) {
        Encoded::Word(domain, value.cast_unsigned())
    } else {
        let mut bytes = [0; 18];
        bytes[..16].copy_from_slice(&value.to_le_bytes());
        Encoded::Short(domain, bytes, 16)
    }
}

/// The bits of `value`, with one pattern for all NaN.
#[inline]
fn one_nan_bits(value: f64) -> u64 {
    if value.is_nan() { 0x7ff8_0000_0000_0000 } else { value.to_bits() }
}

/// The bits of `value`, with one pattern for all NaN and one for both zeros.
#[inline]
fn canonical_float_bits(value: f64) -> u64 {
    one_nan_bits(value + 0.0)
}

/// The unit of a time stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimeUnit {
    /// Seconds.
    Second,
    /// Thousandths of a second.
    Millisecond,
    /// Millionths of a second.
    Microsecond,
    /// Thousand-millionths of a second.
    Nanosecond,
}

impl TimeUnit {
    /// Nanoseconds in one unit.
    #[must_use]
    pub const fn nanos(self) -> i64 {
        match self {
            Self::Second => 1_000_000_000,
            Self::Millisecond => 1_000_000,
            Self::Microsecond => 1_000,
            Self::Nanosecond => 1,
        }
    }
}

macro_rules! item_from_integer {
    ($($integer:ty),*) => {$(
        impl From<$integer> for Item<'_> {
            fn from(value: $integer) -> Self {
                Self::Integer(i128::from(value))
            }
        }
    )*};
}
item_from_integer!(u8, u16, u32, u64, i8, i16, i32, i64, i128);

impl From<f32> for Item<'_> {
    fn from(value: f32) -> Self {
        Self::Float32(value)
    }
}

impl From<f64> for Item<'_> {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<bool> for Item<'_> {
    fn from(value: bool) -> Self {
        Self::Boolean(value)
    }
}

impl<'a> From<&'a str> for Item<'a> {
    fn from(value: &'a str) -> Self {
        Self::Text(value)
    }
}

impl<'a> From<&'a [u8]> for Item<'a> {
    fn from(value: &'a [u8]) -> Self {
        Self::Binary(value)
    }
}
