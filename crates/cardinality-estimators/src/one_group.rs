//! One group of equally likely cells: linear counting, Bloom filters, a PCSA bitmap of one level.
//!
//! The number of ones is then all there is to see, its mean and variance are known exactly, and the count that makes
//! the likelihood highest has a closed form. So have interval and error: no approximation of the likelihood is needed.

use crate::estimate::Parts;
use crate::interval::{Ends, hull};
use crate::level::Term;
use crate::{BitChannel, Confidence, Estimate, LevelCounts, Status};

/// The law of the number of ones after `n` items.
pub(crate) struct OneGroup {
    term: Term,
    cells: f64,
    channel: BitChannel,
    hashes: f64,
    cap: f64,
}

impl OneGroup {
    pub(crate) fn new(term: Term, channel: BitChannel, hashes: f64, cap: f64) -> Self {
        Self { term, cells: term.cells(), channel, hashes, cap: cap.min(512.0 / term.rate) }
    }

    /// The answer for the ones counted.
    pub(crate) fn estimate(&self, counts: &LevelCounts, confidence: Confidence) -> Estimate {
        let on = self.term.ones / self.cells;
        let interval = |inside: f64| self.interval(counts, on, inside, confidence);
        let parts = |value, std_error, lower, upper| Parts { value, std_error, lower: Some(lower), upper };
        if on <= self.channel.q() {
            let empty = self.channel.is_noiseless();
            let status = if empty { Status::Empty } else { Status::BelowNoise };
            let upper = if empty { Some(0.0) } else { interval(0.0).upper };
            return Estimate::from_parts(status, parts(Some(0.0), Some(self.std_error(0.0)), 0.0, upper), confidence);
        }
        let n = self.count(on);
        if n >= self.cap {
            let lower = interval(self.cap).lower;
            return Estimate::from_parts(Status::Saturated, parts(None, None, lower, None), confidence);
        }
        let (std_error, ends) = (self.std_error(n), interval(n));
        let status = Status::of_value(n, std_error, ends.upper);
        Estimate::from_parts(status, parts(Some(n), Some(std_error), ends.lower, ends.upper), confidence)
    }

    /// The closed form `−ln((p − on)/d)/rate`, infinite from a share of `p` on.
    fn count(&self, on: f64) -> f64 {
        // Close to the noise level (p − on)/d is 1 minus a small difference, close to saturation it is small.
        let hit = (on - self.channel.q()) / self.channel.d();
        let log_empty =
            if hit < 0.5 { (-hit).ln_1p() } else { ((self.channel.p() - on) / self.channel.d()).max(0.0).ln() };
        -log_empty / self.term.rate
    }

    /// The variance of the share of ones after `n` items, from that of one cell and the covariance of two,
    /// `d²·((1 − 2ρ)^(kn) − (1 − ρ)^(2kn))` for `k` darts an item that hit a cell with probability `ρ` each.
    fn share_variance(&self, n: f64) -> f64 {
        let cell = self.channel.cell(self.term.rate * n);
        let d = self.channel.d();
        let off = self.channel.miss() + d * cell.empty;
        // (1 − 2ρ)/(1 − ρ)² = 1 − (ρ/(1 − ρ))², and ρ/(1 − ρ) = e^(rate/k) − 1.
        let odds = (self.term.rate / self.hashes).exp_m1();
        let joint = (self.hashes * n * (-odds * odds).max(-1.0).ln_1p()).exp_m1();
        let covariance = if n > 0.0 { d * d * cell.empty * cell.empty * joint } else { 0.0 };
        ((cell.on * off + (self.cells - 1.0) * covariance) / self.cells).max(0.0)
    }

    /// The standard deviation of the share of ones over the slope of its mean.
    fn std_error(&self, n: f64) -> f64 {
        let cell = self.channel.cell(self.term.rate * n);
        let error = self.share_variance(n).sqrt() / (self.channel.d() * self.term.rate * cell.empty);
        error.min(f64::MAX)
    }

