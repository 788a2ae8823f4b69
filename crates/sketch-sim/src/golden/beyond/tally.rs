//! Kinds `tally_kernel`, `tally_loglik` and `tally_mle`: both laws of tallies, and their guarded combination.

use cardinality_estimators::diagnostics::{tally_free_law, tally_kernel};
use cardinality_estimators::tally::{LawEstimate, SizeSpread, TallyClass, TallyCounts, TallyEstimate, estimate_union};
use cardinality_estimators::{BitChannel, CellLayout, Confidence};

use crate::golden::input::missing;
use crate::golden::{CaseError, Got, Input};
use crate::number;

const CONFIDENCE: Confidence = Confidence::P95;
/// Relative to the count: maxima of a likelihood, and the ends of its interval.
const COUNT: f64 = 1e-4;
const END: f64 = 3e-3;
/// Of log-likelihoods at their maxima, and of twice their difference.
const HEIGHT: f64 = 1e-3;
const MISFIT: f64 = 2e-3;
/// The files give the misfit with six digits: the last may be half a unit off.
const SIX_DIGITS: f64 = 5e-6;
/// Of the combination, relative to it.
const COMBINED: f64 = 2e-3;
const COMBINED_END: f64 = 5e-3;
/// Of the weight of the shared law, beside what another number of positive weights changes.
const WEIGHT: f64 = 1e-3;
/// What may be missing of a profile's height.
const GAP: f64 = 1e-9;
/// Of a score, relative to it or to this part of 1/n, whichever is larger.
const SCORE: f64 = 1e-4;
const SCORE_UNIT: f64 = 1e-3;

pub(super) fn kernel(input: Input<'_>, expect: Input<'_>) -> Result<Got, CaseError> {
    let sketches: usize = input.integer("k")?;
    let kernel = tally_kernel(channel(input)?, sketches);
    let entry = |entry: &serde_json::Value| {
        let at = |index: usize| entry[index].as_u64().and_then(|value| usize::try_from(value).ok());
        let (x, m) = at(0).zip(at(1)).ok_or_else(|| missing("entries", "a list of triples"))?;
        let inside = x <= sketches && m <= sketches;
        let value = kernel.get(x * (sketches + 1) + m).copied().filter(|_| inside).unwrap_or(f64::NAN);
        Ok(Got::List(vec![Got::Integer(x as u64), Got::Integer(m as u64), Got::Number(value)]))
    };
    let entries = expect.list("entries")?.iter().map(entry).collect::<Result<_, CaseError>>()?;
    Ok(Got::fields([("entries", Got::List(entries))]))
}

pub(super) fn log_likelihood(input: Input<'_>, expect: Input<'_>) -> Result<Got, CaseError> {
    let counts = counts(input)?;
    let (mut values, mut scores) = (Vec::new(), Vec::new());
    for (n, want) in input.numbers("n")?.into_iter().zip(expect.list("score")?) {
        let found = tally_free_law(&counts, n, GAP);
        values.push(Got::Number(found.log_likelihood));
        // A score that the file does not give is not asked for.
        scores.push(want.as_f64().map_or(Got::Absent, |want| Got::Near {
            value: found.score,
            relative: 0.0,
            absolute: SCORE * want.abs().max(SCORE_UNIT / n),
        }));
    }
    Ok(Got::fields([("profile_loglik", Got::List(values)), ("score", Got::List(scores))]))
}

