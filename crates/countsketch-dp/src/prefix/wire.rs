//! Bytes of stacks.
//!
//! All numbers are little endian; offsets count from the end of the 32-byte header.
//!
//! ```text
//! both families, version 1
//!  0  u8   rows of sketched levels
//!  1  u32  width of sketched levels
//!  5  u64  number of levels L
//! 13  L times:
//!       u8   prefix length
//!       u64  number of bytes B
//!       B bytes, a whole file of family countsketch-private (or -raw, in a raw stack); of a
//!       plain level one row as wide as there are prefixes, hashed by the default key and
//!       addressed by the prefix itself
//! ```
//!
//! A level is plain when length ≤ 24 and 2^length ≤ rows · width.

use serde::{Deserialize, Serialize};
use sketch_hash::{DefaultHash, HashId, KeyedHash};
use sketch_wire::{Family, Flags, WireBody, WireError};
use zeroize::Zeroize;

use crate::baseline::{DenseVector, PrivateVector};
use crate::error::DecodeError;
use crate::leaf::{Leaf, NoiseLaw};
use crate::prefix::level::PrivateLevel;
use crate::prefix::stack::RawLevel;
use crate::prefix::{PrefixLayout, PrefixStack, PrivatePrefixStack};
use crate::private::PrivateCountSketch;
use crate::sensitive::SensitiveBytes;
use crate::shape::CountSketchShape;
use crate::sketch::CountSketch;
use crate::wire_list::list;
use crate::wire_raw::raw_hash_id;

/// 2²⁶ cells of 8 bytes, and 7 MiB of releases in each of 64 levels.
const MAX_BODY_LEN: u64 = 1 << 30;

#[derive(Serialize, Deserialize)]
struct PrivateBodyV1(BodyV1);

#[derive(Serialize, Deserialize)]
struct RawBodyV1(BodyV1);

#[derive(Serialize, Deserialize)]
struct BodyV1 {
    rows: u8,
    width: u32,
    #[serde(deserialize_with = "list")]
    levels: Vec<LevelV1>,
}

#[derive(Serialize, Deserialize)]
struct LevelV1 {
    length: u8,
    #[serde(with = "file_bytes")]
    file: Vec<u8>,
}

/// A run of bytes after its length, copied as one; read into exactly as much memory.
mod file_bytes {
    use core::fmt;

    use serde::de::{Deserializer, Error, Visitor};
    use serde::ser::Serializer;

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(bytes)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        deserializer.deserialize_byte_buf(FileVisitor)
    }

    struct FileVisitor;

    impl Visitor<'_> for FileVisitor {
        type Value = Vec<u8>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("bytes")
        }

        fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
            Ok(bytes.to_vec())
        }

        fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
            Ok(bytes)
        }
    }
}

impl Drop for RawBodyV1 {
    fn drop(&mut self) {
        self.0.levels.iter_mut().for_each(|level| level.file.zeroize());
    }
}

impl WireBody for PrivateBodyV1 {
    const FAMILY: Family = Family::PREFIX_PRIVATE;
    const BODY_VERSION: u8 = 1;
    const MAX_BODY_LEN: u64 = MAX_BODY_LEN;
}

impl WireBody for RawBodyV1 {
    const FAMILY: Family = Family::PREFIX_RAW;
    const BODY_VERSION: u8 = 1;
    const MAX_BODY_LEN: u64 = MAX_BODY_LEN;
}

impl BodyV1 {
    fn new(layout: &PrefixLayout, files: impl Iterator<Item = Vec<u8>>) -> Self {
        let levels = layout.lengths().iter().zip(files).map(|(&length, file)| LevelV1 { length, file }).collect();
        Self { rows: layout.shape().rows(), width: layout.shape().width(), levels }
    }

    /// The hash of the first sketched level.
    fn hash_id(&self, read: impl Fn(&[u8]) -> Result<HashId, DecodeError>) -> Result<HashId, DecodeError> {
        let layout = self.to_layout()?;
        let sketched = self.levels.iter().enumerate().find(|(index, _)| !layout.is_plain(*index));
        sketched.map_or(Ok(DefaultHash::default().id()), |(_, level)| read(&level.file))
    }

