//! Sensitivities, noise for a level and levels of a noise: `dp-noise`, and what `countsketch-dp` makes of it.

use countsketch_dp::{ContributionBound, CountSketchShape, Exposure};
use dp_noise::{
    Delta, Epsilon, L1Sensitivity, Neighbouring, Rho, SquaredL2Sensitivity, Variance, analytic_gaussian_sigma,
    classical_gaussian_sigma, diagnostics, distributed_gaussian_rho, dp_to_zcdp, exact_rows_delta, gaussian_delta,
    integer_query_delta, zcdp_delta,
};

use crate::golden::input::missing;
use crate::golden::{CaseError, Got, Input};
use crate::number;

/// Any width will do: it has no part in a sensitivity.
const WIDTH: u32 = 16;

/// What a user whose weights sum up to `l1` may change in a sketch of `k` rows.
fn exposure(input: Input<'_>) -> Result<Exposure, CaseError> {
    let shape = CountSketchShape::new(input.integer("k")?, WIDTH).map_err(CaseError::refused)?;
    let bound = ContributionBound::user_total(input.integer("l1")?).map_err(CaseError::refused)?;
    Ok(Exposure::new(shape, bound, 1, Neighbouring::AddRemove))
}

fn epsilon(input: Input<'_>) -> Result<Epsilon, CaseError> {
    Epsilon::new(input.number("eps")?).map_err(CaseError::refused)
}

fn delta(input: Input<'_>) -> Result<Delta, CaseError> {
    Delta::new(input.number("delta")?).map_err(CaseError::refused)
}

fn rho(input: Input<'_>) -> Result<Rho, CaseError> {
    Rho::new(input.number("rho")?).map_err(CaseError::refused)
}

/// A variance as the fraction that an `f64` is: its denominator is a power of two.
fn variance(input: Input<'_>, field: &str) -> Result<Variance, CaseError> {
    let mut scaled = input.number(field)?;
    let mut denominator = 1_u64;
    while scaled.fract() != 0.0 && denominator < 1 << 40 {
        (scaled, denominator) = (2.0 * scaled, 2 * denominator);
    }
    let numerator = number::whole(scaled).ok_or_else(|| missing(field, "a short binary fraction"))?;
    Variance::new(numerator.into(), denominator).map_err(CaseError::refused)
}

/// The nearest `f64` of the root of a squared sensitivity.
fn root(squared: SquaredL2Sensitivity) -> Result<f64, CaseError> {
    Ok(Variance::new(squared.get(), 1).map_err(CaseError::refused)?.to_f64().sqrt())
}

pub(super) fn sigma_zcdp(input: Input<'_>) -> Result<Got, CaseError> {
    let exposure = exposure(input)?;
    let s2 = exposure.gaussian(rho(input)?).map_err(CaseError::refused)?.variance().to_f64();
    let sensitivity = root(exposure.squared_l2().map_err(CaseError::refused)?)?;
    Ok(Got::fields([
        ("l2_sensitivity", Got::Number(sensitivity)),
        ("sigma2", Got::Number(s2)),
        ("sigma", Got::Number(s2.sqrt())),
    ]))
}

pub(super) fn laplace_scale(input: Input<'_>) -> Result<Got, CaseError> {
    let scale = exposure(input)?.laplace(epsilon(input)?).map_err(CaseError::refused)?;
    Ok(Got::fields([("scale", Got::Number(scale.to_f64()))]))
}

pub(super) fn analytic_gaussian(input: Input<'_>, expect: Input<'_>) -> Result<Got, CaseError> {
    let (eps, delta, sensitivity) = (input.number("eps")?, delta(input)?, input.number("sensitivity")?);
    let sigma = analytic_gaussian_sigma(eps, delta, sensitivity).map_err(CaseError::refused)?;
    // Proved for 0 < ε ≤ 1 only, and refused elsewhere.
    let classical = classical_gaussian_sigma(eps, delta, sensitivity).map_or(Got::Absent, Got::Number);
    let reached = gaussian_delta(eps, sensitivity, expect.number("sigma")?).map_err(CaseError::refused)?;
    Ok(Got::fields([
        ("sigma", Got::Number(sigma)),
        ("classical_sigma", classical),
        ("delta_at_sigma", Got::Number(reached)),
    ]))
}

