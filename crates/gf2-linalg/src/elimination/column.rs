//! Elimination within one word of columns: the rows are single words.

use alloc::vec::Vec;

use multiversion::multiversion;

/// Brings the words, as rows of 64 columns, into echelon form by exchanges and additions to later rows; pivots are
/// taken from left to right among the columns in `allowed`.
///
/// Returns the columns of the pivots. The first word is then that of the first pivot, and so on. An addition of a pivot
/// row leaves the 1 it clears where it is: bit `c` of a word after the one of pivot `c` says whether that one was added
/// to it. The exchanges are appended to `swaps`.
pub(crate) fn eliminate(words: &mut [u64], allowed: u64, swaps: &mut Vec<(usize, usize)>) -> u64 {
    let (mut pivots, mut rank) = (0, 0);
    let mut open = allowed & union(words);
    while open != 0 {
        let column = open.trailing_zeros();
        open &= open - 1;
        let Some(found) = words[rank..].iter().position(|word| word >> column & 1 == 1) else {
            // The words left are likely to be 0 in other columns, too.
            open &= union(&words[rank..]);
            continue;
        };
        words.swap(rank, rank + found);
        swaps.push((rank, rank + found));
        let later = words[rank] & (u64::MAX << column << 1);
        clear(column, later, &mut words[rank + 1..]);
        pivots |= 1 << column;
        rank += 1;
    }
    pivots
}

/// The columns in which some word has a 1.
fn union(words: &[u64]) -> u64 {
    words.iter().fold(0, |union, word| union | word)
}

/// Adds `row` to the words with a 1 in `column`.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+popcnt"))]
fn clear(column: u32, row: u64, words: &mut [u64]) {
    for word in words {
        *word ^= row & (*word >> column & 1).wrapping_neg();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multipliers_stay_where_bits_were_cleared() {
        // Rows 110, 101 and 011, first column first: the second gets the first added, and the third is the sum of both.
        let (mut words, mut swaps) = ([0b011, 0b101, 0b110], Vec::new());
        assert_eq!(eliminate(&mut words, u64::MAX, &mut swaps), 0b011);
        assert_eq!(words, [0b011, 0b111, 0b010]);
        assert_eq!(swaps, [(0, 0), (1, 1)]);
    }

    #[test]
    fn pivots_are_looked_for_in_allowed_columns_only() {
        let (mut words, mut swaps) = ([1 << 63, 1 << 5, 1 << 63 | 1 << 4], Vec::new());
        assert_eq!(eliminate(&mut words, 1 << 63 | 1 << 4, &mut swaps), 1 << 63 | 1 << 4);
        assert_eq!(words, [1 << 63 | 1 << 4, 1 << 63, 1 << 5]);
        assert_eq!(swaps, [(0, 2), (1, 2)]);
    }
}
