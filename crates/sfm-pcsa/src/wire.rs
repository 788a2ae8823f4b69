//! Bodies of the two families, and the checks that turn them into sketches.
//!
//! All numbers are little endian; offsets count from the start of the body, behind the 32-byte header.
//!
//! ```text
//! pcsa-raw, version 1                          sfm-private, version 1
//!  0  u8   log2 of the number of buckets        0  u8   log2 of the number of buckets
//!  1  u8   levels                               1  u8   levels
//!  2  u8   hash algorithm                       2  u8   hash algorithm
//!  3  u64  fingerprint of the hash key          3  u64  fingerprint of the hash key
//! 11  u32  releases so far                     11  u64  number of releases R
//! 15  u64  number of words W                   19  R times 40 bytes, one a release:
//! 23  W times u64, the cells                        16 bytes  name
//!                                                   u64       P(1→1) · 2^64
//! Cell (bucket, level) is bit                       u64       P(0→1) · 2^64
//! i = level · buckets + bucket, that is,            f64       epsilon as given
//! bit i mod 64 of word i / 64, counted          .  u64  number of steps S
//! from the lowest; bits beyond the last         .  S times 6 bytes, the merge history in postfix:
//! cell are zero.                                    u8   0: take the next `count` releases
//!                                                        1: merge the last `count` entries
//!                                                   u8   form: 0 for a step 0; 1 extremal,
//!                                                        2 symmetric, 3 xor for a step 1
//!                                                   u32  count
//!                                               .  u64  number of words W
//!                                               .  W times u64, the cells
//! ```

use serde::{Deserialize, Serialize};
use sketch_hash::{HashAlgorithm, HashId, KeyFingerprint, KeyedHash};
use sketch_wire::{Family, Flags, WireBody, WireError};
use zeroize::Zeroize;

use crate::error::DecodeError;
use crate::lineage::{Leaf, Lineage, MergeForm, Step};
use crate::params::PcsaShape;
use crate::private::{Parts, SfmSketch};
use crate::sensitive::SensitiveBytes;
use crate::sketch::PcsaSketch;

/// 2²⁰ buckets of 44 levels are 5.5 MiB, 65,536 releases and their history 3.3 MiB.
const MAX_BODY_LEN: u64 = 1 << 24;

/// Body of the raw family, version 1.
#[derive(Serialize, Deserialize)]
struct RawBodyV1 {
    index_bits: u8,
    levels: u8,
    hash_algorithm: u8,
    hash_fingerprint: u64,
    releases: u32,
    /// Level-major cells, 64 a word, lowest bit first.
    words: Vec<u64>,
}

impl WireBody for RawBodyV1 {
    const FAMILY: Family = Family::PCSA_RAW;
    const BODY_VERSION: u8 = 1;
    const MAX_BODY_LEN: u64 = MAX_BODY_LEN;
}

