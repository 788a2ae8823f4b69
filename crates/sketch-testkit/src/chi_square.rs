//! The chi-square law, by its finite and infinite sums.

use crate::{
    normal::normal_tail,
    tails::{ln_factorial, to_f64},
};

/// `P(X > x)` for a chi-square `X` with `freedom` degrees of freedom.
///
/// With `t(j) = (x/2)^j · e^(−x/2) / Γ(j+1)`: the sum of `t(f/2 − 1), t(f/2 − 2), …` down to `t(0)`, or for odd `f`
/// down to `t(½)` and then `P(|Z| > √x)` of a standard normal `Z`. Below the mean it is taken from the other side.
///
/// # Panics
/// When `freedom` is 0 or `x` is negative or not a number.
///
/// # Examples
/// ```
/// // Two degrees of freedom are an exponential law of mean 2.
/// assert!((sketch_testkit::chi_square_above(5.0, 2) - (-2.5_f64).exp()).abs() < 1e-12);
/// ```
#[must_use]
pub fn chi_square_above(x: f64, freedom: u64) -> f64 {
    check(x, freedom);
    if x <= to_f64(freedom) {
        return 1.0 - chi_square_below(x, freedom);
    }
    let mut j = 0.5 * to_f64(freedom) - 1.0;
    let mut sum = if freedom % 2 == 1 { 2.0 * normal_tail(x.sqrt()) } else { 0.0 };
    let mut t = if j < 0.0 { 0.0 } else { term(x, j) };
    while j >= 0.0 && t > 1e-18 * sum {
        sum += t;
        t *= j / (0.5 * x);
        j -= 1.0;
    }
    sum
}

/// `P(X ≤ x)`: the sum of `t(f/2), t(f/2 + 1), …` as in [`chi_square_above`], or for large `x` taken from there.
///
/// # Panics
/// When `freedom` is 0 or `x` is negative or not a number.
///
/// # Examples
/// ```
/// let below = sketch_testkit::chi_square_below(1.0, 2);
/// assert!((below - (1.0 - (-0.5_f64).exp())).abs() < 1e-12);
/// ```
#[must_use]
pub fn chi_square_below(x: f64, freedom: u64) -> f64 {
    check(x, freedom);
    if x > to_f64(freedom) {
        return 1.0 - chi_square_above(x, freedom);
    }
    let mut j = 0.5 * to_f64(freedom);
    let (mut sum, mut t) = (0.0, term(x, j));
    while t > 1e-18 * sum {
        sum += t;
        j += 1.0;
        t *= 0.5 * x / j;
    }
    sum
}

/// The interval that a chi-square variable leaves with probability `false_alarm`, half on each side.
///
/// # Panics
/// When `freedom` is 0, or `false_alarm` is not strictly between 0 and 1.
///
/// # Examples
/// ```
/// let (low, high) = sketch_testkit::chi_square_bounds(100, 2e-6);
/// assert!((low - 46.501_330_715_9).abs() < 1e-9 && (high - 182.126_777_119_5).abs() < 1e-9);
/// ```
#[must_use]
pub fn chi_square_bounds(freedom: u64, false_alarm: f64) -> (f64, f64) {
    assert!(false_alarm > 0.0 && false_alarm < 1.0, "a probability strictly between 0 and 1, not {false_alarm}");
    let f = to_f64(freedom);
    let side = 0.5 * false_alarm;
    // The upper quantile is below this bound (Laurent and Massart 2000, lemma 1).
    let t = -side.ln();
    let beyond = f + 2.0 * (f * t).sqrt() + 2.0 * t;
    let low = bisect(0.0, f, |x| chi_square_below(x, freedom) < side);
    let high = bisect(0.0, beyond, |x| chi_square_above(x, freedom) > side);
    (low, high)
}

/// Where `inside` turns false between `from` and `to`.
fn bisect(from: f64, to: f64, inside: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (from, to);
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if inside(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// `(x/2)^j · e^(−x/2) / Γ(j+1)`.
fn term(x: f64, j: f64) -> f64 {
    if x > 0.0 { (j * (0.5 * x).ln() - 0.5 * x - ln_factorial(j)).exp() } else { 0.0 }
}

#[track_caller]
fn check(x: f64, freedom: u64) {
    assert!(freedom > 0, "at least one degree of freedom");
    assert!(x >= 0.0, "a sum of squares, not {x}");
}
