//! Kinds of one sketch: what counts to expect, and what the estimators make of them.

use cardinality_estimators::parity::{
    IntervalIntersection, ItemWeights, ParityCounts, ParityErrors, ParityLayout, ParityModel, PlanRequest, Radius,
    TableInterval, expected_ones, expected_ones_of_weights, parity_asymptotic_rse, sampling_variance,
};
use cardinality_estimators::{Confidence, ParamError, Status, diagnostics};

use crate::golden::input::missing;
use crate::golden::{CaseError, Got, Input};

pub(super) fn expected(input: Input<'_>) -> Result<Got, CaseError> {
    let ones =
        expected_ones(&layout(input)?, model(input)?, ItemWeights::Unit, contrast(input, "p")?, input.number("n")?);
    Ok(Got::fields([("ones", Got::numbers(ones.map_err(CaseError::refused)?))]))
}

pub(super) fn weighted_expected(input: Input<'_>) -> Result<Got, CaseError> {
    let (layout, model, contrast) = (layout(input)?, model(input)?, contrast(input, "p")?);
    let weights = input.numbers("weights")?;
    let total: f64 = weights.iter().sum();
    let all = || -> Result<Got, ParamError> {
        let poisson = expected_ones(&layout, model, ItemWeights::Weighted, contrast, total)?;
        Ok(Got::fields([
            ("total_weight", Got::Number(total)),
            ("ones_exact", Got::numbers(expected_ones_of_weights(&layout, model, contrast, &weights)?)),
            ("ones_poisson", Got::numbers(poisson)),
            ("sampling_variance", Got::Number(sampling_variance(&weights))),
        ]))
    };
    all().map_err(CaseError::refused)
}

pub(super) fn loglik(input: Input<'_>) -> Result<Got, CaseError> {
    let n = input.number("n")?;
    let at = diagnostics::log_likelihood(counts(input)?.level_counts(), n);
    Ok(Got::fields([
        ("loglik", Got::Number(at.value)),
        ("d1", Got::Number(at.d1)),
        ("d2", Got::Number(at.d2)),
        ("fisher", Got::Number(errors(input)?.information(n))),
    ]))
}

pub(super) fn mle(input: Input<'_>) -> Result<Got, CaseError> {
    let (counts, errors) = (counts(input)?, errors(input)?);
    let levels = counts.level_counts();
    let maximum = diagnostics::mle(levels);
    let n = maximum.n_hat;
    let std_error = n * errors.rse_poisson(n);
    let (lower, upper) = diagnostics::plain_likelihood_ratio_interval(levels, Confidence::P95);
    let factor = (Confidence::P95.z() * std_error / n).exp();
    let mut fields = vec![
        ("n_hat", Got::Number(n)),
        ("loglik", Got::Number(diagnostics::log_likelihood(levels, n).value)),
        ("fisher", Got::Number(errors.information(n))),
        ("se", Got::Number(std_error)),
        ("se_fixed_n", Got::Number(errors.std_error_weighted(n, n))),
        ("lr_ci", Got::List(vec![end(lower), end(upper)])),
        ("wald_log_ci", Got::numbers([n / factor, n * factor])),
    ];
    if maximum.status == Status::Saturated {
        fields.push(("saturated", Got::Truth(true)));
    }
    Ok(Got::Fields(fields.into_iter().map(|(name, got)| (name.to_owned(), got)).collect()))
}

pub(super) fn predicted_error(input: Input<'_>) -> Result<Got, CaseError> {
    let (errors, n) = (errors(input)?, input.number("n")?);
    Ok(Got::fields([
        ("fisher", Got::Number(errors.information(n))),
        ("rse", Got::Number(errors.rse_poisson(n))),
        ("rse_fixed_n", Got::Number(errors.rse(n))),
        ("rse_smooth", Got::Number(parity_asymptotic_rse(input.integer("cells")?, contrast(input, "p")?))),
        ("se_at_zero", Got::Number(errors.at_zero())),
    ]))
}

