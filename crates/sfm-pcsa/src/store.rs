//! What a raw sketch asks of the state that holds its cells.

use crate::shape::BitmapShape;

/// The true cells of a raw sketch, with their shape. Wiped when dropped.
pub(crate) trait Store: Clone + PartialEq + Send + Sync {
    type Shape: BitmapShape;

    /// No cell set.
    fn new(shape: Self::Shape) -> Self;

    fn shape(&self) -> Self::Shape;

    /// Sets the cells of hashed items.
    fn insert(&mut self, hashes: &[<Self::Shape as BitmapShape>::Digest]);

    /// OR of the cells of one shape.
    fn or_assign(&mut self, other: &Self);

    fn is_empty(&self) -> bool;

    /// The cells in a smaller shape to which this one folds.
    fn fold(&self, to: Self::Shape) -> Self;

    /// Cell `i` as bit `i`, 64 a word; bits beyond the last cell are zero.
    fn to_bits(&self) -> Vec<u64>;

    /// From such bits, as many words as the shape has.
    fn from_bits(shape: Self::Shape, bits: &[u64]) -> Self;
}
