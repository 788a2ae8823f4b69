//! Liquid Legions: one row of cells whose probability falls geometrically.

use core::fmt;
use std::sync::Arc;

use cardinality_estimators::CellLayout;
use serde::{Deserialize, Serialize};
use sketch_wire::Family;

use crate::bit_cells::{BitCells, Row};
use crate::boundaries::Boundaries;
use crate::error::ParamError;
use crate::private::PrivateBitmap;
use crate::shape::{BitmapShape, SHORTEST_ROW, ShapeFields, ShapeInternals};
use crate::sketch::RawBitmap;

/// The shape of a Liquid Legions sketch: cells, and the decay of their probabilities.
///
/// Of `m` cells with decay `A` an item hits cell `i` with probability `e^(−Ai/m) (1 − e^(−A/m)) / (1 − e^(−A))`
/// [KWS+20]: the first cells see many items, the last ones few, and the relative error is about `√(6A/(π² m))` from a few
/// items a cell up to some `m e^A / A` of them.
///
/// An item with the 64-bit hash `h` sets the last cell `i` with `T_i ≤ h`, where
///
/// ```text
/// T_i = ⌈2⁶⁴ · (1 − e^(−Ai/m)) / (1 − e^(−A))⌉
/// ```
///
/// is computed in integers, so that cells are the same on every machine.
///
/// # Examples
/// ```
/// use sfm_pcsa::{LegionsShape, LegionsSketch};
/// use sfm_pcsa::cardinality_estimators::Confidence;
/// use sfm_pcsa::sketch_hash::DefaultHash;
///
/// let mut sketch = LegionsSketch::new(LegionsShape::new(20_000, 10.0)?, DefaultHash::default());
/// sketch.update_u64_batch(&(0..500_000).collect::<Vec<u64>>());
/// let count = sketch.estimate(Confidence::P95).value().ok_or("no value")?;
/// assert!((count / 500_000.0 - 1.0).abs() < 0.15); // standard error 1.7%
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LegionsShape {
    cells: u32,
    decay: f64,
}

/// Liquid Legions before noise; the verbs are those of every [`RawBitmap`].
pub type LegionsSketch<H = sketch_hash::DefaultHash> = RawBitmap<LegionsShape, H>;

/// Released Liquid Legions; the verbs are those of every [`PrivateBitmap`].
pub type PrivateLegions = PrivateBitmap<LegionsShape>;

impl LegionsShape {
    /// 100,000 cells with decay 12: 12.2 KiB, up to 10⁹ items.
    pub const DEFAULT: Self = Self { cells: 100_000, decay: 12.0 };
    /// The most cells: the table of their first hashes then has 8 MiB.
    pub const MAX_CELLS: u32 = 1 << 20;
    /// The least decay. Below, cells are nearly alike: linear counting.
    pub const MIN_DECAY: f64 = 0.0625;
    /// The largest decay. Above, a 64-bit hash would not tell the last cells apart.
    pub const MAX_DECAY: f64 = 24.0;

    /// # Errors
    /// [`ParamError::Cells`] unless `2 ≤ cells ≤ 2²⁰`; [`ParamError::Decay`] unless `1/16 ≤ decay ≤ 24`.
    pub fn new(cells: u32, decay: f64) -> Result<Self, ParamError> {
        if !(SHORTEST_ROW..=Self::MAX_CELLS).contains(&cells) {
            return Err(ParamError::Cells { max: Self::MAX_CELLS, found: cells });
        }
        if !(Self::MIN_DECAY..=Self::MAX_DECAY).contains(&decay) {
            return Err(ParamError::Decay { found: decay });
        }
        Ok(Self { cells, decay })
    }

    /// The number of cells.
    #[must_use]
    pub const fn cells(self) -> usize {
        self.cells as usize
    }

    /// How fast the probability of cells falls: from the first to the last by a factor of about `e^decay`.
    #[must_use]
    pub const fn decay(self) -> f64 {
        self.decay
    }

    /// Whether a raw sketch of this shape folds exactly to `smaller`: its cells divide these, and the decay is the same.
    #[must_use]
    pub const fn folds_to(self, smaller: Self) -> bool {
        self.cells.is_multiple_of(smaller.cells) && self.decay.to_bits() == smaller.decay.to_bits()
    }

    /// The first 64-bit hash of every cell.
    pub(crate) fn boundaries(self) -> Boundaries {
        Boundaries::new(self.cells, self.decay)
    }
}

impl Default for LegionsShape {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl fmt::Display for LegionsShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cells, decay {}", self.cells, self.decay)
    }
}

impl BitmapShape for LegionsShape {
    type Digest = u64;

    fn cells(self) -> usize {
        self.cells()
    }
}

/// As `legions-raw` and `legions-private` state it.
#[derive(Serialize, Deserialize)]
pub(crate) struct LegionsFields {
    cells: u32,
    decay: f64,
}

impl ShapeFields for LegionsFields {
    const PRIVATE: Family = Family::LEGIONS_PRIVATE;
    const RAW: Family = Family::LEGIONS_RAW;
}

impl ShapeInternals for LegionsShape {
    type Fields = LegionsFields;
    type Store = BitCells<Self>;
    const PRIVATE_NAME: &'static str = "PrivateLegions";
    const RAW_NAME: &'static str = "LegionsSketch";

    fn to_fields(self) -> LegionsFields {
        LegionsFields { cells: self.cells, decay: self.decay }
    }

    fn from_fields(fields: &LegionsFields) -> Result<Self, ParamError> {
        Self::new(fields.cells, fields.decay)
    }

    fn layout(self) -> CellLayout {
        CellLayout::legions(u64::from(self.cells), self.decay).expect("two cells, a decay in range")
    }

    fn can_fold(self, to: Self) -> bool {
        self.folds_to(to)
    }
}

impl Row for LegionsShape {
    type Placement = Arc<Boundaries>;

    fn placement(self) -> Self::Placement {
        Arc::new(self.boundaries())
    }

    #[inline]
    fn place(self, boundaries: &Arc<Boundaries>, hash: u64, mut set: impl FnMut(u32)) {
        set(boundaries.cell(hash));
    }
}