pub(super) fn plan(input: Input<'_>) -> Result<Got, CaseError> {
    let model = match input.text("mode")? {
        "set" => ParityModel::Set,
        "presampled" => ParityModel::Presampled,
        _ => return Err(missing("mode", "set or presampled")),
    };
    let request = PlanRequest {
        model,
        epsilon: input.number("eps")?,
        merges: input.integer("merged_sketches")?,
        target_rse: input.number("target_rse")?,
        n_min: 0.0,
        n_max: input.number("n_max")?,
    };
    let plan = request.plan().map_err(CaseError::refused)?;
    Ok(Got::fields([
        ("p", Got::Number(plan.flip_probability())),
        ("cells", Got::Integer(plan.cells_per_level().into())),
        ("levels", Got::Integer(plan.levels().into())),
    ]))
}

pub(super) fn interval(input: Input<'_>) -> Result<Got, CaseError> {
    let counts = counts(input)?;
    let radius = match input.number("delta") {
        Ok(delta) => Radius::FailureProbability(delta),
        Err(_) => Radius::Cells(input.number("radius")?),
    };
    let found = IntervalIntersection::new(&counts, radius).map_err(CaseError::refused)?;
    let (tables, answer) = (found.tables(), found.estimate());
    // The file has the ends also where they leave nothing between them.
    let lower = tables.iter().map(|table| table.counts.map_or(f64::INFINITY, |ends| ends.0)).fold(0.0, f64::max);
    let upper = tables.iter().map(|table| table.counts.map_or(0.0, |ends| ends.1)).fold(f64::INFINITY, f64::min);
    let word = if answer.status() == Status::NotConverged { "empty" } else { answer.status().as_str() };
    Ok(Got::fields([
        ("radius", Got::Number(tables.first().map_or(f64::NAN, |table| table.radius))),
        ("intervals", Got::List(tables.iter().map(ends).collect())),
        ("lo", finite(lower)),
        ("hi", finite(upper)),
        ("status", Got::text(word)),
        ("estimate", end(answer.value())),
        ("minimax", Got::Number(found.minimax())),
    ]))
}

/// An empty interval is written as `[null, 0]`.
fn ends(table: &TableInterval) -> Got {
    let (lower, upper) = table.counts.unwrap_or((f64::INFINITY, 0.0));
    Got::List(vec![finite(lower), finite(upper)])
}

/// Infinity is `null`.
fn finite(value: f64) -> Got {
    if value == f64::INFINITY { Got::Absent } else { Got::Number(value) }
}

fn end(value: Option<f64>) -> Got {
    value.map_or(Got::Absent, Got::Number)
}

pub(super) fn model(input: Input<'_>) -> Result<ParityModel, CaseError> {
    match input.text("model") {
        Err(_) | Ok("parity") => Ok(ParityModel::Set),
        Ok("presampled") => Ok(ParityModel::Presampled),
        Ok(_) => Err(missing("model", "parity or presampled")),
    }
}

pub(super) fn layout(input: Input<'_>) -> Result<ParityLayout, CaseError> {
    ParityLayout::regular(input.integer("levels")?, input.integer("cells")?).map_err(CaseError::refused)
}

/// The contrast of a flip probability.
pub(super) fn contrast(input: Input<'_>, field: &str) -> Result<f64, CaseError> {
    Ok(1.0 - 2.0 * input.number(field)?)
}

fn counts(input: Input<'_>) -> Result<ParityCounts, CaseError> {
    let ones = input.integers("ones")?;
    ParityCounts::new(&layout(input)?, model(input)?, ItemWeights::Unit, &ones, contrast(input, "p")?)
        .map_err(CaseError::refused)
}

fn errors(input: Input<'_>) -> Result<ParityErrors, CaseError> {
    ParityErrors::new(&layout(input)?, model(input)?, contrast(input, "p")?).map_err(CaseError::refused)
}
