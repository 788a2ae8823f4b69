//! Kinds `likelihood`, `edge` and `asymptotic`: what the estimators make of counts and a channel.

use cardinality_estimators::{
    BitChannel, CellLayout, Confidence, LevelCounts, Status, asymptotic_information, asymptotic_rse, diagnostics,
    estimate,
};

use crate::golden::{CaseError, Got, Input};

/// `d1` is a difference of large sums: its absolute tolerance is this part of `|ll|/n`.
const SLOPE_TOLERANCE: f64 = 1e-13;

pub(super) fn likelihood(input: Input<'_>, expect: Input<'_>) -> Result<Got, CaseError> {
    let (counts, layout, channel) = (counts(input)?, layout(input)?, channel(input)?);
    let points: Vec<f64> =
        expect.list("evaluations")?.iter().map(|point| Input::new(point).number("n")).collect::<Result<_, _>>()?;
    let (status, mle) = maximum(&counts);
    Ok(Got::fields([
        ("evaluations", Got::List(points.into_iter().map(|n| evaluation(&counts, n)).collect())),
        ("status", Got::text(status)),
        ("mle", Got::Number(mle)),
        ("info_H", Got::Number(diagnostics::information(&layout, channel, mle))),
        ("rse_poisson", Got::Number(diagnostics::rse_poisson(&layout, channel, mle))),
        ("rse_fixed_n", Got::Number(diagnostics::rse_fixed_n(&layout, channel, mle))),
        ("rse_fixed_n_approx", Got::Number(diagnostics::rse_fixed_n_approx(&layout, channel, mle))),
    ]))
}

fn evaluation(counts: &LevelCounts, n: f64) -> Got {
    let at = diagnostics::log_likelihood(counts, n);
    let slope_tolerance = if n > 0.0 { SLOPE_TOLERANCE * at.value.abs() / n } else { 0.0 };
    Got::fields([
        ("n", Got::Number(n)),
        ("ll", Got::Number(at.value)),
        ("d1", Got::Within(at.d1, slope_tolerance)),
        ("d2", Got::Number(at.d2)),
    ])
}

pub(super) fn edge(input: Input<'_>) -> Result<Got, CaseError> {
    let counts = counts(input)?;
    let (status, mle) = maximum(&counts);
    Ok(Got::fields([
        ("status", Got::text(status)),
        ("mle", Got::Number(mle)),
        ("n_cap", Got::Number(counts.n_cap())),
        ("score_at_0", Got::Number(diagnostics::log_likelihood(&counts, 0.0).d1)),
    ]))
}

pub(super) fn asymptotic(input: Input<'_>) -> Result<Got, CaseError> {
    let channel = channel(input)?;
    Ok(Got::fields([
        ("I", Got::Number(asymptotic_information(channel))),
        ("rse", Got::Number(asymptotic_rse(input.integer("B")?, channel))),
    ]))
}

/// The product's answer, with the end of the range where it has no value because it is saturated.
fn maximum(counts: &LevelCounts) -> (&'static str, f64) {
    let answer = estimate(counts, Confidence::P95);
    let cap = || if answer.status() == Status::Saturated { counts.n_cap() } else { f64::NAN };
    (golden_word(answer.status()), answer.value().unwrap_or_else(cap))
}

/// The golden file's word for a status of the product.
fn golden_word(status: Status) -> &'static str {
    match status {
        Status::Ok | Status::LowInformation => "interior",
        Status::BelowNoise => "boundary0",
        other => other.as_str(),
    }
}

pub(super) fn channel(input: Input<'_>) -> Result<BitChannel, CaseError> {
    BitChannel::new(input.number("p")?, input.number("q")?).map_err(CaseError::refused)
}

fn layout(input: Input<'_>) -> Result<CellLayout, CaseError> {
    CellLayout::pcsa(input.integer("B")?, input.integer("P")?).map_err(CaseError::refused)
}

fn counts(input: Input<'_>) -> Result<LevelCounts, CaseError> {
    let ones = input.integers("ones_per_level")?;
    if input.integer::<usize>("P")? != ones.len() {
        return Err(crate::golden::input::missing("ones_per_level", "a list of P counts"));
    }
    LevelCounts::pcsa(input.integer("B")?, &ones, channel(input)?).map_err(CaseError::refused)
}
