//! From the maximum of the likelihood to an answer with standard error, interval and status.

use crate::estimate::Parts;
use crate::interval::{Ends, crossing_above_zero, crossings, hull, log_wald};
use crate::maximum::maximise;
use crate::one_group::OneGroup;
use crate::solve::{Peak, Summit};
use crate::{Confidence, Estimate, LevelCounts, Status};

/// The number of distinct items behind the counts, with its standard error and interval.
///
/// The value is the global maximum of the composite likelihood over `[0, n_cap]` and its standard error
/// `√(1/H − n̂)`. The interval is `n̂·exp(±z·std_error/n̂)` where the relative error is the same all along it. Towards the
/// noise floor and towards the end of the range it is not, and the interval holds every `n` with
/// `2·(l(n̂) − l(n)) ≤ z²·(1 − n̂·H(n̂))`, 0 included when it qualifies; it has no upper end when `n_cap` qualifies. Without
/// noise the upper end is rounded up to a whole item.
///
/// Sources: \[HTC23\] for the likelihood; variance and intervals are this crate's own and are checked by simulation in
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
    if let [only] = counts.terms.as_slice() {
        let group = OneGroup::new(*only, counts.channel(), counts.information().hashes, counts.n_cap());
        return group.estimate(counts, confidence);
    }
    let Summit { peak, alone } = maximise(counts);
    match peak {
        Peak::Zero => at_zero(counts, alone, confidence),
        Peak::Inside(n) => inside(counts, n, alone, confidence),
        Peak::Cap => at_cap(counts, confidence),
        Peak::Lost => Estimate::not_converged(confidence),
    }
}

fn inside(counts: &LevelCounts, n: f64, alone: bool, confidence: Confidence) -> Estimate {
    let information = counts.information();
    let std_error = information.variance(n).sqrt();
    if !std_error.is_finite() {
        return Estimate::not_converged(confidence);
    }
    let wald = log_wald(n, std_error, confidence.z());
    let rse = |end: f64| information.variance(end).sqrt() / end;
    let scale = information.share_left(n);
    let ends = if wald.is_even(std_error / n, counts.n_cap(), rse) {
        wald
    } else if alone {
        crossings(n, wald, counts.n_cap(), confidence.z() * scale.sqrt(), root_ratio(counts, n))
    } else {
        likelihood_ratio(counts, n, scale, confidence)
    };
    let ends = if counts.channel().is_noiseless() { ends.to_whole_items() } else { ends };
    let status = Status::of_value(n, std_error, ends.upper);
    let parts = Parts { value: Some(n), std_error: Some(std_error), lower: Some(ends.lower), upper: ends.upper };
    Estimate::from_parts(status, parts, confidence)
}

fn at_zero(counts: &LevelCounts, alone: bool, confidence: Confidence) -> Estimate {
    let empty = counts.channel().is_noiseless() && counts.is_all_zero();
    let status = if empty { Status::Empty } else { Status::BelowNoise };
    let std_error = counts.information().expected(0.0).sqrt().recip();
    let scale = counts.information().share_left(0.0);
    let upper = if alone {
        let guess = (confidence.z() * std_error).max(1.0);
        crossing_above_zero(guess, counts.n_cap(), confidence.z() * scale.sqrt(), root_ratio(counts, 0.0))
    } else {
        likelihood_ratio(counts, 0.0, scale, confidence).upper
    };
    let std_error = Some(std_error).filter(|error| error.is_finite());
    let parts = Parts { value: Some(0.0), std_error, lower: Some(0.0), upper };
    Estimate::from_parts(status, parts, confidence)
}

fn at_cap(counts: &LevelCounts, confidence: Confidence) -> Estimate {
    let n = counts.n_cap();
    let ends = likelihood_ratio(counts, n, counts.information().share_left(n), confidence);
    let parts = Parts { value: None, std_error: None, lower: Some(ends.lower), upper: None };
    Estimate::from_parts(Status::Saturated, parts, confidence)
}

/// `√(2(l(peak) − l(n)))`.
pub(crate) fn root_ratio(counts: &LevelCounts, peak: f64) -> impl Fn(f64) -> f64 {
    let top = counts.relative_log_likelihood(peak);
    move |n| (2.0 * (top - counts.relative_log_likelihood(n))).max(0.0).sqrt()
}

/// The hull of the counts whose likelihood ratio against the peak stays below `scale·z²`.
pub(crate) fn likelihood_ratio(counts: &LevelCounts, peak: f64, scale: f64, confidence: Confidence) -> Ends {
    let cut = confidence.z() * scale.sqrt();
    if cut <= 0.0 {
        return Ends { lower: peak, upper: Some(peak) };
    }
    let distance = root_ratio(counts, peak);
    hull(counts.grid(), counts.n_cap(), peak, |n| distance(n) <= cut)
}