pub(super) fn gaussian(input: Input<'_>) -> Result<Got, CaseError> {
    let [eps, sensitivity, sigma] = [input.number("eps")?, input.number("sensitivity")?, input.number("sigma")?];
    let delta = gaussian_delta(eps, sensitivity, sigma).map_err(CaseError::refused)?;
    Ok(Got::fields([("delta", Got::Number(delta))]))
}

pub(super) fn zcdp_to_dp(input: Input<'_>, expect: Input<'_>) -> Result<Got, CaseError> {
    // Not `dp_noise::zcdp_to_dp`: a case has a δ above the largest that a guarantee may state.
    let (rho, delta) = (rho(input)?, input.number("delta")?);
    Ok(Got::fields([
        ("eps_tight", Got::Number(diagnostics::zcdp_epsilon(rho, delta).map_err(CaseError::refused)?)),
        ("eps_simple", Got::Number(diagnostics::zcdp_epsilon_simple(rho, delta).map_err(CaseError::refused)?)),
        ("alpha_opt", Got::Number(diagnostics::zcdp_optimal_order(rho, expect.number("eps_tight")?))),
    ]))
}

pub(super) fn from_dp(input: Input<'_>) -> Result<Got, CaseError> {
    let rho = dp_to_zcdp(epsilon(input)?, delta(input)?).map_err(CaseError::refused)?;
    Ok(Got::fields([("rho", Got::Number(rho.get()))]))
}

pub(super) fn delta_of_zcdp(input: Input<'_>) -> Result<Got, CaseError> {
    let (rho, eps) = (rho(input)?, input.number("eps")?);
    Ok(Got::fields([
        ("delta", Got::Number(zcdp_delta(rho, eps))),
        ("alpha_opt", Got::Number(diagnostics::zcdp_optimal_order(rho, eps))),
    ]))
}

pub(super) fn one_query(input: Input<'_>) -> Result<Got, CaseError> {
    let (s2, step) = (variance(input, "s2")?, input.integer("sensitivity")?);
    let delta = integer_query_delta(s2, step, epsilon(input)?).map_err(CaseError::refused)?;
    Ok(Got::fields([("delta", Got::Number(delta))]))
}

pub(super) fn exact_rows(input: Input<'_>) -> Result<Got, CaseError> {
    let (rows, s2, epsilon) = (input.integer("k")?, variance(input, "sigma2")?, epsilon(input)?);
    let squared = SquaredL2Sensitivity::new(u128::from(rows)).map_err(CaseError::refused)?;
    let rho = s2.rho_cost(squared).map_err(CaseError::refused)?;
    let sigma = s2.to_f64().sqrt();
    Ok(Got::fields([
        ("delta_exact", Got::Number(exact_rows_delta(rows, s2, 1, epsilon).map_err(CaseError::refused)?)),
        ("rho", Got::Number(rho.get())),
        ("delta_zcdp", Got::Number(zcdp_delta(rho, epsilon.get()))),
        (
            "delta_continuous",
            Got::Number(gaussian_delta(epsilon.get(), root(squared)?, sigma).map_err(CaseError::refused)?),
        ),
    ]))
}

pub(super) fn distributed(input: Input<'_>) -> Result<Got, CaseError> {
    let (shares, share) = (input.integer::<u32>("m")?, variance(input, "s2_share")?);
    // Written as a root of a whole number.
    let squared = number::whole(input.number("l2_sensitivity")?.powi(2).round());
    let squared = squared.ok_or_else(|| missing("l2_sensitivity", "the root of a whole number"))?;
    let l1 = L1Sensitivity::new(u128::from(input.integer::<u64>("l1_sensitivity")?)).map_err(CaseError::refused)?;
    let l2 = SquaredL2Sensitivity::new(squared.into()).map_err(CaseError::refused)?;
    let bound = distributed_gaussian_rho(shares, share, input.integer("d")?, l1, l2).map_err(CaseError::refused)?;
    let total = (1..shares).try_fold(share, |sum, _| sum.checked_add(share)).map_err(CaseError::refused)?;
    let single = total.rho_cost(l2).map_err(CaseError::refused)?;
    Ok(Got::fields([
        ("tau", Got::Number(bound.tau())),
        ("rho", Got::Number(bound.rho())),
        ("rho_if_single_gaussian", Got::Number(single.get())),
    ]))
}
