//! Noise that several parties add, and noise added to noise.

use core::f64::consts::PI;

use super::{CalibrationError, MARGIN};
use crate::dyadic::to_f64;
use crate::{FractionError, L1Sensitivity, ParameterError, Rho, SquaredL2Sensitivity, Variance};

/// Terms of the sum over partial sums that are added one by one, and how many terms of the others are bounded together: so
/// many that their number grows by one part in [`BLOCKS`].
const EXPLICIT: u32 = 1 << 10;
const BLOCKS: u32 = 1 << 6;

/// What a sum of independent discrete Gaussians costs.
///
/// The sum is not a discrete Gaussian; `τ` bounds how far it is from one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DistributedBound {
    tau: f64,
    rho: f64,
}

impl DistributedBound {
    /// The distance `τ` of the sum from a discrete Gaussian, in the sense of \[KLS21\]; rounded up.
    #[must_use]
    pub fn tau(&self) -> f64 {
        self.tau
    }

    /// The zCDP cost, rounded up. It may be far above any useful value: see [`cost`](Self::cost).
    #[must_use]
    pub fn rho(&self) -> f64 {
        self.rho
    }

    /// The cost as a level that can be paid.
    ///
    /// # Errors
    /// [`ParameterError`] above [`Rho::MAX`]: the shares are so small that the bound says nothing.
    pub fn cost(&self) -> Result<Rho, ParameterError> {
        Rho::new(self.rho.max(Rho::MIN))
    }

    /// The least of the three forms of \[KLS21, Proposition 14\] for total variance `total`.
    fn new(tau: f64, total: f64, cells: u64, l1: L1Sensitivity, l2: SquaredL2Sensitivity) -> Self {
        let d = to_f64(cells);
        let square = wide_to_f64(l2.get()) / total;
        let (a, c) = (square.sqrt(), wide_to_f64(l1.get()) / total.sqrt());
        let forms = [(a + tau * d.sqrt()).powi(2), square + 2.0 * c * tau + tau * tau * d, square + 2.0 * tau * d];
        let rho = forms.into_iter().fold(f64::INFINITY, f64::min) / 2.0;
        Self { tau: tau * (1.0 + MARGIN), rho: rho * (1.0 + MARGIN) }
    }
}

/// The zCDP cost when each of `shares` parties adds discrete Gaussian noise of variance `share` to every one of `cells`
/// cells, and only the sum is seen \[KLS21, Proposition 14\].
///
/// ```text
/// τ = 10 Σ_{j=1}^{m−1} e^(−2π²σ² j/(j+1)),   a = D₂/√(m σ²),   c = D₁/√(m σ²)
/// ρ = ½ min{ (a + τ√d)²,  a² + 2cτ + τ²d,  a² + 2τd }
/// ```
///
/// Some two thousand terms are computed, whatever the number of shares. The first 1024 are exact; of the others, which fall
/// with `j`, up to one in 64 neighbours count as the largest of them, which adds less than 2% to τ at `σ² = 2`.
///
/// From `σ² = 2` on, τ is below `3·10⁻⁸ (1 + m/10⁸)` and the cost is that of one Gaussian; below it grows fast, and at
/// `σ² = 1/2` with 20,000 cells it says nothing any more.
///
/// # Privacy
/// `shares` is the number of shares that stay secret: leave out those of parties that may drop out or collude.
///
/// # Errors
/// [`CalibrationError`] for no shares or cells, or a share below `1/4`, where the bound is not proved.
///
/// # Examples
/// ```
/// use dp_noise::{L1Sensitivity, SquaredL2Sensitivity, Variance, distributed_gaussian_rho};
/// let (l1, l2) = (L1Sensitivity::new(5)?, SquaredL2Sensitivity::new(5)?);
/// let bound = distributed_gaussian_rho(10, Variance::new(2, 1)?, 20_480, l1, l2)?;
/// assert!((bound.rho() - 0.125_000_03).abs() < 1e-8); // 0.125 for one Gaussian of variance 20
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub fn distributed_gaussian_rho(
    shares: u32,
    share: Variance,
    cells: u64,
    l1: L1Sensitivity,
    l2: SquaredL2Sensitivity,
) -> Result<DistributedBound, CalibrationError> {
    if shares == 0 {
        return Err(CalibrationError::Zero { name: "shares" });
    }
    check_cells(cells)?;
    check_part(share, QUARTER)?;
    let s2 = share.to_f64();
    Ok(DistributedBound::new(10.0 * partial_sums(shares, s2), f64::from(shares) * s2, cells, l1, l2))
}

