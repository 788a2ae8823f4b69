//! The estimate: global maximum of the likelihood, its standard error and its interval.

use crate::estimate::Parts;
use crate::information::{Information, variance};
use crate::interval::{Ends, hull, log_wald};
use crate::likelihood::Slope;
use crate::solve::{Objective, Peak, climb, highest_peak};
use crate::{Confidence, Estimate, Grid, LevelCounts, Status};

/// The likelihood as the solver sees it.
struct Likelihood<'a> {
    counts: &'a LevelCounts,
    negligible_beyond: f64,
}

impl<'a> Likelihood<'a> {
    fn new(counts: &'a LevelCounts) -> Self {
        Self { counts, negligible_beyond: counts.channel().negligible_beyond() }
    }
}

impl Objective for Likelihood<'_> {
    fn grid(&self) -> Grid {
        self.counts.grid()
    }

    fn cap(&self) -> f64 {
        self.counts.n_cap()
    }

    fn height(&self, n: f64) -> f64 {
        self.counts.log_likelihood(n)
    }

    fn slope(&self, n: f64) -> Slope {
        self.counts.derivatives(n, self.negligible_beyond)
    }
}

/// The number of distinct items behind the counts, with its standard error and interval.
///
/// The value is the global maximum of the composite likelihood over `[0, n_cap]` and its standard error
/// `√(1/H − n̂)`. The interval is `n̂·exp(±z·std_error/n̂)` where `n̂` stands well clear of the noise (above four times
/// [`noise_floor`](crate::noise_floor)) and of the end of the range; elsewhere it holds every `n` with
/// `2·(l(n̂) − l(n)) ≤ z²·(1 − n̂·H(n̂))`, 0 included when it qualifies, and has no upper end when `n_cap` qualifies.
/// Sources: [HTC23] for the likelihood; variance and intervals are this crate's, and are checked by simulation in
/// `tests/statistical.rs`.
///
/// Never panics and never returns NaN, whatever the counts.
///
/// # Examples
/// ```
/// use cardinality_estimators::{BitChannel, Confidence, LevelCounts, Status, estimate};
/// // The counts to expect of 4000 items in eight levels of 1024 cells, each cell flipped with probability 0.1.
/// let ones = [805, 613, 419, 280, 197, 151, 127, 127];
/// let counts = LevelCounts::pcsa(1024, &ones, BitChannel::symmetric(0.1)?)?;
/// let answer = estimate(&counts, Confidence::P95);
/// assert_eq!(answer.status(), Status::Ok);
/// assert!(answer.value().is_some_and(|n| (n - 4000.0).abs() < 20.0) && answer.covers(4000.0));
/// # Ok::<(), cardinality_estimators::ParamError>(())
/// ```
pub fn estimate(counts: &LevelCounts, confidence: Confidence) -> Estimate {
    match maximise(counts) {
        Peak::Zero => at_zero(counts, confidence),
        Peak::Inside(n) => inside(counts, n, confidence),
        Peak::Cap => at_cap(counts, confidence),
        Peak::Lost => Estimate::not_converged(confidence),
    }
}

/// The global maximum: Newton from the best single level where that is certain to find it, else the whole grid.
pub(crate) fn maximise(counts: &LevelCounts) -> Peak {
    quick_peak(counts).map_or_else(|| maximise_on_grid(counts), Peak::Inside)
}

/// The global maximum by the grid alone.
pub(crate) fn maximise_on_grid(counts: &LevelCounts) -> Peak {
    highest_peak(&Likelihood::new(counts))
}

/// A maximum found by Newton, if it is certain to be the global one.
///
/// Without noise the likelihood has one maximum. With noise, suppose another `n'` fitted at least as well as `n̂`. Both
/// then lie within `√X²` of the data, where `X²` is Pearson's misfit at `n̂`, so within `2√X²` of each other; but two
/// counts a factor of two apart are about `ln 2/rse` apart in the same distance, and nearer ones lie in the region where
/// the likelihood of well-fitting data is concave. Hence a small misfit beside a small error is proof enough.
fn quick_peak(counts: &LevelCounts) -> Option<f64> {
    let n = climb(&Likelihood::new(counts), best_single_level(counts)?)?;
    if counts.channel().is_noiseless() {
        return Some(n);
    }
    let (misfit, information) = fit(counts, n);
    let precision = n * n * information;
    (precision > 100.0 && misfit < 0.12 * precision).then_some(n)
}

