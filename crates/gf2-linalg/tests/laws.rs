//! Laws of linear algebra on random matrices.

mod support;

use gf2_linalg::{BitMatrix, BitVector, InverseError, Solution};
use proptest::prelude::*;
use support::{of_rank, scrambled};

fn row(matrix: &BitMatrix, index: usize) -> BitVector {
    BitVector::from_bits(matrix.row(index).expect("inside")).expect("short")
}

/// A matrix with any density, and often with a rank below its size.
fn matrix(rows: usize, columns: usize) -> impl Strategy<Value = BitMatrix> {
    (any::<u64>(), 0..=20_u64, 0..=rows.min(columns)).prop_map(move |(seed, density, rank)| match density {
        density @ 0..=16 => scrambled(rows, columns, density, seed),
        _ => of_rank(rows, columns, rank, seed),
    })
}

fn any_matrix() -> impl Strategy<Value = BitMatrix> {
    (0..150_usize, 0..150_usize).prop_flat_map(|(rows, columns)| matrix(rows, columns))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn products_associate_and_distribute(
        (a, b, c, d) in (0..140_usize, 0..140_usize, 0..140_usize, 0..140_usize)
            .prop_flat_map(|(i, j, k, l)| (matrix(i, j), matrix(j, k), matrix(k, l), matrix(k, l)))
    ) {
        let ab = a.mul(&b).expect("fits");
        prop_assert!(ab.mul(&c).expect("fits") == a.mul(&b.mul(&c).expect("fits")).expect("fits"));
        let (mut sum, mut products) = (c.clone(), ab.mul(&c).expect("fits"));
        sum.xor_assign(&d).expect("one shape");
        products.xor_assign(&ab.mul(&d).expect("fits")).expect("one shape");
        prop_assert!(ab.mul(&sum).expect("fits") == products);
    }

    #[test]
    fn transposing_twice_changes_nothing_and_turns_products_round(
        (a, b) in (0..150_usize, 0..150_usize, 0..150_usize).prop_flat_map(|(i, j, k)| (matrix(i, j), matrix(j, k)))
    ) {
        let turned = |matrix: &BitMatrix| matrix.transpose().expect("small");
        prop_assert!(turned(&turned(&a)) == a);
        prop_assert!(turned(&a.mul(&b).expect("fits")) == turned(&b).mul(&turned(&a)).expect("fits"));
    }

    #[test]
    fn rows_and_columns_have_one_rank(a in any_matrix()) {
        prop_assert_eq!(a.rank(), a.transpose().expect("small").rank());
    }

    #[test]
    fn the_kernel_is_mapped_to_zero_and_has_the_right_dimension(a in any_matrix()) {
        let kernel = a.nullspace().expect("small");
        prop_assert_eq!(kernel.rows(), a.columns() - a.rank());
        prop_assert_eq!(kernel.rank(), kernel.rows());
        prop_assert!(a.mul(&kernel.transpose().expect("small")).expect("fits").is_zero());
    }

    #[test]
    fn factors_multiply_to_the_matrix(a in any_matrix()) {
        let ple = a.ple();
        let product = ple.lower().mul(ple.echelon()).expect("fits");
        let mut seen = vec![false; a.rows()];
        for (i, &place) in ple.row_order().iter().enumerate() {
            prop_assert_eq!(product.row(i), a.row(place));
            prop_assert!(!std::mem::replace(&mut seen[place], true));
        }
        for i in 0..a.rows() {
            for j in i..ple.rank() {
                prop_assert_eq!(ple.lower().get(i, j), Some(i == j));
            }
        }
        for (i, &pivot) in ple.pivots().iter().enumerate() {
            prop_assert_eq!(ple.echelon().row(i).expect("a row").first_one(), Some(pivot));
        }
        let form = a.rref();
        prop_assert_eq!(form.pivots(), ple.pivots());
    }

    #[test]
    fn what_is_said_to_solve_does((a, pick) in (any_matrix(), any::<u64>())) {
        let x = row(&scrambled(1, a.columns(), 8, pick), 0);
        let right = a.mul_vec(&x).expect("fits");
        let solution = a.solve(&right).expect("fits");
        let found = solution.particular().expect("x is one");
        prop_assert!(a.mul_vec(found).expect("fits") == right);
        let by_factors = a.ple().solve(&right).expect("fits");
        prop_assert_eq!(by_factors.as_ref(), Some(found));
        match &solution {
            Solution::Inconsistent => prop_assert!(false, "x is one"),
            Solution::Unique(found) => prop_assert!(*found == x && a.rank() == a.columns()),
            Solution::Affine(set) => {
                prop_assert_eq!(set.dimension(), a.columns() - a.rank());
                prop_assert!(set.dimension() > 0);
                prop_assert_eq!(set.form(), &a.rref());
                // x differs from the particular solution by a vector of the kernel.
                let kernel = set.kernel().expect("small");
                let mut difference = x;
                difference.xor_assign(found).expect("one length");
                let more = BitMatrix::from_rows(a.columns(), &[difference]).expect("small");
                let both = kernel.transpose().expect("small").beside(&more.transpose().expect("small"));
                prop_assert_eq!(both.expect("small").rank(), kernel.rows());
            }
        }
    }

    #[test]
    fn a_system_without_solution_is_told((a, pick) in (any_matrix(), any::<u64>())) {
        let right = row(&scrambled(1, a.rows(), 8, pick), 0);
        let side = BitMatrix::from_rows(a.rows(), std::slice::from_ref(&right)).expect("small");
        let joined = a.beside(&side.transpose().expect("small")).expect("as many rows");
        let solvable = joined.rank() == a.rank();
        prop_assert_eq!(a.solve(&right).expect("fits").particular().is_some(), solvable);
        prop_assert_eq!(a.ple().solve(&right).expect("fits").is_some(), solvable);
    }

    #[test]
    fn inverses_are_inverse(a in (0..140_usize).prop_flat_map(|size| matrix(size, size))) {
        let size = a.rows();
        match a.inverse() {
            Ok(inverse) => {
                let one = BitMatrix::identity(size).expect("small");
                prop_assert!(a.mul(&inverse).expect("fits") == one);
                prop_assert!(inverse.mul(&a).expect("fits") == one);
            }
            Err(error) => prop_assert_eq!(error, InverseError::Singular { expected: size, found: a.rank() }),
        }
        prop_assert_eq!(a.inverse().is_ok(), a.rank() == size);
    }
}
