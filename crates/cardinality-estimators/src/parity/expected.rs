//! The ones to expect.

use crate::ParamError;
use crate::likelihood::fill;
use crate::number::to_f64;
use crate::parity::counts::{parity_channel, rate_form};
use crate::parity::{ItemWeights, ParityLayout, ParityModel};

/// The ones to expect of each table after `n` items (or a total weight of `n`), `m·(1 − c·e^{−k·n})/2`.
///
/// Exact for unit weights. For others it takes the many-light-items limit, off by a share `ρ·Σw²/W ≤ ρ` of the exponent to first
/// order in `ρ`, the share that one cell has of all items. In tables of few cells it is off by more: with all weights 1 by 15% in
/// two levels of 4 cells, by 65% in one table of 3.
///
/// # Errors
/// [`ParamError::Keep`] unless `0 ≤ contrast ≤ 1`; [`ParamError::Plan`] unless `n ≥ 0`.
///
/// # Examples
/// ```
/// use cardinality_estimators::parity::{ItemWeights, ParityLayout, ParityModel, expected_ones};
/// let layout = ParityLayout::regular(8, 64)?;
/// let ones = expected_ones(&layout, ParityModel::Set, ItemWeights::Unit, 0.6, 100.0)?;
/// assert!((ones[0] - 28.0248).abs() < 1e-4);
/// # Ok::<(), cardinality_estimators::ParamError>(())
/// ```
pub fn expected_ones(
    layout: &ParityLayout,
    model: ParityModel,
    weights: ItemWeights,
    contrast: f64,
    n: f64,
) -> Result<Vec<f64>, ParamError> {
    let channel = parity_channel(contrast)?;
    if n.is_nan() || n < 0.0 {
        return Err(ParamError::Plan { what: "the number of items", found: n });
    }
    let rate = rate_form(model, weights);
    let ones = |hit: f64, cells: u64| to_f64(cells) * (channel.q() + channel.d() * hit);
    Ok(layout.tables.iter().map(|table| ones(fill(rate(table.rho()) * n).0, table.cells)).collect())
}

/// The ones to expect of each table for items of these weights, `m·(1 − c·Π(1 − f·w·ρ))/2` with `f = 2` for sets and 1 with
/// pre-sampling: exact over hash and noise.
///
/// # Errors
/// [`ParamError::Keep`] unless `0 ≤ contrast ≤ 1`; [`ParamError::Plan`] for a weight outside `0 ..= 1`.
pub fn expected_ones_of_weights(
    layout: &ParityLayout,
    model: ParityModel,
    contrast: f64,
    weights: &[f64],
) -> Result<Vec<f64>, ParamError> {
    let channel = parity_channel(contrast)?;
    if let Some(&found) = weights.iter().find(|weight| !(0.0..=1.0).contains(*weight)) {
        return Err(ParamError::Plan { what: "a weight", found });
    }
    let ones = |table: &super::layout::Table| {
        let rate = model.weighted_rate(table.rho());
        let log: f64 = weights.iter().map(|weight| (-weight * rate).ln_1p()).sum();
        to_f64(table.cells) * (channel.q() - channel.d() * log.exp_m1())
    };
    Ok(layout.tables.iter().map(ones).collect())
}

/// The variance of the weight that a perfect count of kept items would show, `Σ w(1 − w)`: the price of keeping items by
/// weight.
#[must_use]
pub fn sampling_variance(weights: &[f64]) -> f64 {
    weights.iter().map(|weight| weight * (1.0 - weight)).sum()
}
