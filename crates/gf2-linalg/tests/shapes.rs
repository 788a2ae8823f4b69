//! Operands that do not fit are refused and stay as they were; hash-defined columns.

mod support;

use gf2_linalg::{BitMatrix, BitVector, EncodingError, HashColumns, InverseError, MAX_BITS, MAX_DIMENSION, ShapeError};
use support::scrambled;

fn vector(bits: &str) -> BitVector {
    bits.parse().expect("bits")
}

#[test]
fn vectors_of_different_lengths_do_not_mix() {
    let (mut a, b) = (vector("101"), vector("1011"));
    let error = ShapeError::Length { expected: 3, found: 4 };
    assert_eq!(a.xor_assign(&b), Err(error));
    assert_eq!(a.or_assign(&b), Err(error));
    assert_eq!(a.and_assign(&b), Err(error));
    assert_eq!(a.and_popcount(&b), Err(error));
    assert_eq!(a.or_popcount(&b), Err(error));
    assert_eq!(a.xor_popcount(&b), Err(error));
    assert_eq!(a.dot(&b), Err(error));
    assert_eq!(a.joint_counts(&b), Err(error));
    assert_eq!(a, vector("101"));
    assert_eq!(error.to_string(), "expected a vector of 3 bits, found 4");
}

#[test]
fn bits_behind_the_last_are_not_there() {
    let mut a = vector("101");
    assert_eq!((a.get(2), a.get(3), a.get(64)), (Some(true), None, None));
    assert_eq!(a.set(3, true), Err(ShapeError::Index { index: 3, length: 3 }));
    assert_eq!(a.toggle(usize::MAX), Err(ShapeError::Index { index: usize::MAX, length: 3 }));
    assert_eq!(a.count_ones_in(1..4), Err(ShapeError::Index { index: 4, length: 3 }));
    let backwards = core::ops::Range { start: 2, end: 1 };
    assert_eq!(a.count_ones_in(backwards), Err(ShapeError::Index { index: 2, length: 1 }));
    assert_eq!((a.count_ones_in(0..3), a.count_ones_in(1..2), a.count_ones_in(3..3)), (Ok(2), Ok(0), Ok(0)));
    a.set(0, false).expect("inside");
    a.set(1, true).expect("inside");
    a.toggle(2).expect("inside");
    assert_eq!(a, vector("010"));
}

#[test]
fn matrices_of_other_shapes_do_not_mix() {
    let (mut a, b) = (scrambled(3, 4, 8, 1), scrambled(5, 4, 8, 2));
    let before = a.clone();
    assert_eq!(a.mul(&b), Err(ShapeError::Rows { expected: 4, found: 5 }));
    assert_eq!(a.xor_assign(&b), Err(ShapeError::Rows { expected: 3, found: 5 }));
    assert_eq!(a.xor_assign(&scrambled(3, 5, 8, 2)), Err(ShapeError::Columns { expected: 4, found: 5 }));
    assert_eq!(a.beside(&b), Err(ShapeError::Rows { expected: 3, found: 5 }));
    assert_eq!(a.mul_vec(&vector("101")), Err(ShapeError::Length { expected: 4, found: 3 }));
    assert_eq!(a.vec_mul(&vector("1010")), Err(ShapeError::Length { expected: 3, found: 4 }));
    assert_eq!(a.solve(&vector("1010")), Err(ShapeError::Length { expected: 3, found: 4 }));
    assert_eq!(a.ple().solve(&vector("1010")), Err(ShapeError::Length { expected: 3, found: 4 }));
    assert_eq!(a.inverse(), Err(InverseError::NotSquare { rows: 3, columns: 4 }));
    assert_eq!(a.swap_rows(0, 3), Err(ShapeError::Index { index: 3, length: 3 }));
    assert_eq!(a.add_row(3, 0), Err(ShapeError::Index { index: 3, length: 3 }));
    assert_eq!(a.set(0, 4, true), Err(ShapeError::Index { index: 4, length: 4 }));
    assert_eq!(a.part(0..4, 0..4), Err(ShapeError::Index { index: 4, length: 3 }));
    assert_eq!((a.get(3, 0), a.get(0, 4), a.row(3)), (None, None, None));
    assert!(a.row_mut(3).is_none());
    assert_eq!(a, before);
}

