use core::fmt;

use countsketch_dp::CountSketchShape;
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
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum AnyShape {
    /// A bitmap's, such as buckets and levels.
    Bitmap(SketchShape),
    /// Rows and width of frequencies.
    CountSketch(CountSketchShape),
}

impl fmt::Display for AnyShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bitmap(shape) => shape.fmt(f),
            Self::CountSketch(shape) => shape.fmt(f),
        }
    }
}
