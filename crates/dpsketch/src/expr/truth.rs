//! Truth over the regions that up to eight sets cut the world into.

use super::MAX_SETS;

/// Regions of eight sets, the outside included.
const REGIONS: usize = 1 << MAX_SETS;

/// For each region whether it belongs to a set. Region `A` is what lies in exactly the sets whose bit is one in `A`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Truth([u64; REGIONS / 64]);

impl Truth {
    pub(super) const NONE: Self = Self([0; REGIONS / 64]);

    /// The set number `index` itself: all regions inside it.
    pub(super) fn of_set(index: usize) -> Self {
        Self::from_regions(|region| region >> index & 1 == 1)
    }

    pub(super) fn from_regions(belongs: impl Fn(usize) -> bool) -> Self {
        let mut truth = Self::NONE;
        for region in (0..REGIONS).filter(|region| belongs(*region)) {
            truth.0[region / 64] |= 1 << (region % 64);
        }
        truth
    }

    pub(super) fn contains(&self, region: usize) -> bool {
        self.0[region / 64] >> (region % 64) & 1 == 1
    }

    pub(super) fn not(self) -> Self {
        Self(self.0.map(|word| !word))
    }

    /// Joins two truths region by region.
    pub(super) fn join(mut self, other: Self, rule: impl Fn(u64, u64) -> u64) -> Self {
        for (word, other) in self.0.iter_mut().zip(other.0) {
            *word = rule(*word, other);
        }
        self
    }
}

/// The coefficients `c_S` of `Σ_S c_S |∪S|`, indexed by the bit mask of `S`; that of the empty `S` is 0.
///
/// `|∪S|` counts region `A` exactly when `A ∩ S ≠ ∅`, that is, unless `S ⊆ Aᶜ`. So for `h(B) = Σ_{S ⊆ B} c_S` the sum
/// counts region `A` as often as `h(all) − h(Aᶜ)`, and it is the formula when that is its truth `f(A)`. Möbius inversion
/// of `h` gives the one solution; the constant `h(all)` cancels in it:
///
/// ```text
/// c_S = − Σ_{B ⊆ S} (−1)^(|S| − |B|) f(Bᶜ)
/// ```
pub(super) fn union_coefficients(sets: usize, belongs: impl Fn(usize) -> bool) -> Vec<i64> {
    let all = (1_usize << sets) - 1;
    let mut sums: Vec<i64> = (0..=all).map(|mask| -i64::from(belongs(all ^ mask))).collect();
    for bit in (0..sets).map(|set| 1_usize << set) {
        for mask in (0..=all).filter(|mask| mask & bit != 0) {
            sums[mask] -= sums[mask ^ bit];
        }
    }
    sums[0] = 0;
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_union_of_all_is_one_term() {
        for sets in 1..=MAX_SETS {
            let coefficients = union_coefficients(sets, |region| region != 0);
            let mut expected = vec![0; 1 << sets];
            expected[(1 << sets) - 1] = 1;
            assert_eq!(coefficients, expected, "{sets}");
        }
    }

    #[test]
    fn the_intersection_of_all_alternates() {
        // Inclusion-exclusion as in the textbook: |∩| = Σ_S (−1)^(|S|+1) |∪S|.
        let coefficients = union_coefficients(4, |region| region == 15);
        for (mask, coefficient) in coefficients.into_iter().enumerate().skip(1) {
            assert_eq!(coefficient, if mask.count_ones() % 2 == 1 { 1 } else { -1 }, "{mask}");
        }
    }
}
