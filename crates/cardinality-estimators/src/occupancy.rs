//! Closed forms for sketches of one level: linear counting and Bloom filters.

use crate::estimate::Parts;
use crate::interval::{Ends, hull};
use crate::level::rate_of;
use crate::number::to_f64;
use crate::{BitChannel, Confidence, Estimate, Grid, ParamError, Status};

/// One level of cells that every item hits `hashes` times.
struct Filter {
    cells: f64,
    hashes: f64,
    on: f64,
    channel: BitChannel,
}

/// Distinct count from the share of empty buckets (linear counting), at 95 % confidence.
///
/// With `m` buckets of which `z` are empty, `n̂ = ln(z/m) / ln(1 − 1/m)`, and to first order
/// `Var n̂ ≈ m·(eᵗ − t − 1)` where `t = n̂/m`. With no empty bucket the logarithm diverges: the status is `saturated` and
/// there is no value, only a lower bound.
///
/// # Errors
/// [`ParamError::Zeros`] when more buckets are empty than there are; [`ParamError::Cells`] with fewer than two buckets.
///
/// # Examples
/// ```
/// use cardinality_estimators::{Status, linear_counting};
/// let n = linear_counting(1024, 900)?;
/// assert_eq!(n.status(), Status::Ok);
/// assert!((n.value().ok_or("none")? - 132.1).abs() < 0.1);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub fn linear_counting(cells: u64, zeros: u64) -> Result<Estimate, ParamError> {
    let ones = cells.checked_sub(zeros).ok_or(ParamError::Zeros { zeros, cells })?;
    linear_counting_private(cells, ones, BitChannel::NOISELESS, Confidence::P95)
}

/// Linear counting through a noisy channel: `n̂ = ln((p − ones/m)/d) / ln(1 − 1/m)`.
///
/// `below_noise` when `ones/m ≤ q` (`empty` without noise and ones), `saturated` when `ones/m ≥ p`. The standard error
/// uses the exact variance of the number of ones; the interval holds every `n` whose expected number of ones lies within
/// `z` of its standard deviations of the one observed.
///
/// # Errors
/// [`ParamError::Ones`] when `ones > cells`; [`ParamError::Cells`] with fewer than two cells.
///
/// # Examples
/// ```
/// use cardinality_estimators::{BitChannel, Confidence, linear_counting_private};
/// let channel = BitChannel::symmetric(0.11920292202211755)?;
/// let n = linear_counting_private(8192, 3000, channel, Confidence::P95)?;
/// assert!((n.value().ok_or("none")? - 3211.484).abs() < 1e-3);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub fn linear_counting_private(
    cells: u64,
    ones: u64,
    channel: BitChannel,
    confidence: Confidence,
) -> Result<Estimate, ParamError> {
    bloom_count(cells, 1, ones, channel, confidence)
}

/// The probability `1 − (1 − 1/m)^k` that an item hits a given cell of an unpartitioned Bloom filter of `m` cells and
/// `k` hash functions.
///
/// # Errors
/// [`ParamError::Cells`] with fewer than two cells; [`ParamError::Hashes`] unless `1 ≤ k ≤ 64`.
pub fn bloom_rate(cells: u64, hashes: u32) -> Result<f64, ParamError> {
    check(cells, hashes)?;
    Ok(-(-f64::from(hashes) * rate_of(1.0 / to_f64(cells))).exp_m1())
}

/// Distinct count from an unpartitioned Bloom filter of `m` cells and `k` hash functions, each cell seen through
/// `channel`: `n̂ = ln((p − ones/m)/d) / (k·ln(1 − 1/m))`.
///
/// An item changes up to `k` cells, so noise for a total of `ε` needs `ε/k` a cell; `k = 1`, linear counting, is always
/// best for counting. Statuses, standard error and interval as [`linear_counting_private`], with the covariance of two
/// cells `d²·((1 − 2/m)^(kn) − (1 − 1/m)^(2kn))`.
///
/// # Errors
/// [`ParamError::Ones`] when `ones > cells`; [`ParamError::Cells`] with fewer than two cells; [`ParamError::Hashes`]
/// unless `1 ≤ hashes ≤ 64`.
pub fn bloom_count(
    cells: u64,
    hashes: u32,
    ones: u64,
    channel: BitChannel,
    confidence: Confidence,
) -> Result<Estimate, ParamError> {
    check(cells, hashes)?;
    if ones > cells {
        return Err(ParamError::Ones { ones, cells });
    }
    let filter = Filter { cells: to_f64(cells), hashes: f64::from(hashes), on: to_f64(ones) / to_f64(cells), channel };
    Ok(filter.estimate(confidence))
}

fn check(cells: u64, hashes: u32) -> Result<(), ParamError> {
    if cells < 2 {
        return Err(ParamError::Cells { expected: 2, found: cells });
    }
    if !(1..=64).contains(&hashes) {
        return Err(ParamError::Hashes { found: hashes });
    }
    Ok(())
}

