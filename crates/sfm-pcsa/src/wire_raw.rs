//! Bytes of raw sketches. The layout stands in [`wire`](crate::wire).

use serde::{Deserialize, Serialize};
use sketch_hash::{HashId, KeyedHash};
use sketch_wire::{Family, Flags, WireBody, WireError};
use zeroize::Zeroize;

use crate::bloom::BloomShape;
use crate::error::DecodeError;
use crate::legions::LegionsShape;
use crate::linear::LinearShape;
use crate::params::PcsaShape;
use crate::sensitive::SensitiveBytes;
use crate::shape::{BitmapShape, ShapeFields};
use crate::sketch::RawBitmap;
use crate::unit::Unit;
use crate::wire::{MAX_BODY_LEN, check_words, hash_id};

/// Body of the raw families, version 1, behind the fields of the shape.
#[derive(Serialize, Deserialize)]
pub(crate) struct RawBodyV1<F> {
    shape: F,
    hash_algorithm: u8,
    hash_fingerprint: u64,
    releases: u32,
    /// 0: one item is the unit.
    max_items: u32,
    words: RawWords,
}

/// Cells, 64 a word, lowest bit first. Wiped when dropped.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct RawWords(Vec<u64>);

impl Drop for RawWords {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl<F: ShapeFields> WireBody for RawBodyV1<F> {
    const FAMILY: Family = F::RAW;
    const BODY_VERSION: u8 = 1;
    const MAX_BODY_LEN: u64 = MAX_BODY_LEN;
}

impl<F: ShapeFields> RawBodyV1<F> {
    fn read(bytes: &[u8]) -> Result<Self, DecodeError> {
        let (body, flags) = sketch_wire::decode::<Self>(bytes)?;
        // Raw state has no noise that could be insecure.
        if flags == Flags::RAW {
            Ok(body)
        } else {
            Err(WireError::FlagsFamily { family: Self::FAMILY, found: flags }.into())
        }
    }
}

/// What raw bytes say, once it has been checked.
pub(crate) struct RawParts<S> {
    pub(crate) shape: S,
    pub(crate) releases: u32,
    pub(crate) unit: Unit,
    words: RawWords,
}

impl<S> RawParts<S> {
    pub(crate) fn words(&self) -> &[u64] {
        &self.words.0
    }
}

/// Raw cells as bytes.
///
/// # Panics
/// Never: every sketch is within the limits of its family.
pub(crate) fn encode_raw<S: BitmapShape>(
    shape: S,
    hash: HashId,
    releases: u32,
    unit: Unit,
    words: Vec<u64>,
) -> SensitiveBytes {
    let body = RawBodyV1 {
        shape: shape.to_fields(),
        hash_algorithm: hash.algorithm().to_u8(),
        hash_fingerprint: hash.key().to_u64(),
        releases,
        max_items: unit.to_code(),
        words: RawWords(words),
    };
    SensitiveBytes::new(sketch_wire::encode(&body, Flags::RAW).expect("a sketch is within the limits of its family"))
}

/// Raw cells from bytes, if they were made with the hash `expected`.
pub(crate) fn decode_raw<S: BitmapShape>(bytes: &[u8], expected: HashId) -> Result<RawParts<S>, DecodeError> {
    let body = RawBodyV1::<S::Fields>::read(bytes)?;
    let shape = S::from_fields(&body.shape)?;
    let found = hash_id(body.hash_algorithm, body.hash_fingerprint)?;
    if expected != found {
        return Err(DecodeError::HashMismatch { expected, found });
    }
    check_words(&body.words.0, shape.cells())?;
    Ok(RawParts { shape, releases: body.releases, unit: Unit::from_code(body.max_items), words: body.words })
}

impl<S: BitmapShape, H: KeyedHash> RawBitmap<S, H> {
    /// The raw sketch as bytes (family `pcsa-raw`).
    ///
    /// # Privacy
    /// The bytes are as sensitive as the data: they are for a checkpoint or another machine of the same owner, never for
    /// publication. They are wiped when the returned value is dropped.
    ///
    /// # Panics
    /// Never: every sketch is within the limits of its family.
    #[must_use]
    pub fn to_sensitive_bytes(&self) -> SensitiveBytes {
        encode_raw(self.shape(), self.hash_id(), self.releases(), self.unit(), self.to_bits())
    }

    /// A raw sketch from [`to_sensitive_bytes`](Self::to_sensitive_bytes), with the hash that it was made with.
    ///
    /// # Errors
    /// [`DecodeError::HashMismatch`] if `hash` is another one, and [`DecodeError`] for anything that no sketch encodes
    /// to.
    ///
    /// # Examples
    /// ```
    /// use sfm_pcsa::sketch_hash::{DefaultHash, HashKey};
    /// use sfm_pcsa::{PcsaShape, PcsaSketch};
    /// let mut raw = PcsaSketch::new(PcsaShape::DEFAULT, DefaultHash::default());
    /// raw.update(b"alice");
    /// let bytes = raw.to_sensitive_bytes();
    /// assert_eq!(PcsaSketch::from_sensitive_bytes(&bytes, DefaultHash::default())?, raw);
    /// let other = DefaultHash::new(HashKey::from_bytes([1; 16]));
    /// assert!(PcsaSketch::from_sensitive_bytes(&bytes, other).is_err());
    /// # Ok::<(), sfm_pcsa::DecodeError>(())
    /// ```
    pub fn from_sensitive_bytes(bytes: &[u8], hash: H) -> Result<Self, DecodeError> {
        let parts = decode_raw::<S>(bytes, hash.id())?;
        Ok(Self::from_parts(parts.shape, hash, parts.words(), parts.releases, parts.unit))
    }
}

/// Reads the hash that a raw sketch of any family was made with.
///
/// A program that keeps several keys finds the right one by it before calling
/// [`RawBitmap::from_sensitive_bytes`].
///
/// # Errors
/// As [`RawBitmap::from_sensitive_bytes`].
pub fn raw_hash_id(bytes: &[u8]) -> Result<HashId, DecodeError> {
    match sketch_wire::peek(bytes)?.family() {
        Family::LINEAR_RAW => hash_of::<LinearShape>(bytes),
        Family::BLOOM_RAW => hash_of::<BloomShape>(bytes),
        Family::LEGIONS_RAW => hash_of::<LegionsShape>(bytes),
        // Anything else is refused there, by name.
        _ => hash_of::<PcsaShape>(bytes),
    }
}

fn hash_of<S: BitmapShape>(bytes: &[u8]) -> Result<HashId, DecodeError> {
    let body = RawBodyV1::<S::Fields>::read(bytes)?;
    hash_id(body.hash_algorithm, body.hash_fingerprint)
}