/// Pearson's `X²` of the counts against `n` items, and `H(n)`.
fn fit(counts: &LevelCounts, n: f64) -> (f64, f64) {
    let channel = counts.channel();
    let information = Information { terms: &counts.terms, channel };
    let misfit = counts
        .terms
        .iter()
        .map(|term| {
            let cell = channel.cell(term.rate * n);
            let residual = term.ones - term.cells() * cell.on;
            let spread = term.cells() * cell.on * (channel.miss() + channel.d() * cell.empty);
            residual * residual / spread
        })
        .sum();
    (misfit, information.expected(n))
}

/// The closed form of the level that says most about the count.
fn best_single_level(counts: &LevelCounts) -> Option<f64> {
    let channel = counts.channel();
    let mut best = (0.0, None);
    for term in &counts.terms {
        let on = term.ones / term.cells();
        let empty = (channel.p() - on) / channel.d();
        if !(empty > 0.0 && empty < 1.0) {
            continue;
        }
        let x = -empty.ln();
        let reach = x * channel.d() * empty;
        let worth = term.cells() * reach * reach / (on * (1.0 - on));
        if worth > best.0 {
            best = (worth, Some(x / term.rate));
        }
    }
    best.1
}

fn inside(counts: &LevelCounts, n: f64, confidence: Confidence) -> Estimate {
    let information = Information { terms: &counts.terms, channel: counts.channel() };
    let at_peak = information.expected(n);
    let std_error = variance(at_peak, n).sqrt();
    if !std_error.is_finite() {
        return Estimate::not_converged(confidence);
    }
    let floor = information.expected(0.0).sqrt().recip();
    let wald = log_wald(n, std_error, confidence.z());
    let clear = n > 4.0 * floor && n > 4.0 * std_error && wald.upper.is_some_and(|upper| upper < counts.n_cap());
    let ends = if clear { wald } else { likelihood_ratio(counts, n, scale(at_peak, n), confidence) };
    let known = 2.0 * std_error <= n && ends.upper.is_some();
    let status = if known { Status::Ok } else { Status::LowInformation };
    let parts = Parts { value: Some(n), std_error: Some(std_error), lower: Some(ends.lower), upper: ends.upper };
    Estimate::from_parts(status, parts, confidence)
}

fn at_zero(counts: &LevelCounts, confidence: Confidence) -> Estimate {
    let channel = counts.channel();
    let empty = channel.is_noiseless() && counts.is_all_zero();
    let status = if empty { Status::Empty } else { Status::BelowNoise };
    let information = Information { terms: &counts.terms, channel }.expected(0.0);
    let ends = likelihood_ratio(counts, 0.0, scale_at_zero(counts, information), confidence);
    let std_error = information.sqrt().recip();
    let parts = Parts { value: Some(0.0), std_error: Some(std_error), lower: Some(0.0), upper: ends.upper };
    Estimate::from_parts(status, parts, confidence)
}

fn at_cap(counts: &LevelCounts, confidence: Confidence) -> Estimate {
    let n = counts.n_cap();
    let information = Information { terms: &counts.terms, channel: counts.channel() }.expected(n);
    let ends = likelihood_ratio(counts, n, scale(information, n), confidence);
    let parts = Parts { value: None, std_error: None, lower: Some(ends.lower), upper: None };
    Estimate::from_parts(Status::Saturated, parts, confidence)
}

/// The counts whose scaled likelihood ratio against the peak stays below `z²`.
pub(crate) fn likelihood_ratio(counts: &LevelCounts, peak: f64, scale: f64, confidence: Confidence) -> Ends {
    let top = counts.log_likelihood(peak);
    let cut = confidence.z() * confidence.z() * scale;
    if cut <= 0.0 {
        return Ends { lower: peak, upper: Some(peak) };
    }
    hull(counts.grid(), counts.n_cap(), peak, |n| 2.0 * (top - counts.log_likelihood(n)) <= cut)
}

/// `1 − n·H`: how much less the likelihood ratio varies than it would with independent cells.
fn scale(information: f64, n: f64) -> f64 {
    (1.0 - n * information).clamp(0.0, 1.0)
}

/// The limit of [`scale`] at 0; without noise `H` is infinite there and `n·H` tends to the summed rates.
fn scale_at_zero(counts: &LevelCounts, information: f64) -> f64 {
    if information.is_finite() {
        return 1.0;
    }
    let mass: f64 = counts.terms.iter().map(|term| term.cells() * term.rate).sum();
    (1.0 - counts.channel().d() * mass).max(0.0)
}