    fn to_layout(&self) -> Result<PrefixLayout, DecodeError> {
        let shape = CountSketchShape::new(self.rows, self.width)?;
        Ok(PrefixLayout::with_lengths(self.levels.iter().map(|level| level.length).collect(), shape)?)
    }
}

impl<H: KeyedHash> PrivatePrefixStack<H> {
    /// The stack as bytes (family `prefix-private`); equal stacks give equal bytes.
    ///
    /// # Panics
    /// Never: every stack is within the limits of its family.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let files = self.private_levels().iter().map(|level| level.as_sketch().to_bytes());
        let body = PrivateBodyV1(BodyV1::new(self.layout(), files));
        let flags = if self.insecure_noise() { Flags::PRIVATE | Flags::INSECURE_NOISE } else { Flags::PRIVATE };
        sketch_wire::encode(&body, flags).expect("a stack is within the limits of its family")
    }

    /// A stack from [`to_bytes`](Self::to_bytes), with the hash that it was made with. Every level is checked again.
    ///
    /// # Errors
    /// [`DecodeError`] for anything that no stack encodes to; [`DecodeError::HashMismatch`] for another hash;
    /// [`DecodeError::InsecureNoise`] for a stack whose noise came from the test generator.
    pub fn from_bytes(bytes: &[u8], hash: H) -> Result<Self, DecodeError> {
        let stack = Self::from_bytes_allowing_insecure_noise(bytes, hash)?;
        if stack.insecure_noise() { Err(DecodeError::InsecureNoise) } else { Ok(stack) }
    }

    /// As [`from_bytes`](Self::from_bytes), but also accepts stacks whose noise anybody can repeat; they stay
    /// [marked](Self::insecure_noise).
    ///
    /// # Privacy
    /// For simulations and tests. A marked stack protects nobody.
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes).
    pub fn from_bytes_allowing_insecure_noise(bytes: &[u8], hash: H) -> Result<Self, DecodeError> {
        let (PrivateBodyV1(body), flags) = sketch_wire::decode::<PrivateBodyV1>(bytes)?;
        let layout = body.to_layout()?;
        let mut levels: Vec<PrivateLevel> = Vec::with_capacity(layout.levels());
        for (index, level) in body.levels.iter().enumerate() {
            let sketch = PrivateCountSketch::from_bytes_allowing_insecure_noise(&level.file)?;
            check_level(&layout, index, sketch.shape())?;
            let expected = if layout.is_plain(index) { DefaultHash::default().id() } else { hash.id() };
            if sketch.hash_id() != expected {
                return Err(DecodeError::HashMismatch { expected, found: sketch.hash_id() });
            }
            let first = levels.first().map_or(&sketch, PrivateLevel::as_sketch);
            if !is_of_one_stack(first, &sketch) {
                return Err(DecodeError::Level { level: index });
            }
            levels.push(if layout.is_plain(index) {
                PrivateLevel::Plain(PrivateVector::from_row(sketch))
            } else {
                PrivateLevel::Sketch(sketch)
            });
        }
        let stack = Self::from_parts(layout, hash, levels);
        // The header and the levels must say the same, or one stack would have two encodings.
        if stack.insecure_noise() == flags.contains(Flags::INSECURE_NOISE) {
            Ok(stack)
        } else {
            Err(WireError::FlagsFamily { family: Family::PREFIX_PRIVATE, found: flags }.into())
        }
    }
}

impl<H: KeyedHash> PrefixStack<H> {
    /// The raw stack as bytes (family `prefix-raw`).
    ///
    /// # Privacy
    /// As sensitive as the data; see [`CountSketch::to_sensitive_bytes`].
    ///
    /// # Panics
    /// Never: every stack is within the limits of its family.
    #[must_use]
    pub fn to_sensitive_bytes(&self) -> SensitiveBytes {
        let files = self.raw_levels().iter().map(|level| match level {
            RawLevel::Plain(vector) => vector.as_row().to_sensitive_bytes().to_vec(),
            RawLevel::Sketch(sketch) => sketch.to_sensitive_bytes().to_vec(),
        });
        let body = RawBodyV1(BodyV1::new(self.layout(), files));
        SensitiveBytes::new(sketch_wire::encode(&body, Flags::RAW).expect("a stack is within the limits of its family"))
    }

