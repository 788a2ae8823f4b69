//! Tallies as bytes.
//!
//! All numbers are little endian; offsets count from the end of the 32-byte header.
//!
//! ```text
//!  0  u8   log2 of the buckets
//!  1  u8   levels P
//!  2  u8   hash algorithm
//!  3  u64  fingerprint of the hash key
//! 11  u64  number of classes C
//! 19  C times 16 bytes, one a class:   u64 P(1→1) · 2^64, u64 P(0→1) · 2^64
//!  .  u64  number of releases R
//!  .  R times 46 bytes, one a release: 44 bytes as in a private sketch,
//!                                      u8 0 noise made here, 1 elsewhere; u8 index of its class
//!  .  u64  R · P
//!  .  R · P times u32, the ones of each level of each release
//!  .  u64  number of words
//!  .  u64 each, the cells: class by class, plane by plane, lowest digit first
//! ```

use serde::{Deserialize, Serialize};
use sketch_wire::{Family, Flags, WireBody};

use super::error::TallyFault;
use super::flips::Flips;
use super::planes::{Planes, digits};
use super::{Class, SfmTally, Tallied};
use crate::error::DecodeError;
use crate::leaf::{Leaf, Origin};
use crate::params::{PcsaFields, PcsaShape};
use crate::shape::{BitmapShape, ShapeInternals};
use crate::wire::{LeafV1, check_words, hash_id};

/// The largest planes take 5.5 MiB, and there are at most 111 of them: 16 classes, 15 of them of 64 releases.
const MAX_BODY_LEN: u64 = 1 << 30;

/// Body of `sfm-tally`, version 1.
#[derive(Serialize, Deserialize)]
pub(crate) struct TallyBodyV1 {
    shape: PcsaFields,
    hash_algorithm: u8,
    hash_fingerprint: u64,
    classes: Vec<ClassV1>,
    releases: Vec<TalliedV1>,
    ones: Vec<u32>,
    words: Vec<u64>,
}

#[derive(Serialize, Deserialize)]
struct ClassV1 {
    p_numerator: u64,
    q_numerator: u64,
}

#[derive(Serialize, Deserialize)]
struct TalliedV1 {
    leaf: LeafV1,
    /// 0: the noise was made by this crate; 1: by another program.
    origin: u8,
    class: u8,
}

impl WireBody for TallyBodyV1 {
    const FAMILY: Family = Family::SFM_TALLY;
    const BODY_VERSION: u8 = 1;
    const MAX_BODY_LEN: u64 = MAX_BODY_LEN;
}

impl From<&SfmTally> for TallyBodyV1 {
    fn from(tally: &SfmTally) -> Self {
        let class = |class: &Class| ClassV1 { p_numerator: class.flips.p, q_numerator: class.flips.q };
        let release = |release: &Tallied| TalliedV1 {
            leaf: LeafV1::from(&release.leaf),
            origin: u8::from(release.leaf.made_elsewhere()),
            class: tally.class_index(release.class).and_then(|index| u8::try_from(index).ok()).unwrap_or(u8::MAX),
        };
        Self {
            shape: tally.shape.to_fields(),
            hash_algorithm: tally.hash_id.algorithm().to_u8(),
            hash_fingerprint: tally.hash_id.key().to_u64(),
            classes: tally.classes.iter().map(class).collect(),
            releases: tally.releases.iter().map(release).collect(),
            ones: tally.releases.iter().flat_map(|release| &release.ones).copied().collect(),
            words: tally.classes.iter().flat_map(|class| class.planes.planes()).flatten().copied().collect(),
        }
    }
}