#[test]
fn sizes_have_an_end() {
    let most = MAX_DIMENSION;
    let too_large = |rows: usize, columns: usize| ShapeError::TooLarge { rows: rows as u64, columns: columns as u64 };
    for (rows, columns) in [(most + 1, 0), (0, most + 1), (most, most), (usize::MAX, usize::MAX)] {
        assert_eq!(BitMatrix::zeros(rows, columns), Err(too_large(rows, columns)));
        assert_eq!(BitMatrix::from_words(rows, columns, &[]), Err(too_large(rows, columns).into()));
    }
    assert_eq!(BitMatrix::identity(most), Err(too_large(most, most)));
    assert_eq!(BitVector::zeros(usize::MAX), Err(ShapeError::TooLong { bits: usize::MAX as u64 }));
    let found = EncodingError::Words { expected: MAX_BITS / 64, found: 0 };
    assert_eq!(BitVector::from_words(Vec::new(), usize::try_from(MAX_BITS).expect("64 bits")), Err(found));
}

#[test]
fn text_that_is_no_bits_is_refused() {
    let at = |position, found| EncodingError::Character { position, found };
    assert_eq!("01x".parse::<BitVector>(), Err(at(2, 'x')));
    assert_eq!("0é1".parse::<BitVector>(), Err(at(1, 'é')));
    assert_eq!("01\n0 ".parse::<BitMatrix>(), Err(at(1, ' ')));
    assert_eq!("01\n0".parse::<BitMatrix>(), Err(ShapeError::Length { expected: 2, found: 1 }.into()));
    assert_eq!("".parse::<BitMatrix>(), Ok(BitMatrix::zeros(0, 0).expect("small")));
    let a = scrambled(7, 70, 8, 1);
    assert_eq!(a.to_string().parse::<BitMatrix>(), Ok(a));
}

#[test]
fn nothing_but_the_shape_is_shown_for_debugging() {
    assert_eq!(format!("{:?}", vector("101")), "BitVector { length: 3, .. }");
    assert_eq!(format!("{:?}", scrambled(2, 3, 8, 1)), "BitMatrix { rows: 2, columns: 3, .. }");
}

/// Two cells for an item, of which the second may be too large for the matrix.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "items are taken by reference")]
fn cells(item: &u64) -> [usize; 2] {
    [(item % 7) as usize, (item % 11) as usize]
}

#[test]
fn sparse_products_are_those_of_the_dense_matrix() {
    let columns = HashColumns::new(11, cells);
    let items: Vec<u64> = (0..40).map(|item| item * item + 3).collect();
    let dense = columns.to_dense(&items).expect("all cells are there");
    assert_eq!((dense.rows(), dense.columns()), (11, 40));
    for seed in 0..20 {
        let chosen = BitVector::from_bits(scrambled(1, 40, 8, seed).row(0).expect("one")).expect("short");
        let present: Vec<u64> = chosen.bits().iter_ones().map(|index| items[index]).collect();
        assert_eq!(columns.mul_sparse(&present), dense.mul_vec(&chosen));
    }
}

#[test]
fn items_may_be_slices_and_cells_may_repeat() {
    let columns = HashColumns::new(5, |item: &[u8]| item.iter().map(|byte| usize::from(*byte)).collect::<Vec<_>>());
    let items: [&[u8]; 3] = [&[0, 1, 1], &[4], &[]];
    assert_eq!(columns.mul_sparse(items).expect("inside").to_string(), "10001");
    assert_eq!(columns.to_dense(items).expect("inside").to_string(), "100\n000\n000\n000\n010");
}

#[test]
fn a_cell_that_is_not_there_changes_nothing() {
    let columns = HashColumns::new(7, cells);
    let mut sums = vector("1010101");
    let error = ShapeError::Index { index: 10, length: 7 };
    assert_eq!(columns.add_column(&10, &mut sums), Err(error));
    assert_eq!(sums, vector("1010101"));
    assert_eq!(columns.mul_sparse(&[1, 10]), Err(error));
    assert_eq!(columns.to_dense(&[1, 10]), Err(error));
    let mut short = vector("1");
    assert_eq!(columns.add_column(&1, &mut short), Err(ShapeError::Length { expected: 7, found: 1 }));
}
