//! Matrices against versions that look at one element at a time.

mod support;

use gf2_linalg::{BitMatrix, BitVector};
use support::{Slow, of_rank, scrambled, slow, slow_mul, slow_rref, slow_vec};

/// Sizes around words, lines and strips.
const SIZES: [usize; 13] = [0, 1, 2, 5, 31, 63, 64, 65, 127, 129, 200, 511, 520];

fn shapes() -> impl Iterator<Item = (usize, usize)> {
    SIZES.into_iter().flat_map(|rows| SIZES.into_iter().map(move |columns| (rows, columns)))
}

/// Dense, sparse and low-rank matrices of every shape.
fn matrices() -> impl Iterator<Item = BitMatrix> {
    shapes().enumerate().flat_map(|(seed, (rows, columns))| {
        let seed = seed as u64;
        [
            scrambled(rows, columns, 8, seed),
            scrambled(rows, columns, 1, seed + 1000),
            of_rank(rows, columns, rows.min(columns) / 2, seed + 2000),
        ]
    })
}

#[test]
fn transposing_exchanges_the_indices() {
    for a in matrices() {
        let transposed = a.transpose().expect("small");
        assert_eq!((transposed.rows(), transposed.columns()), (a.columns(), a.rows()));
        let (a, transposed) = (slow(&a), slow(&transposed));
        assert!(a.iter().enumerate().all(|(i, row)| row.iter().enumerate().all(|(j, bit)| transposed[j][i] == *bit)));
    }
}

#[test]
fn the_reduced_form_is_that_of_gauss_and_jordan() {
    for a in matrices() {
        let mut reduced = slow(&a);
        let pivots = slow_rref(&mut reduced, a.columns());
        let form = a.rref();
        assert_eq!(form.pivots(), pivots, "{a:?}");
        assert!(slow(form.matrix()) == reduced, "{a:?}");
        assert_eq!((form.rank(), a.rank(), a.ple().rank()), (pivots.len(), pivots.len(), pivots.len()));
    }
}

#[test]
fn a_form_that_skips_whole_words_of_columns_is_right() {
    // Pivots only in columns 300 ..; then only in two far words.
    for (from, width) in [(300, 100), (64, 3), (1000, 65)] {
        let right = scrambled(90, width, 8, from as u64);
        let a = BitMatrix::zeros(90, from).expect("small").beside(&right).expect("small");
        let mut reduced = slow(&a);
        let pivots = slow_rref(&mut reduced, a.columns());
        assert_eq!(a.rref().pivots(), pivots);
        assert!(slow(a.rref().matrix()) == reduced);
    }
}

#[test]
fn products_are_sums_of_products() {
    let sizes = [0, 1, 3, 63, 64, 65, 130, 513];
    for (seed, rows) in sizes.into_iter().enumerate() {
        for inner in sizes {
            for columns in sizes {
                let (a, b) = (scrambled(rows, inner, 8, seed as u64), scrambled(inner, columns, 5, seed as u64 + 9));
                assert!(slow(&a.mul(&b).expect("fits")) == slow_mul(&slow(&a), &slow(&b), columns), "{a:?} {b:?}");
            }
        }
    }
}

#[test]
fn products_with_vectors_are_products_with_narrow_matrices() {
    for (seed, (rows, columns)) in shapes().enumerate() {
        let a = scrambled(rows, columns, 8, seed as u64);
        let x = BitVector::from_bits(scrambled(1, columns, 8, 7).row(0).expect("one row")).expect("short");
        let y = BitVector::from_bits(scrambled(1, rows, 8, 8).row(0).expect("one row")).expect("short");
        let column: Slow = slow_vec(&x).into_iter().map(|bit| vec![bit]).collect();
        let product = slow_mul(&slow(&a), &column, 1).concat();
        assert_eq!(slow_vec(&a.mul_vec(&x).expect("fits")), product);
        let product = slow_mul(&vec![slow_vec(&y)], &slow(&a), columns).concat();
        assert_eq!(slow_vec(&a.vec_mul(&y).expect("fits")), product);
    }
}

#[test]
fn parts_and_neighbours_are_those_of_single_elements() {
    let a = scrambled(9, 300, 8, 1);
    let all = slow(&a);
    for (start, end) in [(0, 0), (0, 300), (1, 64), (63, 65), (64, 128), (65, 300), (130, 131), (299, 300), (300, 300)]
    {
        let part = a.part(2..7, start..end).expect("inside");
        let expected: Slow = all[2..7].iter().map(|row| row[start..end].to_vec()).collect();
        assert!(slow(&part) == expected, "{start}..{end}");
        let (left, right) = (a.part(0..9, 0..start).expect("inside"), a.part(0..9, start..300).expect("inside"));
        assert_eq!(left.beside(&right).expect("as many rows"), a);
    }
}

#[test]
fn rows_are_exchanged_and_added() {
    let a = scrambled(5, 70, 8, 3);
    let rows = slow(&a);
    for (i, j) in (0..5).flat_map(|i| (0..5).map(move |j| (i, j))) {
        let (mut swapped, mut expected) = (a.clone(), rows.clone());
        swapped.swap_rows(i, j).expect("inside");
        expected.swap(i, j);
        assert_eq!(slow(&swapped), expected);
        let (mut added, mut expected) = (a.clone(), rows.clone());
        added.add_row(i, j).expect("inside");
        for (bit, other) in expected[j].iter_mut().zip(&rows[i]) {
            *bit ^= other;
        }
        assert_eq!(slow(&added), expected);
    }
}
