//! The exact δ when neighbours move one cell in each of several rows by the same step.

use core::f64::consts::{PI, TAU};

use super::{CalibrationError, positive};
use crate::dyadic::to_f64;
use crate::fraction::odd_digits;
use crate::{Delta, Epsilon, SquaredL2Sensitivity, Variance, dp_to_zcdp};

/// The widest sum of noises that is computed term by term.
const MAX_STD_DEV: f64 = 1_048_576.0;
/// The widest sum of noises for which a variance is searched: each of some fifty steps sums up to 50 standard deviations of
/// terms.
const MAX_CALIBRATED_STD_DEV: f64 = 16_384.0;
/// Terms below this share of the sum are left out, and their bound added.
const NEGLIGIBLE: f64 = 1e-22;
/// A relative bound of the `f64` errors of one term: a dozen operations on exponents below 2¹⁰, and the sum of them.
const ROUNDING: f64 = crate::parameter::power_of_two(-38);
/// How far apart the exact variance and step may be from their `f64`, relative to the loss.
const LOSS_ERROR: f64 = crate::parameter::power_of_two(-50);
/// The largest share by which the law of the sum may differ from a discrete Gaussian before it is convolved instead.
const CLOSE: f64 = crate::parameter::power_of_two(-38);

/// The exact δ, rounded up with a certified error, of `rows` cells with independent discrete Gaussian noise, where a
/// neighbour moves **exactly one cell of each row by `step`** (in grid units) and no other.
///
/// With `T` the sum of the noises of those cells,
///
/// ```text
/// δ(ε) = Σ_t P[T = t] · max(0, 1 − e^(ε − loss(t))),   loss(t) = (k S² − 2 S t)/(2σ²)
/// ```
///
/// Smaller moves have smaller δ (the likelihood ratio is monotone), so the largest step is the worst case.
///
/// # Privacy
/// For the relation of one entry only. For other moves δ is not a function of the L2 norm, and this would be too small.
///
/// # Errors
/// [`CalibrationError`] for no rows or step 0, or when `√rows σ` is above `2²⁰`.
///
/// # Examples
/// ```
/// use dp_noise::{Epsilon, Variance, exact_rows_delta};
/// let delta = exact_rows_delta(5, Variance::new(25, 1)?, 1, Epsilon::new(1.0)?)?;
/// assert!((delta - 0.003_192_883_1).abs() < 1e-9);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub fn exact_rows_delta(rows: u32, variance: Variance, step: u64, epsilon: Epsilon) -> Result<f64, CalibrationError> {
    if rows == 0 {
        return Err(CalibrationError::Zero { name: "rows" });
    }
    if step == 0 {
        return Err(CalibrationError::Zero { name: "grid units of a step" });
    }
    let (k, s2) = (f64::from(rows), variance.to_f64());
    let std_dev = (k * s2).sqrt();
    if std_dev > MAX_STD_DEV {
        return Err(CalibrationError::TooWide { std_dev, max: MAX_STD_DEV });
    }
    let loss = Loss { rows: k, step: to_f64(step), variance: s2, epsilon: epsilon.get() };
    let apart = lattice_share(rows, s2);
    let delta = if rows == 1 || apart <= CLOSE {
        // f(t) e^(t²/(2kσ²)) is constant up to `apart`, so P[T = t] is at most this much above N_Z(0, kσ²).
        gaussian_sum(&loss) * (1.0 + apart) / (1.0 - apart)
    } else {
        convolved_sum(&loss, rows)
    };
    Ok(delta.clamp(f64::MIN_POSITIVE, 1.0))
}

/// The privacy loss as a function of the sum of noises, with the sign such that it grows with `t`.
struct Loss {
    rows: f64,
    step: f64,
    variance: f64,
    epsilon: f64,
}

