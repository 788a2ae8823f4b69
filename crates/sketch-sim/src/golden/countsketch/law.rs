//! The discrete laws, and the digits that exact coins are compared with.

use dp_noise::{DiscreteGaussian, DiscreteLaplace, NoiseSampler, Scale, Variance, diagnostics};
use serde_json::Value;

use crate::golden::input::missing;
use crate::golden::{CaseError, Got, Input};
use crate::number;

/// 2^-64.
const WORD: f64 = 1.0 / 18_446_744_073_709_551_616.0;

pub(super) fn discrete_gaussian(input: Input<'_>, expect: Input<'_>) -> Result<Got, CaseError> {
    let numerator = u128::from(input.integer::<u64>("s2_num")?);
    let variance = Variance::new(numerator, input.integer("s2_den")?).map_err(CaseError::refused)?;
    let law = DiscreteGaussian::new(variance).map_err(CaseError::refused)?;
    let tail = |m| diagnostics::gaussian_tail(variance, m).unwrap_or(f64::NAN);
    let mut fields = Got::fields([
        ("norm", Got::Number(diagnostics::gaussian_norm(variance))),
        ("variance", Got::Number(law.variance())),
        ("one_minus_var_over_s2", Got::Number(diagnostics::gaussian_variance_deficit(variance))),
        ("pmf", entries(expect, "pmf", "x", "p", |x| diagnostics::gaussian_probability(variance, x))?),
    ]);
    // Not every case has tails.
    if let (Ok(_), Got::Fields(fields)) = (expect.list("tail"), &mut fields) {
        fields.push(("tail".to_owned(), entries(expect, "tail", "m", "prob_ge", tail)?));
    }
    Ok(fields)
}

pub(super) fn discrete_laplace(input: Input<'_>, expect: Input<'_>) -> Result<Got, CaseError> {
    let numerator = u128::from(input.integer::<u64>("t_num")?);
    let scale = Scale::new(numerator, input.integer("t_den")?).map_err(CaseError::refused)?;
    let law = DiscreteLaplace::new(scale).map_err(CaseError::refused)?;
    Ok(Got::fields([
        ("variance", Got::Number(law.variance())),
        ("mean_abs", Got::Number(diagnostics::laplace_mean_magnitude(scale))),
        ("pmf", entries(expect, "pmf", "x", "p", |x| diagnostics::laplace_probability(scale, x))?),
    ]))
}

/// The entries of a list, each a key as it is given and a value that is computed from it.
fn entries(
    expect: Input<'_>,
    list: &str,
    key: &str,
    value: &str,
    compute: impl Fn(i64) -> f64,
) -> Result<Got, CaseError> {
    let entry = |entry: &Value| {
        let at = entry[key].as_i64().ok_or_else(|| missing(list, "a list with whole keys"))?;
        let same = Got::Integer(at.unsigned_abs());
        Ok(Got::fields([(key, same), (value, Got::Number(compute(at)))]))
    };
    Ok(Got::List(expect.list(list)?.iter().map(entry).collect::<Result<_, _>>()?))
}

pub(super) fn bernoulli_exp(input: Input<'_>) -> Result<Got, CaseError> {
    if input.integer::<u32>("bits")? != 192 {
        return Err(missing("bits", "192"));
    }
    let [numerator, denominator] = [input.integer::<u64>("num")?, input.integer("den")?].map(u128::from);
    let digits = diagnostics::exp_minus_digits(numerator, denominator).ok_or_else(|| missing("num", "in range"))?;
    let value = digits.iter().rev().fold(0.0, |rest, &word| (number::to_f64(word) + rest) * WORD);
    let [high, middle, low] = digits;
    Ok(Got::fields([("hex", Got::text(format!("{high:016x}{middle:016x}{low:016x}"))), ("p", Got::Number(value))]))
}
