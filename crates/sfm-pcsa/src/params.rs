//! The shape of a PCSA sketch.

use cardinality_estimators::CellLayout;
use serde::{Deserialize, Serialize};
use sketch_wire::Family;

use crate::ParamError;
use crate::pcsa_cells::PcsaCells;
use crate::shape::{BitmapShape, ShapeFields, ShapeInternals};

/// Number of buckets and of levels: which bits of a hash decide which cell.
///
/// A 64-bit hash chooses the bucket by its top `log2(buckets)` bits and the level by its trailing zeros, capped at
/// `levels − 1`: level `j` has probability `2^−(j+1)`, and the last one takes the rest. Two sketches of one shape and one
/// hash put the same item in the same cell.
///
/// The relative error of an estimate is about `c / √buckets` (c = 0.65 without noise, 0.72 at ε = 4, 1.0 at ε = 2,
/// 1.76 at ε = 1), flat up to about `buckets · 2^(levels−1)` distinct items.
///
/// # Examples
/// ```
/// use sfm_pcsa::PcsaShape;
/// let shape = PcsaShape::new(1024, 32)?;
/// assert_eq!(shape.cells(), 32_768);
/// assert_eq!(PcsaShape::DEFAULT.buckets(), 4096);
/// assert!(PcsaShape::new(1000, 32).is_err(), "not a power of two");
/// # Ok::<(), sfm_pcsa::ParamError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PcsaShape {
    index_bits: u8,
    levels: u8,
}

impl PcsaShape {
    /// 4096 buckets of 24 levels: 12 KiB, 2.7% at ε = 1 and 1.1% at ε = 4, up to 3·10¹⁰ items.
    pub const DEFAULT: Self = Self { index_bits: 12, levels: 24 };

    /// The most bits of a hash that may choose the bucket.
    pub const MAX_INDEX_BITS: u8 = 20;

    /// # Errors
    /// [`ParamError::Buckets`] unless `buckets` is a power of two in 2 ..= 2²⁰; [`ParamError::Levels`] unless
    /// `1 ≤ levels ≤ 64 − log2(buckets)`.
    pub fn new(buckets: u32, levels: u8) -> Result<Self, ParamError> {
        let index_bits = u8::try_from(buckets.trailing_zeros()).unwrap_or(u8::MAX);
        if !buckets.is_power_of_two() || !(1..=Self::MAX_INDEX_BITS).contains(&index_bits) {
            return Err(ParamError::Buckets { found: buckets });
        }
        let max = 64 - index_bits;
        if !(1..=max).contains(&levels) {
            return Err(ParamError::Levels { max, found: levels });
        }
        Ok(Self { index_bits, levels })
    }

    /// The shape with `2^index_bits` buckets.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn from_index_bits(index_bits: u8, levels: u8) -> Result<Self, ParamError> {
        Self::new(1_u32.checked_shl(u32::from(index_bits)).unwrap_or(0), levels)
    }

    /// B, a power of two.
    #[must_use]
    pub const fn buckets(self) -> u32 {
        1 << self.index_bits
    }

    /// log2 of the number of buckets.
    #[must_use]
    pub const fn index_bits(self) -> u8 {
        self.index_bits
    }

    /// P.
    #[must_use]
    pub const fn levels(self) -> u8 {
        self.levels
    }

    /// `B · P`, the bits of a sketch.
    #[must_use]
    pub const fn cells(self) -> usize {
        (self.buckets() as usize) * (self.levels as usize)
    }

    /// 64-bit words that hold the cells.
    pub(crate) const fn words(self) -> usize {
        self.cells().div_ceil(64)
    }

    /// Whether a sketch of this shape folds exactly to `smaller`: no more buckets and no more levels.
    #[must_use]
    pub const fn folds_to(self, smaller: Self) -> bool {
        smaller.index_bits <= self.index_bits && smaller.levels <= self.levels
    }
}

impl BitmapShape for PcsaShape {
    type Digest = u64;

    fn cells(self) -> usize {
        self.cells()
    }
}

/// As `pcsa-raw` and `sfm-private` state it.
#[derive(Serialize, Deserialize)]
pub(crate) struct PcsaFields {
    index_bits: u8,
    levels: u8,
}

impl ShapeFields for PcsaFields {
    const PRIVATE: Family = Family::SFM_PRIVATE;
    const RAW: Family = Family::PCSA_RAW;
}

impl ShapeInternals for PcsaShape {
    type Fields = PcsaFields;
    type Store = PcsaCells;
    const PRIVATE_NAME: &'static str = "SfmSketch";
    const RAW_NAME: &'static str = "PcsaSketch";

    fn to_fields(self) -> PcsaFields {
        PcsaFields { index_bits: self.index_bits, levels: self.levels }
    }

    fn from_fields(fields: &PcsaFields) -> Result<Self, ParamError> {
        Self::from_index_bits(fields.index_bits, fields.levels)
    }

    fn layout(self) -> CellLayout {
        CellLayout::pcsa(self.buckets(), self.levels).expect("two buckets at least, 64 levels at most")
    }

    fn can_fold(self, to: Self) -> bool {
        self.folds_to(to)
    }
}

impl Default for PcsaShape {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl core::fmt::Display for PcsaShape {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} x {}", self.buckets(), self.levels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_keeps_bucket_and_level_bits_apart() {
        for index_bits in 0..=32_u8 {
            for levels in 0..=70 {
                let fits = (1..=20).contains(&index_bits) && levels >= 1 && index_bits + levels <= 64;
                assert_eq!(PcsaShape::from_index_bits(index_bits, levels).is_ok(), fits, "{index_bits} {levels}");
            }
        }
    }

    #[test]
    fn buckets_that_are_no_power_of_two_are_refused() {
        for buckets in [0, 1, 3, 4095, 1 << 21, u32::MAX] {
            assert_eq!(PcsaShape::new(buckets, 24), Err(ParamError::Buckets { found: buckets }));
        }
    }
}
