//! How much the counts say about `n`: expected information, and the variance of the estimate.
//!
//! The likelihood treats cells as independent. With a fixed number of distinct items, each in exactly one cell, cells
//! are multinomial and slightly negatively dependent; the score then varies less than its information, by `n·H²` to
//! high accuracy, so `Var(n̂) = 1/H − n`. Below about ten items a bucket the plain `1/H` is visibly too large.

use crate::level::Term;
use crate::{BitChannel, CellLayout};

/// Information and variance of one layout and channel, at any `n`.
pub(crate) struct Information<'a> {
    pub(crate) terms: &'a [Term],
    pub(crate) channel: BitChannel,
}

impl Information<'_> {
    /// `H(n) = Σ N d² rate² g²/(on·off)`; infinite at 0 without noise.
    pub(crate) fn expected(&self, n: f64) -> f64 {
        self.terms.iter().map(|term| term.cells() * self.weight(term, n) * self.pull(term, n)).sum()
    }

    /// `1/H − n`, never below `1e-12·n`: what is subtracted is all but the rounding error of the rest there.
    pub(crate) fn variance(&self, n: f64) -> f64 {
        variance(self.expected(n), n)
    }

    /// The variance with the covariance of every pair of cells summed exactly,
    ///
    /// ```text
    /// J = H + Σ over ordered pairs of distinct cells  w·w'·d²·[(1 − ρ − ρ')^n − ((1 − ρ)(1 − ρ'))^n],   Var = J/H²
    /// w = d·rate·g/(on·off)
    /// ```
    ///
    /// grouped by rate, so quadratic in the number of groups. Holds for sketches whose items fall in exactly one cell.
    pub(crate) fn variance_by_pairs(&self, n: f64) -> f64 {
        let information = self.expected(n);
        let mut pairs = 0.0;
        for (i, left) in self.terms.iter().enumerate() {
            pairs += self.covariance(left, left, n) * left.cells() * (left.cells() - 1.0);
            for right in &self.terms[..i] {
                pairs += 2.0 * self.covariance(left, right, n) * left.cells() * right.cells();
            }
        }
        (information + pairs) / (information * information)
    }

    /// `d·rate·g/on`: what a single one adds to the score.
    fn weight(&self, term: &Term, n: f64) -> f64 {
        let cell = self.channel.cell(term.rate * n);
        self.channel.d() * term.rate * cell.empty / cell.on
    }

    /// `d·rate·g/off`: what a single zero takes from it.
    fn pull(&self, term: &Term, n: f64) -> f64 {
        self.channel.d() * term.rate * self.channel.cell(term.rate * n).empty_if_zero
    }

    /// The covariance of two cells' scores.
    fn covariance(&self, left: &Term, right: &Term, n: f64) -> f64 {
        let d = self.channel.d();
        let scale = |term: &Term| {
            let cell = self.channel.cell(term.rate * n);
            d * term.rate * cell.empty_if_zero / cell.on
        };
        let odds = |term: &Term| term.rate.exp_m1();
        let both = (-n * (left.rate + right.rate)).exp();
        // 1 − ρρ'/((1−ρ)(1−ρ')) is the ratio of the two brackets for one item; ρ/(1−ρ) = e^rate − 1.
        let joint = (n * (-odds(left) * odds(right)).max(-1.0).ln_1p()).exp_m1();
        scale(left) * scale(right) * d * d * both * joint
    }
}

/// `1/H − n`, kept positive; infinite without information.
pub(crate) fn variance(information: f64, n: f64) -> f64 {
    if information > 0.0 { (1.0 / information - n).max(1e-12 * n) } else { f64::INFINITY }
}

/// The relative standard error to expect of [`estimate`](crate::estimate) when `n` distinct items are sketched,
/// `√(1/H(n) − n) / n`, known before any data.
///
/// Simulation agrees within 3 % where the prediction is below 12 %; beyond, the actual error is larger. For `n ≤ 0` and
/// NaN the answer is infinite.
///
/// # Examples
/// ```
/// use cardinality_estimators::{BitChannel, CellLayout, predicted_rse};
/// let q = 1.0 / (1.0 + 1.0_f64.exp());
/// let layout = CellLayout::pcsa(4096, 24)?;
/// assert!((predicted_rse(&layout, BitChannel::symmetric(q)?, 1e6) - 0.0274).abs() < 1e-4);
/// # Ok::<(), cardinality_estimators::ParamError>(())
/// ```
#[must_use]
pub fn predicted_rse(layout: &CellLayout, channel: BitChannel, n: f64) -> f64 {
    if n > 0.0 {
        let terms = layout.terms();
        Information { terms: &terms, channel }.variance(n).sqrt() / n
    } else {
        f64::INFINITY
    }
}
