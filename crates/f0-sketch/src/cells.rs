//! The bits of a raw sketch, wiped when dropped.

use multiversion::multiversion;
use sketch_hash::{Domain, KeyedHash};
use zeroize::Zeroize;

use crate::shape::{F0Shape, Placement, RegularCells, general_cell};
use crate::weight::Weight;

/// Cell `i` is bit `i % 64` of word `i / 64`; bits beyond the last cell are zero.
#[derive(Clone, PartialEq)]
pub(crate) struct Cells(Vec<u64>);

impl Drop for Cells {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl Cells {
    pub(crate) fn new(shape: &F0Shape) -> Self {
        Self(vec![0; shape.words()])
    }

    /// A copy of as many words as the shape has.
    pub(crate) fn from_words(words: &[u64]) -> Self {
        Self(words.to_vec())
    }

    pub(crate) fn words(&self) -> &[u64] {
        &self.0
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    pub(crate) fn clear(&mut self) {
        self.0.as_mut_slice().zeroize();
    }

    pub(crate) fn xor(&mut self, other: &Self) {
        gf2_linalg::xor_into(&mut self.0, &other.0);
    }

    /// Adds the lowest bit of `bit` to a cell.
    #[inline]
    fn add(&mut self, cell: usize, bit: u64) {
        self.0[cell / 64] ^= (bit & 1) << (cell % 64);
    }

    /// Toggles the cells of hashed items for which `bit(index, hash)` is odd.
    #[inline]
    pub(crate) fn toggle_if<F>(&mut self, placement: &Placement, hashes: &[[u64; 2]], bit: F)
    where
        F: Fn(usize, [u64; 2]) -> u64,
    {
        match placement {
            Placement::Regular { levels, cells } => {
                toggle_regular(self, &RegularCells::new(*levels, *cells), hashes, bit);
            }
            Placement::General(runs) => {
                for (index, &hash) in hashes.iter().enumerate() {
                    self.add(general_cell(hash, runs), bit(index, hash));
                }
            }
        }
    }

    /// Toggles the cells of integers below 2⁶³, where they are regular: hashing and toggling go on side by side.
    #[inline]
    pub(crate) fn toggle_words<H: KeyedHash>(&mut self, regular: &RegularCells, hash: &H, items: &[u64]) {
        let toggle = |prepared| self.add(regular.cell(prepared), 1);
        hash.hash128_words_each(Domain::Integer, items, |hash| regular.prepare(hash), toggle);
    }

    /// Toggles the cell of one hashed item if its weight keeps it and `coin` is odd.
    #[inline]
    pub(crate) fn toggle(&mut self, placement: &Placement, hash: [u64; 2], weight: Weight, coin: u64) {
        self.add(placement.cell(hash), u64::from(weight.keeps(hash)) & coin);
    }
}

/// The loop of regular placement, for processors that count zeros in one step.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+lzcnt"))]
fn toggle_regular<F>(into: &mut Cells, regular: &RegularCells, hashes: &[[u64; 2]], bit: F)
where
    F: Fn(usize, [u64; 2]) -> u64,
{
    for (index, &hash) in hashes.iter().enumerate() {
        into.add(regular.cell(regular.prepare(hash)), bit(index, hash));
    }
}