impl Loss {
    /// `max(0, 1 − e^(ε − loss(t)))`, rounded up.
    fn excess(&self, t: f64) -> f64 {
        let loss = self.step * (self.rows * self.step + 2.0 * t) / (2.0 * self.variance);
        // For t < 0 the two parts of the loss cancel, and its error is one of the parts.
        let parts = self.step * (self.rows * self.step + 2.0 * t.abs()) / (2.0 * self.variance);
        let slack = (self.epsilon + parts) * LOSS_ERROR;
        (-(self.epsilon - loss).exp_m1() + slack).clamp(0.0, 1.0)
    }

    /// A `t` below which every loss is less than ε.
    fn first(&self) -> f64 {
        let (gain, middle) = (self.epsilon * self.variance / self.step, self.rows * self.step / 2.0);
        (gain - middle - (gain + middle) * LOSS_ERROR).floor() - 1.0
    }
}

/// `Σ_t e^(−t²/(2s²)) excess(t) / norm` for the discrete Gaussian of variance `s² = kσ²`, rounded up.
fn gaussian_sum(loss: &Loss) -> f64 {
    let s2 = loss.rows * loss.variance;
    let norm = gaussian_norm(s2);
    // Terms grow up to t = 0 at the latest and fall beyond; start where they matter.
    let start = loss.first().max(-40.0 * s2.sqrt() - 1.0);
    let (mut t, mut sum) = (start, 0.0);
    loop {
        let weight = (-t * t / (2.0 * s2)).exp();
        sum += weight * loss.excess(t);
        // The rest of the weights beyond t > 0 is below weight · (1 + s²/t).
        let rest = weight * (1.0 + s2 / t);
        if t > 0.0 && (rest <= NEGLIGIBLE * sum || rest < f64::MIN_POSITIVE) {
            return (sum + rest + below(start, s2)) / norm * (1.0 + ROUNDING);
        }
        t += 1.0;
    }
}

/// A bound of the weights that were skipped at the start because they are that far out.
fn below(start: f64, s2: f64) -> f64 {
    if start < -40.0 * s2.sqrt() { 1e-300 } else { 0.0 }
}

/// A lower bound of `Σ_t e^(−t²/(2s²))`, up to rounding.
fn gaussian_norm(s2: f64) -> f64 {
    if s2 >= 2.0 {
        // Poisson summation adds positive terms only, below 1e-16 of this.
        return (TAU * s2).sqrt();
    }
    1.0 + 2.0 * (1..60).map(|t| (-f64::from(t * t) / (2.0 * s2)).exp()).sum::<f64>()
}

/// How far, as a share, the law of a sum of `rows` discrete Gaussians is from `e^(−t²/(2kσ²))`: an upper bound.
///
/// `P[T = t]` is `e^(−t²/(2kσ²))` times the Gaussian mass of a shifted lattice (`A_{k−1}`, the integer vectors of sum
/// zero \[CS99\]), which by Poisson summation is constant up to the mass of the dual lattice without its origin, at
/// `e^(−2π²σ²|v|²)`. Its vectors are `z − m·1` with `z` integer and `m = Σz/k = s/k`, `0 <= s < k`; the sum over each `s`
/// is bounded by Chernoff's method, with the tilt that is best for coordinates 0 and 1.
fn lattice_share(rows: u32, s2: f64) -> f64 {
    if rows == 1 {
        return 0.0;
    }
    let (k, a) = (f64::from(rows), 2.0 * PI * PI * s2);
    let power_sum = |m: f64, tilt: f64| {
        let one: f64 = (-4..=5)
            .map(|z| {
                let y = f64::from(z) - m;
                (-a * y * y + tilt * y).exp()
            })
            .sum();
        one.powf(k)
    };
    // s = 0: all but the origin itself. (1 + x)^k − 1
    let others: f64 = (1..6).map(|z| 2.0 * (-a * f64::from(z * z)).exp()).sum();
    let mut share = (k * others.ln_1p()).exp_m1();
    for s in 1..rows {
        let m = f64::from(s) / k;
        let tilt = a * (1.0 - 2.0 * m) + (m / (1.0 - m)).ln();
        share += power_sum(m, tilt);
    }
    share * 1.000_001
}