    /// The counts whose expected share of ones is within `z` standard deviations of the one observed.
    fn interval(&self, counts: &LevelCounts, on: f64, inside: f64, confidence: Confidence) -> Ends {
        let z = confidence.z();
        hull(counts.grid(), self.cap, inside, |n| {
            let residual = on - self.channel.cell(self.term.rate * n).on;
            residual * residual <= z * z * self.share_variance(n)
        })
    }

    /// The root mean square error to expect of [`Self::estimate`] after `n` items, of the answers that have a value.
    ///
    /// The share of ones is nearly normal, with the exact mean and variance and a third moment from independent cells
    /// (Cornish and Fisher's first term); the squared error of the closed form is summed over it. Never below
    /// [`Self::std_error`], which leaves out the curve of the closed form.
    pub(crate) fn expected_error(&self, n: f64) -> f64 {
        const STEPS: i32 = 96;
        let cell = self.channel.cell(self.term.rate * n);
        let off = self.channel.miss() + self.channel.d() * cell.empty;
        let skewness = (off - cell.on) / (self.cells * cell.on * off).sqrt();
        let deviation = self.share_variance(n).sqrt();
        // Numbers of ones are whole: half a one below the share at which there is no value any more.
        let last = self.channel.p() - 0.5 / self.cells;
        let (mut weights, mut squares) = (0.0, 0.0);
        for step in -STEPS..=STEPS {
            let z = f64::from(step) / 16.0;
            let on = cell.on + deviation * (z + skewness * (z * z - 1.0) / 6.0);
            if on < last {
                let count = if on <= self.channel.q() { 0.0 } else { self.count(on) };
                let weight = (-0.5 * z * z).exp();
                weights += weight;
                squares += weight * (count - n) * (count - n);
            }
        }
        let error = (squares / weights).sqrt();
        let linear = self.std_error(n);
        if error.is_finite() { error.max(linear) } else { linear }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    /// Mean and variance of the number of set cells, over all ways `throws` hits fall on `cells` cells.
    fn enumerate(cells: u32, throws: u32) -> (f64, f64) {
        let ways = cells.pow(throws);
        let (mut sum, mut squares) = (0.0, 0.0);
        for mut way in 0..ways {
            let mut set = 0_u32;
            for _ in 0..throws {
                set |= 1 << (way % cells);
                way /= cells;
            }
            let set = f64::from(set.count_ones());
            sum += set;
            squares += set * set;
        }
        let mean = sum / f64::from(ways);
        (mean, squares / f64::from(ways) - mean * mean)
    }

    fn one_group(cells: u32, hashes: u32, channel: BitChannel) -> OneGroup {
        let (m, k) = (f64::from(cells), f64::from(hashes));
        let term = Term { rate: -k * (-1.0 / m).ln_1p(), ones: 0.0, zeros: m };
        OneGroup::new(term, channel, k, 100.0 * m)
    }

    #[test]
    fn the_variance_of_ones_is_the_enumerated_one() {
        for (cells, hashes, items) in [(5, 1, 1), (5, 1, 4), (4, 2, 3), (2, 1, 6), (3, 3, 2)] {
            for (p, q) in [(1.0, 0.0), (0.9, 0.2)] {
                let channel = BitChannel::new(p, q).expect("a valid channel");
                let m = f64::from(cells);
                let (mean, variance) = enumerate(cells, hashes * items);
                // Noise adds p(1−p) for every set cell and q(1−q) for every other.
                let noise = mean * p * (1.0 - p) + (m - mean) * q * (1.0 - q);
                let expected = ((p - q) * (p - q) * variance + noise) / (m * m);
                let found = one_group(cells, hashes, channel).share_variance(f64::from(items));
                assert_relative_eq!(found, expected, max_relative = 1e-12, epsilon = 1e-15);
            }
        }
    }

    #[test]
    fn the_expected_error_is_the_formula_where_the_curve_is_straight() {
        let channel = BitChannel::new(0.9, 0.1).expect("a valid channel");
        let filter = one_group(1 << 20, 2, channel);
        assert_relative_eq!(filter.expected_error(2e5), filter.std_error(2e5), max_relative = 1e-3);
    }
}
