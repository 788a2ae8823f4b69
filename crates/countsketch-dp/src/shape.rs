//! The shape of a CountSketch.

use crate::ParamError;

/// Number of rows and of buckets in a row.
///
/// Every item has one cell in each row. The error of a row falls with the width, as `‖x‖₂ / √width`; an odd number of
/// rows makes the median of their estimates one of them, and the chance of a large error falls exponentially with it.
///
/// # Examples
/// ```
/// use countsketch_dp::CountSketchShape;
/// let shape = CountSketchShape::new(15, 4096)?;
/// assert_eq!((shape.rows(), shape.width(), shape.cells()), (15, 4096, 61_440));
/// assert!(CountSketchShape::new(4, 4096).is_err(), "an even number of rows has no middle one");
/// # Ok::<(), countsketch_dp::ParamError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CountSketchShape {
    rows: u8,
    width: u32,
}

impl CountSketchShape {
    /// The most buckets of a row, 2²⁴.
    pub const MAX_WIDTH: u32 = 1 << 24;

    /// The most cells of a sketch, 2²⁶: half a gibibyte.
    pub const MAX_CELLS: usize = 1 << 26;

    /// # Errors
    /// [`ParamError::Rows`] unless `rows` is odd, [`ParamError::Width`] unless `width` lies in 2 ..= 2²⁴,
    /// [`ParamError::Cells`] for more than 2²⁶ cells.
    pub const fn new(rows: u8, width: u32) -> Result<Self, ParamError> {
        if rows.is_multiple_of(2) {
            return Err(ParamError::Rows { found: rows });
        }
        if width < 2 || width > Self::MAX_WIDTH {
            return Err(ParamError::Width { max: Self::MAX_WIDTH, found: width });
        }
        let shape = Self { rows, width };
        if shape.cells() > Self::MAX_CELLS {
            return Err(ParamError::Cells { max: Self::MAX_CELLS, found: shape.cells() });
        }
        Ok(shape)
    }

    /// k, an odd number.
    #[must_use]
    pub const fn rows(self) -> u8 {
        self.rows
    }

    /// b, the buckets of a row.
    #[must_use]
    pub const fn width(self) -> u32 {
        self.width
    }

    /// `k · b`.
    #[must_use]
    pub const fn cells(self) -> usize {
        (self.rows as usize) * (self.width as usize)
    }

    /// Where a row stands in the cells of a sketch, row after row.
    pub(crate) const fn row_range(self, row: usize) -> core::ops::Range<usize> {
        let width = self.width as usize;
        row * width..(row + 1) * width
    }
}

impl core::fmt::Display for CountSketchShape {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} x {}", self.rows, self.width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_odd_and_sizes_are_capped() {
        for rows in 0..=u8::MAX {
            assert_eq!(CountSketchShape::new(rows, 2).is_ok(), rows % 2 == 1, "{rows}");
        }
        for width in [0, 1, (1 << 24) + 1, u32::MAX] {
            let refused = Err(ParamError::Width { max: 1 << 24, found: width });
            assert_eq!(CountSketchShape::new(1, width), refused);
        }
        assert!(CountSketchShape::new(3, 1 << 24).is_ok());
        let cells = 5 << 24;
        assert_eq!(CountSketchShape::new(5, 1 << 24), Err(ParamError::Cells { max: 1 << 26, found: cells }));
    }
}