impl TallyBodyV1 {
    /// Every check on the way from a body to a tally.
    pub(crate) fn into_tally(self, insecure_noise: bool) -> Result<SfmTally, DecodeError> {
        let shape = PcsaShape::from_fields(&self.shape)?;
        let hash_id = hash_id(self.hash_algorithm, self.hash_fingerprint)?;
        let flips = checked_flips(&self.classes)?;
        let releases = checked_releases(&self.releases, &self.ones, &flips, shape)?;
        let classes = checked_planes(flips, &releases, &self.words, shape)?;
        let tally = SfmTally { shape, hash_id, classes, releases, insecure_noise };
        tally.check_sums()?;
        Ok(tally)
    }
}

/// Channels in rising order.
fn checked_flips(classes: &[ClassV1]) -> Result<Vec<Flips>, TallyFault> {
    const MAX: usize = SfmTally::MAX_CLASSES;
    if !(1..=MAX).contains(&classes.len()) {
        return Err(TallyFault::Classes { max: MAX, found: classes.len() });
    }
    let mut flips: Vec<Flips> = Vec::with_capacity(classes.len());
    for (index, class) in classes.iter().enumerate() {
        let next = Flips { p: class.p_numerator, q: class.q_numerator };
        if next.bit_channel().is_err() || flips.last().is_some_and(|last| *last >= next) {
            return Err(TallyFault::Class { index });
        }
        flips.push(next);
    }
    Ok(flips)
}

/// Releases in rising order of their names, each in a class that it reaches and with its ones.
fn checked_releases(
    stored: &[TalliedV1],
    ones: &[u32],
    flips: &[Flips],
    shape: PcsaShape,
) -> Result<Vec<Tallied>, DecodeError> {
    const MAX: usize = SfmTally::MAX_RELEASES;
    if !(1..=MAX).contains(&stored.len()) {
        return Err(TallyFault::Releases { max: MAX, found: stored.len() }.into());
    }
    let levels = usize::from(shape.levels());
    if ones.len() != stored.len() * levels || ones.iter().any(|&ones| ones > shape.buckets()) {
        return Err(TallyFault::Ones { expected: stored.len() * levels, found: ones.len() }.into());
    }
    let mut releases: Vec<Tallied> = Vec::with_capacity(stored.len());
    for (index, (stored, ones)) in stored.iter().zip(ones.chunks_exact(levels)).enumerate() {
        let leaf = origin_of(stored.leaf.to_leaf(index, shape.cells_per_item())?, stored.origin)
            .ok_or(TallyFault::Origin { index, found: stored.origin })?;
        if releases.last().is_some_and(|last| last.leaf.id() >= leaf.id()) {
            return Err(TallyFault::Order { id: leaf.id() }.into());
        }
        let class = *flips.get(usize::from(stored.class)).ok_or(TallyFault::Member { index })?;
        let release = Tallied { leaf, class, ones: ones.to_vec() };
        if !release.flips().reaches(class) {
            return Err(TallyFault::Member { index }.into());
        }
        releases.push(release);
    }
    Ok(releases)
}

fn origin_of(leaf: Leaf, origin: u8) -> Option<Leaf> {
    match origin {
        0 => Some(leaf),
        1 => Some(leaf.with_origin(Origin::Elsewhere)),
        _ => None,
    }
}

/// Cells of every class: as many planes as its releases ask for, nothing beyond the last cell, no number above them.
fn checked_planes(
    flips: Vec<Flips>,
    releases: &[Tallied],
    words: &[u64],
    shape: PcsaShape,
) -> Result<Vec<Class>, DecodeError> {
    let members = |flips: Flips| releases.iter().filter(|release| release.class == flips).count();
    // At most MAX_RELEASES.
    let counts: Vec<u32> = flips.iter().map(|&flips| u32::try_from(members(flips)).unwrap_or(u32::MAX)).collect();
    if let Some(index) = counts.iter().position(|&count| count == 0) {
        return Err(TallyFault::Class { index }.into());
    }
    let expected = counts.iter().map(|&count| digits(count)).sum::<usize>() * shape.words();
    if words.len() != expected {
        return Err(DecodeError::Length { expected, found: words.len() });
    }
    let mut planes = words.chunks_exact(shape.words());
    let mut classes = Vec::with_capacity(flips.len());
    for (index, (flips, count)) in flips.into_iter().zip(counts).enumerate() {
        let planes: Vec<Vec<u64>> = planes.by_ref().take(digits(count)).map(<[u64]>::to_vec).collect();
        planes.iter().try_for_each(|plane| check_words(plane, shape.cells()))?;
        let planes = Planes::from_parts(count, planes);
        if planes.any_above(count) {
            return Err(TallyFault::Number { index }.into());
        }
        let channel = flips.bit_channel().map_err(|_| TallyFault::Class { index })?;
        classes.push(Class { flips, channel, planes });
    }
    Ok(classes)
}

