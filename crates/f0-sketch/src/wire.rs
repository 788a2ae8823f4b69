//! Bodies of the two families, and the checks that turn private ones into sketches.
//!
//! All numbers are little endian; offsets count from the end of the frame, which is, behind the 32-byte header, the first
//! thing of a body.
//!
//! ```text
//! frame of both families                         raw, version 1, behind the frame
//!  0  u8   mode: 1 set, 2 presampled              0  u32  releases so far
//!  1  u8   hash algorithm                         4  u32  unit: 0 an item, M a user with at most M items
//!  2  u64  fingerprint of the hash key            8  f64  exposure: the level of earlier releases of the coins
//! 10  f64  largest weight; 0: every item is 1    16  u64  number of names of coins C; 0 in mode set
//! 18  u64  number of tables T                    24  C times 16 bytes, the names, rising
//! 26  T times 12 bytes, one a table:              .  u64  number of words W
//!          u64  share · 2^63                      .  W times u64, the cells
//!          u32  cells
//!                                                private, version 1, behind the frame
//! Cells are bits in the order of the tables.      0  u64  number of releases R
//! Bit i is bit i mod 64 of word i / 64,           8  R times 37 bytes, by rising names:
//! counted from the lowest; bits beyond the            16 bytes  name
//! last cell are zero.                                 u64       flip probability · 2^64
//!                                                     f64       epsilon as given, of one unit
//!                                                     u32       unit, as in raw bodies
//!                                                     u8        1 opened from shares, else 0
//!                                                 .  u64  number of names of coins C; 0 in mode set, else each
//!                                                         release has one at least
//!                                                 .  C times 20 bytes, by rising names:
//!                                                     16 bytes  name
//!                                                     u32       index of the release made from them
//!                                                 .  u64  number of words W
//!                                                 .  W times u64, the cells
//! ```

use cardinality_estimators::BitChannel;
use serde::{Deserialize, Serialize};
use sketch_hash::{HashAlgorithm, HashId, KeyFingerprint};
use sketch_wire::{Family, Flags, WireBody};

use crate::error::DecodeError;
use crate::leaf::{Leaf, MAX_RELEASES};
use crate::mode::{Mode, ModeKind};
use crate::private::{Noisy, PrivateF0Sketch, contrast_of};
use crate::shape::{F0Shape, Table};
use crate::sketch::Kind;
use crate::unit::Unit;
use crate::weight::WeightRule;
use crate::wire_coins::{CoinV1, check_coins, coins_of};

/// The largest sketch is 8 MiB, 65,536 releases 2.4 MiB, the names of 131,072 coins 2.6 MB.
pub(crate) const MAX_BODY_LEN: u64 = 1 << 24;

/// What both bodies begin with.
#[derive(Serialize, Deserialize)]
pub(crate) struct FrameV1 {
    mode: u8,
    hash_algorithm: u8,
    hash_fingerprint: u64,
    /// 0: every item counts 1.
    max_weight: f64,
    tables: Vec<TableV1>,
}

#[derive(Serialize, Deserialize)]
struct TableV1 {
    share: u64,
    cells: u32,
}

/// A frame whose every number has been checked.
pub(crate) struct Frame {
    pub(crate) shape: F0Shape,
    pub(crate) rule: WeightRule,
    pub(crate) hash_id: HashId,
}

impl FrameV1 {
    pub(crate) fn new(mode: ModeKind, kind: &Kind<'_>) -> Self {
        Self {
            mode: mode.to_code(),
            hash_algorithm: kind.hash_id.algorithm().to_u8(),
            hash_fingerprint: kind.hash_id.key().to_u64(),
            max_weight: kind.rule.to_number(),
            tables: kind.shape.tables().map(|Table { share, cells }| TableV1 { share, cells }).collect(),
        }
    }

    pub(crate) fn mode(&self) -> Result<ModeKind, DecodeError> {
        ModeKind::from_code(self.mode).ok_or(DecodeError::UnknownMode { found: self.mode })
    }

    pub(crate) fn hash_id(&self) -> Result<HashId, DecodeError> {
        let algorithm = HashAlgorithm::try_from(self.hash_algorithm)?;
        Ok(HashId::new(algorithm, KeyFingerprint::from_u64(self.hash_fingerprint)))
    }

    /// Checks everything, the mode against `expected`.
    pub(crate) fn check(&self, expected: ModeKind) -> Result<Frame, DecodeError> {
        let found = self.mode()?;
        if expected != found {
            return Err(DecodeError::Mode { expected, found });
        }
        let tables: Vec<Table> = self.tables.iter().map(|&TableV1 { share, cells }| Table { share, cells }).collect();
        let shape = F0Shape::with_tables(&tables)?;
        let rule = WeightRule::from_number(self.max_weight)?;
        Ok(Frame { shape, rule, hash_id: self.hash_id()? })
    }
}

impl Frame {
    pub(crate) const fn kind(&self) -> Kind<'_> {
        Kind { hash_id: self.hash_id, shape: &self.shape, rule: self.rule }
    }
}

/// Body of the family `f0-private`, version 1.
#[derive(Serialize, Deserialize)]
pub(crate) struct PrivateBodyV1 {
    frame: FrameV1,
    leaves: Vec<LeafV1>,
    coins: Vec<CoinV1>,
    /// Cells, 64 a word, lowest bit first.
    words: Vec<u64>,
}

