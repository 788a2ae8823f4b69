//! Elimination panel by panel.
//!
//! The factorisation is PLE \[JPS13\]: rows are exchanged (P), multiples of pivot rows are added to later ones (L), and an
//! echelon form is left (E). A panel of 512 columns is eliminated word by word: within a word on single words, then the
//! rest of the panel by table look-ups. The additions are kept as selectors and repeated on every panel to the right,
//! which are independent of each other.

mod block;
mod column;

use alloc::vec::Vec;

use crate::lookup::{Tables, add_selected, solve_lower, solve_upper};
use crate::panel::{Line, Panel, WORDS, panels};
use crate::{BitMatrix, parallel};
use block::{Block, Place, Strip, workspace};
use column::eliminate;

/// A matrix in the course of elimination.
///
/// In row `i`, the columns of the first `min(i, rank)` pivots hold which pivot rows were added to it (the strict lower part
/// of L), everything else is E.
#[derive(Debug)]
pub(crate) struct Echelon {
    panels: Vec<Panel>,
    /// Row `i` was row `order[i]` of the matrix.
    order: Vec<usize>,
    /// The columns of the pivots, ascending; pivot `i` is in row `i`.
    pivots: Vec<usize>,
    /// Every word that has pivots, from left to right.
    places: Vec<Place>,
    columns: usize,
}

impl Echelon {
    /// Eliminates in the first `limit` columns of `matrix`; the others follow along.
    pub(crate) fn new(matrix: &BitMatrix, limit: usize) -> Self {
        let mut echelon = Self {
            panels: panels(matrix),
            order: (0..matrix.rows()).collect(),
            pivots: Vec::new(),
            places: Vec::new(),
            columns: matrix.columns(),
        };
        for index in 0..limit.div_ceil(64 * WORDS) {
            if echelon.rank() == matrix.rows() {
                break;
            }
            let block = echelon.eliminate_panel(index, limit);
            if block.strips.is_empty() {
                continue;
            }
            let (left, right) = echelon.panels.split_at_mut(index + 1);
            for panel in &mut left[..index] {
                block.swaps.iter().for_each(|&(a, b)| panel.swap(a, b));
            }
            parallel::for_each(right, workspace, |panel, tables| block.forward(panel, tables));
        }
        echelon
    }

    pub(crate) fn rank(&self) -> usize {
        self.pivots.len()
    }

    /// The columns of the pivots, ascending.
    pub(crate) fn into_pivots(self) -> Vec<usize> {
        self.pivots
    }

    /// Row `i` was row `order[i]` of the matrix.
    pub(crate) fn order(&self) -> &[usize] {
        &self.order
    }

    /// The first `rows` rows as they are.
    pub(crate) fn matrix(&self, rows: usize) -> BitMatrix {
        let mut matrix = BitMatrix::new(rows, self.columns);
        for (index, panel) in self.panels.iter().enumerate() {
            matrix.write_panel(index, panel);
        }
        matrix
    }

    /// The matrix L: as many rows as the matrix, as many columns as the rank, 1 in the first diagonal and 0 above.
    pub(crate) fn lower(&self) -> BitMatrix {
        let mut lower = BitMatrix::new(self.order.len(), self.rank());
        for i in 0..self.rank() {
            lower.row_words_mut(i)[i / 64] = 1 << (i % 64);
        }
        for &Place { first, word, pivots } in &self.places {
            let (mut added, mut rest) = (0, pivots);
            for (row, line) in self.panels[word / WORDS].iter().enumerate().skip(first) {
                let bits = compress(line.0[word % WORDS] & added, pivots);
                let into = &mut lower.row_words_mut(row)[first / 64..];
                into[0] ^= bits << (first % 64);
                if let Some(next) = into.get_mut(1).filter(|_| first % 64 > 0) {
                    *next ^= bits >> (64 - first % 64);
                }
                rest &= rest.wrapping_sub(1);
                added = pivots & !rest;
            }
        }
        lower
    }

    /// Eliminates in one panel; the block repeats it in others.
    fn eliminate_panel(&mut self, index: usize, limit: usize) -> Block {
        let (mut block, mut tables) = (Block::default(), Tables::EMPTY);
        for word in WORDS * index..(WORDS * (index + 1)).min(limit.div_ceil(64)) {
            self.eliminate_word(word, first_bits(limit - 64 * word), &mut block, &mut tables);
        }
        block
    }