/// The sum by convolving the law of one noise `rows` times, for small variances; rounded up.
fn convolved_sum(loss: &Loss, rows: u32) -> f64 {
    let law = single_law(loss.variance);
    let total = repeated(&law, rows, (loss.rows * loss.variance).sqrt());
    let reach = index(total.len() / 2);
    let sum: f64 = total.iter().enumerate().map(|(i, p)| p * loss.excess(index(i) - reach)).sum();
    // Each of fewer than 2·rows convolutions adds a rounding for each term; what was cut is far below 1e-290.
    let terms = index(total.len()) * loss.rows * 4.0;
    (sum + 1e-290) * (1.0 + ROUNDING + terms * f64::EPSILON)
}

fn index(i: usize) -> f64 {
    to_f64(i as u64)
}

/// Probabilities of `−reach ..= reach`, up to where they are below `e⁻⁷⁰⁰`.
fn single_law(s2: f64) -> Vec<f64> {
    let norm = gaussian_norm(s2);
    let reach = (2.0 * 700.0 * s2).sqrt().ceil();
    let mut law = Vec::new();
    let mut x = -reach;
    while x <= reach {
        law.push((-x * x / (2.0 * s2)).exp() / norm);
        x += 1.0;
    }
    law
}

/// The law of the sum of `count` draws, cut where it is below `e⁻⁷⁰⁰` (the sum is sub-Gaussian \[CKS20\]).
fn repeated(law: &[f64], count: u32, std_dev: f64) -> Vec<f64> {
    let mut result: Vec<f64> = vec![1.0];
    for bit in (0..32 - count.leading_zeros()).rev() {
        result = trimmed(&convolve(&result, &result), std_dev);
        if count >> bit & 1 == 1 {
            result = trimmed(&convolve(&result, law), std_dev);
        }
    }
    result
}

fn convolve(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; a.len() + b.len() - 1];
    for (i, x) in a.iter().enumerate() {
        for (place, y) in out[i..].iter_mut().zip(b) {
            *place += x * y;
        }
    }
    out
}

/// The middle of a law around 0, within 38 standard deviations.
fn trimmed(law: &[f64], std_dev: f64) -> Vec<f64> {
    let mut reach = law.len() / 2;
    while index(reach) > 38.0 * std_dev + 1.0 {
        reach -= 1;
    }
    let middle = law.len() / 2;
    law[middle - reach..=middle + reach].to_vec()
}

/// The least variance, to about `2⁻³⁰`, at which `rows` cells moved by `step` each are (ε, δ)-differentially private by
/// [`exact_rows_delta`]. Some 13% less noise than through zCDP.
///
/// # Privacy
/// For the relation of one entry only, as there. In a zCDP ledger the release costs
/// [`Variance::rho_cost`] of the variance given here, more than `dp_to_zcdp(ε, δ)`.
///
/// # Errors
/// [`CalibrationError`] as there, or when the variance is out of range. [`CalibrationError::TooWide`] already when `√rows σ`
/// through zCDP is above `2¹⁴`, where the search would take more than a fraction of a second; the noise through zCDP
/// ([`dp_to_zcdp`], [`Variance::for_rho`]) needs no search.
///
/// # Examples
/// ```
/// use dp_noise::{Delta, Epsilon, calibrate_exact_rows, exact_rows_delta};
/// let (epsilon, delta) = (Epsilon::new(1.0)?, Delta::new(1e-6)?);
/// let variance = calibrate_exact_rows(15, 1, epsilon, delta)?;
/// assert!((variance.to_f64() / 15.0).sqrt() < 4.23); // 4.531 through zCDP
/// assert!(exact_rows_delta(15, variance, 1, epsilon)? <= 1e-6);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub fn calibrate_exact_rows(
    rows: u32,
    step: u64,
    epsilon: Epsilon,
    delta: Delta,
) -> Result<Variance, CalibrationError> {
    let max = MAX_CALIBRATED_STD_DEV;
    let too_wide = CalibrationError::TooWide { std_dev: f64::INFINITY, max };
    let square = u128::from(step).checked_pow(2).and_then(|square| square.checked_mul(u128::from(rows)));
    let square = SquaredL2Sensitivity::new(square.ok_or(too_wide)?)
        .map_err(|_| CalibrationError::Zero { name: "rows or of grid units of a step" })?;
    let holds = |variance| Ok::<_, CalibrationError>(exact_rows_delta(rows, variance, step, epsilon)? <= delta.get());
    // Enough by the proof through zCDP, unless its variance is raised to the least there is.
    let mut enough = rounded(Variance::for_rho(square, dp_to_zcdp(epsilon, delta)?)?.to_f64())?;
    let std_dev = (f64::from(rows) * enough.to_f64()).sqrt();
    if std_dev > max {
        return Err(CalibrationError::TooWide { std_dev, max });
    }
    while !holds(enough)? {
        enough = rounded(enough.to_f64() * 1.01)?;
    }
    let mut little = enough;
    while holds(little)? {
        if little == Variance::MIN {
            return Ok(little);
        }
        enough = little;
        little = rounded(little.to_f64() * 0.7)?;
    }
    for _ in 0..30 {
        let middle = rounded(f64::midpoint(little.to_f64(), enough.to_f64()))?;
        if holds(middle)? { enough = middle } else { little = middle }
    }
    Ok(enough)
}

