//! The bytes of a Presto sketch, and nothing of what they mean.
//!
//! ```text
//!  0  u8   tag, 7
//!  1  i32  log2 of the number of buckets
//!  5  i32  levels
//!  9  f64  flip probability; 0 without noise
//! 17  i32  number of bytes of the bitmap
//! 21       the bitmap: cell (bucket, level) is bit i = level · buckets + bucket, that is, bit i mod 8 of
//!          byte i / 8, counted from the lowest; zero bytes at the end are left out
//! ```
//!
//! All numbers are little endian.

use zeroize::Zeroizing;

use super::error::PrestoDecodeError;
use crate::params::PcsaShape;

/// The format tag of Presto's sketches.
const TAG: u8 = 7;
/// Bytes before the bitmap.
const HEADER: usize = 21;

/// The fields before the bitmap, as they stand.
#[derive(Clone, Copy, Debug)]
struct Fields {
    tag: u8,
    index_bits: i32,
    levels: i32,
    flip_probability: f64,
    bitmap: i32,
}

impl Fields {
    fn read(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes;
        let [tag] = take(&mut rest)?;
        Some(Self {
            tag,
            index_bits: i32::from_le_bytes(take(&mut rest)?),
            levels: i32::from_le_bytes(take(&mut rest)?),
            flip_probability: f64::from_le_bytes(take(&mut rest)?),
            bitmap: i32::from_le_bytes(take(&mut rest)?),
        })
    }
}

/// Takes `N` bytes off the front.
fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*first)
}

/// Whether bytes start like a sketch of Presto's: the tag, and shape and flip probability in the ranges of its format.
///
/// For programs that tell files apart by their content: bytes that look so are worth reading as such, and an error says
/// what is wrong with them. Files of this crate never do, and other files hardly ever.
///
/// # Examples
/// ```
/// use sfm_pcsa::{PcsaShape, PcsaSketch, looks_like_presto};
/// use sfm_pcsa::sketch_hash::PrestoHash;
/// let raw = PcsaSketch::new(PcsaShape::DEFAULT, PrestoHash);
/// assert!(looks_like_presto(&raw.to_sensitive_presto_bytes()?));
/// assert!(!looks_like_presto(&raw.to_sensitive_bytes()));
/// # Ok::<(), sfm_pcsa::PrestoEncodeError>(())
/// ```
#[must_use]
pub fn looks_like_presto(bytes: &[u8]) -> bool {
    Fields::read(bytes).is_some_and(|fields| {
        fields.tag == TAG
            && (1..=32).contains(&fields.index_bits)
            && (1..=64 - fields.index_bits).contains(&fields.levels)
            && (0.0..=0.5).contains(&fields.flip_probability)
    })
}

/// What the bytes hold, checked as far as a shape and a bitmap go.
pub(super) struct Layout {
    pub(super) shape: PcsaShape,
    /// In 0 ..= 1/2.
    pub(super) flip_probability: f64,
    /// Level-major cells, 64 a word, lowest bit first. They may be raw state, so they are wiped.
    pub(super) words: Zeroizing<Vec<u64>>,
}

impl Layout {
    pub(super) fn read(bytes: &[u8]) -> Result<Self, PrestoDecodeError> {
        let short = PrestoDecodeError::Length { expected: HEADER, found: bytes.len() };
        let fields = Fields::read(bytes).ok_or(short)?;
        if fields.tag != TAG {
            return Err(PrestoDecodeError::Tag { expected: TAG, found: fields.tag });
        }
        let shape = shape(fields.index_bits, fields.levels)?;
        let flip_probability = fields.flip_probability;
        if !(0.0..=0.5).contains(&flip_probability) {
            return Err(PrestoDecodeError::FlipProbability { found: flip_probability });
        }
        let max = shape.cells().div_ceil(8);
        let length = usize::try_from(fields.bitmap).ok().filter(|&length| length <= max);
        let length = length.ok_or(PrestoDecodeError::Bitmap { max, found: fields.bitmap })?;
        let (expected, found) = (HEADER + length, bytes.len());
        if expected != found {
            return Err(PrestoDecodeError::Length { expected, found });
        }
        let words = Zeroizing::new(words(&bytes[HEADER..], shape));
        let used = shape.cells() % 64;
        if used != 0 && words.last().is_some_and(|last| last >> used != 0) {
            return Err(PrestoDecodeError::ExtraBits { cells: shape.cells() });
        }
        Ok(Self { shape, flip_probability, words })
    }
}

fn shape(index_bits: i32, levels: i32) -> Result<PcsaShape, PrestoDecodeError> {
    let max = PcsaShape::MAX_INDEX_BITS;
    let bits = u8::try_from(index_bits).ok().filter(|bits| (1..=max).contains(bits));
    let bits = bits.ok_or(PrestoDecodeError::IndexBits { max, found: index_bits })?;
    let refused = PrestoDecodeError::Levels { max: 64 - bits, found: levels };
    u8::try_from(levels).ok().and_then(|levels| PcsaShape::from_index_bits(bits, levels).ok()).ok_or(refused)
}

/// As many words as the shape has; no more bytes than it has cells for.
fn words(bitmap: &[u8], shape: PcsaShape) -> Vec<u64> {
    let mut words = vec![0; shape.words()];
    for (word, bytes) in words.iter_mut().zip(bitmap.chunks(8)) {
        *word = bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    }
    words
}

/// The bytes of a sketch, without zero bytes at the end of the bitmap.
pub(super) fn write(shape: PcsaShape, flip_probability: f64, words: &[u64]) -> Vec<u8> {
    let used = words.iter().rposition(|&word| word != 0).map_or(0, |last| {
        let bits = 64 * (last + 1) - words[last].leading_zeros() as usize;
        bits.div_ceil(8)
    });
    // Reserved at once: growing would leave copies of what may be raw state behind.
    let mut bytes = Vec::with_capacity(HEADER + words.len() * 8);
    bytes.push(TAG);
    bytes.extend(i32::from(shape.index_bits()).to_le_bytes());
    bytes.extend(i32::from(shape.levels()).to_le_bytes());
    bytes.extend(flip_probability.to_le_bytes());
    // At most 2²⁰ · 44 bits.
    bytes.extend(u32::try_from(used).unwrap_or(u32::MAX).to_le_bytes());
    bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    bytes.truncate(HEADER + used);
    bytes
}
