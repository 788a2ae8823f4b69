//! One budget for all levels.

use dp_noise::{ParameterError, Rho};

use crate::error::ReleaseError;

/// How the budget of a release is divided among the levels of a stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum BudgetSplit {
    /// The same ρ for every level.
    #[default]
    Uniform,
    /// ρ in proportion to whole numbers from 1 on, one a level: a larger weight means less noise.
    Weights(Vec<u32>),
}

impl BudgetSplit {
    /// The ρ of every level, each rounded down, so that their sum is at most `rho`.
    pub(super) fn parts(&self, rho: Rho, levels: usize) -> Result<Vec<Rho>, ReleaseError> {
        match self {
            Self::Uniform => {
                let parts = u32::try_from(levels).unwrap_or(u32::MAX);
                Ok(vec![rho.divide(parts)?; levels])
            }
            Self::Weights(weights) if weights.len() != levels || weights.contains(&0) => Err(ReleaseError::Split {
                expected: levels,
                found: weights.iter().filter(|&&weight| weight > 0).count(),
            }),
            Self::Weights(weights) => {
                let total = weights.iter().map(|&weight| u64::from(weight)).sum();
                weights.iter().map(|&weight| share(rho, weight, total).map_err(ReleaseError::from)).collect()
            }
        }
    }
}

/// `rho·weight/total`, rounded down.
fn share(rho: Rho, weight: u32, total: u64) -> Result<Rho, ParameterError> {
    let (weight, total) = (f64::from(weight), exact(total));
    let product = rho.get() * weight;
    // What rounding took off the product, exactly.
    let rest = rho.get().mul_add(weight, -product);
    let mut part = product / total;
    // product + rest − part·total, up to a rounding that keeps its sign unless it is 0.
    while product - part * total + rest - part.mul_add(total, -(part * total)) < 0.0 {
        part = part.next_down();
    }
    Rho::new(part)
}

/// A sum of at most 64 weights below 2^32.
fn exact(total: u64) -> f64 {
    crate::combiner::wide(i128::from(total))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// An f64 as an integer times 2^-200, exactly, for numbers from 2^-40 to 2^16 it is far above one.
    fn scaled(value: f64) -> u128 {
        let bits = value.to_bits();
        let mantissa = u128::from(bits & ((1 << 52) - 1) | 1 << 52);
        // value = mantissa · 2^(exponent − 1075); in units of 2^−100.
        let shift = i64::try_from(bits >> 52).unwrap() - 1075 + 100;
        u32::try_from(shift).map_or_else(|_| mantissa >> shift.unsigned_abs().min(127), |left| mantissa << left)
    }

    proptest! {
        #[test]
        fn shares_never_exceed_the_whole(
            rho in 1e-3_f64..100.0, weights in proptest::collection::vec(1_u32..1000, 1..20),
        ) {
            let whole = Rho::new(rho).unwrap();
            let parts = BudgetSplit::Weights(weights.clone()).parts(whole, weights.len()).unwrap();
            let total: u64 = weights.iter().map(|&weight| u64::from(weight)).sum();
            let mut sum = 0;
            for (part, &weight) in parts.iter().zip(&weights) {
                let (exact, found) = (scaled(rho) * u128::from(weight), scaled(part.get()) * u128::from(total));
                prop_assert!(found <= exact, "rounded up");
                prop_assert!(exact - found <= exact >> 50, "rounded too far");
                sum += scaled(part.get());
            }
            prop_assert!(sum <= scaled(rho));
        }
    }

    #[test]
    fn exact_shares_stay_exact() {
        let parts = BudgetSplit::Weights(vec![1, 2, 4, 1]).parts(Rho::new(1.0).unwrap(), 4).unwrap();
        assert_eq!(parts.iter().map(|part| part.get()).collect::<Vec<_>>(), [0.125, 0.25, 0.5, 0.125]);
        let uniform = BudgetSplit::Uniform.parts(Rho::new(1.0).unwrap(), 4).unwrap();
        assert_eq!(uniform.iter().map(|part| part.get()).collect::<Vec<_>>(), [0.25; 4]);
    }

    #[test]
    fn every_level_needs_a_weight() {
        let rho = Rho::new(1.0).unwrap();
        assert!(matches!(
            BudgetSplit::Weights(vec![1, 0]).parts(rho, 2),
            Err(ReleaseError::Split { expected: 2, found: 1 })
        ));
        assert!(BudgetSplit::Weights(vec![1]).parts(rho, 2).is_err());
    }
}
