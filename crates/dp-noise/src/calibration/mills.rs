//! Mills' ratio of the normal law, `R(t) = (1 − Φ(t))/φ(t) = √(π/2) erfcx(t/√2)`.

use core::f64::consts::{FRAC_PI_2, TAU};

/// From here on the continued fraction converges fast enough.
const FRACTION_FROM: f64 = 1.0;
/// Terms of it: at `t = 1` they leave `e⁻⁵⁶`.
const TERMS: u32 = 400;

/// The normal density.
pub(super) fn density(t: f64) -> f64 {
    (-t * t / 2.0).exp() / TAU.sqrt()
}

/// The two numbers that both `R` and its derivative `t R − 1` follow from without cancellation.
fn continued_fraction(t: f64) -> (f64, f64) {
    // R = 1/(t + K), K = 1/(t + 2/(t + 3/(t + …)))
    let mut rest = t;
    for n in (2..TERMS).rev() {
        rest = t + f64::from(n) / rest;
    }
    let k = 1.0 / rest;
    (1.0 / (t + k), k)
}

/// `R(t)` for `t >= −1`.
pub(super) fn ratio(t: f64) -> f64 {
    if t >= FRACTION_FROM { continued_fraction(t).0 } else { series(t) }
}

/// `1 − t R(t)`, minus the derivative of `R`, for `t >= −1`.
pub(super) fn decline(t: f64) -> f64 {
    if t >= FRACTION_FROM {
        let (ratio, k) = continued_fraction(t);
        k * ratio
    } else {
        1.0 - t * series(t)
    }
}

/// `√(π/2) e^(t²/2) − Σ t^(2k+1)/(1·3·5 ⋯ (2k+1))`, which loses at most half a digit up to `t = 1`.
fn series(t: f64) -> f64 {
    let (mut sum, mut term, mut odd) = (0.0, t, 1.0);
    while term.abs() > f64::EPSILON * 1e-3 {
        sum += term;
        odd += 2.0;
        term *= t * t / odd;
    }
    FRAC_PI_2.sqrt() * (t * t / 2.0).exp() - sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_those_of_tables() {
        // From the power series and the continued fraction in decimal arithmetic of 60 digits.
        for (t, want) in [
            (-1.0, 3.477_051_811_703_694_5),
            (0.0, 1.253_314_137_315_500_3),
            (0.5, 0.876_364_456_453_692_3),
            (1.0, 0.655_679_542_418_798_5),
            (2.0, 0.421_369_229_288_054_5),
            (5.0, 0.192_808_104_715_315_76),
            (20.0, 0.049_875_925_981_836_78),
        ] {
            assert!((ratio(t) / want - 1.0_f64).abs() < 2e-15, "R({t}) = {}, not {want}", ratio(t));
        }
    }

    #[test]
    fn both_forms_agree_where_they_meet() {
        let t = FRACTION_FROM;
        assert!((continued_fraction(t).0 / series(t) - 1.0).abs() < 2e-15);
        assert!((continued_fraction(t).0 * continued_fraction(t).1 / (1.0 - t * series(t)) - 1.0).abs() < 2e-15);
    }

    #[test]
    fn the_decline_is_that_of_the_ratio() {
        for t in [-0.9, 0.0, 0.7, 1.5, 8.0, 30.0] {
            let step = 1e-4;
            let slope = (ratio(t - step) - ratio(t + step)) / (2.0 * step);
            assert!((slope / decline(t) - 1.0).abs() < 1e-6, "at {t}");
        }
    }
}
