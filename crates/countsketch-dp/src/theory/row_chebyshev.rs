//! How much of its law one row keeps within ±g: bounds that use the variance only.

use super::normal::{upper_tail, window};
use super::search::maximum_near;
use super::{DomainError, non_negative, positive};

/// Points of the coarse search over `a`.
const GRID: u32 = 256;

/// The bound `max_{a > √v} (1 − v/a²)·(Φ((g−a)/s) − Φ((−g−a)/s))` on `P[|A + B| ≤ g]`: any `A` with variance at most
/// `v`, `B ~ N(0, s²)` independent.
///
/// Best for large `g`. Without noise it is `max(0, 1 − v/g²)`, without collisions `P[|B| ≤ g]`. Every `a` gives a valid
/// bound, so an inexact maximum is safe.
///
/// # Errors
/// [`DomainError`] unless `gamma` is finite and above 0 and both variances are finite and at least 0.
pub fn row_probability_chebyshev(gamma: f64, v: f64, s2: f64) -> Result<f64, DomainError> {
    let g = positive("gamma", gamma)?;
    let (v, s) = (non_negative("v", v)?, non_negative("s2", s2)?.sqrt());
    if s == 0.0 {
        return Ok((1.0 - v / (g * g)).max(0.0));
    }
    if v == 0.0 {
        return Ok(window(0.0, g / s));
    }
    let root = v.sqrt();
    // The first factor is flat beyond a few √v, the second gone beyond g + 10 s.
    let best = best_on_log_scale(1e-6 * root.min(s), 8.0 * root + g + 10.0 * s, |excess| {
        let a = root + excess;
        (1.0 - v / (a * a)) * window(a / s, g / s)
    });
    Ok(best.max(0.0))
}

/// A bound on the probability that a row is above `+g` (or below `−g`) without exact symmetry, as with 2- or 4-wise
/// independent signs: `min_a { v/(v+a²) + 1 − Φ((g−a)/s) }`, the one-sided Chebyshev bound. Useful when below ½.
///
/// # Errors
/// [`DomainError`] unless `gamma` is finite and above 0 and both variances are finite and at least 0.
///
/// # Examples
/// ```
/// let miss = countsketch_dp::theory::row_miss_one_sided(2.0, 1.0, 0.0)?;
/// assert!((miss - 0.2).abs() < 1e-12); // 1/(1 + 4)
/// # Ok::<(), countsketch_dp::theory::DomainError>(())
/// ```
pub fn row_miss_one_sided(gamma: f64, v: f64, s2: f64) -> Result<f64, DomainError> {
    let g = positive("gamma", gamma)?;
    let (v, s) = (non_negative("v", v)?, non_negative("s2", s2)?.sqrt());
    if s == 0.0 {
        return Ok(v / (v + g * g));
    }
    if v == 0.0 {
        return Ok(upper_tail(g / s));
    }
    let scale = 1e-6 * v.sqrt().min(s).min(g);
    let kept = best_on_log_scale(scale, g + 2.0 * v.sqrt(), |a| {
        // 1 − miss = a²/(v+a²) − P(B > g − a), as large as it gets.
        a * a / (v + a * a) - upper_tail((g - a) / s)
    });
    Ok((1.0 - kept).clamp(0.0, 1.0))
}

/// The largest value of `f` over `[from, to]`: the best of a logarithmic grid, refined between its neighbours.
fn best_on_log_scale(from: f64, to: f64, f: impl Fn(f64) -> f64) -> f64 {
    let (low, high) = (from.ln(), to.ln());
    let step = (high - low) / f64::from(GRID);
    let at = |index: u32| low + f64::from(index) * step;
    let value = |log: f64| f(log.exp());
    let (mut best, mut largest) = (0, f64::NEG_INFINITY);
    for index in 0..=GRID {
        let found = value(at(index));
        if found > largest {
            (best, largest) = (index, found);
        }
    }
    largest.max(maximum_near(at(best) - step, at(best) + step, value))
}
