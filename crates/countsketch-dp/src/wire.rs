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

use dp_noise::{Epsilon, Neighbouring, Rho, Scale, Variance};
use serde::{Deserialize, Serialize};
use sketch_hash::{HashAlgorithm, HashId, KeyFingerprint};
use sketch_wire::{Family, Flags, WireBody};

use crate::bound::ContributionBound;
use crate::error::DecodeError;
use crate::granularity::Granularity;
use crate::leaf::{Guarantee, Leaf, NoiseLaw, PrivacyCost, ReleaseId};
use crate::lineage::{Lineage, Step};
use crate::linear::Frame;
use crate::private::PrivateCountSketch;
use crate::rows::RowHashes;
use crate::shape::CountSketchShape;

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

/// A bound on contributions.
#[derive(Serialize, Deserialize)]
pub(crate) struct BoundV1 {
    kind: u8,
    items: u32,
    weight: u64,
    /// Low word first.
    squared_norm: [u64; 2],
}

/// Body of `countsketch-private`, version 1.
#[derive(Serialize, Deserialize)]
pub(crate) struct PrivateBodyV1 {
    frame: FrameV1,
    leaves: Vec<LeafV1>,
    steps: Vec<StepV1>,
    cells: Vec<i64>,
}

#[derive(Serialize, Deserialize)]
struct LeafV1 {
    id: [u8; 16],
    law: u8,
    /// Low word first.
    numerator: [u64; 2],
    denominator: u64,
    secret: u32,
    summed: u32,
    factor: i64,
    /// 0: noise on top, which protects nobody.
    relation: u8,
    bound: BoundV1,
    parts: u32,
    cost: f64,
}

/// Operation 0 takes `count` releases, 1 adds the top `count` costs up, 2 takes the largest of them.
#[derive(Serialize, Deserialize)]
struct StepV1 {
    operation: u8,
    count: u32,
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

impl From<ContributionBound> for BoundV1 {
    fn from(bound: ContributionBound) -> Self {
        let (kind, items, weight, squared_norm) = bound.to_codes();
        Self { kind, items, weight, squared_norm: to_words(squared_norm) }
    }
}

impl BoundV1 {
    const NONE: Self = Self { kind: 0, items: 0, weight: 0, squared_norm: [0; 2] };

    pub(crate) fn to_bound(&self) -> Option<ContributionBound> {
        ContributionBound::from_codes((self.kind, self.items, self.weight, from_words(self.squared_norm)))
    }

    fn is_none(&self) -> bool {
        (self.kind, self.items, self.weight, self.squared_norm) == (0, 0, 0, [0; 2])
    }
}

impl From<&Leaf> for LeafV1 {
    fn from(leaf: &Leaf) -> Self {
        let (law, numerator, denominator, secret, summed) = match leaf.law {
            NoiseLaw::Gaussian { variance } => (1, variance.numerator(), variance.denominator(), 0, 0),
            NoiseLaw::Laplace { scale } => (2, scale.numerator(), scale.denominator(), 0, 0),
            NoiseLaw::GaussianShares { share, secret, summed } => {
                (3, share.numerator(), share.denominator(), secret, summed)
            }
            NoiseLaw::LaplaceShares { scale, secret, summed } => {
                (4, scale.numerator(), scale.denominator(), secret, summed)
            }
        };
        let (relation, bound, parts, cost) = match leaf.guarantee {
            None => (0, BoundV1::NONE, 0, 0.0),
            Some(Guarantee { bound, parts, relation, cost }) => {
                let cost = match cost {
                    PrivacyCost::Rho(rho) => rho.get(),
                    PrivacyCost::Epsilon(epsilon) => epsilon.get(),
                };
                (relation_code(relation), bound.into(), parts, cost)
            }
        };
        let (id, numerator, factor) = (leaf.id.to_bytes(), to_words(numerator), leaf.factor);
        Self { id, law, numerator, denominator, secret, summed, factor, relation, bound, parts, cost }
    }
}

impl LeafV1 {
    /// The release, or nothing for numbers that no release has.
    fn to_leaf(&self, shape: CountSketchShape) -> Option<Leaf> {
        let law = self.to_law()?;
        let guarantee = if self.relation == 0 {
            let nothing = self.bound.is_none() && self.parts == 0 && self.cost.to_bits() == 0;
            let fresh = matches!(law, NoiseLaw::Gaussian { .. });
            (nothing && fresh).then_some(None)?
        } else {
            Some(self.to_guarantee()?)
        };
        let leaf = Leaf { id: ReleaseId::from_bytes(self.id), law, factor: self.factor, guarantee };
        let factor_is_valid = self.factor != 0 && self.factor != i64::MIN;
        (factor_is_valid && leaf.keeps_its_cost(shape)).then_some(leaf)
    }

    fn to_law(&self) -> Option<NoiseLaw> {
        let (numerator, denominator) = (from_words(self.numerator), self.denominator);
        let variance = || {
            let variance = Variance::new(numerator, denominator).ok()?;
            (variance.numerator() == numerator && variance.denominator() == denominator).then_some(variance)
        };
        let scale = || {
            let scale = Scale::new(numerator, denominator).ok()?;
            (scale.numerator() == numerator && scale.denominator() == denominator).then_some(scale)
        };
        let (secret, summed) = (self.secret, self.summed);
        let alone = (secret, summed) == (0, 0);
        Some(match self.law {
            1 if alone => NoiseLaw::Gaussian { variance: variance()? },
            2 if alone => NoiseLaw::Laplace { scale: scale()? },
            3 if !alone => NoiseLaw::GaussianShares { share: variance()?, secret, summed },
            4 if !alone => NoiseLaw::LaplaceShares { scale: scale()?, secret, summed },
            _ => return None,
        })
    }

    fn to_guarantee(&self) -> Option<Guarantee> {
        let relation = match self.relation {
            1 => Neighbouring::AddRemove,
            2 => Neighbouring::Substitute,
            _ => return None,
        };
        let cost = match self.law {
            1 | 3 => PrivacyCost::Rho(Rho::new(self.cost).ok()?),
            _ => PrivacyCost::Epsilon(Epsilon::new(self.cost).ok()?),
        };
        Some(Guarantee { bound: self.bound.to_bound()?, parts: self.parts, relation, cost })
    }
}

fn relation_code(relation: Neighbouring) -> u8 {
    match relation {
        Neighbouring::AddRemove => 1,
        Neighbouring::Substitute => 2,
    }
}

impl From<Step> for StepV1 {
    fn from(step: Step) -> Self {
        let (operation, count) = match step {
            Step::Releases { count } => (0, count),
            Step::Sum { arity } => (1, arity),
            Step::Largest { arity } => (2, arity),
        };
        Self { operation, count }
    }
}

impl StepV1 {
    fn to_step(&self) -> Option<Step> {
        let (count, arity) = (self.count, self.count);
        Some(match self.operation {
            0 => Step::Releases { count },
            1 => Step::Sum { arity },
            2 => Step::Largest { arity },
            _ => return None,
        })
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

/// Low word, high word.
#[expect(clippy::cast_possible_truncation, reason = "the halves are what is wanted")]
const fn to_words(number: u128) -> [u64; 2] {
    [number as u64, (number >> 64) as u64]
}

fn from_words([low, high]: [u64; 2]) -> u128 {
    u128::from(low) | u128::from(high) << 64
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
