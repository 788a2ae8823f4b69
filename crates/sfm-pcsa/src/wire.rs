//! Bodies of the families, and the checks that turn private ones into sketches.
//!
//! All numbers are little endian; offsets count from the end of the shape, which is, behind the 32-byte header, the first
//! thing of a body.
//!
//! ```text
//! raw, version 1                               private, version 1
//!  .  shape                                     .  shape
//!  0  u8   hash algorithm                       0  u8   hash algorithm
//!  1  u64  fingerprint of the hash key          1  u64  fingerprint of the hash key
//!  9  u32  releases so far                      9  u64  number of releases R
//! 13  u32  unit, as of a release               17  R times 44 bytes, one a release:
//! 17  u64  number of words W                        16 bytes  name
//! 25  W times u64, the cells                        u64       P(1→1) · 2^64
//! Shapes:                                           u64       P(0→1) · 2^64
//! pcsa     u8 log2 of the buckets, u8 levels        f64       epsilon as given, of one unit
//! linear   u32 cells                                u32       0: the unit is one item,
//! bloom    u32 cells, u8 hashes                               M: one user with at most M items
//! legions  u32 cells, f64 decay                 .  u64  number of steps S
//!                                               .  S times 6 bytes, the merge history in postfix:
//! PCSA cell (bucket, level) is bit                   u8   0: take the next `count` releases
//! i = level · buckets + bucket. Bit i is                  1: merge the last `count` entries
//! bit i mod 64 of word i / 64, counted                    2: make the last entry symmetric
//! from the lowest; bits beyond the last              u8   form: for a step 0, 0 noise made here,
//! cell are zero.                                          1 elsewhere; for a step 1, 1 extremal,
//!                                                         2 symmetric, 3 xor; 0 for a step 2
//!                                                    u32  count
//!                                               .  u64  number of words W
//!                                               .  W times u64, the cells
//! ```

use serde::{Deserialize, Serialize};
use sketch_hash::{HashAlgorithm, HashId, KeyFingerprint};
use sketch_wire::{Family, Flags, WireBody};

use crate::error::DecodeError;
use crate::leaf::{Leaf, Origin, StoredLeaf};
use crate::lineage::{Lineage, MergeForm, Step};
use crate::noisy::NoisyBits;
use crate::private::PrivateBitmap;
use crate::shape::{BitmapShape, ShapeFields};
use crate::unit::Unit;

/// The largest bitmap of a family is 8 MiB, 65,536 releases and their history 3.6 MiB.
pub(crate) const MAX_BODY_LEN: u64 = 1 << 24;

/// Body of the private families, version 1, behind the fields of the shape.
#[derive(Serialize, Deserialize)]
pub(crate) struct PrivateBodyV1<F> {
    shape: F,
    hash_algorithm: u8,
    hash_fingerprint: u64,
    leaves: Vec<LeafV1>,
    steps: Vec<StepV1>,
    /// Cells, 64 a word, lowest bit first.
    words: Vec<u64>,
}

/// A release, 44 bytes.
#[derive(Serialize, Deserialize)]
pub(crate) struct LeafV1 {
    id: [u8; 16],
    p_numerator: u64,
    q_numerator: u64,
    epsilon: f64,
    /// 0: one item is the unit.
    max_items: u32,
}

/// Operation 0 takes `count` leaves, form 0 of this crate, 1 of another program; operation 1 merges the top `count` entries
/// in a form of 1 extremal, 2 symmetric, 3 xor; operation 2 makes the top entry symmetric (form 0, count 1).
#[derive(Serialize, Deserialize)]
struct StepV1 {
    operation: u8,
    form: u8,
    count: u32,
}

impl<F: ShapeFields> WireBody for PrivateBodyV1<F> {
    const FAMILY: Family = F::PRIVATE;
    const BODY_VERSION: u8 = 1;
    const MAX_BODY_LEN: u64 = MAX_BODY_LEN;
}

impl From<Step> for StepV1 {
    fn from(step: Step) -> Self {
        let [operation, form] = step_codes(step);
        let count = match step {
            Step::Leaves { count, .. } => count,
            Step::Or { arity, .. } => arity,
            Step::Symmetrise | Step::Not => 1,
            Step::Gate { .. } => 2,
        };
        Self { operation, form, count }
    }
}

/// Operation and form of a step; gates and negations are not part of any sketch.
fn step_codes(step: Step) -> [u8; 2] {
    match step {
        Step::Leaves { origin: Origin::Here, .. } => [0, 0],
        Step::Leaves { origin: Origin::Elsewhere, .. } => [0, 1],
        Step::Or { form: MergeForm::Extremal, .. } => [1, 1],
        Step::Or { form: MergeForm::Symmetric, .. } => [1, 2],
        Step::Or { form: MergeForm::Xor, .. } => [1, 3],
        Step::Symmetrise => [2, 0],
        Step::Gate { .. } | Step::Not => [u8::MAX; 2],
    }
}

