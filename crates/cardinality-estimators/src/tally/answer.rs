//! The size of a union from a tally.

use core::fmt;

use super::free::FreeLaw;
use super::free_fit::FreeFit;
use super::guard::{Guard, LawEstimate};
use super::shared::SharedLaw;
use super::shared_fit::SharedFit;
use super::{SizeSpread, TallyCounts};
use crate::estimate::Parts;
use crate::solve::Peak;
use crate::{Confidence, Estimate, LevelCounts, ParamError, Status};

/// Which law an answer stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TallyMethod {
    /// The shared law alone, with its own interval: nothing speaks against it.
    Shared,
    /// Both laws, and an interval that holds for either.
    Mixed,
    /// The free law, but for a weight below 0.05.
    Free,
}

impl TallyMethod {
    /// The word used in every output format.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Shared => "shared",
            Self::Mixed => "mixed",
            Self::Free => "free",
        }
    }
}

impl fmt::Display for TallyMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The size of a union from a tally, and how it came about.
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use]
pub struct TallyEstimate {
    estimate: Estimate,
    guard: Guard,
    free: LawEstimate,
    shared: LawEstimate,
}

impl TallyEstimate {
    /// The answer.
    pub const fn estimate(&self) -> Estimate {
        self.estimate
    }

    /// Which law it stands on.
    #[must_use]
    pub fn method(&self) -> TallyMethod {
        if self.guard.sharp >= 1.0 {
            TallyMethod::Shared
        } else if self.guard.weight < 0.05 {
            TallyMethod::Free
        } else {
            TallyMethod::Mixed
        }
    }

    /// The weight `w` of the shared law in `ln n̂`, 0 to 1.
    #[must_use]
    pub const fn shared_weight(&self) -> f64 {
        self.guard.weight
    }

    /// `G = 2·(l_free − l_shared)`: what assuming that no set is special costs; infinite where the free law has no answer
    /// between 0 and the end of the range or the shared law none below it.
    ///
    /// It may be a little below 0: the shared law takes the number of items for Poisson's and the free law for fixed, so the
    /// chance of an empty cell is `e^(−ρ·n)` in the one and `(1 − ρ)^n` in the other.
    #[must_use]
    pub const fn misfit(&self) -> f64 {
        self.guard.misfit
    }

    /// What the free law says; of a single sketch, which has one law, what its likelihood says.
    #[must_use]
    pub const fn free(&self) -> LawEstimate {
        self.free
    }

    /// What the shared law says. Never report it alone: of sets of different sizes it may be far off, and its own interval
    /// does not show it.
    #[must_use]
    pub const fn shared(&self) -> LawEstimate {
        self.shared
    }
}

