//! The law of the true bits of a cell in several sketches, and what noise makes of it.
//!
//! A cell is occupied in exactly the sets of `C` when the items that fell into it lie in regions whose union of masks is
//! `C`. Region `A` hits the cell with probability `1 − e^(−rate·x_A)`, on its own, so regions are added one at a time by
//! or-convolution. Every term is positive. With `E_T = e^(−rate·Σ{x_A: A meets T})`, the probability that the cell is empty
//! in all sets of `T`, the same law is the alternating sum
//!
//! ```text
//! Pr(C) = Σ over D ⊆ C of (−1)^|C∖D|·E of the complement of D,
//! ```
//!
//! which cancels where items are few. One more item of region `A` at the cell's rate moves `Pr(D)` to `D ∪ A`, so
//! `∂Pr/∂x_A = rate·(J_A − 1)·Pr` with `(J_A·Pr)(C) = Σ over D with D ∪ A = C of Pr(D)`.

use crate::BitChannel;
use crate::likelihood::fill;

/// `Pr(C)` for every mask `C` of sets, after `regions[A − 1]` items of every region `A`.
pub(crate) fn occupied(rate: f64, regions: &[f64]) -> Vec<f64> {
    let mut law = vec![0.0; regions.len() + 1];
    law[0] = 1.0;
    for (region, &items) in (1_usize..).zip(regions) {
        let (hit, empty) = fill(rate * items);
        for pattern in (0..law.len()).filter(|pattern| pattern & region != region) {
            law[pattern | region] += hit * law[pattern];
            law[pattern] *= empty;
        }
    }
    law
}

/// `(J_A − 1)·law` for region `A`: linear, so it serves for second derivatives too.
pub(crate) fn with_one_more(law: &[f64], region: usize) -> Vec<f64> {
    let mut moved = vec![0.0; law.len()];
    for pattern in (0..law.len()).filter(|pattern| pattern & region != region) {
        moved[pattern | region] += law[pattern];
        moved[pattern] -= law[pattern];
    }
    moved
}

/// `Σ over C of values(C)·((J_A − 1)·law)(C)`.
pub(crate) fn pull(law: &[f64], values: &[f64], region: usize) -> f64 {
    let moving = (0..law.len()).filter(|pattern| pattern & region != region);
    moving.map(|pattern| law[pattern] * (values[pattern | region] - values[pattern])).sum()
}

/// The law of noisy patterns from that of the true ones: each sketch's bit through its own channel.
pub(crate) fn through(channels: &[BitChannel], law: &mut [f64]) {
    for_each_pair(channels, law, |channel, zero, one| {
        ((1.0 - channel.q()) * zero + channel.miss() * one, channel.q() * zero + channel.p() * one)
    });
}

/// The expectation over noise of a function of the noisy pattern, for every true one: the transpose of [`through`].
pub(crate) fn expected_through(channels: &[BitChannel], values: &mut [f64]) {
    for_each_pair(channels, values, |channel, zero, one| {
        ((1.0 - channel.q()) * zero + channel.q() * one, channel.miss() * zero + channel.p() * one)
    });
}

fn for_each_pair(channels: &[BitChannel], values: &mut [f64], both: impl Fn(&BitChannel, f64, f64) -> (f64, f64)) {
    for (sketch, channel) in channels.iter().enumerate() {
        let bit = 1 << sketch;
        for index in (0..values.len()).filter(|index| index & bit == 0) {
            let (zero, one) = both(channel, values[index], values[index | bit]);
            values[index] = zero;
            values[index | bit] = one;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REGIONS: [f64; 7] = [3.0, 0.0, 5.0, 1.5, 2.0, 0.25, 4.0];

    /// The alternating sum of the module's head.
    fn by_moebius(rate: f64, regions: &[f64]) -> Vec<f64> {
        let all = regions.len();
        let empty = |sets: usize| {
            let hit: f64 = (1..=all).filter(|region| region & sets != 0).map(|region| regions[region - 1]).sum();
            (-rate * hit).exp()
        };
        let probability = |pattern: usize| {
            let terms = (0..=all).filter(|d| d & pattern == *d).map(|d| {
                let sign = if (pattern ^ d).count_ones().is_multiple_of(2) { 1.0 } else { -1.0 };
                sign * empty(all ^ d)
            });
            terms.sum()
        };
        (0..=all).map(probability).collect()
    }

    #[test]
    fn the_law_is_that_of_inclusion_and_exclusion() {
        for rate in [0.01, 0.1, 0.7] {
            let law = occupied(rate, &REGIONS);
            for (got, want) in law.iter().zip(by_moebius(rate, &REGIONS)) {
                assert!((got - want).abs() < 1e-14);
            }
            assert!((law.iter().sum::<f64>() - 1.0).abs() < 1e-14);
        }
    }

    #[test]
    fn derivatives_are_those_of_differences() {
        let (rate, step) = (0.1, 1e-5);
        for region in 1..=7 {
            let at = |shift: f64| {
                let mut regions = REGIONS;
                regions[region - 1] += shift;
                occupied(rate, &regions)
            };
            let moved = with_one_more(&occupied(rate, &REGIONS), region);
            // Region 2 has no items: a central difference would leave the range, but the formulas do not mind.
            for ((up, down), got) in at(step).iter().zip(at(-step)).zip(&moved) {
                assert!(((up - down) / (2.0 * step) - rate * got).abs() < 1e-9);
            }
            let values: Vec<f64> = (0..8).map(|c| f64::from(c * c) - 3.0).collect();
            let expected: f64 = moved.iter().zip(&values).map(|(x, y)| x * y).sum();
            assert!((pull(&occupied(rate, &REGIONS), &values, region) - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn noise_and_its_transpose_agree() {
        let channels =
            [BitChannel::new(0.8, 0.3), BitChannel::symmetric(0.1), BitChannel::new(1.0, 0.25)].map(|c| c.unwrap());
        let law = occupied(0.05, &REGIONS);
        let mut noisy = law.clone();
        through(&channels, &mut noisy);
        // One pattern by hand: bits 1, 0, 1.
        let by_hand: f64 = (0..8_usize)
            .map(|c| {
                let on = |i: usize| if (c >> i) & 1 == 1 { channels[i].p() } else { channels[i].q() };
                law[c] * on(0) * (1.0 - on(1)) * on(2)
            })
            .sum();
        assert!((noisy[5] - by_hand).abs() < 1e-15);
        let values: Vec<f64> = (0..8).map(|c| f64::from(c) - 2.5).collect();
        let mut expected = values.clone();
        expected_through(&channels, &mut expected);
        let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        assert!((dot(&noisy, &values) - dot(&law, &expected)).abs() < 1e-14);
    }
}
