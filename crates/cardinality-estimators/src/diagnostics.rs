//! Intermediate numbers: what tests, planners and the curious need, and an answer to a user does not.

use crate::answer::likelihood_ratio;
use crate::information::Information;
use crate::interval::log_wald;
use crate::level::Term;
use crate::maximum::{maximise, maximise_on_grid};
use crate::parity::JointParityCounts;
use crate::solve::Peak;
use crate::tally::TallyCounts;
use crate::venn::region_weights;
use crate::{BitChannel, CellLayout, Confidence, LevelCounts, SetFormula, Status};

/// The log-likelihood at one count, without constants, and its first two derivatives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogLikelihood {
    /// `l(n)`; `−∞` where a one is impossible.
    pub value: f64,
    /// `l'(n)`.
    pub d1: f64,
    /// `l″(n)`.
    pub d2: f64,
}

/// The maximum of the likelihood over `[0, n_cap]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Maximum {
    /// `ok`, `empty`, `below_noise`, `saturated`, or `not_converged`.
    pub status: Status,
    /// Where it lies: 0, `n_cap` when saturated, NaN when not converged.
    pub n_hat: f64,
}

/// `l`, `l'` and `l″` at `n ≥ 0`.
#[must_use]
pub fn log_likelihood(counts: &LevelCounts, n: f64) -> LogLikelihood {
    let slope = counts.derivatives(n, f64::INFINITY);
    LogLikelihood { value: counts.log_likelihood(n), d1: slope.d1, d2: slope.d2 }
}

/// The maximum as [`estimate`](crate::estimate) finds it.
#[must_use]
pub fn mle(counts: &LevelCounts) -> Maximum {
    maximum(counts, maximise(counts).peak)
}

/// The maximum found by the exhaustive search alone: slower, and the reference for [`mle`].
#[must_use]
pub fn mle_on_grid(counts: &LevelCounts) -> Maximum {
    maximum(counts, maximise_on_grid(counts).peak)
}

fn maximum(counts: &LevelCounts, peak: Peak) -> Maximum {
    let (status, n_hat) = match peak {
        Peak::Zero if counts.channel().is_noiseless() && counts.is_all_zero() => (Status::Empty, 0.0),
        Peak::Zero => (Status::BelowNoise, 0.0),
        Peak::Inside(n) => (Status::Ok, n),
        Peak::Cap => (Status::Saturated, counts.n_cap()),
        Peak::Lost => (Status::NotConverged, f64::NAN),
    };
    Maximum { status, n_hat }
}

/// A formula from sizes of regions (mask `A` at `A − 1`) and their covariance matrix, row by row: its value and standard
/// error, `w'x` and `√(w'Vw)`. What [`VennFit`](crate::venn::VennFit) does with its own; `None` unless there is one size a
/// region and a square matrix of them.
#[must_use]
pub fn formula_of_regions(formula: &SetFormula, regions: &[f64], covariance: &[f64]) -> Option<(f64, f64)> {
    let size = formula.weights().len() - 1;
    if regions.len() != size || covariance.len() != size * size {
        return None;
    }
    let weights = region_weights(formula);
    let dot = |row: &[f64]| row.iter().zip(&weights).map(|(x, w)| x * w).sum::<f64>();
    let variance: f64 = covariance.chunks_exact(size).zip(&weights).map(|(row, w)| w * dot(row)).sum();
    Some((dot(regions), variance.max(0.0).sqrt()))
}

