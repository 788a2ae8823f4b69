//! Matrices cut into panels of 512 columns, whose rows are one cache line each.
//!
//! Eliminations and products run over one panel at a time: its rows lie side by side, so that a pass over a panel of
//! some thousand rows stays in the second-level cache, and a row is a fixed array, which compilers keep in registers.

use alloc::vec::Vec;

use crate::BitMatrix;

/// Words of a line.
pub(crate) const WORDS: usize = 8;

/// 512 columns of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(align(64))]
pub(crate) struct Line(pub(crate) [u64; WORDS]);

impl Line {
    /// No column.
    pub(crate) const ZERO: Self = Self([0; WORDS]);
    /// Every column.
    pub(crate) const ALL: Self = Self([u64::MAX; WORDS]);

    /// Every column of the words after `word`.
    pub(crate) fn after(word: usize) -> Self {
        Self(core::array::from_fn(|i| if i > word { u64::MAX } else { 0 }))
    }

    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "a function of its own would be compiled without the caller's instructions"
    )]
    pub(crate) fn add(&mut self, other: &Self) {
        for (into, from) in self.0.iter_mut().zip(&other.0) {
            *into ^= from;
        }
    }

    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "a function of its own would be compiled without the caller's instructions"
    )]
    pub(crate) fn masked(&self, mask: &Self) -> Self {
        let mut kept = *self;
        for (into, mask) in kept.0.iter_mut().zip(&mask.0) {
            *into &= mask;
        }
        kept
    }
}

/// One panel: a line of every row.
pub(crate) type Panel = Vec<Line>;

/// All panels of a matrix, from left to right; the last is filled up with zeros.
pub(crate) fn panels(matrix: &BitMatrix) -> Vec<Panel> {
    (0..matrix.row_words().div_ceil(WORDS)).map(|index| panel(matrix, index)).collect()
}

/// The panel of columns `512 · index ..` of a matrix.
pub(crate) fn panel(matrix: &BitMatrix, index: usize) -> Panel {
    let lines = matrix.iter_words().map(|row| {
        let mut line = Line::ZERO;
        for (into, from) in line.0.iter_mut().zip(&row[WORDS * index..]) {
            *into = *from;
        }
        line
    });
    lines.collect()
}

/// Writes a panel to columns `512 · index ..` of rows `stride` words apart, of which the first `row_words` are used.
pub(crate) fn write(panel: &[Line], index: usize, rows: &mut [u64], stride: usize, row_words: usize) {
    for (line, row) in panel.iter().zip(rows.chunks_exact_mut(stride)) {
        for (into, from) in row[WORDS * index..row_words].iter_mut().zip(&line.0) {
            *into = *from;
        }
    }
}