    /// A raw stack from [`to_sensitive_bytes`](Self::to_sensitive_bytes), with the hash that it was made with.
    ///
    /// # Errors
    /// [`DecodeError`] for anything that no stack encodes to.
    pub fn from_sensitive_bytes(bytes: &[u8], hash: H) -> Result<Self, DecodeError>
    where
        H: Clone,
    {
        let (RawBodyV1(body), flags) = &sketch_wire::decode::<RawBodyV1>(bytes)?;
        if *flags != Flags::RAW {
            return Err(WireError::FlagsFamily { family: Family::PREFIX_RAW, found: *flags }.into());
        }
        let layout = body.to_layout()?;
        let mut levels = Vec::with_capacity(layout.levels());
        let mut terms = None;
        for (index, level) in body.levels.iter().enumerate() {
            let (shape, found, level) = if layout.is_plain(index) {
                let row = CountSketch::from_sensitive_bytes(&level.file, DefaultHash::default())?;
                (row.shape(), row.terms(), RawLevel::Plain(DenseVector::from_row(row)))
            } else {
                let sketch = CountSketch::from_sensitive_bytes(&level.file, hash.clone())?;
                (sketch.shape(), sketch.terms(), RawLevel::Sketch(sketch))
            };
            check_level(&layout, index, shape)?;
            // One bound, one grid and one history for all levels.
            if *terms.get_or_insert(found) != found || found.bound.squared_norm().is_some() {
                return Err(DecodeError::Level { level: index });
            }
            levels.push(level);
        }
        let terms = terms.ok_or(DecodeError::Level { level: 0 })?;
        Ok(Self::from_parts(layout, hash, terms.bound, terms.granularity, levels))
    }
}

/// Reads the hash that a stack was made with, raw or private; that of the default key where all levels are plain, which use
/// none.
///
/// A program that keeps several keys, or none, finds the right one by it before it reads the stack.
///
/// # Errors
/// [`DecodeError`] for anything that is no stack.
pub fn prefix_hash_id(bytes: &[u8]) -> Result<HashId, DecodeError> {
    if sketch_wire::peek(bytes)?.family() == Family::PREFIX_RAW {
        let (RawBodyV1(body), _) = &sketch_wire::decode::<RawBodyV1>(bytes)?;
        return body.hash_id(raw_hash_id);
    }
    let (PrivateBodyV1(body), _) = &sketch_wire::decode::<PrivateBodyV1>(bytes)?;
    body.hash_id(|file| Ok(PrivateCountSketch::from_bytes_allowing_insecure_noise(file)?.hash_id()))
}

/// Whether a level has the grid of the first and its releases, with budgets of their own: the same Gaussian releases of the
/// same units, joined in the same way. Otherwise the costs of levels would not add up to that of one unit.
fn is_of_one_stack(first: &PrivateCountSketch, level: &PrivateCountSketch) -> bool {
    let terms = |leaf: &Leaf| {
        let guarantee = leaf.guarantee().filter(|_| matches!(leaf.law(), NoiseLaw::Gaussian { .. }))?;
        let clipped = guarantee.bound().squared_norm().is_some();
        (!clipped).then(|| (guarantee.bound(), guarantee.parts(), guarantee.relation(), leaf.factor()))
    };
    let alike = |(one, other): (&Leaf, &Leaf)| terms(one).is_some() && terms(one) == terms(other);
    first.granularity() == level.granularity()
        && first.insecure_noise() == level.insecure_noise()
        && first.lineage().steps() == level.lineage().steps()
        && first.leaves().len() == level.leaves().len()
        && first.leaves().iter().zip(level.leaves()).all(alike)
}

fn check_level(layout: &PrefixLayout, level: usize, found: CountSketchShape) -> Result<(), DecodeError> {
    if layout.level_shape(level)? == found { Ok(()) } else { Err(DecodeError::Level { level }) }
}
