//! Drawing how many cells of each level read one, without drawing the cells.

use dp_noise::rand_core::Rng;

use crate::simulate::{below, binomial, fair};

/// The law of the ones in every level of one regular sketch, released or merged.
///
/// It is exact because of three facts:
///
/// 1. Items fall independently: with `N` of them kept, the numbers in the levels are binomial given the levels before.
/// 2. A cell holds the parity of what fell into it, so of `m` cells the number of odd ones makes the steps of an urn: the
///    next item finds an odd cell with probability `odd/m`, and one fewer is odd, or else one more.
/// 3. Noise flips every cell by itself, and merging adds flips up to flips of the probability that the product states; so
///    among the odd cells the ones are binomial, and so are those among the even.
///
/// An estimate reads the numbers of ones and nothing else. In mode `presampled` a kept item toggles its cell with
/// probability 1/2, whoever saw it and however often, which thins the items by fair coins before 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ParityLaw {
    pub(crate) levels: u8,
    /// Of each level.
    pub(crate) cells: u64,
    /// Whether items toggle their cell with probability 1/2 only.
    pub(crate) presampled: bool,
    /// The probability that noise flips a cell.
    pub(crate) flips: f64,
}

impl ParityLaw {
    /// The ones in every level of one sketch that keeps `kept` items.
    pub(crate) fn draw<R: Rng>(&self, kept: u64, random: &mut R) -> Vec<u64> {
        let mut left = if self.presampled { fair(kept, random) } else { kept };
        let level = |level| {
            let here = if level + 1 == self.levels { left } else { fair(left, random) };
            left -= here;
            let odd = odd_cells(here, self.cells, random);
            binomial(odd, 1.0 - self.flips, random) + binomial(self.cells - odd, self.flips, random)
        };
        (0..self.levels).map(level).collect()
    }
}

/// Items a cell after which the cells are as good as coins; see [`odd_cells`].
const MIXED: u64 = 24;

/// How many of `cells` cells are odd after `items` items.
///
/// Many items leave every cell a fair coin, except that the number of odd ones is odd when that of the items is. How near
/// the truth that is follows from the characters of the group of all patterns of `m` cells: the one of a set of `k` cells
/// has mean `(1 − 2k/m)^N` after `N` items, and 0 for fair coins under that condition unless `k` is 0 or `m`, where both
/// are the same. By Parseval and Cauchy-Schwarz the two laws differ by at most
///
/// ```text
/// ½ √(½ Σ_{0<k<m} C(m,k) (1 − 2k/m)^2N)  ≤  ½ √((1 + e^(−4N/m))^m − 1)  ≈  ½ √m e^(−2N/m)
/// ```
///
/// in total variation, with both halves of the sum bounded by `C(m,k) e^(−4kN/m)`. From `N = 24 m` on that is
/// `√m · 8·10⁻²²`: no simulation would tell.
fn odd_cells<R: Rng>(items: u64, cells: u64, random: &mut R) -> u64 {
    if items < MIXED.saturating_mul(cells) {
        return urn(items, cells, random);
    }
    let others = fair(cells - 1, random);
    others + ((others ^ items) & 1)
}

/// Items one by one.
fn urn<R: Rng>(items: u64, cells: u64, random: &mut R) -> u64 {
    if !cells.is_power_of_two() {
        return (0..items).fold(0, |odd, _| step(odd, below(cells, random)));
    }
    let bits = cells.trailing_zeros().max(1);
    let (mask, in_a_word) = (cells - 1, u64::from(64 / bits));
    let (mut odd, mut left) = (0, items);
    while left > 0 {
        let mut word = random.next_u64();
        for _ in 0..left.min(in_a_word) {
            odd = step(odd, word & mask);
            word >>= bits;
        }
        left -= left.min(in_a_word);
    }
    odd
}

/// The number of odd cells after an item, with the odd cells counted first.
const fn step(odd: u64, place: u64) -> u64 {
    if place < odd { odd - 1 } else { odd + 1 }
}

#[cfg(test)]
mod tests {
    use dp_noise::hazmat::InsecureTestRng;
    use sketch_testkit::assert_frequencies;

    use super::*;
    use crate::number::to_f64;