    /// Eliminates in the `allowed` columns of one word, and adds to the words after it in its panel.
    fn eliminate_word(&mut self, word: usize, allowed: u64, block: &mut Block, tables: &mut Tables) {
        let (first, panel) = (self.pivots.len(), &mut self.panels[word / WORDS]);
        let mut selectors: Vec<u64> = panel[first..].iter().map(|line| line.0[word % WORDS]).collect();
        let mut swaps = Vec::new();
        let pivots = eliminate(&mut selectors, allowed, &mut swaps);
        if pivots == 0 {
            return;
        }
        for (a, b) in swaps.into_iter().map(|(a, b)| (first + a, first + b)) {
            panel.swap(a, b);
            self.order.swap(a, b);
            block.swap(a, b);
        }
        for (line, selector) in panel[first..].iter_mut().zip(&selectors) {
            line.0[word % WORDS] = *selector;
        }
        let place = Place { first, word, pivots };
        let (own, later) = panel[first..].split_at_mut(place.rank());
        let (own_selectors, later_selectors) = selectors.split_at(place.rank());
        solve_lower(pivots, own_selectors, own, &Line::after(word % WORDS), tables);
        add_selected(tables, later_selectors, later);
        self.pivots.extend((0..64).filter(|bit| pivots >> bit & 1 == 1).map(|bit| 64 * word + bit));
        self.places.push(place);
        block.strips.push(Strip { place, selectors });
    }

    /// Removes L, which leaves E.
    pub(crate) fn clear_lower(&mut self) {
        for &Place { first, word, pivots } in &self.places {
            let (mut added, mut rest) = (0, pivots);
            for line in &mut self.panels[word / WORDS][first..] {
                line.0[word % WORDS] &= !added;
                rest &= rest.wrapping_sub(1);
                added = pivots & !rest;
            }
        }
    }

    /// Makes the echelon form reduced: no pivot row has a 1 in the column of another.
    pub(crate) fn reduce(&mut self) {
        let mut end = self.places.len();
        while end > 0 {
            let index = self.places[end - 1].word / WORDS;
            let start = self.places[..end].partition_point(|place| place.word / WORDS < index);
            let block = self.reduce_panel(index, start, end);
            parallel::for_each(&mut self.panels[index + 1..], workspace, |panel, tables| block.backward(panel, tables));
            end = start;
        }
    }

    /// Reduces by the places `start..end`, which are those of one panel; the block repeats it in others.
    fn reduce_panel(&mut self, index: usize, start: usize, end: usize) -> Block {
        let panel = &mut self.panels[index];
        let (mut block, mut tables) = (Block::default(), Tables::EMPTY);
        for &place in self.places[start..end].iter().rev() {
            let (Place { first, word, pivots }, last) = (place, place.end());
            let selectors: Vec<u64> = panel[..last].iter().map(|line| line.0[word % WORDS] & pivots).collect();
            let (earlier, own) = panel[..last].split_at_mut(first);
            solve_upper(pivots, &selectors[first..], own, &mut tables);
            add_selected(&tables, &selectors, earlier);
            block.strips.push(Strip { place, selectors });
        }
        block.strips.reverse();
        block
    }
}

/// The bits of `word` at the ones of `mask`, moved together.
fn compress(word: u64, mut mask: u64) -> u64 {
    let (mut bits, mut count) = (0, 0);
    while mask != 0 {
        let start = mask.trailing_zeros();
        let run = (mask >> start).trailing_ones();
        bits |= (word >> start & first_bits(run as usize)) << count;
        count += run;
        mask &= !(first_bits(run as usize) << start);
    }
    bits
}

/// The lowest `count` bits.
fn first_bits(count: usize) -> u64 {
    if count < 64 { !(u64::MAX << count) } else { u64::MAX }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_at_the_mask_move_together() {
        assert_eq!(compress(0b1011_0110, 0b1111_0010), 0b1_0111);
        assert_eq!(compress(0x0123_4567_89ab_cdef, u64::MAX), 0x0123_4567_89ab_cdef);
        assert_eq!(compress(u64::MAX, 1 << 63 | 1), 0b11);
        assert_eq!(compress(u64::MAX, 0), 0);
    }
}
