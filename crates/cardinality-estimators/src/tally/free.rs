//! The free law: nothing is assumed about how the sets overlap.
//!
//! Only the probability that a cell of group `j` is empty in all sketches depends on the union's size, `e^(−r_j·n)`; the
//! rest of the law of how many sketches hold the cell is whatever fits best,
//!
//! ```text
//! l(n) = Σ_j max { Σ_x H_j[x] ln (K π_j)_x :  π_j ≥ 0,  Σ π_j = 1,  π_j(0) = e^(−r_j·n) }
//! dl/dn = Σ_j r_j·e^(−r_j·n)·(ν_j − g_j(0))
//! ```
//!
//! with `ν_j` the slope in the mass of the occupied states and `g_j(0)` that in the empty one.

use super::TallyCounts;
use super::nodes::{MOST, nodes};
use crate::law::{BlockLaw, LawFit};
use crate::number::to_f64;

/// The profile likelihood with what its solver remembers.
#[derive(Clone, Debug)]
pub(crate) struct FreeLaw<'a> {
    counts: &'a TallyCounts,
    law: BlockLaw,
    /// The last fit of every group: where the next one starts.
    fits: Vec<Option<LawFit>>,
    /// The log-likelihood of groups that have no empty cell left, once known, and its gap.
    full: Vec<Option<(f64, f64)>>,
    fixed: Vec<f64>,
    beyond: f64,
}

/// The profile likelihood at one union size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) log_likelihood: f64,
    /// `dl/dn`.
    pub(crate) slope: f64,
    /// The true value lies above by no more.
    pub(crate) gap: f64,
}

impl<'a> FreeLaw<'a> {
    /// `None` only for a kernel of no states, which [`TallyCounts`] excludes.
    pub(crate) fn new(counts: &'a TallyCounts) -> Option<Self> {
        let states = counts.states();
        let columns = hidden_states(counts);
        let kernel = counts.kernel().chunks_exact(states).flat_map(|row| columns.iter().map(|&m| row[m])).collect();
        let law = BlockLaw::new(states, kernel, vec![1, columns.len().checked_sub(1)?])?;
        let groups = counts.groups.len();
        Some(Self {
            counts,
            law,
            fits: vec![None; groups],
            full: vec![None; groups],
            fixed: vec![0.0; states],
            beyond: counts.negligible_beyond(),
        })
    }

    pub(crate) const fn counts(&self) -> &TallyCounts {
        self.counts
    }

    /// The likelihood at `n ≥ 0`, with a certificate of at most `tolerance` where the solver gets so far.
    pub(crate) fn at(&mut self, n: f64, tolerance: f64) -> Point {
        let tolerance = tolerance / to_f64(self.counts.groups.len().max(1) as u64);
        let mut sum = Point { log_likelihood: 0.0, slope: 0.0, gap: 0.0 };
        for (index, group) in self.counts.groups.iter().enumerate() {
            let full = group.rate * n > self.beyond;
            if let Some((log_likelihood, gap)) = self.full[index].filter(|&(_, gap)| full && gap <= tolerance) {
                sum.log_likelihood += log_likelihood;
                sum.gap += gap;
                continue;
            }
            let (hit, empty) = if full { (1.0, 0.0) } else { crate::likelihood::fill(group.rate * n) };
            let start = self.fits[index].take();
            let fit = self.law.fit(&group.counts, &self.fixed, &[empty, hit], tolerance, start.as_ref());
            if full {
                self.full[index] = Some((fit.log_likelihood, fit.gap));
            } else if let [bare, occupied] = fit.multipliers.as_slice() {
                sum.slope += if empty > 0.0 { group.rate * empty * (occupied - bare) } else { 0.0 };
            }
            sum.log_likelihood += fit.log_likelihood;
            sum.gap += fit.gap;
            self.fits[index] = Some(fit);
        }
        sum
    }

    /// `−d²l/d(ln n)²` at the size last asked for; NaN before any.
    pub(crate) fn bend(&self, n: f64) -> f64 {
        let mut sum = 0.0;
        for (group, fit) in self.counts.groups.iter().zip(&self.fits) {
            let x = group.rate * n;
            if x > self.beyond {
                continue;
            }
            let Some(fit) = fit else { return f64::NAN };
            let (hit, empty) = crate::likelihood::fill(x);
            let curvature = self.law.curvature(&group.counts, &self.fixed, &[empty, hit], fit);
            if let ([a, b, c, d], [bare, occupied]) = (curvature.as_slice(), fit.multipliers.as_slice()) {
                let reach = x * empty;
                // d²/d(ln n)² of the masses is ∓x·e^−x·(1 − x).
                sum += reach * reach * (a - b - c + d) - (occupied - bare) * reach * (1.0 - x);
            }
        }
        sum
    }

    /// One more than the free weights at the size last asked for: states above 1e-6, less one a group.
    pub(crate) fn positive_weights(&self) -> usize {
        let free = |fit: &LawFit| {
            let occupied = fit.weights.iter().skip(1).filter(|&&weight| weight > 1e-6).count();
            occupied.saturating_sub(1)
        };
        1 + self.fits.iter().flatten().map(free).sum::<usize>()
    }
}

/// The hidden states with a weight, the one that no sketch holds first: all of them unless they are very many. Certificates
/// are about laws on these.
fn hidden_states(counts: &TallyCounts) -> Vec<usize> {
    let classes = counts.classes();
    let (mut columns, mut width) = (vec![0], 1);
    for (index, class) in classes.iter().enumerate() {
        let own = class.sketches;
        // Twice as many weights where they are spread over two dimensions.
        let most = match classes.iter().enumerate().find(|&(other, _)| other != index) {
            None => MOST,
            Some((_, other)) if (own + 1) * (other.sketches + 1) <= 2 * MOST => own,
            Some((_, other)) if own <= other.sketches => MOST / 6,
            Some((_, other)) => 2 * MOST / (other.sketches.min(MOST / 6) + 1) - 1,
        };
        let before = columns.clone();
        for node in nodes(own, most) {
            columns.extend(before.iter().map(|state| state + width * node));
        }
        width *= own + 1;
    }
    columns
}