/// The number of distinct items in the union of the sets behind a tally, with its interval.
///
/// With `S` and `F` the sizes at which the shared and the free law are most likely, `ln n̂ = w·ln S + (1 − w)·ln F`. The
/// weight `w` falls with the misfit `G` of the shared law and with the spread of the sketches' own sizes, if these are
/// given: sets of different sizes that a tally cannot tell from equal ones bias the shared law. Without `sizes` the interval
/// is never that of the shared law alone. The standard error is the half width of the 95 % interval on the logarithmic scale
/// over its `z`, times `n̂`, whatever the confidence. A single sketch is estimated as [`estimate`](crate::estimate) does.
/// Where `S` is 0, the value is 0 if `w ≥ 0.5` and `F` if not, and the interval starts at 0 from `w = 0.05` on.
///
/// | status | when |
/// |---|---|
/// | `empty` | noiseless sketches without a one |
/// | `below_noise` | the free law is highest at 0, or the shared law is and has half of the weight |
/// | `saturated` | the free law is highest at the end of the range |
/// | `low_information` | the standard error exceeds half the value, or nothing bounds the union from above at 95 % or at the confidence asked for |
///
/// Ours. Intervals of 95 % are checked by simulation, of sets of many shapes, and their constants were set there: other
/// confidences move the cut of the likelihoods and nothing else. The number of items counts as Poisson's, without the
/// correction for a fixed number that one sketch gets, so of few items and little noise the intervals are too long.
///
/// # Errors
/// [`ParamError::Sketches`] when `sizes` are not those of as many sketches.
///
/// # Examples
/// ```
/// use cardinality_estimators::tally::{SizeSpread, TallyClass, TallyCounts, TallyMethod, estimate_union};
/// use cardinality_estimators::{BitChannel, CellLayout, Confidence};
/// let class = TallyClass { channel: BitChannel::symmetric(0.2)?, sketches: 2 };
/// let layout = CellLayout::pcsa(1000, 4)?;
/// // What to expect of two sets of 1000 items each, disjoint.
/// let histograms = [[318, 492, 190], [445, 444, 111], [532, 395, 73], [532, 395, 73]];
/// let counts = TallyCounts::new(&layout, &[class], histograms.iter().map(|h| h.to_vec()).collect())?;
/// let sizes = SizeSpread::new(&[(1000.0, 4000.0), (1010.0, 4000.0)])?;
/// let answer = estimate_union(&counts, Some(&sizes), Confidence::P95)?;
/// assert_eq!(answer.method(), TallyMethod::Shared);
/// assert!(answer.estimate().covers(2000.0));
/// # Ok::<(), cardinality_estimators::ParamError>(())
/// ```
pub fn estimate_union(
    counts: &TallyCounts,
    sizes: Option<&SizeSpread>,
    confidence: Confidence,
) -> Result<TallyEstimate, ParamError> {
    answer(counts, sizes, confidence, true)
}

/// As [`estimate_union`] without an interval, several times faster: the standard error is from the bends of the likelihoods
/// at their highest points.
///
/// The status knows no more than that: `ok` says that this error is at most half the value, not that an interval would end.
///
/// # Errors
/// As [`estimate_union`].
pub fn point_union(
    counts: &TallyCounts,
    sizes: Option<&SizeSpread>,
    confidence: Confidence,
) -> Result<TallyEstimate, ParamError> {
    answer(counts, sizes, confidence, false)
}

fn answer(
    counts: &TallyCounts,
    sizes: Option<&SizeSpread>,
    confidence: Confidence,
    intervals: bool,
) -> Result<TallyEstimate, ParamError> {
    if let Some(sizes) = sizes.filter(|sizes| sizes.sketches() != counts.sketches()) {
        return Err(ParamError::Sketches { found: sizes.sketches() });
    }
    if let Some(single) = counts.single() {
        return Ok(of_one(&single?, confidence));
    }
    let Some(mut law) = FreeLaw::new(counts) else {
        return Err(ParamError::States { found: counts.states() });
    };
    let free = law.maximise();
    let shared_law = SharedLaw::new(counts);
    let shared = shared_law.maximise(free.n);
    let guard = Guard::new(&free, &shared, sizes);
    let mut laws = Laws { free: of_free(&free), shared: of_shared(&shared) };
    let mut usual = None;
    if intervals && free.peak != Peak::Lost {
        let mut at = |confidence: Confidence| {
            let z = confidence.z();
            let ends = (guard.weight > 0.0).then(|| shared_law.interval(&shared, z));
            Laws {
                free: LawEstimate { ends: Some(law.interval(&free, z)), ..laws.free },
                shared: LawEstimate { ends, ..laws.shared },
            }
        };
        if confidence != Confidence::P95 {
            usual = Some(at(Confidence::P95));
        }
        laws = at(confidence);
    }
    let usual = usual.unwrap_or(laws);
    let estimate = together(counts, &guard, free.peak, [&laws, &usual], confidence);
    Ok(TallyEstimate { estimate, guard, free: laws.free, shared: laws.shared })
}

/// What both laws say, with ends of one confidence or without.
#[derive(Clone, Copy)]
struct Laws {
    free: LawEstimate,
    shared: LawEstimate,
}

fn of_free(fit: &FreeFit) -> LawEstimate {
    LawEstimate {
        n_hat: fit.n,
        log_likelihood: fit.log_likelihood,
        positive_weights: fit.positive_weights,
        reach: fit.reach,
        ends: None,
    }
}

