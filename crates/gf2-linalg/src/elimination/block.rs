//! The additions of one panel's elimination, for use on the other panels.

use alloc::{vec, vec::Vec};

use crate::lookup::{Tables, add_selected, solve_lower, solve_upper};
use crate::panel::Line;

/// Rows that all strips are added to before the next ones: 64 KiB of lines.
const ROWS: usize = 1024;

/// The pivots of one word of columns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// The row of the first pivot; the others follow it.
    pub(crate) first: usize,
    /// Which word of a row.
    pub(crate) word: usize,
    /// The pivots' columns within the word.
    pub(crate) pivots: u64,
}

impl Place {
    /// How many pivots.
    pub(crate) fn rank(&self) -> usize {
        self.pivots.count_ones() as usize
    }

    /// The row after that of the last pivot.
    pub(crate) fn end(&self) -> usize {
        self.first + self.rank()
    }
}

/// The additions of the pivot rows of one word of columns.
#[derive(Debug)]
pub(crate) struct Strip {
    pub(crate) place: Place,
    /// Which pivot rows are added to each row: forward from the first pivot row on, backward up to the last.
    pub(crate) selectors: Vec<u64>,
}

/// The strips of a panel.
#[derive(Debug, Default)]
pub(crate) struct Block {
    pub(crate) strips: Vec<Strip>,
    /// Exchanges of rows that come before the additions.
    pub(crate) swaps: Vec<(usize, usize)>,
}

/// Room for the tables of all strips of a block.
pub(crate) fn workspace() -> Vec<Tables> {
    vec![Tables::EMPTY; crate::panel::WORDS]
}

impl Block {
    /// Notes an exchange of rows, which comes before the additions noted so far.
    pub(crate) fn swap(&mut self, a: usize, b: usize) {
        for Strip { place, selectors } in &mut self.strips {
            selectors.swap(a - place.first, b - place.first);
        }
        self.swaps.push((a, b));
    }

    /// The row of the first pivot, and the one after that of the last.
    fn pivot_rows(&self) -> (usize, usize) {
        let first = self.strips.first().map_or(0, |strip| strip.place.first);
        (first, self.strips.last().map_or(0, |strip| strip.place.end()))
    }

    /// Exchanges rows and adds pivot rows to later ones, as in the panel that the block comes from.
    pub(crate) fn forward(&self, panel: &mut [Line], tables: &mut [Tables]) {
        for &(a, b) in &self.swaps {
            panel.swap(a, b);
        }
        let (_, end) = self.pivot_rows();
        for (strip, tables) in self.strips.iter().zip(&mut *tables) {
            let (place, rank) = (strip.place, strip.place.rank());
            let (pivots, later) = panel[place.first..end].split_at_mut(rank);
            solve_lower(place.pivots, &strip.selectors[..rank], pivots, &Line::ALL, tables);
            add_selected(tables, &strip.selectors[rank..], later);
        }
        for (index, rows) in panel[end..].chunks_mut(ROWS).enumerate() {
            for (strip, tables) in self.strips.iter().zip(&*tables) {
                add_selected(tables, &strip.selectors[end - strip.place.first + ROWS * index..], rows);
            }
        }
    }

    /// Adds pivot rows to earlier ones; the strips are in order of their rows and used from last to first.
    pub(crate) fn backward(&self, panel: &mut [Line], tables: &mut [Tables]) {
        let (start, _) = self.pivot_rows();
        for (strip, tables) in self.strips.iter().zip(&mut *tables).rev() {
            let place = strip.place;
            let (earlier, pivots) = panel[..place.end()].split_at_mut(place.first);
            solve_upper(place.pivots, &strip.selectors[place.first..], pivots, tables);
            add_selected(tables, &strip.selectors[start..], &mut earlier[start..]);
        }
        for (index, rows) in panel[..start].chunks_mut(ROWS).enumerate() {
            for (strip, tables) in self.strips.iter().zip(&*tables).rev() {
                add_selected(tables, &strip.selectors[ROWS * index..], rows);
            }
        }
    }
}