impl StepV1 {
    /// The step, or nothing for codes without a meaning.
    fn to_step(&self) -> Option<Step> {
        let (count, arity) = (self.count, self.count);
        Some(match (self.operation, self.form) {
            (0, 0) => Step::Leaves { count, origin: Origin::Here },
            (0, 1) => Step::Leaves { count, origin: Origin::Elsewhere },
            (1, 1) => Step::Or { form: MergeForm::Extremal, arity },
            (1, 2) => Step::Or { form: MergeForm::Symmetric, arity },
            (1, 3) => Step::Or { form: MergeForm::Xor, arity },
            (2, 0) if count == 1 => Step::Symmetrise,
            _ => return None,
        })
    }
}

impl<S: BitmapShape> From<&PrivateBitmap<S>> for PrivateBodyV1<S::Fields> {
    fn from(sketch: &PrivateBitmap<S>) -> Self {
        Self {
            shape: sketch.shape().to_fields(),
            hash_algorithm: sketch.hash_id().algorithm().to_u8(),
            hash_fingerprint: sketch.hash_id().key().to_u64(),
            leaves: sketch.leaves().iter().map(LeafV1::from).collect(),
            steps: sketch.noisy().lineage().steps().iter().map(|&step| step.into()).collect(),
            words: sketch.noisy().bits().to_vec(),
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
            max_items: leaf.unit().to_code(),
        }
    }
}

impl LeafV1 {
    /// The release, the one of this index in its file, if its flips are of its level.
    pub(crate) fn to_leaf(&self, index: usize, cells_per_item: u32) -> Result<Leaf, DecodeError> {
        let &Self { id, p_numerator: p, q_numerator: q, epsilon, max_items } = self;
        let unit = Unit::from_code(max_items);
        let checked = Leaf::from_parts(StoredLeaf { id, p, q, epsilon, unit }, cells_per_item);
        checked.ok_or(DecodeError::Leaf { index, p, q, epsilon, unit })
    }
}

impl<F: ShapeFields> PrivateBodyV1<F> {
    /// Every check on the way from a body to a sketch.
    pub(crate) fn into_sketch<S>(self, insecure_noise: bool) -> Result<PrivateBitmap<S>, DecodeError>
    where
        S: BitmapShape<Fields = F>,
    {
        let shape = S::from_fields(&self.shape)?;
        let hash_id = hash_id(self.hash_algorithm, self.hash_fingerprint)?;
        check_words(&self.words, shape.cells())?;
        let mut leaves = Vec::with_capacity(self.leaves.len());
        for (index, leaf) in self.leaves.iter().enumerate() {
            leaves.push(leaf.to_leaf(index, shape.cells_per_item())?);
        }
        let mut steps = Vec::with_capacity(self.steps.len());
        for (index, step) in self.steps.iter().enumerate() {
            let unknown = DecodeError::Step { step: index, code: step.operation, form: step.form };
            steps.push(step.to_step().ok_or(unknown)?);
        }
        let (lineage, outcome) = Lineage::from_parts(leaves, steps)?;
        let noisy = NoisyBits::from_parts(shape.cells(), self.words, lineage, outcome, insecure_noise);
        let noisy = noisy.map_err(|error| DecodeError::Lineage(error.into()))?;
        Ok(PrivateBitmap::from_noisy(shape, hash_id, noisy))
    }
}

pub(crate) fn hash_id(algorithm: u8, fingerprint: u64) -> Result<HashId, DecodeError> {
    Ok(HashId::new(HashAlgorithm::try_from(algorithm)?, KeyFingerprint::from_u64(fingerprint)))
}

/// As many words as there are cells for, and no bit beyond the last cell.
pub(crate) fn check_words(words: &[u64], cells: usize) -> Result<(), DecodeError> {
    let (expected, found) = (cells.div_ceil(64), words.len());
    if expected != found {
        return Err(DecodeError::Length { expected, found });
    }
    let used = cells % 64;
    match words.last() {
        Some(last) if used != 0 && last >> used != 0 => Err(DecodeError::ExtraBits { cells }),
        _ => Ok(()),
    }
}

impl<S: BitmapShape> PrivateBitmap<S> {
    /// The sketch as bytes (for PCSA the family `sfm-private`); equal sketches give equal bytes.
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
    /// assert_eq!(bytes.len(), 32 + 19 + 44 + 8 + 6 + 8 + 4096 * 24 / 8);
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
        let (body, flags) = sketch_wire::decode::<PrivateBodyV1<S::Fields>>(bytes)?;
        body.into_sketch(flags.contains(Flags::INSECURE_NOISE))
    }
}