impl SfmTally {
    /// Where nothing was thinned, the cells of each level add up to the ones of the releases.
    fn check_sums(&self) -> Result<(), TallyFault> {
        for (index, class) in self.classes.iter().enumerate() {
            let members = || self.releases.iter().filter(|release| release.class == class.flips);
            if members().any(Tallied::is_thinned) {
                continue;
            }
            let buckets = self.shape.buckets() as usize;
            for level in 0..usize::from(self.shape.levels()) {
                let expected =
                    members().filter_map(|release| release.ones.get(level)).map(|&ones| u64::from(ones)).sum();
                let found = class.planes.sum(level * buckets..(level + 1) * buckets);
                if found != expected {
                    return Err(TallyFault::Sum { index, level, expected, found });
                }
            }
        }
        Ok(())
    }

    /// The tally as bytes, family `sfm-tally`; equal tallies give equal bytes, in whatever order they were merged.
    ///
    /// # Panics
    /// Never: every tally is within the limits of its family.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let flags = if self.insecure_noise { Flags::PRIVATE | Flags::INSECURE_NOISE } else { Flags::PRIVATE };
        sketch_wire::encode(&TallyBodyV1::from(self), flags).expect("a tally is within the limits of its family")
    }

    /// A tally from [`to_bytes`](Self::to_bytes). Everything is checked again.
    ///
    /// # Errors
    /// [`DecodeError`] for anything that no tally encodes to; [`DecodeError::InsecureNoise`] for one whose noise came
    /// from the test generator.
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # #[cfg(feature = "os-rng")] {
    /// use sfm_pcsa::dp_noise::{Epsilon, NoiseRng, Permit};
    /// use sfm_pcsa::sketch_hash::DefaultHash;
    /// use sfm_pcsa::{PcsaShape, PcsaSketch, SfmTally};
    /// let raw = PcsaSketch::new(PcsaShape::DEFAULT, DefaultHash::default());
    /// let release = raw.release(Permit::standalone(Epsilon::new(1.0)?), &mut NoiseRng::from_os()?)?;
    /// let tally = SfmTally::new(&release)?;
    /// let bytes = tally.to_bytes();
    /// assert_eq!(bytes.len(), 32 + 11 + (8 + 16) + (8 + 46) + (8 + 24 * 4) + (8 + 4096 * 24 / 8));
    /// assert_eq!(SfmTally::from_bytes(&bytes)?, tally);
    /// # }
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        let tally = Self::from_bytes_allowing_insecure_noise(bytes)?;
        if tally.insecure_noise { Err(DecodeError::InsecureNoise) } else { Ok(tally) }
    }

    /// As [`from_bytes`](Self::from_bytes), but also accepts tallies whose noise anybody can repeat; they stay
    /// [marked](Self::insecure_noise).
    ///
    /// # Privacy
    /// For simulations and tests. A marked tally protects nobody.
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes).
    pub fn from_bytes_allowing_insecure_noise(bytes: &[u8]) -> Result<Self, DecodeError> {
        let (body, flags) = sketch_wire::decode::<TallyBodyV1>(bytes)?;
        body.into_tally(flags.contains(Flags::INSECURE_NOISE))
    }
}
