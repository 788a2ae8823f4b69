//! What the families of bitmaps share: a shape says how many cells there are and how likely an item hits each.

use core::fmt::{Debug, Display};

use cardinality_estimators::CellLayout;
use serde::{Serialize, de::DeserializeOwned};
use sketch_wire::Family;

use crate::error::ParamError;
use crate::params::PcsaShape;

/// The shape of a family of bitmap sketches.
///
/// Implemented by the shapes of this crate only. It is the one difference between the private sketches of the families:
/// their noise, merges, histories and bytes are the same.
#[expect(private_bounds, reason = "closes the trait to other crates")]
pub trait BitmapShape: Copy + Debug + Display + PartialEq + Into<SketchShape> + ShapeInternals {
    /// How many cells, each a bit, a sketch of this shape has.
    #[must_use]
    fn cells(self) -> usize;

    /// How many cells one item sets at most: 1, and for Bloom filters the number of hashes.
    #[must_use]
    fn cells_per_item(self) -> u32 {
        1
    }
}

/// The part of [`BitmapShape`] that only this crate sees.
pub(crate) trait ShapeInternals: Sized {
    /// The shape as a body states it.
    type Fields: ShapeFields;
    /// The type of private sketches, for `Debug`.
    const PRIVATE_NAME: &'static str;

    fn to_fields(self) -> Self::Fields;

    fn from_fields(fields: &Self::Fields) -> Result<Self, ParamError>;

    /// Runs of equally likely cells, in the order of the bits.
    fn layout(self) -> CellLayout;
}

/// The first fields of a body, and the families whose bodies begin so.
pub(crate) trait ShapeFields: Serialize + DeserializeOwned {
    const PRIVATE: Family;
    const RAW: Family;
}

/// A shape of any family, as errors name it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum SketchShape {
    /// PCSA.
    Pcsa(PcsaShape),
}

impl Display for SketchShape {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Pcsa(shape) => Display::fmt(shape, f),
        }
    }
}

impl From<PcsaShape> for SketchShape {
    fn from(shape: PcsaShape) -> Self {
        Self::Pcsa(shape)
    }
}
