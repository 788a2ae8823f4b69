//! Bodies of the two families, and the checks that turn private ones into sketches.
//!
//! All numbers are little endian; offsets count from the end of the 32-byte header.
//!
//! ```text
//! both, version 1                              raw, version 1
//!  0  u8   rows                                15  29 bytes, the bound (below)
//!  1  u32  width                               44  u32  parts
//!  5  u8   hash algorithm                      48  u32  releases so far
//!  6  u64  fingerprint of the hash key         52  u64  number of cells N
//! 14  u8   granularity: exponent e of 2^-e     60  N times i64, the cells, row after row
//!
//! private, version 1                           one release, 99 bytes
//! 15  u64  number of releases R                 0  16 bytes  name
//! 23  R times 99 bytes, one a release          16  u8   law: 1 Gaussian, 2 Laplace,
//!  .  u64  number of steps S                             3 Gaussian shares, 4 Laplace shares
//!  .  S times 5 bytes, in postfix:             17  u64, u64  numerator of the parameter: low, high
//!       u8   0: the next `count` releases      33  u64  denominator
//!            1: sum of the last `count`        41  u32  shares that stay secret (laws 3, 4; else 0)
//!            2: largest of the last `count`    45  u32  shares in the sum (laws 3, 4; else 0)
//!       u32  count                             49  i64  factor
//!  .  u64  number of cells N                   57  u8   0: noise on top, and all zeros below;
//!  .  N times i64, the cells                            1: units added or removed; 2: replaced
//!                                              58  29 bytes, the bound
//! the bound, 29 bytes                          87  u32  parts
//!  0  u8   1 record, 2 user by total weight,   91  f64  cost as stated: rho for laws 1 and 3,
//!          3 user by items, 4 clipped user              epsilon for laws 2 and 4
//!  1  u32  items (1 for kind 1, 0 for kind 2)
//!  5  u64  weight, in grid units
//! 13  u64, u64  squared norm: low, high (0 but for kind 4)
//! ```

use serde::{Deserialize, Serialize};
use sketch_hash::{HashAlgorithm, HashId, KeyFingerprint};
use sketch_wire::{Family, Flags, WireBody};

use crate::error::DecodeError;
use crate::granularity::Granularity;
use crate::lineage::Lineage;
use crate::linear::Frame;
use crate::private::PrivateCountSketch;
use crate::rows::RowHashes;
use crate::shape::CountSketchShape;
use crate::wire_leaf::{LeafV1, StepV1};
use crate::wire_list::list;

/// The largest sketch is 512 MiB, 65,536 releases and their history 7 MiB.
pub(crate) const MAX_BODY_LEN: u64 = (1 << 29) + (1 << 24);

/// Shape, hash and grid.
#[derive(Serialize, Deserialize)]
pub(crate) struct FrameV1 {
    rows: u8,
    width: u32,
    hash_algorithm: u8,
    hash_fingerprint: u64,
    granularity: u8,
}

/// Body of `countsketch-private`, version 1.
#[derive(Serialize, Deserialize)]
pub(crate) struct PrivateBodyV1 {
    frame: FrameV1,
    #[serde(deserialize_with = "list")]
    leaves: Vec<LeafV1>,
    #[serde(deserialize_with = "list")]
    steps: Vec<StepV1>,
    #[serde(deserialize_with = "list")]
    cells: Vec<i64>,
}

impl WireBody for PrivateBodyV1 {
    const FAMILY: Family = Family::COUNTSKETCH_PRIVATE;
    const BODY_VERSION: u8 = 1;
    const MAX_BODY_LEN: u64 = MAX_BODY_LEN;
}

impl From<Frame> for FrameV1 {
    fn from((hash, shape, granularity): Frame) -> Self {
        Self {
            rows: shape.rows(),
            width: shape.width(),
            hash_algorithm: hash.algorithm().to_u8(),
            hash_fingerprint: hash.key().to_u64(),
            granularity: granularity.exponent(),
        }
    }
}

