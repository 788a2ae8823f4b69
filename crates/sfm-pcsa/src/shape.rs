//! What the families of bitmaps share: a shape says how many cells there are and how likely an item hits each.

use core::fmt::{Debug, Display};

use cardinality_estimators::CellLayout;
use serde::{Serialize, de::DeserializeOwned};
use sketch_wire::Family;

use crate::bloom::BloomShape;
use crate::digest::Digest;
use crate::error::ParamError;
use crate::legions::LegionsShape;
use crate::linear::LinearShape;
use crate::params::PcsaShape;
use crate::store::Store;

/// The fewest cells of a row: with one, an item would be certain to hit it.
pub(crate) const SHORTEST_ROW: u32 = 2;

/// The shape of a family of bitmap sketches.
///
/// Implemented by the shapes of this crate only. It is the one difference between the private sketches of the families:
/// their noise, merges, histories and bytes are the same.
#[expect(private_bounds, reason = "closes the trait to other crates")]
pub trait BitmapShape: Copy + Debug + Display + PartialEq + Into<SketchShape> + Send + Sync + ShapeInternals {
    /// The hash bits that place an item: a `u64`, and for Bloom filters, whose items set several cells, a `[u64; 2]`.
    type Digest: Digest;

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
    /// The state of raw sketches.
    type Store: Store<Shape = Self>;
    /// The types of private and of raw sketches, for `Debug`.
    const PRIVATE_NAME: &'static str;
    const RAW_NAME: &'static str;

    fn to_fields(self) -> Self::Fields;

    fn from_fields(fields: &Self::Fields) -> Result<Self, ParamError>;

    /// Runs of equally likely cells, in the order of the bits.
    fn layout(self) -> CellLayout;

    /// Whether raw cells fold exactly to a smaller shape.
    fn can_fold(self, to: Self) -> bool;
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
    /// Linear counting.
    Linear(LinearShape),
    /// A Bloom filter.
    Bloom(BloomShape),
    /// Liquid Legions.
    Legions(LegionsShape),
}

impl Display for SketchShape {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Pcsa(shape) => Display::fmt(shape, f),
            Self::Linear(shape) => Display::fmt(shape, f),
            Self::Bloom(shape) => Display::fmt(shape, f),
            Self::Legions(shape) => Display::fmt(shape, f),
        }
    }
}

impl From<PcsaShape> for SketchShape {
    fn from(shape: PcsaShape) -> Self {
        Self::Pcsa(shape)
    }
}

impl From<LinearShape> for SketchShape {
    fn from(shape: LinearShape) -> Self {
        Self::Linear(shape)
    }
}

impl From<BloomShape> for SketchShape {
    fn from(shape: BloomShape) -> Self {
        Self::Bloom(shape)
    }
}

impl From<LegionsShape> for SketchShape {
    fn from(shape: LegionsShape) -> Self {
        Self::Legions(shape)
    }
}
