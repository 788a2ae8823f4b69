//! Bloom filters: one row of cells, of which an item sets several.

use core::fmt;

use cardinality_estimators::CellLayout;
use serde::{Deserialize, Serialize};
use sketch_wire::Family;

use crate::bit_cells::{BitCells, Row};
use crate::error::ParamError;
use crate::linear::cell_of;
use crate::private::PrivateBitmap;
use crate::shape::{BitmapShape, SHORTEST_ROW, ShapeFields, ShapeInternals};
use crate::sketch::RawBitmap;

/// The shape of an unpartitioned Bloom filter \[B70\]: cells, and how many of them an item sets.
///
/// The cells of an item with the 128-bit hash `(h₁, h₂)` come from the `SplitMix64` generator \[SLF14\] with state `h₁` and
/// odd increment `h₂ | 1`. For `i = 1, …, hashes`
///
/// ```text
/// z = h₁ + i·(h₂ | 1)                          mod 2⁶⁴
/// z = (z ⊕ z>>30) · 0xbf58476d1ce4e5b9         mod 2⁶⁴
/// z = (z ⊕ z>>27) · 0x94d049bb133111eb         mod 2⁶⁴
/// cell = ⌊(z ⊕ z>>31) · cells / 2⁶⁴⌋
/// ```
///
/// so they are the same on every machine and in every version. Several of them may be one cell: an item hits a given cell
/// with probability `1 − (1 − 1/cells)^hashes`.
///
/// # Privacy
/// One item changes up to `hashes` cells, so each is flipped at `ε / hashes`, rounded down. For counting one hash is
/// always best: a filter is for data that exists as one.
///
/// # Examples
/// ```
/// use sfm_pcsa::{BloomShape, BloomSketch};
/// use sfm_pcsa::cardinality_estimators::Confidence;
/// use sfm_pcsa::sketch_hash::DefaultHash;
///
/// let mut sketch = BloomSketch::new(BloomShape::new(20_000, 4)?, DefaultHash::default());
/// sketch.update_u64_batch(&(0..5_000).collect::<Vec<u64>>());
/// let count = sketch.estimate(Confidence::P95).value().ok_or("no value")?;
/// assert!((count - 5_000.0).abs() < 300.0); // standard error 30
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BloomShape {
    cells: u32,
    hashes: u8,
}

/// A Bloom filter before noise; the verbs are those of every [`RawBitmap`].
pub type BloomSketch<H = sketch_hash::DefaultHash> = RawBitmap<BloomShape, H>;

/// A released Bloom filter; the verbs are those of every [`PrivateBitmap`].
pub type PrivateBloom = PrivateBitmap<BloomShape>;

impl BloomShape {
    /// The most cells: 8 MiB of bits.
    pub const MAX_CELLS: u32 = 1 << 26;
    /// The most hashes.
    pub const MAX_HASHES: u8 = 64;

    /// # Errors
    /// [`ParamError::Cells`] unless `2 ≤ cells ≤ 2²⁶`; [`ParamError::Hashes`] unless `1 ≤ hashes ≤ 64`.
    pub fn new(cells: u32, hashes: u8) -> Result<Self, ParamError> {
        if !(SHORTEST_ROW..=Self::MAX_CELLS).contains(&cells) {
            return Err(ParamError::Cells { max: Self::MAX_CELLS, found: cells });
        }
        if !(1..=Self::MAX_HASHES).contains(&hashes) {
            return Err(ParamError::Hashes { max: Self::MAX_HASHES, found: hashes });
        }
        Ok(Self { cells, hashes })
    }

    /// The number of cells.
    #[must_use]
    pub const fn cells(self) -> usize {
        self.cells as usize
    }

    /// How many cells an item sets, equal ones counted.
    #[must_use]
    pub const fn hashes(self) -> u8 {
        self.hashes
    }

    /// Whether a raw filter of this shape folds exactly to `smaller`: its cells divide these, and the hashes are as many.
    #[must_use]
    pub const fn folds_to(self, smaller: Self) -> bool {
        self.cells.is_multiple_of(smaller.cells) && self.hashes == smaller.hashes
    }
}

impl fmt::Display for BloomShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cells, {} hashes", self.cells, self.hashes)
    }
}

impl BitmapShape for BloomShape {
    type Digest = [u64; 2];

    fn cells(self) -> usize {
        self.cells()
    }

    fn cells_per_item(self) -> u32 {
        u32::from(self.hashes)
    }
}

/// As `bloom-raw` and `bloom-private` state it.
#[derive(Serialize, Deserialize)]
pub(crate) struct BloomFields {
    cells: u32,
    hashes: u8,
}

impl ShapeFields for BloomFields {
    const PRIVATE: Family = Family::BLOOM_PRIVATE;
    const RAW: Family = Family::BLOOM_RAW;
}

impl ShapeInternals for BloomShape {
    type Fields = BloomFields;
    type Store = BitCells<Self>;
    const PRIVATE_NAME: &'static str = "PrivateBloom";
    const RAW_NAME: &'static str = "BloomSketch";

    fn to_fields(self) -> BloomFields {
        BloomFields { cells: self.cells, hashes: self.hashes }
    }

    fn from_fields(fields: &BloomFields) -> Result<Self, ParamError> {
        Self::new(fields.cells, fields.hashes)
    }

    fn layout(self) -> CellLayout {
        CellLayout::bloom(u64::from(self.cells), u32::from(self.hashes)).expect("two cells, 1 to 64 hashes")
    }

    fn can_fold(self, to: Self) -> bool {
        self.folds_to(to)
    }
}

impl Row for BloomShape {
    type Placement = ();

    fn placement(self) -> Self::Placement {}

    #[inline]
    fn place(self, (): &(), [mut state, increment]: [u64; 2], mut set: impl FnMut(u32)) {
        for _ in 0..self.hashes {
            state = state.wrapping_add(increment | 1);
            set(cell_of(mix(state), self.cells));
        }
    }
}

/// The output function of `SplitMix64` [SLF14].
#[inline]
const fn mix(state: u64) -> u64 {
    let z = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}
