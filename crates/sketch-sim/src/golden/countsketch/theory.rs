//! Medians, minima, tails, norms and levels: `countsketch_dp::theory`.

use countsketch_dp::theory::{
    CountMeanLocal, DomainError, MedianOfGaussians, MinimumOfGaussians, NormPair, ROW_PROBABILITY_SLOPE,
    count_mean_central, count_mean_noise_variance, disjoint_loss, f2_variance, hierarchy_variances,
    inner_product_variance, median_tail, merged_noise_rho, order_statistic_interval, row_probability_chebyshev,
    row_probability_fejer, shared_loss, top_up_variance,
};
use serde_json::{Map, Value};

use crate::golden::input::missing;
use crate::golden::{CaseError, Got, Input};
use crate::number;

pub(super) const SLOPE: f64 = ROW_PROBABILITY_SLOPE;

pub(super) fn tail_of_median(input: Input<'_>) -> Result<Got, CaseError> {
    let tail = median_tail(input.integer("k")?, input.number("p")?).map_err(CaseError::refused)?;
    Ok(Got::fields([("exact", Got::Number(tail.exact)), ("hoeffding", Got::Number(tail.hoeffding))]))
}

pub(super) fn median_of_gaussians(input: Input<'_>, expect: Input<'_>) -> Result<Got, CaseError> {
    let rows = input.integer::<u32>("k")?;
    let law = MedianOfGaussians::new(rows, f64::from(rows)).map_err(CaseError::refused)?;
    Ok(Got::fields([
        ("mean_abs", Got::Number(law.mean_abs())),
        ("variance", Got::Number(law.variance())),
        ("quantiles_abs", by_key(expect, "quantiles_abs", |p| law.quantile_abs(p))?),
        ("cdf_abs", by_key(expect, "cdf_abs", |x| law.cdf_abs(x))?),
    ]))
}

/// A function of the keys of an object, which are numbers written as text.
fn by_key(expect: Input<'_>, field: &str, f: impl Fn(f64) -> Result<f64, DomainError>) -> Result<Got, CaseError> {
    let object: &Map<String, Value> = expect.value(field)?.as_object().ok_or_else(|| missing(field, "an object"))?;
    let entry = |key: &String| {
        let at = key.parse().map_err(|_| missing(field, "an object whose keys are numbers"))?;
        Ok((key.clone(), Got::Number(f(at).map_err(CaseError::refused)?)))
    };
    Ok(Got::Fields(object.keys().map(entry).collect::<Result<_, CaseError>>()?))
}

pub(super) fn minimum_of_gaussians(input: Input<'_>) -> Result<Got, CaseError> {
    let rows = input.integer::<u32>("k")?;
    let variance = f64::from(rows) / (2.0 * input.number("rho")?);
    let law = MinimumOfGaussians::new(rows, variance).map_err(CaseError::refused)?;
    Ok(Got::fields([("bias", Got::Number(law.mean()))]))
}

pub(super) fn order_statistics(input: Input<'_>) -> Result<Got, CaseError> {
    let found = order_statistic_interval(input.integer("k")?, input.number("beta")?).map_err(CaseError::refused)?;
    Ok(Got::fields([("r", Got::Integer(found.rank.into())), ("miss_prob", Got::Number(found.miss_probability))]))
}

pub(super) fn row_probability(input: Input<'_>) -> Result<Got, CaseError> {
    let [gamma, v, s2] = [input.number("gamma")?, input.number("v")?, input.number("s2")?];
    Ok(Got::fields([
        ("fourier", Got::Number(row_probability_fejer(gamma, v, s2).map_err(CaseError::refused)?)),
        ("cheb", Got::Number(row_probability_chebyshev(gamma, v, s2).map_err(CaseError::refused)?)),
    ]))
}

pub(super) fn central_count_mean(input: Input<'_>, expect: Input<'_>) -> Result<Got, CaseError> {
    let (width, values) = (input.integer("b")?, input.numbers("row_values")?);
    let rows = u32::try_from(values.len()).map_err(CaseError::refused)?;
    let s2 = Input::new(expect.value("noise_variance_for_sigma2")?).number("sigma2")?;
    let estimate = count_mean_central(width, input.number("N")?, &values).map_err(CaseError::refused)?;
    let variance = count_mean_noise_variance(rows, width, s2).map_err(CaseError::refused)?;
    let noise = Got::fields([("sigma2", Got::Number(s2)), ("value", Got::Number(variance))]);
    Ok(Got::fields([("estimate", Got::Number(estimate)), ("noise_variance_for_sigma2", noise)]))
}

pub(super) fn local_count_mean(input: Input<'_>) -> Result<Got, CaseError> {
    let local = CountMeanLocal::new(input.number("eps")?).map_err(CaseError::refused)?;
    let (reports, buckets) = (input.list("reports")?, input.integers("query_buckets")?);
    let entry = |report: &Value| {
        let row = Input::new(report).integer::<usize>("row")?;
        let bucket = buckets.get(row).copied().and_then(|bucket| usize::try_from(bucket).ok());
        let entries = Input::new(report).numbers("v")?;
        bucket.and_then(|bucket| entries.get(bucket).copied()).ok_or_else(|| missing("reports", "in range"))
    };
    let sum: f64 = reports.iter().map(entry).sum::<Result<f64, CaseError>>()?;
    let estimate = local.estimate(input.integer("m")?, number::length(reports.len()), sum);
    Ok(Got::fields([
        ("c_eps", Got::Number(local.scale())),
        ("flip_prob", Got::Number(local.flip_probability())),
        ("estimate", Got::Number(estimate.map_err(CaseError::refused)?)),
        ("per_report_noise_variance", Got::Number(local.report_variance())),
    ]))
}

/// Cases of `f2` have the second moment, those of `inner` two norms.
pub(super) fn f2_inner(input: Input<'_>) -> Result<Got, CaseError> {
    let width = input.number("b")?;
    let variance = if input.value("F2").is_ok() {
        f2_variance(input.number("F2")?, input.number("F4")?, width, input.number("sigma2")?)
    } else {
        let [left, right] = [input.number("x2")?, input.number("y2")?];
        let norms = NormPair { left, right, inner: input.number("xy")?, squares: input.number("x2y2")? };
        inner_product_variance(norms, width, input.number("sa2")?, input.number("sb2")?)
    };
    Ok(Got::fields([("variance", Got::Number(variance.map_err(CaseError::refused)?))]))
}

pub(super) fn merge(input: Input<'_>) -> Result<Got, CaseError> {
    let rhos = input.numbers("rhos")?;
    Ok(Got::fields([
        ("effective_noise_rho", Got::Number(merged_noise_rho(&rhos).map_err(CaseError::refused)?)),
        ("loss_shared", Got::Number(shared_loss(&rhos).map_err(CaseError::refused)?)),
        ("loss_disjoint", Got::Number(disjoint_loss(&rhos).map_err(CaseError::refused)?)),
    ]))
}

pub(super) fn top_up(input: Input<'_>) -> Result<Got, CaseError> {
    let extra = top_up_variance(input.integer("k")?, input.number("rho_have")?, input.number("rho_want")?);
    Ok(Got::fields([("extra_sigma2", Got::Number(extra.map_err(CaseError::refused)?))]))
}

pub(super) fn hierarchy(input: Input<'_>) -> Result<Got, CaseError> {
    let variances = hierarchy_variances(input.integer("k")?, input.number("rho")?, &input.numbers("weights")?);
    Ok(Got::fields([("sigma2", Got::numbers(variances.map_err(CaseError::refused)?))]))
}