pub(super) fn maximum(input: Input<'_>, expect: Input<'_>) -> Result<Got, CaseError> {
    let counts = counts(input)?;
    let sizes: Vec<(f64, f64)> = input.numbers("sizes")?.into_iter().zip(input.numbers("size_variances")?).collect();
    let sizes = SizeSpread::new(&sizes).map_err(CaseError::refused)?;
    let whole = estimate_union(&counts, Some(&sizes), CONFIDENCE).map_err(CaseError::refused)?;
    let unknown = estimate_union(&counts, None, CONFIDENCE).map_err(CaseError::refused)?;
    let weights = [whole.free(), whole.shared()].map(|law| law.positive_weights());
    let positive = |weights: usize| near_by(number::length(weights), 0.0, 1.0);
    Ok(Got::fields([
        ("profile", fit(whole.free())?),
        ("shared", fit(whole.shared())?),
        ("misfit_G", near_by(whole.misfit(), SIX_DIGITS, MISFIT)),
        ("positive_weights", Got::fields([("free", positive(weights[0])), ("shared", positive(weights[1]))])),
        ("size_cv2", Got::Number(sizes.size_cv2())),
        ("size_z", Got::Number(sizes.size_z())),
        ("default", combination(&whole, weight_slack(expect, weights, sizes.size_cv2())?)?),
        ("default_sizes_unknown", combination(&unknown, weight_slack(expect, weights, 0.0)?)?),
    ]))
}

fn fit(law: LawEstimate) -> Result<Got, CaseError> {
    let (lower, upper) = law.interval().ok_or_else(|| missing("histograms", "counts with an interval"))?;
    Ok(Got::fields([
        ("n_hat", near_by(law.n_hat(), COUNT, 0.0)),
        ("loglik", near_by(law.log_likelihood(), 0.0, HEIGHT)),
        ("low", near_by(lower, END, 0.0)),
        ("high", near_by(upper.unwrap_or(f64::INFINITY), END, 0.0)),
    ]))
}

fn combination(answer: &TallyEstimate, slack: f64) -> Result<Got, CaseError> {
    let estimate = answer.estimate();
    let number = |value: Option<f64>, relative| {
        value.map(|value| near_by(value, relative, 0.0)).ok_or_else(|| missing("histograms", "counts with an answer"))
    };
    Ok(Got::fields([
        ("estimate", number(estimate.value(), COMBINED)?),
        ("low", number(estimate.lower(), COMBINED_END)?),
        ("high", number(estimate.upper(), COMBINED_END)?),
        ("weight_shared", near_by(answer.shared_weight(), 0.0, slack)),
    ]))
}

/// How far the weight may be off: what it changes by when the numbers of positive weights are not those of the file, each
/// of which may differ by one.
fn weight_slack(expect: Input<'_>, [free, shared]: [usize; 2], size_cv2: f64) -> Result<f64, CaseError> {
    let misfit = expect.number("misfit_G")?;
    let wanted = Input::new(expect.value("positive_weights")?);
    let weight = |free: f64, shared: f64| {
        let dimension = (free - shared).max(1.0);
        let bound = dimension + 2.0 * (2.0 * dimension).sqrt();
        (bound / misfit).min(1.0).powi(2) / (1.0 + (size_cv2 / 0.01).powi(2))
    };
    let found = weight(number::length(free), number::length(shared));
    Ok(WEIGHT + (found - weight(wanted.number("free")?, wanted.number("shared")?)).abs())
}

fn near_by(value: f64, relative: f64, absolute: f64) -> Got {
    Got::Near { value, relative, absolute }
}

fn counts(input: Input<'_>) -> Result<TallyCounts, CaseError> {
    let layout = CellLayout::pcsa(input.integer("buckets")?, input.integer("levels")?).map_err(CaseError::refused)?;
    let class = TallyClass { channel: channel(input)?, sketches: input.integer("k")? };
    let histograms = lists(input, "histograms")?;
    TallyCounts::new(&layout, &[class], histograms).map_err(CaseError::refused)
}

/// Lists of whole numbers in order.
pub(super) fn lists(input: Input<'_>, field: &str) -> Result<Vec<Vec<u64>>, CaseError> {
    let counts = |list: &serde_json::Value| {
        let numbers = list.as_array()?.iter().map(serde_json::Value::as_u64);
        numbers.collect::<Option<Vec<u64>>>()
    };
    let lists = input.list(field)?.iter().map(counts).collect::<Option<Vec<_>>>();
    lists.ok_or_else(|| missing(field, "lists of whole numbers"))
}

fn channel(input: Input<'_>) -> Result<BitChannel, CaseError> {
    BitChannel::new(input.number("p")?, input.number("q")?).map_err(CaseError::refused)
}