fn with<T>(layout: &CellLayout, channel: BitChannel, f: impl FnOnce(Information<'_>) -> T) -> T {
    let terms: Vec<Term> = layout.terms();
    f(Information { terms: &terms, channel, hashes: f64::from(layout.hashes()) })
}

/// The expected information `H(n)`; infinite at 0 without noise.
#[must_use]
pub fn information(layout: &CellLayout, channel: BitChannel, n: f64) -> f64 {
    with(layout, channel, |information| information.expected(n))
}

/// The relative standard error if the number of items were Poisson, `1/(n·√H)`.
#[must_use]
pub fn rse_poisson(layout: &CellLayout, channel: BitChannel, n: f64) -> f64 {
    information(layout, channel, n).sqrt().recip() / n
}

/// The relative standard error for a fixed number of items, every pair of cells summed exactly, `√J/(H·n)`.
#[must_use]
pub fn rse_fixed_n(layout: &CellLayout, channel: BitChannel, n: f64) -> f64 {
    with(layout, channel, |information| information.variance_by_pairs(n)).sqrt() / n
}

/// The relative standard error for a fixed number of items to high accuracy, `√(1/H − n/hashes)/n`.
#[must_use]
pub fn rse_fixed_n_approx(layout: &CellLayout, channel: BitChannel, n: f64) -> f64 {
    with(layout, channel, |information| information.variance(n)).sqrt() / n
}

/// The likelihood ratio interval without the correction for dependent cells: every `n` with `2·(l(n̂) − l(n)) ≤ z²`.
///
/// Too wide where items are few a bucket. `None` for an end that does not exist.
#[must_use]
pub fn plain_likelihood_ratio_interval(counts: &LevelCounts, confidence: Confidence) -> (Option<f64>, Option<f64>) {
    ratio_interval(counts, confidence, |_| 1.0)
}

/// The interval [`estimate`](crate::estimate) uses near 0 and near the end of the range: every `n` with
/// `2·(l(n̂) − l(n)) ≤ z²·(1 − n̂·H(n̂))`. `None` for an end that does not exist.
#[must_use]
pub fn likelihood_ratio_interval(counts: &LevelCounts, confidence: Confidence) -> (Option<f64>, Option<f64>) {
    ratio_interval(counts, confidence, |n| counts.information().share_left(n))
}

fn ratio_interval(
    counts: &LevelCounts,
    confidence: Confidence,
    scale: impl Fn(f64) -> f64,
) -> (Option<f64>, Option<f64>) {
    let peak = mle(counts).n_hat;
    if peak.is_nan() {
        return (None, None);
    }
    let ends = likelihood_ratio(counts, peak, scale(peak), confidence);
    (Some(ends.lower), ends.upper)
}

/// The interval [`estimate`](crate::estimate) uses elsewhere: `n̂·exp(±z·√(1/H − n̂)/n̂)`. `None` at 0 and at the end of
/// the range.
#[must_use]
pub fn log_wald_interval(counts: &LevelCounts, confidence: Confidence) -> (Option<f64>, Option<f64>) {
    let maximum = mle(counts);
    if maximum.status != Status::Ok {
        return (None, None);
    }
    let information = counts.information();
    let ends = log_wald(maximum.n_hat, information.variance(maximum.n_hat).sqrt(), confidence.z());
    (Some(ends.lower), ends.upper)
}

/// The expected information of the sizes "only A", "only B", "both" in two parity sketches: the matrix whose inverse is
/// their covariance for Poisson numbers of items.
#[must_use]
pub fn joint_parity_information(counts: &JointParityCounts, regions: [f64; 3]) -> [[f64; 3]; 3] {
    counts.slope(regions).information
}

/// The probabilities that a pair of cells of two parity sketches reads 00, 01, 10, 11, table by table.
#[must_use]
pub fn joint_parity_law(counts: &JointParityCounts, regions: [f64; 3]) -> Vec<[f64; 4]> {
    counts.tables.iter().map(|table| counts.law.probabilities(table.rate, regions)).collect()
}

/// The joint log-likelihood of those sizes, relative to cells that are coins.
#[must_use]
pub fn joint_parity_log_likelihood(counts: &JointParityCounts, regions: [f64; 3]) -> f64 {
    counts.log_likelihood(regions)
}

/// The dilogarithm `Li₂(x) = Σ x^k/k²`, continued to `x ≤ 1`; NaN above 1.
///
/// # Examples
/// ```
/// let x = cardinality_estimators::diagnostics::dilogarithm(1.0);
/// assert!((x - std::f64::consts::PI.powi(2) / 6.0).abs() < 1e-15);
/// ```
#[must_use]
pub fn dilogarithm(x: f64) -> f64 {
    crate::asymptotic::dilogarithm(x)
}

/// `K[x, m]` at `x·(k+1) + m`: the probability that `x` of `k` sketches behind one channel read one in a cell that `m` of
/// them hold.
///
/// # Examples
/// ```
/// use cardinality_estimators::{BitChannel, diagnostics::tally_kernel};
/// // Two sketches, one of which holds the cell: 0.9·0.8 + 0.1·0.2 that one of the two reads one.
/// let kernel = tally_kernel(BitChannel::new(0.9, 0.2)?, 2);
/// assert!((kernel[3 + 1] - 0.74).abs() < 1e-15);
/// # Ok::<(), cardinality_estimators::ParamError>(())
/// ```
#[must_use]
pub fn tally_kernel(channel: BitChannel, sketches: usize) -> Vec<f64> {
    crate::law::kernel(channel, sketches)
}

/// The profile log-likelihood of a tally under the free law, and what is known of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FreeLawAt {
    /// `l(n)`, without multinomial coefficients.
    pub log_likelihood: f64,
    /// `dl/dn`.
    pub score: f64,
    /// No law of the cells has a log-likelihood higher than `log_likelihood + gap`; of more than 64 sketches, no law with
    /// weights on the numbers of holders that have one.
    pub gap: f64,
}

/// The free law's log-likelihood at a union of `n ≥ 0` items, with a certificate of at most `tolerance` where numbers allow.
#[must_use]
pub fn tally_free_law(counts: &TallyCounts, n: f64, tolerance: f64) -> FreeLawAt {
    crate::tally::free_law_at(counts, n, tolerance)
}
