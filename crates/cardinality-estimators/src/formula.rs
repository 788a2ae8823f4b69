//! Set formulas as weights of Venn regions, and as coefficients of unions.

use crate::{ParamError, PatternCounts};

/// A linear function of the sizes of the Venn regions of up to eight sets.
///
/// A *region* is a non-empty mask `r`: bit `i` says that its items are in set `i`, and a clear bit that they are not. The
/// value of the formula is `Σ_r w_r·n_r`, for a set expression the number of items for which it is true (`w_r` is 0 or
/// 1). Items in none of the sets are never counted, so `not A` means the union of all sets without `A`.
///
/// Sizes of unions are what sketches estimate, so the formula is also kept as `Σ_T c_T·|∪T|` (inclusion and exclusion).
///
/// # Examples
/// ```
/// use cardinality_estimators::SetFormula;
/// // The intersection of two sets: |A| + |B| − |A ∪ B|.
/// let both = SetFormula::from_membership(2, |sets| sets == 0b11)?;
/// assert_eq!(both.coefficients().collect::<Vec<_>>(), [(0b01, 1), (0b10, 1), (0b11, -1)]);
/// # Ok::<(), cardinality_estimators::ParamError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SetFormula {
    sketches: usize,
    weights: Vec<i64>,
    coefficients: Vec<i64>,
}

impl SetFormula {
    /// The largest weight of a region, in absolute value.
    pub const MAX_WEIGHT: i64 = 1 << 20;

    /// The number of items whose sets satisfy `belongs`; its argument is the mask of the sets that hold the item.
    ///
    /// # Errors
    /// [`ParamError::SetSketches`] unless `1 ≤ sketches ≤ 8`.
    pub fn from_membership(sketches: usize, belongs: impl Fn(usize) -> bool) -> Result<Self, ParamError> {
        let regions = check(sketches)?;
        let weights: Vec<i64> = (0..regions).map(|region| i64::from(region > 0 && belongs(region))).collect();
        Self::from_regions(sketches, &weights)
    }

    /// A weight for every mask `0 .. 2^sketches`, that of mask 0 being 0.
    ///
    /// # Errors
    /// [`ParamError::SetSketches`] unless `1 ≤ sketches ≤ 8`; [`ParamError::Counts`] unless there is one weight a mask;
    /// [`ParamError::Weight`] for weights beyond ±2^20 or a weight of mask 0.
    pub fn from_regions(sketches: usize, weights: &[i64]) -> Result<Self, ParamError> {
        let regions = check(sketches)?;
        if weights.len() != regions {
            return Err(ParamError::Counts { expected: regions, found: weights.len() });
        }
        let refused = |&(mask, &weight): &(usize, &i64)| weight.abs() > Self::MAX_WEIGHT || (mask == 0 && weight != 0);
        if let Some((mask, &weight)) = weights.iter().enumerate().find(refused) {
            return Err(ParamError::Weight { mask, weight });
        }
        Ok(Self { sketches, weights: weights.to_vec(), coefficients: coefficients(weights) })
    }

    /// `Σ c·|∪T|` over pairs of a mask `T` and a coefficient `c`; masks may repeat.
    ///
    /// # Errors
    /// [`ParamError::SetSketches`] unless `1 ≤ sketches ≤ 8`; [`ParamError::Weight`] for a mask that is empty or names a
    /// set that is not there, or when a region's weight exceeds ±2^20.
    pub fn from_unions(sketches: usize, terms: impl IntoIterator<Item = (usize, i64)>) -> Result<Self, ParamError> {
        let regions = check(sketches)?;
        let mut weights = vec![0_i64; regions];
        for (mask, weight) in terms {
            if mask == 0 || mask >= regions || weight.checked_abs().is_none_or(|size| size > Self::MAX_WEIGHT) {
                return Err(ParamError::Weight { mask, weight });
            }
            for region in (1..regions).filter(|region| region & mask != 0) {
                weights[region] += weight;
            }
        }
        Self::from_regions(sketches, &weights)
    }

