//! Kinds `joint_venn` and `venn_expr`: the regions of few releases, and formulas over regions.

use cardinality_estimators::diagnostics::formula_of_regions;
use cardinality_estimators::venn::{self, VennFit};
use cardinality_estimators::{BitChannel, CellLayout, Confidence, PatternCounts, SetFormula};

use super::tally::lists;
use crate::golden::input::missing;
use crate::golden::{CaseError, Got, Input};

const CONFIDENCE: Confidence = Confidence::P95;
/// Of the information and of standard errors, relative to them.
const INFORMATION: f64 = 1e-3;
const ERROR: f64 = 1e-4;
/// Of the log-likelihood at its maximum.
const HEIGHT: f64 = 1e-3;

pub(super) fn joint(input: Input<'_>) -> Result<Got, CaseError> {
    let layout = CellLayout::pcsa(input.integer("buckets")?, input.integer("levels")?).map_err(CaseError::refused)?;
    let pairs = input.numbers("p")?.into_iter().zip(input.numbers("q")?);
    let channels: Vec<BitChannel> =
        pairs.map(|(p, q)| BitChannel::new(p, q)).collect::<Result<_, _>>().map_err(CaseError::refused)?;
    if channels.len() != input.integer::<usize>("k")? {
        return Err(missing("p", "a list of k probabilities"));
    }
    let patterns = PatternCounts::new(&layout, &channels, lists(input, "pattern_counts")?);
    let fit = venn::fit(&patterns.map_err(CaseError::refused)?).map_err(CaseError::refused)?;
    let everywhere = (1 << channels.len()) - 1;
    let found = fit.regions().zip(fit.information()).zip(fit.log_likelihood());
    let ((regions, information), height) = found.ok_or_else(|| missing("pattern_counts", "counts of some sizes"))?;
    let information = information.chunks(regions.len()).map(|row| {
        Got::List(row.iter().map(|&value| Got::Near { value, relative: INFORMATION, absolute: 0.0 }).collect())
    });
    Ok(Got::fields([
        ("regions", Got::numbers(regions.iter().copied())),
        ("loglik", Got::Near { value: height, relative: 0.0, absolute: HEIGHT }),
        ("fisher", Got::List(information.collect())),
        ("union", size(&fit, channels.len(), |_| true)?),
        ("intersection", size(&fit, channels.len(), |sets| sets == everywhere)?),
    ]))
}

/// The size of some regions with its error, also as if the sets were Poisson draws themselves: the variance without the
/// variance of the regions' sizes taken off.
fn size(fit: &VennFit, sets: usize, belongs: impl Fn(usize) -> bool) -> Result<Got, CaseError> {
    let formula = SetFormula::from_membership(sets, |region| region != 0 && belongs(region));
    let formula = formula.map_err(CaseError::refused)?;
    let answer = fit.formula(&formula, CONFIDENCE).map_err(CaseError::refused)?;
    let found = answer.value().zip(answer.std_error());
    let (value, std_error) = found.ok_or_else(|| missing("pattern_counts", "counts of some sizes"))?;
    let regions = (1..).zip(fit.regions().unwrap_or_default());
    let inside: f64 = regions.filter(|(region, _)| belongs(*region)).map(|(_, size)| size).sum();
    let error = |value| Got::Near { value, relative: ERROR, absolute: 0.0 };
    Ok(Got::fields([
        ("estimate", Got::Number(value)),
        ("se", error(std_error)),
        ("se_poisson", error((std_error * std_error + inside).sqrt())),
    ]))
}

pub(super) fn expression(input: Input<'_>) -> Result<Got, CaseError> {
    let names = input.list("names")?.iter().map(serde_json::Value::as_str).collect::<Option<Vec<&str>>>();
    let names = names.ok_or_else(|| missing("names", "a list of names"))?;
    let parsed = dpsketch::SetFormula::parse(input.text("expr")?, &names).map_err(CaseError::refused)?;
    // A formula speaks of the sets that its value depends on; here regions are those of all names.
    let inside = |region: usize| {
        let bits = (0..).zip(parsed.positions()).map(|(bit, position)| (region >> position & 1) << bit);
        u32::try_from(bits.sum::<usize>()).is_ok_and(|region| parsed.contains(region))
    };
    let formula = SetFormula::from_membership(names.len(), inside).map_err(CaseError::refused)?;
    let regions = input.numbers("regions")?;
    let covariance = input.list("covariance")?.iter().map(serde_json::Value::as_array);
    let covariance: Option<Vec<f64>> = covariance
        .collect::<Option<Vec<_>>>()
        .and_then(|rows| rows.into_iter().flatten().map(serde_json::Value::as_f64).collect());
    let covariance = covariance.ok_or_else(|| missing("covariance", "rows of numbers"))?;
    let found = formula_of_regions(&formula, &regions, &covariance);
    let (value, error) = found.ok_or_else(|| missing("regions", "one size and one row of covariances a region"))?;
    let weights = (1..1 << names.len()).map(|region| u64::from(inside(region)));
    Ok(Got::fields([("weights", Got::integers(weights)), ("estimate", Got::Number(value)), ("se", Got::Number(error))]))
}
