//! Bytes of raw sketches. The layout stands in [`wire`](crate::wire).

use core::fmt;

use serde::de::{Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use sketch_hash::{HashId, KeyedHash};
use sketch_wire::{Family, Flags, WireBody, WireError};
use zeroize::Zeroize;

use crate::error::DecodeError;
use crate::sensitive::SensitiveBytes;
use crate::sketch::{CountSketch, RawTerms};
use crate::table::Table;
use crate::wire::{FrameV1, MAX_BODY_LEN, check_cells};
use crate::wire_leaf::BoundV1;
use crate::wire_list::UNSEEN;

/// Body of `countsketch-raw`, version 1.
#[derive(Serialize, Deserialize)]
struct RawBodyV1 {
    frame: FrameV1,
    bound: BoundV1,
    parts: u32,
    releases: u32,
    cells: RawCells,
}

/// Cells, row after row. Wiped when dropped, and when they move to more room.
#[derive(Serialize)]
#[serde(transparent)]
struct RawCells(Vec<i64>);

impl RawCells {
    fn push(&mut self, cell: i64) {
        if self.0.len() == self.0.capacity() {
            let mut larger = Vec::with_capacity(2 * self.0.len().max(UNSEEN));
            larger.extend_from_slice(&self.0);
            self.0.zeroize();
            self.0 = larger;
        }
        self.0.push(cell);
    }
}

impl<'de> Deserialize<'de> for RawCells {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(CellVisitor)
    }
}

struct CellVisitor;

impl<'de> Visitor<'de> for CellVisitor {
    type Value = RawCells;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cells")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<RawCells, A::Error> {
        let mut cells = RawCells(Vec::new());
        while let Some(cell) = elements.next_element()? {
            cells.push(cell);
        }
        Ok(cells)
    }
}

impl Drop for RawCells {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl WireBody for RawBodyV1 {
    const FAMILY: Family = Family::COUNTSKETCH_RAW;
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

impl<H: KeyedHash> CountSketch<H> {
    /// The raw sketch as bytes (family `countsketch-raw`).
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
            frame: (self.hash_id(), self.shape(), self.granularity()).into(),
            bound: self.bound().into(),
            parts: self.parts(),
            releases: self.releases(),
            cells: RawCells(self.table.cells().to_vec()),
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
    /// use countsketch_dp::sketch_hash::{DefaultHash, HashKey};
    /// use countsketch_dp::{ContributionBound, CountSketch, CountSketchShape};
    /// let shape = CountSketchShape::new(3, 100)?;
    /// let mut raw = CountSketch::new(shape, DefaultHash::default(), ContributionBound::UNIT_ENTRY);
    /// raw.update(b"alice", 1)?;
    /// let bytes = raw.to_sensitive_bytes();
    /// assert_eq!(CountSketch::from_sensitive_bytes(&bytes, DefaultHash::default())?, raw);
    /// let other = DefaultHash::new(HashKey::from_bytes([1; 16]));
    /// assert!(CountSketch::from_sensitive_bytes(&bytes, other).is_err());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn from_sensitive_bytes(bytes: &[u8], hash: H) -> Result<Self, DecodeError> {
        let body = RawBodyV1::read(bytes)?;
        let (found, shape, granularity) = body.frame.to_frame()?;
        let expected = hash.id();
        if expected != found {
            return Err(DecodeError::HashMismatch { expected, found });
        }
        check_cells(&body.cells.0, shape)?;
        let bound = body.bound.to_bound().ok_or(DecodeError::Bound)?;
        // A record is in one part; a user in one at least.
        if body.parts == 0 || (body.parts > 1 && !bound.is_user()) {
            return Err(DecodeError::Bound);
        }
        let table = Table::from_cells(shape, found, &body.cells.0).ok_or(DecodeError::Counter)?;
        let terms = RawTerms { granularity, bound, parts: body.parts, releases: body.releases };
        Ok(Self::from_parts(table, hash, terms))
    }
}

/// Reads the hash that a raw sketch was made with.
///
/// A program that keeps several keys finds the right one by it before calling [`CountSketch::from_sensitive_bytes`].
///
/// # Errors
/// As [`CountSketch::from_sensitive_bytes`].
pub fn raw_hash_id(bytes: &[u8]) -> Result<HashId, DecodeError> {
    Ok(RawBodyV1::read(bytes)?.frame.to_frame()?.0)
}
