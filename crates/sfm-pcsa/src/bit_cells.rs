//! Raw cells as plain bits, for families whose items throw darts at one row of cells.

use zeroize::Zeroize;

use crate::shape::{BitmapShape, ShapeInternals};
use crate::store::Store;

/// A shape whose cells form one row.
pub(crate) trait Row: BitmapShape + ShapeInternals {
    /// What placing items needs beside the shape, computed once.
    type Placement: Clone + Send + Sync;

    fn placement(self) -> Self::Placement;

    /// Calls `set` with every cell of an item.
    fn place(self, placement: &Self::Placement, hash: Self::Digest, set: impl FnMut(u32));
}

/// One bit a cell, 64 a word. Wiped when dropped; never grows.
#[derive(Clone)]
pub(crate) struct BitCells<S: Row> {
    shape: S,
    placement: S::Placement,
    words: Vec<u64>,
}

impl<S: Row> Drop for BitCells<S> {
    fn drop(&mut self) {
        self.words.zeroize();
    }
}

impl<S: Row> PartialEq for BitCells<S> {
    fn eq(&self, other: &Self) -> bool {
        self.shape == other.shape && self.words == other.words
    }
}

impl<S: Row> BitCells<S> {
    fn with_words(shape: S, placement: S::Placement, words: Vec<u64>) -> Self {
        Self { shape, placement, words }
    }
}

/// Sets bit `cell`.
#[inline]
fn set(words: &mut [u64], cell: u32) {
    words[cell as usize / 64] |= 1 << (cell % 64);
}

impl<S: Row> Store for BitCells<S> {
    type Shape = S;

    fn new(shape: S) -> Self {
        Self::with_words(shape, shape.placement(), vec![0; shape.cells().div_ceil(64)])
    }

    fn shape(&self) -> S {
        self.shape
    }

    fn insert(&mut self, hashes: &[S::Digest]) {
        let Self { shape, placement, words } = self;
        for &hash in hashes {
            shape.place(placement, hash, |cell| set(words, cell));
        }
    }

    fn or_assign(&mut self, other: &Self) {
        gf2_linalg::or_into(&mut self.words, &other.words);
    }

    fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// Neighbours join: the cell of an item is a rounded-down share of the row, whatever its length.
    fn fold(&self, to: S) -> Self {
        let mut folded = Self::new(to);
        let joined = self.shape.cells() / to.cells();
        for (index, &word) in self.words.iter().enumerate() {
            let mut rest = word;
            while rest != 0 {
                let cell = index * 64 + rest.trailing_zeros() as usize;
                rest &= rest - 1;
                folded.words[cell / joined / 64] |= 1 << (cell / joined % 64);
            }
        }
        folded
    }

    fn to_bits(&self) -> Vec<u64> {
        self.words.clone()
    }

    fn from_bits(shape: S, bits: &[u64]) -> Self {
        Self::with_words(shape, shape.placement(), bits.to_vec())
    }
}
