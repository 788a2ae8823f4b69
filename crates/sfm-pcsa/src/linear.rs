//! Linear counting: one row of equally likely cells.

use core::fmt;

use cardinality_estimators::CellLayout;
use serde::{Deserialize, Serialize};
use sketch_hash::bucket_multiply_shift_64;
use sketch_wire::Family;

use crate::bit_cells::{BitCells, Row};
use crate::error::ParamError;
use crate::private::PrivateBitmap;
use crate::shape::{BitmapShape, SHORTEST_ROW, ShapeFields, ShapeInternals};
use crate::sketch::RawBitmap;

/// The shape of a linear counting sketch: a number of equally likely cells.
///
/// An item with the 64-bit hash `h` sets cell `⌊h · cells / 2⁶⁴⌋`. Of the families this one has the smallest error while
/// items are not many more than cells, and none beyond about `cells · ln cells`: with `t = n / cells` the relative error
/// without noise is `√(eᵗ − t − 1) / (t √cells)` \[WVT90\].
///
/// # Examples
/// ```
/// use sfm_pcsa::{LinearCountingSketch, LinearShape};
/// use sfm_pcsa::cardinality_estimators::Confidence;
/// use sfm_pcsa::sketch_hash::DefaultHash;
///
/// let mut sketch = LinearCountingSketch::new(LinearShape::new(10_000)?, DefaultHash::default());
/// sketch.update_u64_batch(&(0..5_000).collect::<Vec<u64>>());
/// let count = sketch.estimate(Confidence::P95).value().ok_or("no value")?;
/// assert!((count - 5_000.0).abs() < 400.0); // standard error 38
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LinearShape {
    cells: u32,
}

/// Linear counting before noise; the verbs are those of every [`RawBitmap`].
pub type LinearCountingSketch<H = sketch_hash::DefaultHash> = RawBitmap<LinearShape, H>;

/// Released linear counting; the verbs are those of every [`PrivateBitmap`].
pub type PrivateLinearCounting = PrivateBitmap<LinearShape>;

impl LinearShape {
    /// The most cells: 8 MiB of bits.
    pub const MAX_CELLS: u32 = 1 << 26;

    /// # Errors
    /// [`ParamError::Cells`] unless `2 ≤ cells ≤ 2²⁶`.
    pub fn new(cells: u32) -> Result<Self, ParamError> {
        if (SHORTEST_ROW..=Self::MAX_CELLS).contains(&cells) {
            Ok(Self { cells })
        } else {
            Err(ParamError::Cells { max: Self::MAX_CELLS, found: cells })
        }
    }

    /// The number of cells.
    #[must_use]
    pub const fn cells(self) -> usize {
        self.cells as usize
    }

    /// Whether a raw sketch of this shape folds exactly to `smaller`: its cells divide these.
    #[must_use]
    pub const fn folds_to(self, smaller: Self) -> bool {
        self.cells.is_multiple_of(smaller.cells)
    }
}

impl fmt::Display for LinearShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cells", self.cells)
    }
}

impl BitmapShape for LinearShape {
    type Digest = u64;

    fn cells(self) -> usize {
        self.cells()
    }
}

/// As `linear-raw` and `linear-private` state it.
#[derive(Serialize, Deserialize)]
pub(crate) struct LinearFields {
    cells: u32,
}

impl ShapeFields for LinearFields {
    const PRIVATE: Family = Family::LINEAR_PRIVATE;
    const RAW: Family = Family::LINEAR_RAW;
}

impl ShapeInternals for LinearShape {
    type Fields = LinearFields;
    type Store = BitCells<Self>;
    const PRIVATE_NAME: &'static str = "PrivateLinearCounting";
    const RAW_NAME: &'static str = "LinearCountingSketch";

    fn to_fields(self) -> LinearFields {
        LinearFields { cells: self.cells }
    }

    fn from_fields(fields: &LinearFields) -> Result<Self, ParamError> {
        Self::new(fields.cells)
    }

    fn layout(self) -> CellLayout {
        CellLayout::linear(u64::from(self.cells)).expect("two cells at least")
    }

    fn can_fold(self, to: Self) -> bool {
        self.folds_to(to)
    }
}

impl Row for LinearShape {
    type Placement = ();

    fn placement(self) -> Self::Placement {}

    #[inline]
    fn place(self, (): &(), hash: u64, mut set: impl FnMut(u32)) {
        set(cell_of(hash, self.cells));
    }
}

/// `⌊hash · cells / 2⁶⁴⌋`.
#[expect(clippy::cast_possible_truncation, reason = "below the number of cells")]
#[inline]
pub(crate) fn cell_of(hash: u64, cells: u32) -> u32 {
    bucket_multiply_shift_64(hash, u64::from(cells)) as u32
}
