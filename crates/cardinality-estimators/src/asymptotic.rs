//! Closed forms for many items, and the dilogarithm they need.

use core::f64::consts::{LN_2, PI};

use crate::BitChannel;

/// The information a PCSA sketch holds per bucket once its levels are many, times `ln 2`:
/// `I = p·Li₂(d/p) + (1 − p)·Li₂(−d/(1 − p))`, with `π²/6` for noiseless bits.
///
/// Sources: \[HTC23\]; the sum over levels becomes an integral over `ln n`.
///
/// # Examples
/// ```
/// use cardinality_estimators::{BitChannel, asymptotic_information};
/// assert!((asymptotic_information(BitChannel::NOISELESS) - std::f64::consts::PI.powi(2) / 6.0).abs() < 1e-15);
/// ```
#[must_use]
pub fn asymptotic_information(channel: BitChannel) -> f64 {
    // The linear parts of the two dilogarithms cancel exactly (p·d/p = (1−p)·d/(1−p)), so only the rest is summed.
    let ones = channel.p() * dilogarithm_rest(channel.a());
    let zeros = if channel.miss() > 0.0 {
        channel.miss() * dilogarithm_rest(-channel.d() / channel.miss())
    } else {
        channel.d()
    };
    ones + zeros
}

/// The relative standard error of a PCSA sketch with many items, `√(ln 2 / (buckets·I))`: flat between about ten items
/// a bucket and `buckets·2^(levels − 2)` items.
///
/// Infinite without a bucket.
///
/// # Examples
/// ```
/// use cardinality_estimators::{BitChannel, asymptotic_rse};
/// assert!((asymptotic_rse(4096, BitChannel::NOISELESS) - 0.010143).abs() < 1e-6);
/// ```
#[must_use]
pub fn asymptotic_rse(buckets: u32, channel: BitChannel) -> f64 {
    (LN_2 / (f64::from(buckets) * asymptotic_information(channel))).sqrt()
}

/// The dilogarithm `Li₂(x) = Σ x^k/k²`, continued to all `x ≤ 1`; NaN above.
pub(crate) fn dilogarithm(x: f64) -> f64 {
    const ZETA_2: f64 = PI * PI / 6.0;
    if x > 1.0 || x.is_nan() {
        f64::NAN
    } else if x < -1.0 {
        let log = (-x).ln();
        -ZETA_2 - 0.5 * log * log - dilogarithm(1.0 / x)
    } else if x <= 0.5 {
        dilogarithm_by_bernoulli(-(-x).ln_1p())
    } else if x < 1.0 {
        ZETA_2 - x.ln() * (-x).ln_1p() - dilogarithm(1.0 - x)
    } else {
        ZETA_2
    }
}

/// `Li₂(1 − e^−u) = Σ B_k u^(k+1)/(k+1)!` for `|u| ≤ ln 2`, where ten terms suffice.
fn dilogarithm_by_bernoulli(u: f64) -> f64 {
    // B_{2k}/(2k+1)! for k = 1..9.
    const COEFFICIENTS: [f64; 9] = [
        1.0 / 36.0,
        -1.0 / 3_600.0,
        1.0 / 211_680.0,
        -1.0 / 10_886_400.0,
        1.0 / 526_901_760.0,
        -691.0 / 16_999_766_784_000.0,
        1.0 / 1_120_863_744_000.0,
        -3_617.0 / 181_400_588_328_960_000.0,
        43_867.0 / 97_072_790_126_247_936_000.0,
    ];
    let square = u * u;
    let series = COEFFICIENTS.iter().rev().fold(0.0, |sum, &c| sum * square + c);
    u * (1.0 - u / 4.0 + square * series)
}

/// `Li₂(x) − x`, which is of the order of `x²/4`, without cancellation near 0.
fn dilogarithm_rest(x: f64) -> f64 {
    if x.abs() > 0.25 {
        return dilogarithm(x) - x;
    }
    // 0.25^26 is below 2^-52; the rest of the series is summed from the smallest term.
    let series = (2..28).rev().fold(0.0, |sum, k| {
        let k = f64::from(k);
        x * (sum + 1.0 / (k * k))
    });
    x * series
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    #[test]
    fn dilogarithm_has_its_known_values() {
        let zeta_2 = PI * PI / 6.0;
        let golden = (5.0_f64.sqrt() - 1.0) / 2.0;
        assert_relative_eq!(dilogarithm(1.0), zeta_2, max_relative = 1e-15);
        assert_relative_eq!(dilogarithm(-1.0), -zeta_2 / 2.0, max_relative = 1e-15);
        assert_relative_eq!(dilogarithm(0.5), zeta_2 / 2.0 - LN_2 * LN_2 / 2.0, max_relative = 1e-15);
        // Li₂(1/φ) = π²/10 − ln²φ and Li₂(−φ) = −π²/10 − ln²φ.
        let log = golden.ln();
        assert_relative_eq!(dilogarithm(golden), PI * PI / 10.0 - log * log, max_relative = 1e-15);
        assert_relative_eq!(dilogarithm(-1.0 / golden), -PI * PI / 10.0 - log * log, max_relative = 1e-15);
    }

    #[test]
    fn dilogarithm_is_the_integral_of_its_derivative() {
        // d Li₂/dx = −ln(1−x)/x, integrated by Simpson's rule from 0 to x on both sides of every seam.
        for &end in &[-1e6, -50.0, -2.0, -0.999, -0.3, 0.2, 0.4999, 0.5001, 0.9] {
            let steps = 20_000;
            // Substituting x = sinh keeps the integrand smooth over six decades.
            let reach = f64::asinh(end);
            let f = |t: f64| {
                let x = t.sinh();
                if x == 0.0 { 1.0 } else { -(-x).ln_1p() / x * t.cosh() }
            };
            let h = reach / f64::from(steps);
            let sum: f64 = (0..steps)
                .map(|i| {
                    let t = f64::from(i) * h;
                    (f(t) + 4.0 * f(t + h / 2.0) + f(t + h)) * h / 6.0
                })
                .sum();
            assert_relative_eq!(dilogarithm(end), sum, max_relative = 1e-11);
        }
    }

    #[test]
    fn weak_channels_keep_their_leading_term() {
        // d → 0: I ≈ d²/(4p(1−p)).
        for &a in &[1e-6, 1e-20, 1e-60] {
            let channel = BitChannel::from_keep(0.6, a).expect("a valid channel");
            let d = channel.d();
            assert_relative_eq!(asymptotic_information(channel), d * d / (4.0 * 0.6 * 0.4), max_relative = 1e-5);
        }
    }

    #[test]
    fn symmetric_noise_has_its_own_closed_form() {
        for &epsilon in &[0.25, 1.0, 4.0, 20.0] {
            let e: f64 = epsilon;
            let channel = BitChannel::symmetric(1.0 / (1.0 + e.exp())).expect("a valid channel");
            let expected = (e.exp_m1() * dilogarithm(-(-e).exp_m1()) - e * e / 2.0) / (1.0 + e.exp());
            assert_relative_eq!(asymptotic_information(channel), expected, max_relative = 1e-13);
        }
    }
}
