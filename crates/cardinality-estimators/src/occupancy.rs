//! Closed forms for sketches of one level: linear counting and Bloom filters.

use crate::{BitChannel, CellLayout, Confidence, Estimate, ParamError, estimate};

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
    let rate: f64 = CellLayout::bloom(cells, hashes)?.groups().map(|(_, rate)| rate).sum();
    Ok(-(-rate).exp_m1())
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
    let layout = CellLayout::bloom(cells, hashes)?;
    Ok(estimate(&layout.counts(&[ones], channel)?, confidence))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Status;
    use crate::number::to_f64;
    use approx::assert_relative_eq;

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
