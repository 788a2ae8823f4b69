//! Matrices as lists of lists of bits, and the obvious algorithms on them.

#![allow(dead_code, reason = "each test uses some of it")]

use gf2_linalg::{BitMatrix, BitVector};

/// A matrix whose every element is a `bool`.
pub(crate) type Slow = Vec<Vec<bool>>;

pub(crate) fn slow(matrix: &BitMatrix) -> Slow {
    (0..matrix.rows()).map(|i| (0..matrix.columns()).map(|j| matrix.get(i, j).expect("inside")).collect()).collect()
}

pub(crate) fn slow_vec(vector: &BitVector) -> Vec<bool> {
    vector.bits().iter().by_vals().collect()
}

pub(crate) fn slow_mul(a: &Slow, b: &Slow, columns: usize) -> Slow {
    let element = |row: &[bool], j: usize| row.iter().zip(b).filter(|(x, row)| **x && row[j]).count() % 2 == 1;
    a.iter().map(|row| (0..columns).map(|j| element(row, j)).collect()).collect()
}

/// Gauss–Jordan elimination, one element at a time; returns the pivots.
pub(crate) fn slow_rref(a: &mut Slow, columns: usize) -> Vec<usize> {
    let mut pivots = Vec::new();
    for column in 0..columns {
        let rank = pivots.len();
        let Some(found) = (rank..a.len()).find(|&row| a[row][column]) else { continue };
        a.swap(rank, found);
        let pivot = a[rank].clone();
        for (row, other) in a.iter_mut().enumerate() {
            if row != rank && other[column] {
                other.iter_mut().zip(&pivot).for_each(|(x, y)| *x ^= *y);
            }
        }
        pivots.push(column);
    }
    pivots
}

/// The next of a sequence without pattern.
pub(crate) fn scramble(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ *state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// A matrix without pattern: every bit is 1 with probability `density / 16`.
pub(crate) fn scrambled(rows: usize, columns: usize, density: u64, seed: u64) -> BitMatrix {
    let mut state = seed;
    let mut matrix = BitMatrix::zeros(rows, columns).expect("small");
    for row in 0..rows {
        for mut bit in matrix.row_mut(row).expect("inside") {
            *bit = scramble(&mut state) % 16 < density;
        }
    }
    matrix
}

/// A matrix of the given rank or less, with its zeros and repetitions in no order.
pub(crate) fn of_rank(rows: usize, columns: usize, rank: usize, seed: u64) -> BitMatrix {
    let (left, right) = (scrambled(rows, rank, 8, seed), scrambled(rank, columns, 8, !seed));
    left.mul(&right).expect("the shapes fit")
}
