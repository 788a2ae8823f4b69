//! One problem without what decides nothing: states not seen, blocks without mass or of one column.

use core::ops::Range;

use super::dense::dot;
use super::interior::Inside;
use super::{BlockLaw, LawFit};

/// Laws in shares: `u_m = v_m/s_b`, so that every block adds up to 1 and tiny masses are as good as large ones.
pub(super) struct Problem<'a> {
    masses: &'a [f64],
    /// The states seen, how often, and what is fixed of their probabilities.
    states: Vec<usize>,
    pub(super) counts: Vec<f64>,
    pub(super) fixed: Vec<f64>,
    /// Columns whose shares are free, and the blocks of these.
    pub(super) free: Vec<usize>,
    pub(super) blocks: Vec<Range<usize>>,
    /// `K[x, m]·s_b` of the states seen and the free columns.
    pub(super) rows: Vec<f64>,
}

impl<'a> Problem<'a> {
    pub(super) fn new(law: &BlockLaw, counts: &[f64], fixed: &[f64], masses: &'a [f64]) -> Self {
        let seen = counts.iter().enumerate().take(law.states()).filter(|&(_, &count)| count > 0.0);
        let (states, counts): (Vec<usize>, Vec<f64>) = seen.map(|(state, &count)| (state, count)).unzip();
        let mut fixed: Vec<f64> = states.iter().map(|&state| fixed.get(state).copied().unwrap_or(0.0)).collect();
        let (mut free, mut scale, mut blocks) = (Vec::new(), Vec::new(), Vec::new());
        for (block, &mass) in law.block_ranges().zip(masses) {
            if block.len() == 1 {
                for (fixed, &state) in fixed.iter_mut().zip(&states) {
                    *fixed += law.row(state)[block.start] * mass;
                }
            } else if mass > 0.0 {
                let start = free.len();
                free.extend(block);
                blocks.push(start..free.len());
                scale.resize(free.len(), mass);
            }
        }
        let mut rows = Vec::with_capacity(states.len() * free.len());
        for &state in &states {
            let row = law.row(state);
            rows.extend(free.iter().zip(&scale).map(|(&column, scale)| row[column] * scale));
        }
        Self { masses, states, counts, fixed, free, blocks, rows }
    }

    /// The probabilities of the states seen.
    pub(super) fn probabilities(&self, shares: &[f64], into: &mut Vec<f64>) {
        into.clear();
        if self.free.is_empty() {
            into.extend_from_slice(&self.fixed);
        } else {
            into.extend(
                self.fixed
                    .iter()
                    .zip(self.rows.chunks_exact(self.free.len()))
                    .map(|(fixed, row)| fixed + dot(row, shares)),
            );
        }
    }

    pub(super) fn log_likelihood(&self, probabilities: &[f64]) -> f64 {
        self.counts.iter().zip(probabilities).map(|(count, f)| count * f.ln()).sum()
    }

    /// The answer in weights, with the multipliers of all blocks.
    pub(super) fn answer(&self, law: &BlockLaw, inside: &Inside) -> LawFit {
        let mut shares = vec![0.0; law.columns()];
        let mut slacks = vec![0.0; law.columns()];
        for (&column, (share, slack)) in self.free.iter().zip(inside.shares.iter().zip(&inside.slacks)) {
            shares[column] = *share;
            slacks[column] = *slack;
        }
        let mut slopes = vec![0.0; law.columns()];
        let mut probabilities = Vec::new();
        self.probabilities(&inside.shares, &mut probabilities);
        for ((&state, &count), &f) in self.states.iter().zip(&self.counts).zip(&probabilities) {
            let weight = count / f;
            slopes.iter_mut().zip(law.row(state)).for_each(|(slope, &entry)| {
                // Impossible states with impossible columns: 0/0.
                *slope += if entry > 0.0 { weight * entry } else { 0.0 };
            });
        }
        let mut multipliers = Vec::with_capacity(self.masses.len());
        for (block, &mass) in law.block_ranges().zip(self.masses) {
            let slopes = &slopes[block.clone()];
            if block.len() == 1 {
                shares[block.start] = 1.0;
            }
            multipliers.push(if mass > 0.0 {
                shares[block]
                    .iter()
                    .zip(slopes)
                    .filter(|&(&share, _)| share > 0.0)
                    .map(|(share, slope)| share * slope)
                    .sum()
            } else {
                slopes.iter().copied().fold(0.0, f64::max)
            });
        }
        let mut weights = shares.clone();
        for (block, &mass) in law.block_ranges().zip(self.masses) {
            weights[block].iter_mut().for_each(|weight| *weight *= mass);
        }
        let log_likelihood = self.log_likelihood(&probabilities);
        LawFit { weights, multipliers, log_likelihood, gap: inside.gap, steps: inside.steps, shares, slacks }
    }
}