/// `Σ_{j=1}^{m−1} e^(−2π²σ² j/(j+1))`, or a little more.
fn partial_sums(shares: u32, s2: f64) -> f64 {
    let term = |j: u32| (-2.0 * PI * PI * s2 * f64::from(j) / (f64::from(j) + 1.0)).exp();
    let mut sum: f64 = (1..shares.min(EXPLICIT + 1)).map(term).sum();
    let mut first = EXPLICIT + 1;
    while first < shares {
        let block = (first / BLOCKS).min(shares - first);
        sum += f64::from(block) * term(first);
        first += block;
    }
    sum
}

/// `(numerator, denominator)` of the least variance of a share and of a part of a top-up.
const QUARTER: (u128, u64) = (1, 4);
const TWO: (u128, u64) = (2, 1);

fn check_cells(cells: u64) -> Result<(), CalibrationError> {
    if cells == 0 { Err(CalibrationError::Zero { name: "cells" }) } else { Ok(()) }
}

/// Refuses a part of the noise that is so small that the bounds say nothing.
fn check_part(part: Variance, least: (u128, u64)) -> Result<(), FractionError> {
    let least = Variance::new(least.0, least.1)?;
    if part.is_below(least) {
        let (value, min, max) = (part.to_f64(), least.to_f64(), Variance::MAX.to_f64());
        return Err(FractionError::Range { name: "variance of a part", value, min, max });
    }
    Ok(())
}

/// The variance to add to noise of variance `have` so that it becomes `want`, exact or rounded up.
///
/// # Privacy
/// Topping up protects only against those who never see the original release; whoever sees both has the original's ρ.
/// What the sum costs is [`top_up_rho`].
///
/// # Errors
/// [`CalibrationError`] unless both parts are at least 2: a small top-up does nothing at all (10 topped up by 0.05 has
/// the variance and the loss of 10).
///
/// # Examples
/// ```
/// use dp_noise::{Variance, top_up_variance};
/// assert_eq!(top_up_variance(Variance::new(5, 2)?, Variance::new(5, 1)?)?, Variance::new(5, 2)?);
/// assert!(top_up_variance(Variance::new(10, 1)?, Variance::new(201, 20)?).is_err());
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub fn top_up_variance(have: Variance, want: Variance) -> Result<Variance, CalibrationError> {
    check_part(have, TWO)?;
    let extra = want.checked_sub(have)?;
    check_part(extra, TWO)?;
    Ok(extra)
}

/// The zCDP cost of the sum of two discrete Gaussians of variances `have` and `extra`, the second added later.
///
/// The bound of [`distributed_gaussian_rho`] with `τ = 10 e^(−2π² σ₁² σ₂²/(σ₁² + σ₂²))`.
///
/// # Errors
/// [`CalibrationError`] for no cells, or unless both parts are at least 2.
pub fn top_up_rho(
    have: Variance,
    extra: Variance,
    cells: u64,
    l1: L1Sensitivity,
    l2: SquaredL2Sensitivity,
) -> Result<DistributedBound, CalibrationError> {
    check_cells(cells)?;
    check_part(have, TWO)?;
    check_part(extra, TWO)?;
    let (first, second) = (have.to_f64(), extra.to_f64());
    let tau = 10.0 * (-2.0 * PI * PI * (first * (second / (first + second)))).exp();
    Ok(DistributedBound::new(tau, first + second, cells, l1, l2))
}

/// The ρ of one Gaussian that is as noisy as the sum of independent ones calibrated to `rhos`: `1 / Σ (1/ρ)`.
///
/// A measure of accuracy, not a privacy claim. `None` without any.
#[must_use]
pub fn merged_noise_rho(rhos: &[Rho]) -> Option<f64> {
    if rhos.is_empty() { None } else { Some(1.0 / rhos.iter().map(|rho| 1.0 / rho.get()).sum::<f64>()) }
}

/// The nearest `f64` or its neighbour above.
fn wide_to_f64(value: u128) -> f64 {
    crate::fraction::quotient_up(crate::wide::Wide::from(value), 1, 0).unwrap_or(f64::INFINITY)
}
