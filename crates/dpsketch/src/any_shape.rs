use core::fmt;

use countsketch_dp::{CountSketchShape, PrefixLayout};
use f0_sketch::F0Shape;
use sfm_pcsa::SketchShape;

/// The shape of a sketch of any kind.
///
/// # Examples
/// ```
/// use dpsketch::AnyShape;
/// use dpsketch::countsketch_dp::CountSketchShape;
///
/// let shape = AnyShape::CountSketch(CountSketchShape::new(5, 1024)?);
/// assert_eq!(shape.to_string(), "5 x 1024");
/// # Ok::<(), dpsketch::countsketch_dp::ParamError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AnyShape {
    /// A bitmap's, such as buckets and levels.
    Bitmap(SketchShape),
    /// Rows and width of frequencies.
    CountSketch(CountSketchShape),
    /// Levels and cells of an F0 sketch.
    F0(F0Shape),
    /// Of a stack of prefixes.
    Prefixes {
        /// The bits of a key.
        key_bits: u8,
        /// The number of levels.
        levels: usize,
        /// Rows and width of a sketched level.
        sketch: CountSketchShape,
    },
}

impl AnyShape {
    pub(crate) fn of_stack(layout: &PrefixLayout) -> Self {
        Self::Prefixes { key_bits: layout.key_bits(), levels: layout.levels(), sketch: layout.shape() }
    }
}

impl fmt::Display for AnyShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bitmap(shape) => shape.fmt(f),
            Self::CountSketch(shape) => shape.fmt(f),
            Self::F0(shape) => shape.fmt(f),
            Self::Prefixes { key_bits, levels, sketch } => {
                write!(f, "keys of {key_bits} bits in {levels} levels of {sketch}")
            }
        }
    }
}