#[derive(Serialize, Deserialize)]
struct LeafV1 {
    id: [u8; 16],
    flip_numerator: u64,
    epsilon: f64,
    /// 0: one item is the unit.
    max_items: u32,
    /// Whether two servers opened it.
    opened: bool,
}

impl WireBody for PrivateBodyV1 {
    const FAMILY: Family = Family::F0_PRIVATE;
    const BODY_VERSION: u8 = 1;
    const MAX_BODY_LEN: u64 = MAX_BODY_LEN;
}

impl From<&Leaf> for LeafV1 {
    fn from(leaf: &Leaf) -> Self {
        Self {
            id: leaf.id().to_bytes(),
            flip_numerator: leaf.flip_numerator(),
            epsilon: leaf.epsilon().get(),
            max_items: leaf.unit().to_code(),
            opened: leaf.is_opened(),
        }
    }
}

impl<M: Mode> From<&PrivateF0Sketch<M>> for PrivateBodyV1 {
    fn from(sketch: &PrivateF0Sketch<M>) -> Self {
        Self {
            frame: FrameV1::new(M::KIND, &sketch.kind()),
            leaves: sketch.leaves().iter().map(LeafV1::from).collect(),
            coins: coins_of(sketch),
            words: sketch.bits().to_vec(),
        }
    }
}

impl PrivateBodyV1 {
    /// Every check on the way from a body to a sketch.
    pub(crate) fn into_sketch<M: Mode>(self, insecure_noise: bool) -> Result<PrivateF0Sketch<M>, DecodeError> {
        let frame = self.frame.check(M::KIND)?;
        check_words(&self.words, frame.shape.cells())?;
        let leaves = check_leaves(&self.leaves, M::KIND)?;
        let coins = check_coins(&self.coins, &leaves, M::KIND)?;
        if contrast_of(&leaves).to_f64() < BitChannel::MIN_KEEP {
            return Err(DecodeError::NoSignal);
        }
        Ok(PrivateF0Sketch::from_parts(frame.kind(), Noisy { bits: self.words, leaves, coins, insecure_noise }))
    }
}

fn check_leaves(stored: &[LeafV1], mode: ModeKind) -> Result<Vec<Leaf>, DecodeError> {
    if !(1..=MAX_RELEASES).contains(&stored.len()) {
        return Err(DecodeError::Releases { found: stored.len() });
    }
    let mut leaves: Vec<Leaf> = Vec::with_capacity(stored.len());
    for (index, leaf) in stored.iter().enumerate() {
        let &LeafV1 { id, flip_numerator: p, epsilon, max_items, opened } = leaf;
        let unit = Unit::from_code(max_items);
        let checked = Leaf::from_parts(id, p, epsilon, unit, mode);
        let checked = checked.ok_or(DecodeError::Leaf { index, p, epsilon, unit })?;
        let checked = if opened { checked.opened() } else { checked };
        if leaves.last().is_some_and(|before| before.id() >= checked.id()) {
            return Err(DecodeError::Order { index });
        }
        leaves.push(checked);
    }
    Ok(leaves)
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

impl<M: Mode> PrivateF0Sketch<M> {
    /// The sketch as bytes (family `f0-private`); equal sketches give equal bytes.
    ///
    /// # Panics
    /// Never: every sketch is within the limits of its family.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let flags = if self.insecure_noise() { Flags::PRIVATE | Flags::INSECURE_NOISE } else { Flags::PRIVATE };
        sketch_wire::encode(&PrivateBodyV1::from(self), flags).expect("a sketch is within the limits of its family")
    }

    /// A sketch from [`to_bytes`](Self::to_bytes). Everything is checked again, and the contrast is recomputed from the
    /// releases recorded.
    ///
    /// # Errors
    /// [`DecodeError`] for anything that no sketch of this mode encodes to; [`DecodeError::InsecureNoise`] for a sketch
    /// whose noise or coins came from the test generator.
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # #[cfg(feature = "os-rng")] {
    /// use f0_sketch::{F0Shape, F0Sketch, ModeKind, PrivateF0Sketch, WeightRule, peek_mode};
    /// use f0_sketch::dp_noise::{Epsilon, NoiseRng, Permit};
    /// use f0_sketch::sketch_hash::DefaultHash;
    /// let raw: F0Sketch = F0Sketch::new(F0Shape::DEFAULT, WeightRule::Unit, DefaultHash::default());
    /// let private = raw.release(Permit::standalone(Epsilon::new(1.0)?), &mut NoiseRng::from_os()?)?;
    /// let bytes = private.to_bytes();
    /// assert_eq!(bytes.len(), 32 + 26 + 24 * 12 + 8 + 37 + 8 + 8 + 4096 * 24 / 8);
    /// assert_eq!(peek_mode(&bytes)?, ModeKind::Set);
    /// assert_eq!(PrivateF0Sketch::from_bytes(&bytes)?, private);
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

/// The mode of the sketch in these bytes, private or raw, so that a reader can choose the type.
///
/// # Errors
/// [`DecodeError`] for bytes that are no body of the two families, and for an unknown mode.
pub fn peek_mode(bytes: &[u8]) -> Result<ModeKind, DecodeError> {
    if sketch_wire::peek(bytes)?.family() == Family::F0_RAW {
        return crate::wire_raw::raw_frame(bytes)?.mode();
    }
    sketch_wire::decode::<PrivateBodyV1>(bytes)?.0.frame.mode()
}
