//! Exact tails of the binomial law.

/// `P(X ≥ k)` for `X ~ Binomial(n, p)`.
///
/// The probabilities are summed outward from `k` on the side away from the mean, each from the one before by
/// `P(j+1) / P(j) = (n−j)/(j+1) · p/(1−p)`, so small tails keep their relative accuracy (about `1e-13 + n ln n · 1e-16`).
///
/// # Panics
/// When `p` is not in `0 ..= 1`.
///
/// # Examples
/// ```
/// // Nine or ten heads of ten: 11 of 1024 outcomes.
/// assert!((sketch_testkit::binomial_at_least(9, 10, 0.5) - 11.0 / 1024.0).abs() < 1e-12);
/// ```
#[must_use]
pub fn binomial_at_least(k: u64, n: u64, p: f64) -> f64 {
    assert!((0.0..=1.0).contains(&p), "a probability, not {p}");
    if k == 0 {
        return 1.0;
    }
    if k > n {
        return 0.0;
    }
    if p <= 0.0 || p >= 1.0 {
        return p;
    }
    if to_f64(k) <= to_f64(n) * p {
        return 1.0 - binomial_at_least(n - k + 1, n, 1.0 - p);
    }
    let odds = p / (1.0 - p);
    let (mut term, mut sum, mut j) = (1.0, 0.0, k);
    while term > 1e-18 * sum && j <= n {
        sum += term;
        term *= to_f64(n - j) / to_f64(j + 1) * odds;
        j += 1;
    }
    sum * ln_probability(k, n, p).exp()
}

/// `P(X ≤ k)` for `X ~ Binomial(n, p)`.
///
/// # Panics
/// When `p` is not in `0 ..= 1`.
///
/// # Examples
/// ```
/// assert!((sketch_testkit::binomial_at_most(0, 3, 0.25) - 0.421_875).abs() < 1e-12);
/// ```
#[must_use]
pub fn binomial_at_most(k: u64, n: u64, p: f64) -> f64 {
    if k >= n { 1.0 } else { binomial_at_least(n - k, n, 1.0 - p) }
}

/// Two-sided tail: twice the smaller of `P(X ≤ k)` and `P(X ≥ k)`, at most 1.
///
/// Of all outcomes of a right `p`, at most the share `α` has a two-sided tail below `α`.
///
/// # Panics
/// When `p` is not in `0 ..= 1`.
#[must_use]
pub fn binomial_two_sided(k: u64, n: u64, p: f64) -> f64 {
    (2.0 * binomial_at_most(k, n, p).min(binomial_at_least(k, n, p))).min(1.0)
}

/// `ln P(X = k)`.
fn ln_probability(k: u64, n: u64, p: f64) -> f64 {
    let (k, rest) = (to_f64(k), to_f64(n - k));
    ln_factorial(to_f64(n)) - ln_factorial(k) - ln_factorial(rest) + k * p.ln() + rest * (-p).ln_1p()
}

/// `ln Γ(x + 1)` for `x ≥ 0`: Stirling's series from 32 on (its first omitted term is below 1e-16 there), and below by
/// `Γ(x + 1) = Γ(x + 33) / ((x + 1) ⋯ (x + 32))`.
pub(crate) fn ln_factorial(x: f64) -> f64 {
    if x < 32.0 {
        let product: f64 = (1..=32).map(|k| x + f64::from(k)).product();
        return ln_factorial(x + 32.0) - product.ln();
    }
    let inverse = 1.0 / (x * x);
    let series = (1.0 / 12.0 - inverse * (1.0 / 360.0 - inverse * (1.0 / 1260.0 - inverse / 1680.0))) / x;
    (x + 0.5) * x.ln() - x + 0.5 * core::f64::consts::TAU.ln() + series
}

#[expect(clippy::cast_precision_loss, reason = "counts of trials stay below 2^53")]
pub(crate) fn to_f64(count: u64) -> f64 {
    count as f64
}