fn of_shared(fit: &SharedFit) -> LawEstimate {
    LawEstimate {
        n_hat: if fit.peak == Peak::Zero { 0.0 } else { fit.n },
        log_likelihood: fit.log_likelihood,
        positive_weights: fit.positive_weights(),
        reach: fit.reach,
        ends: None,
    }
}

/// One sketch has one law.
fn of_one(counts: &LevelCounts, confidence: Confidence) -> TallyEstimate {
    let estimate = crate::estimate(counts, confidence);
    let n_hat = estimate.value().unwrap_or(if estimate.status() == Status::Saturated { counts.n_cap() } else { 0.0 });
    let reach = estimate.std_error().map_or(f64::NAN, |error| error / n_hat);
    let ends = estimate.lower().map(|lower| (lower, estimate.upper()));
    let law = LawEstimate { n_hat, log_likelihood: counts.log_likelihood(n_hat), positive_weights: 1, reach, ends };
    let guard = Guard { weight: 1.0, sharp: 1.0, misfit: 0.0 };
    TallyEstimate { estimate, guard, free: law, shared: law }
}

/// `laws` with the ends asked for and with those of 95 %, from which the standard error is.
fn together(counts: &TallyCounts, guard: &Guard, peak: Peak, laws: [&Laws; 2], confidence: Confidence) -> Estimate {
    let [(lower, upper), (_, usual)] =
        laws.map(|laws| laws.free.ends.map_or((None, None), |(lower, upper)| (Some(lower), upper)));
    match peak {
        Peak::Lost => Estimate::not_converged(confidence),
        Peak::Cap => {
            let parts = Parts { value: None, std_error: None, lower, upper: None };
            Estimate::from_parts(Status::Saturated, parts, confidence)
        }
        Peak::Zero => {
            let empty = counts.is_noiseless() && counts.is_all_zero();
            let status = if empty { Status::Empty } else { Status::BelowNoise };
            nothing(status, [upper, usual], confidence)
        }
        Peak::Inside(_) => inside(guard, laws, confidence),
    }
}

/// The value 0 with an end above as asked for, and that of 95 %.
fn nothing(status: Status, [upper, usual]: [Option<f64>; 2], confidence: Confidence) -> Estimate {
    let std_error = usual.map(|usual| usual / Confidence::P95.z()).filter(|error| error.is_finite());
    Estimate::from_parts(status, Parts { value: Some(0.0), std_error, lower: Some(0.0), upper }, confidence)
}

fn inside(guard: &Guard, laws: [&Laws; 2], confidence: Confidence) -> Estimate {
    let [Laws { free, shared }, _] = laws;
    let value = guard.value(free.n_hat, shared.n_hat);
    if !(value.is_finite() && value >= 0.0) {
        return Estimate::not_converged(confidence);
    }
    let reach = guard.mixed_reach(free, shared);
    if free.ends.is_none() {
        let error = value * reach;
        let status = match value {
            0.0 => Status::BelowNoise,
            _ if 2.0 * error <= value => Status::Ok,
            _ => Status::LowInformation,
        };
        let std_error = Some(error).filter(|error| error.is_finite() && value > 0.0);
        let parts = Parts { value: Some(value), std_error, lower: None, upper: None };
        return Estimate::from_parts(status, parts, confidence);
    }
    let [(lower, upper), (low, high)] = laws.map(|laws| guard.interval(value, &laws.free, &laws.shared));
    let [upper, usual] = [upper, high].map(|end| Some(end).filter(|end| end.is_finite()));
    if value <= 0.0 {
        return nothing(Status::BelowNoise, [upper, usual], confidence);
    }
    let arm = (high.ln() - low.ln()) / (2.0 * Confidence::P95.z());
    let std_error = value * if arm.is_finite() { arm } else { reach };
    let status = Status::of_value(value, std_error, usual.and(upper));
    let std_error = Some(std_error).filter(|error| error.is_finite());
    Estimate::from_parts(status, Parts { value: Some(value), std_error, lower: Some(lower), upper }, confidence)
}