impl Filter {
    fn estimate(&self, confidence: Confidence) -> Estimate {
        let parts = |value, std_error, lower, upper| Parts { value, std_error, lower: Some(lower), upper };
        if self.on <= self.channel.q() {
            let empty = self.channel.is_noiseless();
            let status = if empty { Status::Empty } else { Status::BelowNoise };
            let upper = if empty { Some(0.0) } else { self.interval(0.0, confidence).upper };
            return Estimate::from_parts(status, parts(Some(0.0), Some(self.std_error(0.0)), 0.0, upper), confidence);
        }
        if self.on >= self.channel.p() {
            let ends = self.interval(self.reach(), confidence);
            return Estimate::from_parts(Status::Saturated, parts(None, None, ends.lower, None), confidence);
        }
        let n = self.count();
        let std_error = self.std_error(n);
        let ends = self.interval(n, confidence);
        let known = 2.0 * std_error <= n && ends.upper.is_some();
        let status = if known { Status::Ok } else { Status::LowInformation };
        Estimate::from_parts(status, parts(Some(n), Some(std_error), ends.lower, ends.upper), confidence)
    }

    /// `−ln(1 − ρ)` of a cell for one item.
    fn rate(&self) -> f64 {
        self.hashes * rate_of(1.0 / self.cells)
    }

    /// Beyond this many items a cell is empty with probability below 1e-222.
    fn reach(&self) -> f64 {
        512.0 / self.rate()
    }

    fn count(&self) -> f64 {
        // Close to the noise level (p − on)/d is 1 minus a small difference, close to saturation it is small.
        let hit = (self.on - self.channel.q()) / self.channel.d();
        let log_empty = if hit < 0.5 { (-hit).ln_1p() } else { ((self.channel.p() - self.on) / self.channel.d()).ln() };
        (-log_empty / self.rate()).min(self.reach())
    }

    /// The variance of the share of ones after `n` items.
    fn share_variance(&self, n: f64) -> f64 {
        let cell = self.channel.cell(self.rate() * n);
        let d = self.channel.d();
        let off = self.channel.miss() + d * cell.empty;
        // (1 − 2/m)/(1 − 1/m)² = 1 − 1/(m − 1)².
        let apart = 1.0 / (self.cells - 1.0);
        let joint = (self.hashes * n * (-apart * apart).max(-1.0).ln_1p()).exp_m1();
        let covariance = if n > 0.0 { d * d * cell.empty * cell.empty * joint } else { 0.0 };
        ((cell.on * off + (self.cells - 1.0) * covariance) / self.cells).max(0.0)
    }

    fn std_error(&self, n: f64) -> f64 {
        let cell = self.channel.cell(self.rate() * n);
        let error = self.share_variance(n).sqrt() / (self.channel.d() * self.rate() * cell.empty);
        error.min(f64::MAX)
    }

    /// The counts whose expected share of ones is within `z` standard deviations of the one observed.
    fn interval(&self, inside: f64, confidence: Confidence) -> Ends {
        let z = confidence.z();
        hull(Grid::default(), self.reach(), inside, |n| {
            let residual = self.on - self.channel.cell(self.rate() * n).on;
            residual * residual <= z * z * self.share_variance(n)
        })
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

    #[test]
    fn the_variance_of_ones_is_the_enumerated_one() {
        for (cells, hashes, items) in [(5, 1, 1), (5, 1, 4), (4, 2, 3), (2, 1, 6), (3, 3, 2)] {
            for (p, q) in [(1.0, 0.0), (0.9, 0.2)] {
                let channel = BitChannel::new(p, q).expect("a valid channel");
                let m = f64::from(cells);
                let filter = Filter { cells: m, hashes: f64::from(hashes), on: 0.5, channel };
                let (mean, variance) = enumerate(cells, hashes * items);
                // Noise adds p(1−p) for every set cell and q(1−q) for every other.
                let noise = mean * p * (1.0 - p) + (m - mean) * q * (1.0 - q);
                let expected = ((p - q) * (p - q) * variance + noise) / (m * m);
                assert_relative_eq!(
                    filter.share_variance(f64::from(items)),
                    expected,
                    max_relative = 1e-12,
                    epsilon = 1e-15
                );
            }
        }
    }

    #[test]
    fn linear_counting_has_its_textbook_error() {
        // m·(eᵗ − t − 1) with t = n/m = 1, to the first order in 1/m.
        let zeros = 3679;
        let answer = linear_counting(10_000, zeros).expect("a valid count");
        let t = -(to_f64(zeros) / 1e4).ln();
        let textbook = (1e4 * (t.exp() - t - 1.0)).sqrt();
        assert_relative_eq!(answer.std_error().unwrap_or(0.0), textbook, max_relative = 1e-3);
        assert_relative_eq!(answer.value().unwrap_or(0.0), 1e4, max_relative = 1e-3);
    }

    #[test]
    fn ends_of_the_scale_have_their_status() {
        let noisy = BitChannel::new(0.8, 0.3).expect("a valid channel");
        let status = |ones, channel| {
            linear_counting_private(1000, ones, channel, Confidence::P95).expect("a valid count").status()
        };
        assert_eq!(status(0, BitChannel::NOISELESS), Status::Empty);
        assert_eq!(status(1000, BitChannel::NOISELESS), Status::Saturated);
        assert_eq!(status(300, noisy), Status::BelowNoise);
        assert_eq!(status(800, noisy), Status::Saturated);
        assert_eq!(status(310, noisy), Status::LowInformation);
        assert_eq!(status(600, noisy), Status::Ok);
    }
}
