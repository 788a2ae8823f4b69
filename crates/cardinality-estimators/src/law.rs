//! Laws of cells by maximum likelihood, with fixed masses on blocks of states.
//!
//! A cell shows state `x` with probability `f_x = f0_x + Σ_m K[x, m]·v_m`, where column `m` of the kernel says what noise
//! makes of hidden state `m`. Hidden states come in blocks, and the probability of every block is given:
//!
//! ```text
//! maximise  Σ_x H_x ln f_x   over v ≥ 0   with   Σ_{m ∈ b} v_m = s_b   for every block b.
//! ```
//!
//! That is concave. The solver is a primal-dual interior point method with one multiplier a block, and every answer carries
//! a certificate: no feasible `v` has a log-likelihood higher by more than `gap`. Ours; the certificate is the
//! Frank-Wolfe gap.

mod curvature;
mod dense;
mod interior;
mod kernel;
mod problem;
#[cfg(test)]
mod tests;

use problem::Problem;

pub(crate) use dense::{Symmetric, add_one, dot};
pub(crate) use kernel::{kernel, product_kernel};

/// The kernel and its blocks: what stays the same while counts and masses change.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BlockLaw {
    states: usize,
    columns: usize,
    /// `K[x, m]` at `x·columns + m`, all at least 0 and finite.
    kernel: Vec<f64>,
    /// Lengths of the blocks, which lie side by side.
    blocks: Vec<usize>,
}

/// The best law found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LawFit {
    /// `v`, column by column.
    pub(crate) weights: Vec<f64>,
    /// `dl/ds_b`, the slope of the maximum in the mass of each block.
    pub(crate) multipliers: Vec<f64>,
    /// `Σ H ln f`; `−∞` where a counted state is impossible.
    pub(crate) log_likelihood: f64,
    /// No law with these masses has a log-likelihood higher by more than this.
    pub(crate) gap: f64,
    /// Steps taken.
    pub(crate) steps: usize,
    /// `v_m` as a share of its block's mass, and its barrier's slope.
    shares: Vec<f64>,
    slacks: Vec<f64>,
}

impl BlockLaw {
    /// A law of `states` states, `kernel[x·columns + m]`, and the lengths of the blocks in the order of the columns.
    ///
    /// `None` unless there is a state, every block has a column, the kernel has one entry for every state and column, and
    /// all of them are finite and not negative.
    pub(crate) fn new(states: usize, kernel: Vec<f64>, blocks: Vec<usize>) -> Option<Self> {
        let columns = blocks.iter().try_fold(0_usize, |sum, &length| sum.checked_add(length))?;
        let whole = states > 0 && !blocks.contains(&0) && states.checked_mul(columns) == Some(kernel.len());
        let valid = whole && kernel.iter().all(|&entry| entry >= 0.0 && entry.is_finite());
        valid.then_some(Self { states, columns, kernel, blocks })
    }

    pub(crate) const fn states(&self) -> usize {
        self.states
    }

    pub(crate) const fn columns(&self) -> usize {
        self.columns
    }

    /// Row `x` of the kernel.
    pub(crate) fn row(&self, state: usize) -> &[f64] {
        &self.kernel[state * self.columns..(state + 1) * self.columns]
    }

    /// The best law for `counts` of the states, with `fixed` added to their probabilities and the masses of the blocks.
    ///
    /// Stops when the certificate falls to `tolerance` or nothing improves any more. A fit with other masses of the same
    /// law may serve as `start`. Counts, fixed parts and masses must be finite and at least 0, one for every state and
    /// block; of others nothing is promised but an end.
    pub(crate) fn fit(
        &self,
        counts: &[f64],
        fixed: &[f64],
        masses: &[f64],
        tolerance: f64,
        start: Option<&LawFit>,
    ) -> LawFit {
        let problem = Problem::new(self, counts, fixed, masses);
        let inside =
            interior::solve(&problem, tolerance, start.map(|fit| (fit.shares.as_slice(), fit.slacks.as_slice())));
        problem.answer(self, &inside)
    }

    /// The matrix `−∂²l/∂s∂s'` of the maximum in the masses of the blocks, row by row: how the multipliers fall.
    ///
    /// Rows of blocks without mass are 0.
    pub(crate) fn curvature(&self, counts: &[f64], fixed: &[f64], masses: &[f64], fit: &LawFit) -> Vec<f64> {
        curvature::of(self, counts, fixed, masses, fit)
    }

    fn block_ranges(&self) -> impl Iterator<Item = core::ops::Range<usize>> + '_ {
        self.blocks.iter().scan(0, |start, &length| {
            let range = *start..*start + length;
            *start = range.end;
            Some(range)
        })
    }
}