    /// Probabilities of 0, 1, … odd cells after each item, step by step.
    fn exact(items: u64, cells: u64) -> Vec<f64> {
        let m = usize::try_from(cells).unwrap();
        let mut law = vec![0.0; m + 1];
        law[0] = 1.0;
        for _ in 0..items {
            let mut next = vec![0.0; m + 1];
            for odd in 0..=m {
                let share = to_f64(odd as u64) / to_f64(cells);
                if odd > 0 {
                    next[odd - 1] += law[odd] * share;
                }
                if odd < m {
                    next[odd + 1] += law[odd] * (1.0 - share);
                }
            }
            law = next;
        }
        law
    }

    #[test]
    fn the_urn_has_the_enumerated_law() {
        // Three items in four cells: 4·3·2 of 64 ways leave three odd cells, the others one.
        let three = exact(3, 4);
        assert!((three[3] - 24.0 / 64.0).abs() < 1e-15 && (three[1] - 40.0 / 64.0).abs() < 1e-15);
        for (items, cells) in [(3, 4), (3, 3), (9, 8), (10, 6)] {
            let mut random = InsecureTestRng::from_u64(cells);
            let mut counts = vec![0_u64; usize::try_from(cells).unwrap() + 1];
            for _ in 0..40_000 {
                counts[usize::try_from(odd_cells(items, cells, &mut random)).unwrap()] += 1;
            }
            // Only the counts of the right parity occur.
            let parity = usize::try_from(items % 2).unwrap();
            let of_parity = |all: &[f64]| all.iter().skip(parity).step_by(2).copied().collect::<Vec<_>>();
            let seen: Vec<u64> = counts.iter().skip(parity).step_by(2).copied().collect();
            assert_eq!(seen.iter().sum::<u64>(), 40_000, "{items} items, {cells} cells");
            assert_frequencies(&seen, &of_parity(&exact(items, cells)));
        }
    }

    #[test]
    fn many_items_leave_coins_under_a_condition_on_their_parity() {
        // The bound of the documentation, beside the exact distance, for as many items as it is used from.
        for cells in [3_u64, 8, 64, 257] {
            for items in [MIXED * cells, MIXED * cells + 1] {
                let law = exact(items, cells);
                let mut coins = vec![1.0_f64];
                for _ in 0..cells - 1 {
                    let mut next = vec![0.0; coins.len() + 1];
                    for (heads, share) in coins.iter().enumerate() {
                        next[heads] += share / 2.0;
                        next[heads + 1] += share / 2.0;
                    }
                    coins = next;
                }
                let mut settled = vec![0.0; law.len()];
                for (others, share) in coins.iter().enumerate() {
                    settled[others + usize::from((others as u64 ^ items) & 1 == 1)] += share;
                }
                let distance: f64 = law.iter().zip(&settled).map(|(a, b)| (a - b).abs()).sum::<f64>() / 2.0;
                // Rounding of the enumeration is larger than the bound.
                assert!(distance < 1e-12, "{items} items, {cells} cells: {distance}");
            }
        }
        let near: f64 = exact(16, 8).iter().sum();
        assert!((near - 1.0).abs() < 1e-12);
    }

    #[test]
    fn half_as_many_items_would_still_be_told_apart_by_enumeration() {
        // Five items a cell are not enough: the distance is that of the formula, √m e^(−2N/m)/2 = 6·10⁻⁵, and not 0.
        let law = exact(40, 8);
        let settled: f64 = [1.0, 28.0, 70.0, 28.0, 1.0]
            .iter()
            .zip(law.iter().step_by(2))
            .map(|(ways, p)| (p - ways / 128.0).abs())
            .sum::<f64>()
            / 2.0;
        assert!(settled > 1e-6 && settled < 6.5e-5, "{settled}");
    }

    #[test]
    fn flips_are_those_of_the_noise() {
        // No item: every one is a flip.
        let law = ParityLaw { levels: 3, cells: 2, presampled: false, flips: 0.25 };
        let mut random = InsecureTestRng::from_u64(2);
        let mut counts = [0_u64; 3];
        for _ in 0..20_000 {
            for ones in law.draw(0, &mut random) {
                counts[usize::try_from(ones).unwrap()] += 1;
            }
        }
        assert_frequencies(&counts, &[9.0 / 16.0, 6.0 / 16.0, 1.0 / 16.0]);
    }
}
