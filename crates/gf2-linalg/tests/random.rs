//! The laws of random matrices.

#![cfg(feature = "rand_core")]
#![expect(clippy::cast_precision_loss, reason = "counts of a test are far below 2^53")]

mod support;

use std::collections::BTreeMap;

use gf2_linalg::rand_core::SeedableRng;
use gf2_linalg::{BitMatrix, BitVector};
use rand_xoshiro::Xoshiro256PlusPlus;
use sketch_testkit::{FALSE_ALARM, chi_square_above};

/// Every matrix of `size` rows and columns, by the words of its rows.
fn all(size: usize) -> impl Iterator<Item = BitMatrix> {
    (0..1_u64 << (size * size)).map(move |bits| {
        let rows: Vec<u64> = (0..size).map(|row| bits >> (row * size) & ((1 << size) - 1)).collect();
        BitMatrix::from_words(size, size, &rows).expect("small")
    })
}

fn is_unit_triangular(matrix: &BitMatrix, is_zero: fn(usize, usize) -> bool) -> bool {
    let places = (0..matrix.rows()).flat_map(|i| (0..matrix.rows()).map(move |j| (i, j)));
    places.into_iter().all(|(i, j)| {
        let bit = matrix.get(i, j).expect("inside");
        if i == j { bit } else { !(is_zero(i, j) && bit) }
    })
}

fn permutations(size: usize) -> Vec<Vec<usize>> {
    if size == 0 {
        return vec![Vec::new()];
    }
    let shorter = permutations(size - 1);
    let grown = shorter.iter().flat_map(|order| {
        (0..size).map(move |place| {
            let mut order = order.clone();
            order.insert(place, size - 1);
            order
        })
    });
    grown.collect()
}

/// The theorem behind `random_invertible`, by enumeration: weighted with 2^−inversions, the products L · P · U hit every
/// invertible matrix equally often.
#[test]
fn triangular_factors_around_a_weighted_permutation_are_uniform() {
    for (size, group) in [(1, 1_u64), (2, 6), (3, 168)] {
        let lower: Vec<BitMatrix> = all(size).filter(|m| is_unit_triangular(m, |i, j| j > i)).collect();
        let upper: Vec<BitMatrix> = all(size).filter(|m| is_unit_triangular(m, |i, j| j < i)).collect();
        let mut weights: BTreeMap<Vec<u64>, u64> = BTreeMap::new();
        for order in permutations(size) {
            let pairs = (0..size).flat_map(|i| (i + 1..size).map(move |j| (i, j)));
            let inversions = pairs.filter(|&(i, j)| order[i] > order[j]).count();
            let mut permutation = BitMatrix::zeros(size, size).expect("small");
            for (row, &place) in order.iter().enumerate() {
                permutation.set(row, place, true).expect("inside");
            }
            for left in &lower {
                for right in &upper {
                    let product = left.mul(&permutation).and_then(|part| part.mul(right)).expect("fits");
                    *weights.entry(product.to_words()).or_default() += 1 << (size * (size - 1) / 2 - inversions);
                }
            }
        }
        assert_eq!(weights.len() as u64, group);
        let first = weights.values().next().copied();
        assert!(weights.values().all(|weight| Some(*weight) == first), "{size}");
    }
}

/// Fails with probability 1e-6 when all matrices are equally likely, by Pearson's statistic.
fn assert_uniform(counts: &BTreeMap<Vec<u64>, u64>, cells: u64, draws: u64) {
    assert_eq!(counts.len() as u64, cells, "every matrix is drawn");
    let expected = draws as f64 / cells as f64;
    let statistic: f64 = counts.values().map(|count| (*count as f64 - expected).powi(2) / expected).sum();
    assert!(chi_square_above(statistic, cells - 1) > FALSE_ALARM, "{statistic}");
}

#[test]
fn random_invertible_matrices_are_uniform() {
    let mut rng = Xoshiro256PlusPlus::from_seed([3; 32]);
    for (size, cells) in [(2, 6), (3, 168)] {
        let mut counts = BTreeMap::new();
        let draws = 200 * cells;
        for _ in 0..draws {
            let matrix = BitMatrix::random_invertible(size, &mut rng).expect("small");
            *counts.entry(matrix.to_words()).or_default() += 1;
        }
        assert_uniform(&counts, cells, draws);
    }
}

#[test]
fn random_invertible_matrices_of_any_size_are_invertible() {
    let mut rng = Xoshiro256PlusPlus::from_seed([4; 32]);
    for size in [0, 1, 5, 63, 64, 65, 128, 200, 600] {
        let matrix = BitMatrix::random_invertible(size, &mut rng).expect("small");
        assert_eq!((matrix.rows(), matrix.columns(), matrix.rank()), (size, size, size));
    }
}

/// The sum of 160,000 fair bits deviates by more than 4.9 standard deviations of 200 with probability below 1e-6.
#[test]
fn random_bits_are_fair_and_stay_inside() {
    let mut rng = Xoshiro256PlusPlus::from_seed([5; 32]);
    let matrix = BitMatrix::random(400, 400, &mut rng).expect("small");
    let ones: usize = (0..400).map(|row| matrix.row(row).expect("inside").count_ones()).sum();
    assert!(ones.abs_diff(80_000) < 980, "{ones}");
    assert_eq!(BitMatrix::from_words(400, 400, &matrix.to_words()).expect("no bit behind the last"), matrix);
    let vector = BitVector::random(160_001, &mut rng).expect("short");
    assert!(vector.count_ones().abs_diff(80_000) < 985);
    assert!(BitVector::from_words(vector.words().to_vec(), 160_001).is_ok());
}