impl RawBodyV1 {
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

impl Drop for RawBodyV1 {
    fn drop(&mut self) {
        self.words.zeroize();
    }
}

/// Body of the private family, version 1.
#[derive(Serialize, Deserialize)]
pub(crate) struct PrivateBodyV1 {
    index_bits: u8,
    levels: u8,
    hash_algorithm: u8,
    hash_fingerprint: u64,
    leaves: Vec<LeafV1>,
    steps: Vec<StepV1>,
    /// Level-major cells, 64 a word, lowest bit first.
    words: Vec<u64>,
}

#[derive(Serialize, Deserialize)]
struct LeafV1 {
    id: [u8; 16],
    p_numerator: u64,
    q_numerator: u64,
    epsilon: f64,
}

/// Operation 0 takes `count` leaves (form 0); operation 1 merges the top `count` entries in a form of 1 extremal,
/// 2 symmetric, 3 xor.
#[derive(Serialize, Deserialize)]
struct StepV1 {
    operation: u8,
    form: u8,
    count: u32,
}

impl WireBody for PrivateBodyV1 {
    const FAMILY: Family = Family::SFM_PRIVATE;
    const BODY_VERSION: u8 = 1;
    const MAX_BODY_LEN: u64 = MAX_BODY_LEN;
}

impl From<Step> for StepV1 {
    fn from(step: Step) -> Self {
        match step {
            Step::Leaves { count } => Self { operation: 0, form: 0, count },
            Step::Or { form, arity } => {
                let form = match form {
                    MergeForm::Extremal => 1,
                    MergeForm::Symmetric => 2,
                    MergeForm::Xor => 3,
                };
                Self { operation: 1, form, count: arity }
            }
        }
    }
}

impl StepV1 {
    /// The step, or nothing for codes without a meaning.
    fn to_step(&self) -> Option<Step> {
        let form = match (self.operation, self.form) {
            (0, 0) => return Some(Step::Leaves { count: self.count }),
            (1, 1) => MergeForm::Extremal,
            (1, 2) => MergeForm::Symmetric,
            (1, 3) => MergeForm::Xor,
            _ => return None,
        };
        Some(Step::Or { form, arity: self.count })
    }
}

impl From<&SfmSketch> for PrivateBodyV1 {
    fn from(sketch: &SfmSketch) -> Self {
        Self {
            index_bits: sketch.shape().index_bits(),
            levels: sketch.shape().levels(),
            hash_algorithm: sketch.hash_id().algorithm().to_u8(),
            hash_fingerprint: sketch.hash_id().key().to_u64(),
            leaves: sketch.leaves().iter().map(LeafV1::from).collect(),
            steps: sketch.lineage().steps().iter().map(|&step| step.into()).collect(),
            words: sketch.bits().to_vec(),
        }
    }
}

impl From<&Leaf> for LeafV1 {
    fn from(leaf: &Leaf) -> Self {
        Self {
            id: leaf.id().to_bytes(),
            p_numerator: leaf.p_numerator(),
            q_numerator: leaf.q_numerator(),
            epsilon: leaf.epsilon().get(),
        }
    }
}

impl PrivateBodyV1 {
    /// Every check on the way from a body to a sketch.
    pub(crate) fn into_sketch(self, insecure_noise: bool) -> Result<SfmSketch, DecodeError> {
        let shape = PcsaShape::from_index_bits(self.index_bits, self.levels)?;
        let hash_id = hash_id(self.hash_algorithm, self.hash_fingerprint)?;
        check_words(&self.words, shape)?;
        let mut leaves = Vec::with_capacity(self.leaves.len());
        for (index, leaf) in self.leaves.iter().enumerate() {
            let &LeafV1 { id, p_numerator: p, q_numerator: q, epsilon } = leaf;
            let checked = Leaf::from_parts(id, p, q, epsilon);
            leaves.push(checked.ok_or(DecodeError::Leaf { index, p, q, epsilon })?);
        }
        let mut steps = Vec::with_capacity(self.steps.len());
        for (index, step) in self.steps.iter().enumerate() {
            let unknown = DecodeError::Step { step: index, code: step.operation, form: step.form };
            steps.push(step.to_step().ok_or(unknown)?);
        }
        let (lineage, outcome) = Lineage::from_parts(leaves, steps)?;
        let parts = Parts { shape, hash_id, bits: self.words, lineage, outcome, insecure_noise };
        SfmSketch::from_parts(parts).map_err(|error| DecodeError::Lineage(error.into()))
    }
}

fn hash_id(algorithm: u8, fingerprint: u64) -> Result<HashId, DecodeError> {
    Ok(HashId::new(HashAlgorithm::try_from(algorithm)?, KeyFingerprint::from_u64(fingerprint)))
}

/// As many words as the shape has, and no bit beyond the last cell.
fn check_words(words: &[u64], shape: PcsaShape) -> Result<(), DecodeError> {
    let (expected, found) = (shape.words(), words.len());
    if expected != found {
        return Err(DecodeError::Length { expected, found });
    }
    let used = shape.cells() % 64;
    match words.last() {
        Some(last) if used != 0 && last >> used != 0 => Err(DecodeError::ExtraBits { cells: shape.cells() }),
        _ => Ok(()),
    }
}

impl SfmSketch {
    /// The sketch as bytes (family `sfm-private`); equal sketches give equal bytes.
    ///
    /// # Panics
    /// Never: every sketch is within the limits of its family.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let flags = if self.insecure_noise() { Flags::PRIVATE | Flags::INSECURE_NOISE } else { Flags::PRIVATE };
        sketch_wire::encode(&PrivateBodyV1::from(self), flags).expect("a sketch is within the limits of its family")
    }

