//! The composite log-likelihood of the count and its derivatives.
//!
//! With `x = rate·n`, `g = e^−x` and a channel `(p, q)`, `d = p − q`, a cell reads one with probability
//! `on = q + d·(1 − g)` and zero with `off = (1 − p) + d·g`; both are sums of non-negative terms, so neither cancels.
//! Summed over groups with `k` ones and `z` zeros,
//!
//! ```text
//! l  = Σ k ln on + z ln off
//! l' = Σ d·rate·g·(k/on − z/off)
//! l″ = Σ d·rate²·g·(z(1−p)/off² − k·p/on²)
//! H  = Σ (k+z)·d²·rate²·g²/(on·off)          (minus the expectation of l″)
//! ```
//!
//! Cells are treated as independent, which they are not quite: the estimate stays consistent, and the variance is
//! corrected afterwards (`information.rs`). \[HTC23\], section 5.

use crate::{BitChannel, LevelCounts};

/// The state of one cell after `n` items.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CellState {
    /// Probability of reading one.
    pub(crate) on: f64,
    /// Probability that no item hit the cell.
    pub(crate) empty: f64,
    /// `empty / P(reading zero)`, which stays finite where both underflow.
    pub(crate) empty_if_zero: f64,
}

/// `l'`, `l″` and `H` at one `n`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Slope {
    pub(crate) d1: f64,
    pub(crate) d2: f64,
    pub(crate) information: f64,
}

/// `1 − e^−x` and `e^−x` for `x ≥ 0`, both to full relative precision with one transcendental call.
#[inline]
pub(crate) fn fill(x: f64) -> (f64, f64) {
    if x < 1.0 / 1024.0 {
        // Five terms of the series: the sixth is below 2^-59 of the first.
        let hit = x * (1.0 - x * (0.5 - x * (1.0 / 6.0 - x * (1.0 / 24.0 - x * (1.0 / 120.0)))));
        (hit, 1.0 - hit)
    } else if x < core::f64::consts::LN_2 {
        let hit = -(-x).exp_m1();
        (hit, 1.0 - hit)
    } else {
        let empty = (-x).exp();
        (1.0 - empty, empty)
    }
}

impl BitChannel {
    /// A cell with `x = rate·n`.
    #[inline]
    pub(crate) fn cell(&self, x: f64) -> CellState {
        let (hit, empty) = fill(x);
        let on = self.q() + self.d() * hit;
        let empty_if_zero = if self.miss() > 0.0 { empty / (self.miss() + self.d() * empty) } else { 1.0 / self.d() };
        CellState { on, empty, empty_if_zero }
    }

    /// `ln P(reading zero)` for a cell with `x = rate·n`.
    fn ln_off(&self, x: f64, empty: f64) -> f64 {
        if self.miss() > 0.0 { (self.miss() + self.d() * empty).ln() } else { self.d().ln() - x }
    }

    /// How far `x` must exceed that of the least likely cells for a cell to add nothing (below 2^-70).
    pub(crate) fn negligible_beyond(&self) -> f64 {
        if self.miss() > 0.0 { 48.6 + (self.d() / self.miss()).ln().max(0.0) } else { f64::INFINITY }
    }
}

impl LevelCounts {
    /// `l(n)` without constants; `−∞` where a one is impossible.
    pub(crate) fn log_likelihood(&self, n: f64) -> f64 {
        let channel = self.channel();
        let mut sum = 0.0;
        for term in &self.terms {
            let x = term.rate * n;
            let (hit, empty) = fill(x);
            if term.ones > 0.0 {
                sum += term.ones * (channel.q() + channel.d() * hit).ln();
            }
            if term.zeros > 0.0 {
                sum += term.zeros * channel.ln_off(x, empty);
            }
        }
        sum
    }

    /// `l(n) − l(0)` with noise, `l(n)` without: for comparing counts.
    ///
    /// Through a weak channel `l` moves by far less than the rounding of its value, so the difference is summed itself.
    pub(crate) fn relative_log_likelihood(&self, n: f64) -> f64 {
        let channel = self.channel();
        let (q, d) = (channel.q(), channel.d());
        // Below this q the difference could overflow, and the channel is not weak.
        if q < 1e-200 {
            return self.log_likelihood(n);
        }
        let off_at_zero = channel.miss() + d;
        let mut sum = 0.0;
        for term in &self.terms {
            let x = term.rate * n;
            let (hit, empty) = fill(x);
            sum += term.ones * (d * hit / q).ln_1p();
            let lost = d * hit / off_at_zero;
            let zero = if lost < 0.5 { (-lost).ln_1p() } else { channel.ln_off(x, empty) - off_at_zero.ln() };
            sum += term.zeros * zero;
        }
        sum
    }

    /// `l'`, `l″` and `H` at `n`.
    pub(crate) fn derivatives(&self, n: f64, negligible_beyond: f64) -> Slope {
        let channel = self.channel();
        let (p, miss, d) = (channel.p(), channel.miss(), channel.d());
        let full = self.terms.last().map_or(0.0, |slowest| slowest.rate * n) + negligible_beyond;
        let mut slope = Slope::default();
        for term in &self.terms {
            let x = term.rate * n;
            if x > full {
                continue;
            }
            let cell = channel.cell(x);
            let per_one = d * term.rate * cell.empty / cell.on;
            let per_zero = d * term.rate * cell.empty_if_zero;
            if term.ones > 0.0 {
                slope.d1 += term.ones * per_one;
                slope.d2 -= term.ones * term.rate * per_one * (p / cell.on);
            }
            if term.zeros > 0.0 {
                slope.d1 -= term.zeros * per_zero;
                if miss > 0.0 {
                    slope.d2 += term.zeros * term.rate * per_zero * (miss / (miss + d * cell.empty));
                }
            }
            slope.information += term.cells() * per_one * per_zero;
        }
        slope
    }
}