/// The variance that an `f64` stands for, at least the least one.
fn rounded(value: f64) -> Result<Variance, CalibrationError> {
    let value = positive("variance", value)?.max(Variance::MIN.to_f64());
    let (digits, exponent) = odd_digits(value);
    let shift = |places: i32| 1_u128.checked_shl(places.unsigned_abs());
    let parts = if exponent >= 0 {
        shift(exponent).and_then(|power| u128::from(digits).checked_mul(power)).map(|numerator| (numerator, 1))
    } else {
        shift(exponent).and_then(|power| u64::try_from(power).ok()).map(|power| (u128::from(digits), power))
    };
    let (numerator, denominator) = parts.unwrap_or((u128::MAX, 1));
    Ok(Variance::new(numerator, denominator)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The convolution knows nothing of lattices: it bears out the bound, and the bound's two ends enclose it.
    #[test]
    fn sums_of_gaussians_are_as_close_to_one_as_the_lattice_says() {
        for rows in [2, 3, 5, 31, 255] {
            for variance in [0.5, 0.7, 1.0, 1.4, 2.0, 3.0, 5.0] {
                let (k, apart) = (f64::from(rows), lattice_share(rows, variance));
                if apart > 0.3 {
                    continue;
                }
                let cost = k / (2.0 * variance);
                for epsilon in [0.1, cost, cost + 3.0 * (2.0 * cost).sqrt()] {
                    let loss = Loss { rows: k, step: 1.0, variance, epsilon };
                    let (closed, convolved) = (gaussian_sum(&loss), convolved_sum(&loss, rows));
                    let (low, high) = ((1.0 - apart) / (1.0 + apart), (1.0 + apart) / (1.0 - apart));
                    let ratio = convolved / closed;
                    assert!(ratio >= low - 1e-9 && ratio <= high + 1e-9, "{rows} rows, {variance}: {ratio}, {apart}");
                }
            }
        }
    }

    #[test]
    fn the_lattice_bound_is_that_of_its_shortest_vectors() {
        // Two rows: the dual lattice is Z/√2, so the share is 2 Σ e^(−π²σ²n²).
        for variance in [0.5, 1.0, 3.0] {
            let exact: f64 = (1..9).map(|n| 2.0 * (-PI * PI * variance * f64::from(n * n)).exp()).sum();
            let bound = lattice_share(2, variance);
            assert!(bound >= exact && bound < 3.0 * exact, "{bound} for {exact}");
        }
        // k rows: 2k vectors of norm² 1 − 1/k, then longer ones.
        let exact = 62.0 * (-2.0 * PI * PI * (1.0 - 1.0 / 31.0)).exp();
        assert!(lattice_share(31, 1.0) >= exact && lattice_share(31, 1.0) < 4.0 * exact);
        assert!(lattice_share(255, 3.0) < CLOSE && lattice_share(1, 0.1) == 0.0);
    }
}