    /// The number of sets.
    #[must_use]
    pub const fn sketches(&self) -> usize {
        self.sketches
    }

    /// The weight of every region, by mask.
    #[must_use]
    pub fn weights(&self) -> &[i64] {
        &self.weights
    }

    /// The unions that occur, as a mask of their sets, with their coefficients.
    pub fn coefficients(&self) -> impl Iterator<Item = (usize, i64)> + '_ {
        self.coefficients.iter().copied().enumerate().filter(|&(_, coefficient)| coefficient != 0)
    }

    /// The formula that weighs every region by the square of its weight here: what a fixed number of items takes from
    /// the variance.
    pub(crate) fn squared(&self) -> Vec<i64> {
        let squares: Vec<i64> = self.weights.iter().map(|weight| weight * weight).collect();
        coefficients(&squares)
    }

    /// The one union that the formula is, if it is one.
    pub(crate) fn as_union(&self) -> Option<usize> {
        let mut terms = self.coefficients();
        let (union, coefficient) = terms.next()?;
        (coefficient == 1 && terms.next().is_none()).then_some(union)
    }
}

fn check(sketches: usize) -> Result<usize, ParamError> {
    if (1..=PatternCounts::MAX_SKETCHES).contains(&sketches) {
        Ok(1 << sketches)
    } else {
        Err(ParamError::SetSketches { found: sketches })
    }
}

/// The coefficients of unions: `c_T = −Σ_{r ⊇ T̄} (−1)^|r∖T̄|·w_r`, `T̄` being the sets not in `T`.
///
/// For `|∪T|` counts all regions but those within `T̄`, and region sizes are alternating sums of such counts.
fn coefficients(weights: &[i64]) -> Vec<i64> {
    let everything = weights.len() - 1;
    let mut sums = weights.to_vec();
    let mut bit = 1;
    while bit < weights.len() {
        for index in (0..weights.len()).filter(|index| index & bit == 0) {
            sums[index] -= sums[index | bit];
        }
        bit <<= 1;
    }
    (0..weights.len()).map(|union| if union == 0 { 0 } else { -sums[everything ^ union] }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficients_of_unions_give_back_the_weights_of_regions() {
        let weights = [0, 3, -1, 4, 1, -5, 9, 2, 6, -5, 3, 5, 8, -9, 7, 9];
        let formula = SetFormula::from_regions(4, &weights).expect("valid weights");
        for (region, expected) in weights.into_iter().enumerate().skip(1) {
            let weight: i64 = formula.coefficients().filter(|(union, _)| union & region != 0).map(|(_, c)| c).sum();
            assert_eq!(weight, expected);
        }
        assert_eq!(SetFormula::from_unions(4, formula.coefficients()), Ok(formula));
    }

    #[test]
    fn formulas_are_the_textbook_ones() {
        let terms = |belongs: fn(usize) -> bool| {
            SetFormula::from_membership(3, belongs).expect("three sets").coefficients().collect::<Vec<_>>()
        };
        assert_eq!(terms(|_| true), [(7, 1)]);
        assert_eq!(terms(|sets| sets & 1 == 1 && sets & 6 == 0), [(6, -1), (7, 1)]);
        assert_eq!(terms(|sets| sets == 7), [(1, 1), (2, 1), (3, -1), (4, 1), (5, -1), (6, -1), (7, 1)]);
    }

    #[test]
    fn a_region_outside_all_sets_is_refused() {
        assert_eq!(SetFormula::from_regions(1, &[1, 0]), Err(ParamError::Weight { mask: 0, weight: 1 }));
        assert_eq!(SetFormula::from_unions(1, [(2, 1)]), Err(ParamError::Weight { mask: 2, weight: 1 }));
        assert_eq!(SetFormula::from_membership(9, |_| true), Err(ParamError::SetSketches { found: 9 }));
    }
}
