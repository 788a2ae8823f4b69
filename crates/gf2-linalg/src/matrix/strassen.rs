//! Products of large matrices by seven products of their quarters.

use super::{BitMatrix, product};
use crate::xor_into;

/// Matrices of at least so many rows and columns are split. Measured: at 8192 seven products of half the size and 15 sums
/// take as long as the product by table look-ups, at 16384 splits down to 8192 save a tenth.
const SPLIT: usize = 8192;

/// `left · right`; the shapes fit, and the product is not too large.
pub(super) fn multiply(left: &BitMatrix, right: &BitMatrix) -> BitMatrix {
    multiply_above(SPLIT, left, right)
}

/// As [`multiply`], with splits down to `least` rows and columns.
fn multiply_above(least: usize, left: &BitMatrix, right: &BitMatrix) -> BitMatrix {
    if left.rows.min(left.columns).min(right.columns) < least.max(2) {
        return product::multiply(left, right);
    }
    let times = |left: &BitMatrix, right: &BitMatrix| multiply_above(least, left, right);
    let rows = left.rows.div_ceil(2);
    let (inner, words) = (left.row_words().div_ceil(2), right.row_words().div_ceil(2));
    let a = |i: usize, j: usize| left.quarter((i * rows, rows), (j * inner, inner));
    let b = |i: usize, j: usize| right.quarter((i * 64 * inner, 64 * inner), (j * words, words));
    let mut product = BitMatrix::new(left.rows, right.columns);

    // S, T, P and U as in [BDPZ09], section 2, where over GF(2) every sign is a plus.
    let (a11, b11) = (a(0, 0), b(0, 0));
    let p1 = times(&a11, &b11);
    product.put(0, 0, &sum(times(&a(0, 1), &b(1, 0)), &p1));
    let s1 = sum(a(1, 0), &a(1, 1));
    let t1 = sum(b(0, 1), &b11);
    let p5 = times(&s1, &t1);
    let s2 = sum(s1, &a11);
    let t2 = sum(t1, &b(1, 1));
    let u2 = sum(times(&s2, &t2), &p1);
    let u3 = sum(times(&sum(a11, &a(1, 0)), &sum(b(1, 1), &b(0, 1))), &u2);
    product.put(rows, words, &sum(u3.clone(), &p5));
    product.put(0, words, &sum(sum(times(&sum(s2, &a(0, 1)), &b(1, 1)), &u2), &p5));
    product.put(rows, 0, &sum(times(&a(1, 1), &sum(t2, &b(1, 0))), &u3));
    product
}

/// The sum of two matrices of one shape.
fn sum(mut left: BitMatrix, right: &BitMatrix) -> BitMatrix {
    xor_into(&mut left.words, &right.words);
    left
}

impl BitMatrix {
    /// `count` rows and words from the first ones on; 0 outside the matrix.
    fn quarter(&self, (top, rows): (usize, usize), (left, words): (usize, usize)) -> Self {
        let mut quarter = Self::new(rows, 64 * words);
        for row in top..self.rows.min(top + rows) {
            let from = &self.words(row)[left..];
            quarter.row_words_mut(row - top).iter_mut().zip(from).for_each(|(into, from)| *into = *from);
        }
        quarter
    }

    /// Writes a quarter to rows `top ..` and words `left ..`, as far as they are there.
    fn put(&mut self, top: usize, left: usize, quarter: &Self) {
        for row in top..self.rows.min(top + quarter.rows) {
            let into = &mut self.row_words_mut(row)[left..];
            into.iter_mut().zip(quarter.words(row - top)).for_each(|(into, from)| *into = *from);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A matrix without pattern.
    fn scrambled(rows: usize, columns: usize, seed: u64) -> BitMatrix {
        let mut state = seed;
        let mut matrix = BitMatrix::new(rows, columns);
        for row in 0..rows {
            for column in 0..columns {
                state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                matrix.set(row, column, state >> 63 == 1).expect("inside");
            }
        }
        matrix
    }

    #[test]
    fn splitting_gives_the_product_by_look_ups() {
        let cases = [
            (2, 2, 2, 2),
            (3, 65, 129, 2),
            (64, 64, 64, 33),
            (65, 70, 127, 20),
            (130, 200, 190, 65),
            (127, 321, 63, 40),
        ];
        for (rows, inner, columns, least) in cases {
            let (left, right) = (scrambled(rows, inner, 1), scrambled(inner, columns, 2));
            let whole = product::multiply(&left, &right);
            assert!(multiply_above(least, &left, &right) == whole, "{rows} x {inner} x {columns} from {least}");
        }
    }
}
