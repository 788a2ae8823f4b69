//! Kinds `linear_counting`, `bloom` and `product_statistic`: closed forms over cells.

use cardinality_estimators::{
    BitChannel, Confidence, Estimate, ParamError, ProductMoments, Status, bloom_count, bloom_rate,
    linear_counting_private,
};
use sfm_pcsa::diagnostics::{empty_cells_of_union, mechanisms};

use super::likelihood::channel;
use super::mechanism::{epsilon, probability};
use crate::golden::{CaseError, Got, Input};

/// Any rate will do where only the moments of a group are asked for.
const ANY_RATE: f64 = 1.0;

pub(super) fn linear_counting(input: Input<'_>) -> Result<Got, CaseError> {
    let (cells, ones, channel) = (input.integer("cells")?, input.integer("ones")?, channel(input)?);
    let all = || -> Result<Got, ParamError> {
        let answer = linear_counting_private(cells, ones, channel, Confidence::P95)?;
        Ok(Got::fields([("rho", Got::Number(bloom_rate(cells, 1)?)), ("mle", value(&answer))]))
    };
    all().map_err(CaseError::refused)
}

pub(super) fn bloom(input: Input<'_>) -> Result<Got, CaseError> {
    let (cells, ones, hashes) = (input.integer("cells")?, input.integer("ones")?, input.integer("hashes")?);
    let total = epsilon(input.number_or_infinity("eps")?)?;
    let each = total.map(|total| total.divide(hashes)).transpose().map_err(CaseError::refused)?;
    let flips = mechanisms(each).symmetric;
    let all = || -> Result<Got, ParamError> {
        let answer = bloom_count(cells, hashes, ones, BitChannel::new(flips.p, flips.q)?, Confidence::P95)?;
        Ok(Got::fields([
            ("eps_bit", Got::Number(each.map_or(f64::INFINITY, dp_noise::Epsilon::get))),
            ("p", probability(flips.p)),
            ("q", probability(flips.q)),
            ("rho", Got::Number(bloom_rate(cells, hashes)?)),
            ("mle", value(&answer)),
        ]))
    };
    all().map_err(CaseError::refused)
}

/// The value of a closed form; it has none where it is saturated.
fn value(answer: &Estimate) -> Got {
    debug_assert!(answer.value().is_some() || answer.status() == Status::Saturated);
    Got::Number(answer.value().unwrap_or(f64::NAN))
}

pub(super) fn product_statistic(input: Input<'_>) -> Result<Got, CaseError> {
    let cells = input.integers("cells_with_w_ones")?;
    let sum = empty_cells_of_union(input.number("p")?, input.number("q")?, &cells).map_err(CaseError::refused)?;
    let moments = ProductMoments::from_classes(ANY_RATE, channel(input)?, &cells).map_err(CaseError::refused)?;
    Ok(Got::fields([("sum_of_products", Got::Number(sum)), ("empty_fraction_estimate", Got::Number(moments.mean()))]))
}