impl FrameV1 {
    pub(crate) fn to_frame(&self) -> Result<Frame, DecodeError> {
        let shape = CountSketchShape::new(self.rows, self.width)?;
        let algorithm = HashAlgorithm::try_from(self.hash_algorithm)?;
        let hash = HashId::new(algorithm, KeyFingerprint::from_u64(self.hash_fingerprint));
        Ok((hash, shape, Granularity::new(self.granularity)?))
    }
}

impl From<&PrivateCountSketch> for PrivateBodyV1 {
    fn from(sketch: &PrivateCountSketch) -> Self {
        Self {
            frame: sketch.frame().into(),
            leaves: sketch.leaves().iter().map(LeafV1::from).collect(),
            steps: sketch.lineage().steps().iter().map(|&step| step.into()).collect(),
            cells: sketch.all_cells().to_vec(),
        }
    }
}

impl PrivateBodyV1 {
    /// Every check on the way from a body to a sketch.
    pub(crate) fn into_sketch(self, insecure_noise: bool) -> Result<PrivateCountSketch, DecodeError> {
        let frame = self.frame.to_frame()?;
        let (hash_id, shape, _) = frame;
        check_cells(&self.cells, shape)?;
        let mut leaves = Vec::with_capacity(self.leaves.len());
        for (index, leaf) in self.leaves.iter().enumerate() {
            leaves.push(leaf.to_leaf(shape).ok_or(DecodeError::Leaf { index })?);
        }
        let mut steps = Vec::with_capacity(self.steps.len());
        for (step, stored) in self.steps.iter().enumerate() {
            steps.push(stored.to_step().ok_or(DecodeError::Step { step, code: stored.operation })?);
        }
        let lineage = Lineage::from_parts(leaves, steps)?;
        let rows = RowHashes::new(shape, hash_id);
        Ok(PrivateCountSketch::from_parts(frame, rows, self.cells, lineage, insecure_noise))
    }
}

/// As many cells as the shape has, all above −2⁶³.
pub(crate) fn check_cells(cells: &[i64], shape: CountSketchShape) -> Result<(), DecodeError> {
    let (expected, found) = (shape.cells(), cells.len());
    if expected != found {
        return Err(DecodeError::Length { expected, found });
    }
    if cells.contains(&i64::MIN) { Err(DecodeError::Counter) } else { Ok(()) }
}

impl PrivateCountSketch {
    /// The sketch as bytes (family `countsketch-private`); equal sketches give equal bytes.
    ///
    /// # Panics
    /// Never: every sketch is within the limits of its family.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let flags = if self.insecure_noise() { Flags::PRIVATE | Flags::INSECURE_NOISE } else { Flags::PRIVATE };
        sketch_wire::encode(&PrivateBodyV1::from(self), flags).expect("a sketch is within the limits of its family")
    }

    /// A sketch from [`to_bytes`](Self::to_bytes). Everything is checked again: that each release has noise for the cost that it
    /// states, too.
    ///
    /// # Errors
    /// [`DecodeError`] for anything that no sketch encodes to; [`DecodeError::InsecureNoise`] for a sketch whose noise
    /// came from the test generator.
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # #[cfg(feature = "os-rng")] {
    /// use countsketch_dp::{ContributionBound, CountSketch, CountSketchShape, PrivateCountSketch};
    /// use countsketch_dp::dp_noise::{NoiseRng, Permit, Rho};
    /// use countsketch_dp::sketch_hash::DefaultHash;
    /// let shape = CountSketchShape::new(3, 100)?;
    /// let raw = CountSketch::new(shape, DefaultHash::default(), ContributionBound::UNIT_ENTRY);
    /// let private = raw.release(Permit::standalone(Rho::new(0.5)?), &mut NoiseRng::from_os()?)?;
    /// let bytes = private.to_bytes();
    /// assert_eq!(bytes.len(), 32 + 23 + 99 + 8 + 5 + 8 + 8 * 300);
    /// assert_eq!(PrivateCountSketch::from_bytes(&bytes)?, private);
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
