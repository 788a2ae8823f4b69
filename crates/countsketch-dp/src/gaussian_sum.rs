//! Sums of discrete Gaussians, which are no discrete Gaussians: what they keep in zCDP \[KLS21, Proposition 14\].
//!
//! The bounds of `dp_noise::distributed_gaussian_rho` and `top_up_rho`, with one difference: the work does not grow with the
//! number of shares, since files from strangers are checked by it. Tests hold the two against each other.

use core::f64::consts::PI;

use crate::exposure::Exposure;

/// More than covers the rounding of the few operations here, each within 2⁻⁵² or so.
const UP: f64 = 1.0 + 1.0 / 1_099_511_627_776.0;

/// ρ for noise that is a sum of discrete Gaussians of total parameter `total`, `tau` away from one in every cell.
///
/// With `a² = D₂²/total`, `c = D₁/√total` and `n` cells: `½ min((a + τ√n)², a² + 2cτ + τ²n, a² + 2τn)`, rounded up.
#[expect(clippy::cast_precision_loss, reason = "counts and norms for a bound that is rounded up")]
pub(crate) fn rho_of_sum(exposure: &Exposure, total: f64, tau: f64) -> Option<f64> {
    let (l1, squared_l2) = (exposure.l1().ok()?.get() as f64, exposure.squared_l2().ok()?.get() as f64);
    let cells = exposure.shape().cells() as f64;
    let (a2, c) = (squared_l2 / total, l1 / total.sqrt());
    let forms =
        [(a2.sqrt() + tau * cells.sqrt()).powi(2), a2 + 2.0 * c * tau + tau * tau * cells, a2 + 2.0 * tau * cells];
    Some(forms.into_iter().fold(f64::INFINITY, f64::min) / 2.0 * UP)
}

/// `τ = 10 exp(−2π² s d/(s + d))` of the sum of two, rounded up.
pub(crate) fn tau_of_two(s: f64, d: f64) -> f64 {
    term(s * d / (s + d))
}

/// `τ = 10 Σ exp(−2π² s j/(j + 1))` over `j = 1 .. m − 1`, of the sum of `m` with parameter `s` each, rounded up.
///
/// Terms fall with `j`; those beyond the first 64 count as the 65th.
pub(crate) fn tau_of_shares(shares: u32, s: f64) -> f64 {
    const SINGLY: u32 = 64;
    let exponent = |j: u32| s * f64::from(j) / (f64::from(j) + 1.0);
    let sums = shares.saturating_sub(1);
    let first: f64 = (1..=sums.min(SINGLY)).map(|j| term(exponent(j))).sum();
    let rest = f64::from(sums.saturating_sub(SINGLY)) * term(exponent(SINGLY + 1));
    (first + rest) * UP
}

/// `10 exp(−2π² x)`, rounded up: the exponent errs by 2⁻⁵⁰ of itself, and results below the normal numbers become the least.
fn term(x: f64) -> f64 {
    let exponent = -2.0 * PI * PI * x * (2.0 - UP);
    10.0 * exponent.exp().max(f64::MIN_POSITIVE) * UP
}

#[cfg(test)]
mod tests {
    use dp_noise::Neighbouring;

    use super::*;
    use crate::bound::ContributionBound;
    use crate::shape::CountSketchShape;

    fn exposure(rows: u8, width: u32) -> Exposure {
        let shape = CountSketchShape::new(rows, width).unwrap();
        Exposure::new(shape, ContributionBound::UNIT_ENTRY, 1, Neighbouring::AddRemove)
    }

    #[test]
    fn costs_are_those_of_the_sum_of_all_terms_and_never_below() {
        use dp_noise::{Variance, distributed_gaussian_rho, top_up_rho};
        for (shares, s) in [(1, 2), (2, 2), (10, 2), (65, 2), (66, 3), (1000, 2), (60_000, 4), (1 << 20, 3)] {
            for (rows, width) in [(1, 2), (5, 4096), (31, 1 << 20)] {
                let exposure = exposure(rows, width);
                let (l1, l2) = (exposure.l1().unwrap(), exposure.squared_l2().unwrap());
                let cells = u64::from(rows) * u64::from(width);
                let share = Variance::new(s, 1).unwrap();
                let all = distributed_gaussian_rho(shares, share, cells, l1, l2).unwrap().rho();
                let found =
                    rho_of_sum(&exposure, f64::from(shares) * share.to_f64(), tau_of_shares(shares, share.to_f64()));
                let found = found.unwrap();
                assert!(found >= all * (1.0 - 2e-12) && found <= all * 1.01, "{shares} {s}: {found} {all}");

                let extra = Variance::new(7, 2).unwrap();
                let two = top_up_rho(share, extra, cells, l1, l2).unwrap().rho();
                let tau = tau_of_two(share.to_f64(), 3.5);
                let found = rho_of_sum(&exposure, share.to_f64() + 3.5, tau).unwrap();
                assert!((found / two - 1.0).abs() < 1e-9, "{found} {two}");
            }
        }
    }

    #[test]
    fn two_equal_shares_are_both_forms_of_one_formula() {
        assert!((tau_of_shares(2, 3.0) / tau_of_two(3.0, 3.0) - 1.0).abs() < 1e-11);
        // s = d = 2: the second form is least, with τ = 10 e^(−2π²), a² = 5/4, c = 5/2, n = 20480.
        let tau = 10.0 * (-19.739_208_802_178_716_f64).exp();
        let second = 0.5 * (1.25 + 5.0 * tau + tau * tau * 20480.0);
        let found = rho_of_sum(&exposure(5, 4096), 4.0, tau_of_two(2.0, 2.0)).unwrap();
        assert!((second..second * (1.0 + 1e-11)).contains(&found), "{found} {second}");
    }

    #[test]
    fn many_shares_are_bounded_by_adding_all_terms() {
        for (shares, s) in [(1, 2.0), (2, 2.0), (65, 2.0), (66, 2.0), (1000, 2.5), (60_000, 4.0)] {
            let all: f64 =
                (1..shares).map(|j| 10.0 * (-2.0 * PI * PI * s * f64::from(j) / f64::from(j + 1)).exp()).sum();
            let found = tau_of_shares(shares, s);
            assert!(found >= all && found <= 2.5 * all + 1e-300, "{shares} {s}: {found} {all}");
        }
    }
}