    /// A sketch from [`to_bytes`](Self::to_bytes). Everything is checked again, and the channel is recomputed from the
    /// releases and merges recorded.
    ///
    /// # Errors
    /// [`DecodeError`] for anything that no sketch encodes to; [`DecodeError::InsecureNoise`] for a sketch whose noise
    /// came from the test generator.
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # #[cfg(feature = "os-rng")] {
    /// use sfm_pcsa::dp_noise::{Epsilon, NoiseRng, Permit};
    /// use sfm_pcsa::sketch_hash::DefaultHash;
    /// use sfm_pcsa::{PcsaShape, PcsaSketch, SfmSketch};
    /// let raw = PcsaSketch::new(PcsaShape::DEFAULT, DefaultHash::default());
    /// let private = raw.release(Permit::standalone(Epsilon::new(1.0)?), &mut NoiseRng::from_os()?)?;
    /// let bytes = private.to_bytes();
    /// assert_eq!(bytes.len(), 32 + 19 + 40 + 8 + 6 + 8 + 4096 * 24 / 8);
    /// assert_eq!(SfmSketch::from_bytes(&bytes)?, private);
    /// # }
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        let sketch = Self::from_bytes_allowing_insecure_noise(bytes)?;
        if sketch.insecure_noise() { Err(DecodeError::InsecureNoise) } else { Ok(sketch) }
    }

    /// As [`from_bytes`](Self::from_bytes), but also accepts sketches whose noise anybody can repeat; they stay
    /// [marked](Self::insecure_noise).
    ///
    /// # Privacy
    /// For simulations and tests. A marked sketch protects nobody.
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes).
    pub fn from_bytes_allowing_insecure_noise(bytes: &[u8]) -> Result<Self, DecodeError> {
        let (body, flags) = sketch_wire::decode::<PrivateBodyV1>(bytes)?;
        body.into_sketch(flags.contains(Flags::INSECURE_NOISE))
    }
}

impl<H: KeyedHash> PcsaSketch<H> {
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
        let body = RawBodyV1 {
            index_bits: self.shape().index_bits(),
            levels: self.shape().levels(),
            hash_algorithm: self.hash_id().algorithm().to_u8(),
            hash_fingerprint: self.hash_id().key().to_u64(),
            releases: self.releases(),
            words: self.to_level_major(),
        };
        SensitiveBytes::new(
            sketch_wire::encode(&body, Flags::RAW).expect("a sketch is within the limits of its family"),
        )
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
        let body = RawBodyV1::read(bytes)?;
        let shape = PcsaShape::from_index_bits(body.index_bits, body.levels)?;
        let (expected, found) = (hash.id(), hash_id(body.hash_algorithm, body.hash_fingerprint)?);
        if expected != found {
            return Err(DecodeError::HashMismatch { expected, found });
        }
        check_words(&body.words, shape)?;
        Ok(Self::from_parts(shape, hash, &body.words, body.releases))
    }
}

/// Reads the hash that a raw sketch was made with, without reading its cells.
///
/// A program that keeps several keys finds the right one by it before calling
/// [`PcsaSketch::from_sensitive_bytes`].
///
/// # Errors
/// As [`PcsaSketch::from_sensitive_bytes`].
pub fn raw_hash_id(bytes: &[u8]) -> Result<HashId, DecodeError> {
    let body = RawBodyV1::read(bytes)?;
    hash_id(body.hash_algorithm, body.hash_fingerprint)
}
